#include "solvers/shared/common_options.h"

namespace proxbench {

Schema<EpochSettings> epoch_rows(const std::string& epoch_tol) {
  return Schema<EpochSettings>({
      option(&EpochSettings::shrinking, "shrinking", "true",
             "shrink the working set within an epoch (Zhong et al. 2014, section 2.3)"),
      option(&EpochSettings::margin, "epoch_margin", "0.99",
             "a zero coordinate enters the working set of an epoch if |g_j| > epoch_margin*lambda (0: all, "
             "as in Algorithm 2; 0.99: as in the authors' program)",
             {0, 1}),
      option(&EpochSettings::tol, "epoch_tol", epoch_tol,
             "the first epoch ends when the l1 norm of the subgradient on the working set falls to this "
             "share of its initial value (the authors' program: 1e-4)",
             inside(0, 1)),
      option(&EpochSettings::factor, "epoch_factor", "0.1",
             "tolerance of each further epoch, relative to the previous one", inside(0, 1)),
  });
}

Schema<ArmijoOptions> line_search_rows() {
  return Schema<ArmijoOptions>({
      option(&ArmijoOptions::sigma, "sigma", "1e-3", "share of the predicted decrease that a step must reach",
             inside(0, 1)),
      option(&ArmijoOptions::beta, "beta", "0.5", "step ratio of the line search", inside(0, 1)),
  });
}

}  // namespace proxbench
