/// `table` and `plot`: tables and figures from stored results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/config/ini.h"
#include "experiments/results/tables/cost_table.h"
#include "experiments/results/tables/data_table.h"
#include "experiments/results/tables/means_table.h"
#include "experiments/results/tables/paper_table.h"
#include "experiments/results/tables/path_table.h"
#include "plots/curves.h"
#include "plots/paths.h"
#include "plots/profiles.h"
#include "plots/theory.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

// ---- what both commands read

/// The results of one folder.
struct Source {
  fs::path folder;
  Presentation presentation;
  std::vector<StoredRun> runs;  ///< of single penalties
  std::vector<StoredPath> paths;
};

/// Flags of both commands.
struct ReadFlags {
  std::vector<std::string> folders;
  std::string out, targets, x, solvers;
  bool allow_not_comparable = false;

  void add_to(CLI::App& sub) {
    sub.add_option("dirs", folders, "results of `proxbench run`")->required()->type_name("DIR...");
    sub.add_option("--out", out,
                   "folder for the results over all DIRs; with several DIRs, tables and figures of one DIR "
                   "stay in it [DIR if there is one]")
        ->type_name("OUT");
    sub.add_option("--targets", targets, "relative differences to f*, separated by commas [the config's]")
        ->type_name("REALS");
    sub.add_option("--solvers", solvers, "labels of the solvers to show, separated by commas [all]")
        ->type_name("NAMES");
    sub.add_flag("--allow-not-comparable", allow_not_comparable, "also show timings that are not comparable");
  }

  std::vector<Source> read() const;
  /// Where goes what is made of all sources together.
  fs::path out_folder() const {
    if (!out.empty()) return out;
    if (folders.size() == 1) return folders.front();
    throw Error::usage("--out: found none, expected a folder for the results over all DIRs");
  }
  /// Where goes what is made of one of them.
  fs::path out_folder(const Source& source) const {
    return folders.size() == 1 ? out_folder() : source.folder;
  }
};

std::vector<double> parse_targets(const std::string& text) {
  std::vector<double> targets;
  for (const std::string& part : split_list(text))
    if (!parse_real(part, targets.emplace_back()) || !(targets.back() > 0))
      throw Error::usage(
          fmt::format("--targets: found '{}', expected reals above 0, separated by commas", part));
  return targets;
}

/// The config's choices, overridden by the flags.
Presentation presentation_of(const fs::path& folder, const ReadFlags& flags) {
  Presentation presentation = load_presentation(folder / "config.ini");
  if (!flags.targets.empty()) presentation.targets = parse_targets(flags.targets);
  if (!flags.x.empty()) {
    presentation.plot.x = split_list(flags.x);
    presentation.plot.x_max.clear();  // the config's are for its own axes
  }
  return presentation;
}

std::vector<Source> ReadFlags::read() const {
  std::vector<Source> sources;
  for (const std::string& folder : folders) {
    for (const Source& other : sources)
      if (std::error_code ignored; fs::equivalent(other.folder, folder, ignored))
        throw Error::usage(fmt::format("{}: found again, expected each folder once", folder));
    Source source{folder, presentation_of(folder, *this), read_all_runs(folder), {}};
    source.paths = take_paths(source.runs);
    sources.push_back(std::move(source));
  }
  if (solvers.empty()) return sources;
  // A label need not be in every folder.
  std::vector<StoredRun> all;
  for (const Source& source : sources) {
    all.insert(all.end(), source.runs.begin(), source.runs.end());
    for (const StoredPath& path : source.paths) all.push_back(path.run);
  }
  const std::vector<std::string> labels = split_list(solvers);
  runs_of_solvers(all, labels);
  const auto unknown = [&](const StoredRun& run) {
    return std::find(labels.begin(), labels.end(), run.label) == labels.end();
  };
  for (Source& source : sources) {
    std::erase_if(source.runs, unknown);
    std::erase_if(source.paths, [&](const StoredPath& path) { return unknown(path.run); });
  }
  std::erase_if(sources, [](const Source& source) { return source.runs.empty() && source.paths.empty(); });
  return sources;
}

bool paths_alone(const std::vector<Source>& sources) {
  return std::all_of(sources.begin(), sources.end(),
                     [](const Source& source) { return source.runs.empty(); });
}

/// For what is made of single penalties. Throws Error where a source has paths alone.
void require_runs(const std::vector<Source>& sources) {
  for (const Source& source : sources)
    if (source.runs.empty()) read_results(source.folder);  // which says what there is instead
}

std::vector<StoredRun> all_runs(const std::vector<Source>& sources) {
  std::vector<StoredRun> all;
  for (const Source& source : sources) all.insert(all.end(), source.runs.begin(), source.runs.end());
  return all;
}

