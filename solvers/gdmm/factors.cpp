#include "solvers/gdmm/factors.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace proxbench {
namespace {

/// Weights up to here are none.
constexpr double kNoWeight = 1e-12;
/// A position without features and neighbours has none: its block problem is linear, and any bound serves.
constexpr double kLeastCurvature = 1e-6;

}  // namespace

void project_onto_simplex(std::span<double> x) {
  std::vector<double> sorted(x.begin(), x.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  double sum = 0.0, shift = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    const double candidate = (sum - 1.0) / static_cast<double>(i + 1);
    if (sorted[i] > candidate) shift = candidate;
  }
  for (double& value : x) value = std::max(value - shift, 0.0);
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
    // All weight of the pair is on gold; that of the variable may have moved.
    for (const Atom& atom : factors_[variable].active)
      edge.entries.push_back({static_cast<Index>(atom.value), -atom.weight, 0.0});
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
      return;
    }
  edge.entries.push_back({label, change, 0.0});
}

double Factors::message_at(const Edge& edge, Index label) const {
  for (const Entry& entry : edge.entries)
    if (entry.label == label) return message(entry);
  return 0.0;
}

void Factors::collect(const Edge& edge, double scale, LabelMessages& out) const {
  out.clear();
  for (const Entry& entry : edge.entries) out.set(entry.label, scale * message(entry));
}

void Factors::collect_all(const Factor& variable, double scale, LabelMessages& out) const {
  out.clear();
  for (std::size_t e = 0; e < variable.edges.size(); ++e)
    for (const Entry& entry : edges_[variable.edges[e]].entries) {
      const auto in = [&](std::size_t other) {
        return std::ranges::any_of(edges_[variable.edges[other]].entries,
                                   [&](const Entry& one) { return one.label == entry.label; });
      };
      bool earlier = false;
      for (std::size_t other = 0; other < e && !earlier; ++other) earlier = in(other);
      if (earlier) continue;
      double sum = message(entry);
      for (std::size_t other = e + 1; other < variable.edges.size(); ++other)
        sum += message_at(edges_[variable.edges[other]], entry.label);
      out.set(entry.label, scale * sum);
    }
}

double Factors::gradient(std::size_t factor, Value value) const {
  const Factor& f = factors_[factor];
  double messages = 0.0;
  if (f.pair) {
    messages = message_at(edges_[f.edges[0]], static_cast<Index>(value / labels_)) +
               message_at(edges_[f.edges[1]], static_cast<Index>(value % labels_));
  } else {
    for (const std::size_t edge : f.edges) messages -= message_at(edges_[edge], static_cast<Index>(value));
  }
  return settings_.rho * messages - score(factor, value) - (f.pair || value == f.gold ? 0.0 : cost(factor));
}

double Factors::curvature(std::size_t factor, std::span<const Atom> active) const {
  const Factor& f = factors_[factor];
  if (!f.pair) return feature_curvature(factor) + settings_.rho * static_cast<double>(f.edges.size());
  // M^T M of one end is a block of ones for each label: its norm is the largest number of active values that
  // share a label there.
  std::size_t most_left = 0, most_right = 0;
  for (const Atom& one : active) {
    std::size_t left = 0, right = 0;
    for (const Atom& other : active) {
      left += one.value / labels_ == other.value / labels_;
      right += one.value % labels_ == other.value % labels_;
    }
    most_left = std::max(most_left, left);
    most_right = std::max(most_right, right);
  }
  return feature_curvature(factor) + settings_.rho * static_cast<double>(most_left + most_right);
}

double Factors::solve_block(std::size_t factor, std::span<const Atom> active,
                            std::vector<double>& weight) const {
  const double q = std::max(curvature(factor, active), kLeastCurvature);
  std::vector<double> g(active.size());
  weight.resize(active.size());
  for (std::size_t i = 0; i < active.size(); ++i) {
    g[i] = gradient(factor, active[i].value);
    weight[i] = active[i].weight - g[i] / q;
  }
  project_onto_simplex(weight);
  double decrease = 0.0;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const double d = weight[i] - active[i].weight;
    decrease -= g[i] * d + 0.5 * q * d * d;
  }
  return decrease;
}

void Factors::enter(std::size_t factor, const Vertex& vertex) {
  std::vector<Atom>& active = factors_[factor].active;
  for (const Atom& atom : active)
    if (atom.value == vertex.value || gradient(factor, atom.value) <= vertex.gradient) return;
  active.push_back({vertex.value, 0.0});
}

double Factors::step(std::size_t factor) {
  Factor& f = factors_[factor];
  if (f.active.size() == 1) return 0.0;
  std::vector<double> weight;
  const double decrease = solve_block(factor, f.active, weight);
  for (std::size_t i = 0; i < weight.size(); ++i) {
    if (weight[i] <= kNoWeight) weight[i] = 0.0;
    shift(factor, f.active[i].value, weight[i] - f.active[i].weight);
  }
  drop(factor);
  return decrease;
}

double Factors::decrease(std::size_t factor, const Vertex& vertex) const {
  std::vector<Atom> active = factors_[factor].active;
  if (std::ranges::none_of(active, [&](const Atom& atom) { return atom.value == vertex.value; }))
    active.push_back({vertex.value, 0.0});
  std::vector<double> weight;
  return solve_block(factor, active, weight);
}

void Factors::shift(std::size_t factor, Value value, double change) {
  if (change == 0.0) return;
  Factor& f = factors_[factor];
  auto atom = std::ranges::find(f.active, value, &Atom::value);
  if (atom == f.active.end()) atom = f.active.insert(atom, {value, 0.0});
  atom->weight += change;
  add_features(factor, value, -change / settings_.mu);
  if (f.pair) {
    move_gap(edges_[f.edges[0]], static_cast<Index>(value / labels_), change);
    move_gap(edges_[f.edges[1]], static_cast<Index>(value % labels_), change);
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
    for (Entry& entry : edge.entries) entry.multiplier += eta * entry.gap;
}

double Factors::infeasibility() const {
  double sum = 0.0;
  for (const Edge& edge : edges_)
    for (const Entry& entry : edge.entries) sum += entry.gap * entry.gap;
  return std::sqrt(sum);
}

double Factors::lagrangian() const {
  double sum = 0.5 * settings_.mu * squared_weights();
  for (std::size_t f = 0; f < factors_.size(); ++f)
    for (const Atom& atom : factors_[f].active)
      if (!factors_[f].pair && atom.value != factors_[f].gold) sum -= cost(f) * atom.weight;
  for (const Edge& edge : edges_)
    for (const Entry& entry : edge.entries)
      sum += entry.gap * (entry.multiplier + 0.5 * settings_.rho * entry.gap);
  return sum;
}

}  // namespace proxbench
