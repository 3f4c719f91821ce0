#include "oracles/roof_dual.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace proxbench {
namespace {

constexpr double kHalf = 0.5;
constexpr double kNoCapacity = 1e-12;

/// Maximum flow by Dinic's algorithm.
class Flow {
 public:
  Flow(std::size_t nodes, double least) : first_(nodes, kNone), least_(least) {}

  void add(std::size_t from, std::size_t to, double capacity) {
    arcs_.push_back({to, first_[from], capacity});
    first_[from] = arcs_.size() - 1;
    arcs_.push_back({from, first_[to], 0.0});
    first_[to] = arcs_.size() - 1;
  }

  void run(std::size_t source, std::size_t sink) {
    while (reach(source), depth_[sink] != kNone) {
      next_ = first_;
      while (push(source, sink, std::numeric_limits<double>::infinity()) > 0.0) {
      }
    }
  }
  /// After run(): whether the source reaches this node on what capacity is left.
  bool reached(std::size_t node) const { return depth_[node] != kNone; }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Arc {
    std::size_t to, next;
    double left;
  };

  void reach(std::size_t source) {
    depth_.assign(first_.size(), kNone);
    depth_[source] = 0;
    std::vector<std::size_t> queue{source};
    for (std::size_t q = 0; q < queue.size(); ++q)
      for (std::size_t a = first_[queue[q]]; a != kNone; a = arcs_[a].next)
        if (arcs_[a].left > least_ && depth_[arcs_[a].to] == kNone) {
          depth_[arcs_[a].to] = depth_[queue[q]] + 1;
          queue.push_back(arcs_[a].to);
        }
  }

  double push(std::size_t node, std::size_t sink, double limit) {
    if (node == sink) return limit;
    for (std::size_t& a = next_[node]; a != kNone; a = arcs_[a].next) {
      if (arcs_[a].left <= least_ || depth_[arcs_[a].to] != depth_[node] + 1) continue;
      const double pushed = push(arcs_[a].to, sink, std::min(limit, arcs_[a].left));
      if (pushed <= 0.0) continue;
      arcs_[a].left -= pushed;
      arcs_[a ^ 1u].left += pushed;
      return pushed;
    }
    return 0.0;
  }

  std::vector<std::size_t> first_, next_, depth_;
  std::vector<Arc> arcs_;
  double least_;
};

/// Fixes what is decided whatever the others are: off where even all undecided gains do not make it positive,
/// on where even all undecided losses do not make it negative. x is kHalf where undecided.
class Persistency {
 public:
  Persistency(const PairwiseProblem& problem, std::vector<double>& x)
      : problem_(problem),
        x_(x),
        gain_(problem.unary),
        loss_(problem.unary),
        pairs_of_(problem.unary.size()) {
    x_.assign(problem.unary.size(), kHalf);
    for (std::size_t p = 0; p < problem.pairs.size(); ++p) {
      const auto& pair = problem.pairs[p];
      for (const Index k : {pair.a, pair.b}) {
        (pair.weight > 0.0 ? gain_[k] : loss_[k]) += pair.weight;
        pairs_of_[k].push_back(p);
      }
    }
  }

  void run() {
    std::vector<Index> queue;
    for (Index k = 0; k < x_.size(); ++k) queue.push_back(k);
    for (std::size_t q = 0; q < queue.size(); ++q) {
      const Index k = queue[q];
      if (x_[k] != kHalf || (gain_[k] > 0.0 && loss_[k] < 0.0)) continue;
      x_[k] = gain_[k] <= 0.0 ? 0.0 : 1.0;
      for (const std::size_t p : pairs_of_[k]) {
        const auto& pair = problem_.pairs[p];
        const Index other = pair.a == k ? pair.b : pair.a;
        // Off, the pair adds nothing any more; on, it adds its weight for certain.
        const bool bound_gain = (pair.weight > 0.0) == (x_[k] == 0.0);
        (bound_gain ? gain_[other] : loss_[other]) += x_[k] == 0.0 ? -pair.weight : pair.weight;
        queue.push_back(other);
      }
    }
  }

 private:
  const PairwiseProblem& problem_;
  std::vector<double>& x_;
  std::vector<double> gain_, loss_;  ///< unary, with all that may raise it, and with all that may lower it
  std::vector<std::vector<std::size_t>> pairs_of_;
};

}  // namespace

/// The undecided part as a posiform to minimise, -value: a term c*p of one literal and c*p*q of two, c > 0.
/// Node 2i is literal x_i, node 2i + 1 its negation; the last two are true and false. A term c*p*q gives the
/// arcs p -> not q and q -> not p of capacity c/2.
double solve_relaxation(const PairwiseProblem& problem, std::vector<double>& x) {
  Persistency(problem, x).run();
  std::vector<std::size_t> place(x.size(), 0);
  std::vector<Index> open;
  for (Index k = 0; k < x.size(); ++k)
    if (x[k] == kHalf) {
      place[k] = open.size();
      open.push_back(k);
    }
  if (!open.empty()) {
    double largest = 0.0;
    std::vector<double> linear(open.size());
    for (std::size_t i = 0; i < open.size(); ++i) {
      linear[i] = -problem.unary[open[i]];
      largest = std::max(largest, std::abs(linear[i]));
    }
    for (const auto& pair : problem.pairs) largest = std::max(largest, std::abs(pair.weight));
    Flow flow(2 * open.size() + 2, kNoCapacity * largest);
    const std::size_t yes = 2 * open.size(), no = yes + 1;
    const auto term = [&](std::size_t p, std::size_t q, double c) {
      flow.add(p, q ^ 1u, 0.5 * c);
      flow.add(q, p ^ 1u, 0.5 * c);
    };
    for (const auto& pair : problem.pairs) {
      const bool a_open = x[pair.a] == kHalf, b_open = x[pair.b] == kHalf;
      if (a_open && b_open) {
        const std::size_t a = 2 * place[pair.a], b = 2 * place[pair.b];
        if (pair.weight < 0.0) {
          term(a, b, -pair.weight);
        } else if (pair.weight > 0.0) {
          linear[place[pair.a]] -= pair.weight;  // -c*x_a*x_b = -c*x_a + c*x_a*(1 - x_b)
          term(a, b + 1, pair.weight);
        }
      } else if (a_open && x[pair.b] == 1.0) {
        linear[place[pair.a]] -= pair.weight;
      } else if (b_open && x[pair.a] == 1.0) {
        linear[place[pair.b]] -= pair.weight;
      }
    }
    for (std::size_t i = 0; i < open.size(); ++i)
      if (linear[i] != 0.0) term(linear[i] > 0.0 ? 2 * i : 2 * i + 1, yes, std::abs(linear[i]));
    flow.run(yes, no);
    for (std::size_t i = 0; i < open.size(); ++i)
      if (flow.reached(2 * i) != flow.reached(2 * i + 1)) x[open[i]] = flow.reached(2 * i) ? 1.0 : 0.0;
  }
  double value = 0.0;
  for (Index k = 0; k < x.size(); ++k) value += problem.unary[k] * x[k];
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