// ---- table

struct TableCommand {
  ReadFlags read;
  std::string kind, format = "markdown";  // kind "": summary, or path where there are paths alone
  double shift = 0.0, par = 0.0;          // 0: the config's
  JsonFlag json;
};

nlohmann::ordered_json spreads_json(const TableRow& row, const TableOptions& options) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [name, spread] : named_spreads(row, options))
    out[name] = {{"median", number_json(spread.median)}, {"q25", number_json(spread.q25)},
                 {"q75", number_json(spread.q75)},       {"min", number_json(spread.min)},
                 {"max", number_json(spread.max)},       {"n", spread.n}};
  return out;
}

nlohmann::ordered_json row_json(const TableRow& row, const TableOptions& options) {
  nlohmann::ordered_json seconds = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i < options.targets.size(); ++i)
    seconds[fmt::format("{}", options.targets[i])] = number_json(row.seconds[i]);
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const FailureCount& failure : row.failures)
    failures.push_back({{"status", failure.status}, {"reason", failure.reason}, {"count", failure.count}});
  return {{"solver", row.label},
          {"machine", row.machine},
          {"status", row.status},
          {"repetitions", row.repetitions},
          {"failed", row.failed()},
          {"failures", failures},
          {"not_comparable", row.not_comparable},
          {"seconds_to", seconds},
          {"ratio_to_fastest", number_json(row.ratio)},
          {"final_difference", number_json(row.final_difference)},
          {"nnz", number_json(row.nnz)},
          {"relative_kkt", number_json(row.relative_kkt)},
          {"relative_gap", number_json(row.relative_gap)},
          {"iterations", number_json(row.iterations)},
          {"passes", number_json(row.passes)},
          {"updates", number_json(row.updates)},
          {"seconds", number_json(row.total_seconds)},
          {"test_accuracy", number_json(row.test_accuracy)},
          {"spread", spreads_json(row, options)}};
}

nlohmann::ordered_json table_json(const Source& source, const TableOptions& options) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const TableGroup& group : summarize(source.runs, options)) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const TableRow& row : group.rows) rows.push_back(row_json(row, options));
    out.push_back({{"experiment", source.runs.front().experiment},
                   {"dataset", group.dataset},
                   {"lambda", group.lambda},
                   {"mu", group.mu},
                   {"description", group.description},
                   {"reference_objective", number_json(group.reference_objective)},
                   {"reference_relative_kkt", number_json(group.reference_kkt)},
                   {"reference_relative_gap", number_json(group.reference_gap)},
                   {"rows", rows}});
  }
  return out;
}

TableOptions table_options(const Source& source, const TableCommand& command) {
  return {.title = source.presentation.title,
          .targets = source.presentation.targets,
          .allow_not_comparable = command.read.allow_not_comparable};
}

MeansOptions means_options(const Presentation& presentation, const TableOptions& options) {
  return {.title = options.title,
          .measures = presentation.plot.x,
          .targets = options.targets,
          .shift = presentation.plot.shift,
          .par = presentation.plot.par,
          .allow_not_comparable = options.allow_not_comparable};
}

void print_summary(const Source& source, const TableOptions& options, const std::string& format) {
  const Presentation& presentation = source.presentation;
  if (!presentation.paper.lambdas.empty()) {
    const std::vector<PaperRow> rows = compare_with_paper(source.runs, presentation);
    const std::vector<TextTable> tables{paper_table(rows, presentation)};
    fmt::print("{}\n", format == "csv"     ? csv_paper_table(rows)
                       : format == "latex" ? latex_document("", tables)
                                           : markdown_document("", tables));
  }
  const std::vector<TableGroup> groups = summarize(source.runs, options);
  fmt::print("{}", format == "csv"     ? csv_table(groups, options)
                   : format == "latex" ? latex_table(groups, options)
                                       : markdown_table(groups, options));
}

void print_means(const std::vector<StoredRun>& runs, const MeansOptions& options, const std::string& format) {
  const std::vector<MeansGroup> groups = geometric_means(runs, options);
  const std::vector<TextTable> tables = means_tables(groups, options);
  fmt::print("{}", format == "csv"     ? csv_means(groups, options)
                   : format == "latex" ? latex_document(options.title, tables)
                                       : markdown_document(options.title, tables));
}

