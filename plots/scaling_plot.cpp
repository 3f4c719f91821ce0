#include "plots/scaling_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/profile.h"
#include "plots/facts.h"
#include "plots/gnuplot.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// Of the time at 1 thread: phases below this have no line.
constexpr double kLeastShare = 0.01;
/// So many ticks have a label each; of more, some have.
constexpr std::size_t kMostLabels = 16;
constexpr const char* kBlack = "#000000";
constexpr double kTotalWidth = 3.5, kKeyWidth = 8.0;

/// The colour of a phase in all panels; the total is black.
const char* colour_of(const std::string& phase) {
  if (phase == kTotal) return kBlack;
  for (std::size_t i = 0; i < kPhases; ++i)
    if (phase == phase_name(static_cast<Phase>(i))) return kColours[i];
  return "#8C510A";
}

/// The rows of one problem, in blocks of NAME.tsv.
struct Blocks {
  std::vector<const PhaseScaling*> lines;  ///< the total and phases that have a line
  std::vector<const PhaseScaling*> bars;   ///< all phases, back ends one after the other
  std::vector<std::string> backends;
};

Blocks blocks_of(const Scaling& scaling, const std::vector<PhaseScaling>& rows,
                 const ScalingProblem& problem) {
  Blocks out;
  out.backends = scaling.backends;
  double total = 0.0;
  for (const PhaseScaling& row : rows) {
    if (row.problem != &problem) continue;
    if (row.phase == kTotal) total = row.seconds.front().median;
    if (row.seconds.front().median >= kLeastShare * total) out.lines.push_back(&row);
    if (row.phase != kTotal) out.bars.push_back(&row);
  }
  return out;
}

std::size_t place_of(const Blocks& blocks, const std::string& backend) {
  return static_cast<std::size_t>(std::find(blocks.backends.begin(), blocks.backends.end(), backend) -
                                  blocks.backends.begin());
}

/// A block for each line, then one with the stacked bars: x, width, from, to, colour, back end's place.
std::string data_text(const Scaling& scaling, const Blocks& blocks) {
  std::string out = "backend\tphase\tthreads\tseconds\tq25\tq75\tspeedup\tefficiency\n";
  for (const PhaseScaling* row : blocks.lines) {
    for (std::size_t t = 0; t < row->threads.size(); ++t)
      out += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", row->backend, row->phase, row->threads[t],
                         tsv_number(row->seconds[t].median), tsv_number(row->seconds[t].q25),
                         tsv_number(row->seconds[t].q75), tsv_number(row->speedup[t]),
                         tsv_number(row->efficiency[t]));
    out += "\n\n";
  }
  const double slot = 0.8 / static_cast<double>(blocks.backends.size());
  for (std::size_t t = 0; t < scaling.threads.size(); ++t)
    for (const std::string& backend : blocks.backends) {
      const std::size_t place = place_of(blocks, backend);
      const double left = static_cast<double>(t) + 1.0 - 0.4 + slot * static_cast<double>(place);
      double from = 0.0;
      for (const PhaseScaling* row : blocks.bars) {
        if (row->backend != backend) continue;
        const double to = from + row->seconds[t].median;
        out += fmt::format("{}\t{}\t{}\t{:.6g}\t{:.6g}\t{}\t{}\t{}\n", row->backend, row->phase,
                           scaling.threads[t], left + 0.03 * slot, left + 0.97 * slot, from, to,
                           std::stoul(std::string(colour_of(row->phase)).substr(1), nullptr, 16));
        from = to;
      }
    }
  return out;
}

/// The style of a back end: the second one is dashed.
LineStyle style_of(const char* colour, std::size_t backend) {
  return {colour, backend == 0 ? 0u : 1u, backend};
}

Axis threads_axis(const std::vector<int>& threads) {
  const bool all = threads.size() <= kMostLabelsX;
  Axis axis{.label = "threads", .range = {0.93, 1.12 * threads.back()}, .log = true};
  for (const int p : threads)
    if (all || (p & (p - 1)) == 0 || p == threads.back())
      axis.ticks.push_back({static_cast<double>(p), fmt::format("{}", p)});
  return axis;
}

/// All lines, `column` against threads, without titles: the bars' key names the colours.
void add_lines(Panel& panel, const Blocks& blocks, int column) {
  for (std::size_t i = 0; i < blocks.lines.size(); ++i) {
    const PhaseScaling& row = *blocks.lines[i];
    panel.curves.push_back({.style = style_of(colour_of(row.phase), place_of(blocks, row.backend)),
                            .width = row.phase == kTotal ? kTotalWidth : 2.0,
                            .block = i,
                            .x = 3,
                            .y = column,
                            .symbol_size = 1.1});
  }
}

