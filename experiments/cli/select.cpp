/// `select`: chooses a lambda or mu along a path and trains its model.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/base/error.h"
#include "experiments/base/table_text.h"
#include "experiments/cli/cli.h"
#include "experiments/config/path_grid.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/launch.h"
#include "experiments/run/selection.h"
#include "experiments/run/trainer.h"
#include "experiments/sweep/provenance.h"

namespace proxbench {
namespace {

constexpr const char* kLoss = "loss";
/// The number of points beyond the end of a path, for --extend and for the command that edge_text() proposes.
constexpr int kMorePoints = 10;

/// The penalties to choose from: a path, and the part of the penalty that is constant along it.
struct Search {
  PathGrid path;
  double fixed;

  std::string name() const { return path_of_name(path.of); }
  template <class Point>
  double value_of(const Point& point) const {
    return path.of == PathOf::kMu ? point.mu : point.lambda;
  }
};

struct SelectCommand : TrainingFlags {
  std::string measure = "accuracy", rule = "best";
  std::int64_t folds = 0;
  bool extend = false;
  std::optional<double> held_out;

  void add_to(CLI::App& command) {
    run.add(command, "lambda",
            "lambdas to try: path(START, END, COUNT); START and END are reals, max (the smallest lambda at "
            "which w = 0 is optimal) or R*max; a real where --mu is a path");
    run.add(command, "mu", "weight of ||w||_2^2 / 2 in F, or the mus: path(START, END, COUNT), each a real");
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
    const Search searched = search(asked);
    RunParameters settings =
        settings_for(asked, searched.path.penalty(1.0, searched.fixed));  // all values of a path are above 0
    ProgressPrinter progress(quiet);
    const auto loaded = load(config, nullptr, make_parallel(asked).alone(), settings, progress);
    const ModelSelection selection = select_model(
        *loaded, settings, searched.path.penalties(searched.fixed, lambda_max(*loaded, settings.loss)),
        selection_settings, progress.hooks());
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
    settings.lambda = selection.points[selection.chosen].lambda;
    settings.mu = selection.points[selection.chosen].mu;
    json.write(result(searched, selection), model_file(config, *loaded, settings, selection.refit.w));
    if (prints()) print(searched, selection, *loaded);
    if (selection.refit.certificate.nnz == 0)
      progress.warning("all weights are 0: no model of the path is better on what is held out than w = 0");
    progress.warning(edge_text(searched, selection));
  }

 private:
  /// Whether the test set is only measured and does not choose the penalty.
  bool only_tests() const { return folds > 0 || held_out; }
  std::string held_out_text() const {
    if (folds > 0) return fmt::format("{}-fold cross-validation", folds);
    return held_out ? fmt::format("{:g} of the training instances", *held_out) : "test set";
  }

  Search search(const ExperimentConfig& asked) const {
    const PathGrid lambda = asked.lambdas.empty() ? PathGrid() : asked.lambdas.front();
    if (asked.mu.is_path() && lambda.is_path())
      throw Error::usage("--lambda and --mu: found two paths, expected one, and a number for the other");
    if (asked.mu.is_path() && asked.lambdas.size() < 2) return {asked.mu, lambda.value()};
    if (lambda.is_path() && asked.lambdas.size() == 1) return {lambda, asked.mu.value()};
    throw Error::usage(
        run.given("lambda")
            ? fmt::format("--lambda: found '{}', expected one path, or a number and a path of --mu",
                          run.text("lambda"))
            : "--lambda is missing, expected --lambda PATH, or --mu PATH for l2 alone");
  }

  /// Returns the measure on the test set for the model of a point, trained on all training instances. If the
  /// measure is the loss, returns the accuracy.
  double test_figure(const PathPoint& point) const {
    const auto other = point.test_metrics.find(measure);
    return other == point.test_metrics.end() ? point.test_accuracy : other->second;
  }

