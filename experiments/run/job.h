#pragma once
/// What a process of its own is asked to do: everything that decides what a run does and how long it takes,
/// and nothing else. The runner writes it as JSON beside the run's results, so that any run can be made again
/// by hand: `proxbench-worker JOB.json FOLDER`.

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "experiments/config/data_format.h"

namespace proxbench {

/// Names and texts as in a config; see config_sections() for what the values mean.
struct Job {
  std::string name;  ///< for messages
  std::string format, decoding;
  std::string oracle;  ///< in place of the format's; empty: that
  DataFiles files;  ///< absolute
  std::map<std::string, std::string> data_options, solver_options;
  std::string solver;  ///< empty: read the data, describe them, and train nothing
  std::string path;    ///< path(...) in the place of lambda or mu; empty: a single penalty
  bool path_of_mu = false;
  double lambda = 1.0, mu = 0.0, tol = 1e-6, gap = 0.0, time_limit = 0.0, sampling_budget = 0.0,
         warm_up = 0.0;
  double tighten = 0.0;  ///< relative gap to go on for after the run, while time_limit lasts; 0: do not
  std::int64_t max_iterations = 0;
  std::optional<double> objective_target;  ///< stop at this F; none: do not
  bool sample_kkt = false;
  bool profile = false;  ///< tell how the time was spent: for `proxbench scale`, never in a sweep
  std::uint64_t seed = 1;
  int threads = 1;
  std::string backend;
  std::vector<std::string> plugins;  ///< absolute

  nlohmann::ordered_json to_json() const;
  /// Throws nlohmann::json::exception where a key is missing or of another type.
  static Job from_json(const nlohmann::json& json);
};

/// The options of a table, set to a job's texts. Throws Error where one is unknown or not allowed.
Options options_from(const OptionTable& table, const std::map<std::string, std::string>& values);

/// What a process leaves in its folder beside trace.csv and model.tsv.
inline constexpr const char* kJobFile = "job.json";
inline constexpr const char* kResultFile = "result.json";

/// Exit status of a process that ran out of memory. 0: there is a result; 1: it failed, and the result, where
/// there is one, says why.
inline constexpr int kOutOfMemoryStatus = 3;

}  // namespace proxbench
