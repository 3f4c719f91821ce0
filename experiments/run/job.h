#pragma once
/// What a process of its own is asked to do: the record of a run, as far as it is known before the run. A
/// manifest is such a record, too, so that any run can be made again: `proxbench-worker RECORD.json FOLDER`.

#include <map>
#include <string>

#include "core/base/options.h"

namespace proxbench {

/// The options of a table, set to texts. Throws Error where one is unknown or not allowed.
Options options_from(const OptionTable& table, const std::map<std::string, std::string>& values);
/// Every option with its text.
std::map<std::string, std::string> option_texts(const Options& options);

/// The record that a process is started with, in its folder; it writes the whole one as manifest.json.
inline constexpr const char* kJobFile = "job.json";
/// How runs end whose solver or trainer cannot run with the data, penalty or machine: no failure, and not tried
/// again.
inline constexpr const char* kDoesNotFit = "skipped(the solver does not fit)";
/// How runs end whose data have an oracle that cannot serve them.
inline constexpr const char* kOracleMismatch = "skipped(the oracle does not fit the data)";

/// Exit status of a process that ran out of memory. 0: there is a result; 1: it failed, and the result, where
/// there is one, says why.
inline constexpr int kOutOfMemoryStatus = 3;

}  // namespace proxbench
