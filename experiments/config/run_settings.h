#pragma once
/// The settings that a config gives to its runs, and that the record of a run stores. Each has one row here.
/// From it follow the key of the config (config_sections.cpp) and the field of the record
/// (experiments/results/run_fields.cpp).

#include <cstdint>
#include <string>

#include "core/base/options.h"
#include "core/loss.h"
#include "core/monitor.h"
#include "experiments/config/data_format.h"

namespace proxbench {

/// Where a field of a record is shown. Each use includes the uses before it.
enum class FieldUse {
  kRecord,   ///< only in the record's own JSON
  kColumn,   ///< also a column of exports
  kSummary,  ///< also in the summary of `train`; null in the summary of `certify`
  kModel     ///< also in the summary of `certify`
};

/// How the record of a run stores a setting.
struct Stored {
  FieldUse use = FieldUse::kColumn;
  const char* unit = "";
  const char* section = "run";
  const char* name = "";  ///< "": the name of the key
};

/// A share of the clock that is large enough to evaluate every sample in full.
inline constexpr double kNoSamplingBudget = 1e6;

// The rows say what the members mean, and their units.

struct RunData {
  std::string format;
  DataFiles files;
  std::string oracle, start;
};

/// Calls add(member, key, help, spec, stored) for each setting.
template <class Add>
void each_data_setting(Add&& add) {
  constexpr Stored of_data{.use = FieldUse::kRecord, .section = "run.data"};
  add(&RunData::format, "format", "a data format", {.required = true}, of_data);
  add(
      [](auto& data) -> auto& { return data.files.train; }, "train", "list of training files", {.file = true},
      of_data);
  add(
      [](auto& data) -> auto& { return data.files.test; }, "test", "list of test files", {.file = true},
      of_data);
  add(
      [](auto& data) -> auto& { return data.files.hierarchy; }, "hierarchy",
      "file with the hierarchy of classes", {.file = true}, of_data);
  add(&RunData::oracle, "oracle", "an oracle; default: that of the format", {}, of_data);
  add(&RunData::start, "start", "model file from which all runs but the reference start; default: w = 0",
      {.file = true}, {FieldUse::kSummary});
}

/// The conditions that end a run.
struct StopRules {
  double tol = 1e-6, gap_target = 0.0, time_limit = 0.0;
  std::int64_t max_iterations = 0;
};

/// Calls add() likewise.
template <class Add>
void each_stop_rule(Add&& add) {
  add(&StopRules::tol, "tol",
      "stop when kkt <= tol * (kkt at w = 0); with loss = hinge, when the solver finds a relative gap <= tol",
      {.min = 0, .max = 1}, {FieldUse::kSummary});
  add(&StopRules::gap_target, "gap",
      "stop, with status gap-reached, when F is proven to be within this relative gap of its minimum; if gap "
      "is given without tol, tol is 0; 0: compute no gap",
      {.min = 0, .max = 1}, {.use = FieldUse::kSummary, .name = "gap_target"});
  add(&StopRules::time_limit, "time_limit", "seconds on the clock for each run; 0: no limit", {.min = 0},
      {.unit = "s"});
  add(&StopRules::max_iterations, "max_iterations", "stop after so many iterations; 0: no limit", {.min = 0});
}

struct RunSettings : StopRules {
  Loss loss;
  int threads = 1, processes = 1;
  std::string backend = "openmp";
  std::uint64_t seed = 1;
  bool sample_kkt = false, profile = false;
  double sampling_budget = MonitorOptions{}.sampling_budget;
  double warm_up = 0.0;
  std::string decoding = "structure";
};

/// Leaves out the stop rules.
template <class Add>
void each_run_setting(Add&& add) {
  using enum FieldUse;
  constexpr double kMaxSeed = 9007199254740991.0;  // 2^53 - 1, so that every seed is exact in JSON
  add([](auto& settings) -> auto& { return settings.loss.kind; }, "loss",
      "what F sums over training instances: negative log-likelihood, or margin-rescaled hinge",
      {.choices = {"log", "hinge"}}, {.use = kModel, .name = "loss_function"});
  add([](auto& settings) -> auto& { return settings.loss.cost; }, "cost",
      "of loss = hinge: wrong positions of an instance, or their share",
      {.choices = {"hamming", "hamming-mean"}}, {kModel});
  add(&RunSettings::threads, "threads", "threads of each process; 0: all cores", {.min = 0, .max = 1024},
      {kModel});
  add(&RunSettings::processes, "processes", "MPI processes of each run, which share the training instances",
      {.min = 1, .max = 4096}, {kModel});
  add(&RunSettings::backend, "backend", "parallel back end", {.choices = {"openmp", "tbb"}}, {kModel});
  add(&RunSettings::seed, "seed", "seed of the solvers' random choices; repetition r runs with seed + r - 1",
      {.min = 0, .max = kMaxSeed}, {kSummary});
  add(&RunSettings::sample_kkt, "sample_kkt", "measure kkt at every sample of a trace, off the clock");
  add(&RunSettings::profile, "profile", "measure the time of each phase, which takes a little of the clock",
      {}, {kRecord});
  add(&RunSettings::sampling_budget, "sampling_budget",
      "time for additional samples, which is off the clock, as a share of the time on it; 1e6: no limit",
      {.min = 0, .max = kNoSamplingBudget});
  add(&RunSettings::warm_up, "warm_up", "seconds of inference at w = 0 before the clock starts",
      {.min = 0, .max = 3600}, {.unit = "s"});
  add(&RunSettings::decoding, "decoding",
      "test accuracy of the most probable structure, or of the most probable output at each position",
      {.choices = {"structure", "positions"}}, {.use = kRecord, .section = "run.data"});
}

}  // namespace proxbench
