#include "plots/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/numbers.h"
#include "experiments/results/statistics.h"
#include "experiments/results/tables/summary_table.h"
#include "plots/facts.h"
#include "plots/figure.h"
#include "plots/quantities.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// Ends the names of figures with seconds on a log axis.
constexpr const char* kLogSuffix = "-logx";
constexpr int kLineWidth = 2, kFailedLineWidth = 1;
constexpr const char* kGrey = "#7F7F7F";
/// How far below the accuracy of f* an axis goes on: enough to see that a curve does, too little for a slope.
constexpr double kShownBelowBound = 30.0;

using Group = std::vector<const Run*>;

/// How each series is drawn.
using Styles = std::map<std::string, LineStyle>;

/// A label has one colour; machines differ by their dashes.
Styles styles_of(const std::vector<Run>& runs, bool machines) {
  std::map<std::string, std::size_t> labels, variants;
  Styles styles;
  for (const Run& run : runs) {
    const std::size_t label = labels.try_emplace(run.parameters.label, labels.size()).first->second;
    const std::size_t variant = variants.try_emplace(run.provenance.machine, variants.size()).first->second;
    styles.try_emplace(series_name(run, machines), line_style(label, variant));
  }
  return styles;
}

// ---- what is drawn

/// The quartiles of the repetitions of one series.
struct Band {
  std::string series;
  std::size_t runs;
  std::vector<BandPoint> points;
};

/// One figure: a line for each of `lines`, a line with a band for each of `bands`.
struct Panel {
  const Quantity& quantity;
  const Abscissa& abscissa;
  bool machines;                   ///< there are several
  Group group;                     ///< all runs of the data set and penalty
  Group traced;                    ///< those with a trace: a block each in the .tsv
  std::vector<std::size_t> lines;  ///< places in `traced`
  std::vector<Band> bands;         ///< further blocks in the .tsv
  std::string series(const Run& run) const { return series_name(run, machines); }
  double floor() const { return quantity.floor * quantity.unit_of_any(group); }
};

bool drawn(const Panel& panel, double x, double value) {
  const Abscissa& abscissa = panel.abscissa;
  return std::isfinite(x) && std::isfinite(value) && value > panel.floor() &&
         (!abscissa.log_axis || x > 0.0) && (abscissa.max == 0.0 || x <= abscissa.max);
}

/// The samples of a run that were measured.
std::vector<CurvePoint> measured_points(const Panel& panel, const Run& run) {
  std::vector<CurvePoint> points;
  for (const Sample& sample : run.trace) {
    const double value = panel.quantity.value(run, sample);
    const double counted = std::isnan(value) ? panel.quantity.unmeasured : value;
    const double x = panel.abscissa.value(sample);
    if (!std::isnan(counted) && !std::isnan(x)) points.push_back({x, counted});
  }
  return points;
}

/// Where a run has no f*, all of its differences are unknown and none has diverged.
bool can_be_measured(const Panel& panel, const Run& run) {
  return !panel.quantity.to_reference || !std::isnan(run.best.objective);
}

void add_bands(Panel& panel) {
  std::vector<std::size_t> lines;
  std::vector<std::pair<std::string, std::vector<std::size_t>>> series;
  for (std::size_t i = 0; i < panel.traced.size(); ++i) {
    const Run& run = *panel.traced[i];
    if (run.failed() || !can_be_measured(panel, run)) {
      lines.push_back(i);
      continue;
    }
    const std::string name = panel.series(run);
    auto found =
        std::find_if(series.begin(), series.end(), [&](const auto& one) { return one.first == name; });
    if (found == series.end()) found = series.insert(found, {name, {}});
    found->second.push_back(i);
  }
  for (const auto& [name, runs] : series) {
    std::vector<std::vector<CurvePoint>> traces;
    for (const std::size_t i : runs)
      if (auto points = measured_points(panel, *panel.traced[i]); !points.empty())
        traces.push_back(std::move(points));
    if (traces.size() < 2)
      lines.insert(lines.end(), runs.begin(), runs.end());
    else
      panel.bands.push_back({name, traces.size(), repetition_band(traces)});
  }
  std::sort(lines.begin(), lines.end());
  panel.lines = std::move(lines);
}

Panel make_panel(const Group& group, const Quantity& quantity, const Abscissa& abscissa, bool machines,
                 const CurveOptions& options) {
  Panel panel{quantity, abscissa, machines, group, {}, {}, {}};
  for (const Run* run : group)
    if (!run->trace.empty()) panel.traced.push_back(run);
  if (options.repetitions == "band")
    add_bands(panel);
  else
    for (std::size_t i = 0; i < panel.traced.size(); ++i) panel.lines.push_back(i);
  return panel;
}