nlohmann::ordered_json paths_json(const Source& source) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const StoredPath& path : source.paths) {
    const PathCost cost = path_cost(path, source.runs);
    nlohmann::ordered_json points = nlohmann::ordered_json::array();
    for (const PathPoint& point : path.points)
      points.push_back({{"lambda", point.lambda},
                        {"mu", point.mu},
                        {"objective", point.certificate.objective},
                        {"nnz", point.certificate.nnz},
                        {"kkt", point.certificate.kkt},
                        {"gap", point.certificate.gap()},
                        {"seconds", point.seconds},
                        {"candidates", point.candidates},
                        {"violations", point.violations},
                        {"test_accuracy", number_json(point.test_accuracy)}});
    out.push_back({{"experiment", path.run.experiment},
                   {"dataset", path.run.dataset},
                   {"path", path.run.path},
                   {"solver", path.run.label},
                   {"repetition", path.run.repetition},
                   {"status", path.run.status},
                   {"comparable", path.run.comparable},
                   {"seconds", number_json(cost.seconds)},
                   {"single_seconds", number_json(cost.single_seconds)},
                   {"seconds_ratio", number_json(cost.seconds_ratio())},
                   {"passes_ratio", number_json(cost.passes_ratio())},
                   {"points", points}});
  }
  return out;
}

void print_paths(const Source& source, const std::string& format) {
  const std::vector<TextTable> tables = path_tables(source.paths, source.runs);
  fmt::print("{}", format == "csv"     ? csv_paths(source.paths)
                   : format == "latex" ? latex_document(source.presentation.title, tables)
                                       : markdown_document(source.presentation.title, tables));
}

void table_of_paths(const TableCommand& command, const std::vector<Source>& sources) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Source& source : sources) {
    require_paths(source.paths, source.folder);
    write_path_tables(source.paths, source.runs, command.read.out_folder(source) / "tables",
                      source.presentation.title);
    for (nlohmann::ordered_json& path : paths_json(source)) all.push_back(std::move(path));
  }
  command.json.write(all);
  if (command.json.to_stdout()) return;
  for (const Source& source : sources) print_paths(source, command.format);
}

void table(const TableCommand& command) {
  command.json.check();
  std::vector<Source> sources = command.read.read();
  if (command.kind == "path" || (command.kind.empty() && paths_alone(sources)))
    return table_of_paths(command, sources);
  require_runs(sources);
  const fs::path out = command.read.out_folder();
  for (Source& source : sources) {
    if (command.shift > 0.0) source.presentation.plot.shift = command.shift;
    if (command.par > 0.0) source.presentation.plot.par = command.par;
  }
  nlohmann::ordered_json groups = nlohmann::ordered_json::array();
  for (const Source& source : sources) {
    const TableOptions options = table_options(source, command);
    write_result_tables(source.runs, command.read.out_folder(source), source.presentation, options);
    for (nlohmann::ordered_json& group : table_json(source, options)) groups.push_back(std::move(group));
  }
  command.json.write(groups);

  const std::vector<StoredRun> all = all_runs(sources);
  MeansOptions means = means_options(sources.front().presentation, table_options(sources.front(), command));
  if (sources.size() > 1) means.title.clear();  // it is the first one's
  write_means(all, out / "tables", means);
  if (command.json.to_stdout()) return;
  if (command.kind == "means") return print_means(all, means, command.format);
  for (const Source& source : sources) {
    if (&source != &sources.front()) fmt::print("\n");
    print_summary(source, table_options(source, command), command.format);
  }
}

// ---- plot

struct PlotCommand {
  ReadFlags read;
  std::string kinds, quantities, repetitions;
  bool log_seconds = false;
};

