#include "plots/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "core/error.h"
#include "experiments/config.h"
#include "experiments/paper_table.h"
#include "experiments/results.h"
#include "experiments/table_text.h"
#include "experiments/tables.h"
#include "plots/curves.h"
#include "plots/facts.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSynthetic = "SYNTHETIC DATA";

/// A heading and its paragraphs.
struct Passage {
  std::string heading;
  std::vector<std::string> paragraphs;
};

/// What the page shows of one experiment. Files are names in the folder of the page.
struct Section {
  std::string id, heading, title;
  bool synthetic = false;
  std::vector<std::string> data;                             ///< a description each
  std::string ended;                                         ///< how many runs reached their tolerance
  std::vector<Passage> passages;                             ///< what is said, the paper first
  std::vector<std::pair<std::string, std::string>> figures;  ///< name without extension, alternative text
  std::vector<TextTable> tables;                             ///< ours beside the paper's
  std::vector<TextTable> summaries;                          ///< times and ends of all runs
  std::vector<std::string> table_files;
};

// ---- files

void copy_into(const fs::path& from, const fs::path& to) {
  std::ifstream in(from, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  if (!in) throw Error(from.string() + ": cannot be read");
  write_file_atomically(to, bytes.str());
}

/// Copies the figures of the runs that are there; returns their names in the page's folder.
std::vector<std::pair<std::string, std::string>> copy_figures(const std::vector<StoredRun>& runs,
                                                              const fs::path& figures, const fs::path& folder,
                                                              const std::string& prefix) {
  std::vector<std::pair<std::string, std::string>> copied;
  for (const std::string& name : curve_names(runs)) {
    if (!fs::exists(figures / (name + ".png"))) continue;
    for (const char* extension : {".png", ".svg", ".pdf"})
      if (fs::exists(figures / (name + extension)))
        copy_into(figures / (name + extension), folder / (prefix + name + extension));
    copied.emplace_back(prefix + name, name);
  }
  return copied;
}

std::vector<std::string> copy_tables(const fs::path& tables, const fs::path& folder,
                                     const std::string& prefix) {
  std::vector<std::string> copied;
  for (const char* name : {"paper", "summary"})
    for (const char* extension : {".md", ".tex", ".csv"}) {
      const std::string file = std::string(name) + extension;
      if (!fs::exists(tables / file)) continue;
      copy_into(tables / file, folder / (prefix + file));
      copied.push_back(prefix + file);
    }
  return copied;
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
  return lines;
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

std::string machine_line(const std::vector<StoredRun>& runs) {
  return distinct_texts(runs, [](const StoredRun& run) {
    const nlohmann::json about = run.summary.value("run", nlohmann::json::object());
    std::string text = about.value("cpu", "unknown processor");
    if (about.contains("cores")) text += fmt::format(", {} cores", about["cores"].get<int>());
    if (const std::string threads = distinct_counts({&run}, "threads"); !threads.empty())
      text += ", threads: " + threads;
    return text + (run.summary.contains("backend") ? ", " + run.summary["backend"].get<std::string>() : "");
  });
}

std::string limit_line(const std::vector<StoredRun>& runs) {
  return distinct_texts(runs, [](const StoredRun& run) -> std::string {
    const nlohmann::json about = run.summary.value("run", nlohmann::json::object());
    if (!about.contains("time_limit")) return "";
    const double limit = about["time_limit"].get<double>();
    return limit > 0.0 ? fmt::format("{:g} s", limit) : "no time limit";
  });
}

std::string ended_line(const std::vector<StoredRun>& runs) {
  std::size_t converged = 0;
  for (const StoredRun& run : runs) converged += run.status == "converged" ? 1 : 0;
  return fmt::format("{} of {} runs reached their tolerance", converged, runs.size());
}

/// How well f* of the group is known: targets below that say nothing.
double reference_accuracy(const std::vector<StoredRun>& runs, const TableGroup& group) {
  double accuracy = 0.0;
  for (const StoredRun& run : runs)
    if (run.dataset == group.dataset && run.lambda == group.lambda) {
      const double bound = reference_bound(run);
      if (!(bound <= accuracy)) accuracy = bound;
    }
  return accuracy;
}

/// "prox-qn 3.1 s, owl-qn 40 s; not reached: sgd", at the smallest target that any solver reached and that f*
/// is exact enough for.
std::string order_line(const TableGroup& group, const std::vector<double>& targets, double accuracy) {
  const std::string what = fmt::format("{}, λ = {}", group.dataset, group.lambda);
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

std::vector<Passage> passages(const Presentation& presentation, const Section& section,
                              const std::vector<StoredRun>& runs, const std::vector<TableGroup>& groups) {
  std::vector<Passage> out;
  const auto add = [&](const char* heading, std::vector<std::string> paragraphs) {
    paragraphs.erase(std::remove(paragraphs.begin(), paragraphs.end(), ""), paragraphs.end());
    if (!paragraphs.empty()) out.push_back({heading, std::move(paragraphs)});
  };
  const PaperConfig& paper = presentation.paper;
  add("The paper", {paper.caption, paper.reports});
  add("What differs, and why", {paper.differs});
  add("Data here", section.data);
  const std::string limit = limit_line(runs);
  add("Made on", {machine_line(runs) + ".",
                  section.ended + (limit.empty() ? "." : fmt::format("; limit of a run: {}.", limit))});
  if (section.tables.empty()) {
    std::vector<std::string> orders;
    for (const TableGroup& group : groups)
      if (group.rows.size() > 1)
        orders.push_back(order_line(group, presentation.targets, reference_accuracy(runs, group)));
    add("Order of the solvers here", orders);
  }
  return out;
}

Section make_section(const fs::path& results, const fs::path& folder) {
  const Presentation presentation = load_presentation(results / "config.ini");
  const std::vector<StoredRun> runs = read_results(results);
  TableOptions options;
  options.targets = presentation.targets;
  std::sort(options.targets.begin(), options.targets.end(), std::greater<>());

  Section section;
  section.id = file_name_part(presentation.name.empty() ? runs.front().experiment : presentation.name);
  section.heading = presentation.paper.item.empty() ? section.id : presentation.paper.item;
  section.title = presentation.title;
  section.synthetic = std::any_of(runs.begin(), runs.end(),
                                  [](const StoredRun& run) { return says_synthetic(run.description); });
  section.data = data_lines(runs);
  section.ended = ended_line(runs);
  const std::vector<TableGroup> groups = summarize(runs, options);
  section.summaries = summary_tables(groups, options);
  if (!presentation.paper.lambdas.empty())
    section.tables.push_back(paper_table(compare_with_paper(runs, presentation), presentation));
  Presentation sorted = presentation;
  sorted.targets = options.targets;
  section.passages = passages(sorted, section, runs, groups);
  section.figures = copy_figures(runs, results / "figures", folder, section.id + "-");
  section.table_files = copy_tables(results / "tables", folder, section.id + "-");
  return section;
}

// ---- Markdown

/// Links to files, each under what is in the name after the first `skipped` characters.
std::string links_markdown(const std::vector<std::string>& files, std::size_t skipped) {
  std::vector<std::string> links;
  for (const std::string& file : files) links.push_back(fmt::format("[{}]({})", file.substr(skipped), file));
  return fmt::format("{}", fmt::join(links, " · "));
}

std::vector<std::string> image_files(const fs::path& folder, const std::string& name) {
  std::vector<std::string> files;
  for (const char* extension : {".svg", ".pdf", ".png"})
    if (fs::exists(folder / (name + extension))) files.push_back(name + extension);
  return files;
}

std::string heading_text(const Section& section) {
  return fmt::format("{}{}: {}", section.synthetic ? std::string(kSynthetic) + ": " : "", section.heading,
                     section.title);
}

std::string markdown_page(const std::vector<Section>& sections, const ReportOptions& options,
                          const fs::path& folder) {
  std::string out = fmt::format("# {}\n", options.title);
  for (const std::string& note : options.notes) out += fmt::format("\n{}\n", note);
  for (const Section& section : sections) {
    out += fmt::format("\n<a id=\"{}\"></a>\n\n## {}\n", section.id, heading_text(section));
    if (section.synthetic)
      out += fmt::format("\n> **{}: generated, not the data of the paper.**\n", kSynthetic);
    for (const Passage& passage : section.passages) {
      out += fmt::format("\n**{}**\n", passage.heading);
      for (const std::string& paragraph : passage.paragraphs) out += fmt::format("\n{}\n", paragraph);
    }
    for (const TextTable& table : section.tables) {
      out += fmt::format("\n### {}\n\n{}", table.caption, markdown_grid(table));
      for (const std::string& note : table.notes) out += fmt::format("\n{}\n", note);
    }
    for (const auto& [name, text] : section.figures)
      out += fmt::format("\n![{0}]({1}.png)\n\n{0}: {2}\n", text, name,
                         links_markdown(image_files(folder, name), name.size() + 1));
    if (!section.table_files.empty())
      out += fmt::format("\nTables: {}\n", links_markdown(section.table_files, section.id.size() + 1));
  }
  return out;
}

// ---- HTML

constexpr const char* kStyle = R"(
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1a1a1a; background: #fff;
       max-width: 90rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 1rem; }
h3 { font-size: 1rem; margin: 1rem 0 0.2rem; }
p { margin: 0.2rem 0 0.6rem; overflow-wrap: anywhere; }
section { border-top: 2px solid #bbb; margin-top: 2.5rem; padding-top: 1.2rem; }
.beside { display: grid; gap: 1.5rem; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 62rem) { .beside { grid-template-columns: minmax(0, 24rem) minmax(0, 1fr); } }
figure { margin: 0 0 1.5rem; }
img { width: 100%; max-width: 60rem; height: auto; border: 1px solid #ddd; }
figcaption, .files { font-size: 0.85rem; overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 0.4rem 0 1rem; }
table { border-collapse: collapse; font-size: 0.85rem; }
th, td { border-bottom: 1px solid #ddd; padding: 0.25rem 0.6rem; text-align: left; white-space: nowrap; }
th { border-bottom: 2px solid #888; vertical-align: bottom; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.synthetic { background: #b00020; color: #fff; font-weight: bold; padding: 0.5rem 0.8rem; }
.contents td { white-space: normal; }
details { margin-bottom: 1rem; }
)";

std::string links_html(const std::vector<std::string>& files, std::size_t skipped) {
  std::vector<std::string> links;
  for (const std::string& file : files)
    links.push_back(fmt::format("<a href=\"{}\">{}</a>", html_text(file), html_text(file.substr(skipped))));
  return fmt::format("{}", fmt::join(links, " · "));
}

std::string table_html(const TextTable& table) {
  std::string out = fmt::format("<h3>{}</h3>\n<div class=\"scroll\">\n{}</div>\n", html_text(table.caption),
                                html_grid(table));
  for (const std::string& note : table.notes) out += fmt::format("<p>{}</p>\n", html_text(note));
  return out;
}

std::string section_html(const Section& section, const fs::path& folder) {
  std::string out =
      fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, html_text(heading_text(section)));
  if (section.synthetic)
    out += fmt::format("<p class=\"synthetic\">{}: generated, not the data of the paper.</p>\n", kSynthetic);
  out += "<div class=\"beside\">\n<div>\n";
  for (const Passage& passage : section.passages) {
    out += fmt::format("<h3>{}</h3>\n", html_text(passage.heading));
    for (const std::string& paragraph : passage.paragraphs)
      out += fmt::format("<p>{}</p>\n", html_text(paragraph));
  }
  out += "</div>\n<div>\n";
  for (const TextTable& table : section.tables) out += table_html(table);
  for (const auto& [name, text] : section.figures)
    out += fmt::format(
        "<figure><a href=\"{0}.png\"><img src=\"{0}.png\" alt=\"{1}\" width=\"1440\" height=\"960\" "
        "loading=\"lazy\"></a>\n<figcaption>{1}: {2}</figcaption></figure>\n",
        html_text(name), html_text(text), links_html(image_files(folder, name), name.size() + 1));
  out += "<details><summary>Times and ends of all runs</summary>\n";
  for (const TextTable& table : section.summaries) out += table_html(table);
  out += "</details>\n";
  if (!section.table_files.empty())
    out += fmt::format("<p class=\"files\">Tables: {}</p>\n",
                       links_html(section.table_files, section.id.size() + 1));
  return out + "</div>\n</div>\n</section>\n";
}

std::string contents_html(const std::vector<Section>& sections) {
  std::string out =
      "<div class=\"scroll\">\n<table class=\"contents\">\n"
      "<tr><th>what</th><th>title</th><th>data</th><th>runs</th></tr>\n";
  for (const Section& section : sections)
    out +=
        fmt::format("<tr><td><a href=\"#{}\">{}</a></td><td>{}</td><td>{}{}</td><td>{}</td></tr>\n",
                    section.id, html_text(section.heading), html_text(section.title),
                    section.synthetic ? fmt::format("<strong>{}</strong> ", kSynthetic) : "",
                    html_text(section.data.front()) +
                        (section.data.size() > 1 ? fmt::format(" and {} more", section.data.size() - 1) : ""),
                    html_text(section.ended));
  return out + "</table>\n</div>\n";
}

std::string html_page(const std::vector<Section>& sections, const ReportOptions& options,
                      const fs::path& folder) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      html_text(options.title), kStyle);
  for (const std::string& note : options.notes) out += fmt::format("<p>{}</p>\n", html_text(note));
  out += contents_html(sections);
  for (const Section& section : sections) out += section_html(section, folder);
  return out + "</body>\n</html>\n";
}

}  // namespace

fs::path write_report(const std::vector<fs::path>& results, const fs::path& folder,
                      const ReportOptions& options) {
  if (results.empty()) throw Error::usage("no results to report on");
  make_folder(folder);

  std::vector<Section> sections;
  std::set<std::string> ids;
  for (const fs::path& one : results) {
    sections.push_back(make_section(one, folder));
    if (!ids.insert(sections.back().id).second)
      throw Error::usage(
          fmt::format("{}: found a second experiment named '{}', expected each name once: its files would "
                      "replace the first one's",
                      one.string(), sections.back().id));
  }
  write_file_atomically(folder / "index.md", markdown_page(sections, options, folder));
  write_file_atomically(folder / "index.html", html_page(sections, options, folder));
  return folder / "index.html";
}

}  // namespace proxbench