/// The accuracy of the worst f* of the panel; NaN where none is drawn against.
double bound_of(const Panel& panel) {
  double bound = kNaN;
  if (!panel.quantity.to_reference) return bound;
  for (const Run* run : panel.traced)
    bound = std::fmax(bound, reference_bound(*run) * panel.quantity.unit_of(*run));
  return bound;
}

/// Of what is drawn.
struct Ranges {
  Range x, values;
  double bound = kNaN;  ///< the accuracy of f*, where something drawn lies below
};

Ranges ranges_drawn(const Panel& panel) {
  Ranges ranges;
  const auto add = [&](double x, double value) {
    if (!drawn(panel, x, value)) return;
    ranges.x.add(x);
    ranges.values.add(value);
  };
  for (const std::size_t i : panel.lines)
    for (const Sample& sample : panel.traced[i]->trace)
      add(panel.abscissa.value(sample), panel.quantity.value(*panel.traced[i], sample));
  for (const Band& band : panel.bands)
    for (const BandPoint& point : band.points)
      for (const double value : {point.q25, point.median, point.q75}) add(point.x, value);
  if (const double bound = bound_of(panel); bound > ranges.values.min) {
    ranges.bound = bound;
    ranges.values.min = std::max(ranges.values.min, bound / kShownBelowBound);
    ranges.values.add(bound);
  }
  return ranges;
}

// ---- what the title and the caption say

std::string title_of(const Panel& panel) {
  const Group& group = panel.group;
  std::set<std::string> descriptions;
  bool comparable = true;
  for (const Run* run : group) {
    descriptions.insert(run->result.description);
    comparable = comparable && run->timing.comparable;
  }
  std::string data = group.front()->result.description;
  if (descriptions.size() > 1) data += fmt::format(" (and {} more like it)", descriptions.size() - 1);

  std::string size;
  const auto add = [&](const char* before, const CountOfRun& count, const char* after) {
    const std::string value = distinct_counts(group, count);
    if (!value.empty()) size += (size.empty() ? "" : ", ") + (before + value) + after;
  };
  add(
      "", [](const Run& run) { return run.result.instances; }, " instances");
  add(
      "d = ", [](const Run& run) { return run.result.d; }, "");
  add(
      "threads: ", [](const Run& run) { return static_cast<std::uint64_t>(run.parameters.threads); }, "");

  const RunParameters& p = group.front()->parameters;
  return fmt::format("{{/:Bold {}{}{}}}: {}, {}", says_synthetic(data) ? "SYNTHETIC DATA: " : "",
                     comparable || panel.abscissa.name != "seconds" ? "" : "NOT COMPARABLE: ",
                     gnuplot_literal(panel.quantity.title), gnuplot_literal(p.dataset),
                     penalty_symbols({p.lambda, p.mu}, p.loss)) +
         small_lines(data) + small_lines(size);
}

/// What is known of f*, what is not drawn, and who went below f*.
std::string reference_caption(const Panel& panel, bool below_bound) {
  std::map<double, double> references;  // f* -> its bound
  std::map<std::string, double> below;  // series -> how far
  for (const Run* run : panel.group) {
    if (!std::isfinite(run->best.objective)) continue;
    references[run->best.objective] = reference_bound(*run);
    for (const Sample& sample : run->trace) {
      const double difference = relative_difference(sample.objective, run->best.objective);
      if (difference < -panel.quantity.floor)
        below[panel.series(*run)] = std::min(below[panel.series(*run)], difference);
    }
  }
  std::string out;
  for (const auto& [objective, bound] : references) {
    out += fmt::format("{}f* = {:.10g}", out.empty() ? "" : "; ", objective);
    if (std::isfinite(bound)) out += fmt::format(" (proven to a relative accuracy of {:.1e})", bound);
  }
  out += fmt::format("\nDifferences <= {:g}{} are rounding: not drawn.", panel.quantity.floor,
                     panel.quantity.unit == nullptr ? "" : " f*");
  if (below_bound) out += " On grey ground, below the accuracy of f*, curves say nothing.";
  for (const auto& [series, difference] : below)
    out += fmt::format(" {} goes below f* by {:.1e}.", series, -difference);
  return out;
}

