/// `run` and `check`: run the experiments of a config, and check it.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/results/results.h"
#include "experiments/sweep/run_key.h"
#include "experiments/sweep/slurm.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {
namespace {

std::string limit_text(const RunParameters& run) {
  std::string out = fmt::format("tol {:g}", run.tol);
  if (run.time_limit > 0) out += fmt::format(", at most {:g} s", run.time_limit);
  if (run.max_iterations > 0) out += fmt::format(", at most {} iterations", run.max_iterations);
  return out;
}

Json cells_json(const std::vector<SweepProblem>& problems) {
  Json runs = Json::array();
  for (const SweepProblem& problem : problems)
    for (const Cell& cell : problem.cells) {
      Json& run = runs.emplace_back(parameters_json(cell.run.parameters));
      run["problem"] = problem.name;
      run["stored"] = cell.stored;
      run["skipped"] = cell.skipped.empty() ? Json() : Json(cell.skipped);
      run["why"] = cell.why;
      run["replaces"] = !cell.changes.empty();
      run["key"] = cell.run.key.digest;
      run["estimated_seconds"] = cell.wall_seconds;  // NaN becomes null
    }
  return runs;
}

void print_notes(const ExperimentConfig& config) {
  for (const std::string& note : notes_of_skipped_solvers(config)) fmt::print("{}\n", note);
}

void print_includes(const ExperimentConfig& config) {
  if (!config.includes.empty()) fmt::print("includes {}\n", joined(config.includes));
}

struct RunCommand : ConfigFlags, OutputFlags {
  std::string out, launcher = "local", only, key;
  std::vector<std::string> slurm;
  bool wait = false, dry_run = false, why = false, force = false, replace = false;
  int jobs = 1, shared = 0;

  void add_to(CLI::App& command) {
    ConfigFlags::add_to(command);
    command.add_option("--out", out, "folder for the results [results/NAME]")->type_name("DIR");
    OutputFlags::add_to(command);
    command.add_flag(
        "--dry-run", dry_run,
        "print all runs, which of them are stored, and how long the others may take; run nothing");
    command.add_flag("--why", why, "print why each run that is not stored must be made")->excludes("--quiet");
    command.add_flag("--force", force, "make all runs and references again");
    command.add_flag("--replace", replace,
                     "make complete runs again whose settings, data or program changed; without it, such a "
                     "change ends the command before any run");
    command
        .add_option(
            "--jobs", jobs,
            "runs at a time, each on CPUs of its own; above 1, timings are stored as not comparable [1]")
        ->check(CLI::Range(1, 1024));
    auto* with_only =
        command
            .add_option(
                "--only", only,
                "make f* and the runs of this problem only (a data set with a penalty; --dry-run names "
                "them), and no tables and figures; ends at once if another process makes them")
            ->type_name("PROBLEM");
    command
        .add_option("--key", key,
                    "end with an error if the problem of --only has another key, which --dry-run shows: its "
                    "config, data or build changed")
        ->needs(with_only)
        ->type_name("KEY");
    command
        .add_option(
            "--shared", shared,
            "others use this machine, and this process has so many of its CPUs: timings are stored as "
            "not comparable")
        ->check(CLI::Range(1, 4096));
    auto* with_launcher =
        command
            .add_option("--launcher", launcher,
                        "what makes the runs: processes of this machine, or jobs of a Slurm cluster [local]")
            ->check(CLI::IsMember({"local", "slurm"}))
            ->excludes(with_only)
            ->type_name("NAME");
    add_repeatable(command, "--slurm", slurm, "what jobs ask for, by a key of [slurm]", "KEY=VALUE")
        ->needs(with_launcher);
    command
        .add_flag("--wait", wait,
                  "wait until all jobs have ended, then make tables and figures; Ctrl-C leaves the jobs in "
                  "the queue")
        ->needs(with_launcher);
  }

  void execute() const {
    const ExperimentConfig asked = config();
    const fs::path folder = out.empty() ? fs::path("results") / asked.name : fs::path(out);
    require_own_folder(asked, folder);
    if (dry_run) return print_plan(asked, folder);
    stop_cleanly_on_interrupt();
    const SweepResult result = sweep(asked, folder);
    Json summary{{"experiment", asked.name}, {"out", folder.string()},
                 {"done", result.done},      {"stored_before", result.cached},
                 {"failed", result.failed},  {"outstanding", result.outstanding}};
    if (result.outstanding > 0) {
      json.write(summary);
      return print_outstanding(result, folder);
    }
    summary["runs"] = Json::array();
    if (!json.file.empty())
      for (const fs::path& run : result.folders) summary["runs"].push_back(run_json(read_run(folder, run)));
    json.write(summary);
    const int shown = only.empty() ? show(folder, result) : 0;
    if (result.failed > 0)
      throw Error(
          fmt::format("{} of {} runs failed{}", result.failed, result.done + result.cached,
                      launcher == "slurm" ? "; `proxbench status " + folder.string() + "` says why" : ""));
    if (shown != 0) throw ExitStatus{1};
  }

