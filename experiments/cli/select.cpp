/// `select`: a lambda or mu chosen along a path, and its model.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/table_text.h"
#include "experiments/cli/cli.h"
#include "experiments/config/path_grid.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/launch.h"
#include "experiments/run/selection.h"

namespace proxbench {
namespace {

constexpr const char* kLoss = "loss";

struct SelectCommand : TrainingFlags {
  std::string lambda, mu = "0", measure = "accuracy", rule = "best";
  std::int64_t folds = 0;
  std::optional<double> held_out;

  SelectionSettings selection() const {
    return {.folds = folds,
            .held_out = held_out,
            .measure = measure == kLoss ? nullptr : &metric_registry().find(measure),
            .one_standard_error = rule == "one-se",
            .processes = launched_processes()};
  }
  PathOf over() const { return looks_like_path(mu) ? PathOf::kMu : PathOf::kLambda; }
  PathGrid grid() const {
    if (over() == PathOf::kLambda && lambda.empty())
      throw Error::usage("--lambda is missing, expected --lambda PATH, or --mu PATH for l2 alone");
    if (over() == PathOf::kLambda) return parse_path(lambda, PathOf::kLambda, "--lambda");
    if (looks_like_path(lambda))
      throw Error::usage(fmt::format(
          "--lambda {} and --mu {}: found two paths, expected one, and a number for the other", lambda, mu));
    return parse_path(mu, PathOf::kMu, "--mu");
  }
  /// The part of the penalty that the path leaves as it is.
  double fixed() const {
    const bool of_mu = over() == PathOf::kMu;
    double value = 0.0;
    if (of_mu && lambda.empty()) return 0.0;
    if (const std::string& text = of_mu ? lambda : mu;
        !parse_real(text, value) || !(value >= 0.0) || !std::isfinite(value))
      throw Error::usage(
          fmt::format("--{}: found '{}', expected a finite real, at least 0", of_mu ? "lambda" : "mu", text));
    return value;
  }
  std::string held_out_text() const {
    if (folds > 0) return fmt::format("{}-fold cross-validation", folds);
    return held_out ? fmt::format("{:g} of the training instances", *held_out) : "test set";
  }
};

void print_selection(const SelectCommand& command, const ModelSelection& selection) {
  TextTable table;
  table.caption = fmt::format("{} on {}", command.measure == kLoss ? "loss by position" : command.measure,
                              command.held_out_text());
  const bool of_mu = command.over() == PathOf::kMu;
  if (const double fixed = command.fixed(); fixed > 0.0)
    table.notes.push_back((of_mu ? Penalty{fixed, 0.0} : Penalty{0.0, fixed}).text());
  table.head = {"", path_of_name(command.over()), command.measure, "standard error", "nnz"};
  for (const auto& [name, value] : selection.points.front().others) table.head.push_back(name);
  table.text_columns = 1;
  for (std::size_t k = 0; k < selection.points.size(); ++k) {
    const SelectionPoint& point = selection.points[k];
    std::vector<std::string> marks;
    if (k == selection.best) marks.emplace_back("best");
    if (k == selection.one_standard_error) marks.emplace_back("one-se");
    table.rows.push_back({fmt::format("{}", fmt::join(marks, ", ")),
                          fmt::format("{:.6g}", of_mu ? point.mu : point.lambda),
                          fmt::format("{:.5f}", point.mean), fmt::format("{:.5f}", point.standard_error),
                          count_cell(std::round(point.nnz))});
    for (const auto& [name, value] : point.others) table.rows.back().push_back(fmt::format("{:.5f}", value));
  }
  fmt::print("{}\n", markdown_document("", {table}));
  const PathPoint& last = selection.refit.points.back();
  fmt::print("chosen: {} = {:.10g}; on all training instances {} nonzeros, objective {:.10g}",
             path_of_name(command.over()), of_mu ? last.mu : last.lambda, last.certificate.nnz,
             last.certificate.objective);
  if (!std::isnan(last.certificate.kkt)) fmt::print(", kkt {:.3g}", last.certificate.kkt);
  fmt::print("\n");
}

nlohmann::ordered_json selection_json(const SelectCommand& command, const PathGrid& grid,
                                      const ModelSelection& selection) {
  nlohmann::ordered_json points = nlohmann::ordered_json::array();
  for (const SelectionPoint& point : selection.points)
    points.push_back({{"lambda", point.lambda},
                      {"mu", point.mu},
                      {"mean", point.mean},
                      {"standard_error", number_json(point.standard_error)},
                      {"nnz", point.nnz},
                      {"metrics", point.others}});
  return {{"path", grid.text()},
          {"over", path_of_name(grid.of)},
          {"lambda_max", selection.refit.lambda_max},
          {"measure", command.measure},
          {"held_out", command.held_out_text()},
          {"held_out_instances", selection.held_out_instances},
          {"skipped_instances", selection.skipped},
          {"points", points},
          {"best_lambda", selection.points[selection.best].lambda},
          {"best_mu", selection.points[selection.best].mu},
          {"one_se_lambda", selection.points[selection.one_standard_error].lambda},
          {"one_se_mu", selection.points[selection.one_standard_error].mu},
          {"rule", command.rule},
          {"chosen_lambda", selection.points[selection.chosen].lambda},
          {"chosen_mu", selection.points[selection.chosen].mu},
          {"refit", selection.refit.summary()}};
}

void select(const SelectCommand& command) {
  const DataFormatInfo& format = command.format();
  if (command.folds == 0 && !command.held_out && command.data.test.empty())
    throw Error::usage("found no --folds, --held-out or --test, expected one of them to choose by");
  const SelectionSettings selection_settings = command.selection();
  const PathGrid grid = command.grid();
  const double fixed = command.fixed();
  // All values of a path are above 0.
  RunParameters settings =
      command.settings(grid.of == PathOf::kMu ? Penalty{fixed, 1.0} : Penalty{1.0, fixed});
  const Options data_options = command.data.options_of(format);
  check_writable(command.model);
  command.json.check();

  ProgressPrinter progress(command.quiet);
  const LoadedData data(read_data(command.data, format, data_options),
                        make_parallel(command.run.parse()).alone());
  tell_data(progress, data);
  command.choose_solver(data, settings, progress);
  stop_cleanly_on_interrupt();
  Hooks hooks;
  hooks.interrupt = &interrupted;
  hooks.message = [&](const std::string& text) { progress.message(text); };
  hooks.on_sample = [&](const std::string& name, const Sample& sample) { progress.sample(name, sample); };
  const ModelSelection selection =
      select_model(data, settings, grid.penalties(fixed, lambda_max(data, settings.loss)), selection_settings, hooks);
  if (selection.interrupted) {
    progress.warning("interrupted; nothing is chosen");
    throw ExitStatus{1};
  }
  if (selection.skipped > 0)
    progress.warning(
        fmt::format("{} of {} instances held out have outputs that do not occur in training, and "
                    "are left out of the loss",
                    selection.skipped, selection.held_out_instances));
  settings.lambda = selection.points[selection.chosen].lambda;
  settings.mu = selection.points[selection.chosen].mu;
  command.write_model(data, settings, selection.refit.w);
  command.json.write(selection_json(command, grid, selection));
  if (command.prints()) print_selection(command, selection);
}

}  // namespace

void add_select_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("select",
                                     "Choose lambda or mu along a path by cross-validation, held-out instances "
                                     "or the test set, then train on all training instances");
  auto command = std::make_shared<SelectCommand>();
  sub->add_option("--lambda", command->lambda,
                  "lambdas to try: path(START, END, COUNT); START and END are reals, max (the smallest "
                  "lambda at which w = 0 is optimal) or R*max; a real where --mu is a path [0]")
      ->type_name("PATH");
  sub->add_option("--mu", command->mu,
                  "weight of ||w||_2^2 / 2 in F, or the mus: path(START, END, COUNT), each a real [0]")
      ->type_name("REAL|PATH");
  auto* folds = sub->add_option("--folds", command->folds, "K-fold cross-validation over training instances")
                    ->check(CLI::Range(2, 1000000))
                    ->type_name("INT");
  sub->add_option("--held-out", command->held_out,
                  "hold out this share of the training instances; default: the test set decides")
      ->check(CLI::Range(0.0, 1.0))
      ->excludes(folds)
      ->type_name("REAL");
  sub->add_option(
         "--measure", command->measure,
         "measure to choose by: a metric of `proxbench list`, or loss, the mean of what --loss sums, by "
         "position [accuracy]")
      ->type_name("NAME");
  sub->add_option("--rule", command->rule,
                  "the chosen one: best, or one-se, the largest within one standard error of the best [best]")
      ->check(CLI::IsMember({"best", "one-se"}))
      ->type_name("NAME");
  command->add_to(
      *sub, {"loss", "cost", "tol", "gap", "max_iterations", "time_limit", "threads", "backend", "seed"});
  sub->callback([command] { select(*command); });
}

}  // namespace proxbench
