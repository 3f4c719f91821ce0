#pragma once
/// The dual point of block-coordinate Frank-Wolfe: for each instance structures ("atoms") with weights.

#include <algorithm>
#include <span>
#include <vector>

#include "core/dual.h"

namespace proxbench::bcfw {

/// The atoms of one instance. Weights are >= 0 and sum to 1; an atom of weight 0 is one that a cache keeps.
class Mixture {
 public:
  std::size_t atoms() const { return weight_.size(); }
  std::size_t length() const { return outputs_.size() / weight_.size(); }
  double weight(std::size_t atom) const { return weight_[atom]; }
  double cost(std::size_t atom) const { return cost_[atom]; }
  std::span<const Index> structure(std::size_t atom) const {
    return {outputs_.data() + atom * length(), length()};
  }
  /// The atom that is this structure; atoms() where there is none.
  std::size_t find(std::span<const Index> structure) const;
  /// Of weight 0 (of weight 1 where it is the first); returns its number.
  std::size_t add(std::span<const Index> structure, double cost);
  /// All weights times 1 - gamma, and gamma added to that of `atom`.
  void towards(std::size_t atom, double gamma);
  /// The opposite: all weights times 1 + gamma, and gamma taken from that of `atom`.
  void away_from(std::size_t atom, double gamma);
  /// gamma of weight goes from one atom to another.
  void shift(std::size_t from, std::size_t to, double gamma);
  /// Notes that the atom is of use now, and drops atoms of no weight: the longest unused first, while there
  /// are more than `most` atoms.
  void tidy(std::size_t atom, std::size_t most, std::uint64_t now);
  /// No atom has been of use.
  void forget_uses() { std::fill(used_.begin(), used_.end(), std::uint64_t{0}); }

 private:
  std::vector<double> weight_, cost_;
  std::vector<std::uint64_t> used_;  ///< when it was of use last
  std::vector<Index> outputs_;       ///< one structure after the other
};

class MixtureStore final : public StructurePoint {
 public:
  explicit MixtureStore(std::size_t instances) : mixtures_(instances) {}
  bcfw::Mixture& operator[](Index instance) { return mixtures_[instance]; }

  void mixture(Index instance, StructurePoint::Mixture& out) const override;
  double estimated_gap() const override { return estimated_gap_; }
  void set_estimated_gap(double gap) { estimated_gap_ = gap; }

 private:
  std::vector<bcfw::Mixture> mixtures_;
  double estimated_gap_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace proxbench::bcfw
