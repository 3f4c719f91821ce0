#pragma once
/// Tables as text for people: the same cells as Markdown, LaTeX and HTML, and the notes that the tables of an
/// experiment share.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace proxbench {

/// Cells as a person reads them. "-" stands for a value that does not apply or an event that never happened.
struct TextTable {
  std::string caption;             ///< one line above the table
  std::vector<std::string> notes;  ///< paragraphs between caption and table
  std::vector<std::string> head;
  std::size_t text_columns = 0;  ///< how many columns on the left hold words; the others hold numbers
  std::vector<std::vector<std::string>> rows = {};
  std::vector<std::string> footnotes = {};  ///< paragraphs below the table
  bool html = false;                        ///< the cells of rows are HTML, for html_grid()
};

/// Each text ends with a line break. Markdown and HTML contain only the grid, without caption, notes and
/// footnotes. LaTeX is a tabular of the booktabs package, with caption and notes in comments and the
/// footnotes in small print below.
std::string markdown_grid(const TextTable& table);
std::string html_grid(const TextTable& table);
std::string latex_tabular(const TextTable& table);

/// Whole files: all tables, with captions and notes, below a title, which may be empty.
std::string markdown_document(const std::string& title, const std::vector<TextTable>& tables);
std::string latex_document(const std::string& title, const std::vector<TextTable>& tables);
/// Records as a CSV file: one header line, then full precision. A field is empty if there is no value, and
/// "inf" if a target was never reached. The members of an object become columns NAME_MEMBER, except that the
/// first column is called NAME. All records have the members of the first one.
std::string csv_text(const std::vector<nlohmann::ordered_json>& records);
/// A value as a field of a CSV file: empty for null and NaN, text unchanged, numbers in full precision.
std::string field_text(const nlohmann::ordered_json& value);

/// Tables of one kind, for people, and the same content as records for programs.
struct TableSet {
  std::string name;   ///< of the files, without extension
  std::string title;  ///< above the tables; may be empty
  std::vector<TextTable> tables;
  std::vector<nlohmann::ordered_json> records;

  /// Returns the whole file in `format`: "md", "latex" or "csv".
  std::string text(const std::string& format) const;
  /// Writes NAME.md, NAME.tex and NAME.csv into the folder, which is made if it is missing. Throws Error if a
  /// file cannot be written.
  void write(const std::filesystem::path& folder) const;
};

/// The part of a README from the line "<!-- NAME -->" to the line "<!-- end -->": both of these lines and the
/// text between them, with a line break at the end.
std::string doc_block(const std::string& name, const std::string& content);

/// Escapes characters that Markdown would read as emphasis or a tag.
std::string markdown_literal(const std::string& text);
/// Escapes characters that are special in HTML, also in attributes.
std::string html_text(const std::string& text);
/// A field of a CSV file (RFC 4180), in quotes if it needs them.
std::string csv_field(const std::string& text);
/// The shortest text that reads back to the same number; empty for NaN.
std::string number_text(double value);

/// Cells: "-" for NaN.
std::string formatted_cell(double value, const char* format);
std::string scientific_cell(double value);
/// Three digits, at most two of them after the point; "never" for infinity.
std::string seconds_cell(double seconds);
/// A number without fraction as an integer, any other (a median or mean) with one digit after the point.
std::string count_cell(double value);
std::string fixed_cell(double value, int digits);

/// Stands for a number that is unknown because f* is not known accurately enough.
inline constexpr const char* kUnprovenCell = "?";
/// Explains kUnprovenCell. `accuracy` is the relative accuracy to which f* is proven.
std::string unproven_note(double accuracy);
/// Explains a cell "A-B" that gives the cost of reaching a target.
std::string wide_note();

}  // namespace proxbench
