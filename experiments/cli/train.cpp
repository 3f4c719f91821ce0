/// `train`: runs one solver on one data set.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/base/text.h"
#include "experiments/cli/cli.h"
#include "experiments/metrics/chunks.h"
#include "experiments/metrics/metrics.h"
#include "experiments/results/csv.h"
#include "experiments/run/launch.h"
#include "experiments/run/path.h"
#include "experiments/run/training.h"
#include "experiments/sweep/provenance.h"
#include "oracles/oracles.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// If a run proves no smaller relative gap than this, a message says how to prove more.
constexpr double kLooseGap = 1e-3;
/// If the recent relative change of F is at most this share of the relative gap, the bound counts as loose.
constexpr double kStillShare = 0.01;

/// A message tells the rounding of kkt if it may change the third digit.
constexpr double kBlurred = 1e-3;

/// The terms of F, e.g. "loss 12.5 + 2 * 3.1 (l1) + 0.8 (l2)". Terms without weight are left out.
std::string objective_text(const Certificate& c, const Penalty& penalty) {
  std::string out = fmt::format("{:.10g} = loss {:.10g}", c.objective, c.loss);
  if (penalty.lambda > 0.0) out += fmt::format(" + {:g} * {:.10g} (l1)", penalty.lambda, c.l1);
  if (penalty.mu > 0.0) out += fmt::format(" + {:.10g} (l2)", c.objective - c.loss - penalty.lambda * c.l1);
  return out;
}

/// The relative change of F in the last tenth of the time; NaN if no sample is older.
double late_change(const std::vector<Sample>& trace) {
  const Sample& last = trace.back();
  const auto before = std::find_if(trace.rbegin(), trace.rend(), [&](const Sample& sample) {
    return sample.seconds <= 0.9 * last.seconds;
  });
  if (before == trace.rend()) return kNaN;
  return (before->objective - last.objective) / std::abs(last.objective);
}

/// Returns a text to append to the status: why the gap is not small, and how to prove more; or "".
std::string uncertain_text(const RunOutcome& outcome) {
  const double gap = outcome.certificate.relative_gap();
  if (outcome.status == Status::kInterrupted || !(gap > std::max(kLooseGap, outcome.parameters.gap_target)))
    return "";
  if (const double change = std::abs(late_change(outcome.trace));
      change <= std::min(kStillShare * gap, kLooseGap))
    return fmt::format(
        "; F is proven to a relative gap of {} and has changed by a relative {:.1g} in the last tenth of the "
        "time, so either the bound is loose or the solver is slow; {}`proxbench certify --tighten 60` tells "
        "which",
        text_up(gap, 3), change, outcome.parameters.gap_target > 0.0 ? "" : "`--gap 1e-6` or ");
  if (outcome.status != Status::kConverged || outcome.parameters.gap_target > 0.0) return "";
  return fmt::format(
      "; F is proven to a relative gap of {}: --gap 1e-6 in place of --tol proves a smaller one",
      text_up(gap, 3));
}

/// Says why all weights are 0, and what to do; empty if some are not, or if the run diverged.
std::string empty_model_text(const RunOutcome& outcome, const LoadedData& data) {
  const RunParameters& settings = outcome.parameters;
  if (outcome.certificate.nnz > 0 || outcome.status == Status::kDiverged) return "";
  const double max = settings.loss.hinge() ? kInfinity : lambda_max(data, settings.loss);
  if (max == 0.0)
    return "all weights are 0: the gradient at w = 0 is 0, so these labels leave nothing to learn";
  if (const double lambda = settings.penalty.lambda; lambda >= max)
    return fmt::format(
        "all weights are 0: w = 0 is optimal from lambda = {:.4g} on, and lambda is {:g}; `--lambda {:.2g}` "
        "gives nonzeros",
        max, lambda, max / 10);
  return fmt::format("all weights are 0: the run ended ({}) before any of them moved",
                     status_name(*outcome.status));
}

void print_summary(const RunOutcome& outcome, const LoadedData& data) {
  fmt::print("{}: {} after {} iterations, {:.3g} s ({:.3g} s CPU), {:.4g} passes, {:.4g} updates{}\n",
             outcome.parameters.solver, status_name(*outcome.status), *outcome.iterations, outcome.seconds,
             outcome.cpu_seconds, outcome.passes, outcome.updates, uncertain_text(outcome));
  print_certificate(outcome);
  print_test_metrics(outcome, data);
}

