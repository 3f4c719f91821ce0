#pragma once
/// Adapters: scripts by which the harness runs external trainers. experiments/trainers/README.md has their
/// protocol.

#include "experiments/base/paths.h"
#include "experiments/run/training.h"

namespace proxbench {

/// The trainer cannot run on this data or on this machine. Such a run is skipped and counts as no failure.
class TrainerMismatch : public Error {
 public:
  using Error::Error;
};

/// What an adapter says about its program.
struct Trainer {
  fs::path adapter;     ///< the script
  std::string missing;  ///< why it cannot run, and what to do; empty: it can
  std::string name, version;
  fs::path program;
  std::vector<std::string> losses, structures, formats;
  /// The penalties that each algorithm supports: "l1", "l2", "both". The first algorithm that fits is the
  /// default.
  std::vector<std::pair<std::string, std::vector<std::string>>> algorithms;
  /// How the trainer is stopped: by a number of iterations, or else by a tolerance. The run with stop
  /// `start_stop` measures the seconds until the first iteration.
  bool by_iterations = true;
  double start_stop = 1.0, first_stop = 2.0, growth = 2.0;
  bool prints_objective = false;  ///< of the weights that it writes
  bool has_threads = false;
};

/// Asks the adapter that the options of the solver `external` name, once per process. Writes any problem into
/// `missing`.
const Trainer& find_trainer(const std::map<std::string, std::string>& options);

/// The files whose bytes decide what the trainer does: the adapter, the code it shares with other adapters,
/// and the program.
std::vector<std::string> files_of(const Trainer& trainer);

/// Returns the algorithm that the job asks for, or else the first one with the job's penalty. Throws
/// TrainerMismatch if there is none.
std::string algorithm_of(const Trainer& trainer, const RunParameters& job);

/// E.g. "CRFsuite 0.12.2", with ", one thread" if the job asks for more threads than the trainer has. Empty
/// if nothing is known about the trainer.
std::string trainer_title(const RunParameters& job);

/// Why the trainer of a job cannot run, as far as this is known without the data; empty if it can. `oracle`
/// may be null.
std::string unmet_trainer(const RunParameters& job, const OracleInfo* oracle);

/// The last lines of a program's output, joined into one line.
std::string end_of_log(const std::string& text);

}  // namespace proxbench
