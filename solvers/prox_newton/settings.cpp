#include "solvers/prox_newton/settings.h"

#include "solvers/shared/common_options.h"

namespace proxbench::prox_newton {

OptionRows<Settings> option_rows() {
  return OptionRows<Settings>(
      {option(&Settings::memory,
              {.name = "memory", .default_value = "40", .help = "L-BFGS pairs kept", .min = 1, .max = 1000}),
       choice(&Settings::newton,
              {.name = "newton",
               .default_value = "auto",
               .help = "the exact Hessian as the model: auto, once the iterations have cost as much as it does, "
                       "where the oracle has covariances (chain, candidates) and the working set is small enough; "
                       "or never"},
              {{"auto", true}, {"never", false}}),
       option(&Settings::max_inner, {.name = "max_inner",
                                     .default_value = "50",
                                     .help = "most passes of coordinate descent over the working set",
                                     .min = 1,
                                     .max = 100000}),
       option(&Settings::inner_tol, {.name = "inner_tol",
                                     .default_value = "0.03",
                                     .help = "the inner problem is solved when no coordinate moves its own gradient "
                                             "by more than this share of the first pass's; 0: all passes",
                                     .min = 0,
                                     .max = 1}),
       option(&Settings::epoch_factor,
              {.name = "epoch_factor",
               .default_value = "0.1",
               .help = "an epoch ends when the l1 norm of the subgradient on its working set has fallen to this "
                       "share",
               .min = 0,
               .max = 1,
               .min_open = true,
               .max_open = true}),
       option(&Settings::max_stagnant,
              {.name = "max_stagnant",
               .default_value = "20",
               .help = "iterations in a row with neither F nor kkt at a new low (all within rounding) before the "
                       "memory is cleared; twice in a row ends the run as stalled",
               .min = 0,
               .max = 1000000}),
       part(&Settings::line_search, line_search_rows())});
}

}  // namespace proxbench::prox_newton
