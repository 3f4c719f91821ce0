#pragma once
/// Tables as text for people: the same cells as Markdown, LaTeX and HTML, and what is shared by the tables of
/// an experiment.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace proxbench {

/// Cells as a person reads them; "-" is what does not apply or never happened.
struct TextTable {
  std::string caption;             ///< one line that stands above
  std::vector<std::string> notes;  ///< paragraphs between caption and table
  std::vector<std::string> head;
  std::size_t text_columns = 0;  ///< so many columns on the left are words, the others are numbers
  std::vector<std::vector<std::string>> rows = {};
  std::vector<std::string> footnotes = {};  ///< paragraphs below the table
  bool html = false;                        ///< the cells of rows are HTML, for html_grid()
};

/// Each ends with a line break. The Markdown and the HTML are the grid alone, without caption, notes and
/// footnotes; the LaTeX is a tabular of the booktabs package with caption and notes in comments, and the
/// footnotes in small print below.
std::string markdown_grid(const TextTable& table);
std::string html_grid(const TextTable& table);
std::string latex_tabular(const TextTable& table);

/// Whole files: all tables with captions and notes below a title, which may be empty.
std::string markdown_document(const std::string& title, const std::vector<TextTable>& tables);
std::string latex_document(const std::string& title, const std::vector<TextTable>& tables);
/// Records as a CSV file: one header line, full precision, an empty field for what is not there, "inf" for
/// what was never reached. The members of an object become columns NAME_MEMBER, the first of them NAME. All
/// records have the members of the first one.
std::string csv_text(const std::vector<nlohmann::ordered_json>& records);
/// A value as a field of a CSV file: nothing for null and NaN, text as it is, numbers in full precision.
std::string field_text(const nlohmann::ordered_json& value);

/// Tables of one kind: for people, and as the records that programs read.
struct TableSet {
  std::string name;   ///< of its files
  std::string title;  ///< stands above the tables; may be empty
  std::vector<TextTable> tables;
  std::vector<nlohmann::ordered_json> records;

  /// The whole file; `format`: "md", "latex" or "csv".
  std::string text(const std::string& format) const;
  /// Writes NAME.md, NAME.tex and NAME.csv into the folder, which is made where it is missing. Returns the
  /// three. Throws Error where one cannot be written.
  std::vector<std::filesystem::path> write(const std::filesystem::path& folder) const;
};

/// The text with what would be emphasis or a tag in Markdown made literal.
std::string markdown_literal(const std::string& text);
/// The text with what is special in HTML, also in attributes, made literal.
std::string html_text(const std::string& text);
/// A field of a CSV file (RFC 4180), in quotes where it needs them.
std::string csv_field(const std::string& text);
/// The shortest text that reads back to the same number; empty for NaN.
std::string number_text(double value);

/// Cells: "-" for NaN.
std::string scientific_cell(double value);
/// Three digits, no more than two after the point; "never" for infinity.
std::string seconds_cell(double seconds);
/// An integer, or one digit after the point where it is none (a median or mean).
std::string count_cell(double value);
std::string fixed_cell(double value, int digits);

/// Stands for a number that cannot be told, because f* is not known well enough.
inline constexpr const char* kUnprovenCell = "?";
/// What it means; `accuracy`: relative, to which f* is proven.
std::string unproven_note(double accuracy);
/// What a cell "A-B" of a cost to a target means.
std::string wide_note();

}  // namespace proxbench
