#include "plots/report_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "experiments/results/tables/cost_table.h"
#include "experiments/results/tables/data_table.h"
#include "experiments/results/tables/paper_table.h"
#include "experiments/results/tables/path_table.h"
#include "experiments/results/tables/summary_table.h"
#include "plots/chart_data.h"
#include "plots/curves.h"
#include "plots/facts.h"
#include "plots/paths.h"
#include "plots/quantities.h"
#include "plots/theory.h"

namespace proxbench::report {

namespace fs = std::filesystem;

std::string json_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<Link> existing_files(const fs::path& folder, const std::vector<std::string>& names,
                                 const std::vector<std::string>& extensions) {
  std::vector<Link> links;
  for (const std::string& name : names)
    for (const std::string& extension : extensions)
      if (const std::string file = name + extension; fs::exists(folder / file))
        links.push_back({folder / file, file});
  return links;
}

namespace {

// ---- what is said

/// Each data set in one line, in the order of the runs.
std::vector<std::string> data_lines(const std::vector<Run>& runs) {
  std::vector<std::string> lines;
  for (const Run& run : runs) {
    std::string size;
    for (const auto& [before, count, after] : {std::tuple{"", run.result.instances, " training instances"},
                                               {"", run.result.positions, " positions"},
                                               {"d = ", run.result.d, ""}})
      if (count)
        size +=
            (size.empty() ? " (" : ", ") + (before + with_commas(static_cast<std::int64_t>(*count))) + after;
    const std::string line = run.result.description + (size.empty() ? "" : size + ")");
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  }
  // A run that failed early knows no sizes, which others tell.
  const auto told = [&](const std::string& line) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& other) { return other.starts_with(line + " ("); });
  };
  std::vector<std::string> out;
  std::remove_copy_if(lines.begin(), lines.end(), std::back_inserter(out), told);
  return out;
}

