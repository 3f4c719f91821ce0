/// The tables of what a config may say: the options of a run, and the sections with their keys.

#include <algorithm>

#include "core/base/error.h"
#include "experiments/config/config.h"

namespace proxbench {
namespace {

constexpr double kMaxSeed = 9007199254740991.0;  // 2^53 - 1, so that every seed is exact in JSON

OptionSpec run_option(std::string_view name) {
  for (const OptionSpec& spec : run_options())
    if (spec.name == name) return spec;
  throw Error("no run option '" + std::string(name) + "'");
}

}  // namespace

const OptionTable& run_options() {
  static const OptionTable table = {
      {.name = "lambda",
       .type = OptionType::kReal,
       .default_value = "1",
       .help = "weight of ||w||_1 in F; 0 where mu > 0",
       .min = 0},
      {.name = "mu",
       .type = OptionType::kReal,
       .default_value = "0",
       .help = "weight of ||w||_2^2 / 2 in F",
       .min = 0},
      {.name = "loss",
       .type = OptionType::kString,
       .default_value = "log",
       .help = "what F sums over training instances: negative log-likelihood, or margin-rescaled hinge",
       .choices = {"log", "hinge"}},
      {.name = "cost",
       .type = OptionType::kString,
       .default_value = "hamming",
       .help = "of loss = hinge: wrong positions of an instance, or their share",
       .choices = {"hamming", "hamming-mean"}},
      {.name = "tol",
       .type = OptionType::kReal,
       .default_value = "1e-6",
       .help = "stop when kkt <= tol * (kkt at w = 0); with loss = hinge, when the solver finds a relative "
               "gap <= tol. kkt is the largest entry of the minimum-norm subgradient, in the units of the "
               "features. It is not divided by norms of columns, because lambda bounds the same entries. So "
               "one feature of huge values makes any tol easy; gap measures F in any units",
       .min = 0,
       .max = 1},
      {.name = "gap",
       .type = OptionType::kReal,
       .default_value = "0",
       .help =
           "stop, with status gap-reached, when F is proven to be within this relative gap of its minimum; "
           "looking for proofs is off the clock, whatever the sampling budget; where it is given and tol is "
           "not, tol is 0; 0: do not look",
       .min = 0,
       .max = 1},
      {.name = "max_iterations",
       .type = OptionType::kInt,
       .default_value = "0",
       .help = "stop after so many iterations; 0: no limit",
       .min = 0},
      {.name = "time_limit",
       .type = OptionType::kReal,
       .default_value = "0",
       .help = "stop after so many seconds on the clock; 0: no limit",
       .min = 0},
      {.name = "threads",
       .type = OptionType::kInt,
       .default_value = "0",
       .help = "number of threads; 0: all cores",
       .min = 0,
       .max = 1024},
      {.name = "backend",
       .type = OptionType::kString,
       .default_value = "openmp",
       .help = "parallel back end",
       .choices = {"openmp", "tbb"}},
      {.name = "seed",
       .type = OptionType::kInt,
       .default_value = "1",
       .help = "seed of the solver's random choices",
       .min = 0,
       .max = kMaxSeed},
  };
  return table;
}

const std::vector<ConfigSectionInfo>& config_sections() {
  static const std::vector<ConfigSectionInfo> sections = [] {
    const auto shared = [](std::string_view name, const char* help = nullptr) {
      OptionSpec spec = run_option(name);
      if (help) spec.help = help;
      return spec;
    };
    const auto override_of = [](std::string_view name) {
      OptionSpec spec = run_option(name);
      spec.default_value.clear();
      spec.help = "default: that of [experiment]";
      return spec;
    };
    std::vector<ConfigSectionInfo> all;
    all.push_back(
        {"experiment",
         "what is run: every data set x lambda x solver x repetition",
         {
             {.name = "name",
              .default_value = "",
              .help = "name of the experiment; results go to results/NAME"},
             {.name = "title",
              .default_value = "",
              .help = "one line for people, above the tables; default: the name"},
             shared("lambda",
                    "list of weights of ||w||_1 in F; path(START, END, COUNT), with COUNT lambdas from START "
                    "down to END, is one run for all of them, each warm-started from the one before; START "
                    "and END: a real, max (the smallest lambda at which w = 0 is optimal), or R*max"),
             shared(
                 "mu",
                 "weight of ||w||_2^2 / 2 in F; path(START, END, COUNT), START and END reals, is one run for "
                 "COUNT values from START down to END, with each lambda"),
             shared("loss"),
             shared("cost"),
             shared("threads"),
             {.name = "processes",
              .type = OptionType::kInt,
              .default_value = "1",
              .help = "MPI processes of each run, which share the training instances",
              .min = 1,
              .max = 4096},
             shared("backend"),
             shared("tol"),
             shared("gap"),
             shared("time_limit", "seconds on the clock for each run; 0: no limit"),
             shared("max_iterations"),
             {.name = "repetitions",
              .type = OptionType::kInt,
              .default_value = "1",
              .help = "runs of each solver",
              .min = 1,
              .max = 10000},
             shared("seed", "seed of the solvers' random choices; repetition r runs with seed + r - 1"),
             {.name = "reference_solver",
              .default_value = "prox-qn",
              .help =
                  "the solver that gives f*, with its defaults, and bcfw with gap sampling, pairwise steps "
                  "and no "
                  "averaging; default with loss = hinge: bcfw; another than prox-qn goes by reference_gap "
                  "alone, unless that is 0"},
             {.name = "reference_tol",
              .type = OptionType::kReal,
              .default_value = "1e-9",
              .help = "tol of the run that gives f*",
              .min = 0,
              .max = 1},
             {.name = "reference_gap",
              .type = OptionType::kReal,
              .default_value = "1e-9",
              .help = "once tol is met, it goes on within its time limit until f* is proven to this relative "
                      "gap; it looks at counts of iterations, so that the same config and data give the same "
                      "f*; 0: it does not go on",
              .min = 0,
              .max = 1},
             {.name = "reference_time_limit",
              .type = OptionType::kReal,
              .default_value = "600",
              .help = "its time limit in seconds on the clock, which alone can make f* differ from sweep to "
                      "sweep; 0: no limit",
              .min = 0},
             {.name = "sample_kkt",
              .type = OptionType::kBool,
              .default_value = "false",
              .help = "measure kkt at every sample of a trace, off the clock"},
             {.name = "profile",
              .type = OptionType::kBool,
              .default_value = "false",
              .help =
                  "each run tells how its time was spent (phases in results.json, and what costs shows of "
                  "them); counting that takes a little of the clock"},
             {.name = "sampling_budget",
              .type = OptionType::kReal,
              .default_value = "0.01",
              .help =
                  "share of the clock's time that evaluating iterates off the clock may take for samples on "
                  "top "
                  "of those that are always taken, before the clock has grown by a tenth since the last one; "
                  "between, a trace has the solver's own audited loss; 1e6: no limit",
              .min = 0,
              .max = kNoSamplingBudget},
             {.name = "warm_up",
              .type = OptionType::kReal,
              .default_value = "0.2",
              .help = "seconds of inference at w = 0 before the clock starts",
              .min = 0,
              .max = 3600},
             {.name = "stop_at",
              .type = OptionType::kReal,
              .default_value = "0",
              .help = "stop a run at this relative difference to f*, with status target-reached; 0: go on",
              .min = 0,
              .max = 1},
             {.name = "wall_limit",
              .type = OptionType::kReal,
              .default_value = "auto",
              .help =
                  "seconds of wall time, with loading and sampling, after which a run's process is asked to "
                  "stop (SIGTERM); auto: 60 + 3 * time_limit, none without a time limit; 0: none",
              .min = 0,
              .automatic = true},
             {.name = "kill_grace",
              .type = OptionType::kReal,
              .default_value = "10",
              .help = "seconds after which a process that was asked to stop is killed (SIGKILL)",
              .min = 0},
             {.name = "memory_limit",
              .type = OptionType::kReal,
              .default_value = "0",
              .help = "MiB of memory that a run's process may take; 0: no limit",
              .min = 0},
             {.name = "pin",
              .type = OptionType::kBool,
              .default_value = "true",
              .help = "bind each run to as many CPUs as it has threads, and each thread to one of them"},
             {.name = "order",
              .type = OptionType::kString,
              .default_value = "interleaved",
              .help = "of the runs on one data set and lambda: one repetition of all solvers after the "
                      "other, each "
                      "in an order drawn from the seed; or as the config lists them",
              .choices = {"interleaved", "grid"}},
             {.name = "decoding",
              .type = OptionType::kString,
              .default_value = "structure",
              .help =
                  "test accuracy of the most probable structure (Viterbi), or of the most probable output at "
                  "each of its positions (from marginals)",
              .choices = {"structure", "positions"}},
             {.name = "targets",
              .type = OptionType::kReal,
              .default_value = "1e-2, 1e-4, 1e-6, 1e-8",
              .help = "list of relative differences to f* whose times the tables show",
              .min = 0,
              .min_open = true},
         },
         {"lambda", "targets"},
         {"name", "lambda"},
         {},
         {"lambda", "mu"}});
    all.push_back(
        {"data",
         "[data] or [data.NAME]: a data set; also takes the options of its format",
         {
             {.name = "format", .default_value = "", .help = "a data format"},
             {.name = "train", .default_value = "", .help = "list of training files"},
             {.name = "test", .default_value = "", .help = "list of test files"},
             {.name = "hierarchy", .default_value = "", .help = "file with the hierarchy of classes"},
             {.name = "oracle", .default_value = "", .help = "an oracle; default: that of the format"},
             {.name = "start",
              .default_value = "",
              .help = "model file that the runs start from, but that for f*; default: w = 0"},
         },
         {"train", "test"},
         {"format"}});
    all.push_back({"solver",
                   "[solver.LABEL]: a solver; also takes the solver's own options",
                   {
                       {.name = "solver", .default_value = "", .help = "a solver; default: the LABEL"},
                       override_of("tol"),
                       override_of("gap"),
                       override_of("time_limit"),
                       override_of("max_iterations"),
                   }});
    all.push_back(
        {"plot",
         "which figures are drawn, and how",
         {
             {.name = "kinds",
              .default_value = "curves",
              .help = "list of the kinds of figures: curves of each data set and lambda; over all "
                      "of them the performance profile of each target, and the distribution "
                      "(ecdf) of what it costs to reach the targets; path: nonzeros, objective, "
                      "test accuracy and seconds along each path. Not given: curves where there "
                      "are single lambdas, path where there are paths",
              .choices = {"curves", "profile", "ecdf", "path"}},
             {.name = "x",
              .default_value = "seconds",
              .help = "list of what the curves are drawn against, and of the costs that profiles, "
                      "ecdf and means compare; each in figures of its own",
              .choices = {"seconds", "passes", "updates", "iterations"}},
             {.name = "x_max",
              .type = OptionType::kReal,
              .default_value = "",
              .help = "list of where the axes of x end; 0 or not given: where the runs end",
              .min = 0},
             {.name = "quantities",
              .default_value = "objective, nnz, accuracy",
              .help = "list of what the curves show; empty: no curves",
              .choices = {"objective", "suboptimality", "nnz", "accuracy", "error", "structure-error",
                          "chunk-f1", "gap", "dual", "mean-gap", "gap-estimate", "gap-infeasibility"}},
             {.name = "log_seconds",
              .type = OptionType::kBool,
              .default_value = "false",
              .help = "seconds on a log axis"},
             {.name = "floor",
              .type = OptionType::kReal,
              .default_value = "1e-12",
              .help = "relative differences to f* at or below this are not drawn",
              .min = 0,
              .min_open = true},
             {.name = "repetitions",
              .default_value = "band",
              .help = "two or more repetitions as their median with a band from the 25 % to the "
                      "75 % quantile, or as a line each",
              .choices = {"band", "lines"}},
             {.name = "shift",
              .type = OptionType::kReal,
              .default_value = "1",
              .help = "shift of the geometric means over problems, in seconds (passes, updates, iterations)",
              .min = 0,
              .min_open = true},
             {.name = "par",
              .type = OptionType::kReal,
              .default_value = "10",
              .help = "in these means a failure costs so many times its limit (PAR-k)",
              .min = 1},
         },
         {"kinds", "x", "x_max", "quantities"},
         {},
         {"x_max"}});
    all.push_back({"paper",
                   "what a paper says about the figure or table that the config makes; for `report`",
                   {
                       {.name = "item", .default_value = "", .help = "its name in the paper, e.g. Figure 1"},
                       {.name = "caption", .default_value = "", .help = "what it shows, in one's own words"},
                       {.name = "reports", .default_value = "", .help = "what the paper reports"},
                       {.name = "differs", .default_value = "", .help = "what differs here, and why"},
                       {.name = "lambda",
                        .type = OptionType::kReal,
                        .default_value = "",
                        .help = "list of lambdas for which the paper prints numbers; tables/paper.* then "
                                "shows them beside ours",
                        .min = 0,
                        .min_open = true},
                       {.name = "nnz",
                        .type = OptionType::kReal,
                        .default_value = "",
                        .help = "list of nonzeros at the paper's optimum, one for each lambda",
                        .min = 0},
                       {.name = "accuracy",
                        .type = OptionType::kReal,
                        .default_value = "",
                        .help = "list of the paper's test accuracies, one for each lambda",
                        .min = 0,
                        .max = 1},
                       {.name = "data",
                        .type = OptionType::kBool,
                        .default_value = "false",
                        .help = "tables/data.* and the page show the sizes of the data sets"},
                       {.name = "costs",
                        .type = OptionType::kBool,
                        .default_value = "false",
                        .help = "tables/costs.* and the page show the passes and seconds to each target, and "
                                "the share of inference and gradients in the time of runs with profile"},
                   },
                   {"lambda", "nnz", "accuracy"},
                   {"item"},
                   {"nnz", "accuracy"}});
    all.push_back(
        {"slurm",
         "what the jobs of `run --launcher slurm` ask for",
         {
             {.name = "partition", .default_value = "", .help = "a partition; default: the cluster's"},
             {.name = "time",
              .default_value = "auto",
              .help = "time limit of each job in Slurm's words, e.g. 90 (minutes), 1:30:00 or 2-12; runs are "
                      "asked to stop before it; auto: the sum of wall_limit over its runs, else the partition's"},
             {.name = "cpus",
              .type = OptionType::kInt,
              .default_value = "0",
              .help = "CPUs of each job, and threads of a run where threads = 0; 0: as many as all threads "
                      "of a run",
              .min = 0,
              .max = 1024},
             {.name = "constraint", .default_value = "", .help = "features of the nodes, e.g. skylake"},
             {.name = "exclusive",
              .default_value = "auto",
              .help = "a whole node for each job; without, timings are stored as not comparable; auto: true "
                      "where "
                      "figures are against seconds",
              .choices = {"auto", "true", "false"}},
             {.name = "split",
              .default_value = "problem",
              .help = "what a job makes: problem: all runs on a data set and penalty, one after the other; "
                      "solver: those of one solver, once another job has found f*",
              .choices = {"problem", "solver"}},
         }});
    return all;
  }();
  return sections;
}

}  // namespace proxbench