 private:
  int show(const fs::path& folder, const SweepResult& result) const {
    std::vector<std::string> arguments{folder.string()};
    if (!prints()) arguments.push_back("--quiet");
    return show_by_python(
        "show", arguments,
        fmt::format("all {} runs are stored in {}: `proxbench table` and `proxbench plot` show them once "
                    "these are there",
                    result.done + result.cached, (folder / "runs").string()));
  }

  SweepOptions options(const ExperimentConfig& config) const {
    const bool shared_nodes = launcher == "slurm" && !config.whole_nodes();
    return {.force = force,
            .replace = replace,
            .jobs = jobs,
            .only = only,
            .key = key,
            .shared = shared_nodes ? 1 : shared};
  }

  /// Returns the config with the flags applied. With Slurm, threads = 0 is an error if `cpus` does not
  /// replace it: it would count the cores of the login node instead of a node of the cluster.
  ExperimentConfig config() const {
    std::vector<std::string> of_slurm;
    for (const std::string& assignment : slurm) of_slurm.push_back("slurm." + assignment);
    ExperimentConfig config = load(of_slurm, !dry_run);
    if (launcher != "slurm") return config;
    if (jobs != 1)
      throw Error::usage(fmt::format(
          "--jobs {}: expected 1, or --launcher local: Slurm decides how many jobs run at a time", jobs));
    if (config.threads == 0) config.threads = config.slurm.cpus;
    if (config.threads == 0)
      throw Error::usage(
          "[experiment] threads: found 0 (all cores), expected a number of threads, or [slurm] cpus: "
          "each job asks for so many CPUs");
    return config;
  }

  void print_problems(const ExperimentConfig& config, const std::vector<SweepProblem>& problems) const {
    std::vector<double> estimates;  // seconds of missing runs and references; NaN: unknown
    std::size_t runs = 0, missing = 0, references = 0;
    for (const SweepProblem& problem : problems) {
      if (problem.lacks_reference) {
        ++references;
        const double limit = config.reference_time_limit > 0 ? config.reference_time_limit : kNaN;
        const std::optional<Run>& stored = problem.known_reference;
        estimates.push_back(stored ? stored->result.wall_seconds : limit);
      }
      fmt::print("problem {}  (key {})\n", problem.name, key_of(problem));
      for (const Cell& cell : problem.cells) {
        std::string what = cell.stored ? "stored" : cell.why.front();
        if (why && !cell.stored) what = joined(cell.why, "; ");
        if (!cell.skipped.empty()) what = fmt::format("{}: {}", kDoesNotFit, cell.skipped);
        fmt::print("{}  ({})  {}\n", cell.name(), limit_text(cell.run.parameters), what);
        ++runs;
        if (cell.stored) continue;
        ++missing;
        if (cell.skipped.empty()) estimates.push_back(cell.wall_seconds / jobs);
      }
    }
    print_notes(config);
    if (const std::string replaced = replacement_text(problems); !replaced.empty() && !force)
      fmt::print("{}{}\n", replaced, replace ? "" : "; this needs --replace");
    fmt::print("{} runs, {} of them stored; {} references to make", runs, runs - missing, references);
    const std::size_t unknown = std::erase_if(estimates, [](double one) { return std::isnan(one); });
    if (!estimates.empty())
      fmt::print("; at most about {:.0f} s for what is missing",
                 std::accumulate(estimates.begin(), estimates.end(), 0.0));
    if (unknown > 0) fmt::print(" ({} have no limit and were never run: not counted)", unknown);
    fmt::print("\n");
  }

  void print_plan(const ExperimentConfig& config, const fs::path& folder) const {
    for (const std::string& missing : config.missing_files)
      spdlog::warn("{}: only stored runs can be shown as such, and no run can be made", missing);
    const SweepOptions asked = options(config);
    const std::vector<SweepProblem> problems = inspect(config, folder, asked);
    const std::string script = launcher == "slurm" ? script_of({config, folder, asked, {}, problems}) : "";
    if (prints()) {
      print_includes(config);
      print_problems(config, problems);
      fmt::print("{}", script);
    }
    json.write({{"experiment", config.name},
                {"includes", config.includes},
                {"out", folder.string()},
                {"notes", notes_of_skipped_solvers(config)},
                {"missing_files", config.missing_files},
                {"references", std::ranges::count_if(problems, &SweepProblem::lacks_reference)},
                {"script", script.empty() ? Json() : Json(script)},
                {"runs", cells_json(problems)}});
  }

