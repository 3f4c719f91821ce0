#include "plots/facts.h"

#include <cstring>
#include <utility>

namespace proxbench {

std::string with_commas(std::int64_t n) {
  std::string out = std::to_string(n);
  for (std::ptrdiff_t i = std::ssize(out) - 3; i > 0; i -= 3) out.insert(static_cast<std::size_t>(i), ",");
  return out;
}

bool says_synthetic(const std::string& description) {
  return strcasestr(description.c_str(), "synthetic") != nullptr;
}

std::string data_warnings(bool synthetic, bool comparable) {
  return std::string(synthetic ? "SYNTHETIC DATA: " : "") + (comparable ? "" : "NOT COMPARABLE: ");
}

std::string penalty_symbols(const RunParameters& run) {
  std::string text = penalty_text(run);
  for (const auto& [name, symbol] : {std::pair<std::string, const char*>{"lambda", "λ"}, {"mu", "μ"}})
    if (const std::size_t at = text.find(name); at != std::string::npos)
      text.replace(at, name.size(), symbol);
  return text;
}

}  // namespace proxbench
