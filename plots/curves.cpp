
#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "core/base/error.h"
#include "experiments/results/tables/summary_table.h"
#include "plots/curve_panel.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

constexpr double kLineWidth = 2.0, kFailedLineWidth = 1.0;
/// The number of symbols on a curve.
constexpr int kSymbolsOfCurve = 12;

/// The styles of series. Each label has one colour, and dashes distinguish machines.
class Styles {
 public:
  explicit Styles(const std::vector<Run>& runs)
      : labels_(distinct(runs, label_of)),
        machines_(distinct(runs, [](const Run& run) { return run.provenance.machine; })) {}
  LineStyle of(const Run& run) const {
    return line_style(place_in(labels_, run.parameters.label), place_in(machines_, run.provenance.machine));
  }

 private:
  std::vector<std::string> labels_, machines_;
};

// ---- ranges

/// The ranges of the drawn values.
struct Ranges {
  Range x, values;
  double bound = kNaN;  ///< the accuracy of f* if something drawn lies below it
};

Ranges ranges_drawn(const CurvePanel& panel) {
  Ranges ranges;
  const auto add = [&](double x, double value) {
    if (!panel.drawn(x, value)) return;
    ranges.x.add(x);
    ranges.values.add(value);
  };
  for (const PanelCurve& curve : panel.curves)
    for (const BandPoint& point : curve.points)
      for (const double value : {point.q25, point.median, point.q75}) add(point.x, value);
  if (const double bound = panel.bound(); bound > ranges.values.min) {
    ranges.bound = bound;
    ranges.values.min = std::max(ranges.values.min, bound / kShownBelowBound);
    ranges.values.add(bound);
  }
  return ranges;
}

Axis x_axis(const Abscissa& abscissa, const Range& drawn) {
  if (abscissa.log_axis) return log_axis(abscissa.title, drawn.widened(1.1), kMostLabelsX);
  return linear_axis(abscissa.title,
                     abscissa.max > 0.0 ? Range{0.0, abscissa.max} : out_to_ticks({0.0, drawn.max}));
}

Axis y_axis(const Quantity& quantity, const Range& drawn) {
  constexpr double kMargin = 1.5;
  if (quantity.log_axis) return log_axis(quantity.axis, drawn.widened(kMargin), kMostLabelsY);
  return linear_axis(quantity.axis, out_to_ticks(drawn));
}

// ---- title and caption

/// Returns the description of the data and its sizes.
std::string subtitle_of(const CurvePanel& panel) {
  const auto descriptions = distinct(panel.group, [](const Run& run) { return run.result.description; });
  std::string data = descriptions.front();
  if (descriptions.size() > 1) data += fmt::format(" (and {} more like it)", descriptions.size() - 1);

  std::vector<std::string> sizes;
  const auto add = [&](const char* format, const auto& count_of) {
    std::set<std::int64_t> counts;
    for (const Run* run : panel.group)
      if (const std::optional<std::uint64_t> count = count_of(*run))
        counts.insert(static_cast<std::int64_t>(*count));
    std::vector<std::string> texts;
    std::ranges::transform(counts, std::back_inserter(texts), with_commas);
    if (!texts.empty()) sizes.push_back(fmt::format(fmt::runtime(format), fmt::join(texts, " / ")));
  };
  add("{} instances", [](const Run& run) { return run.result.instances; });
  add("d = {}", [](const Run& run) { return run.result.d; });
  add("threads: {}", [](const Run& run) { return static_cast<std::uint64_t>(run.parameters.threads); });
  return fmt::format("{}\n{}", data, fmt::join(sizes, ", "));
}

std::string band_caption(const CurvePanel& panel) {
  std::set<std::size_t> sizes;
  for (const PanelCurve& curve : panel.curves)
    if (curve.is_band()) sizes.insert(curve.runs.size());
  if (sizes.empty()) return "";
  std::string out = fmt::format("\nMedians of n = {} repetitions with 25-75 % bands", fmt::join(sizes, ", "));
  if (*sizes.begin() < kFewRepetitions)
    out += fmt::format(" (n < {}: no more than the spread seen)", kFewRepetitions);
  return out + ".";
}

/// Returns the index of the last drawn sample of a run, or -1 if there is none.
int last_drawn(const CurvePanel& panel, const Run& run) {
  for (std::size_t k = run.trace.size(); k-- > 0;)
    if (panel.drawn(panel.abscissa.of(run.trace[k]), panel.quantity.value(run, run.trace[k])))
      return static_cast<int>(k);
  return -1;
}

