
#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kFile = "theory.json";
/// The end of an arm is judged by the last kTail iterations whose error is above the share kExact of the
/// first error. Below that share, w* itself is not exact enough.
constexpr std::size_t kTail = 10;
constexpr double kExact = 1e-9;

/// The quantities of a figure's panels, from top to bottom.
struct TheoryQuantity {
  const char* key;
  const char* label;
};
constexpr TheoryQuantity kQuantities[] = {
    {"error", "error eₜ"}, {"ratio", "eₜ / eₜ₋₁"}, {"dennis_more", "Dennis-Moré ratio"}};

double field(const json& object, const char* key) {
  return number_at(object, (std::string("/") + key).c_str());
}

std::string name_of(const json& problem) {
  return file_name_part(fmt::format("theory-{}-{}", problem.at("dataset").get<std::string>(),
                                    problem.at("lambda").get<double>()));
}

std::string text_of_problem(const json& problem) {
  return fmt::format("{}, λ = {}", problem.at("dataset").get<std::string>(),
                     problem.at("lambda").get<double>());
}

/// Returns a block for each arm.
std::string data_text(const json& problem) {
  std::string out;
  for (const json& arm : problem.at("arms")) {
    out += "arm\titeration\terror\tratio\tdennis_more\tnnz\n";
    for (const json& at : arm.at("iterations"))
      out +=
          tsv_line(arm.at("label").get<std::string>(), at.at("iteration").get<double>(), field(at, "error"),
                   field(at, "ratio"), field(at, "dennis_more"), at.at("nnz").get<double>());
    out += "\n\n";
  }
  return out;
}

/// Returns panels of the quantities that have values for a log axis.
std::vector<Panel> panels_of(const json& problem) {
  const json& arms = problem.at("arms");
  std::vector<Panel> panels;
  for (std::size_t place = 0; place < std::size(kQuantities); ++place) {
    const double bottom = 0.66 - 0.265 * static_cast<double>(place);
    Panel panel{.frame = {0.11, 0.76, bottom, bottom + 0.19}, .key = ""};
    if (panels.empty()) panel.key = "outside right top vertical maxcols 1";
    Range iterations{0.0, 1.0}, values;
    for (std::size_t i = 0; i < arms.size(); ++i) {
      for (const json& at : arms[i].at("iterations")) {
        iterations.add(field(at, "iteration"));
        const double value = field(at, kQuantities[place].key);
        if (value > 0.0 && std::isfinite(value)) values.add(value);
      }
      panel.curves.push_back({.title = panels.empty() ? arms[i].at("label").get<std::string>() : "",
                              .style = line_style(i),
                              .block = i,
                              .x = 2,
                              .y = static_cast<int>(place) + 3,
                              .symbol_size = 0.4});
    }
    if (values.empty()) continue;
    panel.x = linear_axis(place + 1 == std::size(kQuantities) ? "iteration" : "", iterations);
    panel.y = log_axis(kQuantities[place].label, values.widened(1.3), kMostLabelsY / std::size(kQuantities));
    panels.push_back(std::move(panel));
  }
  return panels;
}

/// Returns the indices of the iterations by which the end of an arm is judged.
std::vector<std::size_t> tail_of(const json& iterations) {
  std::vector<std::size_t> out;
  if (iterations.empty()) return out;
  const double least = kExact * field(iterations.front(), "error");
  for (std::size_t t = iterations.size(); t-- > 0 && out.size() < kTail;)
    if (field(iterations[t], "error") > least && std::isfinite(field(iterations[t], "ratio")))
      out.push_back(t);
  return out;
}

/// Returns the median, which is the upper one of two middle values.
double median_at(const json& iterations, const std::vector<std::size_t>& places, const char* key) {
  std::vector<double> values;
  for (const std::size_t t : places)
    if (const double value = field(iterations[t], key); std::isfinite(value)) values.push_back(value);
  std::ranges::sort(values);
  return values.empty() ? kNaN : values[values.size() / 2];
}

/// Returns the geometric mean of the ratios at these places.
double mean_ratio(const json& iterations, const std::vector<std::size_t>& places) {
  double sum = 0.0;
  for (const std::size_t t : places) sum += std::log(field(iterations[t], "ratio"));
  return std::exp(sum / static_cast<double>(places.size()));  // NaN if there are none
}

std::vector<std::string> arm_row(const json& problem, const json& arm) {
  const json& all = arm.at("iterations");
  const std::vector<std::size_t> tail = tail_of(all);
  const double first = all.empty() ? 0.0 : field(all.front(), "error"),
               last = all.empty() ? 0.0 : field(all.back(), "error");
  const json& settled = arm.at("support_settled_at");
  return {text_of_problem(problem),
          arm.at("label").get<std::string>(),
          std::to_string(all.size()),
          all.empty() ? "-" : count_cell(field(all.back(), "passes")),
          settled.is_null() ? "never" : std::to_string(settled.get<std::int64_t>()),
          fmt::format("{} of {}", arm.at("unit_steps").get<std::size_t>(),
                      arm.at("steps_since").get<std::size_t>()),
          scientific_cell(last / first),
          fixed_cell(mean_ratio(all, tail), 3),
          fixed_cell(median_at(all, tail, "order"), 2),
          scientific_cell(median_at(all, tail, "dennis_more"))};
}

}  // namespace

nlohmann::json read_theory(const fs::path& results) {
  const fs::path file = results / kFile;
  if (!fs::exists(file)) return nullptr;
  json theory = read_json(file, "what scripts/theory makes");
  try {
    theory_tables(theory);
    for (const json& problem : theory.at("problems")) data_text(problem);
  } catch (const json::exception& error) {
    throw Error::in_file(file.string(), 0, error.what(), "figures as scripts/theory makes them");
  }
  return theory;
}

std::vector<Chart> theory_charts(const json& theory) {
  std::vector<Chart> charts;
  for (const json& problem : theory.at("problems")) {
    const std::string description = problem.at("description").get<std::string>();
    charts.push_back({.name = name_of(problem),
                      .title = data_warnings(description) + text_of_problem(problem),
                      .subtitle = description,
                      .panels = panels_of(problem),
                      .data = data_text(problem)});
  }
  return charts;
}

std::vector<TextTable> theory_tables(const json& theory) {
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
  for (const json& problem : theory.at("problems")) {
    for (const json& arm : problem.at("arms")) arms.rows.push_back(arm_row(problem, arm));
    const json none = json::object(), face = problem.value("face", none);
    std::vector<std::string> row{text_of_problem(problem), count_cell(number_at(problem, "/optimum/nnz")),
                                 count_cell(field(face, "rank")), scientific_cell(field(face, "smallest")),
                                 scientific_cell(field(face, "largest"))};
    json stretches = problem.value("stretch", none);
    if (stretches.empty()) stretches["-"] = nullptr;
    for (const auto& [what, stretch] : stretches.items()) {
      row.insert(row.end(), {what, scientific_cell(stretch.is_null() ? kNaN : stretch.get<double>())});
      optima.rows.push_back(std::move(row));
      row.assign(5, "");
    }
  }
  return {arms, optima};
}

}  // namespace proxbench