  /// Lists all points. Those that were trained on all training instances also have test results.
  TextTable table(const Search& search, const ModelSelection& selection) const {
    const std::vector<PathPoint>& refit = selection.refit.points;
    const bool tested = only_tests() && !refit.empty() && !std::isnan(refit.back().test_accuracy);
    TextTable table;
    table.caption = fmt::format("{} on {}", measure == kLoss ? "loss by position" : measure, held_out_text());
    if (search.fixed > 0.0) table.notes.push_back(search.path.penalty(0.0, search.fixed).text());
    table.head = {"", search.name(), measure, "standard error", "nnz"};
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
      row = {joined(marks), fmt::format("{:.6g}", search.value_of(point)), fixed_cell(point.mean, 5),
             fixed_cell(point.standard_error, 5), count_cell(std::round(point.nnz))};
      if (selection.interrupted) row.push_back(std::to_string(point.splits));
      if (tested) row.push_back(fixed_cell(k < refit.size() ? test_figure(refit[k]) : kNaN, 5));
      for (const auto& [name, value] : point.others) row.push_back(fixed_cell(value, 5));
    }
    return table;
  }

  void print(const Search& search, const ModelSelection& selection, const LoadedData& trained) const {
    fmt::print("{}\n", markdown_document("", {table(search, selection)}));
    if (selection.interrupted) return;
    const PathPoint& last = selection.refit.points.back();
    fmt::print("chosen: {} = {:.10g}; on all training instances {} nonzeros, objective {:.10g}",
               search.name(), search.value_of(last), last.certificate.nnz, last.certificate.objective);
    if (!std::isnan(last.certificate.kkt)) fmt::print(", kkt {:.3g}", last.certificate.kkt);
    fmt::print("\n");
    if (only_tests()) print_test_metrics(selection.refit, trained);
  }

  /// If the best point is at an end of the path, returns the command that searches beyond it. Returns ""
  /// otherwise, or if all weights are 0 there.
  std::string edge_text(const Search& search, const ModelSelection& selection) const {
    const auto value = [&](std::size_t k) { return search.value_of(selection.points[k]); };
    const std::size_t count = selection.points.size(), best = selection.best;
    const bool last = best + 1 == count,
               first = best == 0 && (search.path.of == PathOf::kMu || value(0) < selection.refit.lambda_max);
    if (!last && !first) return "";
    const double edge = value(best), factor = std::pow(value(count - 1) / value(count - 2), kMorePoints);
    const std::string beyond =
        last ? fmt::format("path({}, {:.4g}, {})", edge, edge * factor, kMorePoints + 1)
             : fmt::format("path({:.4g}, {}, {})", edge / factor, edge, kMorePoints + 1);
    std::string command = provenance().command;
    const std::string path = run.text(search.name());
    command.replace(command.find(path), path.size(), beyond);
    return fmt::format(
        "the best {} = {:.6g} is the {} of the path, and {} ones may be better: `{}` tries them",
        search.name(), edge, last ? "last" : "first", last ? "smaller" : "larger", command);
  }

  Json result(const Search& search, const ModelSelection& selection) const {
    Json points = Json::array();
    for (const SelectionPoint& point : selection.points)
      points.push_back({{"lambda", point.lambda},
                        {"mu", point.mu},
                        {"mean", point.mean},
                        {"standard_error", point.standard_error},
                        {"nnz", point.nnz},
                        {"metrics", point.others}});
    for (std::size_t k = 0; k < selection.refit.points.size(); ++k) {
      const PathPoint& trained = selection.refit.points[k];
      if (std::isnan(trained.test_accuracy)) continue;
      points[k]["test_metrics"] = trained.test_metrics;
      points[k]["test_metrics"][trace_metric().name] = trained.test_accuracy;
    }
    Json out{{"path", search.path.text()},
             {"over", search.name()},
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
  add_command<SelectCommand>(app, "select",
                             "Choose lambda or mu along a path by cross-validation, held-out instances "
                             "or the test set, then train on all training instances");
}

}  // namespace proxbench
