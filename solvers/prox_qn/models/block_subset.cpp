#include "solvers/prox_qn/models/block_subset.h"

#include <Eigen/Cholesky>
#include <algorithm>

#include "solvers/prox_qn/models/single_kernels.h"

namespace proxbench {

namespace {

/// Numbers that one task takes.
constexpr double kTaskNumbers = 16384.0;
/// A block's inverse serves other rows of it as long as at most this share of them, or of its own, is not in
/// the other.
constexpr double kNearlyTheSame = 0.05;

}  // namespace

void BlockSubset::take(const BlockMetric& metric, std::span<const std::uint32_t> rows,
                       const Parallel& parallel) {
  if (version_ == metric.version_ && std::equal(rows.begin(), rows.end(), rows_.begin(), rows_.end())) return;
  version_ = metric.version_;
  rows_.assign(rows.begin(), rows.end());
  sort_by_block(metric);
  make_room(metric);
  parallel.for_each(blocks_.size(), [&](std::size_t b) {
    if (!places(b).empty()) copy_block(metric, b);
  });
  cut_tasks();
}

void BlockSubset::sort_by_block(const BlockMetric& metric) {
  const std::size_t blocks = metric.blocks_.size();
  const auto group = [&](std::uint32_t row) {
    const std::uint32_t block = metric.place_[row].block;
    return block == BlockMetric::kNoBlock ? blocks : block;
  };
  begin_.assign(blocks + 2, 0);
  order_.resize(rows_.size());
  excess_.resize(rows_.size());
  for (const std::uint32_t row : rows_) ++begin_[group(row) + 1];
  for (std::size_t b = 0; b + 1 < begin_.size(); ++b) begin_[b + 1] += begin_[b];
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    order_[next[group(rows_[i])]++] = static_cast<std::uint32_t>(i);
    excess_[i] = metric.place_[rows_[i]].excess;
  }
}

/// Inverses stay where the matrix is the one that they are of.
void BlockSubset::make_room(const BlockMetric& metric) {
  if (built_ != metric.built_) blocks_.clear();
  built_ = metric.built_;
  blocks_.resize(metric.blocks_.size());
  std::size_t numbers = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    Block& block = blocks_[b];
    block.dense.clear();
    block.begin.clear();
    block.slot.clear();
    block.value.clear();
    block.place.clear();
    block.first = numbers;
    block.width = padded_single(places(b).size());
    numbers += block.width;
  }
  x_.assign(numbers, 0.0f);
  product_.resize(numbers);
}

/// Of the subset's rows in block b.
std::vector<std::uint32_t> BlockSubset::slots(const BlockMetric& metric, std::size_t b) const {
  std::vector<std::uint32_t> out;
  out.reserve(places(b).size());
  for (const std::uint32_t i : places(b))
    out.push_back(static_cast<std::uint32_t>(metric.place_[rows_[i]].at - metric.blocks_[b].first));
  return out;
}

void BlockSubset::copy_block(const BlockMetric& metric, std::size_t b) {
  const SymmetricBlock& from = metric.blocks_[b];
  const std::vector<std::uint32_t> some = slots(metric, b);
  Block& to = blocks_[b];
  if (from.is_dense()) {
    to.dense.assign(some.size() * to.width, 0.0f);
    from.for_each_within(some, [&](std::size_t i, std::size_t j, double value) {
      to.dense[i * to.width + j] = static_cast<float>(value);
    });
    return;
  }
  to.begin.assign(some.size() + 1, 0);
  from.for_each_within(some, [&](std::size_t i, std::size_t j, double value) {
    to.slot.push_back(static_cast<std::uint32_t>(j));
    to.value.push_back(static_cast<float>(value));
    ++to.begin[i + 1];
  });
  for (std::size_t i = 0; i < some.size(); ++i) to.begin[i + 1] += to.begin[i];
}

void BlockSubset::cut_tasks() {
  numbers_ = 0.0;
  task_begin_.assign(1, 0);
  double in_task = 0.0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    in_task += static_cast<double>(blocks_[b].dense.size() + blocks_[b].slot.size());
    if (in_task < kTaskNumbers && b + 1 < blocks_.size()) continue;
    task_begin_.push_back(b + 1);
    numbers_ += in_task;
    in_task = 0.0;
  }
}

