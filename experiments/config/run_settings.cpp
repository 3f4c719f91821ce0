#include "experiments/config/run_settings.h"

namespace proxbench {

using enum FieldUse;

const Schema<RunData>& RunData::schema() {
  static const Schema<DataFiles> files({
      row(&DataFiles::train, "train", "list of training files", {.file = true}),
      row(&DataFiles::test, "test", "list of test files", {.file = true}),
      row(&DataFiles::hierarchy, "hierarchy", "file with the hierarchy of classes", {.file = true}),
  });
  static const Schema<RunData> rows =
      Schema<RunData>({
                          row(&RunData::format, "format", "a data format", {.required = true}),
                          part(&RunData::files, files),
                          row(&RunData::oracle, "oracle", "an oracle; default: that of the format"),
                          row(&RunData::start, "start",
                              "model file from which all runs but the reference start; default: w = 0",
                              {.file = true, .section = "run", .use = kSummary}),
                      })
          .in("run.data", kRecord);
  return rows;
}

const Schema<StopRules>& StopRules::schema() {
  static const Schema<StopRules> rows({
      row(&StopRules::tol, "tol",
          "stop when kkt <= tol * (kkt at w = 0); with loss = hinge, when the solver finds a relative gap <= "
          "tol",
          {.min = 0, .max = 1, .use = kSummary}),
      row(&StopRules::gap_target, "gap",
          "stop, with status gap-reached, when F is proven to be within this relative gap of its minimum; if "
          "gap is given without tol, tol is 0; 0: compute no gap",
          {.min = 0, .max = 1, .field = "gap_target", .use = kSummary}),
      row(&StopRules::time_limit, "time_limit", "seconds on the clock for each run; 0: no limit",
          {.min = 0, .unit = "s"}),
      row(&StopRules::max_iterations, "max_iterations", "stop after so many iterations; 0: no limit",
          {.min = 0}),
  });
  return rows;
}

const Schema<RunSettings>& RunSettings::schema() {
  constexpr double kMaxSeed = 9007199254740991.0;  // 2^53 - 1, so that every seed is exact in JSON
  using Kind = Loss::Kind;
  static const Schema<Loss> loss({
      choice(
          &Loss::kind,
          {.name = "loss",
           .help = "what F sums over training instances: negative log-likelihood, or margin-rescaled hinge",
           .field = "loss_function",
           .use = kModel},
          {{loss_name(Kind::kLog), Kind::kLog}, {loss_name(Kind::kHinge), Kind::kHinge}}),
      choice(
          &Loss::cost,
          {.name = "cost",
           .help = "of loss = hinge: wrong positions of an instance, or their share",
           .use = kModel},
          {{cost_name(Cost::kHamming), Cost::kHamming}, {cost_name(Cost::kHammingMean), Cost::kHammingMean}}),
  });
  using S = RunSettings;
  static const Schema<S> rows({
      base_rows<S>(StopRules::schema()),
      part(&S::loss, loss),
      row(&S::threads, "threads", "threads of each process; 0: all cores",
          {.min = 0, .max = 1024, .use = kModel}),
      row(&S::processes, "processes", "MPI processes of each run, which share the training instances",
          {.min = 1, .max = 4096, .use = kModel}),
      row(&S::backend, "backend", "parallel back end", {.choices = {"openmp", "tbb"}, .use = kModel}),
      row(&S::seed, "seed", "seed of the solvers' random choices; repetition r runs with seed + r - 1",
          {.min = 0, .max = kMaxSeed, .use = kSummary}),
      row(&S::sample_kkt, "sample_kkt", "measure kkt at every sample of a trace, off the clock"),
      row(&S::profile, "profile", "measure the time of each phase, which takes a little of the clock",
          {.use = kRecord}),
      row(&S::sampling_budget, "sampling_budget",
          "time for additional samples, which is off the clock, as a share of the time on it; 1e6: no limit",
          {.min = 0, .max = kNoSamplingBudget}),
      row(&S::warm_up, "warm_up", "seconds of inference at w = 0 before the clock starts",
          {.min = 0, .max = 3600, .unit = "s"}),
      row(&S::decoding, "decoding",
          "test accuracy of the most probable structure, or of the most probable output at each position",
          {.choices = {"structure", "positions"}, .section = "run.data", .use = kRecord}),
  });
  return rows;
}

}  // namespace proxbench
