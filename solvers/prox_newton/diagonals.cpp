#include "solvers/prox_newton/diagonals.h"

#include "core/base/sum.h"
#include "solvers/prox_newton/settings.h"
#include "solvers/shared/symmetric_block.h"

namespace proxbench::prox_newton {

std::vector<double> hessian_diagonal(const Objective& objective, const Residual& residual,
                                     std::span<const Coord> index) {
  const LinearMap& map = objective.map();
  const std::size_t unary = map.count_unary(index);
  std::vector<double> out(index.size());
  const double cells = static_cast<double>(map.x().positions()) * static_cast<double>(objective.outputs());
  if (residual.one_each() && map.entries_under(index) > cells) {
    // An adjoint is faster than a walk over the column of each coordinate.
    Residual spread = residual;
    objective.parallel().for_each(objective.outputs(), [&](std::size_t k) {
      const Spread of(residual, static_cast<Index>(k));
      for (std::size_t p = 0; p < map.x().positions(); ++p) spread.column(k)[p] = of(p);
    });
    map.partial_adjoint(spread, index, out, true);
  } else {
    const Chunks chunks{unary, kTask};
    objective.parallel().for_each(chunks.count(), [&](std::size_t c) {
      for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i)
        out[i] =
            second_derivative(map.x(), map.feature_of(index[i]), Spread(residual, map.output_of(index[i])));
    });
    add_processes(objective.parallel(), std::span(out).first(unary));
  }
  if (unary == index.size()) return out;
  const std::vector<double> gold = objective.oracle().gold_extra(objective.parallel());
  for (std::size_t i = unary; i < index.size(); ++i) {
    const std::size_t e = index[i] - objective.unary_weights();
    out[i] = std::max(residual.extra[e] + gold[e], 0.0);
  }
  return out;
}

std::vector<double> counts_diagonal(const Objective& objective, std::span<const Coord> index) {
  const DesignMatrix& x = objective.map().x();
  const std::vector<double> gold = objective.oracle().gold_extra(objective.parallel());
  double extra = 0.0, unary = 0.0;
  for (const double count : gold) extra += count / static_cast<double>(gold.size());
  for (std::size_t p = 0; p < x.positions(); ++p)
    unary += static_cast<double>(objective.oracle().gold_outputs(static_cast<Index>(p)).size());
  unary = add_processes(objective.parallel(), unary) / static_cast<double>(x.whole_positions()) /
          static_cast<double>(objective.outputs());
  std::vector<double> out(index.size(), 0.0);
  const Chunks chunks{index.size(), kTask};
  objective.parallel().for_each(chunks.count(), [&](std::size_t c) {
    const auto feature = [&](std::size_t i) { return objective.map().feature_of(index[i]); };
    for (std::size_t i = chunks.begin(c); i < chunks.end(c) && index[i] < objective.unary_weights(); ++i)
      out[i] = i > chunks.begin(c) && feature(i) == feature(i - 1)
                   ? out[i - 1]
                   : second_derivative(x, feature(i), [](std::size_t) { return 1.0; });
  });
  add_processes(objective.parallel(), out);
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = index[i] >= objective.unary_weights() ? extra : unary * out[i];
  return out;
}

double ridge_of(std::span<const double> diagonal) {
  double mean = 0.0;
  for (const double a : diagonal) mean += a;
  return kRidge * mean / static_cast<double>(std::max<std::size_t>(diagonal.size(), 1));
}

}  // namespace proxbench::prox_newton
