#pragma once
/// A dual point of max-margin training: structures ("atoms") with weights for each instance.

#include <algorithm>
#include <span>
#include <vector>

#include "core/certificates/dual_points.h"

namespace proxbench {

/// The atoms of one instance. Weights are at least 0 and sum to 1. A cache keeps atoms of weight 0.
class Atoms {
 public:
  std::size_t atoms() const { return weight_.size(); }
  std::size_t length() const { return outputs_.size() / weight_.size(); }
  double weight(std::size_t atom) const { return weight_[atom]; }
  std::span<const double> weights() const { return weight_; }
  double cost(std::size_t atom) const { return cost_[atom]; }
  std::span<const Index> structure(std::size_t atom) const {
    return {outputs_.data() + atom * length(), length()};
  }
  /// Returns the number of the atom with this structure, or atoms() if no atom has it.
  std::size_t find(std::span<const Index> structure) const;
  std::span<const Index> structures() const { return outputs_; }
  /// Adds an atom: the first one with weight 1, others with weight 0.
  void add(std::span<const Index> structure, double cost);
  /// The features of an atom are the features of its structure minus those of gold. Stores the inner products
  /// of the newest atom's features with the features of every atom, itself included.
  void add_products(std::span<const double> products);
  /// The inner products of atom a with all atoms. Requires add_products() for each atom.
  std::span<const double> products(std::size_t a) const { return product_[a]; }
  /// weights += gamma * change. The changes sum to 0.
  void move(std::span<const double> change, double gamma);
  /// Notes that the atom was used at time `now`. While there are more than `most` atoms, drops the one of
  /// weight 0 that was not used for the longest time.
  void tidy(std::size_t atom, std::size_t most, std::uint64_t now);
  /// Forgets when atoms were used.
  void forget_uses() { std::fill(used_.begin(), used_.end(), std::uint64_t{0}); }

 private:
  void drop(std::size_t atom);

  std::vector<double> weight_, cost_;
  std::vector<std::uint64_t> used_;  ///< when each atom was last used
  std::vector<Index> outputs_;       ///< one structure after the other
  std::vector<std::vector<double>> product_;
};

class MixtureStore final : public StructurePoint {
 public:
  explicit MixtureStore(std::size_t instances) : mixtures_(instances) {}
  Atoms& operator[](Index instance) { return mixtures_[instance]; }

  void mixture(Index instance, StructurePoint::Mixture& out) const override;
  double estimated_gap() const override { return estimated_gap_; }
  void set_estimated_gap(double gap) { estimated_gap_ = gap; }

 private:
  std::vector<Atoms> mixtures_;
  double estimated_gap_ = kNaN;
};

}  // namespace proxbench
