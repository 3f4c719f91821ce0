#include "experiments/metrics/chunks.h"

#include <algorithm>
#include <string_view>

namespace proxbench {
namespace {

/// That of a chunk of an unknown output: no name holds a line end.
constexpr std::string_view kUnknownType = "\n";

struct Chunk {
  std::size_t begin, end;
  std::string_view type;
  bool operator==(const Chunk&) const = default;
};

std::vector<Chunk> chunks_of(const std::vector<std::string>& names, std::span<const Index> outputs) {
  std::vector<Chunk> out;
  bool open = false;
  for (std::size_t t = 0; t < outputs.size(); ++t) {
    if (outputs[t] == kUnknownOutput) {
      out.push_back({t, t + 1, kUnknownType});
      open = false;
      continue;
    }
    const std::string_view label = names[outputs[t]];
    if (label == "O") {
      open = false;
      continue;
    }
    const std::string_view type = label.substr(std::min<std::size_t>(2, label.size()));
    if (open && label.front() == 'I' && out.back().type == type)
      ++out.back().end;
    else
      out.push_back({t, t + 1, type});
    open = true;
  }
  return out;
}

}  // namespace

bool are_chunk_labels(const std::vector<std::string>& names) {
  const auto inside = [](const std::string& name) {
    return name == "B" || name == "I" || name.starts_with("B-") || name.starts_with("I-");
  };
  return std::any_of(names.begin(), names.end(), inside) &&
         std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name == "O" || inside(name); });
}

MatchCounts count_chunks(const std::vector<std::string>& names, std::span<const Index> gold,
                         std::span<const Index> guessed) {
  const std::vector<Chunk> expected = chunks_of(names, gold), found = chunks_of(names, guessed);
  MatchCounts out{0, static_cast<std::uint32_t>(expected.size()), static_cast<std::uint32_t>(found.size())};
  // Both ascend, and no two begin at the same position.
  for (std::size_t a = 0, b = 0; a < expected.size() && b < found.size();) {
    out.correct += expected[a] == found[b];
    const std::size_t at = std::min(expected[a].begin, found[b].begin);
    a += expected[a].begin == at;
    b += found[b].begin == at;
  }
  return out;
}

}  // namespace proxbench
