#include "solvers/shared/instances/belief_store.h"

#include <algorithm>
#include <string>

#include "solvers/shared/instances/passes.h"

namespace proxbench {

double BeliefStore::bytes(const Objective& objective) {
  double numbers = 0.0;
  for (Index i = 0; i < objective.instances(); ++i)
    numbers += static_cast<double>(objective.beliefs().belief_size(i).all());
  return numbers * sizeof(double);
}

BeliefStore::BeliefStore(const Objective& objective, double limit_gigabytes) : begin_{0} {
  require_memory(bytes(objective), limit_gigabytes,
                 "the marginals of " + std::to_string(objective.instances()) + " instances");
  for (Index i = 0; i < objective.instances(); ++i)
    begin_.push_back(begin_.back() + objective.beliefs().belief_size(i).all());
  logs_.resize(begin_.back());
}

void BeliefStore::beliefs(const BeliefOracle&, Index instance, double* log_beliefs) const {
  std::copy(logs_.data() + begin_[instance], logs_.data() + begin_[instance + std::size_t{1}], log_beliefs);
}

}  // namespace proxbench
