
#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
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

/// Returns a panel without curves: axes for all that is drawn, and the accuracy of f* if something drawn lies
/// below it.
Panel empty_panel(const CurvePanel& panel) {
  constexpr double kMarginX = 1.1, kMarginY = 1.5;
  const Quantity& quantity = panel.quantity;
  const Abscissa& abscissa = panel.abscissa;
  Panel out{.floor = panel.floor()};
  AxisRange x, y;
  for (const PanelCurve& curve : panel.curves)
    for (const BandPoint& point : curve.points)
      for (const double value : {point.q25, point.median, point.q75})
        if (panel.drawn(point.x, value)) {
          x.add(point.x);
          y.add(value);
        }
  if (const double bound = panel.bound(); bound > y.min) {
    out.bound = bound;
    y.min = std::max(y.min, bound / kShownBelowBound);
    y.add(bound);
  }
  const AxisRange from_zero = abscissa.max > 0.0 ? AxisRange{0.0, abscissa.max} : out_to_ticks({0.0, x.max});
  out.x = abscissa.log_axis ? log_axis(abscissa.title, x.widened(kMarginX), kMostLabelsX)
                            : linear_axis(abscissa.title, from_zero);
  out.y = quantity.log_axis ? log_axis(quantity.axis, y.widened(kMarginY), kMostLabelsY)
                            : linear_axis(quantity.axis, out_to_ticks(y));
  return out;
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

/// Returns sentences that say how exact f* is, what is not drawn, and which runs go below f*.
std::vector<std::string> quantity_notes(const CurvePanel& panel) {
  if (panel.quantity.name == "nnz") return {"Nothing is drawn while no weight differs from zero."};
  if (!panel.quantity.to_reference) return {};
  std::map<double, double> references;  // f* -> its bound
  std::map<std::string, double> below;  // series -> how far below f*
  for (const Run* run : panel.group) {
    if (!std::isfinite(run->best.objective)) continue;
    references[run->best.objective] = reference_bound(*run);
    for (const Sample& sample : run->trace) {
      const double difference = relative_difference(sample.objective, run->best.objective);
      if (difference < -panel.quantity.floor)
        below[panel.series(*run)] = std::min(below[panel.series(*run)], difference);
    }
  }
  if (references.empty()) return {"No f* is stored."};
  std::vector<std::string> notes;
  for (const auto& [objective, bound] : references)
    notes.push_back(fmt::format("f* = {:.10g}{}", objective,
                                std::isfinite(bound)
                                    ? fmt::format(", proven to a relative accuracy of {:.1e}.", bound)
                                    : "; how exact it is was not stored."));
  notes.push_back(fmt::format("Differences <= {:g}{} are rounding: not drawn.", panel.quantity.floor,
                              panel.quantity.name == "objective" ? "" : " f*"));
  for (const auto& [series, difference] : below)
    notes.push_back(fmt::format("{} goes below f* by {:.1e}.", series, -difference));
  return notes;
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

std::string caption_of(const CurvePanel& panel, bool below_bound) {
  std::vector<std::string> notes = quantity_notes(panel);
  if (below_bound) notes.push_back("On grey ground, below the accuracy of f*, curves say nothing.");
  return fmt::format("{}", fmt::join(notes, " ")) + band_caption(panel);
}

// ---- data

// The columns are label, repetition, seconds, the quantity, iteration, passes and updates, then the edges of
// bands.
constexpr int kQuantityColumn = 4;

/// Adds a block of all samples of each run, a cross at the end of each run that failed, and captions that
/// name these.
void add_samples(Chart& chart, const CurvePanel& panel, const Styles& styles) {
  std::vector<std::string> crossed, unseen;
  for (const Run* run : panel.group) {
    const std::string series = panel.series(*run), repetition = std::to_string(run->parameters.repetition);
    if (run->failed()) {
      const int last = last_drawn(panel, *run);
      (last >= 0 ? crossed : unseen)
          .push_back(fmt::format("{} repetition {} {}", series, repetition, run->status()));
      if (last >= 0)
        chart.panels.front().crosses.push_back({chart.blocks.size(), static_cast<std::size_t>(last),
                                                panel.abscissa.column, kQuantityColumn,
                                                styles.of(*run).colour});
    }
    if (run->trace.empty()) continue;
    DataBlock& block = chart.blocks.emplace_back(DataBlock{{series, repetition}});
    for (const Sample& sample : run->trace)
      block.rows.push_back({sample.seconds, panel.quantity.value(*run, sample),
                            static_cast<double>(sample.iteration), sample.passes, sample.updates});
  }
  if (!crossed.empty())
    chart.caption += fmt::format("\nA cross ends what failed: {}.", fmt::join(crossed, ", "));
  if (!unseen.empty())
    chart.caption += fmt::format("\nFailed, nothing to draw: {}.", fmt::join(unseen, ", "));
}

/// Adds a curve through the corners of its steps: a value holds up to the next point. The abscissa goes into
/// the column of the axis.
void add_curve(Chart& chart, const CurvePanel& panel, const PanelCurve& curve, const Styles& styles) {
  const bool band = curve.is_band();
  const Run& run = *curve.runs.front();
  const std::string series = panel.series(run);
  DataBlock block{{series, band ? "median" : std::to_string(run.parameters.repetition)}};
  const std::vector<double> unknown(5, kNaN);
  const auto x = static_cast<std::size_t>(panel.abscissa.column) - 3;
  for (const BandPoint& point : curve.points) {
    const bool shown =
        std::isfinite(point.x) && std::isfinite(point.median) && (!panel.abscissa.log_axis || point.x > 0.0);
    if (!band && !shown) continue;
    if (!block.rows.empty()) {
      std::vector<double> corner = block.rows.back();
      corner[x] = point.x;
      block.rows.push_back(std::move(corner));
    }
    std::vector<double>& row = block.rows.emplace_back(unknown);
    row[x] = point.x;
    row[1] = point.median;
    if (band) row.insert(row.end(), {point.q25, point.q75});
  }
  if (block.rows.empty()) block.rows.push_back(unknown);  // gnuplot needs at least one row
  const bool named = std::ranges::find(chart.panels.front().curves, series, &Curve::title) !=
                     chart.panels.front().curves.end();
  chart.add({.title = named ? "" : series,
             .style = styles.of(run),
             .width = run.failed() ? kFailedLineWidth : kLineWidth,
             .x = panel.abscissa.column,
             .y = kQuantityColumn,
             .low = band ? 8 : 0,
             .high = band ? 9 : 0,
             .symbol_size = 0.9,
             .symbols = kSymbolsOfCurve},
            std::move(block));
}

// ---- figures

std::string figure_name(const Run& run, const Quantity& quantity, const std::string& suffix) {
  const std::string mu = run.parameters.mu > 0.0 ? fmt::format("-mu{}", run.parameters.mu) : "";
  const std::string loss =
      run.parameters.loss.hinge() ? fmt::format("-hinge-{}", cost_name(run.parameters.loss.cost)) : "";
  return file_name_part(fmt::format("{}{}-lambda{}{}-{}{}", run.parameters.dataset, loss,
                                    run.parameters.lambda, mu, quantity.name, suffix));
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

}  // namespace

Chart curve_chart(const CurvePanel& panel, const Styles& styles, bool samples) {
  const Run& first = *panel.group.front();
  const bool comparable =
      std::ranges::all_of(panel.group, [](const Run* run) { return run->timing.comparable; });
  const Panel drawn = empty_panel(panel);
  const std::string subtitle = subtitle_of(panel);
  Chart chart{
      .name = figure_name(first, panel.quantity, panel.abscissa.suffix()),
      .warning = data_warnings(subtitle, comparable || panel.abscissa.name != "seconds"),
      .title = panel.quantity.title,
      .about = fmt::format(": {}, {}", first.parameters.dataset, penalty_symbols(first.parameters)),
      .subtitle = subtitle,
      .caption = caption_of(panel, std::isfinite(drawn.bound)),
      .panels = {drawn},
      .columns = {"label", "repetition", "seconds", panel.quantity.column, "iteration", "passes", "updates"}};
  if (std::ranges::any_of(panel.curves, &PanelCurve::is_band))
    for (const char* edge : {"q25", "q75"}) chart.columns.emplace_back(edge);
  if (samples) add_samples(chart, panel, styles);
  for (const PanelCurve& curve : panel.curves) add_curve(chart, panel, curve, styles);
  return chart;
}

std::vector<Chart> curve_charts(const std::vector<Run>& runs, const PlotConfig& plot,
                                bool allow_not_comparable) {
  require_drawable(runs, plot.quantities.empty() ? std::vector<std::string>{} : plot.x, allow_not_comparable);
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
        Chart chart = curve_chart(panel, styles, true);
        if (!chart.panels.front().y.range.empty()) charts.push_back(std::move(chart));
      }
  return charts;
}

}  // namespace proxbench
