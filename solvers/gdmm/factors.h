#pragma once
/// The augmented Lagrangian of a structured hinge loss over factors (Yen et al. 2016, "Dual decomposed
/// learning with factorwise oracles"), and steps on it. Factors are variables (one position of a chain, one
/// label of an instance) and pairs of variables. alpha_f is a distribution over the values of factor f, and
///
///     G(alpha) = (mu/2)*||w(alpha)||^2 - sum over variables of E[cost],  w(alpha) = (1/mu)*sum (features of
///     gold - E[features]) L(alpha, lambda) = G(alpha) + sum over edges (j, f) of <lambda_jf, c_jf> +
///     (rho/2)*||c_jf||^2, c_jf = (marginal of pair f on its variable j) - alpha_j
///
/// -min of G where all c_jf = 0 is min F. Only what is other than zero is stored: the values that a factor
/// gives weight (its active set) and the labels of an edge that were ever active.

#include <memory>
#include <span>
#include <vector>

#include "core/dual.h"
#include "core/objective.h"
#include "solvers/gdmm/label_search.h"
#include "solvers/gdmm/pair_search.h"

namespace proxbench {

class Factors : public MarginalPoint {
 public:
  /// A value of a factor: the label of a variable, left*K + right of a pair.
  using Value = std::uint64_t;
  struct Atom {
    Value value;
    double weight;
  };
  /// A value, and dL/dalpha_f there.
  struct Vertex {
    Value value;
    double gradient;
  };
  /// Buffers of a block problem.
  struct Block {
    std::vector<Atom> active;
    std::vector<double> gradient, weight, sorted;
  };
  /// What one thread needs for searches.
  struct Work {
    explicit Work(Index labels) : search(labels), left(labels), right(labels) {}
    LabelSearch search;
    LabelMessages left, right;
    Block block;
  };
  struct Settings {
    double mu, rho;
    /// By index and sorted weights, or looking at all values; auto: the latter for pairs of few labels.
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

  /// The value of least gradient (factorwise maximisation). Several threads may call it at once.
  virtual Vertex search(std::size_t factor, Work& work) const = 0;
  double gradient(std::size_t factor, Value value) const;
  /// The block problem, equation 25, on the active set and this value, which enters where its gradient beats
  /// that of every active one: minimises <gradient, d> + (Q_f/2)*||d||^2 over alpha_f + d in the simplex. Q_f
  /// bounds the Hessian there, so L falls by no less than the model does, which is what it returns.
  double solve(std::size_t factor, Value value, Block& block) const;
  /// Solves it and makes the step. Of a pair, whose Q_f is far above most of its curvatures, this repeats
  /// until little more is to be had without a search. Returns the first decrease.
  double step(std::size_t factor, Value value);
  /// Q_f on these values.
  double curvature(std::size_t factor, std::span<const Atom> active) const;
  /// alpha_f(value) += change, with w and the edges.
  void shift(std::size_t factor, Value value, double change);
  /// Takes values of no weight out of the active set, gold excepted.
  void drop(std::size_t factor);
  /// Makes the pair factors that this instance lacks so far; called before its factors are searched.
  virtual void grow(std::size_t instance) { static_cast<void>(instance); }

  /// lambda_jf += eta * c_jf.
  void raise_multipliers(double eta);
  double rho() const { return settings_.rho; }
  /// alpha and lambda stay as they are.
  void set_rho(double rho);
  /// alpha of the variables, by factor; nothing of pairs.
  std::vector<std::vector<Atom>> variables() const;
  /// sqrt(sum over edges of ||alpha_j - what it was||^2).
  double moved_since(const std::vector<std::vector<Atom>>& variables) const;
  /// sqrt(sum over edges of ||c_jf||^2): 0 where alpha are marginals of one distribution for each instance.
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
    std::vector<std::size_t> edges;  ///< of a pair the left, then the right one
  };

  /// Values of a variable are below `labels`. Position p has the variables p*per_position, ..., of the given
  /// number. The objective, one with a hinge loss, is borrowed.
  Factors(const Objective& objective, Index labels, Index per_position, const Settings& settings);
  /// All weight on gold. Return the factor's number.
  std::size_t add_variable(std::size_t instance, Index gold);
  std::size_t add_pair(std::size_t instance, std::size_t left, std::size_t right);

  /// <w, features> of this value.
  virtual double score(std::size_t factor, Value value) const = 0;
  /// w += step * features.
  virtual void add_features(std::size_t factor, Value value, double step) = 0;
  virtual std::span<const double> pair_weights() const = 0;

  Index position_of(std::size_t variable) const { return static_cast<Index>(variable / per_position_); }
  /// Of a value that is not gold.
  double cost(std::size_t variable) const { return cost_[position_of(variable)]; }
  /// Largest eigenvalue of the features' part of the Hessian of alpha_f.
  double feature_curvature(std::size_t factor) const {
    return (is_pair(factor) ? 1.0 : squared_norm_[position_of(factor)]) / settings_.mu;
  }

  /// The labels of a pair's value.
  Index left_of(Value value) const { return static_cast<Index>(value / labels_); }
  Index right_of(Value value) const { return static_cast<Index>(value % labels_); }

  double message_at(const Edge& edge, Index label) const;
  /// Fills `out` with `scale` * message.
  void collect(const Edge& edge, double scale, LabelMessages& out) const;
  /// The same summed over all edges of a variable.
  void collect_all(const Factor& variable, double scale, LabelMessages& out) const;

  Settings settings_;
  Index labels_, per_position_;
  IndexedWeights unary_;
  std::vector<Factor> factors_;
  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> factors_of_;

 private:
  void move_gap(Edge& edge, Index label, double change);

  std::vector<double> cost_, squared_norm_;  ///< by position; the norm is that of its features
  Block block_;                              ///< of step()
};

/// Of the shape that the objective's oracle has: chain_factors.cpp, label_factors.cpp.
std::unique_ptr<Factors> make_factors(const Objective& objective, const Factors::Settings& settings);
std::unique_ptr<Factors> make_chain_factors(const Objective& objective, const Factors::Settings& settings);
std::unique_ptr<Factors> make_label_factors(const Objective& objective, const Factors::Settings& settings);

/// Projects onto the simplex, in place (Duchi et al. 2008). `sorted` is a buffer.
void project_onto_simplex(std::span<double> x, std::vector<double>& sorted);

}  // namespace proxbench
