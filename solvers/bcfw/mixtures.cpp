#include "solvers/bcfw/mixtures.h"

namespace proxbench::bcfw {

namespace {

/// Weights below are rounding, and go to the atom of the step.
constexpr double kNegligible = 1e-15;

}  // namespace

std::size_t Mixture::find(std::span<const Index> wanted) const {
  for (std::size_t a = 0; a < atoms(); ++a)
    if (std::equal(wanted.begin(), wanted.end(), structure(a).begin())) return a;
  return atoms();
}

std::size_t Mixture::add(std::span<const Index> structure, double cost) {
  weight_.push_back(weight_.empty() ? 1.0 : 0.0);
  cost_.push_back(cost);
  used_.push_back(0);
  outputs_.insert(outputs_.end(), structure.begin(), structure.end());
  return atoms() - 1;
}

void Mixture::towards(std::size_t atom, double gamma) {
  for (std::size_t a = 0; a < atoms(); ++a) {
    if (a == atom) continue;
    weight_[a] *= 1.0 - gamma;
    if (weight_[a] < kNegligible) weight_[a] = 0.0;
  }
  double others = 0.0;
  for (std::size_t a = 0; a < atoms(); ++a)
    if (a != atom) others += weight_[a];
  weight_[atom] = std::max(1.0 - others, 0.0);
}

void Mixture::away_from(std::size_t atom, double gamma) {
  double others = 0.0;
  for (std::size_t a = 0; a < atoms(); ++a) {
    if (a == atom) continue;
    weight_[a] *= 1.0 + gamma;
    others += weight_[a];
  }
  weight_[atom] = std::max(1.0 - others, 0.0);
  if (weight_[atom] >= kNegligible) return;
  weight_[atom] = 0.0;
  for (double& weight : weight_) weight /= others;
}

void Mixture::shift(std::size_t from, std::size_t to, double gamma) {
  weight_[from] -= gamma;
  weight_[to] += gamma;
  if (weight_[from] >= kNegligible) return;
  weight_[to] += weight_[from];
  weight_[from] = 0.0;
}

void Mixture::tidy(std::size_t atom, std::size_t most, std::uint64_t now) {
  used_[atom] = now;
  const std::size_t n = length();
  while (atoms() > most) {
    std::size_t oldest = atoms();
    for (std::size_t a = 0; a < atoms(); ++a)
      if (weight_[a] == 0.0 && (oldest == atoms() || used_[a] < used_[oldest])) oldest = a;
    if (oldest == atoms()) return;
    const auto at = static_cast<std::ptrdiff_t>(oldest), first = static_cast<std::ptrdiff_t>(oldest * n);
    weight_.erase(weight_.begin() + at);
    cost_.erase(cost_.begin() + at);
    used_.erase(used_.begin() + at);
    outputs_.erase(outputs_.begin() + first, outputs_.begin() + first + static_cast<std::ptrdiff_t>(n));
  }
}

void MixtureStore::mixture(Index instance, StructurePoint::Mixture& out) const {
  const bcfw::Mixture& from = mixtures_[instance];
  out.weight.clear();
  out.outputs.clear();
  for (std::size_t a = 0; a < from.atoms(); ++a) {
    if (from.weight(a) == 0.0) continue;
    out.weight.push_back(from.weight(a));
    const auto structure = from.structure(a);
    out.outputs.insert(out.outputs.end(), structure.begin(), structure.end());
  }
}

}  // namespace proxbench::bcfw
