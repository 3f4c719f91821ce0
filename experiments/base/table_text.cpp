#include "experiments/base/table_text.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/base/text.h"

namespace proxbench {

std::string markdown_document(const std::vector<TextTable>& tables) {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (const std::string& cell : cells) out += fmt::format("| {} ", replaced(cell, {{'|', "\\|"}}));
    out += "|\n";
  };
  for (const TextTable& table : tables) {
    out += fmt::format("{}### {}\n\n", out.empty() ? "" : "\n", table.caption);
    if (!table.note.empty()) out += table.note + "\n\n";
    line(table.head);
    out += "|";
    for (std::size_t i = 0; i < table.head.size(); ++i) out += i < table.text_columns ? "---|" : "---:|";
    out += "\n";
    for (const std::vector<std::string>& row : table.rows) line(row);
  }
  return out;
}

std::string fixed_cell(double value, int digits) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}f}", value, digits);
}

}  // namespace proxbench