/// Says with which flags some solver trains the data of an oracle.
std::string flags_that_fit(const OracleInfo& oracle) {
  std::vector<std::string> out;
  for (const auto& [flags, penalty, loss] : {std::tuple{"--lambda L", Penalty{1.0, 0.0}, Loss::Kind::kLog},
                                             {"--mu M", Penalty{0.0, 1.0}, Loss::Kind::kLog},
                                             {"--loss hinge --mu M", Penalty{0.0, 1.0}, Loss::Kind::kHinge}})
    if (!fitting_solvers(penalty, loss, oracle).empty()) out.emplace_back(flags);
  return joined(out, " or ");
}

/// Returns the best known solver. Throws Error (kUsage), with flags for which there is one, if none fits.
std::string best_or_flags(const RunParameters& settings, const LoadedData& data) {
  const OracleInfo& oracle = oracle_registry().find(data.oracle_name());
  try {
    return solver_or_best("", settings.penalty, settings.loss, oracle, data.train());
  } catch (const Error& error) {
    throw Error::usage(fmt::format("{}; expected {}", error.what(), flags_that_fit(oracle)));
  }
}

struct TrainCommand : TrainingFlags {
  std::string trace;

  void add_to(CLI::App& command) {
    run.take_no_paths();
    run.add(command, "lambda", "weight of ||w||_1 in F");
    run.add(command, "mu", "weight of ||w||_2^2 / 2 in F");
    TrainingFlags::add_to(command);
    data.keys.add(command, "start", "model of the same data to start from [w = 0]");
    add_output(command, "--trace", trace, "write the trace", "OUT.csv");
  }

  void write(const DataConfig& config, const LoadedData& trained, const RunParameters& settings,
             const RunOutcome& outcome) const {
    NamedTexts files;
    if (outcome.status != Status::kDiverged) files = model_file(config, trained, settings, outcome.w);
    if (!trace.empty()) {
      std::string text = csv_header(trace_columns()) + "\n";
      for (const Sample& sample : outcome.trace) text += csv_line(trace_columns(), sample) + "\n";
      files.emplace_back(trace, text);
    }
    json.write(outcome.summary(), files);
  }

  void execute() const {
    if (!run.given("lambda") && !run.given("mu"))
      throw Error::usage("--lambda and --mu are missing, expected --lambda REAL, --mu REAL or both");
    const ExperimentConfig asked = config_of(run);
    RunParameters settings = settings_for(asked, penalty_of(asked));
    const DataConfig config = data.read();
    settings.start = config.start;
    settings.format = config.format;
    ProgressPrinter progress(quiet);
    const auto loaded = load(config, launched_processes(), make_parallel(asked), settings, progress);
    RunHooks hooks;
    hooks.stop = &interrupted;
    hooks.traced = !trace.empty();
    hooks.on_sample = [&](const Sample& sample) { progress.sample(settings.solver, sample); };
    const RunOutcome outcome = train(*loaded, settings, hooks);
    write(config, *loaded, settings, outcome);
    progress.message("done");
    if (prints()) print_summary(outcome, *loaded);
    progress.warning(empty_model_text(outcome, *loaded));
    if (!trace.empty()) progress.message(missing_loss_text(outcome));
    if (outcome.status == Status::kDiverged) throw Error(settings.solver + " diverged, so there is no model");
    if (outcome.status == Status::kInterrupted) throw ExitStatus{1};
  }
};

}  // namespace

void print_certificate(const RunOutcome& outcome) {
  const Certificate& c = outcome.certificate;
  if (outcome.status == Status::kInterrupted && std::isnan(c.objective)) {
    fmt::print("interrupted before the result was certified: F, kkt and a bound are not known\n");
    return;
  }
  fmt::print("objective {}\n", objective_text(c, outcome.parameters.penalty));
  fmt::print("nonzeros {} of {}\n", c.nnz, *outcome.d);
  if (!std::isnan(c.kkt)) {
    const bool blurred = c.kkt_rounding > kBlurred * c.kkt && c.kkt > 0.0;
    fmt::print("kkt {:.4g}, {:.3g} of that at w = 0{}\n", c.kkt, outcome.relative_kkt(),
               blurred ? fmt::format("; known to {} only, by rounding", text_up(c.kkt_rounding, 2)) : "");
  }
  fmt::print("{}\n",
             outcome.status == Status::kDiverged ? "nothing is proven: the run diverged" : proof_text(c));
}

