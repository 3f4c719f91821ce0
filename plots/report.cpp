#include "plots/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/results/field_csv.h"
#include "experiments/results/tables/path_table.h"
#include "experiments/results/tables/result_tables.h"
#include "plots/figures.h"
#include "plots/html.h"
#include "plots/page_charts.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// If there are more data sets and penalties than this, their summaries are folded.
constexpr std::size_t kOpenTables = 4;

/// The part of the page about one experiment: its row in the table of contents, and everything below its
/// heading.
struct Section {
  std::string id, heading, title;
  std::string warning;            ///< data_warnings()
  std::vector<std::string> data;  ///< one description each
  std::string ended;              ///< how many runs reached their tolerance
  std::string body;
};

// ---- texts

/// Returns one line for each data set, in the order of the runs.
std::vector<std::string> data_lines(const std::vector<Run>& runs) {
  std::vector<std::string> lines = distinct(runs, [](const Run& run) {
    std::vector<std::string> sizes;
    for (const auto& [before, count, after] : {std::tuple{"", run.result.instances, " training instances"},
                                               {"", run.result.positions, " positions"},
                                               {"d = ", run.result.d, ""}})
      if (count) sizes.push_back(before + with_commas(static_cast<std::int64_t>(*count)) + after);
    return run.result.description + (sizes.empty() ? "" : fmt::format(" ({})", fmt::join(sizes, ", ")));
  });
  // A run that failed early has no sizes. Other runs have them.
  const std::vector<std::string> all = lines;
  std::erase_if(lines, [&](const std::string& line) {
    return std::ranges::any_of(all, [&](const std::string& other) { return other.starts_with(line + " ("); });
  });
  return lines;
}

/// Returns the distinct texts that `text_of` gives for the runs, joined.
template <class TextOf>
std::string distinct_texts(const std::vector<Run>& runs, const TextOf& text_of) {
  std::vector<std::string> texts = distinct(runs, text_of);
  std::erase(texts, "");
  return fmt::format("{}", fmt::join(texts, "; "));
}

/// Uses only runs that came to an end, because others lack some facts.
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
  const auto failed = std::ranges::count_if(runs, &Run::failed);
  return fmt::format("{} of {} runs reached their tolerance{}",
                     std::ranges::count_if(runs, &Run::reached_tolerance), runs.size(),
                     failed > 0 ? fmt::format(", {} failed", failed) : "");
}

/// Returns e.g. "prox-newton 3.1 s, owl-qn 40 s; not reached: sgd". It uses the smallest target that any
/// solver reached and for which f* is exact enough.
std::string order_line(const TableGroup& group, const std::vector<double>& targets) {
  const std::string what =
      fmt::format("{}, {}", dataset_of(group.first()), penalty_symbols(group.first().parameters));
  for (std::size_t i = targets.size(); i-- > 0;) {
    if (!(targets[i] >= group.accuracy)) continue;
    std::vector<const TableRow*> reached;
    std::vector<std::string> not_reached, texts;
    for (const TableRow& row : group.rows)
      if (std::isfinite(row.figures[i].to.median))
        reached.push_back(&row);
      else
        not_reached.push_back(row.label);
    if (reached.empty()) continue;
    std::ranges::stable_sort(reached, {}, [&](const TableRow* row) {
      return std::tuple(row->figures[i].to.median, row->figures[i].from.median);
    });
    for (const TableRow* row : reached) {
      const CostRange seconds = row->figures[i].medians();
      texts.push_back(fmt::format("{} {}{:.3g} s", row->label,
                                  is_wide(seconds) ? fmt::format("{:.3g} to ", seconds.from) : "",
                                  seconds.to));
    }
    return fmt::format("{}, to (f − f*)/f* ≤ {:g}: {}{}{}.", what, targets[i], fmt::join(texts, ", "),
                       not_reached.empty() ? "" : "; not reached: ", fmt::join(not_reached, ", "));
  }
  if (!(targets.front() >= group.accuracy))
    return fmt::format("{}: none can be told, f* is proven to a relative accuracy of {:.1e} only.", what,
                       group.accuracy);
  return fmt::format("{}: no solver reached (f − f*)/f* ≤ {:g}.", what, targets.front());
}

/// Returns one line for each data set and penalty with several solvers, from runs with comparable timings.
std::vector<std::string> order_lines(std::vector<Run> runs, const std::vector<double>& targets) {
  std::erase_if(runs, [](const Run& run) { return !run.timing.comparable || run.failed(); });
  std::vector<std::string> lines;
  for (const TableGroup& group : summarize(runs, {.targets = targets}).groups)
    if (group.rows.size() > 1) lines.push_back(order_line(group, targets));
  return lines;
}