std::string failure_caption(const CurvePanel& panel) {
  std::vector<std::string> crossed, unseen;
  for (const Run* run : panel.group)
    if (run->failed())
      (last_drawn(panel, *run) >= 0 ? crossed : unseen)
          .push_back(fmt::format("{} repetition {} {}", panel.series(*run), run->parameters.repetition,
                                 run->status()));
  std::string out;
  if (!crossed.empty()) out += fmt::format("\nA cross ends what failed: {}.", fmt::join(crossed, ", "));
  if (!unseen.empty()) out += fmt::format("\nFailed, nothing to draw: {}.", fmt::join(unseen, ", "));
  return out;
}

std::string caption_of(const CurvePanel& panel, bool below_bound) {
  std::vector<std::string> notes = quantity_notes(panel);
  if (below_bound) notes.push_back(kBoundNote);
  return fmt::format("{}", fmt::join(notes, " ")) + band_caption(panel) + failure_caption(panel);
}

// ---- data

/// Whether rows have the two columns of bands.
bool has_bands(const CurvePanel& panel) {
  return !panel.curves.empty() && panel.curves.front().is_band();
}

/// Returns a row of the data. `values` are seconds, the quantity, iteration, passes and updates.
std::string row_text(const CurvePanel& panel, const std::string& series, const std::string& repetition,
                     const std::array<double, 5>& values, double q25 = kNaN, double q75 = kNaN) {
  const auto& [seconds, value, iteration, passes, updates] = values;
  return has_bands(panel) ? tsv_line(series, repetition, seconds, value, iteration, passes, updates, q25, q75)
                          : tsv_line(series, repetition, seconds, value, iteration, passes, updates);
}

/// Returns a corner of the steps of a curve. Its abscissa goes into the column of the axis.
std::string corner_text(const CurvePanel& panel, const PanelCurve& curve, double x, const BandPoint& values) {
  const auto in_column = [&](int column) { return column == panel.abscissa.column ? x : kNaN; };
  const std::array<double, 5> row{in_column(3), values.median, in_column(5), in_column(6), in_column(7)};
  if (curve.is_band()) return row_text(panel, curve.series, "median", row, values.q25, values.q75);
  return row_text(panel, curve.series, std::to_string(curve.runs.front()->parameters.repetition), row);
}

/// Returns the corners of a curve: a value holds up to the next sample.
std::string steps_text(const CurvePanel& panel, const PanelCurve& curve) {
  std::string out;
  const BandPoint* before = nullptr;
  for (const BandPoint& point : curve.points) {
    const bool shown =
        std::isfinite(point.x) && std::isfinite(point.median) && (!panel.abscissa.log_axis || point.x > 0.0);
    if (!curve.is_band() && !shown) continue;
    if (before != nullptr) out += corner_text(panel, curve, point.x, *before);
    out += corner_text(panel, curve, point.x, point);
    before = &point;
  }
  return out.empty() ? corner_text(panel, curve, kNaN, {kNaN, kNaN, kNaN, kNaN})
                     : out;  // a block needs at least one row
}

/// Returns one header line, then a block of rows for each run, then a block for each curve with the corners
/// of its steps. Two blank lines separate blocks.
std::string data_text(const CurvePanel& panel) {
  std::string out = fmt::format("label\trepetition\tseconds\t{}\titeration\tpasses\tupdates{}\n",
                                panel.quantity.column, has_bands(panel) ? "\tq25\tq75" : "");
  for (const Run* run : panel.traced) {
    if (run != panel.traced.front()) out += "\n\n";
    for (const Sample& sample : run->trace)
      out += row_text(panel, panel.series(*run), std::to_string(run->parameters.repetition),
                      {sample.seconds, panel.quantity.value(*run, sample),
                       static_cast<double>(sample.iteration), sample.passes, sample.updates});
  }
  for (const PanelCurve& curve : panel.curves) out += "\n\n" + steps_text(panel, curve);
  return out;
}

// ---- figures

