#pragma once
/// What a process of its own is asked to do: RunParameters as JSON (job_json()) beside the run's results, so
/// that any run can be made again by hand: `proxbench-worker JOB.json FOLDER`.

#include <map>
#include <string>

#include "core/base/options.h"

namespace proxbench {

/// The options of a table, set to texts. Throws Error where one is unknown or not allowed.
Options options_from(const OptionTable& table, const std::map<std::string, std::string>& values);
/// Every option with its text.
std::map<std::string, std::string> option_texts(const Options& options);

/// What a process leaves in its folder beside trace.csv and model.tsv.
inline constexpr const char* kJobFile = "job.json";
inline constexpr const char* kResultFile = "result.json";

/// Exit status of a process that ran out of memory. 0: there is a result; 1: it failed, and the result, where
/// there is one, says why.
inline constexpr int kOutOfMemoryStatus = 3;

}  // namespace proxbench
