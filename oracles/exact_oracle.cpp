#include "oracles/exact_oracle.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"

namespace proxbench {

void make_rows(const ScorePoint& at, Index outputs, std::size_t begin, std::size_t n, double* rows) {
  const std::size_t width = padded(outputs);
  if (at.base.one_each()) {
    at.base.get_rows(begin, n, rows);
    if (at.direction == nullptr) return;
    AlignedVector<double> along(n * width);
    at.direction->get_rows(begin, n, along.data());
    kernels_in_use().add_scaled(rows, at.alpha, along.data(), along.size());
    return;
  }
  std::fill_n(rows, n * width, 0.0);
  for (const auto& [columns, factor] : {std::pair{&at.base, 1.0}, {at.direction, at.alpha}}) {
    if (columns == nullptr) continue;
    for (Index k = 0; k < outputs; ++k) {
      const double* column = columns->find(k);
      if (column == nullptr) continue;
      for (std::size_t t = 0; t < n; ++t) rows[t * width + k] += factor * column[begin + t];
    }
  }
}

namespace {

bool all_finite(std::span<const double> numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

}  // namespace

void ExactOracle::require_gold() const {
  if (!gold_known_) throw Error(unknown_, ", so the likelihood is not defined");
}

void ExactOracle::gold_structure(Index instance, std::span<Index> outputs) const {
  require_gold();
  std::ranges::copy(gold_of(instance), outputs.begin());
}

double ExactOracle::infer_instance(Index instance, const double* scores, std::span<const double> extra,
                                   double* residual, std::span<double> extra_residual) const {
  static thread_local Scores own;
  static thread_local Residual found;
  const std::size_t n = length(instance);
  for (OutputColumns* columns : {&own, &found}) {
    columns->column_of.clear();
    columns->share.clear();
    columns->stride = padded(n);
    columns->resize_columns(outputs_);
    columns->extra.resize(extra_weights());
  }
  own.set_rows(0, n, scores);
  std::copy_n(extra.begin(), extra_weights(), own.extra.begin());
  const double loss = infer_some({&instance, 1}, {own}, residual != nullptr ? &found : nullptr, Parallel());
  if (residual == nullptr) return loss;
  // In these scores each output has its own column. So no outputs share a column of the residual, and its
  // first columns are in the order of the outputs.
  found.columns = outputs_;
  found.get_rows(0, n, residual);
  std::copy_n(found.extra.begin(), extra_weights(), extra_residual.begin());
  return loss;
}

LossAndCost ExactOracle::maximise(const ScorePoint& at, Cost cost, Residual* residual,
                                  const Parallel& parallel) const {
  const std::vector<double> extra = at.extra();
  if (residual != nullptr) {
    residual->column_of.clear();
    residual->share.clear();
    residual->gold = true;
    residual->stride = padded(positions());
    residual->resize_columns(outputs_);
    std::ranges::fill(residual->values, 0.0);
    residual->extra.assign(extra.size(), 0.0);
  }
  const bool finite_extra = all_finite(extra);
  const std::vector<Index> chunk_begin = instance_chunks(begin_);
  const std::size_t chunks = chunk_begin.size() - 1;
  std::vector<std::vector<std::size_t>> extra_of_chunk(residual != nullptr ? chunks : 0);
  double sums[2];
  sum_chunks(parallel, chunks, 2, sums, [&](std::size_t chunk, double* part) {
    AlignedVector<double> rows;
    std::vector<Index> best;
    std::vector<std::size_t> on;
    CompensatedSum loss, costs;
    for (Index i = chunk_begin[chunk]; i < chunk_begin[chunk + 1]; ++i) {
      const std::size_t length = this->length(i);
      rows.resize(length * padded(outputs_));
      make_rows(at, outputs_, begin_[i], length, rows.data());
      best.resize(length);
      const LossAndCost value = best_structure(i, cost, rows.data(), extra, best);
      // If scores overflow, their maximum is meaningless.
      loss.add(finite_extra && all_finite(rows) ? value.loss : kNaN);
      costs.add(value.cost);
      if (residual == nullptr) continue;
      for (std::size_t t = 0; t < length; ++t) {
        const std::size_t p = begin_[i] + t;
        for (const Index k : outputs_on(best[t])) residual->column(k)[p] += 1.0;
        for (const Index k : gold_outputs(static_cast<Index>(p))) residual->column(k)[p] -= 1.0;
      }
      extra_on(best, on);
      extra_of_chunk[chunk].insert(extra_of_chunk[chunk].end(), on.begin(), on.end());
    }
    part[0] = loss.value();
    part[1] = costs.value();
  });
  if (residual != nullptr && !extra.empty()) {
    const std::vector<double> gold = gold_extra(parallel);
    for (const std::vector<std::size_t>& on : extra_of_chunk)
      for (const std::size_t e : on) residual->extra[e] += 1.0;
    add_processes(parallel, residual->extra);
    for (std::size_t e = 0; e < gold.size(); ++e) residual->extra[e] -= gold[e];
  }
  return {sums[0], sums[1]};
}

}  // namespace proxbench