/// The distinct texts that `text_of` gives for the runs, joined.
template <class TextOf>
std::string distinct_texts(const std::vector<Run>& runs, const TextOf& text_of) {
  std::vector<std::string> texts;
  for (const Run& run : runs)
    if (const std::string text = text_of(run);
        !text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(text);
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Of the runs that came to an end: others do not know all of it.
std::string machine_line(const std::vector<Run>& runs) {
  return distinct_texts(runs, [](const Run& run) -> std::string {
    if (run.failed()) return "";
    const Provenance& made = run.provenance;
    std::string text = (made.machine.empty() ? "" : made.machine + ": ") +
                       (made.cpu.empty() ? "unknown processor" : made.cpu);
    if (made.cores > 0) text += fmt::format(", {} cores", made.cores);
    return text + fmt::format(", threads: {}, {}", run.parameters.threads, run.parameters.backend);
  });
}

std::string limit_line(const std::vector<Run>& runs) {
  return distinct_texts(runs, [](const Run& run) -> std::string {
    const double seconds = run.parameters.time_limit;
    return seconds > 0.0 ? fmt::format("{:g} s", seconds) : "no time limit";
  });
}

std::string ended_line(const std::vector<Run>& runs) {
  std::size_t converged = 0, failed = 0;
  for (const Run& run : runs) {
    converged += run.status() == "converged" || run.status() == "gap-reached" ? 1 : 0;
    failed += run.failed() ? 1 : 0;
  }
  return fmt::format("{} of {} runs reached their tolerance", converged, runs.size()) +
         (failed > 0 ? fmt::format(", {} failed", failed) : "");
}

/// "prox-qn 3.1 s, owl-qn 40 s; not reached: sgd", at the smallest target that any solver reached and that f*
/// is exact enough for.
std::string order_line(const TableGroup& group, const std::vector<double>& targets) {
  const std::string what =
      fmt::format("{}, {}", group.dataset, penalty_symbols({group.lambda, group.mu}, group.loss));
  for (std::size_t i = targets.size(); i-- > 0;) {
    if (!(targets[i] >= group.accuracy)) continue;
    std::vector<std::tuple<double, double, std::string>> reached;
    std::vector<std::string> not_reached;
    for (const TableRow& row : group.rows) {
      if (std::isnan(row.seconds[i]))
        not_reached.push_back(row.label);
      else
        reached.emplace_back(row.seconds[i], row.spread.seconds_from[i].median, row.label);
    }
    if (reached.empty()) continue;
    std::sort(reached.begin(), reached.end());
    std::string out = fmt::format("{}, to (f − f*)/f* ≤ {:g}: ", what, targets[i]);
    for (const auto& [seconds, from, label] : reached)
      out += fmt::format("{}{} {}{:.3g} s", out.ends_with(": ") ? "" : ", ", label,
                         is_wide({from, seconds}) ? fmt::format("{:.3g} to ", from) : "", seconds);
    if (!not_reached.empty()) out += fmt::format("; not reached: {}", fmt::join(not_reached, ", "));
    return out + ".";
  }
  if (!(targets.front() >= group.accuracy))
    return fmt::format("{}: none can be told, f* is proven to a relative accuracy of {:.1e} only.", what,
                       group.accuracy);
  return fmt::format("{}: no solver reached (f − f*)/f* ≤ {:g}.", what, targets.front());
}

/// One line for each data set and penalty with several solvers; of runs whose timings can be compared.
std::vector<std::string> order_lines(const std::vector<Run>& runs, const TableOptions& options) {
  std::vector<Run> timed;
  for (const Run& run : runs)
    if (run.timing.comparable && !run.failed()) timed.push_back(run);
  std::vector<std::string> lines;
  for (const TableGroup& group : summarize(timed, options))
    if (group.rows.size() > 1) lines.push_back(order_line(group, options.targets));
  return lines;
}

std::vector<Passage> passages(const Presentation& presentation, const Section& section,
                              std::vector<std::string> order) {
  std::vector<Passage> out;
  const auto add = [&](const char* heading, std::vector<std::string> paragraphs) {
    paragraphs.erase(std::remove(paragraphs.begin(), paragraphs.end(), ""), paragraphs.end());
    if (!paragraphs.empty()) out.push_back({heading, std::move(paragraphs)});
  };
  const PaperConfig& paper = presentation.paper;
  add("The paper", {paper.caption, paper.reports});
  add("What differs, and why", {paper.differs});
  add("Data here", section.data);
  const std::string machines = machine_line(section.runs), limit = limit_line(section.runs);
  add("Made on", {machines.empty() ? "" : machines + ".",
                  section.ended + (limit.empty() ? "." : fmt::format("; limit of a run: {}.", limit))});
  if (section.tables.empty()) add("Order of the solvers here", std::move(order));
  return out;
}

// ---- provenance

/// The members of a JSON object as text, those of objects in it as "outer.inner".
void flatten(const nlohmann::ordered_json& object, const std::string& prefix,
             std::vector<std::pair<std::string, std::string>>& out) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object())
      flatten(value, prefix + key + ".", out);
    else
      out.emplace_back(prefix + key, value.is_string() ? value.get<std::string>() : json_text(value));
  }
}

Origins provenance_of(const std::vector<Run>& runs) {
  std::vector<std::map<std::string, std::string>> told;
  std::vector<std::string> keys;
  for (const Run& run : runs) {
    std::vector<std::pair<std::string, std::string>> facts;
    flatten(run_json(run).at("provenance"), "", facts);
    for (const auto& [key, value] : facts)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    told.emplace_back(facts.begin(), facts.end());
  }
  Origins out{{"The same for all runs", {}, {"what", "value"}, 2, {}}, {"Different", {}, {"run"}, 1, {}}};
  for (const Run& run : runs) out.differing.rows.push_back({run.folder.filename().string()});
  for (const std::string& key : keys) {
    const auto value = [&](std::size_t i) {
      const auto found = told[i].find(key);
      return found == told[i].end() ? "-" : found->second;
    };
    bool same = true;
    for (std::size_t i = 1; i < runs.size(); ++i) same = same && value(i) == value(0);
    if (same) {
      out.same.rows.push_back({key, value(0)});
      continue;
    }
    out.differing.head.push_back(key);
    for (std::size_t i = 0; i < runs.size(); ++i) out.differing.rows[i].push_back(value(i));
  }
  out.differing.text_columns = out.differing.head.size();
  return out;
}

