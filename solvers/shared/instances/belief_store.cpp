#include "solvers/shared/instances/belief_store.h"

#include <algorithm>
#include <string>

#include "core/kernels/kernel_table.h"
#include "solvers/shared/instances/passes.h"

namespace proxbench {

double BeliefStore::bytes(const Objective& objective, bool single) {
  double numbers = 0.0;
  for (Index i = 0; i < objective.instances(); ++i)
    numbers += static_cast<double>(objective.beliefs().belief_size(i).all());
  return numbers * (single ? sizeof(float) : sizeof(double));
}

BeliefStore::BeliefStore(const Objective& objective, bool single, double limit_gigabytes) : begin_{0} {
  require_memory(bytes(objective, single), limit_gigabytes,
                 std::string("the ") + (single ? "" : "double precision ") + "marginals of " +
                     std::to_string(objective.instances()) + " instances");
  for (Index i = 0; i < objective.instances(); ++i)
    begin_.push_back(begin_.back() + objective.beliefs().belief_size(i).all());
  if (single)
    singles_.resize(begin_.back());
  else
    doubles_.resize(begin_.back());
}

void BeliefStore::get(Index instance, double* log_beliefs) const {
  const std::size_t from = begin_[instance], to = begin_[instance + std::size_t{1}];
  if (singles_.empty())
    std::copy(doubles_.data() + from, doubles_.data() + to, log_beliefs);
  else
    std::copy(singles_.data() + from, singles_.data() + to, log_beliefs);
}

double* BeliefStore::open(Index instance, AlignedVector<double>& scratch) {
  if (singles_.empty()) return doubles_.data() + begin_[instance];
  scratch.resize(begin_[instance + std::size_t{1}] - begin_[instance]);
  get(instance, scratch.data());
  return scratch.data();
}

void BeliefStore::beliefs(const BeliefOracle& oracle, Index instance, double* log_beliefs) const {
  get(instance, log_beliefs);
  if (singles_.empty()) return;
  const std::size_t n = begin_[instance + std::size_t{1}] - begin_[instance];
  kernels_in_use().exponentiate(log_beliefs, n);
  oracle.make_consistent(instance, log_beliefs);
  kernels_in_use().logarithm(log_beliefs, n);
}

void BeliefStore::set(Index instance, const double* log_beliefs) {
  const std::size_t from = begin_[instance], to = begin_[instance + std::size_t{1}];
  if (singles_.empty())
    std::copy(log_beliefs, log_beliefs + (to - from), doubles_.data() + from);
  else
    for (std::size_t c = from; c < to; ++c) singles_[c] = static_cast<float>(log_beliefs[c - from]);
}

}  // namespace proxbench
