#include "core/base/processes.h"

namespace proxbench {

std::vector<double> Processes::gather(double own) const {
  const std::vector<std::size_t> sizes(static_cast<std::size_t>(count()), 1);
  std::vector<double> all(sizes.size());
  gather(std::span(&own, 1), sizes, all);
  return all;
}

void share(const Processes* processes, int root, std::string& text) {
  std::vector<char> characters(text.begin(), text.end());
  share(processes, root, characters);
  text.assign(characters.begin(), characters.end());
}

}  // namespace proxbench
