#pragma once
/// Which instance a dual solver visits next (Osokin et al. 2016; Le Priol et al. 2018, sections 5 and 6.3).

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/base/types.h"
#include "solvers/shared/instances/sum_tree.h"

namespace proxbench {

/// Scores of instances: 1, c_i, g_i or g_i*c_i, with g_i the latest estimate of the block's duality gap, c_i
/// its importance 1 + R_i/mu; the largest g_i.
enum class Scheme { kUniform, kImportance, kGap, kGapImportance, kMax };

class Sampler {
 public:
  /// Estimates of gaps begin at 100, so that every instance is visited early. With probability `share` draws
  /// follow the scheme, else they are uniform. `importance`: c_i for each of n instances, looked at where the
  /// scheme needs it.
  Sampler(Scheme scheme, double share, std::vector<double> importance, std::size_t n, Random& random);

  /// An instance that is not out yet: drawn since its last record().
  Index draw();
  /// Puts it back with a new estimate of its gap.
  void record(Index instance, double gap);
  /// The same with the estimate that it had.
  void put_back(Index instance) { record(instance, gap_[instance]); }

  double gap(Index instance) const { return gap_[instance]; }
  /// Sum of all estimates.
  double total_gap() const;

 private:
  double score(Index instance) const;

  Scheme scheme_;
  double share_;
  std::vector<double> importance_, gap_;
  std::vector<char> out_;
  SumTree scores_;
  std::set<std::pair<double, Index>> largest_;  ///< (-gap, instance) of those not out, for kMax
  Random& random_;
};

}  // namespace proxbench