Panel speedup_panel(const Scaling& scaling, const Blocks& blocks) {
  Panel panel{.x = threads_axis(scaling.threads),
              .title = "Speed-up against 1 thread",
              .frame = {0.1, 0.48, 0.63, 0.86},
              .key = "inside left top vertical",
              .guides = {{"ideal", kNaN}}};
  Range speedups;
  speedups.add(1.0);
  speedups.add(scaling.threads.back());
  for (const PhaseScaling* row : blocks.lines)
    for (const double speedup : row->speedup) speedups.add(speedup);
  panel.y = log_axis("", speedups.widened(1.12), kMostLabelsY);
  for (std::size_t b = 0; b < blocks.backends.size(); ++b)
    panel.curves.push_back({.title = blocks.backends[b], .style = style_of(kBlack, b), .symbol_size = 1.1});
  add_lines(panel, blocks, 7);
  return panel;
}

Panel efficiency_panel(const Scaling& scaling, const Blocks& blocks) {
  Range efficiencies{0.0, 1.0};
  for (const PhaseScaling* row : blocks.lines)
    for (const double efficiency : row->efficiency) efficiencies.add(efficiency);
  Panel panel{.x = threads_axis(scaling.threads),
              .y = linear_axis("", {0.0, 1.08 * efficiencies.max}),
              .title = "Efficiency: speed-up over threads",
              .frame = {0.59, 0.98, 0.63, 0.86},
              .key = "",
              .guides = {{"", 1.0}}};
  add_lines(panel, blocks, 8);
  return panel;
}

Panel bars_panel(const Scaling& scaling, const Blocks& blocks) {
  Range seconds{0.0, 0.0};
  for (const PhaseScaling* row : blocks.lines)
    if (row->phase == kTotal)
      for (const Spread& of_threads : row->seconds) seconds.add(of_threads.median);
  Panel panel{.x = {"threads", {0.4, static_cast<double>(scaling.threads.size()) + 0.6}, {}},
              .y = linear_axis("seconds", out_to_ticks(seconds)),
              .title = "Time of each phase; plain bars: " + blocks.backends.front(),
              .frame = {0.1, 0.8, 0.19, 0.43}};
  if (blocks.backends.size() > 1) panel.title += ", hatched: " + blocks.backends[1];
  const std::size_t every = scaling.threads.size() / (kMostLabels + 1) + 1;
  for (std::size_t t = 0; t < scaling.threads.size(); t += every)
    panel.x.ticks.push_back({static_cast<double>(t) + 1.0, fmt::format("{}", scaling.threads[t])});
  for (std::size_t b = 0; b < blocks.backends.size(); ++b)
    panel.bars.push_back({blocks.lines.size(), blocks.backends[b], b > 0});
  for (const PhaseScaling* row : blocks.bars)
    if (row->backend == blocks.backends.front())
      panel.curves.push_back({.title = row->phase, .style = {colour_of(row->phase)}, .width = kKeyWidth});
  panel.curves.push_back({.title = "all phases", .style = {kBlack}, .width = kTotalWidth});
  return panel;
}

std::string caption_text(const Scaling& scaling, const ScalingProblem& problem) {
  const int repetitions = problem.runs.empty() ? 0 : problem.runs.back().repetition;
  std::string out = fmt::format(
      "{} iterations, the same to the last bit in all runs; {}; phases below 1 % of the time have no line.",
      problem.iterations,
      repetitions == 1 ? "one repetition" : fmt::format("medians of {} repetitions", repetitions));
  if (scaling.oversubscribed())
    out += fmt::format(" OVERSUBSCRIBED: more than {} threads shared {} CPUs.", scaling.cpus, scaling.cpus);
  return out;
}

}  // namespace

std::vector<fs::path> draw_scaling(const Scaling& scaling, const std::vector<PhaseScaling>& rows,
                                   const fs::path& folder) {
  std::vector<fs::path> written;
  for (const ScalingProblem& problem : scaling.problems) {
    const Blocks blocks = blocks_of(scaling, rows, problem);
    const std::string name =
        scaling.problems.size() == 1 ? "scale" : file_name_part("scale-" + problem.name());
    written.push_back(
        draw({.name = name,
              .title = data_warnings(says_synthetic(problem.description)) +
                       fmt::format("{}, λ = {}, {}", problem.dataset, problem.lambda, problem.label),
              .subtitle = problem.description,
              .caption = caption_text(scaling, problem),
              .panels = {speedup_panel(scaling, blocks), efficiency_panel(scaling, blocks),
                         bars_panel(scaling, blocks)},
              .data = data_text(scaling, blocks)},
             folder));
  }
  return written;
}

}  // namespace proxbench
