#pragma once
/// Options that several solvers have: epochs with shrinking working sets (Zhong et al. 2014, section 2.3),
/// and Armijo's line search. One place for their bounds and defaults.

#include <string>

#include "core/base/option_rows.h"
#include "core/quasi_newton/line_search.h"

namespace proxbench {

struct EpochSettings {
  bool shrinking;
  double margin;  ///< a zero coordinate starts an epoch in the working set where |g_j| > margin*lambda
  double tol;     ///< the first epoch's tolerance, relative to the measure at its start
  double factor;  ///< each further epoch's tolerance, relative to the one before
};

/// shrinking, epoch_margin, epoch_tol, epoch_factor.
OptionRows<EpochSettings> epoch_rows(const std::string& epoch_tol);
/// sigma, beta.
OptionRows<ArmijoOptions> line_search_rows();

}  // namespace proxbench
