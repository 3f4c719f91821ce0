#include "solvers/gdmm/rounding.h"

#include <algorithm>

namespace proxbench {
namespace {

double& weight_at(std::vector<LabelWeight>& all, Index label) {
  for (LabelWeight& one : all)
    if (one.label == label) return one.weight;
  all.push_back({label, 0.0});
  return all.back().weight;
}

/// Scales down the pairs of each label at this end if they sum to more than the label's target. Returns the
/// target minus the sum, by label.
std::vector<LabelWeight> scale_down(std::span<const LabelWeight> target, Index PairWeight::*end,
                                    std::vector<PairWeight>& pairs) {
  std::vector<LabelWeight> sum, missing(target.begin(), target.end());
  for (const PairWeight& pair : pairs) weight_at(sum, pair.*end) += pair.weight;
  for (LabelWeight& one : sum) {
    double& left = weight_at(missing, one.label);
    const double factor = one.weight > left ? left / one.weight : 1.0;
    left = one.weight > left ? 0.0 : left - one.weight;
    one.weight = factor;
  }
  for (PairWeight& pair : pairs) pair.weight *= weight_at(sum, pair.*end);
  return missing;
}

}  // namespace

void round_onto(std::span<const LabelWeight> left, std::span<const LabelWeight> right,
                std::vector<PairWeight>& pairs) {
  scale_down(left, &PairWeight::left, pairs);
  const std::vector<LabelWeight> columns = scale_down(right, &PairWeight::right, pairs);
  // Scaling the columns lowered the rows, too. This finds by how much each row is below its target.
  const std::vector<LabelWeight> rows = scale_down(left, &PairWeight::left, pairs);
  double sum = 0.0;
  for (const LabelWeight& row : rows) sum += row.weight;
  if (sum > 0.0)
    for (const LabelWeight& row : rows)
      for (const LabelWeight& column : columns) {
        if (row.weight == 0.0 || column.weight == 0.0) continue;
        const double more = row.weight * column.weight / sum;
        const auto at = std::ranges::find_if(pairs, [&](const PairWeight& pair) {
          return pair.left == row.label && pair.right == column.label;
        });
        if (at != pairs.end())
          at->weight += more;
        else
          pairs.push_back({row.label, column.label, more});
      }
  std::erase_if(pairs, [](const PairWeight& pair) { return pair.weight == 0.0; });
}

}  // namespace proxbench
