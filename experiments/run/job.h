#pragma once
/// The request to a worker process is the record of a run, as far as it is known before the run. A manifest
/// is a complete record, so any run can be repeated: `proxbench-worker RECORD.json FOLDER`. Also the first
/// steps of all runs: options, data, and what their caller sees of their progress.

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/data/data_format.h"
#include "core/monitor/monitor.h"
#include "experiments/config/run_settings.h"

namespace proxbench {

/// Sets the options of a table from texts. Throws Error if one is unknown or not allowed.
Options options_from(const OptionTable& table, const std::map<std::string, std::string>& values);
/// Returns every option with its value as text.
std::map<std::string, std::string> option_texts(const Options& options);

/// Returns the files that a data set names: those of its keys, and those of the options of its format. May
/// contain empty names.
std::vector<std::string*> named_files(RunData& data, const OptionTable& table,
                                      std::map<std::string, std::string>& options);

/// The record that a process is started with, in its folder. The process writes the complete record as
/// manifest.json.
inline constexpr const char* kJobFile = "job.json";
/// The status of a run whose solver or trainer does not fit the data, penalty or machine. This is no failure,
/// and the run is not repeated.
inline constexpr const char* kDoesNotFit = "skipped(the solver does not fit)";
/// The status of a run whose oracle cannot serve the data.
inline constexpr const char* kOracleMismatch = "failed(the oracle does not fit the data)";

/// Exit status of a process that ran out of memory. Status 0 means that there is a result. Status 1 means
/// that the run failed; its result, if there is one, says why.
inline constexpr int kOutOfMemoryStatus = 3;

/// Reads data in the format and checks it with check_data(). A nonempty `oracle` replaces the format's
/// oracle. The digests of the data then change (digest_with_oracle), because the problem changes. This
/// function also computes the digests of a plug-in's data. If the format supports it, each of several
/// processes reads only a part of the training files (DataFormatInfo::read_share). Throws Error; if the
/// oracle is unknown, before it reads anything.
DataPair read_data(const DataFormatInfo& format, const DataFiles& files, const Options& options,
                   const std::string& oracle = "", const Processes* processes = nullptr);

/// Functions by which the caller of a long computation follows its progress and stops it. Any of them may be
/// empty. The texts are lines for people.
struct Progress {
  std::function<void(const std::string&)> message;  ///< progress
  std::function<void(const std::string&)> detail;   ///< progress in more detail
  std::function<void(const std::string&)> warning;  ///< possible problems
  /// Gets the newest sample of a run from time to time.
  std::function<void(const std::string& run, const Sample&)> on_sample;
  Interrupt stop;

  void inform(const std::string& text) const {
    if (message) message(text);
  }
  void warn(const std::string& text) const {
    if (warning) warning(text);
  }
};

}  // namespace proxbench
