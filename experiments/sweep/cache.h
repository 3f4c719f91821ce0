#pragma once
/// What decides whether a stored run is the run that is asked for.

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results/fields.h"

namespace proxbench {

/// What decides the result of a job beside its parameters. `stop_at`: the relative difference to f* at which
/// the run is to stop, in the place of the job's target, which moves with every better f*.
RunKey key_of(const RunParameters& job, double stop_at, const std::string& source_digest,
              const std::string& program_digest);

/// One text for each parameter and part of the key in which the run that is asked for differs from the stored
/// one: "config tol: 1e-06 -> 1e-07", "program: another build or other plug-ins". Empty: the same run. Names,
/// places of files and the program's revision make no difference.
std::vector<std::string> changes_from(const Run& stored, const Run& asked);

/// xxh3 of the bytes of all files of a job's data set, with their roles, its format, options and oracle.
/// Throws Error where a file cannot be read.
std::string source_digest(const RunParameters& job);

/// xxh3 of the bytes of a file. Throws Error where it cannot be read.
std::string file_digest(const std::filesystem::path& file);

/// xxh3 of what of the program decides results (deciding_code() of provenance.h), of the loaded plug-ins, and
/// of the bytes of these files. Throws Error where one cannot be read.
std::string program_digest(const std::vector<std::string>& files = {});

}  // namespace proxbench