/// Where it is stored.
void add_picture(std::vector<Picture>& pictures, const fs::path& figures, const std::string& name,
                 const std::string& about) {
  if (const fs::path file = figures / (name + ".svg"); fs::exists(file))
    pictures.push_back({read_file(file, "a figure"), about});
}

/// `runs`: those of single penalties.
Paths paths_of(const std::vector<StoredPath>& paths, const std::vector<Run>& runs, const fs::path& figures) {
  Paths out;
  for (const PathFigure& figure : path_figures(paths))
    add_picture(out.pictures, figures, figure.name, figure.about);
  out.points = path_tables(paths, runs);
  out.costs = std::move(out.points.front());
  out.points.erase(out.points.begin());
  return out;
}

Theory theory_of(const nlohmann::json& theory, const fs::path& figures) {
  Theory out{{}, theory_tables(theory)};
  for (const std::string& name : theory_names(theory))
    add_picture(out.pictures, figures, name,
                name + ": error, its ratio and the Dennis-Moré ratio against iterations");
  return out;
}

}  // namespace

Section make_section(const fs::path& results, const std::function<void(const std::string&)>& warn) {
  const Presentation presentation = load_presentation(results / "config.ini");
  TableOptions options;
  options.targets = presentation.targets;
  std::sort(options.targets.begin(), options.targets.end(), std::greater<>());

  Section section;
  std::vector<Run> runs = read_all_runs(results, presentation);
  if (const std::string left_out = leave_out_strangers(results, presentation, runs); !left_out.empty())
    warn(left_out);
  tell_machines_apart(runs);
  section.runs = runs;
  section.id =
      file_name_part(presentation.name.empty() ? runs.front().parameters.experiment : presentation.name);
  section.heading = presentation.paper.item.empty() ? section.id : presentation.paper.item;
  section.title = presentation.title;
  section.synthetic = std::any_of(runs.begin(), runs.end(),
                                  [](const Run& run) { return says_synthetic(run.result.description); });
  section.data = data_lines(runs);
  section.ended = ended_line(runs);
  section.provenance = provenance_of(runs);
  const std::vector<StoredPath> paths = take_paths(runs);
  if (!paths.empty()) section.paths = paths_of(paths, runs, results / "figures");
  const nlohmann::json theory = read_theory(results);
  if (!theory.is_null()) section.theory = theory_of(theory, results / "figures");
  if (!runs.empty()) {
    section.summaries = summary_tables(summarize(runs, options), options);
    section.charts = chart_data(runs, presentation.plot);
  }
  if (!runs.empty() && !presentation.paper.lambdas.empty())
    section.tables.push_back(paper_table(compare_with_paper(runs, presentation), presentation));
  if (!runs.empty() && presentation.paper.costs) section.tables.push_back(cost_table(runs, options.targets));
  if (presentation.paper.data) section.tables.push_back(data_table(section.runs));
  section.passages = passages(presentation, section, order_lines(runs, options));
  for (Run& run : section.runs) run.trace = {};  // the charts hold what is shown of them
  if (fs::exists(results / "config.ini")) section.config = read_file(results / "config.ini", "a config");
  section.tables_files = existing_files(results / "tables", {"costs", "data", "paper", "summary", "path"},
                                        {".md", ".tex", ".csv"});
  std::vector<std::string> figures = curve_names(runs);
  for (const PathFigure& figure : path_figures(paths)) figures.push_back(figure.name);
  if (section.theory)
    for (const std::string& name : theory_names(theory)) figures.push_back(name);
  section.figure_files =
      existing_files(results / "figures", figures, {".svg", ".pdf", ".png", ".tsv", ".gp"});
  return section;
}

}  // namespace proxbench::report