bool contains(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

CurveOptions curve_options(const PlotConfig& plot) {
  return {.x = plot.x,
          .quantities = plot.quantities,
          .x_max = plot.x_max,
          .log_seconds = plot.log_seconds,
          .floor = plot.floor,
          .repetitions = plot.repetitions};
}

ProfileOptions profile_options(const Presentation& presentation) {
  ProfileOptions options{
      .kinds = presentation.plot.kinds, .measures = presentation.plot.x, .targets = presentation.targets};
  std::erase(options.kinds, "curves");
  std::erase(options.kinds, "path");
  std::erase(options.kinds, "theory");
  return options;
}

void check_kinds(const std::vector<std::string>& kinds) {
  const std::vector<std::string> known = {"curves", "profile", "ecdf", "path", "theory"};
  for (const std::string& kind : kinds)
    if (std::find(known.begin(), known.end(), kind) == known.end())
      throw Error::usage(fmt::format("--kind {}: expected one of {}{}", kind, fmt::join(known, ", "),
                                     did_you_mean(kind, known)));
}

void draw_paths(const Source& source, const PlotCommand& command, std::vector<fs::path>& figures) {
  require_paths(source.paths, source.folder);
  const std::vector<fs::path> drawn = make_paths(source.paths, command.read.out_folder(source) / "figures",
                                                 command.read.allow_not_comparable);
  if (drawn.empty())
    throw Error::in_file(source.folder.string(), 0, "no path that came to its first point", "one to draw");
  figures.insert(figures.end(), drawn.begin(), drawn.end());
}

void draw_theory(const Source& source, const fs::path& out, std::vector<fs::path>& figures) {
  const nlohmann::json theory = read_theory(source.folder);
  if (theory.is_null())
    throw Error::in_file(source.folder.string(), 0, "no theory.json", "one, as scripts/theory makes it");
  for (const fs::path& figure : make_theory(theory, out / "figures")) figures.push_back(figure);
}

void plot(const PlotCommand& command) {
  std::vector<Source> sources = command.read.read();
  for (Source& source : sources) {
    if (!command.kinds.empty()) source.presentation.plot.kinds = split_list(command.kinds);
    check_kinds(source.presentation.plot.kinds);
  }
  ProfileOptions options = profile_options(sources.front().presentation);
  options.allow_not_comparable = command.read.allow_not_comparable;
  const bool together = !options.kinds.empty();
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
    CurveOptions curves = curve_options(config);
    curves.allow_not_comparable = command.read.allow_not_comparable;
    for (const fs::path& figure :
         make_curves(source.runs, command.read.out_folder(source) / "figures", curves))
      figures.push_back(figure);
  }
  if (together) require_runs(sources);
  if (together)
    for (const fs::path& figure : make_profiles(all_runs(sources), out / "figures", options))
      figures.push_back(figure);
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

void write_result_tables(const std::vector<StoredRun>& runs, const fs::path& out,
                         const Presentation& presentation, const TableOptions& options) {
  write_tables(runs, out / "tables", options);
  write_paper_table(runs, out / "tables", presentation);
  if (presentation.paper.costs) write_cost_table(runs, options.targets, out / "tables");
  if (presentation.paper.data) write_data_table(runs, out / "tables");
  write_means(runs, out / "tables", means_options(presentation, options));
}

void draw_figures_of_run(const std::vector<StoredRun>& runs, const fs::path& out,
                         const Presentation& presentation,
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
  if (contains(drawn.plot.kinds, "curves")) make_curves(runs, out / "figures", curve_options(drawn.plot));
  const ProfileOptions options = profile_options(drawn);
  if (options.kinds.empty()) return;
  try {
    make_profiles(runs, out / "figures", options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUsage) throw;
    warn(fmt::format("solvers are not compared over problems: {}", error.what()));
  }
}

void draw_paths_of_run(const std::vector<StoredPath>& paths, const fs::path& out,
                       const Presentation& presentation,
                       const std::function<void(const std::string&)>& warn) {
  if (paths.empty() || !contains(presentation.plot.kinds, "path")) return;
  for (const StoredPath& path : paths)
    if (!path.run.comparable)
      warn(fmt::format("{}: its seconds are not comparable and are not drawn", run_name(path.run)));
  make_paths(paths, out / "figures");
}

void add_table_command(CLI::App& app) {
  {
    CLI::App* sub =
        app.add_subcommand("table", "Write the tables of stored results to DIR/tables, and print them");
    auto command = std::make_shared<TableCommand>();
    command->read.add_to(*sub);
    sub->add_option(
           "--kind", command->kind,
           "table to print: summary of each DIR; means (shifted geometric means) over the problems of all "
           "DIRs; path, cost and points of the paths of each DIR [summary, or path if there are paths alone]")
        ->check(CLI::IsMember({"summary", "means", "path"}))
        ->type_name("NAME");
    sub->add_option("--format", command->format, "output format: markdown, latex, csv [markdown]")
        ->check(CLI::IsMember({"markdown", "latex", "csv"}))
        ->type_name("NAME");
    sub->add_option(
           "--x", command->read.x,
           "costs to average: seconds, passes, updates, iterations, separated by commas [the config's]")
        ->type_name("NAMES");
    sub->add_option("--shift", command->shift, "shift of the means [the config's]")
        ->check(CLI::PositiveNumber)
        ->type_name("REAL");
    sub->add_option("--par", command->par,
                    "a failure costs this many times its limit in the means, >= 1 [the config's]")
        ->check(CLI::Range(1.0, 1e9))
        ->type_name("REAL");
    command->json.add_to(*sub);
    sub->callback([command] { table(*command); });
  }
  CLI::App* sub = app.add_subcommand(
      "plot", "Draw stored results: curves into DIR/figures, comparisons over the problems of all DIRs");
  auto command = std::make_shared<PlotCommand>();
  command->read.add_to(*sub);
  sub->add_option(
         "--kind", command->kinds,
         "figures to draw: curves, path, theory (see scripts/theory) of each DIR; profile (performance profiles), ecdf (distributions of "
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
