#pragma once
/// Frank-Wolfe steps with away steps on the augmented Lagrangian, all factors at once (Yen et al. 2016,
/// Algorithm 2; Lacoste-Julien and Jaggi 2015).
///
/// The paper takes one direction and one step size for all m factors. Its rate falls with m*m, since the
/// domain is a product of m simplices. Here each factor has its own direction: towards its greedy value, or
/// away from its worst active one. The step size of a factor minimises its quadratic model, and is then
/// multiplied by a share common to all factors. Factors are coupled, so their full steps together would be
/// too long. The share follows the exact step along the sum of all changes.

#include <algorithm>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/sum.h"
#include "core/monitor/monitor.h"
#include "solvers/gdmm/factors.h"

namespace proxbench {

class AwaySteps {
 public:
  /// Borrows both arguments.
  AwaySteps(Factors& factors, const Parallel& parallel) : factors_(factors), parallel_(parallel) {}

  /// Takes one step, which never raises L. Does nothing if the monitor is out of time after the search.
  void step(Monitor& monitor) {
    const Chunks chunks{factors_.size(), kFactorsPerChunk};
    std::vector<std::vector<Change>> found(chunks.count());
    parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
      Factors::Work work = factors_.make_work();
      for (std::size_t f = chunks.begin(chunk); f < chunks.end(chunk) && !monitor.out_of_time(); ++f)
        choose(f, work, found[chunk]);
    });
    if (monitor.out_of_time()) return;
    changes_.clear();
    for (const std::vector<Change>& some : found) changes_.insert(changes_.end(), some.begin(), some.end());
    if (changes_.empty()) return;

    // L is quadratic along the changes, so the slopes at both ends give its minimum.
    const double before = slope();
    if (!(before < 0.0)) return;  // at the minimum, up to rounding
    move(1.0);
    const double after = slope();
    if (after > 0.0) {
      const double exact = before / (before - after);
      move(exact - 1.0);
      share_ = std::max(share_ * exact, kLeastShare);
    } else {
      share_ = std::min(kGrowth * share_, 1.0);
    }
    for (std::size_t f = 0; f < factors_.size(); ++f) factors_.drop(f);
  }

 private:
  static constexpr std::size_t kFactorsPerChunk = 256;
  /// Multiplies the share after a step that could have been longer.
  static constexpr double kGrowth = 2.0;
  /// The least share. Without it, rounding near the minimum could reduce the share to 0.
  static constexpr double kLeastShare = 1e-6;

  /// A change to add to alpha_f.
  struct Change {
    std::size_t factor;
    Factors::Value value;
    double weight;
  };
  /// Appends the changes of one factor to `out`.
  void choose(std::size_t factor, Factors::Work& work, std::vector<Change>& out) const {
    const Factors::Vertex greedy = factors_.search(factor, work);
    std::vector<Factors::Atom>& active = work.block.active;
    active.assign(factors_.active(factor).begin(), factors_.active(factor).end());
    double here = 0.0, largest = greedy.gradient;
    std::size_t worst = active.size();
    for (std::size_t a = 0; a < active.size(); ++a) {
      const double gradient = factors_.gradient(factor, active[a].value);
      here += active[a].weight * gradient;
      if (active[a].weight > 0.0 && gradient > largest) {
        largest = gradient;
        worst = a;
      }
    }
    const double towards = here - greedy.gradient, from = largest - here;
    const bool away = worst < active.size() && from > towards && active[worst].weight < 1.0;
    const double gain = away ? from : towards;
    if (!(gain > 0.0)) return;

    if (std::ranges::find(active, greedy.value, &Factors::Atom::value) == active.end())
      active.push_back({greedy.value, 0.0});
    const Factors::Value corner = away ? active[worst].value : greedy.value;
    double squared = 0.0;
    for (const Factors::Atom& atom : active) {
      const double d = (atom.value == corner ? 1.0 : 0.0) - atom.weight;
      squared += d * d;
    }
    const double longest = away ? active[worst].weight / (1.0 - active[worst].weight) : 1.0;
    const double length = std::min(share_ * gain / (factors_.curvature(factor, active) * squared), longest);
    for (const Factors::Atom& atom : active) {
      const double d = (atom.value == corner ? 1.0 : 0.0) - atom.weight;
      // The longest away step takes all of the weight exactly, so that the value leaves the active set.
      const double change =
          away && atom.value == corner && length == longest ? -atom.weight : (away ? -length : length) * d;
      if (change != 0.0) out.push_back({factor, atom.value, change});
    }
  }

  /// <gradient, changes>.
  double slope() const {
    const Chunks chunks{changes_.size(), kFactorsPerChunk};
    return sum_chunks(parallel_, chunks.count(), [&](std::size_t chunk) {
      double sum = 0.0;
      for (std::size_t c = chunks.begin(chunk); c < chunks.end(chunk); ++c)
        sum += changes_[c].weight * factors_.gradient(changes_[c].factor, changes_[c].value);
      return sum;
    });
  }

  /// alpha += share * changes.
  void move(double share) {
    for (const Change& change : changes_) factors_.shift(change.factor, change.value, share * change.weight);
  }

  Factors& factors_;
  const Parallel& parallel_;
  double share_ = 1.0;
  std::vector<Change> changes_;
};

}  // namespace proxbench
