
#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// The end of an arm is judged by the last kTail iterations whose error is above the share kExact of the
/// first error. Below that share, w* itself is not exact enough.
constexpr std::size_t kTail = 10;
constexpr double kExact = 1e-9;

/// The quantities of a figure's panels, from top to bottom. They stand in columns 3, 4 and 5 of the data.
constexpr const char* kQuantities[] = {"error eₜ", "eₜ / eₜ₋₁", "Dennis-Moré ratio"};

std::string text_of_problem(const TheoryProblem& problem) {
  return fmt::format("{}, λ = {}", problem.dataset, problem.lambda);
}

/// Returns panels of the quantities that have values for a log axis.
std::vector<Panel> panels_of(const TheoryProblem& problem, const Chart& chart) {
  AxisRange iterations = chart.range(2);
  for (const double end : {0.0, 1.0}) iterations.add(end);
  std::vector<Panel> panels;
  for (std::size_t place = 0; place < std::size(kQuantities); ++place) {
    const int column = static_cast<int>(place) + 3;
    const AxisRange values = chart.range(column, true);
    if (values.empty()) continue;
    const bool first = panels.empty(), last = place + 1 == std::size(kQuantities);
    const double bottom = 0.66 - 0.265 * static_cast<double>(place);
    Panel& panel = panels.emplace_back();
    panel.x = linear_axis(last ? "iteration" : "", iterations);
    panel.y = log_axis(kQuantities[place], values.widened(1.3), kMostLabelsY / std::size(kQuantities));
    panel.frame = {0.11, 0.76, bottom, bottom + 0.19};
    panel.key = first ? KeyPlace::kOutside : KeyPlace::kNone;
    for (std::size_t i = 0; i < problem.arms.size(); ++i)
      panel.curves.push_back({.title = first ? problem.arms[i].label : "",
                              .style = line_style(i),
                              .block = i,
                              .x = 2,
                              .y = column,
                              .symbol_size = 0.4});
  }
  return panels;
}

/// Returns the iterations by which the end of an arm is judged.
std::vector<TheoryIteration> tail_of(const std::vector<TheoryIteration>& all) {
  std::vector<TheoryIteration> out;
  for (std::size_t t = all.size(); t-- > 0 && out.size() < kTail;)
    if (all[t].error > kExact * all.front().error && std::isfinite(all[t].ratio)) out.push_back(all[t]);
  return out;
}

/// Returns the median, which is the upper one of two middle values.
double median_of(const std::vector<TheoryIteration>& iterations, double TheoryIteration::*number) {
  std::vector<double> values;
  for (const TheoryIteration& at : iterations)
    if (std::isfinite(at.*number)) values.push_back(at.*number);
  std::ranges::sort(values);
  return values.empty() ? kNaN : values[values.size() / 2];
}

/// Returns the geometric mean of the ratios.
double mean_ratio(const std::vector<TheoryIteration>& iterations) {
  double sum = 0.0;
  for (const TheoryIteration& at : iterations) sum += std::log(at.ratio);
  return std::exp(sum / static_cast<double>(iterations.size()));  // NaN if there are none
}

std::vector<std::string> arm_row(const TheoryProblem& problem, const TheoryArm& arm) {
  const std::vector<TheoryIteration>& all = arm.iterations;
  const std::vector<TheoryIteration> tail = tail_of(all);
  const bool none = all.empty();
  return {text_of_problem(problem),
          arm.label,
          std::to_string(all.size()),
          count_cell(none ? kNaN : all.back().passes),
          std::isnan(arm.support_settled_at) ? "never" : count_cell(arm.support_settled_at),
          fmt::format("{} of {}", arm.unit_steps, arm.steps_since),
          scientific_cell(none ? kNaN : all.back().error / all.front().error),
          fixed_cell(mean_ratio(tail), 3),
          fixed_cell(median_of(tail, &TheoryIteration::order), 2),
          scientific_cell(median_of(tail, &TheoryIteration::dennis_more))};
}

}  // namespace

std::vector<TheoryProblem> read_theory(const fs::path& results) {
  const fs::path file = results / "theory.json";
  if (!fs::exists(file)) return {};
  nlohmann::json theory = read_json(file, "what scripts/theory makes");
  try {
    for (nlohmann::json& problem : theory.at("problems")) {  // files of earlier versions may lack these
      problem.emplace("stretch", nlohmann::json::object());
      problem.emplace("face", TheoryFace{});
    }
    return theory.at("problems").get<std::vector<TheoryProblem>>();
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file(file.string(), 0, error.what(), "figures as scripts/theory makes them");
  }
}

std::vector<Chart> theory_charts(const std::vector<TheoryProblem>& problems) {
  std::vector<Chart> charts;
  for (const TheoryProblem& problem : problems) {
    Chart& chart = charts.emplace_back(
        Chart{.name = file_name_part(fmt::format("theory-{}-{}", problem.dataset, problem.lambda)),
              .warning = data_warnings(problem.description),
              .title = text_of_problem(problem),
              .subtitle = problem.description,
              .panels = {},
              .columns = {"arm", "iteration", "error", "ratio", "dennis_more", "nnz"},
              .repeat_header = true});
    for (const TheoryArm& arm : problem.arms) {
      DataBlock& block = chart.blocks.emplace_back(DataBlock{{arm.label}});
      for (const TheoryIteration& at : arm.iterations)
        block.rows.push_back({static_cast<double>(at.iteration), at.error, at.ratio, at.dennis_more,
                              static_cast<double>(at.nnz)});
    }
    chart.panels = panels_of(problem, chart);
  }
  return charts;
}

std::vector<TextTable> theory_tables(const std::vector<TheoryProblem>& problems) {
  TextTable arms{
      "How the arms converge (Theorem 1)",
      {fmt::format(
          "The ratio is the geometric mean of e_t / e_{{t-1}}, order and Dennis-Moré ratio are medians, "
          "over the last {} iterations whose error is above {:g} of the first.",
          kTail, kExact)},
      {"problem", "arm", "iterations", "passes", "support settles", "unit steps since", "error, end / start",
       "ratio", "order", "Dennis-Moré"},
      2,
      {}};
  TextTable optima{"The Hessian at the optimum (Theorem 3)",
                   {"On the face of the nonzero weights: rank, and the eigenvalues above rounding. Then how "
                    "much the Hessian stretches vectors, ‖Hv‖ / ‖v‖."},
                   {"problem", "nonzeros", "rank", "smallest", "largest", "v", "‖Hv‖ / ‖v‖"},
                   1,
                   {}};
  for (const TheoryProblem& problem : problems) {
    for (const TheoryArm& arm : problem.arms) arms.rows.push_back(arm_row(problem, arm));
    const TheoryFace& face = problem.face;
    std::vector<std::string> row{text_of_problem(problem), count_cell(problem.optimum.nnz),
                                 count_cell(face.rank), scientific_cell(face.smallest),
                                 scientific_cell(face.largest)};
    std::map<std::string, double> stretches = problem.stretch;
    if (stretches.empty()) stretches["-"] = kNaN;
    for (const auto& [what, stretch] : stretches) {
      row.insert(row.end(), {what, scientific_cell(stretch)});
      optima.rows.push_back(std::move(row));
      row.assign(5, "");
    }
  }
  return {arms, optima};
}

}  // namespace proxbench