std::string band_caption(const Panel& panel) {
  std::set<std::size_t> sizes;
  for (const Band& band : panel.bands) sizes.insert(band.runs);
  if (sizes.empty()) return "";
  std::string out = fmt::format("\nMedians of n = {} repetitions with 25-75 % bands", fmt::join(sizes, ", "));
  if (*sizes.begin() < kFewRepetitions)
    out += fmt::format(" (n < {}: no more than the spread seen)", kFewRepetitions);
  return out + ".";
}

/// The last sample of a run that is drawn; -1: none.
int last_drawn(const Panel& panel, const Run& run) {
  for (std::size_t k = run.trace.size(); k-- > 0;)
    if (drawn(panel, panel.abscissa.value(run.trace[k]), panel.quantity.value(run, run.trace[k])))
      return static_cast<int>(k);
  return -1;
}

std::string failure_caption(const Panel& panel) {
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

std::string caption_of(const Panel& panel, bool below_bound) {
  std::string out;
  if (panel.quantity.name == "nnz") out = "Nothing is drawn while no weight differs from zero.";
  if (panel.quantity.to_reference) out = reference_caption(panel, below_bound);
  return out + band_caption(panel) + failure_caption(panel);
}

// ---- files

/// A corner of the steps of a curve.
std::string corner_line(const Panel& panel, const std::string& series, const std::string& repetition,
                        double x, double value) {
  const auto in_column = [&](int column) { return column == panel.abscissa.column ? tsv_number(x) : ""; };
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}", tsv_field(series), repetition, in_column(3),
                     tsv_number(value), in_column(5), in_column(6), in_column(7));
}

std::string band_line(const Panel& panel, const Band& band, double x, const BandPoint& values) {
  return fmt::format("{}\t{}\t{}\n", corner_line(panel, band.series, "median", x, values.median),
                     tsv_number(values.q25), tsv_number(values.q75));
}

