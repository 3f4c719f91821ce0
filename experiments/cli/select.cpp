/// `select`: chooses lambda and mu along paths and trains the model.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "experiments/base/table_text.h"
#include "experiments/cli/cli.h"
#include "experiments/config/penalty_path.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/launch.h"
#include "experiments/run/selection.h"
#include "experiments/run/training.h"

namespace proxbench {
namespace {

constexpr const char* kLoss = "loss";
/// The most points that --extend adds.
constexpr int kMorePoints = 10;

template <class Point>
double value_of(const PenaltyGrid& search, const Point& point) {
  return search.over_mu() ? point.mu : point.lambda;
}

struct SelectCommand : TrainingFlags {
  std::string measure = "accuracy", rule = "best";
  std::int64_t folds = 0;
  bool extend = false;
  std::optional<double> held_out;

  void add_to(CLI::App& command) {
    run.add(command, "lambda",
            "lambdas to try, a list or path(START, END, COUNT); START and END are reals, max (the smallest "
            "lambda at which w = 0 is optimal) or R*max. With several mus each lambda is tried with each mu");
    run.add(
        command, "mu",
        "weight of ||w||_2^2 / 2 in F, or the mus to try: a list or path(START, END, COUNT), each a real");
    auto* with_folds =
        command.add_option("--folds", folds, "K-fold cross-validation over training instances")
            ->check(CLI::Range(2, 1000000));
    command
        .add_option("--held-out", held_out,
                    "hold out this share of the training instances; default: the test set decides")
        ->check(CLI::Range(0.0, 1.0))
        ->excludes(with_folds)
        ->type_name("REAL");
    command
        .add_option("--measure", measure,
                    "measure to choose by: a metric of `proxbench list`, or loss, the mean of "
                    "--loss per position [accuracy]")
        ->type_name("NAME");
    command
        .add_option(
            "--rule", rule,
            "the chosen one: best, or one-se, the largest within one standard error of the best [best]")
        ->check(CLI::IsMember({"best", "one-se"}))
        ->type_name("NAME");
    command.add_flag(
        "--extend", extend,
        fmt::format("if the best point is the last of the path, extend the path by at most {} points",
                    kMorePoints));
    TrainingFlags::add_to(command);
  }

  void execute() const {
    const DataConfig config = data.read();
    if (folds == 0 && !held_out && config.files.test.empty())
      throw Error::usage("found no --folds, --held-out or --test, expected one of them to choose by");
    const SelectionSettings selection_settings{
        .folds = folds,
        .held_out = held_out,
        .measure = measure == kLoss ? nullptr : &metric_registry().find(measure),
        .one_standard_error = rule == "one-se",
        .more_points = extend ? kMorePoints : 0,
        .processes = launched_processes()};
    const ExperimentConfig asked = config_of(run);
    const PenaltyGrid searched = search(asked);
    RunParameters settings = settings_for(asked, searched.largest());
    ProgressPrinter progress(quiet);
    const auto loaded = load(config, nullptr, make_parallel(asked).alone(), settings, progress);
    const ModelSelection selection =
        select_model(*loaded, settings, searched.paths(lambda_max(*loaded, settings.loss)),
                     selection_settings, progress.callbacks());
    if (selection.interrupted) {
      const bool known = !selection.points.empty();
      if (prints() && known) print(searched, selection, *loaded);
      progress.warning(
          known ? fmt::format("interrupted; nothing is chosen yet: the results so far are kept in {}, and "
                              "the same command goes on from there",
                              selection.kept_in.string())
                : "interrupted; nothing is chosen, and nothing is known yet");
      throw ExitStatus{1};
    }
    if (selection.skipped > 0)
      progress.warning(
          fmt::format("{} of {} instances held out have outputs that do not occur in training, and "
                      "are left out of the loss",
                      selection.skipped, selection.held_out_instances));
    const SelectionPoint& chosen = selection.points[selection.chosen];
    settings.penalty = Penalty{chosen.lambda, chosen.mu};
    json.write(result(searched, selection), model_file(config, *loaded, settings, selection.refit.w));
    if (prints()) print(searched, selection, *loaded);
    if (selection.refit.certificate.nnz == 0)
      progress.warning("all weights are 0: no model of the path is better on what is held out than w = 0");
    progress.warning(unsolved_text(selection));
    progress.warning(edge_text(searched, selection));
  }

