#include "plots/report.h"

#include <fmt/format.h>

#include <cctype>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/table_text.h"
#include "experiments/results/results.h"
#include "plots/chart_library.h"
#include "plots/facts.h"
#include "plots/report_contents.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using namespace report;

constexpr const char* kSynthetic = "SYNTHETIC DATA";
/// The summaries of more data sets and penalties than this are folded.
constexpr std::size_t kOpenTables = 4;

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

std::string failures_html(const std::vector<Run>& runs) {
  TextTable table{"Runs that failed", {}, {"run", "status", "reason"}, 3, {}};
  for (const Run& run : runs) {
    const std::string& reason = run.result.reason;
    if (run.failed())
      table.rows.push_back({run.folder.filename().string(), run.status(), reason.empty() ? "-" : reason});
  }
  return table.rows.empty() ? "" : "<div class=\"failures\">\n" + table_html(table) + "</div>\n";
}

std::string not_comparable_html(const std::vector<Run>& runs) {
  TextTable table{
      "Timings that are not comparable",
      {"Charts leave these runs out where they show seconds, and no order of the solvers counts them."},
      {"run", "reason"},
      2,
      {}};
  for (const Run& run : runs) {
    if (run.timing.comparable) continue;
    const std::string& reason = run.timing.not_comparable_because;
    table.rows.push_back({run.folder.filename().string(), reason.empty() ? "-" : reason});
  }
  return table.rows.empty() ? "" : table_html(table);
}

std::string runs_html(const std::vector<Run>& runs, const fs::path& folder) {
  std::string rows;
  for (const Run& run : runs)
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td></tr>\n", html_text(run.folder.filename().string()),
        html_text(run.status()),
        links_html(existing_files(run.folder, {"manifest.json", "path.csv", "trace.csv", "model.tsv"}, {""}),
                   folder));
  return scroll_html("Runs and their files",
                     "<table>\n<thead>\n<tr><th scope=\"col\">run</th><th scope=\"col\">status</th>"
                     "<th scope=\"col\">files</th></tr>\n</thead>\n<tbody>\n" +
                         rows + "</tbody>\n</table>\n");
}

std::string provenance_html(const Origins& provenance) {
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

/// `kind` of `proxbench plot`, which draws them.
std::string pictures_html(const std::vector<Picture>& pictures, const char* kind) {
  std::string out;
  for (const Picture& picture : pictures) out += picture_html(picture);
  return out.empty() ? fmt::format(
                           "<p>No figure is stored; <code>proxbench plot DIR --kind {}</code> draws "
                           "them.</p>\n",
                           kind)
                     : "<div class=\"pictures\">\n" + out + "</div>\n";
}

std::string theory_html(const Theory& theory) {
  std::string out = "<h3>Theory</h3>\n" + pictures_html(theory.pictures, "theory");
  for (const TextTable& table : theory.tables) out += table_html(table);
  return out;
}

std::string paths_html(const Paths& paths) {
  std::string out =
      "<h3>Regularisation paths</h3>\n" + pictures_html(paths.pictures, "path") + table_html(paths.costs);
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
  if (section.theory) out += theory_html(*section.theory);
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
    sections.push_back(make_section(one, options.warn));
    if (!ids.insert(sections.back().id).second)
      throw Error::usage(fmt::format("{}: found a second experiment named '{}', expected each name once",
                                     one.string(), sections.back().id));
  }
  const fs::path folder = fs::absolute(page).parent_path();
  make_folder(folder);
  write_file_atomically(page, html_page(sections, options, library, folder));
}

}  // namespace proxbench
