#include "plots/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/results/results.h"
#include "experiments/results/tables/data_table.h"
#include "experiments/results/tables/paper_table.h"
#include "experiments/results/tables/path_table.h"
#include "experiments/results/tables/summary_table.h"
#include "plots/chart_data.h"
#include "plots/chart_library.h"
#include "plots/curves.h"
#include "plots/facts.h"
#include "plots/paths.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSynthetic = "SYNTHETIC DATA";
/// The summaries of more data sets and penalties than this are folded.
constexpr std::size_t kOpenTables = 4;

/// A heading and its paragraphs.
struct Passage {
  std::string heading;
  std::vector<std::string> paragraphs;
};

/// A file, and how the page names it.
struct Link {
  fs::path file;
  std::string name;
};

/// What is the same in the provenance of all runs, and what is not: a row a run.
struct Provenance {
  TextTable same, differing;
};

/// A figure that the page holds.
struct Picture {
  std::string svg, about;
};

/// What the page shows of regularisation paths.
struct Paths {
  std::vector<Picture> pictures;
  TextTable costs;
  std::vector<TextTable> points;  ///< of each path
};

/// What the page shows of one experiment.
struct Section {
  std::string id, heading, title;
  bool synthetic = false;
  std::vector<StoredRun> runs;       ///< paths, too
  std::vector<std::string> data;     ///< a description each
  std::string ended;                 ///< how many runs reached their tolerance
  std::vector<Passage> passages;     ///< what is said, the paper first
  std::vector<TextTable> tables;     ///< ours beside the paper's
  std::vector<TextTable> summaries;  ///< times and ends of all runs
  nlohmann::json charts;             ///< null: all runs are paths
  std::optional<Paths> paths;
  Provenance provenance;
  std::string config;  ///< config.ini; empty: there is none
  std::vector<Link> tables_files, figure_files;
};

