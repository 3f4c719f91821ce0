#include "core/base/processes.h"

namespace proxbench {

std::vector<double> Processes::gather(double own) const {
  const std::vector<std::size_t> sizes(static_cast<std::size_t>(count()), 1);
  std::vector<double> all(sizes.size());
  gather(std::span(&own, 1), sizes, all);
  return all;
}

std::vector<double> Processes::gather_all(std::span<const double> own) const {
  std::vector<std::size_t> sizes;
  std::size_t total = 0;
  for (const double size : gather(static_cast<double>(own.size()))) {
    sizes.push_back(static_cast<std::size_t>(size));
    total += sizes.back();
  }
  std::vector<double> all(total);
  gather(own, sizes, all);
  return all;
}

void share(const Processes* processes, int root, std::string& text) {
  std::vector<char> characters(text.begin(), text.end());
  share(processes, root, characters);
  text.assign(characters.begin(), characters.end());
}

}  // namespace proxbench
