#include "experiments/data/sparse_line.h"

#include <algorithm>

#include "core/base/options.h"

namespace proxbench {

SparseEntry parse_entry(const LineReader& in, std::string_view word, const SparseLineRules& rules) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) in.fail(in_quotes(word), "feature:value");
  const std::string_view feature = word.substr(0, colon), value = word.substr(colon + 1);
  SparseEntry out{};
  if (!parse_integer(feature, out.feature) || out.feature < rules.first_feature)
    in.fail("feature " + in_quotes(feature),
            "an integer of at least " + std::to_string(rules.first_feature) + rules.first_feature_hint);
  out.name = feature.substr(std::min(feature.find_first_not_of("+-0"), feature.size() - 1));
  if (!parse_real(value, out.value) || (out.value < 0.0 && !rules.negative_values))
    in.fail("value " + in_quotes(value) + " of feature " + std::to_string(out.feature),
            rules.negative_values ? "a finite real number" : "a finite real number of at least 0");
  return out;
}

}  // namespace proxbench
