#include "plots/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "experiments/base/text.h"
#include "experiments/results/tables/summary_table.h"
#include "plots/curve_panel.h"
#include "plots/facts.h"
#include "plots/gnuplot.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// Ends the names of figures with seconds on a log axis.
constexpr const char* kLogSuffix = "-logx";
constexpr double kFailedLineWidth = 1.0;
/// So many symbols stand on a curve.
constexpr int kSymbolsOfCurve = 12;

/// How each series is drawn: a label has one colour; machines differ by their dashes.
std::map<std::string, LineStyle> styles_of(const std::vector<Run>& runs, bool machines) {
  std::map<std::string, std::size_t> labels, variants;
  std::map<std::string, LineStyle> styles;
  for (const Run& run : runs) {
    const std::size_t label = labels.try_emplace(run.parameters.label, labels.size()).first->second;
    const std::size_t variant = variants.try_emplace(run.provenance.machine, variants.size()).first->second;
    styles.try_emplace(series_name(run, machines), line_style(label, variant));
  }
  return styles;
}

// ---- ranges

/// Of what is drawn.
struct Ranges {
  Range x, values;
  double bound = kNaN;  ///< the accuracy of f*, where something drawn lies below
};

Ranges ranges_drawn(const CurvePanel& panel) {
  Ranges ranges;
  const auto add = [&](double x, double value) {
    if (!panel.drawn(x, value)) return;
    ranges.x.add(x);
    ranges.values.add(value);
  };
  for (const std::size_t i : panel.lines)
    for (const Sample& sample : panel.traced[i]->trace)
      add(panel.abscissa.value(sample), panel.quantity.value(*panel.traced[i], sample));
  for (const Band& band : panel.bands)
    for (const BandPoint& point : band.points)
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

// ---- what the title and the caption say

/// The description of the data, and its sizes.
std::string subtitle_of(const CurvePanel& panel) {
  std::set<std::string> descriptions;
  for (const Run* run : panel.group) descriptions.insert(run->result.description);
  std::string data = panel.group.front()->result.description;
  if (descriptions.size() > 1) data += fmt::format(" (and {} more like it)", descriptions.size() - 1);

  std::string size;
  const auto add = [&](const char* before, const CountOfRun& count, const char* after) {
    const std::string value = distinct_counts(panel.group, count);
    if (!value.empty()) size += (size.empty() ? "" : ", ") + (before + value) + after;
  };
  add(
      "", [](const Run& run) { return run.result.instances; }, " instances");
  add(
      "d = ", [](const Run& run) { return run.result.d; }, "");
  add(
      "threads: ", [](const Run& run) { return static_cast<std::uint64_t>(run.parameters.threads); }, "");
  return data + "\n" + size;
}

std::string band_caption(const CurvePanel& panel) {
  std::set<std::size_t> sizes;
  for (const Band& band : panel.bands) sizes.insert(band.runs.size());
  if (sizes.empty()) return "";
  std::string out = fmt::format("\nMedians of n = {} repetitions with 25-75 % bands", fmt::join(sizes, ", "));
  if (*sizes.begin() < kFewRepetitions)
    out += fmt::format(" (n < {}: no more than the spread seen)", kFewRepetitions);
  return out + ".";
}

/// The last sample of a run that is drawn; -1: none.
int last_drawn(const CurvePanel& panel, const Run& run) {
  for (std::size_t k = run.trace.size(); k-- > 0;)
    if (panel.drawn(panel.abscissa.value(run.trace[k]), panel.quantity.value(run, run.trace[k])))
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

/// A corner of the steps of a curve.
std::string corner_line(const CurvePanel& panel, const std::string& series, const std::string& repetition,
                        double x, double value) {
  const auto in_column = [&](int column) { return column == panel.abscissa.column ? tsv_number(x) : ""; };
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}", tsv_field(series), repetition, in_column(3),
                     tsv_number(value), in_column(5), in_column(6), in_column(7));
}