  /// The script for all incomplete problems if squeue cannot be asked which of them are queued.
  static std::string script_of(const Sweep& sweep) {
    std::map<std::size_t, QueuedTask> queued;
    try {
      queued = queued_tasks(job_name(sweep.config, sweep.out));
    } catch (const Error& error) {
      spdlog::warn("{}", error.what());
    }
    return batch_script(sweep, queued);
  }

  SweepResult sweep(const ExperimentConfig& config, const fs::path& folder) const {
    ProgressPrinter progress(quiet);
    Progress shown = progress.callbacks();
    if (why) shown.detail = shown.message;
    const SweepOptions asked = options(config);
    SweepResult result = launcher == "slurm" ? submit_sweep(config, folder, asked, wait, shown)
                                             : run_sweep(config, folder, asked, shown);
    if (result.interrupted && result.outstanding == 0) {
      progress.warning(fmt::format("{}; {} runs are kept in {}, the same command goes on from there{}",
                                   out_of_time ? "out of time (SIGUSR1)" : "interrupted",
                                   result.folders.size(), folder.string(),
                                   config.has_paths() ? " (an interrupted path starts again)" : ""));
      throw ExitStatus{1};
    }
    return result;
  }

  /// Says how to return to jobs that outlive this process.
  void print_outstanding(const SweepResult& result, const fs::path& folder) const {
    const std::string text = fmt::format(
        "{} tasks stay in the queue; `proxbench status {}` shows them, the same command with --wait waits "
        "for "
        "them and makes tables and figures",
        result.outstanding, folder.string());
    if (!quiet && !result.interrupted) spdlog::info("{}", text);
    if (!result.interrupted) return;
    spdlog::warn("interrupted; {}", text);
    throw ExitStatus{1};
  }
};

struct CheckCommand : ConfigFlags {
  JsonFlag json;
  bool resolved = false;

  void add_to(CLI::App& command) {
    ConfigFlags::add_to(command);
    json.add_to(command);
    command.add_flag("--resolved", resolved,
                     "print the resolved config: with its includes, --set and every default");
  }

  void execute() const {
    Json result{{"config", config_file}, {"valid", true}, {"error", nullptr}};
    try {
      const ExperimentConfig config = load({}, false);
      const std::vector<RunParameters> plan = plan_runs(config);
      result["includes"] = config.includes;
      result["notes"] = notes_of_skipped_solvers(config, true);
      for (const RunParameters& run : plan) result["runs"].push_back(parameters_json(run));
      if (resolved) result["resolved"] = config.to_ini();
      const std::vector<std::string>& missing = config.missing_files;
      result["missing_files"] = missing;
      result["valid"] = missing.empty();
      if (prints() && missing.empty()) print_verdict(config, plan.size());
      if (!missing.empty()) {
        if (prints()) print_plan(plan);
        throw Error::usage(fmt::format("{}: {} data files are missing\n{}", config_file, missing.size(),
                                       fmt::join(missing, "\n")));
      }
      json.write(result);
    } catch (const OutputIsInput&) {
      throw;
    } catch (const Error& error) {
      result["valid"] = false;
      result["error"] = error.what();
      json.write(result);
      throw;
    }
  }

 private:
  /// Prints the runs, for a config whose data are gone.
  static void print_plan(const std::vector<RunParameters>& plan) {
    for (const RunParameters& run : plan) fmt::print("{}  ({})\n", run.name, limit_text(run));
  }

  void print_verdict(const ExperimentConfig& config, std::size_t runs) const {
    if (resolved) return fmt::print("{}", config.to_ini());
    fmt::print("{}: good; {} runs of {} data sets, {} penalties and paths, {} solvers, {} repetitions\n",
               config_file, runs, config.data.size(), config.penalties().size(), config.solvers.size(),
               config.repetitions);
    print_includes(config);
    print_notes(config);
  }
};

}  // namespace

void add_run_commands(CLI::App& app) {
  add_command<RunCommand>(app, "run", "Run an experiment: all its runs, tables and figures");
  add_command<CheckCommand>(app, "check", "Check a config without running it");
}

}  // namespace proxbench
