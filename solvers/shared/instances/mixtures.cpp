#include "solvers/shared/instances/mixtures.h"

#include <numeric>

namespace proxbench {

namespace {

/// Weights below this are rounding errors and become 0.
constexpr double kNegligible = 1e-15;

}  // namespace

std::size_t Atoms::find(std::span<const Index> wanted) const {
  for (std::size_t a = 0; a < atoms(); ++a)
    if (std::equal(wanted.begin(), wanted.end(), structure(a).begin())) return a;
  return atoms();
}

void Atoms::add(std::span<const Index> structure, double cost) {
  weight_.push_back(weight_.empty() ? 1.0 : 0.0);
  cost_.push_back(cost);
  used_.push_back(0);
  outputs_.insert(outputs_.end(), structure.begin(), structure.end());
}

void Atoms::add_products(std::span<const double> products) {
  for (std::size_t a = 0; a < product_.size(); ++a) product_[a].push_back(products[a]);
  product_.emplace_back(products.begin(), products.end());
}

void Atoms::move(std::span<const double> change, double gamma) {
  for (std::size_t a = 0; a < atoms(); ++a) {
    weight_[a] += gamma * change[a];
    if (weight_[a] < kNegligible) weight_[a] = 0.0;
  }
  *std::ranges::max_element(weight_) += 1.0 - std::reduce(weight_.begin(), weight_.end());
}

void Atoms::tidy(std::size_t atom, std::size_t most, std::uint64_t now) {
  used_[atom] = now;
  while (atoms() > most) {
    std::size_t oldest = atoms();
    for (std::size_t a = 0; a < atoms(); ++a)
      if (weight_[a] == 0.0 && (oldest == atoms() || used_[a] < used_[oldest])) oldest = a;
    if (oldest == atoms()) return;
    drop(oldest);
  }
}

void Atoms::drop(std::size_t atom) {
  const auto erase = [](auto& from, std::size_t begin, std::size_t count) {
    const auto at = from.begin() + static_cast<std::ptrdiff_t>(begin);
    from.erase(at, at + static_cast<std::ptrdiff_t>(count));
  };
  erase(outputs_, atom * length(), length());
  erase(weight_, atom, 1);
  erase(cost_, atom, 1);
  erase(used_, atom, 1);
  if (product_.empty()) return;
  erase(product_, atom, 1);
  for (std::vector<double>& products : product_) erase(products, atom, 1);
}

void MixtureStore::mixture(Index instance, StructurePoint::Mixture& out) const {
  const Atoms& from = mixtures_[instance];
  out.weight.clear();
  out.outputs.clear();
  for (std::size_t a = 0; a < from.atoms(); ++a) {
    if (from.weight(a) == 0.0) continue;
    out.weight.push_back(from.weight(a));
    const auto structure = from.structure(a);
    out.outputs.insert(out.outputs.end(), structure.begin(), structure.end());
  }
}

}  // namespace proxbench
