#include "experiments/base/table_text.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/base/files.h"
#include "experiments/base/text.h"

namespace proxbench {
namespace {

/// Replaces line breaks, which would end the paragraph of a note. Messages of failed runs may contain some.
std::string one_line(const std::string& text) {
  return replaced(text, {{'\n', " "}, {'\r', " "}});
}

std::string latex_text(const std::string& text) {
  return replaced(text, {{'\\', "\\textbackslash{}"},
                         {'~', "\\~{}"},
                         {'^', "\\^{}"},
                         {'<', "\\textless{}"},
                         {'>', "\\textgreater{}"},
                         {'&', "\\&"},
                         {'%', "\\%"},
                         {'$', "\\$"},
                         {'#', "\\#"},
                         {'_', "\\_"},
                         {'{', "\\{"},
                         {'}', "\\}"}});
}

/// Escapes a `*` at the start, which Markdown would read as a list item. Keeps the note in one paragraph.
std::string markdown_note(const std::string& note) {
  return fmt::format("{}{}", note.starts_with('*') ? "\\" : "", one_line(note));
}

}  // namespace

std::string markdown_grid(const TextTable& table) {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) out += fmt::format("| {} ", replaced(cell, {{'|', "\\|"}}));
    out += "|\n";
  };
  line(table.head);
  out += "|";
  for (std::size_t i = 0; i < table.head.size(); ++i) out += i < table.text_columns ? "---|" : "---:|";
  out += "\n";
  for (const std::vector<std::string>& row : table.rows) line(row);
  return out;
}

std::string html_grid(const TextTable& table) {
  const auto line = [&](const std::vector<std::string>& cells, const char* tag, const char* scope,
                        bool html) {
    std::string out = "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      out +=
          fmt::format("<{0}{1}{2}>{3}</{0}>", tag, scope, i < table.text_columns ? "" : " class=\"number\"",
                      html ? cells[i] : html_text(cells[i]));
    return out + "</tr>\n";
  };
  std::string out =
      "<table>\n<thead>\n" + line(table.head, "th", " scope=\"col\"", false) + "</thead>\n<tbody>\n";
  for (const std::vector<std::string>& row : table.rows) out += line(row, "td", "", table.html);
  return out + "</tbody>\n</table>\n";
}

std::string latex_tabular(const TextTable& table) {
  std::string out = fmt::format("% {}\n", table.caption);
  for (const std::string& note : table.notes) out += fmt::format("% {}\n", note);
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i)
      out += fmt::format("{}{}", i ? " & " : "", cells[i] == "-" ? "--" : latex_text(cells[i]));
    out += " \\\\\n";
  };
  out += fmt::format("\\begin{{tabular}}{{{}{}}}\n\\toprule\n", std::string(table.text_columns, 'l'),
                     std::string(table.head.size() - table.text_columns, 'r'));
  line(table.head);
  out += "\\midrule\n";
  for (const std::vector<std::string>& row : table.rows) line(row);
  out += "\\bottomrule\n\\end{tabular}\n";
  for (const std::string& note : table.footnotes)
    out += fmt::format("\\par\\noindent{{\\footnotesize {}\\par}}\n", latex_text(one_line(note)));
  return out;
}

std::string markdown_document(const std::string& title, const std::vector<TextTable>& tables) {
  std::string out = title.empty() ? "" : fmt::format("## {}\n", title);
  for (const TextTable& table : tables) {
    out += fmt::format("{}### {}\n\n", out.empty() ? "" : "\n", table.caption);
    for (const std::string& note : table.notes) out += note + "\n\n";
    out += markdown_grid(table);
    for (const std::string& note : table.footnotes) out += fmt::format("\n{}\n", markdown_note(note));
  }
  return out;
}

std::string latex_document(const std::string& title, const std::vector<TextTable>& tables) {
  std::string out = fmt::format("% {}\n% Needs \\usepackage{{booktabs}}.\n", title);
  for (const TextTable& table : tables) out += fmt::format("\n{}", latex_tabular(table));
  return out;
}

std::string doc_block(const std::string& name, const std::string& content) {
  return fmt::format("<!-- {} -->\n{}\n<!-- end -->\n", name, content);
}

std::string html_text(const std::string& text) {
  return replaced(text, {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}});
}

std::string markdown_literal(const std::string& text) {
  return replaced(text, {{'*', "\\*"}, {'<', "\\<"}});
}

std::string csv_field(const std::string& text) {
  const bool plain = text.find_first_of(",\"\r\n") == std::string::npos;
  return plain ? text : fmt::format("\"{}\"", replaced(text, {{'"', "\"\""}}));
}

std::string number_text(double value) {
  return std::isnan(value) ? "" : fmt::format("{}", value);
}

std::string formatted_cell(double value, const char* format) {
  return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value);
}

std::string scientific_cell(double value) {
  return formatted_cell(value, "{:.1e}");
}

std::string seconds_cell(double seconds) {
  if (std::isnan(seconds)) return "-";
  if (std::isinf(seconds)) return "never";
  return seconds < 10    ? fmt::format("{:.2f}", seconds)
         : seconds < 100 ? fmt::format("{:.1f}", seconds)
                         : fmt::format("{:.0f}", seconds);
}

std::string count_cell(double value) {
  if (std::isnan(value)) return "-";
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

std::string fixed_cell(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

std::string field_text(const nlohmann::ordered_json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return number_text(value.get<double>());
  return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string csv_text(const std::vector<nlohmann::ordered_json>& records) {
  std::string out;
  for (const nlohmann::ordered_json& record : records) {
    std::vector<std::string> names, fields;
    const auto add = [&](const std::string& name, const nlohmann::ordered_json& value) {
      names.push_back(name);
      fields.push_back(csv_field(field_text(value)));
    };
    for (const auto& [name, value] : record.items()) {
      if (!value.is_object()) add(name, value);
      for (auto part = value.begin(); value.is_object() && part != value.end(); ++part)
        add(part == value.begin() ? name : name + "_" + part.key(), part.value());
    }
    if (out.empty()) out = fmt::format("{}\n", fmt::join(names, ","));
    out += fmt::format("{}\n", fmt::join(fields, ","));
  }
  return out;
}

std::string TableSet::text(const std::string& format) const {
  return format == "csv"     ? csv_text(records)
         : format == "latex" ? latex_document(title, tables)
                             : markdown_document(title, tables);
}

void TableSet::write(const std::filesystem::path& folder) const {
  make_folder(folder);
  for (const auto& [extension, format] : {std::pair(".md", "md"), {".tex", "latex"}, {".csv", "csv"}})
    write_file_atomically(folder / (name + extension), text(format));
}

std::string unproven_note(double accuracy) {
  return fmt::format(
      "{}: f* is proven to a relative accuracy of {} only, and no target below that can be told.",
      kUnprovenCell, scientific_cell(accuracy));
}

std::string wide_note() {
  return "A-B: the target was reached between two samples, at A and at B, more than a tenth of B apart.";
}

}  // namespace proxbench
