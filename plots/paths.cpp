#include "plots/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "plots/facts.h"

namespace proxbench {
namespace {

struct PathQuantity {
  const char* name;
  const char* label;
  const char* key;  ///< the corner that its curves leave free, lambda or mu falling from left to right
  double (*value)(const PathPoint&);

  bool of_time() const { return std::string_view(name) == "seconds"; }
};
const std::vector<PathQuantity>& path_quantities() {
  static const std::vector<PathQuantity> all = {
      {"nnz", "nonzeros", "left top",
       [](const PathPoint& p) { return static_cast<double>(p.certificate.nnz); }},
      {"objective", "objective F", "left bottom", [](const PathPoint& p) { return p.certificate.objective; }},
      {"accuracy", "test accuracy", "left top", [](const PathPoint& p) { return p.test_accuracy; }},
      {"seconds", "seconds since the path began", "left top", [](const PathPoint& p) { return p.seconds; }},
  };
  return all;
}

/// One line of a figure.
struct Line {
  std::string title;
  std::size_t place;
  const Run* path;
};

/// The paths of one figure: those over the same part of the penalty, where the other part has one value.
struct Family {
  std::string dataset;
  bool of_mu;
  double fixed;
  auto operator<=>(const Family&) const = default;

  static Family of(const Run& run) {
    const RunParameters& p = run.parameters;
    return {p.dataset, p.path_of_mu, p.path_of_mu ? p.lambda : p.mu};
  }
  /// "mu-", "mu-lambda1-" or "mu0.1-" as part of a name; "" for paths over lambda with mu = 0.
  std::string name_part() const {
    const std::string with = fixed == 0.0 ? "" : fmt::format("{}{}-", of_mu ? "lambda" : "mu", fixed);
    return (of_mu ? "mu-" : "") + with;
  }
  /// "regularisation path over μ, λ = 1".
  std::string text() const {
    std::string out = "regularisation path";
    if (of_mu) out += " over μ";
    if (fixed != 0.0) out += ", " + penalty_symbols(of_mu ? Penalty{fixed, 0.0} : Penalty{0.0, fixed});
    return out;
  }
};

std::string figure_name(const Family& family, const PathQuantity& quantity) {
  return file_name_part(fmt::format("path-{}-{}{}", family.dataset, family.name_part(), quantity.name));
}

double at(const PathPoint& point, bool of_mu) {
  return of_mu ? point.mu : point.lambda;
}

bool drawn(const PathQuantity& quantity, const Run& path, bool allow_not_comparable) {
  return (!quantity.of_time() || path.timing.comparable || allow_not_comparable) &&
         std::any_of(path.points.begin(), path.points.end(),
                     [&](const PathPoint& point) { return std::isfinite(quantity.value(point)); });
}

std::string data_text(const PathQuantity& quantity, const std::vector<Line>& lines, bool of_mu) {
  std::string out;
  for (const Line& line : lines) {
    out += fmt::format("solver\t{}\t{}\n", of_mu ? "mu" : "lambda", quantity.name);
    for (const PathPoint& point : line.path->points)
      out += fmt::format("{}\t{}\t{}\n", tsv_field(line.title), tsv_number(at(point, of_mu)),
                         tsv_number(quantity.value(point)));
    out += "\n\n";
  }
  return out;
}

Panel make_panel(const Family& family, const PathQuantity& quantity, const std::vector<Line>& lines) {
  Range penalties, values;
  Panel panel{.key = fmt::format("inside {}", quantity.key)};
  for (const Line& line : lines) {
    for (const PathPoint& point : line.path->points) {
      penalties.add(at(point, family.of_mu));
      if (const double value = quantity.value(point); std::isfinite(value)) values.add(value);
    }
    panel.curves.push_back({.title = line.title,
                            .style = line_style(line.place),
                            .block = panel.curves.size(),
                            .x = 2,
                            .y = 3,
                            .symbol_size = 0.5});
  }
  panel.x = log_axis(family.of_mu ? "μ" : "λ", penalties.widened(1.1), kMostLabelsX);
  panel.x.reversed = true;  // the path goes from left to right
  panel.y = linear_axis(quantity.label, out_to_ticks(values));
  return panel;
}

std::string caption_of(const Family& family, const std::vector<Line>& lines) {
  const auto cut = std::count_if(lines.begin(), lines.end(), [](const Line& line) {
    return line.path->status() != "converged" && line.path->status() != "gap-reached";
  });
  return cut == 0 ? ""
                  : fmt::format("{} of {} paths did not reach their tolerance at every {}.", cut,
                                lines.size(), family.of_mu ? "μ" : "λ");
}

Chart make_chart(const Family& family, const PathQuantity& quantity, const std::vector<Line>& lines) {
  const Run& first = *lines.front().path;
  const bool comparable =
      std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.path->timing.comparable; });
  return {
      .name = figure_name(family, quantity),
      .title = data_warnings(says_synthetic(first.result.description), comparable || !quantity.of_time()) +
               fmt::format("{}: {}", first.parameters.dataset, family.text()),
      .subtitle = first.result.description,
      .caption = caption_of(family, lines),
      .panels = {make_panel(family, quantity, lines)},
      .data = data_text(quantity, lines, family.of_mu)};
}

}  // namespace

std::vector<Chart> path_charts(const std::vector<Run>& paths, bool allow_not_comparable) {
  std::map<std::string, std::size_t> places;
  std::map<Family, std::vector<const Run*>> families;
  const bool machines = several_machines(paths);
  for (const Run& path : paths)
    if (path.parameters.repetition == 1) families[Family::of(path)].push_back(&path);
  std::vector<Chart> charts;
  for (const auto& [family, group] : families) {
    const bool several = std::any_of(group.begin(), group.end(), [&group = group](const Run* path) {
      return path->parameters.path != group.front()->parameters.path;
    });
    for (const PathQuantity& quantity : path_quantities()) {
      std::vector<Line> lines;
      for (const Run* path : group) {
        std::string title = series_name(*path, machines);
        if (several) title += " " + path->parameters.path;
        const std::size_t place = places.try_emplace(title, places.size()).first->second;
        if (drawn(quantity, *path, allow_not_comparable)) lines.push_back({title, place, path});
      }
      if (!lines.empty()) charts.push_back(make_chart(family, quantity, lines));
    }
  }
  return charts;
}

}  // namespace proxbench
