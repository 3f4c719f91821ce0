#pragma once
/// Options that several solvers share, with their bounds and defaults: epochs with shrinking working sets
/// (Zhong et al. 2014, section 2.3), and Armijo's line search.

#include <string>

#include "core/base/schema.h"
#include "core/quasi_newton/line_search.h"

namespace proxbench {

struct EpochSettings {
  bool shrinking;
  double margin;  ///< a zero coordinate with |g_j| > margin*lambda starts an epoch in the working set
  double tol;     ///< tolerance of the first epoch, relative to the measure at its start
  double factor;  ///< tolerance of each further epoch, relative to the previous one
};

/// The options shrinking, epoch_margin, epoch_tol and epoch_factor. The argument `epoch_tol` is the default
/// of the option epoch_tol.
Schema<EpochSettings> epoch_rows(const std::string& epoch_tol);
/// The options sigma and beta.
Schema<ArmijoOptions> line_search_rows();

}  // namespace proxbench
