#include "experiments/config/slurm_time.h"

#include <charconv>
#include <vector>

namespace proxbench {
namespace {

/// The whole numbers between colons; none where one is missing or no number.
std::vector<double> slurm_fields(std::string_view text) {
  std::vector<double> out;
  for (;;) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    unsigned value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + colon, value);
    if (failure != std::errc() || end != text.data() + colon) return {};
    out.push_back(value);
    if (colon == text.size()) return out;
    text.remove_prefix(colon + 1);
  }
}

}  // namespace

std::optional<double> slurm_seconds(std::string_view text) {
  const std::size_t dash = text.find('-');
  const bool with_days = dash != std::string_view::npos;
  const std::vector<double> days = with_days ? slurm_fields(text.substr(0, dash)) : std::vector<double>{0.0};
  std::vector<double> rest = slurm_fields(with_days ? text.substr(dash + 1) : text);
  if (days.size() != 1 || rest.empty() || rest.size() > 3) return std::nullopt;
  if (!with_days && rest.size() < 3) rest.insert(rest.begin(), 0.0);  // minutes come first
  rest.resize(3);
  const double seconds = ((days[0] * 24 + rest[0]) * 60 + rest[1]) * 60 + rest[2];
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

}  // namespace proxbench