std::string proof_text(const Certificate& c) {
  if (!std::isfinite(c.objective)) return "nothing is proven: F is not finite";
  if (!c.proves()) return "nothing is proven: no lower bound on min F is known";
  const std::string bound = "min F >= " + text_down(c.dual, 10);
  if (std::isnan(c.relative_gap()))
    return fmt::format("{}, but no relative gap is proven: rounding may change F by {}", bound,
                       text_up(c.rounding, 2));
  return fmt::format("{}, so F is proven to a relative gap of {}", bound, text_up(c.relative_gap(), 3));
}

void print_test_metrics(const RunOutcome& outcome, const LoadedData& data) {
  if (!data.test_set()) return;
  fmt::print("test accuracy {:.4f} of {}\n", outcome.test_accuracy, graded_text(data.test()));
  print_other_metrics(outcome.test_metrics);
}

std::string graded_text(const Dataset& data) {
  return fmt::format("{} {}", data.graded(),
                     !data.on.empty()       ? "labels"
                     : data.quality.empty() ? "positions"
                                            : "groups");
}

void print_other_metrics(const std::map<std::string, double>& metrics) {
  for (const auto& [name, value] : metrics)
    if (name != trace_metric().name) fmt::print("test {} {:.4f}\n", name, value);
}

void TrainingFlags::add_to(CLI::App& command) {
  data.add_to(command);
  command.add_option("--solver", solver, "solver; see `proxbench list` [the best known for the objective]")
      ->type_name("NAME");
  for (const char* key :
       {"loss", "cost", "tol", "gap", "max_iterations", "time_limit", "threads", "backend", "seed"})
    run.add(command, key);
  add_repeatable(command, "--option", options, kSolverOption, "KEY=VALUE");
  add_output(command, "--model", model, "write the model: text, or binary as OUT.pbm", "OUT.tsv");
  OutputFlags::add_to(command);
}

NamedTexts TrainingFlags::model_file(const DataConfig& config, const LoadedData& trained,
                                     const RunParameters& settings, const SparseVector& w) const {
  if (model.empty()) return {};
  std::string text = model_of(trained, config.format, config.options, settings, w);
  return {{model, names_binary_model(model) ? model_bytes(parse_model(text, model)) : std::move(text)}};
}

void TrainingFlags::set_solver(const std::string& name, RunParameters& settings) const {
  Options values(solver_registry().find(name).options);
  set_options(values, options, "--option");
  settings.solver = name;
  settings.solver_options = option_texts(values);
}

RunParameters TrainingFlags::settings_for(const ExperimentConfig& asked, const Penalty& penalty) const {
  RunParameters settings;
  settings.penalty = penalty;
  settings.loss = asked.loss;
  static_cast<StopRules&>(settings) = asked;
  settings.prefer_gap(run.given("tol"));
  settings.seed = asked.seed;
  if (!solver.empty()) set_solver(solver, settings);
  return settings;
}

std::unique_ptr<LoadedData> TrainingFlags::load(const DataConfig& config, const Processes* processes,
                                                const Parallel& parallel, RunParameters& settings,
                                                ProgressPrinter& progress) const {
  const StopScope scope = interruptible("the data were read");
  DataPair pair = read_data(config, processes);
  for (const std::string& warning : pair.train.warnings) progress.warning(warning);
  progress.warning(busy_text(parallel.threads()));
  auto loaded = std::make_unique<LoadedData>(std::move(pair), parallel);
  progress.message(loaded->train().description);
  if (const ChunkScheme* scheme = chunk_scheme(loaded->train()))
    progress.message(fmt::format("labels of chunks in {}", scheme->name));
  for (const auto& [part, name] : {std::pair(&loaded->train(), "training"), {&loaded->test(), "test"}}) {
    for (const FileCounts& file : part->files)
      if (part->files.size() > 1)
        progress.message(fmt::format("{} data: {}: {} instances, {} positions", name, shown_name(file.path),
                                     file.instances, file.positions));
    for (const auto& [what, count] : part->notes)
      progress.message(fmt::format("{} data: {}: {}", name, what, count));
  }
  if (!solver.empty()) return loaded;
  set_solver(best_or_flags(settings, *loaded), settings);
  progress.message(fmt::format("solver: {}, the best known for this objective", settings.solver));
  return loaded;
}

void add_train_command(CLI::App& app) {
  add_command<TrainCommand>(app, "train", "Train a model with one solver");
}

}  // namespace proxbench