/// The corners of a run's curve: a value holds up to the next sample.
std::string steps_text(const Panel& panel, const Run& run) {
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
std::string data_text(const Panel& panel) {
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

/// The plot command, curve by curve.
class PlotCommand {
 public:
  /// `bound`: see Ranges.
  PlotCommand(const std::string& name, const Panel& panel, const Styles& styles, double bound)
      : file_(gnuplot_quoted(name + ".tsv")), panel_(panel), styles_(styles), bound_(bound) {}

  std::string text() {
    for (std::size_t i = 0; i < panel_.bands.size(); ++i) add_band(i);
    if (std::isfinite(bound_)) add_what_is_below();
    for (std::size_t i = 0; i < panel_.bands.size(); ++i) add_line(panel_.bands[i].series, band_block(i));
    for (std::size_t k = 0; k < panel_.lines.size(); ++k)
      add_line(panel_.series(line_run(k)), line_block(k),
               line_run(k).failed() ? kFailedLineWidth : kLineWidth);
    for (const std::size_t i : panel_.lines)
      if (panel_.traced[i]->failed()) add_cross(i);
    if (std::isfinite(bound_))
      curves_.push_back(fmt::format(
          "known with lines title 'accuracy of f*' linecolor rgb '{}' linewidth 1.5 dashtype 3", kGrey));
    return fmt::format("plot {}\n", fmt::join(curves_, ", \\\n     "));
  }

 private:
  std::string block(std::size_t i) const { return fmt::format("{} skip 1 index {}", file_, i); }
  std::size_t band_block(std::size_t i) const { return panel_.traced.size() + i; }
  std::size_t line_block(std::size_t k) const { return band_block(panel_.bands.size()) + k; }
  const Run& line_run(std::size_t k) const { return *panel_.traced[panel_.lines[k]]; }
  bool has_floor() const { return std::isfinite(panel_.quantity.floor); }
  /// Column 4, where it is above a variable of the script.
  std::string above(const char* level) const {
    return fmt::format("{}:($4 > {} ? $4 : 1/0)", panel_.abscissa.column, level);
  }
  /// Column 4, where it can be drawn.
  std::string shown() const {
    return has_floor() ? above("floor") : fmt::format("{}:4", panel_.abscissa.column);
  }
  /// Column 4, where it says something.
  std::string telling() const { return std::isfinite(bound_) ? above("known") : shown(); }
  LineStyle style(const std::string& series) const { return styles_.at(series); }

  /// A band whose lower edge is below what can be drawn, or says nothing, goes down to there; one that is
  /// below it as a whole has no height there.
  void add_band(std::size_t i) {
    const char* lowest = std::isfinite(bound_) ? "known" : "bottom";
    curves_.push_back(
        fmt::format("{} using {}:{} with filledcurves notitle fillcolor rgb '{}' fillstyle transparent solid "
                    "0.2 noborder",
                    block(band_block(i)), panel_.abscissa.column,
                    has_floor() ? fmt::format("($8 > {0} ? $8 : {0}):($9 > {0} ? $9 : {0})", lowest) : "8:9",
                    style(panel_.bands[i].series).colour));
  }
  void add_line(const std::string& series, std::size_t i, int width = kLineWidth) {
    const LineStyle line = style(series);
    curves_.push_back(fmt::format(
        "{} using {} {} with linespoints linecolor rgb '{}' linewidth {} dashtype {} pointtype {} pointsize "
        "0.9 pointnumber 12",
        block(i), telling(), named_.insert(series).second ? "title " + gnuplot_quoted(series) : "notitle",
        line.colour, width, line.dash_type, line.point_type));
  }
  void add_cross(std::size_t i) {
    const int last = last_drawn(panel_, *panel_.traced[i]);
    if (last < 0) return;
    curves_.push_back(
        fmt::format("{} every ::{}::{} using {} notitle with points linecolor rgb '{}' pointtype 2 pointsize "
                    "2.2 linewidth 3",
                    block(i), last, last, shown(), style(panel_.series(*panel_.traced[i])).colour));
  }
  /// The curves as a whole, faint: over what lies above the bound the curves proper are drawn.
  void add_what_is_below() {
    const auto add = [&](const std::string& series, std::size_t i) {
      curves_.push_back(fmt::format("{} using {} notitle with lines linecolor rgb '#B0{}' linewidth 1",
                                    block(i), shown(), std::string_view(style(series).colour).substr(1)));
    };
    for (std::size_t i = 0; i < panel_.bands.size(); ++i) add(panel_.bands[i].series, band_block(i));
    for (std::size_t k = 0; k < panel_.lines.size(); ++k) add(panel_.series(line_run(k)), line_block(k));
  }

  std::string file_;
  const Panel& panel_;
  const Styles& styles_;
  double bound_;
  std::vector<std::string> curves_;
  std::set<std::string> named_;
};

std::string axes_of(const Panel& panel, const Ranges& ranges) {
  const Abscissa& abscissa = panel.abscissa;
  std::string out =
      abscissa.log_axis
          ? log_axis("x", ranges.x.widened(1.1))
          : fmt::format("set xrange [0:{}]\n", abscissa.max > 0.0 ? fmt::format("{:g}", abscissa.max) : "*");
  constexpr double kMargin = 1.5;
  if (panel.quantity.log_axis) out += log_axis("y", ranges.values.widened(kMargin));
  if (std::isfinite(panel.quantity.floor)) out += fmt::format("floor = {:g}\n", panel.floor());
  if (panel.quantity.log_axis && !panel.bands.empty())
    out += fmt::format("bottom = {:.6g}\n", ranges.values.min / kMargin);
  if (std::isfinite(ranges.bound))
    out += fmt::format(
        "known = {:.3g}\nset object rectangle from graph 0, graph 0 to graph 1, first known behind "
        "fillcolor rgb '{}' fillstyle transparent solid 0.12 noborder\n",
        ranges.bound, kGrey);
  return out;
}

std::string figure_name(const Run& run, const Quantity& quantity, const std::string& suffix) {
  const RunParameters& p = run.parameters;
  const std::string mu = p.mu > 0.0 ? fmt::format("-mu{}", p.mu) : "";
  const std::string loss = p.loss.hinge() ? fmt::format("-hinge-{}", cost_name(p.loss.cost)) : "";
  return file_name_part(
      fmt::format("{}{}-lambda{}{}-{}{}", p.dataset, loss, p.lambda, mu, quantity.name, suffix));
}

Figure make_figure(const Panel& panel, const Ranges& ranges, const Styles& styles) {
  const Run& first = *panel.group.front();
  const std::string name = figure_name(first, panel.quantity, panel.abscissa.suffix);
  return {.name = name,
          .title = title_of(panel),
          .x_label = panel.abscissa.title + small_lines(caption_of(panel, std::isfinite(ranges.bound))),
          .y_label = panel.quantity.axis,
          .axes = axes_of(panel, ranges),
          .plot = PlotCommand(name, panel, styles, ranges.bound).text(),
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
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw Error::usage(fmt::format("{} = {}: expected one of {}{}", option, name, fmt::join(known, ", "),
                                     did_you_mean(name, known)));
    out.push_back(all[static_cast<std::size_t>(found - known.begin())]);
  }
  return out;
}

std::vector<Abscissa> chosen_abscissas(const CurveOptions& options) {
  std::vector<Abscissa> out = chosen(abscissas(), options.x, "x");
  if (!options.x_max.empty() && options.x_max.size() != out.size())
    throw Error::usage(
        fmt::format("x_max: found {} values, expected one for each of x", options.x_max.size()));
  for (std::size_t i = 0; i < options.x_max.size(); ++i) out[i].max = options.x_max[i];
  for (Abscissa& one : out) {
    if (one.name != "seconds" || !options.log_seconds) continue;
    one.log_axis = true;
    one.suffix = kLogSuffix;
  }
  return out;
}

void check(const std::vector<Run>& runs, const CurveOptions& options) {
  if (runs.empty()) throw Error::usage("no runs to draw");
  if (!(options.floor > 0.0))
    throw Error::usage(fmt::format("floor = {}: violated constraint floor > 0", options.floor));
  if (options.repetitions != "band" && options.repetitions != "lines")
    throw Error::usage(fmt::format("repetitions = {}: expected one of band, lines{}", options.repetitions,
                                   did_you_mean(options.repetitions, {"band", "lines"})));
  const bool seconds = std::find(options.x.begin(), options.x.end(), "seconds") != options.x.end();
  if (seconds && !options.quantities.empty() && !options.allow_not_comparable)
    require_comparable(runs, "--allow-not-comparable, or x without seconds");
}

}  // namespace

std::vector<BandPoint> repetition_band(const std::vector<std::vector<CurvePoint>>& traces) {
  std::set<double> grid;
  double begin = -kInfinity;
  for (const std::vector<CurvePoint>& trace : traces) {
    if (trace.empty()) return {};
    begin = std::max(begin, trace.front().x);
    for (const CurvePoint& point : trace) grid.insert(point.x);
  }
  std::vector<BandPoint> band;
  std::vector<std::size_t> at(traces.size(), 0);  // the sample that holds at x, of each trace
  for (auto x = grid.lower_bound(begin); x != grid.end(); ++x) {
    std::vector<double> values;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      while (at[i] + 1 < traces[i].size() && traces[i][at[i] + 1].x <= *x) ++at[i];
      values.push_back(traces[i][at[i]].value);
    }
    band.push_back({*x, quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)});
  }
  return band;
}

