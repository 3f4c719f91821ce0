
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/results/statistics.h"
#include "experiments/results/tables/problem_set.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

/// The largest number of problems or runs that are named under a plot.
constexpr std::size_t kMostNames = 4;
/// A ratio axis ends at this value or beyond.
constexpr double kLeastRatio = 2.0;

/// The parts of a chart that differ between performance profiles and distributions of costs.
struct Distribution {
  std::string name, title, x_label, y_label, caption;
  double smallest_target;
  bool ratios;                              ///< whether the horizontal axis shows ratios, from 1
  std::vector<std::vector<double>> values;  ///< of each solver: their distribution is drawn
};

std::string few_names(const std::vector<std::string>& names) {
  const std::size_t shown = std::min(names.size(), kMostNames);
  std::string out =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), "; "));
  if (shown < names.size()) out += fmt::format("; and {} more", names.size() - shown);
  return out;
}

std::string figure_name(const std::string& stem, const ProblemSet& set) {
  std::string out = stem;
  if (set.measure != "seconds") out += "-" + set.measure;
  if (!set.machine.empty()) out += "-" + set.machine;
  return file_name_part(out);
}

std::string common_caption(const ProblemSet& set) {
  std::string out;
  if (const ProblemSet::Known known = set.known(); known.wide > 0)
    out += fmt::format(
        "\n{} of {} costs to a target lie between two samples that are more than a tenth apart: drawn at the "
        "later.",
        known.wide, known.paid);
  if (!set.failures.empty())
    out += fmt::format("\n{} failed: {}.", set.failures.size(), few_names(set.failures));
  if (!set.left_out.empty())
    out += fmt::format("\n{} left out: {}.", set.left_out.size(), few_names(set.left_out));
  return out;
}

/// Returns the accuracy of the least exact f*; 0 if no accuracy is known.
double reference_accuracy(const std::vector<Run>& runs) {
  double worst = 0.0;
  for (const Run& run : runs) worst = std::fmax(worst, reference_bound(run));
  return worst;
}

std::string accuracy_caption(const Distribution& of, double accuracy) {
  if (!(of.smallest_target < accuracy)) return "";
  return fmt::format("\nf* is proven to a relative accuracy of {:.1e} at worst: smaller targets say less.",
                     accuracy);
}

// ---- the two kinds

Distribution performance_profile(const ProblemSet& set, std::size_t target) {
  const std::string goal = fmt::format("{:g}", set.targets[target]);
  std::vector<std::vector<double>> costs;
  for (const Problem& problem : set.problems) {
    std::vector<double>& row = costs.emplace_back();
    for (const CostRange& cost : problem.costs[target]) row.push_back(cost.to);
  }
  std::vector<std::vector<double>> values(set.solvers.size());
  std::ptrdiff_t infinite = 0;
  for (const std::vector<double>& row : performance_ratios(costs)) {
    for (std::size_t solver = 0; solver < row.size(); ++solver) values[solver].push_back(row[solver]);
    infinite += std::ranges::count(row, kInfinity);
  }
  return {.name = figure_name("profile-" + goal, set),
          .title = fmt::format("Performance profile: {} to (f − f*) / f* ≤ {}", set.measure, goal),
          .x_label = fmt::format("τ: {} over the least of any solver", set.measure),
          .y_label = "share of problems within τ",
          .caption = fmt::format("A run that failed or never got there has an infinite ratio: {} of {}.",
                                 infinite, set.problems.size() * set.solvers.size()),
          .smallest_target = set.targets[target],
          .ratios = true,
          .values = std::move(values)};
}

Distribution cost_distribution(const ProblemSet& set) {
  std::vector<std::vector<double>> values(set.solvers.size());
  for (const Problem& problem : set.problems)
    for (const std::vector<CostRange>& costs : problem.costs)
      for (std::size_t solver = 0; solver < costs.size(); ++solver)
        values[solver].push_back(costs[solver].to);
  return {.name = figure_name("ecdf", set),
          .title = fmt::format("Targets reached within so many {}", set.measure),
          .x_label = set.measure,
          .y_label = "share of (problem, target) pairs",
          .caption = fmt::format("Targets: (f − f*) / f* ≤ {:g}. A run that failed reaches none.",
                                 fmt::join(set.targets, ", ")),
          .smallest_target = std::ranges::min(set.targets),
          .ratios = false,
          .values = std::move(values)};
}

// ---- drawing

