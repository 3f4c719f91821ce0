#include "solvers/prox_qn/settings.h"

#include <map>
#include <string>
#include <utility>

namespace proxbench::prox_qn {

OptionTable options() {
  const auto paper = [](const std::string& value) {
    return std::map<std::string, std::string>{{"paper", value}};
  };
  OptionTable options = {
      {.name = "preset",
       .type = OptionType::kString,
       .default_value = "fast",
       .help =
           "paper: every choice as in the paper and its authors' program; sets the defaults of the others",
       .choices = {"fast", "paper"}},
      {.name = "memory",
       .type = OptionType::kInt,
       .default_value = "40",
       .help = "L-BFGS pairs kept, m",
       .min = 1,
       .max = 1000,
       .preset_values = paper("10")},
      {.name = "metric",
       .type = OptionType::kString,
       .default_value = "blocks",
       .help = "what L-BFGS starts from: gamma*I; or gamma*D, D from how often each weight is on, and the "
               "Hessian's "
               "blocks by output where these pay",
       .choices = {"blocks", "identity"},
       .preset_values = paper("identity")},
      {.name = "working_set",
       .type = OptionType::kString,
       .default_value = "growing",
       .help = "what an epoch starts with beside the support: the worst violators where full gradients are "
               "dear, all of them elsewhere; or, as the paper, all with |g_j| > epoch_margin*lambda",
       .choices = {"growing", "all"},
       .preset_values = paper("all")},
      {.name = "newton",
       .type = OptionType::kString,
       .default_value = "auto",
       .help =
           "the exact Hessian as the model: auto, once the iterations have cost as much as it does, where "
           "the oracle has covariances (chain) and the working set is small enough; or never",
       .choices = {"auto", "never"},
       .preset_values = paper("never")},
      {.name = "screening",
       .type = OptionType::kBool,
       .default_value = "false",
       .help = "drop for good what the duality gap proves to be zero (gap-safe screening)"},
      {.name = "max_inner",
       .type = OptionType::kInt,
       .default_value = "10",
       .help = "most passes of coordinate descent over the working set",
       .min = 1,
       .max = 100000},
      {.name = "inner_tol",
       .type = OptionType::kReal,
       .default_value = "0.03",
       .help =
           "the inner problem is solved when no coordinate moves its own gradient by more than this share "
           "of the first pass's; 0: all passes, over all coordinates",
       .min = 0,
       .max = 1,
       .preset_values = paper("0")},
      {.name = "inner",
       .type = OptionType::kString,
       .default_value = "subspace",
       .help = "how the inner problem is solved: coordinate descent alone, or a pass of it and conjugate "
               "gradients on the face that it finds, in turn",
       .choices = {"subspace", "descent"},
       .preset_values = paper("descent")},
      {.name = "inner_cap",
       .type = OptionType::kBool,
       .default_value = "false",
       .help = "at most d/|A| passes (section 2.3)",
       .preset_values = paper("true")},
      {.name = "epochs",
       .type = OptionType::kString,
       .default_value = "relative",
       .help =
           "an epoch's tolerance: epoch_factor times the measure at its start, or falling by epoch_factor "
           "from epoch_tol on",
       .choices = {"relative", "fixed"},
       .preset_values = paper("fixed")},
      {.name = "first_scale",
       .type = OptionType::kString,
       .default_value = "auto",
       .help =
           "gamma of B = gamma*D before the first step: auto, the curvature along the first direction; "
           "or one, in the units of values: the square of their typical size, which is 1 of binary features",
       .choices = {"auto", "one"},
       .preset_values = paper("one")},
      {.name = "scaling",
       .type = OptionType::kString,
       .default_value = "geometric",
       .help = "gamma of gamma*D from the last pair: short = y's/s's, geometric = |y|/|s| (in D's norms), "
               "which spares most "
               "of the line search's second trials",
       .choices = {"short", "geometric"},
       .preset_values = paper("short")},
      {.name = "max_stagnant",
       .type = OptionType::kInt,
       .default_value = "20",
       .help = "iterations in a row with neither F nor kkt at a new low (all within rounding) before the "
               "memory is "
               "cleared; twice in a row ends the run as stalled",
       .min = 0,
       .max = 1000000},
      // Measured: with 64, less than the rounding of F on 47,215 positions, solves end at kkt 2e-6; with 256
      // at 3e-9.
      {.name = "rounding",
       .type = OptionType::kReal,
       .default_value = "256",
       .help =
           "how far, in units of eps*|F|, F may rise in the line search: near the optimum a good step must "
           "not be cut for the last digits of F, and kkt tells whether it was good",
       .min = 0,
       .preset_values = paper("4")},
  };
  return joined(joined(std::move(options), epoch_options("1e-4")), line_search_options());
}

Settings read_settings(const Options& o) {
  Settings settings{.memory = static_cast<std::size_t>(o.integer("memory")),
                    .max_inner = o.integer("max_inner"),
                    .inner_tol = o.real("inner_tol"),
                    .subspace = o.string("inner") == "subspace",
                    .inner_cap = o.boolean("inner_cap"),
                    .epochs = read_epochs(o),
                    .relative_epochs = o.string("epochs") == "relative",
                    .growing = o.string("working_set") == "growing",
                    .blocks = o.string("metric") == "blocks",
                    .screening = o.boolean("screening"),
                    .newton = o.string("newton") == "auto",
                    .measured_scale = o.string("first_scale") == "auto",
                    .scaling = o.string("scaling") == "short" ? GammaRule::kShort : GammaRule::kGeometric,
                    .max_stagnant = o.integer("max_stagnant"),
                    .line_search = read_line_search(o)};
  settings.line_search.rounding = o.real("rounding");
  return settings;
}

}  // namespace proxbench::prox_qn
