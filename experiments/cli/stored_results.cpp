/// `table` and `plot`: tables and figures from stored results.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/base/error.h"
#include "experiments/base/table_text.h"
#include "experiments/cli/cli.h"
#include "experiments/config/ini.h"
#include "experiments/results/tables/path_table.h"
#include "experiments/results/tables/result_tables.h"
#include "plots/figures.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// The results of one folder.
struct Source {
  fs::path folder;
  Presentation presentation;
  std::vector<Run> runs;  ///< runs of single penalties
  std::vector<Run> paths;
};

/// Throws Error if a source has only paths: results over single penalties need runs.
void require_runs(const std::vector<Source>& sources) {
  for (const Source& source : sources) require_single_penalties(source.runs, source.folder);
}

std::vector<Run> all_runs(const std::vector<Source>& sources) {
  std::vector<Run> all;
  for (const Source& source : sources) all.insert(all.end(), source.runs.begin(), source.runs.end());
  return all;
}

/// Removes the runs of other solvers. A label need not occur in every folder.
void keep_solvers(const std::vector<std::string>& labels, std::vector<Source>& sources) {
  std::vector<Run> all = all_runs(sources);
  for (const Source& source : sources) all.insert(all.end(), source.paths.begin(), source.paths.end());
  require_labels(all, labels);
  const auto unknown = [&](const Run& run) { return !contains(labels, run.parameters.label); };
  for (Source& source : sources) {
    std::erase_if(source.runs, unknown);
    std::erase_if(source.paths, unknown);
  }
  std::erase_if(sources, [](const Source& source) { return source.runs.empty() && source.paths.empty(); });
}

/// The flags of the commands that read stored results.
struct ReadFlags {
  std::vector<std::string> folders;
  std::string out, solvers;
  KeyFlags<PlotConfig> plot{"the config's"};  ///< overrides the configs
  RunFlags experiment{"the config's"};
  bool allow_not_comparable = false, with_start = false;

  void add_to(CLI::App& command) {
    add_results(command, folders);
    command
        .add_option("--out", out,
                    "folder for the results over all DIRs; with several DIRs, tables and figures of one DIR "
                    "stay in it [DIR if there is one]")
        ->type_name("OUT");
    experiment.add(command, "targets");
    plot.add(command, "x");
    command.add_flag("--with-start", with_start, "seconds include reading the data and set-up");
    command.add_option("--solvers", solvers, "labels of the solvers to show, separated by commas [all]")
        ->type_name("NAMES");
    command.add_flag("--allow-not-comparable", allow_not_comparable,
                     "also show timings that are not comparable");
  }

  std::vector<Source> read() const {
    std::vector<Source> sources;
    for (const std::string& folder : folders) {
      for (const Source& other : sources)
        if (std::error_code ignored; fs::equivalent(other.folder, folder, ignored))
          throw Error::usage(fmt::format("{}: found again, expected each folder once", folder));
      Source& source = sources.emplace_back(Source{folder, presentation_of(folder), {}, {}});
      source.runs = read_all_runs(folder, source.presentation, warn_of_result);
      warn_of_strangers(folder, source.presentation, source.runs);
      source.paths = take_paths(source.runs);
    }
    if (!solvers.empty()) keep_solvers(split_list(solvers), sources);
    return sources;
  }

  /// The output folder for results over all sources.
  fs::path out_folder() const {
    if (!out.empty()) return out;
    if (folders.size() == 1) return folders.front();
    throw Error::usage("--out: found none, expected a folder for the results over all DIRs");
  }

  /// The output folder for results of one source.
  fs::path out_folder(const Source& source) const {
    return folders.size() == 1 ? out_folder() : source.folder;
  }

 private:
  /// Returns the choices of the folder's config, overridden by the flags.
  Presentation presentation_of(const fs::path& folder) const {
    Presentation presentation = load_presentation(folder / "config.ini");
    plot.read(presentation.plot);
    presentation.plot.with_start = with_start;
    if (plot.given("x")) presentation.plot.x_max.clear();  // the config's limits hold for its own axes
    if (experiment.given("targets")) presentation.targets = config_of(experiment).targets;
    return presentation;
  }
};

// ---- table

struct TableCommand : ReadFlags {
  std::string kind, format = "md";  // kind "": summary, or path if there are only paths
  std::string columns;
  JsonFlag json;

