/// `plot`: figures from stored results.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/cli/stored_results.h"
#include "experiments/config/ini.h"
#include "experiments/results/tables/path_table.h"
#include "plots/curves.h"
#include "plots/gnuplot.h"
#include "plots/paths.h"
#include "plots/profiles.h"
#include "plots/theory.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

struct PlotCommand {
  ReadFlags read;
  std::string kinds, quantities, repetitions;
  bool log_seconds = false;
};

bool contains(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether it compares solvers over problems.
bool has_profiles(const PlotConfig& plot) {
  return contains(plot.kinds, "profile") || contains(plot.kinds, "ecdf");
}

void draw_paths(const Source& source, const PlotCommand& command, std::vector<fs::path>& figures) {
  require_paths(source.paths, source.folder);
  const std::vector<fs::path> drawn = draw_all(path_charts(source.paths, command.read.allow_not_comparable),
                                               command.read.out_folder(source) / "figures");
  if (drawn.empty())
    throw Error::in_file(source.folder.string(), 0, "no path that came to its first point", "one to draw");
  figures.insert(figures.end(), drawn.begin(), drawn.end());
}

void draw_theory(const Source& source, const fs::path& out, std::vector<fs::path>& figures) {
  const nlohmann::json theory = read_theory(source.folder);
  if (theory.is_null())
    throw Error::in_file(source.folder.string(), 0, "no theory.json", "one, as scripts/theory makes it");
  for (const fs::path& figure : draw_all(theory_charts(theory), out / "figures")) figures.push_back(figure);
}

void plot(const PlotCommand& command) {
  std::vector<Source> sources = command.read.read();
  for (Source& source : sources) {
    if (!command.kinds.empty()) source.presentation.plot.kinds = split_list(command.kinds);
    for (const std::string& kind : source.presentation.plot.kinds)
      require_known("--kind", kind, {"curves", "profile", "ecdf", "path", "theory"});
  }
  const bool together = has_profiles(sources.front().presentation.plot);
  if (!together && command.read.folders.size() > 1 && !command.read.out.empty())
    throw Error::usage(
        "--out: found only figures of single DIRs, expected a --kind over all DIRs: profile, ecdf");
  const fs::path out = together ? command.read.out_folder() : fs::path();

  std::vector<fs::path> figures;
  for (Source& source : sources) {
    PlotConfig& config = source.presentation.plot;
    if (!command.quantities.empty()) config.quantities = split_list(command.quantities);
    if (!command.repetitions.empty()) config.repetitions = command.repetitions;
    config.log_seconds = config.log_seconds || command.log_seconds;
    if (contains(config.kinds, "path")) draw_paths(source, command, figures);
    if (contains(config.kinds, "theory")) draw_theory(source, command.read.out_folder(source), figures);
    if (!contains(config.kinds, "curves")) continue;
    require_runs({source});
    for (const fs::path& figure : make_curves(source.runs, command.read.out_folder(source) / "figures",
                                              config, command.read.allow_not_comparable))
      figures.push_back(figure);
  }
  if (together) {
    require_runs(sources);
    const Presentation& first = sources.front().presentation;
    for (const fs::path& figure : make_profiles(all_runs(sources), out / "figures", first.plot, first.targets,
                                                command.read.allow_not_comparable))
      figures.push_back(figure);
  }
  for (const fs::path& figure : figures) fmt::print("{}\n", figure.string());
}

/// Takes seconds off the axes.
void leave_out_seconds(PlotConfig& plot) {
  const auto seconds = std::find(plot.x.begin(), plot.x.end(), "seconds");
  if (seconds == plot.x.end()) return;
  if (!plot.x_max.empty()) plot.x_max.erase(plot.x_max.begin() + (seconds - plot.x.begin()));
  plot.x.erase(seconds);
}

}  // namespace

void draw_figures_of_run(const std::vector<Run>& runs, const fs::path& out, const Presentation& presentation,
                         const std::function<void(const std::string&)>& warn) {
  Presentation drawn = presentation;
  if (drawn.plot.quantities.empty()) std::erase(drawn.plot.kinds, "curves");
  if (drawn.plot.kinds.empty()) return;
  try {
    if (contains(drawn.plot.x, "seconds")) require_comparable(runs, "x without seconds");
  } catch (const Error& error) {
    warn(fmt::format("no figure is drawn against seconds: {}", error.what()));
    leave_out_seconds(drawn.plot);
  }
  if (drawn.plot.x.empty()) return;
  if (contains(drawn.plot.kinds, "curves")) make_curves(runs, out / "figures", drawn.plot);
  if (!has_profiles(drawn.plot)) return;
  try {
    make_profiles(runs, out / "figures", drawn.plot, drawn.targets);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw;
    warn(fmt::format("solvers are not compared over problems: {}", error.what()));
  }
}

void draw_paths_of_run(const std::vector<Run>& paths, const fs::path& out, const Presentation& presentation,
                       const std::function<void(const std::string&)>& warn) {
  if (paths.empty() || !contains(presentation.plot.kinds, "path")) return;
  for (const Run& path : paths)
    if (!path.timing.comparable)
      warn(fmt::format("{}: its seconds are not comparable and are not drawn", run_name(path)));
  draw_all(path_charts(paths), out / "figures");
}

void add_plot_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand(
      "plot", "Draw stored results: curves into DIR/figures, comparisons over the problems of all DIRs");
  auto command = std::make_shared<PlotCommand>();
  command->read.add_to(*sub);
  sub->add_option("--kind", command->kinds,
                  "figures to draw: curves, path, theory (see scripts/theory) of each DIR; profile "
                  "(performance profiles), ecdf (distributions of "
                  "the costs to reach the targets) over all DIRs; separated by commas [the config's]")
      ->type_name("NAMES");
  sub->add_option("--x", command->read.x,
                  "abscissas: seconds, passes, updates, iterations, separated by commas [the config's]")
      ->type_name("NAMES");
  sub->add_option("--quantities", command->quantities,
                  "quantities of the curves: objective, suboptimality, nnz, accuracy, error, "
                  "structure-error, chunk-f1, gap, dual, "
                  "mean-gap, gap-estimate, gap-infeasibility, separated by commas [the config's]")
      ->type_name("NAMES");
  sub->add_option("--repetitions", command->repetitions,
                  "repetitions in curves: band (median and quartiles) or lines [the config's]")
      ->check(CLI::IsMember({"band", "lines"}))
      ->type_name("NAME");
  sub->add_flag("--log-seconds", command->log_seconds, "draw seconds on a log axis");
  sub->callback([command] { plot(*command); });
}

}  // namespace proxbench
