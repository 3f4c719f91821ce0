#include "solvers/block_metric.h"

#include <algorithm>
#include <cmath>

#include "core/kernels.h"
#include "core/lbfgs.h"

namespace proxbench {

namespace {

/// m*(1 - m) below which a position tells nothing of an output's curvature.
constexpr double kNegligible = 1e-5;
/// Share of the mean of a working set's second derivatives that all are raised by, so that coordinates whose
/// curvature has all but gone do not run away.
constexpr double kRidge = 1e-3;
/// Positions that a block is made from, relative to its size, and at least: with more, they are sampled in
/// proportion to m*(1 - m).
constexpr double kSamples = 30.0, kFewestSamples = 1000.0;

/// A fixed number in [0, 1) for each position.
double sampling_number(std::uint64_t position) {
  std::uint64_t x = (position + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 32)) * 0xD6E8FEB86659FD93u;
  return static_cast<double>((x ^ (x >> 32)) >> 11) * 0x1p-53;
}

}  // namespace

void BlockMetric::build(const Objective& objective, const Residual& residual, std::span<const Coord> index,
                        std::size_t largest) {
  const DesignMatrix& x = objective.x();
  const Index outputs = objective.outputs();
  const std::size_t n = index.size();
  const std::size_t unary = static_cast<std::size_t>(
      std::lower_bound(index.begin(), index.end(), objective.unary_weights()) - index.begin());

  // Coordinates by output: order[begin[k]..begin[k+1]).
  std::vector<std::size_t> begin(outputs + std::size_t{1}, 0), order(unary);
  for (std::size_t i = 0; i < unary; ++i) ++begin[index[i] % outputs + 1];
  for (Index k = 0; k < outputs; ++k) begin[k + 1] += begin[k];
  std::vector<std::size_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < unary; ++i) order[next[index[i] % outputs]++] = i;

  place_.resize(n);
  std::vector<Index> used;
  std::size_t products = 0, values = 0;
  for (Index k = 0; k < outputs; ++k) {
    const std::size_t size = begin[k + 1] - begin[k], stride = size <= largest ? padded(size) : 0;
    if (size > 0) used.push_back(k);
    for (std::size_t i = 0; i < size; ++i)
      place_[order[begin[k] + i]] = {products + i, values + i * stride, products,
                                     static_cast<std::uint32_t>(stride)};
    products += padded(size);
    values += size * stride;
  }
  for (std::size_t i = unary; i < n; ++i) place_[i] = {products++, 0, 0, 0};
  product_.assign(products, 0.0);
  values_.assign(values, 0.0);
  diagonal_.assign(n, 0.0);

  objective.parallel().for_each(used.size(), [&](std::size_t task) {
    const Index k = used[task];
    const std::size_t size = begin[k + 1] - begin[k];
    const bool dense = size <= largest;
    const double* column = residual.find(k);
    const bool owns = residual.owns(k);
    const double share = owns ? 1.0 : residual.share[k];
    // The marginal's spread at each position, its sum, and from it how many positions are looked at.
    const auto spread = [&](std::size_t p) {
      double m = share * column[p];
      if (owns)
        for (const Index on : objective.oracle().gold_outputs(static_cast<Index>(p)))
          if (on == k) m += 1.0;
      const double h = m * (1.0 - m);
      return h > kNegligible ? h : 0.0;
    };
    double total = 0.0;
    for (std::size_t p = 0; p < x.positions(); ++p) total += spread(p);
    const double samples = std::max(kSamples * static_cast<double>(dense ? size : 0), kFewestSamples);
    const double certain = std::min(total / samples, 0.25);  // spread from which on a position is taken surely
    std::size_t step = 1;
    while (2 * step <= 4 && 2 * step * 2 <= x.blocks() && total / 0.25 >= 2.0 * static_cast<double>(step) * samples)
      step *= 2;
    std::vector<double> h(x.block_positions());
    std::vector<std::uint32_t> count(x.block_positions());
    std::vector<std::uint64_t> start(x.block_positions() + 1);
    struct Entry {
      std::uint32_t slot;
      double value;
    };
    std::vector<Entry> entries;
    for (std::size_t b = 0; b < x.blocks(); b += step) {
      const std::size_t first = b * x.block_positions();
      const std::size_t positions = std::min<std::size_t>(x.block_positions(), x.positions() - first);
      for (std::size_t p = 0; p < positions; ++p) {
        h[p] = spread(first + p);
        if (h[p] < certain) h[p] = sampling_number(first + p) * certain < h[p] ? certain : 0.0;
        h[p] *= static_cast<double>(step);
      }
      std::fill(count.begin(), count.end(), 0u);
      for (std::size_t i = 0; i < size; ++i) {
        const auto block = x.column_block(static_cast<Index>(index[order[begin[k] + i]] / outputs), b);
        double sum = 0.0;
        for (std::size_t e = 0; e < block.size; ++e) {
          const double value = block.value == nullptr ? 1.0 : block.value[e];
          sum += value * value * h[block.offset[e]];
          if (h[block.offset[e]] > 0.0) ++count[block.offset[e]];
        }
        diagonal_[order[begin[k] + i]] += sum;
      }
      if (!dense) continue;
      start[0] = 0;
      for (std::size_t p = 0; p < positions; ++p) start[p + 1] = start[p] + count[p];
      entries.resize(start[positions]);
      std::fill(count.begin(), count.end(), 0u);
      for (std::size_t i = 0; i < size; ++i) {
        const auto block = x.column_block(static_cast<Index>(index[order[begin[k] + i]] / outputs), b);
        for (std::size_t e = 0; e < block.size; ++e) {
          const std::uint16_t p = block.offset[e];
          if (h[p] > 0.0)
            entries[start[p] + count[p]++] = {static_cast<std::uint32_t>(i),
                                              block.value == nullptr ? 1.0 : block.value[e]};
        }
      }
      for (std::size_t p = 0; p < positions; ++p)
        for (std::uint64_t a = start[p]; a < start[p + 1]; ++a) {
          const double scaled = h[p] * entries[a].value;
          double* row = values_.data() + place_[order[begin[k] + entries[a].slot]].column;
          for (std::uint64_t c = start[p]; c <= a; ++c) row[entries[c].slot] += scaled * entries[c].value;
        }
    }
    if (!dense) return;
    for (std::size_t i = 0; i < size; ++i) {
      double* row = values_.data() + place_[order[begin[k] + i]].column;
      for (std::size_t c = 0; c < i; ++c)
        values_[place_[order[begin[k] + c]].column + i] = row[c];
    }
  });

  const std::vector<double> gold = unary < n ? objective.oracle().gold_extra() : std::vector<double>();
  for (std::size_t i = unary; i < n; ++i) {
    const std::size_t e = index[i] - objective.unary_weights();
    diagonal_[i] = std::max(residual.extra[e] + gold[e], 0.0);
  }

  double mean = 0.0;
  for (const double a : diagonal_) mean += a;
  mean /= static_cast<double>(std::max<std::size_t>(n, 1));
  const double ridge = ridge_ = kRidge * mean + objective.mu();
  for (std::size_t i = 0; i < n; ++i) {
    diagonal_[i] += ridge;
    if (place_[i].size > 0) values_[place_[i].column + (place_[i].at - place_[i].first)] += ridge;
  }
}

