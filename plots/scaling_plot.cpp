#include "plots/scaling_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/profile.h"
#include "plots/colours.h"
#include "plots/facts.h"
#include "plots/figure.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// Of the time at 1 thread: phases below this have no line.
constexpr double kLeastShare = 0.01;
/// So many bars have a label each; of more, some have.
constexpr std::size_t kMostLabels = 16;

/// The colour of a phase in all panels; the total is black.
const char* colour_of(const std::string& phase) {
  if (phase == kTotal) return "#000000";
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

/// Ticks at the measured numbers of threads, or at powers of two where they are many.
std::string thread_tics(const std::vector<int>& threads) {
  std::vector<int> shown;
  for (const int p : threads)
    if (threads.size() <= 8 || (p & (p - 1)) == 0 || p == threads.back()) shown.push_back(p);
  return fmt::format("set xtics ({})\n", fmt::join(shown, ", "));
}

std::string bar_tics(const std::vector<int>& threads) {
  std::vector<std::string> tics;
  for (std::size_t t = 0; t < threads.size(); ++t)
    if (threads.size() <= kMostLabels || t % (threads.size() / kMostLabels + 1) == 0)
      tics.push_back(fmt::format("'{}' {}", threads[t], t + 1));
  return fmt::format("set xtics ({})\n", fmt::join(tics, ", "));
}

/// All lines, `column` against threads, without titles: the bars' key names the colours.
std::vector<std::string> lines_text(const std::string& file, const Blocks& blocks, int column) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < blocks.lines.size(); ++i) {
    const PhaseScaling& row = *blocks.lines[i];
    const bool first = place_of(blocks, row.backend) == 0;
    out.push_back(
        fmt::format("{} skip 1 index {} using 3:{} with linespoints notitle linecolor rgb '{}' linewidth {} "
                    "dashtype {} pointtype {} pointsize 1.1",
                    gnuplot_quoted(file), i, column, colour_of(row.phase), row.phase == kTotal ? 3.5 : 2.0,
                    first ? 1 : 2, first ? 7 : 4));
  }
  return out;
}

std::string joined(const std::vector<std::string>& curves) {
  return fmt::format("plot {}\n", fmt::join(curves, ", \\\n     "));
}

std::string speedup_panel(const Scaling& scaling, const std::string& file, const Blocks& blocks) {
  const double most = scaling.threads.back() * 1.12;
  Range speedups;
  speedups.add(0.9);
  speedups.add(most);
  for (const PhaseScaling* row : blocks.lines)
    for (const double speedup : row->speedup)
      for (const double margin : {0.9, 1.12}) speedups.add(margin * speedup);
  std::vector<std::string> curves{"x with lines title 'ideal' linecolor rgb '#999999' linewidth 1.5"};
  for (std::size_t b = 0; b < blocks.backends.size(); ++b)
    curves.push_back(fmt::format(
        "NaN with linespoints title {} linecolor rgb '#000000' linewidth 2 dashtype {} pointtype {}",
        gnuplot_quoted(blocks.backends[b]), b == 0 ? 1 : 2, b == 0 ? 7 : 4));
  for (std::string& line : lines_text(file, blocks, 7)) curves.push_back(std::move(line));
  return fmt::format(
             "set origin 0,0.5\nset size 0.5,0.42\nset title 'Speed-up against 1 thread'\n"
             "set xlabel 'threads'\nset ylabel ''\nset logscale x 2\nset xrange [0.93:{:.4g}]\n"
             "set key inside left top vertical Left reverse noenhanced samplen 2.5\n",
             most) +
         log_axis("y", speedups, 2) + thread_tics(scaling.threads) + joined(curves);
}