/// Returns a heading and its paragraphs, or nothing if all are empty.
std::string passage_html(const char* heading, const std::vector<std::string>& paragraphs) {
  std::string out;
  for (const std::string& paragraph : paragraphs)
    if (!paragraph.empty()) out += fmt::format("<p>{}</p>\n", html_text(paragraph));
  return out.empty() ? "" : fmt::format("<div>\n<h3>{}</h3>\n{}</div>\n", heading, out);
}

/// `order` holds the lines of order_lines().
std::string passages_html(const PaperConfig& paper, const Section& section, const std::vector<Run>& runs,
                          const std::vector<std::string>& order) {
  const std::string machines = machine_line(runs), limit = limit_line(runs);
  return "<div class=\"said\">\n" + passage_html("The paper", {paper.caption, paper.reports}) +
         passage_html("What differs, and why", {paper.differs}) + passage_html("Data here", section.data) +
         passage_html("Made on",
                      {machines.empty() ? "" : machines + ".",
                       section.ended + (limit.empty() ? "." : fmt::format("; limit of a run: {}.", limit))}) +
         passage_html("Order of the solvers here", order) + "</div>\n";
}

// ---- parts of a section

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

/// Lists the runs that failed, and the runs whose timings are not comparable.
std::string troubles_html(const std::vector<Run>& runs) {
  TextTable failed{"Runs that failed", {}, {"run", "status", "reason"}, 3};
  TextTable alone{
      "Timings that are not comparable",
      {"Charts leave these runs out where they show seconds, and no order of the solvers counts them."},
      {"run", "reason"},
      2};
  for (const Run& run : runs) {
    const std::string name = run.folder.filename().string();
    if (run.failed()) failed.rows.push_back({name, run.status(), or_dash(run.result.reason)});
    if (!run.timing.comparable) alone.rows.push_back({name, or_dash(run.timing.not_comparable_because)});
  }
  return (failed.rows.empty() ? "" : "<div class=\"failures\">\n" + table_html(failed) + "</div>\n") +
         (alone.rows.empty() ? "" : table_html(alone));
}

std::string runs_html(const std::vector<Run>& runs, const fs::path& folder) {
  TextTable table{"Runs and their files", {}, {"run", "status", "files"}, 3};
  table.html = true;
  for (const Run& run : runs)
    table.rows.push_back({html_text(run.folder.filename().string()), html_text(run.status()),
                          links_html({run.folder / "manifest.json", run.folder / "path.csv",
                                      run.folder / "trace.csv", run.folder / "model.tsv"},
                                     folder)});
  return scroll_html(table.caption, html_grid(table));
}

/// Shows the provenance that all runs share, then the rest with one row per run.
std::string provenance_html(const std::vector<Run>& runs) {
  TextTable common{"The same for all runs", {}, {"what", "value"}, 2, {}};
  TextTable differing{"Different", {}, {"run"}, 1, {}};
  for (const Run& run : runs) differing.rows.push_back({run.folder.filename().string()});
  for (const Field<Run>& field : run_fields()) {
    if (!field.section.starts_with("provenance")) continue;
    std::vector<std::string> values;
    for (const Run& run : runs) values.push_back(or_dash(csv_value(field.get(run))));
    if (std::ranges::count(values, values.front()) == std::ssize(values)) {
      if (values.front() != "-") common.rows.push_back({column_name(field), values.front()});
      continue;
    }
    differing.head.push_back(column_name(field));
    for (std::size_t i = 0; i < runs.size(); ++i) differing.rows[i].push_back(values[i]);
  }
  differing.text_columns = differing.head.size();
  return "<div class=\"provenance\">\n" + (common.rows.empty() ? "" : table_html(common)) +
         (differing.head.size() > 1 ? table_html(differing) : "") + "</div>\n";
}

/// Runs that only measure sizes have one step: a start and an end, and no curve between them.
bool has_curves(const std::vector<Run>& runs) {
  return std::ranges::any_of(runs, [](const Run& run) {
    std::set<double> moments;
    for (const Sample& sample : run.trace) moments.insert(sample.seconds);
    return moments.size() > 2;
  });
}

