#include "core/base/processes.h"

#include <algorithm>

namespace proxbench {

namespace {

/// Numbers that are added at once. Their parts from all processes take as much memory again.
constexpr std::size_t kNumbersAtOnce = std::size_t{1} << 20;

}  // namespace

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

void Processes::add_to_owners(std::span<const double> parts, std::span<const std::size_t> sizes,
                              std::span<double> own) const {
  std::vector<double> received(own.size() * sizes.size());
  exchange(parts, sizes, std::vector<std::size_t>(sizes.size(), own.size()), received);
  std::ranges::fill(own, 0.0);
  for (std::size_t first = 0; first < received.size(); first += own.size())
    for (std::size_t i = 0; i < own.size(); ++i) own[i] += received[first + i];
}

void Processes::add(std::span<double> numbers) const {
  const auto processes = static_cast<std::size_t>(count());
  for (; !numbers.empty(); numbers = numbers.subspan(std::min(kNumbersAtOnce, numbers.size()))) {
    const std::span<double> now = numbers.first(std::min(kNumbersAtOnce, numbers.size()));
    std::vector<std::size_t> sizes;
    for (std::size_t r = 0; r < processes; ++r)
      sizes.push_back(now.size() * (r + 1) / processes - now.size() * r / processes);
    std::vector<double> own(sizes[static_cast<std::size_t>(rank())]);
    add_to_owners(now, sizes, own);
    gather(own, sizes, now);
  }
}

void share(const Processes* processes, int root, std::string& text) {
  std::vector<char> characters(text.begin(), text.end());
  share(processes, root, characters);
  text.assign(characters.begin(), characters.end());
}

}  // namespace proxbench
