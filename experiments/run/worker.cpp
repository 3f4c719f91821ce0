#include "experiments/run/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <optional>

#include "core/base/error.h"
#include "core/base/stop_token.h"
#include "core/monitor/monitor.h"
#include "experiments/base/files.h"
#include "experiments/config/config.h"
#include "experiments/config/trainers.h"
#include "experiments/results/csv.h"
#include "experiments/results/results.h"
#include "experiments/run/adapter.h"
#include "experiments/run/external.h"
#include "experiments/run/path.h"
#include "experiments/run/plugins.h"
#include "experiments/run/python_plugin.h"
#include "experiments/run/tighten.h"
#include "experiments/run/training.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

std::atomic<bool> asked_to_stop{false};

extern "C" void ask_to_stop(int) {
  asked_to_stop = true;
}

/// A failed allocation ends the process at once, wherever it happens: an exception in a parallel loop would
/// end it as a crash. By then, everything that the run has written is on its way to disk.
[[noreturn]] void out_of_memory() {
  static constexpr char kText[] = "out of memory\n";
  if (::write(STDERR_FILENO, kText, sizeof kText - 1) < 0) _exit(kOutOfMemoryStatus);
  _exit(kOutOfMemoryStatus);
}

/// Writes a table line by line, so that a kill loses at most the current line.
template <class Record>
class LineByLine {
 public:
  LineByLine(fs::path file, const Schema<Record>& columns)
      : file_(std::move(file)), columns_(columns), out_(writes_files() ? file_ : fs::path("/dev/null")) {
    out_ << csv_header(columns_) << std::endl;
  }
  void add(const Record& record) { out_ << csv_line(columns_, record) << std::endl; }
  /// Throws Error if anything was not written.
  void close() {
    out_.close();
    if (!out_) throw Error(file_.string() + ": cannot be written");
  }

 private:
  fs::path file_;
  const Schema<Record>& columns_;
  std::ofstream out_;
};

/// Looks for a better bound in the rest of the time limit.
void tighten_within_limit(const LoadedData& data, RunParameters job, Interrupt interrupt,
                          RunOutcome& outcome) {
  // A run that used all of its time still gets this many seconds.
  constexpr double kLeast = 1e-3;
  if (job.time_limit > 0) job.time_limit = std::max(job.time_limit - outcome.seconds, kLeast);
  tighten(data, job, outcome, interrupt);
}

RunOutcome run_path(const LoadedData& data, RunParameters job, const Options& data_options,
                    const fs::path& folder, const RunHooks& of_trace) {
  const std::vector<Penalty> penalties = job.penalties(lambda_max(data, job.loss));
  LineByLine<PathPoint> points(folder / "path.csv", path_columns());
  RunHooks hooks = of_trace;
  hooks.on_point = [&](const PathPoint& point, const SparseVector& w) {
    job.penalty = Penalty{point.lambda, point.mu};
    const std::string model = model_of(data, job.format, data_options, job, w);
    write_file_atomically(folder / fmt::format("model-{:03}.tsv", point.number), model);
    write_file_atomically(folder / "model.tsv", model);
    points.add(point);
  };
  RunOutcome outcome = train_path(data, job, penalties, hooks);
  points.close();
  return outcome;
}

/// Trains, writes a line of trace.csv for each sample, and writes the models.
RunOutcome run_solver(const LoadedData& data, const RunParameters& job, const Options& data_options,
                      const fs::path& folder, Interrupt interrupt) {
  LineByLine<Sample> trace(folder / "trace.csv", trace_columns());
  RunHooks hooks;
  hooks.stop = interrupt;
  hooks.on_sample = [&](const Sample& sample) { trace.add(sample); };
  RunOutcome outcome = job.path                  ? run_path(data, job, data_options, folder, hooks)
                       : job.solver == kExternal ? train_externally(data, job, folder, hooks)
                                                 : train(data, job, hooks);
  trace.close();
  if (job.path) return outcome;
  if (const std::string note = missing_loss_text(outcome); !note.empty())
    std::fprintf(stderr, "%s\n", note.c_str());
  const bool diverged = outcome.status == Status::kDiverged;
  if (job.tighten > 0 && !diverged && outcome.status != Status::kInterrupted)
    tighten_within_limit(data, job, interrupt, outcome);
  if (!diverged && !outcome.trace.empty())  // otherwise there are no weights to store
    write_file_atomically(folder / "model.tsv", model_of(data, job.format, data_options, job, outcome.w));
  return outcome;
}

void do_job(Run run, const fs::path& folder, Interrupt interrupt) {
  const RunParameters& job = run.parameters;
  for (const std::string& plugin : job.plugins)
    if (!is_python(plugin)) load_plugin(plugin);  // proxbench.worker has run those of Python
  const double begin = wall_seconds();
  std::optional<StopScope> reading(std::in_place, StopToken(interrupt), "the data were read");
  const Options data_options =
      options_from(data_format_registry().find(job.format).options, job.data_options);
  const LoadedData data = data_of(job);
  reading.reset();
  const double load_seconds = wall_seconds() - begin;
  RunOutcome outcome;
  if (job.solver.empty()) {
    set_facts(data, outcome);
    for (const auto& [part, name] : {std::pair(&data.train(), "training"), {&data.test(), "test"}})
      for (const auto& [what, count] : part->notes)
        outcome.notes[fmt::format("{} data: {}", name, what)] = static_cast<double>(count);
    outcome.warnings = data.train().warnings;
  } else {
    outcome = run_solver(data, job, data_options, folder, interrupt);
  }
  if (job.solver != kExternal) outcome.load_seconds = load_seconds;  // otherwise the trainer's own time
  run.result = static_cast<const RunFigures&>(outcome);              // the rest has files of its own
  write_record(folder / kManifestFile, run);
}

}  // namespace

int worker_main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr,
                 "usage: proxbench-worker RECORD.json FOLDER\n"
                 "Does one run of a sweep, as `proxbench run` asks it to; the folder must exist.\n");
    return 2;
  }
  std::set_new_handler(out_of_memory);
  std::signal(SIGTERM, ask_to_stop);
  std::signal(SIGINT, ask_to_stop);
  const fs::path folder = argv[2];
  Run run;
  try {
    run = read_record(argv[1]);
    run.result = {};  // a manifest has the results of the earlier run
    do_job(run, folder, &asked_to_stop);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    run.set_status(dynamic_cast<const OracleMismatch*>(&error) != nullptr    ? kOracleMismatch
                   : dynamic_cast<const TrainerMismatch*>(&error) != nullptr ? kDoesNotFit
                                                                             : "failed");
    run.result.reason = error.what();
    if (run.parameters.solver == kExternal) run.result.trainer = trainer_title(run.parameters);
    try {
      write_record(folder / kManifestFile, run);
    } catch (const std::exception& second) {
      std::fprintf(stderr, "%s\n", second.what());
    }
    return 1;
  }
}

}  // namespace proxbench