  void add_to(CLI::App& command) {
    ReadFlags::add_to(command);
    plot.add(command, "shift");
    plot.add(command, "par");
    command
        .add_option(
            "--kind", kind,
            "table to print: summary of each DIR; means (shifted geometric means) over the problems of all "
            "DIRs; path, cost and points of the paths of each DIR [summary, or path if there are paths "
            "alone]")
        ->check(CLI::IsMember({"summary", "means", "path"}))
        ->type_name("NAME");
    command
        .add_option("--format", format,
                    "what to print: md (Markdown), latex (for the package booktabs), csv [md]")
        ->check(CLI::IsMember({"md", "latex", "csv"}))
        ->type_name("NAME");
    command
        .add_option("--columns", columns,
                    "columns of the summary after the solver, by their names in CSV, separated by commas; "
                    "all: all that have a value; default: at most 9 that have a value")
        ->type_name("NAMES");
    json.add_to(command);
  }

  void execute() const {
    const std::vector<Source> sources = read();
    const bool paths =
        kind == "path" ||
        (kind.empty() && std::ranges::all_of(sources, [](const Source& one) { return one.runs.empty(); }));
    if (!columns.empty() && (paths || kind == "means"))
      throw Error::usage("columns: found '" + columns + "', expected them with --kind summary only");
    Json records = Json::array();
    const std::string text = paths ? text_of_paths(sources, records) : text_of_runs(sources, records);
    json.write(records);
    if (prints()) fmt::print("{}", text);
  }

 private:
  std::string text_of_paths(const std::vector<Source>& sources, Json& records) const {
    std::string text;
    for (const Source& source : sources) {
      require_paths(source.paths, source.folder);
      const TableSet set = path_tables(source.paths, source.runs, source.presentation.title);
      set.write(out_folder(source) / "tables");
      text += set.text(format);
      for (const Json& path : paths_json(source.paths, source.runs)) records.push_back(path);
    }
    return text;
  }

  std::string text_of_runs(const std::vector<Source>& sources, Json& records) const {
    require_runs(sources);
    const std::vector<std::string> shown = split_list(columns);
    std::string text;
    for (const Source& source : sources) {
      for (const TableSet& set : write_result_tables(source.runs, out_folder(source), source.presentation,
                                                     shown, allow_not_comparable)) {
        text += (text.empty() ? "" : "\n") + set.text(format);
        if (set.name != "summary") continue;
        for (const Json& record : set.records) records.push_back(record);
      }
    }
    Presentation first = sources.front().presentation;
    if (kind != "means" && (sources.size() == 1 || first.targets.empty())) return text;
    // Means over the problems of all sources use the presentation of the first source.
    if (sources.size() > 1) first.title.clear();  // it describes only the first source
    const TableSet means = means_tables(all_runs(sources), first, allow_not_comparable);
    means.write(out_folder() / "tables");
    return kind == "means" ? means.text(format) : text;
  }
};

// ---- plot

/// Whether the figures compare solvers over problems.
bool has_profiles(const PlotConfig& plot) {
  return contains(plot.kinds, "profile") || contains(plot.kinds, "ecdf");
}

struct PlotCommand : ReadFlags {
  void add_to(CLI::App& command) {
    ReadFlags::add_to(command);
    plot.add(command, "kinds",
             "figures to draw: curves, path, theory (see scripts/theory) of each DIR; profile (performance "
             "profiles), ecdf (distributions of the costs to reach the targets) over all DIRs; separated by "
             "commas",
             "--kind");
    plot.add(command, "quantities");
    plot.add(command, "repetitions");
    plot.add(command, "log_seconds");
  }

  void execute() const {
    const std::vector<Source> sources = read();
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
        throw Error::in_file(source.folder.string(), 0, "no path with a finished point", "one to draw");
      print(drawn);
    }
    if (contains(config.kinds, "theory")) {
      const std::vector<TheoryProblem> theory = read_theory(source.folder);
      if (theory.empty())
        throw Error::in_file(source.folder.string(), 0, "no theory.json with a problem",
                             "one, as scripts/theory makes it");
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

void warn_of_result(const std::string& text) {
  spdlog::warn("{}", text);
}

void warn_of_strangers(const fs::path& folder, const Presentation& presentation, std::vector<Run>& runs) {
  if (const std::string left_out = leave_out_strangers(folder, presentation, runs); !left_out.empty())
    spdlog::warn("{}", left_out);
}

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

void add_stored_results_commands(CLI::App& app) {
  add_command<TableCommand>(app, "table", "Write the tables of stored results to DIR/tables, and print them");
  add_command<PlotCommand>(
      app, "plot", "Draw stored results: curves into DIR/figures, comparisons over the problems of all DIRs");
}

}  // namespace proxbench
