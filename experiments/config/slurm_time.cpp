#include "experiments/config/slurm_time.h"

#include <regex>
#include <string>

namespace proxbench {

std::optional<double> slurm_seconds(std::string_view text) {
  static const std::regex form(R"((?:(\d{1,9})-)?(\d{1,9})(?::(\d{1,9}))?(?::(\d{1,9}))?)");
  std::cmatch fields;
  if (!std::regex_match(text.data(), text.data() + text.size(), fields, form)) return std::nullopt;
  const auto number = [&](std::size_t i) { return fields[i].matched ? std::stod(fields[i].str()) : 0.0; };
  const bool minutes_first = !fields[1].matched && !fields[4].matched;
  const double seconds = minutes_first ? number(2) * 60 + number(3)
                                       : ((number(1) * 24 + number(2)) * 60 + number(3)) * 60 + number(4);
  return seconds > 0 ? std::optional(seconds) : std::nullopt;
}

}  // namespace proxbench
