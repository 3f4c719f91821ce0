/// `train`: one solver on one data set.
#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/metrics/metrics.h"
#include "experiments/results/field_csv.h"
#include "experiments/run/job.h"
#include "experiments/run/launch.h"
#include "experiments/run/read_data.h"
#include "experiments/run/trainer.h"
#include "oracles/oracles.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

struct TrainCommand : TrainingFlags {
  std::string start, trace;
};

/// A run that converged and proved no smaller relative gap than this is told what would prove more.
constexpr double kLooseGap = 1e-3;

/// "loss 12.5 + 2 * 3.1 (l1) + 0.8 (l2)": what F is made of; terms without weight are left out.
std::string objective_text(const Certificate& c, const Penalty& penalty) {
  std::string out = fmt::format("{:.10g} = loss {:.10g}", c.objective, c.loss);
  if (penalty.lambda > 0.0) out += fmt::format(" + {:g} * {:.10g} (l1)", penalty.lambda, c.l1);
  if (penalty.mu > 0.0) out += fmt::format(" + {:.10g} (l2)", c.objective - c.loss - penalty.lambda * c.l1);
  return out;
}

/// Behind the status.
std::string doubt_text(const RunOutcome& outcome) {
  const double gap = outcome.certificate.relative_gap();
  if (outcome.status != Status::kConverged || gap <= kLooseGap) return "";
  return fmt::format(
      "; F is proven to a relative gap of {:.3g} only: --gap 1e-6 in place of --tol proves more", gap);
}

void print_summary(const RunOutcome& outcome, const LoadedData& data) {
  fmt::print("{}: {} after {} iterations, {:.3g} s ({:.3g} s CPU), {:.4g} passes, {:.4g} updates{}\n",
             outcome.parameters.solver, status_name(*outcome.status), *outcome.iterations, outcome.seconds,
             outcome.cpu_seconds, outcome.passes, outcome.updates, doubt_text(outcome));
  print_certificate(outcome);
  print_test_metrics(outcome, data);
}

void write_outputs(const TrainCommand& command, const LoadedData& data, const RunParameters& settings,
                   const RunOutcome& outcome) {
  if (!command.trace.empty()) {
    std::string text = csv_header(trace_columns()) + "\n";
    for (const Sample& sample : outcome.trace) text += csv_line(trace_columns(), sample) + "\n";
    write_file_atomically(command.trace, text);
  }
  command.json.write(outcome.summary());
  if (outcome.status != Status::kDiverged) command.write_model(data, settings, outcome.w);
}

void train_one(const TrainCommand& command) {
  const Options run = command.run.parse();
  if (!command.run.given("lambda") && !command.run.given("mu"))
    throw Error::usage("--lambda and --mu are missing, expected --lambda REAL, --mu REAL or both");
  const DataFormatInfo& format = command.format();
  const Penalty penalty{run.real("lambda"), run.real("mu")};
  penalty.check();
  RunParameters settings = command.settings(penalty);
  settings.start = command.start;
  settings.format = command.data.format;
  const Options data_options = command.data.options_of(format);
  for (const std::string& file : {command.model, command.trace}) check_writable(file);
  command.json.check();

  ProgressPrinter progress(command.quiet);
  const LoadedData data(read_data(command.data, format, data_options, launched_processes()),
                        make_parallel(run));
  tell_data(progress, data);
  command.choose_solver(data, settings, progress);
  stop_cleanly_on_interrupt();
  RunHooks hooks;
  hooks.interrupt = &interrupted;
  hooks.on_sample = [&](const Sample& sample) { progress.sample(settings.solver, sample); };
  RunOutcome outcome = train(data, settings, hooks);
  write_outputs(command, data, settings, outcome);
  if (command.prints()) {
    progress.message("done");
    print_summary(outcome, data);
  }
  if (outcome.status == Status::kDiverged) throw Error(settings.solver + " diverged, so there is no model");
  if (outcome.status == Status::kInterrupted) throw ExitStatus{1};
}

}  // namespace

void print_certificate(const RunOutcome& outcome) {
  const Certificate& c = outcome.certificate;
  fmt::print("objective {}\n", objective_text(c, {outcome.parameters.lambda, outcome.parameters.mu}));
  fmt::print("nonzeros {} of {}\n", c.nnz, *outcome.d);
  if (!std::isnan(c.kkt)) fmt::print("kkt {:.4g}, {:.3g} of that at w = 0\n", c.kkt, outcome.relative_kkt());
  if (!std::isfinite(c.gap()))
    fmt::print("nothing is proven: {}\n", outcome.status == Status::kDiverged ? "the run diverged"
                                          : !std::isfinite(c.objective)       ? "F is not finite"
                                                                        : "no lower bound on min F is known");
  else
    fmt::print("min F >= {:.10g}, so F is proven to a relative gap of {:.3g}\n", c.dual, c.relative_gap());
}

