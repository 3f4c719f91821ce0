#pragma once
/// The request to a worker process: the record of a run, as far as it is known before the run. A manifest is
/// such a record too, so any run can be repeated: `proxbench-worker RECORD.json FOLDER`.

#include <map>
#include <string>

#include "core/base/options.h"

namespace proxbench {

/// Sets the options of a table from texts. Throws Error if one is unknown or not allowed.
Options options_from(const OptionTable& table, const std::map<std::string, std::string>& values);
/// Returns every option with its value as text.
std::map<std::string, std::string> option_texts(const Options& options);

/// The record that a process is started with, in its folder. The process writes the complete record as
/// manifest.json.
inline constexpr const char* kJobFile = "job.json";
/// The status of a run whose solver or trainer does not fit the data, penalty or machine. This is no failure,
/// and the run is not repeated.
inline constexpr const char* kDoesNotFit = "skipped(the solver does not fit)";
/// The status of a run whose oracle cannot serve the data.
inline constexpr const char* kOracleMismatch = "skipped(the oracle does not fit the data)";

/// Exit status of a process that ran out of memory. Status 0 means that there is a result. Status 1 means
/// that the run failed; if there is a result, it says why.
inline constexpr int kOutOfMemoryStatus = 3;

}  // namespace proxbench