std::string band_line(const CurvePanel& panel, const Band& band, double x, const BandPoint& values) {
  return fmt::format("{}\t{}\t{}\n", corner_line(panel, band.series, "median", x, values.median),
                     tsv_number(values.q25), tsv_number(values.q75));
}

/// The corners of a run's curve: a value holds up to the next sample.
std::string steps_text(const CurvePanel& panel, const Run& run) {
  const char* end = panel.bands.empty() ? "\n" : "\t\t\n";
  const auto line = [&](double x, double value) {
    return corner_line(panel, panel.series(run), fmt::format("{}", run.parameters.repetition), x, value) +
           end;
  };
  std::string out;
  double before = kNaN;
  for (const Sample& sample : run.trace) {
    const double x = panel.abscissa.value(sample), value = panel.quantity.value(run, sample);
    if (!std::isfinite(value) || !std::isfinite(x) || (panel.abscissa.log_axis && !(x > 0.0))) continue;
    if (!std::isnan(before)) out += line(x, before);
    out += line(x, value);
    before = value;
  }
  return out.empty() ? line(kNaN, kNaN) : out;  // without a row it would be no block
}

/// A block of rows a run, then one a band and one a line with the corners of its steps, two blank lines
/// between blocks; one header line.
std::string data_text(const CurvePanel& panel) {
  const bool bands = !panel.bands.empty();
  std::string out = fmt::format("label\trepetition\tseconds\t{}\titeration\tpasses\tupdates{}\n",
                                panel.quantity.column, bands ? "\tq25\tq75" : "");
  for (const Run* run : panel.traced) {
    if (run != panel.traced.front()) out += "\n\n";
    for (const Sample& sample : run->trace)
      out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}{}\n", tsv_field(panel.series(*run)),
                         run->parameters.repetition, tsv_number(sample.seconds),
                         tsv_number(panel.quantity.value(*run, sample)), sample.iteration,
                         tsv_number(sample.passes), tsv_number(sample.updates), bands ? "\t\t" : "");
  }
  for (const Band& band : panel.bands) {
    out += "\n\n";
    for (std::size_t k = 0; k < band.points.size(); ++k) {
      const BandPoint& point = band.points[k];
      if (k > 0) out += band_line(panel, band, point.x, band.points[k - 1]);  // the corner before the step
      out += band_line(panel, band, point.x, point);
    }
  }
  for (const std::size_t i : panel.lines) out += "\n\n" + steps_text(panel, *panel.traced[i]);
  return out;
}

// ---- figures

/// The blocks of data_text() that hold corners, as curves.
void add_curves(Panel& drawn, const CurvePanel& panel, const std::map<std::string, LineStyle>& styles) {
  std::set<std::string> named;
  const auto add = [&](const std::string& series) -> Curve& {
    Curve& curve = drawn.curves.emplace_back();
    curve.title = named.insert(series).second ? series : "";
    curve.style = styles.at(series);
    curve.block = panel.traced.size() + drawn.curves.size() - 1;
    curve.x = panel.abscissa.column;
    curve.y = 4;
    curve.symbol_size = 0.9;
    curve.symbols = kSymbolsOfCurve;
    return curve;
  };
  for (const Band& band : panel.bands) {
    Curve& curve = add(band.series);
    curve.low = 8;
    curve.high = 9;
  }
  for (const std::size_t i : panel.lines) {
    const Run& run = *panel.traced[i];
    Curve& curve = add(panel.series(run));
    if (!run.failed()) continue;
    curve.width = kFailedLineWidth;
    if (const int last = last_drawn(panel, run); last >= 0)
      drawn.crosses.push_back({i, static_cast<std::size_t>(last), curve.x, curve.y, curve.style.colour});
  }
}

std::string figure_name(const Run& run, const Quantity& quantity, const std::string& suffix) {
  const std::string mu = run.parameters.mu > 0.0 ? fmt::format("-mu{}", run.parameters.mu) : "";
  const std::string loss =
      run.parameters.loss.hinge() ? fmt::format("-hinge-{}", cost_name(run.parameters.loss.cost)) : "";
  return file_name_part(fmt::format("{}{}-lambda{}{}-{}{}", run.parameters.dataset, loss,
                                    run.parameters.lambda, mu, quantity.name, suffix));
}

