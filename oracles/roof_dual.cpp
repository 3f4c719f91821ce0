#include "oracles/roof_dual.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace proxbench {
namespace {

constexpr double kHalf = 0.5;
/// Capacities are whole numbers of 2^-kDigits times a power of 2 above the largest weight. Sums of 2^12 of
/// them fit into a Capacity.
constexpr int kDigits = 50;
using Capacity = std::int64_t;

/// Maximum flow by Dinic's algorithm, on whole numbers and so without rounding.
class Flow {
 public:
  explicit Flow(std::size_t nodes) : first_(nodes, kNone) {}

  void add(std::size_t from, std::size_t to, Capacity capacity) {
    arcs_.push_back({to, first_[from], capacity});
    first_[from] = arcs_.size() - 1;
    arcs_.push_back({from, first_[to], 0});
    first_[to] = arcs_.size() - 1;
  }

  void run(std::size_t source, std::size_t sink) {
    while (reach(source), depth_[sink] != kNone) {
      next_ = first_;
      while (push(source, sink, std::numeric_limits<Capacity>::max()) > 0) {
      }
    }
  }
  /// After run(): whether the source reaches this node through the remaining capacity.
  bool reached(std::size_t node) const { return depth_[node] != kNone; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Arc {
    std::size_t to, next;
    Capacity left;
  };

  void reach(std::size_t source) {
    depth_.assign(first_.size(), kNone);
    depth_[source] = 0;
    std::vector<std::size_t> queue{source};
    for (std::size_t q = 0; q < queue.size(); ++q)
      for (std::size_t a = first_[queue[q]]; a != kNone; a = arcs_[a].next)
        if (arcs_[a].left > 0 && depth_[arcs_[a].to] == kNone) {
          depth_[arcs_[a].to] = depth_[queue[q]] + 1;
          queue.push_back(arcs_[a].to);
        }
  }

  Capacity push(std::size_t node, std::size_t sink, Capacity limit) {
    if (node == sink) return limit;
    for (std::size_t& a = next_[node]; a != kNone; a = arcs_[a].next) {
      if (arcs_[a].left == 0 || depth_[arcs_[a].to] != depth_[node] + 1) continue;
      const Capacity pushed = push(arcs_[a].to, sink, std::min(limit, arcs_[a].left));
      if (pushed == 0) continue;
      arcs_[a].left -= pushed;
      arcs_[a ^ 1u].left += pushed;
      return pushed;
    }
    return 0;
  }

  std::vector<std::size_t> first_, next_, depth_;
  std::vector<Arc> arcs_;
};

}  // namespace

/// Minimises -value as a posiform, a sum of terms c*p of one literal and c*p*q of two with c > 0. Node 2i is
/// the literal x_i, node 2i + 1 its negation, and the last two nodes are true and false. A term c*p*q becomes
/// the arcs p -> not q and q -> not p, each of capacity c. (All capacities are twice the textbook's.)
///
/// The flow is exactly maximal for coefficients c that are rounded to whole units, so x is exactly best for
/// them. Each term changes by at most half a unit, whatever x is. Hence the value at x is below the maximum
/// by at most one unit for each term: 2^-49 times the largest coefficient.
double solve_relaxation(const PairwiseProblem& problem, std::vector<double>& x) {
  const std::size_t n = problem.unary.size(), yes = 2 * n, no = yes + 1;
  double largest = 0.0;
  std::vector<double> linear(n);
  for (std::size_t k = 0; k < n; ++k) linear[k] = -problem.unary[k];
  for (const auto& pair : problem.pairs) {
    if (pair.weight > 0.0) linear[pair.a] -= pair.weight;  // -c*x_a*x_b = -c*x_a + c*x_a*(1 - x_b)
    largest = std::max(largest, std::abs(pair.weight));
  }
  for (const double c : linear) largest = std::isnan(c) ? c : std::max(largest, std::abs(c));
  if (!std::isfinite(largest)) {
    x.assign(n, kHalf);
    return kNaN;
  }
  int above = 0;
  std::frexp(largest, &above);
  Flow flow(2 * n + 2);
  const auto term = [&](std::size_t p, std::size_t q, double c) {
    const Capacity whole = std::llround(std::ldexp(c, kDigits - above));
    flow.add(p, q ^ 1u, whole);
    flow.add(q, p ^ 1u, whole);
  };
  for (const auto& pair : problem.pairs) {
    const std::size_t a = 2 * std::size_t{pair.a}, b = 2 * std::size_t{pair.b};
    if (pair.weight < 0.0) {
      term(a, b, -pair.weight);
    } else if (pair.weight > 0.0) {
      term(a, b + 1, pair.weight);
    }
  }
  for (std::size_t k = 0; k < n; ++k)
    if (linear[k] != 0.0) term(linear[k] > 0.0 ? 2 * k : 2 * k + 1, yes, std::abs(linear[k]));
  flow.run(yes, no);
  x.assign(n, kHalf);
  for (std::size_t k = 0; k < n; ++k)
    if (flow.reached(2 * k) != flow.reached(2 * k + 1)) x[k] = flow.reached(2 * k) ? 1.0 : 0.0;
  double value = 0.0;
  for (std::size_t k = 0; k < n; ++k) value += problem.unary[k] * x[k];
  for (const auto& pair : problem.pairs) value += pair.weight * pair_value(pair.weight, x[pair.a], x[pair.b]);
  return value;
}

void round_halves(const PairwiseProblem& problem, std::vector<double>& x) {
  for (Index k = 0; k < x.size(); ++k) {
    if (x[k] != kHalf) continue;
    double gain = problem.unary[k];
    for (const auto& pair : problem.pairs)
      if ((pair.a == k && x[pair.b] == 1.0) || (pair.b == k && x[pair.a] == 1.0)) gain += pair.weight;
    x[k] = gain > 0.0 ? 1.0 : 0.0;
  }
}

}  // namespace proxbench