/// Returns the range of the horizontal axis: all values that a log axis can show.
AxisRange shown_range(const Distribution& of) {
  constexpr double kMargin = 1.15;
  AxisRange range;
  for (const std::vector<double>& values : of.values)
    for (const double x : values)
      if (x > 0.0 && std::isfinite(x)) range.add(x);
  if (range.empty()) range.add(1.0);
  return of.ratios ? AxisRange{1.0, kMargin * std::max(range.max, kLeastRatio)} : range.widened(kMargin);
}

std::string warning_of(const ProblemSet& set) {
  const auto synthetic = static_cast<std::size_t>(std::ranges::count_if(set.descriptions, says_synthetic));
  return (0 < synthetic && synthetic < set.descriptions.size() ? "PARTLY " : "") +
         data_warnings(synthetic > 0 ? "synthetic" : "", set.comparable);
}

/// Adds the curve of each solver, from the left end of the axis to the right end. Later lines are thinner, so
/// that lines on top of each other stay visible. `labels` are those of all solvers and determine the colours.
void add_curves(Chart& chart, const Distribution& of, const ProblemSet& set, const AxisRange& shown,
                const std::vector<std::string>& labels) {
  constexpr double kThick = 4.5, kThin = 2.0;
  const std::size_t solvers = set.solvers.size();
  for (std::size_t i = 0; i < solvers; ++i) {
    DataBlock block{{set.solvers[i]}, {{shown.min, 0.0}}};
    for (const Step& step : distribution_of(of.values[i]))
      if (step.x <= shown.min)
        block.rows.front().back() = step.share;
      else
        block.rows.push_back({step.x, step.share});
    block.rows.push_back({shown.max, block.rows.back().back()});
    const double thin = solvers == 1 ? 1.0 : static_cast<double>(i) / static_cast<double>(solvers - 1);
    chart.add({.title = set.solvers[i],
               .style = line_style(place_in(labels, set.solvers[i])),
               .width = kThick + thin * (kThin - kThick),
               .x = 2,
               .y = 3,
               .steps = true},
              std::move(block));
  }
}

Chart make_chart(const Distribution& of, const ProblemSet& set, double accuracy,
                 const std::vector<std::string>& labels) {
  const AxisRange shown = shown_range(of);
  Axis shares{of.y_label, {-0.02, 1.02}, {}};
  for (int tenth = 0; tenth <= 10; ++tenth)
    shares.ticks.push_back({tenth / 10.0, fmt::format("{}", tenth / 10.0)});
  Chart chart{.name = of.name,
              .warning = warning_of(set),
              .title = of.title,
              .subtitle = fmt::format("{} problems: (experiment, data set, penalty, repetition){}",
                                      set.problems.size(), set.machine.empty() ? "" : ", on " + set.machine),
              .caption = of.caption + accuracy_caption(of, accuracy) + common_caption(set),
              .panels = {{.x = log_axis(of.x_label, shown, kMostLabelsX), .y = shares}},
              .columns = {"label", "x", "share"}};
  add_curves(chart, of, set, shown, labels);
  return chart;
}

void require_problems(const ProblemSet& set) {
  if (!set.problems.empty()) return;
  throw Error::usage(
      fmt::format("no problem that all of {} were run on{}; left out: {}; expected solvers that "
                  "have some in common",
                  fmt::join(set.solvers, ", "), set.machine.empty() ? "" : " on " + set.machine,
                  set.left_out.empty() ? "none" : few_names(set.left_out)));
}

}  // namespace

std::vector<Chart> profile_charts(const std::vector<Run>& runs, const PlotConfig& plot,
                                  const std::vector<double>& targets, bool allow_not_comparable) {
  require_drawable(runs, plot.x, allow_not_comparable);
  const std::vector<std::string> labels = distinct(runs, shown_label);
  const double accuracy = reference_accuracy(runs);
  std::vector<Chart> charts;
  for (const std::string& cost : plot.x)
    for (const ProblemSet& set : problem_sets(runs, cost, targets, allow_not_comparable)) {
      require_problems(set);
      for (const std::string& kind : plot.kinds) {
        if (kind == "ecdf") charts.push_back(make_chart(cost_distribution(set), set, accuracy, labels));
        for (std::size_t target = 0; kind == "profile" && target < set.targets.size(); ++target)
          charts.push_back(make_chart(performance_profile(set, target), set, accuracy, labels));
      }
    }
  return charts;
}

}  // namespace proxbench