Chart make_chart(const CurvePanel& panel, const Ranges& ranges,
                 const std::map<std::string, LineStyle>& styles) {
  const Run& first = *panel.group.front();
  const bool comparable = std::all_of(panel.group.begin(), panel.group.end(),
                                      [](const Run* run) { return run->timing.comparable; });
  Panel drawn{.x = x_axis(panel.abscissa, ranges.x),
              .y = y_axis(panel.quantity, ranges.values),
              .floor = panel.floor(),
              .bound = ranges.bound};
  add_curves(drawn, panel, styles);
  return {.name = figure_name(first, panel.quantity, panel.abscissa.suffix),
          .title = data_warnings(says_synthetic(subtitle_of(panel)),
                                 comparable || panel.abscissa.name != "seconds") +
                   panel.quantity.title,
          .about = fmt::format(
              ": {}, {}", first.parameters.dataset,
              penalty_symbols({first.parameters.lambda, first.parameters.mu}, first.parameters.loss)),
          .subtitle = subtitle_of(panel),
          .caption = caption_of(panel, std::isfinite(ranges.bound)),
          .panels = {drawn},
          .data = data_text(panel)};
}

/// The members of `all` with these names, in the order of the names.
template <class Named>
std::vector<Named> chosen(const std::vector<Named>& all, const std::vector<std::string>& names,
                          const char* option) {
  std::vector<std::string> known;
  for (const Named& one : all) known.push_back(one.name);
  std::vector<Named> out;
  for (const std::string& name : names) {
    require_known(option, name, known);
    out.push_back(*std::ranges::find(all, name, &Named::name));
  }
  return out;
}

std::vector<Abscissa> chosen_abscissas(const PlotConfig& plot) {
  std::vector<Abscissa> out = chosen(abscissas(), plot.x, "x");
  if (!plot.x_max.empty() && plot.x_max.size() != out.size())
    throw Error::usage(fmt::format("x_max: found {} values, expected one for each of x", plot.x_max.size()));
  for (std::size_t i = 0; i < plot.x_max.size(); ++i) out[i].max = plot.x_max[i];
  for (Abscissa& one : out) {
    if (one.name != "seconds" || !plot.log_seconds) continue;
    one.log_axis = true;
    one.suffix = kLogSuffix;
  }
  return out;
}

void check(const std::vector<Run>& runs, const PlotConfig& plot, bool allow_not_comparable) {
  if (runs.empty()) throw Error::usage("no runs to draw");
  const bool seconds = std::find(plot.x.begin(), plot.x.end(), "seconds") != plot.x.end();
  if (seconds && !plot.quantities.empty() && !allow_not_comparable)
    require_comparable(runs, "--allow-not-comparable, or x without seconds");
}

}  // namespace

std::vector<fs::path> make_curves(const std::vector<Run>& runs, const fs::path& figures,
                                  const PlotConfig& plot, bool allow_not_comparable) {
  check(runs, plot, allow_not_comparable);
  const std::vector<Abscissa> axes = chosen_abscissas(plot);
  const std::vector<Quantity> drawn_quantities = chosen(quantities(), plot.quantities, "quantities");

  const bool machines = several_machines(runs);
  const std::map<std::string, LineStyle> styles = styles_of(runs, machines);
  std::vector<fs::path> written;
  for (const Group& group : problem_groups(runs))
    for (const Quantity& quantity : drawn_quantities)
      for (const Abscissa& abscissa : axes) {
        const CurvePanel panel =
            make_curve_panel(group, quantity, abscissa, machines, plot.repetitions == "band");
        const Ranges ranges = ranges_drawn(panel);
        if (!ranges.x.empty()) written.push_back(draw(make_chart(panel, ranges, styles), figures));
      }
  return written;
}

}  // namespace proxbench
