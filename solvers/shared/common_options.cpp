#include "solvers/shared/common_options.h"

namespace proxbench {

OptionTable epoch_options(const std::string& epoch_tol) {
  return {
      {.name = "shrinking",
       .type = OptionType::kBool,
       .default_value = "true",
       .help = "shrink the working set within an epoch (Zhong et al. 2014, section 2.3)"},
      {.name = "epoch_margin",
       .type = OptionType::kReal,
       .default_value = "0.99",
       .help = "a zero coordinate enters the working set of an epoch if |g_j| > epoch_margin*lambda (0: all, "
               "as in Algorithm 2; 0.99: as in the authors' program)",
       .min = 0,
       .max = 1},
      {.name = "epoch_tol",
       .type = OptionType::kReal,
       .default_value = epoch_tol,
       .help = "the first epoch ends when the l1 norm of the subgradient on the working set falls to this "
               "share of its initial value (the authors' program: 1e-4)",
       .min = 0,
       .max = 1,
       .min_open = true,
       .max_open = true},
      {.name = "epoch_factor",
       .type = OptionType::kReal,
       .default_value = "0.1",
       .help = "tolerance of each further epoch, relative to the previous one",
       .min = 0,
       .max = 1,
       .min_open = true,
       .max_open = true},
  };
}

EpochSettings read_epochs(const Options& options) {
  return {.shrinking = options.boolean("shrinking"),
          .margin = options.real("epoch_margin"),
          .tol = options.real("epoch_tol"),
          .factor = options.real("epoch_factor")};
}

OptionTable line_search_options() {
  return {
      {.name = "sigma",
       .type = OptionType::kReal,
       .default_value = "1e-3",
       .help = "share of the predicted decrease that a step must reach",
       .min = 0,
       .max = 1,
       .min_open = true,
       .max_open = true},
      {.name = "beta",
       .type = OptionType::kReal,
       .default_value = "0.5",
       .help = "step ratio of the line search",
       .min = 0,
       .max = 1,
       .min_open = true,
       .max_open = true},
      {.name = "max_linesearch",
       .type = OptionType::kInt,
       .default_value = "60",
       .help = "most trials of a line search",
       .min = 1,
       .max = 1000},
  };
}

ArmijoOptions read_line_search(const Options& options) {
  return {.sigma = options.real("sigma"),
          .beta = options.real("beta"),
          .max_trials = static_cast<int>(options.integer("max_linesearch"))};
}

OptionTable joined(OptionTable first, const OptionTable& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace proxbench
