#include "plots/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/numbers.h"
#include "experiments/results/statistics.h"
#include "experiments/results/tables/problem_set.h"
#include "plots/facts.h"
#include "plots/figure.h"
#include "plots/quantities.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// So many names of problems or runs stand under a plot.
constexpr std::size_t kMostNames = 4;
/// A ratio axis shows at least this.
constexpr double kLeastRatio = 2.0;

/// The distribution function of one solver.
struct Staircase {
  std::string solver;
  std::vector<Step> steps;
};

/// What differs between profiles and distributions of costs.
struct Chart {
  std::string name, title, x_label, y_label, caption;
  double smallest_target;
  std::vector<Staircase> solvers;
  bool ratios;  ///< on the horizontal axis, from 1
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

/// The worst of what is known of any f*; 0: nothing is known.
double reference_accuracy(const std::vector<Run>& runs) {
  double worst = 0.0;
  for (const Run& run : runs) worst = std::fmax(worst, reference_bound(run));
  return worst;
}

std::string accuracy_caption(const Chart& chart, double accuracy) {
  if (!(chart.smallest_target < accuracy)) return "";
  return fmt::format("\nf* is proven to a relative accuracy of {:.1e} at worst: smaller targets say less.",
                     accuracy);
}

// ---- the two kinds

Chart profile_chart(const ProblemSet& set, std::size_t target) {
  Chart chart;
  const std::string goal = fmt::format("{:g}", set.targets[target]);
  chart.name = figure_name("profile-" + goal, set);
  chart.title = fmt::format("Performance profile: {} to (f − f*) / f* ≤ {}", set.measure, goal);
  chart.x_label = fmt::format("τ: {} over the least of any solver", set.measure);
  chart.y_label = "share of problems within τ";
  chart.ratios = true;
  chart.smallest_target = set.targets[target];
  std::vector<std::vector<double>> costs;
  for (const Problem& problem : set.problems) costs.push_back(problem.costs[target]);
  const std::vector<std::vector<double>> ratios = performance_ratios(costs);
  std::size_t infinite = 0;
  for (std::size_t solver = 0; solver < set.solvers.size(); ++solver) {
    std::vector<double> of_solver;
    for (const std::vector<double>& row : ratios) of_solver.push_back(row[solver]);
    infinite += static_cast<std::size_t>(std::count(of_solver.begin(), of_solver.end(), kInfinity));
    chart.solvers.push_back({set.solvers[solver], distribution_of(std::move(of_solver))});
  }
  chart.caption = fmt::format("A run that failed or never got there has an infinite ratio: {} of {}.",
                              infinite, set.problems.size() * set.solvers.size());
  return chart;
}

Chart ecdf_chart(const ProblemSet& set) {
  Chart chart;
  chart.name = figure_name("ecdf", set);
  chart.title = fmt::format("Targets reached within so many {}", set.measure);
  chart.x_label = set.measure;
  chart.y_label = "share of (problem, target) pairs";
  chart.ratios = false;
  chart.smallest_target = *std::min_element(set.targets.begin(), set.targets.end());
  for (std::size_t solver = 0; solver < set.solvers.size(); ++solver) {
    std::vector<double> costs;
    for (const Problem& problem : set.problems)
      for (const std::vector<double>& of_target : problem.costs) costs.push_back(of_target[solver]);
    chart.solvers.push_back({set.solvers[solver], distribution_of(std::move(costs))});
  }
  chart.caption = fmt::format("Targets: (f − f*) / f* ≤ {:g}. A run that failed reaches none.",
                              fmt::join(set.targets, ", "));
  return chart;
}

// ---- drawing

/// Of the steps that a log axis can show.
Range range_of(const Chart& chart) {
  Range range;
  for (const Staircase& solver : chart.solvers)
    for (const Step& step : solver.steps)
      if (step.x > 0.0) range.add(step.x);
  return range;
}

/// From the left end of the axis to the right one; one block a solver.
std::string data_text(const Chart& chart, double left, double right) {
  std::string out = "label\tx\tshare\n";
  for (const Staircase& solver : chart.solvers) {
    if (&solver != chart.solvers.data()) out += "\n\n";
    const auto line = [&](double x, double share) {
      out += fmt::format("{}\t{}\t{}\n", tsv_field(solver.solver), x, share);
    };
    double share = 0.0;
    std::size_t i = 0;
    while (i < solver.steps.size() && solver.steps[i].x <= left) share = solver.steps[i++].share;
    line(left, share);
    for (; i < solver.steps.size(); ++i) {
      share = solver.steps[i].share;
      line(solver.steps[i].x, share);
    }
    line(right, share);
  }
  return out;
}

/// Lines that lie on each other stay visible: later ones are thinner.
std::string plot_text(const Chart& chart, const std::map<std::string, std::size_t>& places) {
  constexpr double kThick = 4.5, kThin = 2.0;
  std::vector<std::string> curves;
  const auto count = static_cast<double>(chart.solvers.size());
  for (std::size_t i = 0; i < chart.solvers.size(); ++i) {
    const LineStyle style = line_style(places.at(chart.solvers[i].solver));
    const double share = count > 1.0 ? static_cast<double>(i) / (count - 1.0) : 1.0;
    curves.push_back(fmt::format(
        "{} skip 1 index {} using 2:3 with steps title {} linecolor rgb '{}' linewidth {:.2g} dashtype {}",
        gnuplot_quoted(chart.name + ".tsv"), i, gnuplot_quoted(chart.solvers[i].solver), style.colour,
        kThick + share * (kThin - kThick), style.dash_type));
  }
  return fmt::format("plot {}\n", fmt::join(curves, ", \\\n     "));
}

std::string title_text(const Chart& chart, const ProblemSet& set) {
  const auto count = static_cast<std::size_t>(
      std::count_if(set.descriptions.begin(), set.descriptions.end(), says_synthetic));
  const std::string synthetic = count == 0                         ? ""
                                : count == set.descriptions.size() ? "SYNTHETIC DATA: "
                                                                   : "PARTLY SYNTHETIC DATA: ";
  const std::string problems =
      fmt::format("{} problems: (experiment, data set, penalty, repetition){}", set.problems.size(),
                  set.machine.empty() ? "" : ", on " + set.machine);
  return fmt::format("{{/:Bold {}{}{}}}{}", synthetic,
                     set.comparable ? "" : "NOT COMPARABLE: ", gnuplot_literal(chart.title),
                     small_lines(problems));
}

Figure make_figure(const Chart& chart, const ProblemSet& set, double accuracy,
                   const std::map<std::string, std::size_t>& places) {
  constexpr double kMargin = 1.15;
  Range range = range_of(chart);
  if (range.empty()) range.add(1.0);
  const double left = chart.ratios ? 1.0 : range.min / kMargin;
  const double right = kMargin * (chart.ratios ? std::max(range.max, kLeastRatio) : range.max);
  Range axis;
  axis.add(left);
  axis.add(right);
  return {.name = chart.name,
          .title = title_text(chart, set),
          .x_label = gnuplot_literal(chart.x_label) +
                     small_lines(chart.caption + accuracy_caption(chart, accuracy) + common_caption(set)),
          .y_label = gnuplot_literal(chart.y_label),
          .axes = "set yrange [-0.02:1.02]\nset ytics 0,0.1,1\n" + log_axis("x", axis, chart.ratios ? 2 : 10),
          .plot = plot_text(chart, places),
          .data = data_text(chart, left, right)};
}

// ---- checks

void check(const std::vector<Run>& runs, const ProfileOptions& options) {
  if (runs.empty()) throw Error::usage("no runs to compare");
  const std::vector<std::string> known = {"profile", "ecdf"};
  for (const std::string& kind : options.kinds)
    if (std::find(known.begin(), known.end(), kind) == known.end())
      throw Error::usage(
          fmt::format("kinds = {}: expected one of profile, ecdf{}", kind, did_you_mean(kind, known)));
  for (const std::string& measure : options.measures) find_measure(measure);
  const bool seconds =
      std::find(options.measures.begin(), options.measures.end(), "seconds") != options.measures.end();
  if (seconds && !options.allow_not_comparable)
    require_comparable(runs, "--allow-not-comparable, or x without seconds");
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

std::vector<fs::path> make_profiles(const std::vector<Run>& runs, const fs::path& figures,
                                    const ProfileOptions& options) {
  check(runs, options);
  std::map<std::string, std::size_t> places;
  for (const Run& run : runs) places.try_emplace(run.parameters.label, places.size());

  const double accuracy = reference_accuracy(runs);
  std::vector<fs::path> written;
  const auto draw = [&](const Chart& chart, const ProblemSet& set) {
    written.push_back(write_figure(figures, make_figure(chart, set, accuracy, places)));
  };
  for (const std::string& measure : options.measures)
    for (const ProblemSet& set : problem_sets(runs, {.measure = measure,
                                                    .targets = options.targets,
                                                    .allow_not_comparable = options.allow_not_comparable})) {
      require_problems(set);
      for (const std::string& kind : options.kinds) {
        if (kind == "ecdf") draw(ecdf_chart(set), set);
        for (std::size_t target = 0; kind == "profile" && target < set.targets.size(); ++target)
          draw(profile_chart(set, target), set);
      }
    }
  return written;
}

}  // namespace proxbench
