
#include <algorithm>

#include "core/base/profile.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

/// Phases below this share of the time at 1 thread have no line.
constexpr double kLeastShare = 0.01;
/// If there are more thread counts than this, only some have a tick below the bars.
constexpr std::size_t kMostLabels = 16;
constexpr const char* kBlack = "#000000";
constexpr double kTotalWidth = 3.5, kKeyWidth = 8.0;

/// Returns the colour of a phase in all panels. The total is black.
const char* colour_of(const std::string& phase) {
  if (phase == kTotal) return kBlack;
  for (std::size_t i = 0; i < kPhases; ++i)
    if (phase == phase_name(static_cast<Phase>(i))) return kColours[i];
  return "#8C510A";
}

using Rows = std::vector<const PhaseScaling*>;

/// The contents of the figure of one problem.
struct Shown {
  const ScalingProblem& problem;
  Rows lines;  ///< the total and the phases with a line, one block of NAME.tsv each
  Rows bars;   ///< all phases, back ends one after the other, in the last block
};

Shown shown_of(const ScalingProblem& problem) {
  Shown out{problem, {}, {}};
  double total = 0.0;
  for (const PhaseScaling& row : problem.rows) {
    if (row.phase == kTotal) total = row.seconds.front().median;
    if (row.seconds.front().median >= kLeastShare * total) out.lines.push_back(&row);
    if (row.phase != kTotal) out.bars.push_back(&row);
  }
  return out;
}

/// Adds a block for each line.
void add_line_blocks(Chart& chart, const Shown& shown) {
  const std::vector<int>& threads = shown.problem.threads;
  for (const PhaseScaling* row : shown.lines) {
    DataBlock& block = chart.blocks.emplace_back(DataBlock{{row->backend, row->phase}});
    for (std::size_t t = 0; t < threads.size(); ++t)
      block.rows.push_back({static_cast<double>(threads[t]), row->seconds[t].median, row->seconds[t].q25,
                            row->seconds[t].q75, row->speedup[t], row->efficiency[t]});
  }
}

/// Adds the stacked bars, which the file has in one block: left, right, from, to, colour.
void add_bar_blocks(Chart& chart, const Shown& shown) {
  const std::vector<int>& threads = shown.problem.threads;
  const std::vector<std::string>& backends = shown.problem.backends;
  const double slot = 0.8 / static_cast<double>(backends.size());
  const auto place = [](double x) { return std::stod(fmt::format("{:.6g}", x)); };
  for (std::size_t t = 0; t < threads.size(); ++t)
    for (std::size_t b = 0; b < backends.size(); ++b) {
      const double left = static_cast<double>(t) + 1.0 - 0.4 + slot * static_cast<double>(b);
      double from = 0.0;
      for (const PhaseScaling* row : shown.bars) {
        if (row->backend != backends[b]) continue;
        const double to = from + row->seconds[t].median;
        const auto colour = std::stoul(colour_of(row->phase) + 1, nullptr, 16);  // after "#"
        chart.blocks.push_back({{row->backend, row->phase},
                                {{static_cast<double>(threads[t]), place(left + 0.03 * slot),
                                  place(left + 0.97 * slot), from, to, static_cast<double>(colour)}},
                                chart.blocks.size() > shown.lines.size()});
        from = to;
      }
    }
}

/// Returns the style of a back end: the second one is dashed.
LineStyle style_of(const char* colour, std::size_t backend) {
  return {colour, backend == 0 ? 0u : 1u, backend};
}

Axis threads_axis(const std::vector<int>& threads) {
  const bool all = threads.size() <= kMostLabelsX;
  Axis axis{.label = "threads", .range = {0.93, 1.12 * threads.back()}, .log = true};
  for (const int p : threads)
    if (all || (p & (p - 1)) == 0 || p == threads.back())
      axis.ticks.push_back({static_cast<double>(p), std::to_string(p)});
  return axis;
}

/// Adds all lines, `column` against threads. They have no titles, because the bars' key names the colours.
void add_lines(Panel& panel, const Shown& shown, int column) {
  panel.x = threads_axis(shown.problem.threads);
  for (std::size_t i = 0; i < shown.lines.size(); ++i) {
    const PhaseScaling& row = *shown.lines[i];
    panel.curves.push_back(
        {.style = style_of(colour_of(row.phase), place_in(shown.problem.backends, row.backend)),
         .width = row.phase == kTotal ? kTotalWidth : 2.0,
         .block = i,
         .x = 3,
         .y = column,
         .symbol_size = 1.1});
  }
}