 private:
  /// Whether the test set is only measured and does not choose the penalty.
  bool only_tests() const { return folds > 0 || held_out; }
  std::string held_out_text() const {
    if (folds > 0) return fmt::format("{}-fold cross-validation", folds);
    return held_out ? fmt::format("{:g} of the training instances", *held_out) : "test set";
  }

  PenaltyGrid search(const ExperimentConfig& asked) const {
    if (asked.several()) return asked;
    throw Error::usage(
        run.given("lambda")
            ? fmt::format("--lambda: found '{}', expected a list or path, or a number and a list or path of "
                          "--mu",
                          run.text("lambda"))
            : "--lambda is missing, expected a list or path of --lambda, or of --mu for l2 alone");
  }

  /// Returns the measure on the test set for the model of a point, trained on all training instances. If the
  /// measure is the loss, returns the accuracy.
  double test_figure(const PathPoint& point) const {
    const auto other = point.test_metrics.find(measure);
    return other == point.test_metrics.end() ? point.test_accuracy : other->second;
  }

  /// Lists all points. Those that were trained on all training instances also have test results.
  TextTable table(const PenaltyGrid& search, const ModelSelection& selection) const {
    const std::vector<PathPoint>& refit = selection.refit.points;
    const bool tested = only_tests() && !refit.empty() && !std::isnan(refit.back().test_accuracy);
    TextTable table;
    table.caption = fmt::format("{} on {}", measure == kLoss ? "loss by position" : measure, held_out_text());
    Penalty fixed{selection.points.front().lambda, selection.points.front().mu};
    (search.over_mu() ? fixed.mu : fixed.lambda) = 0.0;
    if (!search.is_grid() && fixed.lambda + fixed.mu > 0.0) table.note = fixed.text();
    table.head = {"", search.varying(), measure, "standard error", "nnz"};
    if (search.is_grid()) table.head.insert(table.head.begin() + 1, "mu");
    if (selection.interrupted) table.head.emplace_back("folds");
    if (tested) table.head.push_back("test " + (measure == kLoss ? trace_metric().name : measure));
    for (const auto& [name, value] : selection.points.front().others) table.head.push_back(name);
    table.text_columns = 1;
    for (std::size_t k = 0; k < selection.points.size(); ++k) {
      const SelectionPoint& point = selection.points[k];
      std::vector<std::string> marks;
      if (!selection.interrupted && k == selection.best) marks.emplace_back("best");
      if (!selection.interrupted && k == selection.one_standard_error) marks.emplace_back("one-se");
      std::vector<std::string>& row = table.rows.emplace_back();
      row = {joined(marks), fmt::format("{:.6g}", value_of(search, point)), fixed_cell(point.mean, 5),
             fixed_cell(point.standard_error, 5), fixed_cell(std::round(point.nnz), 0)};
      if (search.is_grid()) row.insert(row.begin() + 1, fmt::format("{:.6g}", point.mu));
      if (selection.interrupted) row.push_back(std::to_string(point.splits));
      if (tested) {
        const bool trained = k >= selection.begin && k < selection.begin + refit.size();
        row.push_back(fixed_cell(trained ? test_figure(refit[k - selection.begin]) : kNaN, 5));
      }
      for (const auto& [name, value] : point.others) row.push_back(fixed_cell(value, 5));
    }
    return table;
  }

  void print(const PenaltyGrid& search, const ModelSelection& selection, const LoadedData& trained) const {
    fmt::print("{}\n", markdown_document({table(search, selection)}));
    if (selection.interrupted) return;
    const PathPoint& last = selection.refit.points.back();
    fmt::print("chosen: {} = {:.10g}{}; on all training instances {} nonzeros, objective {:.10g}",
               search.varying(), value_of(search, last),
               search.is_grid() ? fmt::format(", mu = {:.10g}", last.mu) : "", last.certificate.nnz,
               last.certificate.objective);
    if (!std::isnan(last.certificate.kkt)) fmt::print(", kkt {:.3g}", last.certificate.kkt);
    fmt::print("\n");
    if (only_tests()) print_test_metrics(selection.refit, trained);
  }

