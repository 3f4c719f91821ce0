#pragma once
/// Adapters: scripts between the harness and trainers that are programs of their own. Their protocol is in
/// experiments/trainers/README.md.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/oracle.h"
#include "experiments/results/fields.h"

namespace proxbench {

/// The data, or the machine, are such that the trainer cannot run: nothing failed.
class TrainerMismatch : public Error {
 public:
  using Error::Error;
};

/// What an adapter says of its program.
struct Trainer {
  std::filesystem::path adapter;  ///< the script
  std::string missing;            ///< why nothing can be run, and what to do; empty: it can
  std::string name, version;
  std::filesystem::path program;
  std::vector<std::string> losses, structures, formats;
  /// The penalties of each, of "l1", "l2" and "both"; the first that fits is the default.
  std::vector<std::pair<std::string, std::vector<std::string>>> algorithms;
  /// How it is stopped. The smallest stop tells how long it takes to its first iteration.
  bool by_iterations = true;
  double start_stop = 1.0, first_stop = 2.0, growth = 2.0;
  bool prints_objective = false;  ///< and that is the objective of the weights that it writes
  bool has_threads = false;
};

/// Asks the adapter that the options of a solver `external` name; each once in a process. What goes wrong is
/// told in `missing`.
const Trainer& find_trainer(const std::map<std::string, std::string>& options);

/// The files whose bytes decide what the trainer does: adapter, what it shares with others, program.
std::vector<std::string> files_of(const Trainer& trainer);

/// The algorithm that is asked for, or the first for the penalty. Throws TrainerMismatch where there is none.
std::string algorithm_of(const Trainer& trainer, const RunParameters& job);

/// "CRFsuite 0.12.2", with "one thread" where the job asks for more; empty where nothing is known of it.
std::string trainer_title(const RunParameters& job);

/// Why the trainer of a job cannot run, as far as that is known without data; empty: it can. `oracle` may be
/// null.
std::string unmet_trainer(const RunParameters& job, const OracleInfo* oracle);

/// The last lines of what a program wrote, in one line.
std::string end_of_log(const std::string& text);

}  // namespace proxbench
