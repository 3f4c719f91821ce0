#include "solvers/shared/common_options.h"

namespace proxbench {

OptionRows<EpochSettings> epoch_rows(const std::string& epoch_tol) {
  return OptionRows<EpochSettings>({
      option(&EpochSettings::shrinking,
             {.name = "shrinking",
              .default_value = "true",
              .help = "shrink the working set within an epoch (Zhong et al. 2014, section 2.3)"}),
      option(
          &EpochSettings::margin,
          {.name = "epoch_margin",
           .default_value = "0.99",
           .help =
               "a zero coordinate enters the working set of an epoch if |g_j| > epoch_margin*lambda (0: all, "
               "as in Algorithm 2; 0.99: as in the authors' program)",
           .min = 0,
           .max = 1}),
      option(&EpochSettings::tol,
             {.name = "epoch_tol",
              .default_value = epoch_tol,
              .help =
                  "the first epoch ends when the l1 norm of the subgradient on the working set falls to this "
                  "share of its initial value (the authors' program: 1e-4)",
              .min = 0,
              .max = 1,
              .min_open = true,
              .max_open = true}),
      option(&EpochSettings::factor, {.name = "epoch_factor",
                                      .default_value = "0.1",
                                      .help = "tolerance of each further epoch, relative to the previous one",
                                      .min = 0,
                                      .max = 1,
                                      .min_open = true,
                                      .max_open = true}),
  });
}

OptionRows<ArmijoOptions> line_search_rows() {
  return OptionRows<ArmijoOptions>({
      option(&ArmijoOptions::sigma, {.name = "sigma",
                                     .default_value = "1e-3",
                                     .help = "share of the predicted decrease that a step must reach",
                                     .min = 0,
                                     .max = 1,
                                     .min_open = true,
                                     .max_open = true}),
      option(&ArmijoOptions::beta, {.name = "beta",
                                    .default_value = "0.5",
                                    .help = "step ratio of the line search",
                                    .min = 0,
                                    .max = 1,
                                    .min_open = true,
                                    .max_open = true}),
  });
}

}  // namespace proxbench
