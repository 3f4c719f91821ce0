#include "solvers/gdmm/factors.h"

#include <algorithm>
#include <cmath>

namespace proxbench {
namespace {

/// Weights up to this size become 0.
constexpr double kNoWeight = 1e-12;
/// The least curvature of a block problem. Without features and neighbours, a position has a linear block
/// problem, for which any bound serves.
constexpr double kLeastCurvature = 1e-6;
/// The block problem of a pair is solved again until the decrease of its model is at most this share of the
/// first one, but at most kMostRepeats times in all. Its gradients need no features, so this is cheap.
constexpr double kLittle = 0.3;
constexpr int kMostRepeats = 3;

}  // namespace

std::unique_ptr<Factors> make_factors(const Objective& objective, const Factors::Settings& settings) {
  return objective.oracle().factors()->binary_outputs() ? make_label_factors(objective, settings)
                                                        : make_chain_factors(objective, settings);
}

Factors::Factors(const Objective& objective, Index labels, Index per_position, const Settings& settings)
    : settings_(settings),
      labels_(labels),
      per_position_(per_position),
      unary_(objective.map().x(), objective.outputs()),
      factors_of_(objective.instances()) {
  const bool mean = objective.loss().cost == Cost::kHammingMean;
  for (Index i = 0; i < objective.instances(); ++i)
    for (const Index p : objective.oracle().positions_of(i)) {
      cost_.push_back(mean ? 1.0 / static_cast<double>(per_position * objective.oracle().length(i)) : 1.0);
      double squared_norm = 0.0;
      objective.map().x().for_each_entry(p, [&](Index, double value) { squared_norm += value * value; });
      squared_norm_.push_back(squared_norm);
    }
}

SparseVector Factors::weights() const {
  SparseVector out = unary_.nonzeros();
  const std::span<const double> pairs = pair_weights();
  for (std::size_t e = 0; e < pairs.size(); ++e)
    if (pairs[e] != 0.0)
      out.push_back(static_cast<Coord>(unary_.x().features()) * unary_.labels() + e, pairs[e]);
  return out;
}

std::size_t Factors::add_variable(std::size_t instance, Index gold) {
  factors_.push_back({false, gold, {{gold, 1.0}}, {}});
  factors_of_[instance].push_back(factors_.size() - 1);
  return factors_.size() - 1;
}

std::size_t Factors::add_pair(std::size_t instance, std::size_t left, std::size_t right) {
  const Value a = factors_[left].gold, b = factors_[right].gold;
  const std::size_t pair = factors_.size();
  factors_.push_back({true, a * labels_ + b, {{a * labels_ + b, 1.0}}, {edges_.size(), edges_.size() + 1}});
  factors_of_[instance].push_back(pair);
  for (const std::size_t variable : {left, right}) {
    Edge edge{pair, variable, {}};
    // All weight of the pair is on gold. The weight of the variable may have moved.
    for (const Atom& atom : factors_[variable].active)
      edge.entries.push_back({static_cast<Index>(atom.value), -atom.weight, -atom.weight});
    factors_[variable].edges.push_back(edges_.size());
    edges_.push_back(std::move(edge));
    move_gap(edges_.back(), static_cast<Index>(factors_[variable].gold), 1.0);
  }
  return pair;
}

void Factors::move_gap(Edge& edge, Index label, double change) {
  for (Entry& entry : edge.entries)
    if (entry.label == label) {
      entry.gap += change;
      entry.message += change;
      return;
    }
  edge.entries.push_back({label, change, change});
}

double Factors::message_at(const Edge& edge, Index label) const {
  for (const Entry& entry : edge.entries)
    if (entry.label == label) return entry.message;
  return 0.0;
}

void Factors::collect(const Edge& edge, double scale, LabelMessages& out) const {
  out.clear();
  for (const Entry& entry : edge.entries) out.add(entry.label, scale * entry.message);
}

void Factors::collect_all(const Factor& variable, double scale, LabelMessages& out) const {
  out.clear();
  for (const std::size_t edge : variable.edges)
    for (const Entry& entry : edges_[edge].entries) out.add(entry.label, scale * entry.message);
}

double Factors::gradient(std::size_t factor, Value value) const {
  const Factor& f = factors_[factor];
  double messages = 0.0;
  if (f.pair) {
    messages =
        message_at(edges_[f.edges[0]], left_of(value)) + message_at(edges_[f.edges[1]], right_of(value));
  } else {
    for (const std::size_t edge : f.edges) messages -= message_at(edges_[edge], static_cast<Index>(value));
  }
  return settings_.rho * messages - score(factor, value) - (f.pair || value == f.gold ? 0.0 : cost(factor));
}

double Factors::curvature(std::size_t factor, std::span<const Atom> active) const {
  const Factor& f = factors_[factor];
  if (!f.pair)
    return std::max(feature_curvature(factor) + settings_.rho * static_cast<double>(f.edges.size()),
                    kLeastCurvature);
  // M maps alpha_f to its marginals at one end. M^T M has a block of ones for each label, so its norm is the
  // largest number of active values that share a label there.
  std::size_t most_left = 0, most_right = 0;
  for (const Atom& one : active) {
    std::size_t left = 0, right = 0;
    for (const Atom& other : active) {
      left += left_of(one.value) == left_of(other.value);
      right += right_of(one.value) == right_of(other.value);
    }
    most_left = std::max(most_left, left);
    most_right = std::max(most_right, right);
  }
  return std::max(feature_curvature(factor) + settings_.rho * static_cast<double>(most_left + most_right),
                  kLeastCurvature);
}

double Factors::solve(std::size_t factor, Value value, Block& block) const {
  block.active = factors_[factor].active;
  block.gradient.clear();
  for (const Atom& atom : block.active) block.gradient.push_back(gradient(factor, atom.value));
  if (std::ranges::find(block.active, value, &Atom::value) == block.active.end())
    if (const double g = gradient(factor, value); g < std::ranges::min(block.gradient)) {
      block.active.push_back({value, 0.0});
      block.gradient.push_back(g);
    }
  block.weight.clear();
  if (block.active.size() == 1) return 0.0;
  const double q = curvature(factor, block.active);
  for (std::size_t i = 0; i < block.active.size(); ++i)
    block.weight.push_back(block.active[i].weight - block.gradient[i] / q);
  project_onto_simplex(block.weight, block.sorted);
  double decrease = 0.0;
  for (std::size_t i = 0; i < block.active.size(); ++i) {
    const double d = block.weight[i] - block.active[i].weight;
    decrease -= block.gradient[i] * d + 0.5 * q * d * d;
  }
  return decrease;
}

double Factors::step(std::size_t factor, Value value) {
  const Factor& f = factors_[factor];
  if (f.active.size() == 1 && f.active.front().value == value) return 0.0;
  const double first = solve(factor, value, block_);
  double decrease = first;
  for (int repeat = 1;; ++repeat) {
    for (std::size_t i = 0; i < block_.weight.size(); ++i) {
      const double weight = block_.weight[i] <= kNoWeight ? 0.0 : block_.weight[i];
      shift(factor, block_.active[i].value, weight - block_.active[i].weight);
    }
    drop(factor);
    if (!f.pair || repeat == kMostRepeats || decrease <= kLittle * first) return first;
    decrease = solve(factor, value, block_);
  }
}

void Factors::shift(std::size_t factor, Value value, double change) {
  if (change == 0.0) return;
  Factor& f = factors_[factor];
  auto atom = std::ranges::find(f.active, value, &Atom::value);
  if (atom == f.active.end()) atom = f.active.insert(atom, {value, 0.0});
  atom->weight += change;
  add_features(factor, value, -change / settings_.mu);
  if (f.pair) {
    move_gap(edges_[f.edges[0]], left_of(value), change);
    move_gap(edges_[f.edges[1]], right_of(value), change);
  } else {
    for (const std::size_t edge : f.edges) move_gap(edges_[edge], static_cast<Index>(value), -change);
  }
}

void Factors::drop(std::size_t factor) {
  Factor& f = factors_[factor];
  std::erase_if(f.active, [&](const Atom& atom) { return atom.weight == 0.0 && atom.value != f.gold; });
}

void Factors::raise_multipliers(double eta) {
  for (Edge& edge : edges_)
    for (Entry& entry : edge.entries) entry.message += eta / settings_.rho * entry.gap;
}

void Factors::set_rho(double rho) {
  for (Edge& edge : edges_)
    for (Entry& entry : edge.entries)
      entry.message = entry.gap + (entry.message - entry.gap) * settings_.rho / rho;
  settings_.rho = rho;
}

std::vector<std::vector<Factors::Atom>> Factors::variables() const {
  std::vector<std::vector<Atom>> out(factors_.size());
  for (std::size_t f = 0; f < factors_.size(); ++f)
    if (!factors_[f].pair) out[f] = factors_[f].active;
  return out;
}

double Factors::moved_since(const std::vector<std::vector<Atom>>& variables) const {
  const auto weight = [](std::span<const Atom> atoms, Value value) {
    const auto at = std::ranges::find(atoms, value, &Atom::value);
    return at == atoms.end() ? 0.0 : at->weight;
  };
  double sum = 0.0;
  for (std::size_t f = 0; f < variables.size(); ++f) {
    double squared = 0.0;
    for (const Atom& atom : factors_[f].active) {
      const double d = atom.weight - weight(variables[f], atom.value);
      squared += factors_[f].pair ? 0.0 : d * d;
    }
    for (const Atom& atom : variables[f])
      if (weight(factors_[f].active, atom.value) == 0.0) squared += atom.weight * atom.weight;
    sum += static_cast<double>(factors_[f].edges.size()) * squared;
  }
  return std::sqrt(sum);
}

double Factors::infeasibility() const {
  double sum = 0.0;
  for (const Edge& edge : edges_)
    for (const Entry& entry : edge.entries) sum += entry.gap * entry.gap;
  return std::sqrt(sum);
}

double Factors::lagrangian() const {
  double sum = 0.5 * settings_.mu * squared_norm(weights().value);
  for (std::size_t f = 0; f < factors_.size(); ++f)
    for (const Atom& atom : factors_[f].active)
      if (!factors_[f].pair && atom.value != factors_[f].gold) sum -= cost(f) * atom.weight;
  for (const Edge& edge : edges_)
    for (const Entry& entry : edge.entries)
      sum += settings_.rho * entry.gap * (entry.message - 0.5 * entry.gap);
  return sum;
}

}  // namespace proxbench
