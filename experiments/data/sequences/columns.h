#pragma once
/// Lines of columns.

#include <string_view>
#include <vector>

namespace proxbench {

/// Splits a line into its cells: the parts between TABs without the spaces around them, or otherwise the
/// words. A blank line has none.
void split_cells(std::string_view line, bool tabs, std::vector<std::string_view>& cells);

/// Whether the first cell of a line of CoNLL-U says that the line is no word, but a range (1-2) or an empty
/// node (1.1).
bool is_range(std::string_view id);

}  // namespace proxbench
