#include "plots/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "experiments/base/numbers.h"
#include "experiments/results/statistics.h"
#include "experiments/results/tables/problem_set.h"
#include "plots/facts.h"
#include "plots/gnuplot.h"

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
struct Distribution {
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

std::string accuracy_caption(const Distribution& of, double accuracy) {
  if (!(of.smallest_target < accuracy)) return "";
  return fmt::format("\nf* is proven to a relative accuracy of {:.1e} at worst: smaller targets say less.",
                     accuracy);
}

// ---- the two kinds

Distribution performance_profile(const ProblemSet& set, std::size_t target) {
  Distribution of;
  const std::string goal = fmt::format("{:g}", set.targets[target]);
  of.name = figure_name("profile-" + goal, set);
  of.title = fmt::format("Performance profile: {} to (f − f*) / f* ≤ {}", set.measure, goal);
  of.x_label = fmt::format("τ: {} over the least of any solver", set.measure);
  of.y_label = "share of problems within τ";
  of.ratios = true;
  of.smallest_target = set.targets[target];
  std::vector<std::vector<double>> costs;
  for (const Problem& problem : set.problems) costs.push_back(problem.costs[target]);
  const std::vector<std::vector<double>> ratios = performance_ratios(costs);
  std::size_t infinite = 0;
  for (std::size_t solver = 0; solver < set.solvers.size(); ++solver) {
    std::vector<double> of_solver;
    for (const std::vector<double>& row : ratios) of_solver.push_back(row[solver]);
    infinite += static_cast<std::size_t>(std::count(of_solver.begin(), of_solver.end(), kInfinity));
    of.solvers.push_back({set.solvers[solver], distribution_of(std::move(of_solver))});
  }
  of.caption = fmt::format("A run that failed or never got there has an infinite ratio: {} of {}.", infinite,
                           set.problems.size() * set.solvers.size());
  return of;
}

Distribution cost_distribution(const ProblemSet& set) {
  Distribution of;
  of.name = figure_name("ecdf", set);
  of.title = fmt::format("Targets reached within so many {}", set.measure);
  of.x_label = set.measure;
  of.y_label = "share of (problem, target) pairs";
  of.ratios = false;
  of.smallest_target = *std::min_element(set.targets.begin(), set.targets.end());
  for (std::size_t solver = 0; solver < set.solvers.size(); ++solver) {
    std::vector<double> costs;
    for (const Problem& problem : set.problems)
      for (const std::vector<double>& of_target : problem.costs) costs.push_back(of_target[solver]);
    of.solvers.push_back({set.solvers[solver], distribution_of(std::move(costs))});
  }
  of.caption = fmt::format("Targets: (f − f*) / f* ≤ {:g}. A run that failed reaches none.",
                           fmt::join(set.targets, ", "));
  return of;
}

// ---- drawing

/// Of the steps that a log axis can show.
Range range_of(const Distribution& of) {
  Range range;
  for (const Staircase& solver : of.solvers)
    for (const Step& step : solver.steps)
      if (step.x > 0.0) range.add(step.x);
  return range;
}

/// From the left end of the axis to the right one; one block a solver.
std::string data_text(const Distribution& of, double left, double right) {
  std::string out = "label\tx\tshare\n";
  for (const Staircase& solver : of.solvers) {
    if (&solver != of.solvers.data()) out += "\n\n";
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
std::vector<Curve> curves_of(const Distribution& of, const std::map<std::string, std::size_t>& places) {
  constexpr double kThick = 4.5, kThin = 2.0;
  const double last = std::max(1.0, static_cast<double>(of.solvers.size()) - 1.0);
  std::vector<Curve> curves;
  for (const Staircase& solver : of.solvers) {
    const std::size_t i = curves.size();
    curves.push_back(
        {.title = solver.solver,
         .style = line_style(places.at(solver.solver)),
         .width = kThick + (of.solvers.size() == 1 ? 1.0 : static_cast<double>(i) / last) * (kThin - kThick),
         .block = i,
         .x = 2,
         .y = 3,
         .steps = true});
  }
  return curves;
}

std::string title_of(const Distribution& of, const ProblemSet& set) {
  const auto synthetic = static_cast<std::size_t>(
      std::count_if(set.descriptions.begin(), set.descriptions.end(), says_synthetic));
  return (0 < synthetic && synthetic < set.descriptions.size() ? "PARTLY " : "") +
         data_warnings(synthetic > 0, set.comparable) + of.title;
}

Chart make_chart(const Distribution& of, const ProblemSet& set, double accuracy,
                 const std::map<std::string, std::size_t>& places) {
  constexpr double kMargin = 1.15;
  Range range = range_of(of);
  if (range.empty()) range.add(1.0);
  const Range shown =
      of.ratios ? Range{1.0, kMargin * std::max(range.max, kLeastRatio)} : range.widened(kMargin);
  Axis shares{of.y_label, {-0.02, 1.02}, {}};
  for (int tenth = 0; tenth <= 10; ++tenth)
    shares.ticks.push_back({tenth / 10.0, fmt::format("{}", tenth / 10.0)});
  return {.name = of.name,
          .title = title_of(of, set),
          .subtitle = fmt::format("{} problems: (experiment, data set, penalty, repetition){}",
                                  set.problems.size(), set.machine.empty() ? "" : ", on " + set.machine),
          .caption = of.caption + accuracy_caption(of, accuracy) + common_caption(set),
          .panels = {{.x = log_axis(of.x_label, shown, kMostLabelsX),
                      .y = shares,
                      .curves = curves_of(of, places)}},
          .data = data_text(of, shown.min, shown.max)};
}

// ---- checks

void check(const std::vector<Run>& runs, const std::vector<std::string>& costs, bool allow_not_comparable) {
  if (runs.empty()) throw Error::usage("no runs to compare");
  for (const std::string& cost : costs) find_measure(cost);
  if (std::find(costs.begin(), costs.end(), "seconds") != costs.end() && !allow_not_comparable)
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
                                    const PlotConfig& plot, const std::vector<double>& targets,
                                    bool allow_not_comparable) {
  check(runs, plot.x, allow_not_comparable);
  std::map<std::string, std::size_t> places;
  for (const Run& run : runs) places.try_emplace(run.parameters.label, places.size());

  const double accuracy = reference_accuracy(runs);
  std::vector<fs::path> written;
  const auto add = [&](const Distribution& of, const ProblemSet& set) {
    written.push_back(draw(make_chart(of, set, accuracy, places), figures));
  };
  for (const std::string& cost : plot.x)
    for (const ProblemSet& set : problem_sets(
             runs, {.measure = cost, .targets = targets, .allow_not_comparable = allow_not_comparable})) {
      require_problems(set);
      for (const std::string& kind : plot.kinds) {
        if (kind == "ecdf") add(cost_distribution(set), set);
        for (std::size_t target = 0; kind == "profile" && target < set.targets.size(); ++target)
          add(performance_profile(set, target), set);
      }
    }
  return written;
}

}  // namespace proxbench