  /// Says how many models are far from converged, and whether the chosen one is.
  static std::string unsolved_text(const ModelSelection& selection) {
    std::size_t unsolved = 0, models = 0;
    for (const SelectionPoint& point : selection.points) {
      unsolved += point.unsolved;
      models += point.splits;
    }
    const PathPoint& last = selection.refit.points.back();
    if (unsolved == 0 && !is_unsolved(last)) return "";
    std::string text = fmt::format("{} of {} measured models are far from converged", unsolved, models);
    if (is_unsolved(last)) {
      text += fmt::format(", and so is the chosen one, {}: {}", Penalty{last.lambda, last.mu}.text(),
                          status_name(last.status));
      if (!std::isnan(last.certificate.kkt))
        text += fmt::format(", kkt {:.3g}, and its target is {:.3g}", last.certificate.kkt, last.kkt_target);
    }
    return text + "; a measure of such a model says little, and more --max-iterations or --time-limit help";
  }

  /// If the best point is at an end of its path, says so. Returns "" otherwise, or if all weights are 0
  /// there.
  std::string edge_text(const PenaltyGrid& search, const ModelSelection& selection) const {
    const auto value = [&](std::size_t k) { return value_of(search, selection.points[selection.begin + k]); };
    const std::size_t count = selection.end - selection.begin, best = selection.best - selection.begin;
    const bool last = best + 1 == count,
               first = best == 0 && (search.over_mu() || value(0) < selection.refit.lambda_max);
    constexpr double kNoPenalty = 1e-9;  // a share of lambda_max below which a smaller lambda changes nothing
    const double least = !search.over_mu() ? kNoPenalty * selection.refit.lambda_max : 0.0;
    if ((!last && !first) || count < 2 || value(best) <= least) return "";
    return fmt::format("the best {} = {:.6g} is the {} of the path, and {} ones may be better{}",
                       search.varying(), value(best), last ? "last" : "first", last ? "smaller" : "larger",
                       last && !extend ? ": --extend tries them" : "");
  }

  Json result(const PenaltyGrid& search, const ModelSelection& selection) const {
    Json points = Json::array();
    for (const SelectionPoint& point : selection.points)
      points.push_back({{"lambda", point.lambda},
                        {"mu", point.mu},
                        {"mean", point.mean},
                        {"standard_error", point.standard_error},
                        {"nnz", point.nnz},
                        {"unsolved", point.unsolved},
                        {"metrics", point.others}});
    for (std::size_t k = 0; k < selection.refit.points.size(); ++k) {
      const PathPoint& trained = selection.refit.points[k];
      if (std::isnan(trained.test_accuracy)) continue;
      Json& metrics = points[selection.begin + k]["test_metrics"];
      metrics = trained.test_metrics;
      metrics[trace_metric().name] = trained.test_accuracy;
    }
    Json out{{"path", ini_text((search.over_mu() ? search.mus : search.lambdas).to_value())},
             {"over", search.varying()},
             {"lambda_max", selection.refit.lambda_max},
             {"measure", measure},
             {"held_out", held_out_text()},
             {"held_out_instances", selection.held_out_instances},
             {"skipped_instances", selection.skipped},
             {"points", points},
             {"rule", rule}};
    for (const auto& [which, k] : {std::pair("best", selection.best),
                                   {"one_se", selection.one_standard_error},
                                   {"chosen", selection.chosen}}) {
      out[fmt::format("{}_lambda", which)] = selection.points[k].lambda;
      out[fmt::format("{}_mu", which)] = selection.points[k].mu;
    }
    out["refit"] = selection.refit.summary();
    return out;
  }
};

}  // namespace

void add_select_command(CLI::App& app) {
  add_command<SelectCommand>(
      app, "select",
      "Choose lambda and mu, along a path or in a grid, by cross-validation, held-out instances "
      "or the test set, then train on all training instances");
}

}  // namespace proxbench
