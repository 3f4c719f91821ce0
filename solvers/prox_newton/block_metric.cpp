#include "solvers/prox_newton/block_metric.h"

#include <algorithm>

#include "core/base/grouping.h"
#include "core/base/sum.h"
#include "core/quasi_newton/lbfgs.h"
#include "solvers/prox_newton/diagonals.h"

namespace proxbench::prox_newton {

static_assert(BlockMetric::kMostEntries <
              double{SymmetricBlock::kMostRows} * double{SymmetricBlock::kMostRows});

double BlockMetric::entries(const Objective& objective, std::span<const Coord> index) {
  std::vector<double> size(objective.outputs(), 0.0);
  for (const Coord c : index)
    if (c < objective.unary_weights()) size[c % objective.outputs()] += 1.0;
  double sum = 0.0;
  for (const double n : size) sum += n * n;
  return sum;
}

bool BlockMetric::build(const Objective& objective, const Residual& residual, std::span<const Coord> index,
                        const StopToken& stop) {
  const Index outputs = objective.outputs();
  const std::size_t n = index.size();
  const std::size_t unary = objective.map().count_unary(index);

  const Grouping by_output(unary, outputs, [&](std::size_t i) { return index[i] % outputs; });

  place_.resize(n);
  diagonal_.assign(n, 0.0);
  blocks_.clear();
  std::vector<Index> output_of;
  std::vector<std::vector<Index>> features;
  std::size_t products = 0;
  for (Index k = 0; k < outputs; ++k) {
    const std::span<const std::size_t> of_block = by_output.of(k);
    if (of_block.empty()) continue;
    features.emplace_back();
    for (std::size_t i = 0; i < of_block.size(); ++i) {
      place_[of_block[i]] = {products + i, static_cast<std::uint32_t>(blocks_.size()), 0.0};
      features.back().push_back(static_cast<Index>(index[of_block[i]] / outputs));
    }
    blocks_.emplace_back().first = products;
    output_of.push_back(k);
    products += padded(of_block.size());
  }
  for (std::size_t i = unary; i < n; ++i) place_[i] = {products++, kNoBlock, 0.0};
  product_.assign(products, 0.0);

  std::vector<SymmetricBlock> made = second_derivatives(
      objective.map().x(), objective.parallel(), features,
      [&](std::size_t b) {
        const Spread spread(residual, output_of[b]);
        std::vector<double> everywhere(objective.map().x().positions());
        for (std::size_t p = 0; p < everywhere.size(); ++p) everywhere[p] = spread(p);
        return everywhere;
      },
      true, stop);
  if (stop.requested()) return false;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    static_cast<SymmetricBlock&>(blocks_[b]) = std::move(made[b]);
    for (std::size_t i = 0; i < blocks_[b].size; ++i)
      diagonal_[by_output.of(output_of[b])[i]] = blocks_[b].exact_diagonal[i];
  }
  if (unary < n)
    std::ranges::copy(hessian_diagonal(objective, residual, index.subspan(unary)), &diagonal_[unary]);

  ridge_ = ridge_of(diagonal_) + objective.mu();
  for (std::size_t i = 0; i < n; ++i) {
    double sampled = 0.0;
    if (place_[i].block != kNoBlock) {
      const Block& block = blocks_[place_[i].block];
      sampled = block.diagonal(place_[i].at - block.first);
    }
    diagonal_[i] = std::max(diagonal_[i], sampled) + ridge_;
    place_[i].excess = diagonal_[i] - sampled;
  }
  return true;
}

void BlockMetric::take_rows(const Objective& objective, const Residual& residual,
                            std::span<const Coord> index, std::span<const std::uint32_t> from) {
  std::vector<Coord> fresh;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] == CompactLbfgs::kNew) fresh.push_back(index[i]);
  const std::vector<double> of_fresh = hessian_diagonal(objective, residual, fresh);
  std::vector<Place> place(from.size());
  std::vector<double> diagonal(from.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (from[i] != CompactLbfgs::kNew) {
      place[i] = place_[from[i]];
      diagonal[i] = diagonal_[from[i]];
      continue;
    }
    diagonal[i] = of_fresh[next++] + ridge_;
    place[i] = {product_.size(), kNoBlock, diagonal[i]};
    product_.push_back(0.0);
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

const BlockRow* BlockMetric::start() {
  std::ranges::fill(product_, 0.0);
  rows_.resize(place_.size());
  for (std::size_t j = 0; j < place_.size(); ++j) {
    const Place& place = place_[j];
    BlockRow& row = rows_[j];
    row = BlockRow{};
    row.product = product_.data() + place.at;
    row.excess = place.excess;
    if (place.block == kNoBlock) continue;
    const Block& block = blocks_[place.block];
    const std::size_t i = place.at - block.first;
    row.block = product_.data() + block.first;
    if (block.is_dense()) {
      row.size = padded(block.size);
      row.dense = block.dense_row(i);
    } else {
      row.slot = block.slot.data() + block.begin[i];
      row.value = block.value.data() + block.begin[i];
      row.size = block.begin[i + 1] - block.begin[i];
    }
  }
  return rows_.data();
}

void BlockMetric::multiply(std::span<const double> d, std::vector<double>& out) {
  start();
  multiply_into(d, product_.data(), out);
}

std::vector<std::vector<double>> BlockMetric::multiply(std::span<const std::vector<double>> d,
                                                       const Parallel& parallel) {
  start();
  std::vector<std::vector<double>> out(d.size());
  parallel.for_each(d.size(), [&](std::size_t i) {
    AlignedVector<double> product(product_.size(), 0.0);
    multiply_into(d[i], product.data(), out[i]);
  });
  return out;
}

/// `product` must hold as many zeros as product_ has numbers.
void BlockMetric::multiply_into(std::span<const double> d, double* product, std::vector<double>& out) const {
  for (std::size_t j = 0; j < d.size(); ++j) {
    if (d[j] == 0.0) continue;
    BlockRow row = rows_[j];
    row.product = product + place_[j].at;
    if (row.block != nullptr) row.block = product + blocks_[place_[j].block].first;
    descent_kernels().add_block_row(row, d[j]);
  }
  out.resize(d.size());
  for (std::size_t j = 0; j < d.size(); ++j) out[j] = product[place_[j].at];
}

}  // namespace proxbench::prox_newton
