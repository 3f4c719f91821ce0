#include "experiments/run/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <limits>
#include <new>

#include "core/base/error.h"
#include "core/monitor.h"
#include "experiments/base/files.h"
#include "experiments/config/config.h"
#include "experiments/config/path_grid.h"
#include "experiments/results/field_csv.h"
#include "experiments/results/results.h"
#include "experiments/run/job.h"
#include "experiments/run/launch.h"
#include "experiments/run/path.h"
#include "experiments/run/plugins.h"
#include "experiments/run/read_data.h"
#include "experiments/run/tighten.h"
#include "experiments/run/trainer.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

std::atomic<bool> asked_to_stop{false};

extern "C" void ask_to_stop(int) {
  asked_to_stop = true;
}

/// Memory that cannot be had ends the process at once, wherever it was asked for: in a parallel loop an
/// exception would end it as a crash. What a run has written so far is on its way to disk by then.
[[noreturn]] void out_of_memory() {
  static constexpr char kText[] = "out of memory\n";
  if (::write(STDERR_FILENO, kText, sizeof kText - 1) < 0) _exit(kOutOfMemoryStatus);
  _exit(kOutOfMemoryStatus);
}

/// Goes on for a better bound in what is left of the time limit.
void tighten_within_limit(const LoadedData& data, const RunParameters& job,
                          const std::atomic<bool>& interrupt, RunOutcome& outcome) {
  TightenSettings settings{.lambda = job.lambda,
                           .mu = job.mu,
                           .loss = job.loss,
                           .gap_target = job.tighten,
                           .seconds = 0.0,
                           .seed = job.seed,
                           .interrupt = &interrupt};
  // A run that took all of its time still gets the bounds of a moment.
  constexpr double kLeast = 1e-3;
  if (job.time_limit > 0) settings.seconds = std::max(job.time_limit - outcome.seconds, kLeast);
  tighten(data, settings, outcome);
}

RunOutcome run_solver(const LoadedData& data, const RunParameters& job, const fs::path& trace_file,
                      const std::atomic<bool>& interrupt) {
  std::ofstream trace(writes_files() ? trace_file : fs::path("/dev/null"));
  trace << csv_header(trace_columns()) << std::endl;
  RunHooks hooks;
  hooks.interrupt = &interrupt;
  hooks.on_sample = [&trace](const Sample& sample) {
    trace << csv_line(trace_columns(), sample) << std::endl;
  };
  RunOutcome outcome = train(data, job, hooks);
  trace.close();
  if (!trace) throw Error(trace_file.string() + ": cannot be written");
  return outcome;
}

PathOutcome run_path(const LoadedData& data, RunParameters job, const Options& data_options,
                     const fs::path& folder, const std::atomic<bool>& interrupt) {
  const PathOf of = job.path_of_mu ? PathOf::kMu : PathOf::kLambda;
  const std::vector<Penalty> penalties =
      parse_path(job.path, of, path_of_name(of))
          .penalties(of == PathOf::kMu ? job.lambda : job.mu, lambda_max(data, job.loss));
  const fs::path nowhere = "/dev/null";
  std::ofstream trace(writes_files() ? folder / "trace.csv" : nowhere),
      points(writes_files() ? folder / "path.csv" : nowhere);
  trace << csv_header(trace_columns()) << std::endl;
  points << csv_header(path_columns()) << std::endl;
  PathHooks hooks;
  hooks.interrupt = &interrupt;
  hooks.on_sample = [&](const Sample& sample) { trace << csv_line(trace_columns(), sample) << std::endl; };
  hooks.on_point = [&](const PathPoint& point, const SparseVector& w) {
    job.lambda = point.lambda;
    job.mu = point.mu;
    const std::string model = model_of(data, job.format, data_options, job, w);
    write_file_atomically(folder / fmt::format("model-{:03}.tsv", point.number), model);
    write_file_atomically(folder / "model.tsv", model);
    points << csv_line(path_columns(), point) << std::endl;
  };
  PathOutcome outcome = train_path(data, job, penalties, hooks);
  for (std::ofstream* file : {&trace, &points}) {
    file->close();
    if (!*file) throw Error((folder / "trace.csv").string() + " or path.csv: cannot be written");
  }
  return outcome;
}

}  // namespace

void do_job(Run run, const fs::path& folder, const std::atomic<bool>& interrupt) {
  const RunParameters& job = run.parameters;
  for (const std::string& plugin : job.plugins) load_plugin(plugin);
  const double begin = wall_seconds();
  const DataFormatInfo& format = data_format_registry().find(job.format);
  const Options data_options = options_from(format.options, job.data_options);
  const LoadedData data(read_data(format, job.files, data_options, job.oracle, launched_processes()),
                        Parallel(job.threads, parse_backend(job.backend), launched_processes()),
                        job.decoding == "positions" ? Decoding::kPositions : Decoding::kStructure);
  const double load_seconds = wall_seconds() - begin;
  RunOutcome outcome;
  if (job.solver.empty()) {
    set_facts(data, outcome);
    for (const auto& [what, count] : data.train().notes)
      outcome.notes["training data: " + what] = static_cast<double>(count);
    for (const auto& [what, count] : data.test().notes)
      outcome.notes["test data: " + what] = static_cast<double>(count);
  } else if (!job.path.empty()) {
    outcome = run_path(data, job, data_options, folder, interrupt);
  } else {
    outcome = run_solver(data, job, folder / "trace.csv", interrupt);
    const bool ended = outcome.status != Status::kDiverged && outcome.status != Status::kInterrupted;
    if (job.tighten > 0 && ended) tighten_within_limit(data, job, interrupt, outcome);
    if (outcome.status != Status::kDiverged)  // else no weights that a model could hold
      write_file_atomically(folder / "model.tsv", model_of(data, job.format, data_options, job, outcome.w));
  }
  outcome.load_seconds = load_seconds;
  run.result = outcome;
  write_record(folder / kManifestFile, run);
}

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
    run.result = {};  // a manifest tells what came of the run before
    do_job(run, folder, asked_to_stop);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    run.result.failure = dynamic_cast<const OracleMisfit*>(&error) != nullptr ? kOracleMisfit : "failed";
    run.result.reason = error.what();
    try {
      write_record(folder / kManifestFile, run);
    } catch (const std::exception& second) {
      std::fprintf(stderr, "%s\n", second.what());
    }
    return 1;
  }
}

}  // namespace proxbench
