#pragma once
/// Tables as Markdown, for people.

#include <string>
#include <vector>

namespace proxbench {

/// Cells as a person reads them. "-" stands for a value that does not apply.
struct TextTable {
  std::string caption;  ///< one line above the table
  std::string note;     ///< a paragraph between caption and table
  std::vector<std::string> head;
  std::size_t text_columns = 0;  ///< how many columns on the left hold words; the others hold numbers
  std::vector<std::vector<std::string>> rows = {};
};

/// The tables with captions and notes. The text ends with a line break.
std::string markdown_document(const std::vector<TextTable>& tables);

/// "-" for NaN.
std::string fixed_cell(double value, int digits);

}  // namespace proxbench
