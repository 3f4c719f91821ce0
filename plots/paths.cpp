
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>

#include "plots/figures.h"

namespace proxbench {
namespace {

struct PathQuantity {
  const char* name;
  const char* label;
  KeyPlace key;  ///< the corner without curves, as lambda or mu falls from left to right
  double (*value)(const PathPoint&);

  bool of_time() const { return std::string_view(name) == "seconds"; }
};
constexpr PathQuantity kPathQuantities[] = {
    {"nnz", "nonzeros", KeyPlace::kLeftTop,
     [](const PathPoint& p) { return static_cast<double>(p.certificate.nnz); }},
    {"objective", "objective F", KeyPlace::kLeftBottom,
     [](const PathPoint& p) { return p.certificate.objective; }},
    {"accuracy", "test accuracy", KeyPlace::kLeftTop, [](const PathPoint& p) { return p.test_accuracy; }},
    {"seconds", "seconds since the path began", KeyPlace::kLeftTop,
     [](const PathPoint& p) { return p.seconds; }},
};

/// One line of a figure.
struct Line {
  std::string title;
  const Run* path;
};

/// The paths of one figure: they go over the same part of the penalty, and have the same value of the other
/// part.
struct Family {
  std::string dataset;
  bool of_mu;
  double fixed;
  auto operator<=>(const Family&) const = default;

  static Family of(const Run& run) {
    const RunParameters& p = run.parameters;
    return {p.dataset, p.path_of_mu, p.path_of_mu ? p.lambda : p.mu};
  }
  double at(const PathPoint& point) const { return of_mu ? point.mu : point.lambda; }
  /// Returns "path-DATASET-", followed by "mu-", "mu-lambda1-" or "mu0.1-" unless the paths are over lambda
  /// with mu = 0.
  std::string name() const {
    const std::string with = fixed == 0.0 ? "" : fmt::format("{}{}-", of_mu ? "lambda" : "mu", fixed);
    return fmt::format("path-{}-{}{}", dataset, of_mu ? "mu-" : "", with);
  }
  /// Returns e.g. "regularisation path over μ, λ = 1".
  std::string text() const {
    const std::string with = fixed == 0.0 ? "" : fmt::format(", {} = {}", of_mu ? "λ" : "μ", fixed);
    return fmt::format("regularisation path{}{}", of_mu ? " over μ" : "", with);
  }
};

std::string caption_of(const Family& family, const std::vector<Line>& lines) {
  const auto cut =
      std::ranges::count_if(lines, [](const Line& line) { return !line.path->reached_tolerance(); });
  return cut == 0 ? ""
                  : fmt::format("{} of {} paths did not reach their tolerance at every {}.", cut,
                                lines.size(), family.of_mu ? "μ" : "λ");
}

/// `titles` lists the titles of all lines in all figures. The index of a line's title in it determines the
/// line's style.
Chart make_chart(const Family& family, const PathQuantity& quantity, const std::vector<Line>& lines,
                 const std::vector<std::string>& titles) {
  const Run& first = *lines.front().path;
  const bool comparable =
      std::ranges::all_of(lines, [](const Line& line) { return line.path->timing.comparable; });
  Chart chart{.name = file_name_part(family.name() + quantity.name),
              .warning = data_warnings(first.result.description, comparable || !quantity.of_time()),
              .title = fmt::format("{}: {}", first.parameters.dataset, family.text()),
              .subtitle = first.result.description,
              .caption = caption_of(family, lines),
              .panels = {{.key = quantity.key}},
              .columns = {"solver", family.of_mu ? "mu" : "lambda", quantity.name},
              .repeat_header = true};
  for (const Line& line : lines) {
    DataBlock block{{line.title}};
    for (const PathPoint& point : line.path->points)
      block.rows.push_back({family.at(point), quantity.value(point)});
    const LineStyle style = line_style(place_in(titles, line.title));
    chart.add({.title = line.title, .style = style, .x = 2, .y = 3, .symbol_size = 0.5}, std::move(block));
  }
  Panel& panel = chart.panels.front();
  panel.x = log_axis(family.of_mu ? "μ" : "λ", chart.range(2).widened(1.1), kMostLabelsX);
  panel.x.reversed = true;  // the path goes from left to right
  panel.y = linear_axis(quantity.label, out_to_ticks(chart.range(3)));
  return chart;
}

}  // namespace

std::vector<Chart> path_charts(const std::vector<Run>& paths, bool allow_not_comparable) {
  std::map<Family, Runs> families;
  for (const Run& path : paths)
    if (path.parameters.repetition == 1) families[Family::of(path)].push_back(&path);
  const bool machines = several_machines(paths);
  std::vector<std::string> titles;
  std::vector<Chart> charts;
  for (const auto& [family, group] : families) {
    const bool several = distinct(group, [](const Run& path) { return path.parameters.path; }).size() > 1;
    std::vector<Line> all;
    for (const Run* path : group) {
      all.push_back({series_name(*path, machines) + (several ? " " + path->parameters.path : ""), path});
      if (place_in(titles, all.back().title) == titles.size()) titles.push_back(all.back().title);
    }
    for (const PathQuantity& quantity : kPathQuantities) {
      std::vector<Line> lines;
      std::ranges::copy_if(all, std::back_inserter(lines), [&](const Line& line) {
        return (!quantity.of_time() || line.path->timing.comparable || allow_not_comparable) &&
               std::ranges::any_of(line.path->points, [&](const PathPoint& point) {
                 return std::isfinite(quantity.value(point));
               });
      });
      if (!lines.empty()) charts.push_back(make_chart(family, quantity, lines, titles));
    }
  }
  return charts;
}

}  // namespace proxbench
