/// `plot`: draws figures from stored results.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/table_text.h"
#include "experiments/cli/cli.h"
#include "experiments/cli/stored_results.h"
#include "experiments/results/tables/path_table.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// Whether the figures compare solvers over problems.
bool has_profiles(const PlotConfig& plot) {
  return contains(plot.kinds, "profile") || contains(plot.kinds, "ecdf");
}

struct PlotCommand : ReadFlags {
  bool log_seconds = false;

  void add_to(CLI::App& command) {
    ReadFlags::add_to(command);
    plot.add(command, "kinds",
             "figures to draw: curves, path, theory (see scripts/theory) of each DIR; profile (performance "
             "profiles), ecdf (distributions of the costs to reach the targets) over all DIRs; separated by "
             "commas",
             "--kind");
    plot.add(command, "quantities");
    plot.add(command, "repetitions");
    command.add_flag("--log-seconds", log_seconds, "draw seconds on a log axis");
  }

  void execute() const {
    std::vector<Source> sources = read();
    for (Source& source : sources)
      source.presentation.plot.log_seconds = source.presentation.plot.log_seconds || log_seconds;
    const Presentation& first = sources.front().presentation;
    const bool together = has_profiles(first.plot);
    if (!together && folders.size() > 1 && !out.empty())
      throw Error::usage(
          "--out: found only figures of single DIRs, expected a --kind over all DIRs: profile, ecdf");
    const fs::path common = together ? out_folder() : fs::path();
    for (const Source& source : sources) draw(source);
    if (!together) return;
    require_runs(sources);
    print(draw_all(profile_charts(all_runs(sources), first.plot, first.targets, allow_not_comparable),
                   common / "figures"));
  }

 private:
  /// Draws the figures of one source.
  void draw(const Source& source) const {
    const PlotConfig& config = source.presentation.plot;
    if (contains(config.kinds, "path")) {
      require_paths(source.paths, source.folder);
      const auto drawn = draw_all(path_charts(source.paths, allow_not_comparable), figures_of(source));
      if (drawn.empty())
        throw Error::in_file(source.folder.string(), 0, "no path that came to its first point",
                             "one to draw");
      print(drawn);
    }
    if (contains(config.kinds, "theory")) {
      const nlohmann::json theory = read_theory(source.folder);
      if (theory.is_null())
        throw Error::in_file(source.folder.string(), 0, "no theory.json", "one, as scripts/theory makes it");
      print(draw_all(theory_charts(theory), figures_of(source)));
      const fs::path tables = out_folder(source) / "tables" / "theory.md";
      make_folder(tables.parent_path());
      write_file_atomically(tables, markdown_document("", theory_tables(theory)));
      print({tables});
    }
    if (!contains(config.kinds, "curves")) return;
    require_runs({source});
    print(draw_all(curve_charts(source.runs, config, allow_not_comparable), figures_of(source)));
  }

  fs::path figures_of(const Source& source) const { return out_folder(source) / "figures"; }
  static void print(const std::vector<fs::path>& figures) {
    for (const fs::path& figure : figures) fmt::print("{}\n", figure.string());
  }
};

/// Removes seconds from the axes.
void leave_out_seconds(PlotConfig& plot) {
  const auto seconds = std::find(plot.x.begin(), plot.x.end(), "seconds");
  if (seconds == plot.x.end()) return;
  if (!plot.x_max.empty()) plot.x_max.erase(plot.x_max.begin() + (seconds - plot.x.begin()));
  plot.x.erase(seconds);
}

}  // namespace

void draw_figures_of_run(const std::vector<Run>& runs, const std::vector<Run>& paths, const fs::path& out,
                         const Presentation& presentation) {
  PlotConfig plot = presentation.plot;
  const fs::path figures = out / "figures";
  if (contains(plot.kinds, "path")) {
    for (const Run& path : paths)
      if (!path.timing.comparable)
        spdlog::warn("{}: its seconds are not comparable and are not drawn", run_name(path));
    draw_all(path_charts(paths), figures);
  }
  if (runs.empty()) return;
  if (plot.quantities.empty()) std::erase(plot.kinds, "curves");
  const bool curves = contains(plot.kinds, "curves"), profiles = has_profiles(plot);
  try {
    if ((curves || profiles) && contains(plot.x, "seconds")) require_comparable(runs, "x without seconds");
  } catch (const Error& error) {
    spdlog::warn("no figure is drawn against seconds: {}", error.what());
    leave_out_seconds(plot);
  }
  if (plot.x.empty()) return;
  if (curves) draw_all(curve_charts(runs, plot), figures);
  if (!profiles) return;
  try {
    draw_all(profile_charts(runs, plot, presentation.targets), figures);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw;
    spdlog::warn("solvers are not compared over problems: {}", error.what());
  }
}

void add_plot_command(CLI::App& app) {
  add_command<PlotCommand>(
      app, "plot", "Draw stored results: curves into DIR/figures, comparisons over the problems of all DIRs");
}

}  // namespace proxbench