std::vector<std::string> curve_names(const std::vector<Run>& runs) {
  std::vector<std::string> suffixes{kLogSuffix};
  for (const Abscissa& abscissa : abscissas()) suffixes.push_back(abscissa.suffix);
  std::sort(suffixes.begin(), suffixes.end(),
            [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<std::string> names;
  std::set<std::tuple<std::string, double, double, std::string>> seen;
  for (const Run& run : runs) {
    const RunParameters& p = run.parameters;
    if (!seen.insert({p.dataset, p.lambda, p.mu, p.loss.text()}).second) continue;
    for (const Quantity& quantity : quantities(CurveOptions{}.floor))
      for (const std::string& suffix : suffixes) names.push_back(figure_name(run, quantity, suffix));
  }
  return names;
}

std::vector<fs::path> make_curves(const std::vector<Run>& runs, const fs::path& figures,
                                  const CurveOptions& options) {
  check(runs, options);
  const std::vector<Abscissa> axes = chosen_abscissas(options);
  const std::vector<Quantity> drawn_quantities =
      chosen(quantities(options.floor), options.quantities, "quantities");

  const bool machines = several_machines(runs);
  const Styles styles = styles_of(runs, machines);
  std::map<std::tuple<std::string, double, double, std::string>, Group> groups;
  for (const Run& run : runs) {
    const RunParameters& p = run.parameters;
    groups[{p.dataset, p.lambda, p.mu, p.loss.text()}].push_back(&run);
  }

  std::vector<fs::path> written;
  for (const auto& [key, group] : groups)
    for (const Quantity& quantity : drawn_quantities)
      for (const Abscissa& abscissa : axes) {
        const Panel panel = make_panel(group, quantity, abscissa, machines, options);
        const Ranges ranges = ranges_drawn(panel);
        if (!ranges.x.empty()) written.push_back(write_figure(figures, make_figure(panel, ranges, styles)));
      }
  return written;
}

}  // namespace proxbench
