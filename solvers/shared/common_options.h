#pragma once
/// Options that several solvers have: epochs with shrinking working sets (Zhong et al. 2014, section 2.3),
/// and Armijo's line search. One place for their bounds and defaults.

#include "core/quasi_newton/line_search.h"
#include "core/base/options.h"

namespace proxbench {

struct EpochSettings {
  bool shrinking;
  double margin;  ///< a zero coordinate starts an epoch in the working set where |g_j| > margin*lambda
  double tol;     ///< the first epoch's tolerance, relative to the measure at its start
  double factor;  ///< each further epoch's tolerance, relative to the one before
};

/// shrinking, epoch_margin, epoch_tol, epoch_factor.
OptionTable epoch_options(const std::string& epoch_tol);
EpochSettings read_epochs(const Options& options);

/// sigma, beta, max_linesearch.
OptionTable line_search_options();
ArmijoOptions read_line_search(const Options& options);

/// All rows of both, in order.
OptionTable joined(OptionTable first, const OptionTable& second);

}  // namespace proxbench