std::string chart_html(const Section& section, const nlohmann::json& charts) {
  return fmt::format(
      "<figure class=\"chart\" id=\"chart-{0}\" aria-label=\"Curves of {1}\">\n"
      "<noscript><p>The curves need JavaScript; all else on this page does not.</p></noscript>\n"
      "<script type=\"application/json\">{2}</script>\n</figure>\n",
      section.id, html_text(section.heading), json_in_html(charts));
}

std::string tables_html(const std::vector<TextTable>& tables) {
  std::string out;
  for (const TextTable& table : tables) out += table_html(table);
  return out;
}

std::string summaries_html(const std::vector<TextTable>& summaries, bool paths) {
  return details_html(paths ? "Times and ends of all runs of single penalties" : "Times and ends of all runs",
                      tables_html(summaries),
                      summaries.size() <= kOpenTables ? " class=\"printed\" open" : " class=\"printed\"");
}

/// Returns the charts that are stored as figures. `kind` is that of `proxbench plot`.
std::string pictures_html(const fs::path& figures, const std::vector<Chart>& charts, const char* kind) {
  std::string out;
  for (const Chart& chart : charts)
    if (const fs::path file = figures / (chart.name + ".svg"); fs::exists(file))
      out += fmt::format("<img src=\"data:image/svg+xml,{}\" alt=\"{}\">\n",
                         percent_encoded(read_file(file, "a figure")),
                         html_text(fmt::format("{}{}{}: {}", chart.warning, chart.title, chart.about,
                                               chart.panels.empty() ? "" : chart.panels.front().y.label)));
  return out.empty() ? fmt::format(
                           "<p>No figure is stored; <code>proxbench plot DIR --kind {}</code> draws "
                           "them.</p>\n",
                           kind)
                     : "<div class=\"pictures\">\n" + out + "</div>\n";
}

std::string paths_html(const std::vector<Run>& paths, const std::vector<Run>& runs, const fs::path& figures) {
  std::string out =
      "<h3>Regularisation paths</h3>\n" + pictures_html(figures, path_charts(paths, true), "path");
  const std::vector<TextTable> tables = path_tables(paths, runs).tables;
  for (const TextTable& table : tables)
    out += &table == &tables.front()
               ? table_html(table)
               : details_html("Points: " + table.caption, table_html(table), " class=\"printed\"");
  return out;
}

std::string theory_html(const std::vector<TheoryProblem>& theory, const fs::path& figures) {
  return "<h3>Theory</h3>\n" + pictures_html(figures, theory_charts(theory), "theory") +
         tables_html(theory_tables(theory));
}

std::string files_html(const fs::path& results, const fs::path& folder) {
  std::string out;
  for (const auto& [what, in] : {std::pair{"Tables", "tables"}, {"Figures for print", "figures"}})
    if (const std::string links = links_html(entries_of(results / in), folder); !links.empty())
      out += fmt::format("<p class=\"files\">{}: {}</p>\n", what, links);
  return out;
}

/// Makes the section of one experiment's results, for a page in the folder. `warn` receives messages about
/// stored runs that are not shown.
Section make_section(const fs::path& results, const fs::path& folder,
                     const std::function<void(const std::string&)>& warn) {
  Presentation presentation = load_presentation(results / "config.ini");
  const PaperConfig& paper = presentation.paper;
  std::ranges::sort(presentation.targets, std::greater());

  std::vector<Run> all = read_all_runs(results, presentation, warn);
  if (const std::string left_out = leave_out_strangers(results, presentation, all); !left_out.empty())
    warn(left_out);
  std::vector<Run> runs = all;
  const std::vector<Run> paths = take_paths(runs);

  Section section;
  section.id =
      file_name_part(presentation.name.empty() ? all.front().parameters.experiment : presentation.name);
  section.heading = paper.item.empty() ? section.id : paper.item;
  section.title = presentation.title;
  section.data = data_lines(all);
  section.warning = data_warnings(joined(section.data));
  section.ended = ended_line(all);

  std::vector<TableSet> tables;  // the summary is the last
  if (!runs.empty()) tables = result_tables(runs, presentation, {kPrintedColumns});

  std::string& body = section.body;
  body = passages_html(
      paper, section, all,
      tables.size() == 1 ? order_lines(runs, presentation.targets) : std::vector<std::string>{});
  for (std::size_t i = 0; i + 1 < tables.size(); ++i) body += tables_html(tables[i].tables);
  if (has_curves(runs)) body += chart_html(section, page_charts(runs, presentation.plot));
  if (!paths.empty()) body += paths_html(paths, runs, results / "figures");
  if (const std::vector<TheoryProblem> theory = read_theory(results); !theory.empty())
    body += theory_html(theory, results / "figures");
  body += troubles_html(all);
  if (!runs.empty()) body += summaries_html(tables.back().tables, !paths.empty());
  body += details_html("Runs and their files", runs_html(all, folder) + files_html(results, folder));
  body += details_html("Where, when and with what it was made", provenance_html(all));
  if (const fs::path config = results / "config.ini"; fs::exists(config))
    body += details_html(
        "Config", scroll_html("config.ini", "<pre>" + html_text(read_file(config, "a config")) + "</pre>\n"));
  return section;
}

