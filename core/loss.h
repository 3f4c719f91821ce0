#pragma once
/// l(w): the loss that is summed over the training instances.

#include <string>

namespace proxbench {

/// Delta(y, gold), the cost of a structure other than gold: the number of its wrong positions, or their share
/// of the instance's positions. A wrong leaf of a tree, or a wrong candidate of a group, costs 1 under both.
enum class Cost { kHamming, kHammingMean };

/// log: -log p(gold). hinge: max over y of [Delta(y, gold) + score(y)] - score(gold) (Taskar, Guestrin,
/// Koller 2003; Tsochantaridis et al. 2005, margin rescaling).
struct Loss {
  enum class Kind { kLog, kHinge };
  Kind kind = Kind::kLog;
  Cost cost = Cost::kHamming;  ///< for the hinge loss

  bool hinge() const { return kind == Kind::kHinge; }
  bool operator==(const Loss& other) const { return kind == other.kind && (!hinge() || cost == other.cost); }
  /// "log", "hinge" or "hinge, cost = hamming-mean".
  std::string text() const;
};

/// "log" or "hinge".
const char* loss_name(Loss::Kind kind);
/// "hamming" or "hamming-mean".
const char* cost_name(Cost cost);

}  // namespace proxbench
