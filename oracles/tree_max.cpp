/// The loss-augmented best leaf of a tree: a wrong one costs 1.

#include <string>

#include "core/base/error.h"
#include "oracles/tree.h"

namespace proxbench {

InstanceMaxOracle::Value TreeOracle::best_structure(Index instance, Cost cost, const double* scores,
                                                    std::span<const double> extra, std::span<Index> outputs,
                                                    InstanceMaxOracle::Workspace& work) const {
  require_gold();
  work.rows.assign(scores, scores + this->outputs());
  for (Index k = 0; k < this->outputs(); ++k)
    if (tree_->parent(k) != Hierarchy::kNone) work.rows[k] += work.rows[tree_->parent(k)];
  const Index gold = gold_[instance];
  const auto augmented = [&](Index leaf) { return work.rows[leaf] + (leaf == gold ? 0.0 : 1.0); };
  Index best = leaves_[0];
  for (const Index leaf : leaves_)
    if (augmented(leaf) > augmented(best)) best = leaf;
  outputs[0] = best;
  return value_of(instance, cost, scores, extra, outputs);
}

InstanceMaxOracle::Value TreeOracle::value_of(Index instance, Cost, const double* scores,
                                              std::span<const double>, std::span<const Index> outputs) const {
  if (outputs[0] >= this->outputs() || !tree_->leaf(outputs[0]))
    throw Error("instance " + std::to_string(instance) + ": found node " + std::to_string(outputs[0]) +
                ", expected a leaf of the tree");
  if (outputs[0] == gold_[instance]) return {0.0, 0.0};
  double score = 0.0;
  for (const Index k : path_of(outputs[0])) score += scores[k];
  for (const Index k : path_of(gold_[instance])) score -= scores[k];
  return {1.0 + score, 1.0};
}

void TreeOracle::gold_structure(Index instance, std::span<Index> outputs) const {
  require_gold();
  outputs[0] = gold_[instance];
}

}  // namespace proxbench