// ---- the page

/// The charting library dygraphs, which is installed on the machine (Debian package libjs-dygraphs).
struct ChartLibrary {
  std::string script, style;
};

/// Reads dygraph.min.js and dygraph.min.css from the folder $PROXBENCH_DYGRAPHS or, if that is not set, from
/// Debian's location. If one cannot be read, throws Error (kInput) that names file, package and variable.
ChartLibrary load_chart_library() {
  constexpr const char* kDebianFolder = "/usr/share/javascript/dygraphs";
  constexpr const char* kExpected =
      "the charting library dygraphs (Debian package libjs-dygraphs; scripts/install-deps), or its folder in "
      "PROXBENCH_DYGRAPHS";
  const char* folder = std::getenv("PROXBENCH_DYGRAPHS");
  const std::filesystem::path from = folder != nullptr && *folder != '\0' ? folder : kDebianFolder;
  return {read_file(from / "dygraph.min.js", kExpected), read_file(from / "dygraph.min.css", kExpected)};
}

std::string section_html(const Section& section) {
  std::string out = fmt::format("<section id=\"{}\">\n<h2>{}{}: {}</h2>\n", section.id, section.warning,
                                html_text(section.heading), html_text(section.title));
  if (!section.warning.empty())
    out +=
        fmt::format("<p class=\"synthetic\">{}generated, not the data of the paper.</p>\n", section.warning);
  return out + section.body + "</section>\n";
}

std::string contents_html(const std::vector<Section>& sections) {
  TextTable table{"Contents", {}, {"what", "title", "data", "runs"}, 4};
  table.html = true;
  for (const Section& section : sections) {
    const std::string more =
        section.data.size() > 1 ? fmt::format(" and {} more", section.data.size() - 1) : "";
    table.rows.push_back({fmt::format("<a href=\"#{}\">{}</a>", section.id, html_text(section.heading)),
                          html_text(section.title),
                          (section.warning.empty() ? "" : "<strong>" + section.warning + "</strong>") +
                              html_text(section.data.front() + more),
                          html_text(section.ended)});
  }
  return "<nav class=\"contents\" aria-label=\"Contents\">\n" + scroll_html(table.caption, html_grid(table)) +
         "</nav>\n";
}

/// Forbids the page to load anything, even if names in the results contain HTML.
constexpr const char* kAlone =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:\">";

std::string html_page(const std::vector<Section>& sections, const ReportOptions& options,
                      const ChartLibrary& library) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n{}\n"
      "<title>{}</title>\n<style>\n{}\n{}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n",
      kAlone, html_text(options.title), library.style, report_style(), html_text(options.title));
  for (const std::string& note : options.notes) out += fmt::format("<p>{}</p>\n", html_text(note));
  if (sections.size() > 1) out += contents_html(sections);
  for (const Section& section : sections) out += section_html(section);
  out += "</main>\n<footer>\n<p>Made by proxbench from stored results.</p>\n";
  out += details_html("Charts are drawn by dygraphs: its licence",
                      fmt::format("<pre>{}</pre>\n", html_text(std::string(chart_library_licence()))));
  out += fmt::format(
      "</footer>\n<script id=\"ticks\" type=\"application/json\">{}</script>\n"
      "<script>\n{}\n</script>\n<script>\n{}</script>\n",
      json_in_html(page_ticks()), library.script, report_script());
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
  const fs::path folder = fs::absolute(page).parent_path();
  for (const fs::path& one : results) {
    sections.push_back(make_section(one, folder, options.warn));
    if (!ids.insert(sections.back().id).second)
      throw Error::usage(fmt::format("{}: found a second experiment named '{}', expected each name once",
                                     one.string(), sections.back().id));
  }
  make_folder(folder);
  write_file_atomically(page, html_page(sections, options, library));
}

}  // namespace proxbench