Panel speedup_panel(const Shown& shown, const Chart& lines) {
  Panel panel{.title = "Speed-up against 1 thread",
              .frame = {0.1, 0.48, 0.63, 0.86},
              .key = KeyPlace::kLeftTop,
              .guides = {{"ideal", kNaN}}};
  const std::vector<std::string>& backends = shown.problem.backends;
  for (std::size_t b = 0; b < backends.size(); ++b)
    panel.curves.push_back({.title = backends[b], .style = style_of(kBlack, b), .symbol_size = 1.1});
  add_lines(panel, shown, 7);
  AxisRange range = lines.range(7);
  range.add(1.0);
  range.add(shown.problem.threads.back());
  panel.y = log_axis("", range.widened(1.12), kMostLabelsY);
  return panel;
}

Panel efficiency_panel(const Shown& shown, const Chart& lines) {
  Panel panel{.title = "Efficiency: speed-up over threads",
              .frame = {0.59, 0.98, 0.63, 0.86},
              .key = KeyPlace::kNone,
              .guides = {{"", 1.0}}};
  add_lines(panel, shown, 8);
  panel.y = linear_axis("", {0.0, 1.08 * std::max(1.0, lines.range(8).max)});
  return panel;
}

Panel bars_panel(const Shown& shown, const Chart& lines) {
  const std::vector<std::string>& backends = shown.problem.backends;
  const std::size_t counts = shown.problem.threads.size(), every = counts / (kMostLabels + 1) + 1;
  Panel panel{.x = {"threads", {0.4, static_cast<double>(counts) + 0.6}},
              .title = "Time of each phase; plain bars: " + backends.front(),
              .frame = {0.1, 0.8, 0.19, 0.43}};
  if (backends.size() > 1) panel.title += ", hatched: " + backends[1];
  for (std::size_t t = 0; t < counts; t += every)
    panel.x.ticks.push_back({static_cast<double>(t) + 1.0, std::to_string(shown.problem.threads[t])});
  panel.y = linear_axis("seconds", out_to_ticks({0.0, std::max(0.0, lines.range(4).max)}));
  for (std::size_t b = 0; b < backends.size(); ++b)
    panel.bars.push_back({shown.lines.size(), backends[b], b > 0});
  for (const PhaseScaling* row : shown.bars)
    if (row->backend == backends.front())
      panel.curves.push_back({.title = row->phase, .style = {colour_of(row->phase)}, .width = kKeyWidth});
  panel.curves.push_back({.title = "all phases", .style = {kBlack}, .width = kTotalWidth});
  return panel;
}

std::string caption_text(const ScalingProblem& problem) {
  const int repetitions = problem.runs.back()->parameters.repetition;
  std::string out = fmt::format(
      "{} iterations, the same to the last bit in all runs; {}; phases below 1 % of the time have no line.",
      problem.first().result.iterations.value_or(0),
      repetitions == 1 ? "one repetition" : fmt::format("medians of {} repetitions", repetitions));
  if (problem.oversubscribed())
    out += fmt::format(" OVERSUBSCRIBED: more than {0} threads shared {0} CPUs.", problem.cpus());
  return out;
}

}  // namespace

std::vector<Chart> scaling_charts(const std::vector<ScalingProblem>& problems) {
  std::vector<Chart> charts;
  for (const ScalingProblem& problem : problems) {
    const Shown shown = shown_of(problem);
    const RunParameters& run = problem.first().parameters;
    const std::string& description = problem.first().result.description;
    Chart& chart = charts.emplace_back(
        Chart{.name = problems.size() == 1 ? "scale" : file_name_part("scale-" + problem.name()),
              .warning = data_warnings(description),
              .title = fmt::format("{}, λ = {}, {}", run.dataset, run.lambda, run.label),
              .subtitle = description,
              .caption = caption_text(problem),
              .panels = {},
              .columns = {"backend", "phase", "threads", "seconds", "q25", "q75", "speedup", "efficiency"}});
    add_line_blocks(chart, shown);
    chart.panels = {speedup_panel(shown, chart), efficiency_panel(shown, chart), bars_panel(shown, chart)};
    add_bar_blocks(chart, shown);
  }
  return charts;
}

}  // namespace proxbench