/// Bytes that are no UTF-8 become the replacement character.
std::string json_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Text of a member of an object, empty where it is not there or null.
std::string member_text(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// ---- what is said

/// Each data set in one line, in the order of the runs.
std::vector<std::string> data_lines(const std::vector<StoredRun>& runs) {
  std::vector<std::string> lines;
  for (const StoredRun& run : runs) {
    std::string size;
    for (const auto& [before, key, after] : {std::tuple{"", "instances", " training instances"},
                                             {"", "positions", " positions"},
                                             {"d = ", "d", ""}})
      if (const std::string value = distinct_counts({&run}, key); !value.empty())
        size += (size.empty() ? " (" : ", ") + (before + value) + after;
    const std::string line = run.description + (size.empty() ? "" : size + ")");
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
std::string distinct_texts(const std::vector<StoredRun>& runs, const TextOf& text_of) {
  std::vector<std::string> texts;
  for (const StoredRun& run : runs)
    if (const std::string text = text_of(run);
        !text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(text);
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// {cpu, cores} where the run tells them.
nlohmann::json machine_of(const StoredRun& run) {
  const nlohmann::json none = nlohmann::json::object();
  const nlohmann::json provenance = run.summary.value("provenance", none);
  return provenance.contains("machine") ? provenance["machine"] : run.summary.value("run", none);
}

/// Of the runs that came to an end: others do not know all of it.
std::string machine_line(const std::vector<StoredRun>& runs) {
  return distinct_texts(runs, [](const StoredRun& run) -> std::string {
    if (failed_status(run.status)) return "";
    const nlohmann::json machine = machine_of(run);
    const std::string cpu = member_text(machine, "cpu"), backend = member_text(run.summary, "backend");
    std::string text =
        (run.machine.empty() ? "" : run.machine + ": ") + (cpu.empty() ? "unknown processor" : cpu);
    if (const double cores = number_at(machine, "/cores"); !std::isnan(cores))
      text += fmt::format(", {} cores", cores);
    if (const std::string threads = distinct_counts({&run}, "threads"); !threads.empty())
      text += ", threads: " + threads;
    return text + (backend.empty() ? "" : ", " + backend);
  });
}

std::string limit_line(const std::vector<StoredRun>& runs) {
  return distinct_texts(runs, [](const StoredRun& run) -> std::string {
    const double seconds = number_at(run.summary, "/run/time_limit");
    if (std::isnan(seconds)) return "";
    return seconds > 0.0 ? fmt::format("{:g} s", seconds) : "no time limit";
  });
}

std::string ended_line(const std::vector<StoredRun>& runs) {
  std::size_t converged = 0, failed = 0;
  for (const StoredRun& run : runs) {
    converged += run.status == "converged" || run.status == "gap-reached" ? 1 : 0;
    failed += failed_status(run.status) ? 1 : 0;
  }
  return fmt::format("{} of {} runs reached their tolerance", converged, runs.size()) +
         (failed > 0 ? fmt::format(", {} failed", failed) : "");
}

/// How well f* of the group is known: targets below that say nothing.
double reference_accuracy(const std::vector<StoredRun>& runs, const TableGroup& group) {
  double accuracy = 0.0;
  for (const StoredRun& run : runs)
    if (run.dataset == group.dataset && run.lambda == group.lambda && run.mu == group.mu &&
        run.loss == group.loss) {
      const double bound = reference_bound(run);
      if (!(bound <= accuracy)) accuracy = bound;
    }
  return accuracy;
}

/// "prox-qn 3.1 s, owl-qn 40 s; not reached: sgd", at the smallest target that any solver reached and that f*
/// is exact enough for.
std::string order_line(const TableGroup& group, const std::vector<double>& targets, double accuracy) {
  const std::string what =
      fmt::format("{}, {}", group.dataset, penalty_symbols({group.lambda, group.mu}, group.loss));
  for (std::size_t i = targets.size(); i-- > 0;) {
    if (!(targets[i] >= accuracy)) continue;
    std::vector<std::pair<double, std::string>> reached;
    std::vector<std::string> not_reached;
    for (const TableRow& row : group.rows) {
      if (std::isnan(row.seconds[i]))
        not_reached.push_back(row.label);
      else
        reached.emplace_back(row.seconds[i], row.label);
    }
    if (reached.empty()) continue;
    std::sort(reached.begin(), reached.end());
    std::string out = fmt::format("{}, to (f − f*)/f* ≤ {:g}: ", what, targets[i]);
    for (std::size_t k = 0; k < reached.size(); ++k)
      out += fmt::format("{}{} {:.3g} s", k ? ", " : "", reached[k].second, reached[k].first);
    if (!not_reached.empty()) out += fmt::format("; not reached: {}", fmt::join(not_reached, ", "));
    return out + ".";
  }
  if (!(targets.front() >= accuracy))
    return fmt::format("{}: none can be told, f* is proven to a relative accuracy of {:.1e} only.", what,
                       accuracy);
  return fmt::format("{}: no solver reached (f − f*)/f* ≤ {:g}.", what, targets.front());
}

/// One line for each data set and penalty with several solvers; of runs whose timings can be compared.
std::vector<std::string> order_lines(const std::vector<StoredRun>& runs, const TableOptions& options) {
  std::vector<StoredRun> timed;
  for (const StoredRun& run : runs)
    if (run.comparable && !failed_status(run.status)) timed.push_back(run);
  std::vector<std::string> lines;
  for (const TableGroup& group : summarize(timed, options))
    if (group.rows.size() > 1)
      lines.push_back(order_line(group, options.targets, reference_accuracy(timed, group)));
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
void flatten(const nlohmann::json& object, const std::string& prefix,
             std::vector<std::pair<std::string, std::string>>& out) {
  for (const auto& [key, value] : object.items()) {
    if (value.is_object())
      flatten(value, prefix + key + ".", out);
    else
      out.emplace_back(prefix + key, value.is_string() ? value.get<std::string>() : json_text(value));
  }
}

Provenance provenance_of(const std::vector<StoredRun>& runs) {
  std::vector<std::map<std::string, std::string>> told;
  std::vector<std::string> keys;
  for (const StoredRun& run : runs) {
    std::vector<std::pair<std::string, std::string>> facts;
    flatten(run.summary.value("provenance", nlohmann::json::object()), "", facts);
    for (const auto& [key, value] : facts)
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    told.emplace_back(facts.begin(), facts.end());
  }
  Provenance out{{"The same for all runs", {}, {"what", "value"}, 2, {}}, {"Different", {}, {"run"}, 1, {}}};
  for (const StoredRun& run : runs) out.differing.rows.push_back({run.folder.filename().string()});
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

// ---- files

std::vector<Link> existing_files(const fs::path& folder, const std::vector<std::string>& names,
                                 const std::vector<std::string>& extensions) {
  std::vector<Link> links;
  for (const std::string& name : names)
    for (const std::string& extension : extensions)
      if (const std::string file = name + extension; fs::exists(folder / file))
        links.push_back({folder / file, file});
  return links;
}

/// `runs`: those of single penalties.
Paths paths_of(const std::vector<StoredPath>& paths, const std::vector<StoredRun>& runs,
               const fs::path& figures) {
  Paths out;
  for (const PathFigure& figure : path_figures(paths))
    if (const fs::path file = figures / (figure.name + ".svg"); fs::exists(file))
      out.pictures.push_back({read_file(file, "a figure"), figure.about});
  out.points = path_tables(paths, runs);
  out.costs = std::move(out.points.front());
  out.points.erase(out.points.begin());
  return out;
}

Section make_section(const fs::path& results) {
  const Presentation presentation = load_presentation(results / "config.ini");
  TableOptions options;
  options.targets = presentation.targets;
  std::sort(options.targets.begin(), options.targets.end(), std::greater<>());

  Section section;
  std::vector<StoredRun> runs = read_all_runs(results);
  tell_machines_apart(runs);
  section.runs = runs;
  section.id = file_name_part(presentation.name.empty() ? runs.front().experiment : presentation.name);
  section.heading = presentation.paper.item.empty() ? section.id : presentation.paper.item;
  section.title = presentation.title;
  section.synthetic = std::any_of(runs.begin(), runs.end(),
                                  [](const StoredRun& run) { return says_synthetic(run.description); });
  section.data = data_lines(runs);
  section.ended = ended_line(runs);
  section.provenance = provenance_of(runs);
  const std::vector<StoredPath> paths = take_paths(runs);
  if (!paths.empty()) section.paths = paths_of(paths, runs, results / "figures");
  if (!runs.empty()) {
    section.summaries = summary_tables(summarize(runs, options), options);
    section.charts = chart_data(runs, presentation.plot);
  }
  if (!runs.empty() && !presentation.paper.lambdas.empty())
    section.tables.push_back(paper_table(compare_with_paper(runs, presentation), presentation));
  if (presentation.paper.data) section.tables.push_back(data_table(section.runs));
  section.passages = passages(presentation, section, order_lines(runs, options));
  for (StoredRun& run : section.runs) run.trace = {};  // the charts hold what is shown of them
  if (fs::exists(results / "config.ini")) section.config = read_file(results / "config.ini", "a config");
  section.tables_files =
      existing_files(results / "tables", {"data", "paper", "summary", "path"}, {".md", ".tex", ".csv"});
  std::vector<std::string> figures = curve_names(runs);
  for (const PathFigure& figure : path_figures(paths)) figures.push_back(figure.name);
  section.figure_files =
      existing_files(results / "figures", figures, {".svg", ".pdf", ".png", ".tsv", ".gp"});
  return section;
}

// ---- HTML

/// As it can stand in an address.
std::string percent_encoded(const std::string& bytes) {
  std::string out;
  for (const char c : bytes) {
    if (std::isalnum(static_cast<unsigned char>(c)) ||
        std::string_view("-_.~/").find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

/// The path of a file as a link from a page in the folder.
std::string relative_url(const fs::path& file, const fs::path& folder) {
  return percent_encoded(
      fs::weakly_canonical(file).lexically_proximate(fs::weakly_canonical(folder)).generic_string());
}

std::string link_html(const Link& link, const fs::path& folder) {
  return fmt::format("<a href=\"{}\">{}</a>", relative_url(link.file, folder), html_text(link.name));
}

std::string links_html(const std::vector<Link>& links, const fs::path& folder) {
  std::vector<std::string> out;
  for (const Link& link : links) out.push_back(link_html(link, folder));
  return fmt::format("{}", fmt::join(out, " · "));
}

/// A box that scrolls by itself, also by keyboard.
std::string scroll_html(const std::string& label, const std::string& inside) {
  return fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">\n{}</div>\n",
                     html_text(label), inside);
}

std::string table_html(const TextTable& table) {
  std::string out = fmt::format("<h3>{}</h3>\n", html_text(table.caption));
  for (const std::string& note : table.notes) out += fmt::format("<p>{}</p>\n", html_text(note));
  out += scroll_html(table.caption, html_grid(table));
  for (const std::string& note : table.footnotes) out += fmt::format("<p>{}</p>\n", html_text(note));
  return out;
}

std::string details_html(const std::string& summary, const std::string& inside, const char* attributes = "") {
  return fmt::format("<details{}>\n<summary>{}</summary>\n{}</details>\n", attributes, html_text(summary),
                     inside);
}

std::string failures_html(const std::vector<StoredRun>& runs) {
  TextTable table{"Runs that failed", {}, {"run", "status", "reason"}, 3, {}};
  for (const StoredRun& run : runs) {
    const std::string reason = member_text(run.summary, "reason");
    if (failed_status(run.status))
      table.rows.push_back({run.folder.filename().string(), run.status, reason.empty() ? "-" : reason});
  }
  return table.rows.empty() ? "" : "<div class=\"failures\">\n" + table_html(table) + "</div>\n";
}

std::string not_comparable_html(const std::vector<StoredRun>& runs) {
  TextTable table{
      "Timings that are not comparable",
      {"Charts leave these runs out where they show seconds, and no order of the solvers counts them."},
      {"run", "reason"},
      2,
      {}};
  for (const StoredRun& run : runs) {
    if (run.comparable) continue;
    const std::string reason = member_text(run.summary.at("timing"), "not_comparable_because");
    table.rows.push_back({run.folder.filename().string(), reason.empty() ? "-" : reason});
  }
  return table.rows.empty() ? "" : table_html(table);
}

std::string runs_html(const std::vector<StoredRun>& runs, const fs::path& folder) {
  std::string rows;
  for (const StoredRun& run : runs)
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", html_text(run.folder.filename().string()),
        html_text(run.status),
        links_html(existing_files(run.folder, {"manifest.json", "path.csv", "trace.csv", "model.tsv"}, {""}),
                   folder));
  return scroll_html("Runs and their files",
                     "<table>\n<thead>\n<tr><th scope=\"col\">run</th><th scope=\"col\">status</th>"
                     "<th scope=\"col\">files</th></tr>\n</thead>\n<tbody>\n" +
                         rows + "</tbody>\n</table>\n");
}

std::string provenance_html(const Provenance& provenance) {
  std::string out;
  if (!provenance.same.rows.empty()) out += table_html(provenance.same);
  if (provenance.differing.head.size() > 1) out += table_html(provenance.differing);
  return out.empty() ? "" : "<div class=\"provenance\">\n" + out + "</div>\n";
}

std::string heading_text(const Section& section) {
  return fmt::format("{}{}: {}", section.synthetic ? std::string(kSynthetic) + ": " : "", section.heading,
                     section.title);
}

/// JSON that can stand in a script element: no "<" can end it or open a comment.
std::string json_in_html(const nlohmann::json& json) {
  std::string out;
  for (const char c : json_text(json)) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string chart_html(const Section& section) {
  return fmt::format(
      "<figure class=\"chart\" id=\"chart-{0}\" aria-label=\"Curves of {1}\">\n"
      "<noscript><p>The curves need JavaScript; all else on this page does not.</p></noscript>\n"
      "<script type=\"application/json\">{2}</script>\n</figure>\n",
      section.id, html_text(section.heading), json_in_html(section.charts));
}

std::string summaries_html(const Section& section) {
  if (section.summaries.empty()) return "";
  std::string out;
  for (const TextTable& table : section.summaries) out += table_html(table);
  return details_html(
      section.paths ? "Times and ends of all runs of single penalties" : "Times and ends of all runs", out,
      section.summaries.size() <= kOpenTables ? " class=\"printed\" open" : " class=\"printed\"");
}

std::string picture_html(const Picture& picture) {
  return fmt::format("<img src=\"data:image/svg+xml,{}\" alt=\"{}\">\n", percent_encoded(picture.svg),
                     html_text(picture.about));
}

std::string paths_html(const Paths& paths) {
  std::string out;
  for (const Picture& picture : paths.pictures) out += picture_html(picture);
  out = out.empty() ? "<p>No figure of a path is stored; <code>proxbench plot DIR --kind path</code> draws "
                      "them.</p>\n"
                    : "<div class=\"pictures\">\n" + out + "</div>\n";
  out = "<h3>Regularisation paths</h3>\n" + out + table_html(paths.costs);
  for (const TextTable& table : paths.points)
    out += details_html("Points: " + table.caption, table_html(table), " class=\"printed\"");
  return out;
}

std::string files_html(const Section& section, const fs::path& folder) {
  std::string out;
  for (const auto& [what, links] :
       {std::pair{"Tables", &section.tables_files}, std::pair{"Figures for print", &section.figure_files}})
    if (!links->empty())
      out += fmt::format("<p class=\"files\">{}: {}</p>\n", what, links_html(*links, folder));
  return out;
}

std::string section_html(const Section& section, const fs::path& folder) {
  std::string out =
      fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, html_text(heading_text(section)));
  if (section.synthetic)
    out += fmt::format("<p class=\"synthetic\">{}: generated, not the data of the paper.</p>\n", kSynthetic);
  out += "<div class=\"said\">\n";
  for (const Passage& passage : section.passages) {
    out += fmt::format("<div>\n<h3>{}</h3>\n", html_text(passage.heading));
    for (const std::string& paragraph : passage.paragraphs)
      out += fmt::format("<p>{}</p>\n", html_text(paragraph));
    out += "</div>\n";
  }
  out += "</div>\n";
  for (const TextTable& table : section.tables) out += table_html(table);
  if (!section.charts.is_null()) out += chart_html(section);
  if (section.paths) out += paths_html(*section.paths);
  out += failures_html(section.runs) + summaries_html(section) + not_comparable_html(section.runs);
  out += details_html("Runs and their files", runs_html(section.runs, folder) + files_html(section, folder));
  if (const std::string told = provenance_html(section.provenance); !told.empty())
    out += details_html("Where, when and with what it was made", told);
  if (!section.config.empty())
    out +=
        details_html("Config", scroll_html("config.ini", "<pre>" + html_text(section.config) + "</pre>\n"));
  return out + "</section>\n";
}

std::string contents_html(const std::vector<Section>& sections) {
  std::string out =
      "<table class=\"contents\">\n<thead>\n<tr><th scope=\"col\">what</th><th scope=\"col\">title</th>"
      "<th scope=\"col\">data</th><th scope=\"col\">runs</th></tr>\n</thead>\n<tbody>\n";
  for (const Section& section : sections)
    out +=
        fmt::format("<tr><td><a href=\"#{}\">{}</a></td><td>{}</td><td>{}{}</td><td>{}</td></tr>\n",
                    section.id, html_text(section.heading), html_text(section.title),
                    section.synthetic ? fmt::format("<strong>{}</strong> ", kSynthetic) : "",
                    html_text(section.data.front()) +
                        (section.data.size() > 1 ? fmt::format(" and {} more", section.data.size() - 1) : ""),
                    html_text(section.ended));
  return "<nav aria-label=\"Contents\">\n" + scroll_html("Contents", out + "</tbody>\n</table>\n") +
         "</nav>\n";
}

/// The page may load nothing from anywhere: whatever names in the results say, it stays alone.
constexpr const char* kAlone =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:\">";

std::string html_page(const std::vector<Section>& sections, const ReportOptions& options,
                      const ChartLibrary& library, const fs::path& folder) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{}\n"
      "<title>{}</title>\n<style>\n{}\n{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
      kAlone, html_text(options.title), library.style, report_style(), html_text(options.title));
  for (const std::string& note : options.notes) out += fmt::format("<p>{}</p>\n", html_text(note));
  if (sections.size() > 1) out += contents_html(sections);
  for (const Section& section : sections) out += section_html(section, folder);
  out += "</main>\n<footer>\n<p>Made by proxbench from stored results.</p>\n";
  out += details_html("Charts are drawn by dygraphs: its licence",
                      fmt::format("<pre>{}</pre>\n", html_text(std::string(chart_library_licence()))));
  out += fmt::format("</footer>\n<script>\n{}\n</script>\n<script>\n{}</script>\n", library.script,
                     report_script());
  return out + "</body>\n</html>\n";
}

}  // namespace

void write_report(const std::vector<fs::path>& results, const fs::path& page, const ReportOptions& options) {
  if (results.empty()) throw Error::usage("no results to report on");
  if (std::error_code ignored; fs::is_directory(page, ignored))
    throw Error::usage(page.string() + ": found a folder, expected the name of an HTML file");
  const ChartLibrary library = load_chart_library();

  std::vector<Section> sections;
  std::set<std::string> ids;
  for (const fs::path& one : results) {
    sections.push_back(make_section(one));
    if (!ids.insert(sections.back().id).second)
      throw Error::usage(fmt::format("{}: found a second experiment named '{}', expected each name once",
                                     one.string(), sections.back().id));
  }
  const fs::path folder = fs::absolute(page).parent_path();
  make_folder(folder);
  write_file_atomically(page, html_page(sections, options, library, folder));
}

}  // namespace proxbench
