#pragma once
/// The augmented Lagrangian L of a structured hinge loss over factors, and steps on it (Yen et al. 2016,
/// "Dual decomposed learning with factorwise oracles"). A factor is a variable (one position of a chain, or
/// one label of an instance) or a pair of variables. alpha_f is a distribution over the values of factor f,
/// and
///
///     w(alpha) = (1/mu) * sum (features of gold - E[features])
///     G(alpha) = (mu/2)*||w(alpha)||^2 - sum over variables of E[cost]
///     c_jf     = (marginal of pair f on its variable j) - alpha_j
///     L(alpha, lambda) = G(alpha) + sum over edges (j, f) of <lambda_jf, c_jf> + (rho/2)*||c_jf||^2
///
/// min F = -min G subject to all c_jf = 0. Only nonzeros are stored: the values that have weight in a factor
/// (its active set), gold, and the labels of an edge that were ever active.

#include <memory>
#include <span>
#include <vector>

#include "core/certificates/dual_points.h"
#include "core/objective.h"
#include "solvers/gdmm/label_search.h"
#include "solvers/gdmm/pair_search.h"
#include "solvers/shared/simplex.h"

namespace proxbench {

class Factors : public MarginalPoint {
 public:
  /// A value of a factor: the label of a variable, or left*labels + right of a pair.
  using Value = std::uint64_t;
  struct Atom {
    Value value;
    double weight;
  };
  /// A value, and the entry of dL/dalpha_f for it.
  struct Vertex {
    Value value;
    double gradient;
  };
  /// Buffers of a block problem.
  struct Block {
    std::vector<Atom> active;
    std::vector<double> gradient, weight, sorted;
  };
  /// Buffers of one thread for searches.
  struct Work {
    explicit Work(Index labels) : search(labels), left(labels), right(labels) {}
    LabelSearch search;
    LabelMessages left, right;
    Block block;
  };
  struct Settings {
    double mu, rho;
    /// kFactorwise uses an index and sorted weights. kBrute looks at all values of a factor. kAuto is
    /// kFactorwise, but kBrute for pairs of few labels.
    enum class Search { kAuto, kFactorwise, kBrute } search;
  };

  std::size_t instances() const { return factors_of_.size(); }
  std::size_t size() const { return factors_.size(); }
  /// The factors of an instance.
  std::span<const std::size_t> factors_of(std::size_t instance) const { return factors_of_[instance]; }
  std::span<const Atom> active(std::size_t factor) const { return factors_[factor].active; }
  bool is_pair(std::size_t factor) const { return factors_[factor].pair; }
  Value gold(std::size_t factor) const { return factors_[factor].gold; }
  Work make_work() const { return Work(labels_); }

  /// Returns the value with the least gradient (factorwise maximisation). Several threads may call it at
  /// once.
  virtual Vertex search(std::size_t factor, Work& work) const = 0;
  double gradient(std::size_t factor, Value value) const;
  /// Solves the block problem (equation 25): minimises <gradient, d> + (Q_f/2)*||d||^2 over d with alpha_f +
  /// d in the simplex. d covers the active set, and `value` if the gradient at `value` is below the gradient
  /// at every active value. Returns the decrease of this model. Q_f bounds the Hessian, so L falls by at
  /// least as much.
  double solve(std::size_t factor, Value value, Block& block) const;
  /// Solves the block problem and takes the step. For a pair, whose Q_f is far above most of its curvatures,
  /// repeats this until a step gains little. Returns the decrease of the first step.
  double step(std::size_t factor, Value value);
  /// Q_f for this active set.
  double curvature(std::size_t factor, std::span<const Atom> active) const;
  /// alpha_f(value) += change. Updates w and the edges.
  void shift(std::size_t factor, Value value, double change);
  /// Removes values without weight, except gold, from the active set.
  void drop(std::size_t factor);
  /// Adds pair factors that matter for the instance after a visit of it.
  virtual void grow(std::size_t instance) { static_cast<void>(instance); }

  /// lambda_jf += eta * c_jf.
  void raise_multipliers(double eta);
  double rho() const { return settings_.rho; }
  /// Sets rho, and leaves alpha and lambda unchanged.
  void set_rho(double rho);
  /// alpha_f of each variable f. Empty for pairs.
  std::vector<std::vector<Atom>> variables() const;
  /// sqrt(sum over edges of ||alpha_j - variables[j]||^2).
  double moved_since(const std::vector<std::vector<Atom>>& variables) const;
  /// sqrt(sum over edges of ||c_jf||^2). 0 if all alpha_f of an instance are marginals of one distribution.
  double infeasibility() const override;
  /// L(alpha, lambda).
  double lagrangian() const;
  SparseVector weights() const;

 protected:
  struct Entry {
    Index label;
    double gap;      ///< c_jf(label)
    double message;  ///< c_jf(label) + lambda_jf(label)/rho
  };
  struct Edge {
    std::size_t pair, variable;
    std::vector<Entry> entries;
  };
  struct Factor {
    bool pair;
    Value gold;
    std::vector<Atom> active;
    std::vector<std::size_t> edges;  ///< a pair has two: the left one first
  };

  /// A variable has the values 0 to labels - 1. The variables of position p are the `per_position` ones from
  /// p*per_position on. Borrows the objective, whose loss must be the hinge loss.
  Factors(const Objective& objective, Index labels, Index per_position, const Settings& settings);
  /// Add a factor with all weight on gold. Return its number.
  std::size_t add_variable(std::size_t instance, Index gold);
  std::size_t add_pair(std::size_t instance, std::size_t left, std::size_t right);

  /// <w, features of this value>.
  virtual double score(std::size_t factor, Value value) const = 0;
  /// w += step * features of this value.
  virtual void add_features(std::size_t factor, Value value, double step) = 0;
  virtual std::span<const double> pair_weights() const = 0;

  Index position_of(std::size_t variable) const { return static_cast<Index>(variable / per_position_); }
  /// The cost of each value other than gold.
  double cost(std::size_t variable) const { return cost_[position_of(variable)]; }
  /// The largest eigenvalue of the Hessian of G in alpha_f.
  double feature_curvature(std::size_t factor) const {
    return (is_pair(factor) ? 1.0 : squared_norm_[position_of(factor)]) / settings_.mu;
  }

  /// The two labels of a pair's value.
  Index left_of(Value value) const { return static_cast<Index>(value / labels_); }
  Index right_of(Value value) const { return static_cast<Index>(value % labels_); }

  double message_at(const Edge& edge, Index label) const;
  /// Sets `out` to `scale` * message.
  void collect(const Edge& edge, double scale, LabelMessages& out) const;
  /// The same, summed over all edges of a variable.
  void collect_all(const Factor& variable, double scale, LabelMessages& out) const;

  Settings settings_;
  Index labels_, per_position_;
  IndexedWeights unary_;
  std::vector<Factor> factors_;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> factors_of_;

 private:
  void move_gap(Edge& edge, Index label, double change);

  std::vector<double> cost_, squared_norm_;  ///< by position; squared norms of features
  Block block_;                              ///< for step()
};

/// Makes the factors for the shape of the objective's oracle (chain_factors.cpp, label_factors.cpp).
std::unique_ptr<Factors> make_factors(const Objective& objective, const Factors::Settings& settings);
std::unique_ptr<Factors> make_chain_factors(const Objective& objective, const Factors::Settings& settings);
std::unique_ptr<Factors> make_label_factors(const Objective& objective, const Factors::Settings& settings);

}  // namespace proxbench