void BlockMetric::take_rows(const Objective& objective, const Residual& residual,
                            std::span<const Coord> index, std::span<const std::uint32_t> from) {
  const DesignMatrix& x = objective.x();
  std::vector<Place> place(from.size());
  std::vector<double> diagonal(from.size());
  std::vector<double> gold;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != CompactLbfgs::kNew) {
      place[i] = place_[from[i]];
      diagonal[i] = diagonal_[from[i]];
      continue;
    }
    place[i] = {product_.size(), 0, 0, 0};
    product_.push_back(0.0);
    double sum = 0.0;
    if (index[i] >= objective.unary_weights()) {
      const std::size_t e = index[i] - objective.unary_weights();
      if (gold.empty()) gold = objective.oracle().gold_extra();
      sum = std::max(residual.extra[e] + gold[e], 0.0);
    } else {
      const Index j = static_cast<Index>(index[i] / objective.outputs()),
                  k = static_cast<Index>(index[i] % objective.outputs());
      const double* column = residual.find(k);
      const bool owns = residual.owns(k);
      const double share = owns ? 1.0 : residual.share[k];
      for (std::size_t b = 0; b < x.blocks(); ++b) {
        const auto block = x.column_block(j, b);
        for (std::size_t e = 0; e < block.size; ++e) {
          const std::size_t p = b * x.block_positions() + block.offset[e];
          double m = share * column[p];
          if (owns)
            for (const Index on : objective.oracle().gold_outputs(static_cast<Index>(p)))
              if (on == k) m += 1.0;
          const double value = block.value == nullptr ? 1.0 : block.value[e];
          sum += value * value * m * (1.0 - m);
        }
      }
    }
    diagonal[i] = sum + ridge_;
  }
  place_.swap(place);
  diagonal_.swap(diagonal);
}

void BlockMetric::keep_rows(std::span<const std::uint32_t> kept) {
  for (std::size_t i = 0; i < kept.size(); ++i) {
    place_[i] = place_[kept[i]];
    diagonal_[i] = diagonal_[kept[i]];
  }
  place_.resize(kept.size());
  diagonal_.resize(kept.size());
}

void BlockMetric::start() {
  std::fill(product_.begin(), product_.end(), 0.0);
}

void BlockMetric::add(std::size_t j, double z) {
  const Place& place = place_[j];
  if (place.size == 0) {
    product_[place.at] += z * diagonal_[j];
    return;
  }
  const kernels::Pack zz = kernels::splat(z);
  double* out = product_.data() + place.first;
  const double* column = values_.data() + place.column;
  for (std::size_t c = 0; c < place.size; c += kPad)
    kernels::store(out + c, kernels::load(out + c) + zz * kernels::load(column + c));
}

void BlockMetric::multiply(std::span<const double> d, std::vector<double>& out) {
  start();
  for (std::size_t j = 0; j < d.size(); ++j)
    if (d[j] != 0.0) add(j, d[j]);
  out.resize(d.size());
  for (std::size_t j = 0; j < d.size(); ++j) out[j] = product(j);
}

}  // namespace proxbench
