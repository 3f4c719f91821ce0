#pragma once
/// What decides whether a stored run is the run that is asked for.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/results/fields.h"

namespace proxbench {

/// The components of a run's key, each of which makes it another run when it changes.
struct RunKey {
  nlohmann::ordered_json config;  ///< all of the job but names of files, what follows, and its own name; of a
                                  ///< start model its bytes
  std::string data;               ///< source_digest()
  std::string program;            ///< program_digest()
  /// Of the hot loops (core/kernels/instruction_set.h): results differ within rounding.
  std::string instruction_set;
  int threads = 1;
  std::uint64_t seed = 1;

  /// "0123456789abcdef0123456789abcdef" over all components.
  std::string digest() const;
  /// {digest, config, data, program, instruction_set, threads, seed}, as a manifest holds it.
  nlohmann::ordered_json to_json() const;
  /// One text for each component, and each value within config, that differs from a stored to_json():
  /// "config tol: 1e-06 -> 1e-07", "program: another build or plug-in". Empty: the same run.
  std::vector<std::string> changes_from(const nlohmann::json& stored) const;
};

/// `stop_at`: the relative difference to f* at which the run is to stop, in the place of the job's target,
/// which moves with every better f*.
RunKey key_of(const RunParameters& job, double stop_at, const std::string& source_digest,
              const std::string& program_digest);

/// xxh3 of the bytes of all files of a data set, with their roles, its format, options and oracle (empty: the
/// format's). Throws Error where a file cannot be read.
std::string source_digest(const std::string& format, const std::string& oracle, const DataFiles& files,
                          const std::map<std::string, std::string>& options);

/// xxh3 of the bytes of a file. Throws Error where it cannot be read.
std::string file_digest(const std::filesystem::path& file);

/// xxh3 of the bytes of the worker program and of the plug-ins. Throws Error where one cannot be read.
std::string program_digest(const std::filesystem::path& worker, const std::vector<std::string>& plugins);

}  // namespace proxbench