/// Adds the blocks of data_text() that hold corners, as curves.
void add_curves(Panel& drawn, const CurvePanel& panel, const Styles& styles) {
  std::set<std::string> named;
  for (const PanelCurve& curve : panel.curves) {
    const Run& run = *curve.runs.front();
    drawn.curves.push_back({.title = named.insert(curve.series).second ? curve.series : "",
                            .style = styles.of(run),
                            .width = run.failed() ? kFailedLineWidth : kLineWidth,
                            .block = panel.traced.size() + drawn.curves.size(),
                            .x = panel.abscissa.column,
                            .y = 4,
                            .low = curve.is_band() ? 8 : 0,
                            .high = curve.is_band() ? 9 : 0,
                            .symbol_size = 0.9,
                            .symbols = kSymbolsOfCurve});
    if (const int last = last_drawn(panel, run); run.failed() && last >= 0)
      drawn.crosses.push_back({place_in(panel.traced, &run), static_cast<std::size_t>(last),
                               panel.abscissa.column, 4, styles.of(run).colour});
  }
}

std::string figure_name(const Run& run, const Quantity& quantity, const std::string& suffix) {
  const std::string mu = run.parameters.mu > 0.0 ? fmt::format("-mu{}", run.parameters.mu) : "";
  const std::string loss =
      run.parameters.loss.hinge() ? fmt::format("-hinge-{}", cost_name(run.parameters.loss.cost)) : "";
  return file_name_part(fmt::format("{}{}-lambda{}{}-{}{}", run.parameters.dataset, loss,
                                    run.parameters.lambda, mu, quantity.name, suffix));
}

Chart make_chart(const CurvePanel& panel, const Ranges& ranges, const Styles& styles) {
  const Run& first = *panel.group.front();
  const bool comparable =
      std::ranges::all_of(panel.group, [](const Run* run) { return run->timing.comparable; });
  Panel drawn{.x = x_axis(panel.abscissa, ranges.x),
              .y = y_axis(panel.quantity, ranges.values),
              .floor = panel.floor(),
              .bound = ranges.bound};
  add_curves(drawn, panel, styles);
  return {.name = figure_name(first, panel.quantity, panel.abscissa.suffix()),
          .title = data_warnings(subtitle_of(panel), comparable || panel.abscissa.name != "seconds") +
                   panel.quantity.title,
          .about = fmt::format(": {}, {}", first.parameters.dataset, penalty_symbols(first.parameters)),
          .subtitle = subtitle_of(panel),
          .caption = caption_of(panel, std::isfinite(ranges.bound)),
          .panels = {drawn},
          .data = data_text(panel)};
}

/// Returns the members of `all` with these names, in the order of the names.
template <class Named>
std::vector<Named> chosen(const std::vector<Named>& all, const std::vector<std::string>& names,
                          const char* option) {
  std::vector<Named> out;
  for (const std::string& name : names) out.push_back(find_named(all, name, option));
  return out;
}

std::vector<Abscissa> chosen_abscissas(const PlotConfig& plot) {
  std::vector<Abscissa> out = chosen(abscissas(), plot.x, "x");
  for (std::size_t i = 0; i < plot.x_max.size(); ++i) out[i].max = plot.x_max[i];
  for (Abscissa& one : out) one.log_axis = one.name == "seconds" && plot.log_seconds;
  return out;
}

void check(const std::vector<Run>& runs, const PlotConfig& plot, bool allow_not_comparable) {
  if (runs.empty()) throw Error::usage("no runs to draw");
  if (place_in(plot.x, "seconds") < plot.x.size() && !plot.quantities.empty() && !allow_not_comparable)
    require_comparable(runs, "--allow-not-comparable, or x without seconds");
}

}  // namespace

std::vector<Chart> curve_charts(const std::vector<Run>& runs, const PlotConfig& plot,
                                bool allow_not_comparable) {
  check(runs, plot, allow_not_comparable);
  const std::vector<Abscissa> axes = chosen_abscissas(plot);
  const std::vector<Quantity> drawn_quantities = chosen(quantities(), plot.quantities, "quantities");

  const bool machines = several_machines(runs);
  const Styles styles(runs);
  std::vector<Chart> charts;
  for (const auto& [problem, group] : grouped(runs, problem_of))
    for (const Quantity& quantity : drawn_quantities)
      for (const Abscissa& abscissa : axes) {
        const CurvePanel panel =
            make_curve_panel(group, quantity, abscissa, machines, plot.repetitions == "band");
        const Ranges ranges = ranges_drawn(panel);
        if (!ranges.x.empty()) charts.push_back(make_chart(panel, ranges, styles));
      }
  return charts;
}

}  // namespace proxbench