void BlockSubset::multiply(std::span<const double> x, std::span<double> out, const Parallel& parallel) {
  const SingleKernels& kernels = single_kernels();
  for_each_of(parallel, numbers_, task_begin_.size() - 1, [&](std::size_t task) {
    for (std::size_t b = task_begin_[task]; b < task_begin_[task + 1]; ++b) {
      const std::span<const std::uint32_t> some = places(b);
      if (some.empty()) continue;
      const Block& block = blocks_[b];
      float* from = x_.data() + block.first;
      float* product = product_.data() + block.first;
      for (std::size_t i = 0; i < some.size(); ++i) from[i] = static_cast<float>(x[some[i]]);
      if (block.begin.empty())
        kernels.rows_times(block.dense.data(), block.width, some.size(), from, product);
      else
        for (std::size_t i = 0; i < some.size(); ++i) {
          float sum = 0.0f;
          for (std::size_t e = block.begin[i]; e < block.begin[i + 1]; ++e)
            sum += block.value[e] * from[block.slot[e]];
          product[i] = sum;
        }
      for (std::size_t i = 0; i < some.size(); ++i)
        out[some[i]] = static_cast<double>(product[i]) + excess_[some[i]] * x[some[i]];
    }
  });
  for (const std::uint32_t i : places(blocks_.size())) out[i] = excess_[i] * x[i];
}

void BlockSubset::invert(const BlockMetric& metric, const Parallel& parallel) {
  parallel.for_each(blocks_.size(), [&](std::size_t b) {
    Block& block = blocks_[b];
    const std::size_t n = places(b).size();
    if (!block.place.empty() || n > kMostInverted) return;
    const std::vector<std::uint32_t> some = slots(metric, b);
    const double others = kNearlyTheSame * static_cast<double>(n);
    if (const std::size_t found = block.find(some);
        static_cast<double>(n - found) <= others &&
        static_cast<double>(block.inverted.size() - found) <= others)
      return;
    std::vector<double> excess;
    for (const std::uint32_t i : places(b)) excess.push_back(excess_[i]);
    block.invert(metric.blocks_[b], some, excess);
    block.find(some);
  });
}

/// Fills `place`, and returns how many of the slots the inverse is on.
std::size_t BlockSubset::Block::find(std::span<const std::uint32_t> slots) {
  std::size_t found = 0, at = 0;
  place.assign(slots.size(), kNone);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    while (at < inverted.size() && inverted[at] < slots[i]) ++at;
    if (at == inverted.size() || inverted[at] != slots[i]) continue;
    place[i] = static_cast<std::uint32_t>(at);
    ++found;
  }
  return found;
}

/// On these slots; on none where the matrix is not positive definite.
void BlockSubset::Block::invert(const SymmetricBlock& from, std::span<const std::uint32_t> slots,
                                std::span<const double> excess) {
  const std::size_t n = slots.size();
  const auto order = static_cast<Eigen::Index>(n);
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(order, order);
  from.for_each_within(slots, [&](std::size_t i, std::size_t j, double entry) {
    matrix(static_cast<Eigen::Index>(j), static_cast<Eigen::Index>(i)) = entry;
  });
  for (std::size_t i = 0; i < n; ++i)
    matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i)) += excess[i];
  const Eigen::LLT<Eigen::MatrixXd> factor(matrix);
  inverted.clear();
  if (factor.info() != Eigen::Success) return;
  const Eigen::MatrixXd solution = factor.solve(Eigen::MatrixXd::Identity(order, order));
  const std::size_t row = padded_single(n);
  inverted.assign(slots.begin(), slots.end());
  inverse.assign(n * row, 0.0f);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      inverse[i * row + j] =
          static_cast<float>(solution(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
}

void BlockSubset::precondition(std::span<const double> x, double factor, std::span<double> out,
                               const Parallel& parallel) const {
  const SingleKernels& kernels = single_kernels();
  for_each_of(parallel, numbers_, task_begin_.size() - 1, [&](std::size_t task) {
    AlignedVector<float> from, product;
    for (std::size_t b = task_begin_[task]; b < task_begin_[task + 1]; ++b) {
      const Block& block = blocks_[b];
      if (block.place.empty() || block.inverted.empty()) continue;
      const std::span<const std::uint32_t> some = places(b);
      const std::size_t width = padded_single(block.inverted.size());
      from.assign(width, 0.0f);
      product.resize(width);
      for (std::size_t i = 0; i < block.place.size(); ++i)
        if (block.place[i] != kNone) from[block.place[i]] = static_cast<float>(x[some[i]]);
      kernels.rows_times(block.inverse.data(), width, block.inverted.size(), from.data(), product.data());
      for (std::size_t i = 0; i < block.place.size(); ++i)
        if (block.place[i] != kNone) out[some[i]] = factor * static_cast<double>(product[block.place[i]]);
    }
  });
}

}  // namespace proxbench