std::string efficiency_panel(const std::string& file, const Blocks& blocks) {
  double most = 1.0;
  for (const PhaseScaling* row : blocks.lines)
    for (const double efficiency : row->efficiency) most = std::max(most, efficiency);
  std::vector<std::string> curves{"1 with lines notitle linecolor rgb '#999999' linewidth 1.5"};
  for (std::string& line : lines_text(file, blocks, 8)) curves.push_back(std::move(line));
  return fmt::format(
             "unset key\nset origin 0.5,0.5\nset size 0.5,0.42\nset title 'Efficiency: speed-up over "
             "threads'\n"
             "unset logscale y\nset yrange [0:{:.4g}]\nset ytics autofreq\n",
             1.08 * most) +
         joined(curves);
}

std::string bars_panel(const Scaling& scaling, const std::string& file, const Blocks& blocks,
                       const std::string& caption) {
  const std::size_t index = blocks.lines.size();
  std::vector<std::string> curves;
  for (std::size_t b = 0; b < blocks.backends.size(); ++b)
    curves.push_back(
        fmt::format("{0} skip 1 index {1} using (stringcolumn(1) eq {2} ? ($4 + $5) / 2 : NaN):(($6 + $7) / "
                    "2):4:5:6:7:8 with "
                    "boxxyerror notitle linecolor rgb variable fillstyle {3} border",
                    gnuplot_quoted(file), index, gnuplot_quoted(blocks.backends[b]),
                    b == 0 ? "solid 0.85" : "transparent pattern 4"));
  std::vector<std::string> named;
  for (const PhaseScaling* row : blocks.bars) {
    if (std::find(named.begin(), named.end(), row->phase) != named.end()) continue;
    named.push_back(row->phase);
    curves.push_back(fmt::format("NaN with boxes title {} linecolor rgb '{}' fillstyle solid 0.85",
                                 gnuplot_quoted(row->phase), colour_of(row->phase)));
  }
  curves.push_back("NaN with lines title 'all phases' linecolor rgb '#000000' linewidth 3.5");
  const double right = static_cast<double>(scaling.threads.size()) + 0.6;
  std::string backends = fmt::format("plain bars: {}", blocks.backends.front());
  if (blocks.backends.size() > 1) backends += fmt::format(", hatched: {}", blocks.backends[1]);
  return fmt::format(
             "set origin 0,0\nset size 1,0.5\nset title {}\nset xlabel {}\nset ylabel 'seconds'\n"
             "unset logscale\nset xrange [0.4:{:.4g}]\nset yrange [0:*]\n"
             "set key outside right top vertical Left reverse noenhanced samplen 2 spacing 1.2 maxcols 1\n",
             gnuplot_quoted("Time of each phase; " + gnuplot_literal(backends)),
             gnuplot_quoted("threads" + small_lines(caption)), right) +
         bar_tics(scaling.threads) + joined(curves);
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

std::string title_text(const ScalingProblem& problem) {
  return fmt::format("{{/:Bold {}{}, λ = {}, {}}}{}",
                     says_synthetic(problem.description) ? "SYNTHETIC DATA: " : "",
                     gnuplot_literal(problem.dataset), problem.lambda, gnuplot_literal(problem.label),
                     small_lines(problem.description));
}

}  // namespace

std::vector<fs::path> draw_scaling(const Scaling& scaling, const std::vector<PhaseScaling>& rows,
                                   const fs::path& folder) {
  std::vector<fs::path> written;
  for (const ScalingProblem& problem : scaling.problems) {
    const Blocks blocks = blocks_of(scaling, rows, problem);
    Figure figure;
    figure.name = scaling.problems.size() == 1 ? "scale" : file_name_part("scale-" + problem.name());
    figure.panels = true;
    figure.data = data_text(scaling, blocks);
    const std::string file = figure.name + ".tsv";
    figure.plot = fmt::format("set multiplot title {}\n", gnuplot_quoted(title_text(problem))) +
                  speedup_panel(scaling, file, blocks) + efficiency_panel(file, blocks) +
                  bars_panel(scaling, file, blocks, caption_text(scaling, problem)) + "unset multiplot\n";
    written.push_back(write_figure(folder, figure));
  }
  return written;
}

}  // namespace proxbench
