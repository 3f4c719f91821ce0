#pragma once
/// The features of all atoms, as a matrix.

#include <span>
#include <vector>

#include "core/objective.h"
#include "solvers/shared/instances/mixtures.h"

namespace proxbench::ssnal {

/// Row y of the matrix Psi holds the features of atom y minus those of gold. A vector of weights has a run of
/// J numbers for each output, then the extra weights.
class Planes {
 public:
  /// The atoms of all instances, one after the other. Borrows the objective.
  Planes(const Objective& objective, MixtureStore& mixtures);
  /// Only these rows of `all`, without cells in which the rows of an instance are all equal: they change the
  /// values of these rows by one constant.
  Planes(const Planes& all, const std::vector<bool>& wanted);

  /// Whether the values of each row sum to 0 at each position.
  bool balanced() const { return balanced_; }
  std::size_t size() const { return cell_begin_.size() - 1; }
  /// The rows of instance i are [begin()[i], begin()[i + 1]).
  std::span<const std::size_t> begin() const { return begin_; }
  /// out = Psi v.
  void values(std::span<const double> v, std::vector<double>& out) const;
  /// out = Psi^T weight.
  void features(std::span<const double> weight, std::vector<double>& out) const;

  /// How much the rows of an instance differ from their mean, in squares and summed over its rows.
  struct Spread {
    std::vector<std::vector<double>> unary;  ///< [output][position], in units of the position's features
    std::vector<double> extra;               ///< of each extra weight
  };
  /// Returns the spread, summed over instances, times `scale`.
  Spread spread(double scale) const;

 private:
  /// The feature vector of a position, on one output.
  struct Cell {
    Index position, output;
  };
  struct Part {
    Index of;     ///< a cell or an extra weight
    float value;  ///< a difference of two counts
  };

  /// Ends an instance. Until then its parts name candidates for cells, which are numbers in [first, last).
  /// The candidates c with number[c] != kNone become cells, and the parts then name these cells.
  template <class CellAt>
  void end_instance(std::size_t first, std::size_t last, const CellAt& cell_at, std::vector<Index>& number);
  /// The cells and the extra weights of a row.
  std::span<const Part> parts(std::size_t row) const {
    return {parts_.data() + cell_begin_[row], parts_.data() + cell_begin_[row + 1]};
  }
  std::span<const Part> extras(std::size_t row) const {
    return {extras_.data() + extra_begin_[row], extras_.data() + extra_begin_[row + 1]};
  }

  const Objective* objective_;
  bool balanced_ = true;
  std::vector<Cell> cells_;           ///< by position, then output
  std::vector<Part> parts_, extras_;  ///< of all rows, one after the other
  std::vector<std::size_t> cell_begin_{0}, extra_begin_{0}, begin_{0}, first_cell_{0};
};

}  // namespace proxbench::ssnal