void print_test_metrics(const RunOutcome& outcome, const LoadedData& data) {
  if (!data.test_set()) return;
  fmt::print("test accuracy {:.4f} of {}\n", outcome.test_accuracy, graded_text(data.test()));
  print_other_metrics(outcome.test_metrics);
}

DataPair read_data(const DataFlags& flags, const DataFormatInfo& format, const Options& options,
                   const Processes* processes) {
  return read_data(format, flags.find(), options, flags.oracle, processes);
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

void tell_data(ProgressPrinter& progress, const LoadedData& data) {
  progress.message(data.train().description);
  for (const auto& [what, count] : data.train().notes)
    progress.message(fmt::format("training data: {}: {}", what, count));
  for (const auto& [what, count] : data.test().notes)
    progress.message(fmt::format("test data: {}: {}", what, count));
}

Loss loss_of(const RunFlags& flags, const Options& run) {
  const Loss loss = parse_loss(run.string("loss"), run.string("cost"));
  if (flags.given("cost") && !loss.hinge())
    throw Error::usage(fmt::format("--cost {}: found loss = log, expected --loss hinge", run.string("cost")));
  return loss;
}

void TrainingFlags::add_to(CLI::App& command, const std::vector<std::string>& names) {
  data.add_to(command);
  command.add_option("--solver", solver, "solver; see `proxbench list` [the best known for the objective]")
      ->type_name("NAME");
  run.add_to(command, names);
  command.add_option("--option", options, "option of the solver, repeatable; see `proxbench list --options`")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  command.add_option("--model", model, "write the model")->type_name("OUT.tsv");
  json.add_to(command);
  command.add_flag("--quiet", quiet, "print warnings and errors only");
}

const DataFormatInfo& TrainingFlags::format() const {
  if (data.format.empty()) throw Error::usage("--format is missing, expected --format NAME");
  return data_format_registry().find(data.format);
}

void TrainingFlags::write_model(const LoadedData& trained, const RunParameters& settings,
                                const SparseVector& w) const {
  if (model.empty()) return;
  write_file_atomically(model, model_of(trained, format().name, data.options_of(format()), settings, w));
}

namespace {

void set_solver(const std::string& name, const std::vector<std::string>& options, RunParameters& settings) {
  const SolverInfo& info = solver_registry().find(name);
  for (const std::string& option : options) {
    const std::string key = option.substr(0, option.find('='));
    const bool has = std::ranges::find(info.options, key, &OptionSpec::name) != info.options.end();
    if (const std::string hint = former_option(info.name, key); !has && !hint.empty())
      throw Error::usage(fmt::format("--option {}: solver '{}' has no option '{}': {}", option, info.name, key, hint));
  }
  Options values(info.options);
  set_options(values, options, "--option");
  settings.solver = info.name;
  settings.solver_options = option_texts(values);
}

}  // namespace

RunParameters TrainingFlags::settings(const Penalty& penalty) const {
  const Options given = run.parse();
  RunParameters settings;
  settings.lambda = penalty.lambda;
  settings.mu = penalty.mu;
  settings.loss = loss_of(run, given);
  settings.gap_target = given.real("gap");
  settings.tol = settings.gap_target > 0 && !run.given("tol") ? 0.0 : given.real("tol");
  settings.time_limit = given.real("time_limit");
  settings.max_iterations = given.integer("max_iterations");
  settings.seed = static_cast<std::uint64_t>(given.integer("seed"));
  settings.solver.clear();
  if (!solver.empty())
    set_solver(solver, options, settings);
  else if (!settings.loss.hinge())
    set_solver(best_solver(penalty, settings.loss.kind), options, settings);
  return settings;
}

void TrainingFlags::choose_solver(const LoadedData& loaded, RunParameters& settings,
                                  ProgressPrinter& progress) const {
  if (!solver.empty()) return;
  if (settings.solver.empty())
    set_solver(best_solver({settings.lambda, settings.mu}, settings.loss.kind,
                           &oracle_registry().find(loaded.oracle_name())),
               options, settings);
  progress.message(fmt::format("solver: {}, the best known for this objective", settings.solver));
}

void add_train_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("train", "Train a model with one solver");
  auto command = std::make_shared<TrainCommand>();
  command->add_to(*sub, {"lambda", "mu", "loss", "cost", "tol", "gap", "max_iterations", "time_limit",
                         "threads", "backend", "seed"});
  sub->add_option("--start", command->start, "model of the same data to start from [w = 0]")
      ->type_name("M.tsv");
  sub->add_option("--trace", command->trace, "write the trace")->type_name("OUT.csv");
  sub->callback([command] { train_one(*command); });
}

}  // namespace proxbench
