#include "core/work.h"

namespace proxbench {
namespace {

constexpr double kScore = sizeof(double), kOffset = sizeof(std::uint16_t);

/// Bytes of one entry of a column of X.
double entry_bytes(const DesignMatrix& x) {
  return kOffset + (x.binary() ? 0.0 : sizeof(double));
}

/// Entries of X under the coordinates of unary weights.
double entries_under(const Objective& objective, std::span<const Coord> index) {
  double entries = 0.0;
  for (const Coord c : index)
    if (c < objective.unary_weights())
      entries += static_cast<double>(objective.x().column_size(static_cast<Index>(c / objective.outputs())));
  return entries;
}

double cells(const OutputColumns& columns, std::size_t positions) {
  return static_cast<double>(columns.columns) * static_cast<double>(positions);
}

}  // namespace

Work scores_work(const Objective& objective, std::span<const Coord> index) {
  const double entries = entries_under(objective, index);
  return {2.0 * entries, (entry_bytes(objective.x()) + 2.0 * kScore) * entries};
}

Work advance_work(const Objective& objective, const Scores& direction) {
  const double scores = cells(direction, objective.x().positions());
  return {2.0 * scores, 3.0 * kScore * scores};
}

Work inference_work(const Objective& objective, const ScorePoint& at, const Residual* residual,
                    std::size_t positions) {
  double scores = cells(at.base, positions);
  if (at.direction != nullptr) scores += cells(*at.direction, positions);
  if (residual != nullptr) scores += cells(*residual, positions);
  const double share = static_cast<double>(positions) / static_cast<double>(objective.x().positions());
  return {share * objective.oracle().inference_flops(at, residual != nullptr), kScore * scores};
}

Work partial_gradient_work(const Objective& objective, std::span<const Coord> set) {
  const double entries = entries_under(objective, set);
  return {2.0 * entries, (entry_bytes(objective.x()) + kScore) * entries};
}

Work full_gradient_work(const Objective& objective, const Residual& residual) {
  const DesignMatrix& x = objective.x();
  const double nonzeros = static_cast<double>(x.nonzeros());
  const double meetings = nonzeros * static_cast<double>(residual.columns);
  return {(x.binary() ? 1.0 : 2.0) * meetings, entry_bytes(x) * nonzeros + kScore * meetings};
}

}  // namespace proxbench
