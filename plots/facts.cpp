#include "plots/facts.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <utility>

namespace proxbench {

std::string with_commas(std::int64_t n) {
  const std::string digits = std::to_string(n);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

bool says_synthetic(const std::string& description) {
  std::string text = description;
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text.find("synthetic") != std::string::npos;
}

std::string data_warnings(bool synthetic, bool comparable) {
  return std::string(synthetic ? "SYNTHETIC DATA: " : "") + (comparable ? "" : "NOT COMPARABLE: ");
}

std::string penalty_symbols(const Penalty& penalty, const Loss& loss) {
  std::string text = problem_text(penalty, loss);
  for (const auto& [name, symbol] : {std::pair<std::string, const char*>{"lambda", "λ"}, {"mu", "μ"}})
    if (const std::size_t at = text.find(name); at != std::string::npos)
      text.replace(at, name.size(), symbol);
  return text;
}

std::string distinct_counts(const std::vector<const Run*>& runs, const CountOfRun& count) {
  std::set<std::int64_t> values;
  for (const Run* run : runs)
    if (const std::optional<std::uint64_t> value = count(*run))
      values.insert(static_cast<std::int64_t>(*value));
  std::string out;
  for (const std::int64_t value : values) out += (out.empty() ? "" : " / ") + with_commas(value);
  return out;
}

}  // namespace proxbench
