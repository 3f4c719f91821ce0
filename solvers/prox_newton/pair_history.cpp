#include "solvers/prox_newton/pair_history.h"

#include <algorithm>

#include "core/base/grouping.h"
#include "core/base/sum.h"
#include "solvers/prox_newton/settings.h"

namespace proxbench::prox_newton {

namespace {

/// Adds value * column[offset] over the block's entries to `sum`, in order.
double gathered(const ColumnBlock& block, const float* column, double sum) {
  for (std::size_t e = 0; e < block.size; ++e) {
    const double change = static_cast<double>(column[block.offset[e]]);
    sum += block.value != nullptr ? block.value[e] * change : change;
  }
  return sum;
}

}  // namespace

std::size_t PairHistory::capacity(const Objective& objective, std::size_t wanted) {
  if (objective.map().collapses()) return 0;
  const std::size_t bytes =
      sizeof(float) *
      std::max<std::size_t>(padded(objective.map().x().whole_positions()) * objective.outputs(), 1);
  return std::min(wanted, kMostBytes / bytes);
}

void PairHistory::next_solve(std::size_t most) {
  ++solve_;
  std::erase_if(steps_, [&](const Step& step) { return solve_ - step.solve > most; });
}

void PairHistory::push(std::size_t capacity, std::span<const Coord> index, std::span<const double> d,
                       const Residual& before, const Residual& after, const Parallel& parallel) {
  Step step;
  if (steps_.size() >= capacity) {
    // The oldest step's memory is reused.
    step = std::move(steps_.front());
    steps_.erase(steps_.begin());
    step.index.clear();
    step.value.clear();
  }
  for (std::size_t j = 0; j < index.size(); ++j) {
    if (d[j] == 0.0) continue;
    step.index.push_back(index[j]);
    step.value.push_back(d[j]);
  }
  step.solve = solve_;
  stride_ = before.stride;
  step.change.resize(before.values.size());
  const Chunks chunks{before.values.size(), std::max<std::size_t>(stride_, 1)};
  parallel.for_each(chunks.count(), [&](std::size_t c) {
    for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i)
      step.change[i] = static_cast<float>(after.values[i] - before.values[i]);
  });
  step.extra.resize(before.extra.size());
  for (std::size_t e = 0; e < before.extra.size(); ++e) step.extra[e] = after.extra[e] - before.extra[e];
  steps_.push_back(std::move(step));
}

void PairHistory::keep(std::span<const std::size_t> steps) {
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i] != i) steps_[i] = std::move(steps_[steps[i]]);
  steps_.resize(steps.size());
}

std::vector<double> PairHistory::step(std::size_t i, std::span<const Coord> index) const {
  const Step& step = steps_[i];
  std::vector<double> out(index.size(), 0.0);
  for (std::size_t k = 0, j = 0; k < step.index.size(); ++k) {
    while (j < index.size() && index[j] < step.index[k]) ++j;
    if (j < index.size() && index[j] == step.index[k]) out[j] = step.value[k];
  }
  return out;
}

std::vector<std::vector<double>> PairHistory::gradient_changes(const Objective& objective,
                                                               std::span<const Coord> index) const {
  const DesignMatrix& x = objective.map().x();
  const Index outputs = objective.outputs();
  std::vector<std::vector<double>> out(steps_.size(), std::vector<double>(index.size(), 0.0));
  std::vector<double> sums(steps_.size() * index.size());  // of each step, one after the other
  // Sorted by output, so that a task reads one column of each step, one block of positions at a time.
  const std::size_t unary = objective.map().count_unary(index);
  const Grouping by_output(unary, outputs, [&](std::size_t c) { return index[c] % outputs; });
  std::vector<std::span<const std::size_t>> tasks;
  for (std::size_t k = 0; k < outputs; ++k)
    for (auto left = by_output.of(k); !left.empty(); left = left.subspan(tasks.back().size()))
      tasks.push_back(left.first(std::min(kTask, left.size())));
  objective.parallel().for_each(tasks.size(), [&](std::size_t t) {
    const std::size_t first = index[tasks[t].front()] % outputs * stride_;
    for (std::size_t b = 0; b < x.blocks(); ++b)
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        const float* column = steps_[i].change.data() + first + x.block_begin(b);
        for (const std::size_t c : tasks[t]) {
          double& sum = sums[i * index.size() + c];
          sum = gathered(x.column_block(static_cast<Index>(index[c] / outputs), b), column, sum);
        }
      }
  });
  add_processes(objective.parallel(), sums);
  for (std::size_t i = 0; i < steps_.size(); ++i)
    std::copy_n(sums.begin() + static_cast<std::ptrdiff_t>(i * index.size()), index.size(), out[i].begin());
  for (std::size_t c = unary; c < index.size(); ++c)
    for (std::size_t i = 0; i < steps_.size(); ++i)
      out[i][c] = steps_[i].extra[index[c] - objective.unary_weights()];
  return out;
}

}  // namespace proxbench::prox_newton
