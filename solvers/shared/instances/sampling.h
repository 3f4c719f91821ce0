#pragma once
/// Chooses which instance a dual solver visits next (Osokin et al. 2016; Le Priol et al. 2018, sections 5 and
/// 6.3).

#include <set>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "solvers/shared/instances/sum_tree.h"

namespace proxbench {

/// The probability of drawing instance i is proportional to 1, c_i, g_i or g_i*c_i: g_i is the latest
/// estimate of the block's duality gap, c_i = 1 + R_i/mu its importance. kMax takes the largest g_i.
enum class Scheme { kUniform, kImportance, kGap, kGapImportance, kMax };

class Sampler {
 public:
  /// Estimates of gaps start at 100, so that every instance is visited early. A draw follows the scheme with
  /// probability `share`, and else is uniform. `importance` holds c_i of each of the n instances. It may be
  /// empty if the scheme does not use it.
  Sampler(Scheme scheme, double share, std::vector<double> importance, std::size_t n, Random& random);

  /// Draws an instance among those that are not out. The instance is then out until record() or put_back().
  Index draw();
  /// Puts the instance back with a new estimate of its gap.
  void record(Index instance, double gap);
  /// Puts the instance back with its old estimate.
  void put_back(Index instance) { record(instance, gap_[instance]); }

  double gap(Index instance) const { return gap_[instance]; }
  /// The sum of all estimates.
  double total_gap() const;

 private:
  double score(Index instance) const;

  Scheme scheme_;
  double share_;
  std::vector<double> importance_, gap_;
  std::vector<char> out_;
  SumTree scores_;
  std::set<std::pair<double, Index>> largest_;  ///< (-gap, instance) of the instances not out, for kMax
  Random& random_;
};

}  // namespace proxbench
