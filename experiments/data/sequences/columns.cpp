#include "experiments/data/sequences/columns.h"

#include "experiments/base/text.h"

namespace proxbench {

void split_cells(std::string_view line, bool tabs, std::vector<std::string_view>& cells) {
  cells.clear();
  if (!tabs)
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line))
      cells.push_back(word);
  else if (!trim(line, kBlanks).empty())
    for_each_part(line, '\t', [&](std::string_view cell) { cells.push_back(trim(cell, " ")); });
}

bool is_range(std::string_view id) {
  const std::size_t first = id.find_first_not_of("0123456789");
  return first != id.npos && first > 0 && (id[first] == '-' || id[first] == '.') && first + 1 < id.size() &&
         id.find_first_not_of("0123456789", first + 1) == id.npos;
}

}  // namespace proxbench
