#pragma once
/// Decides whether a stored run is the run that is asked for, by digests of everything that decides its
/// result.

#include <string>
#include <vector>

#include "experiments/base/paths.h"
#include "experiments/sweep/plan.h"

namespace proxbench {

/// Returns the key of a job: everything besides its parameters that decides its result. `stop_at` is the
/// relative difference to f* at which the run stops. It replaces the job's target, which changes with every
/// better f*.
RunKey key_of(const RunParameters& job, double stop_at, const std::string& source_digest,
              const std::string& program_digest);

/// Returns "CONFIG-DATA-BUILD", three short digests of what decides the results of a problem.
std::string key_of(const SweepProblem& problem);
/// Throws Error if the problem has another key. The error names the digests that have changed.
void require_key(const SweepProblem& problem, const std::string& expected);

/// Returns one text for each parameter and each part of the key in which the two runs differ: "config tol:
/// 1e-06 -> 1e-07", "program: another build or other plug-ins". Returns none if they are the same run. Names,
/// locations of files and the program's revision do not count.
std::vector<std::string> changes_from(const Run& stored, const Run& asked);

/// Returns xxh3 of the data set of a job: the bytes of all its files with their roles, its format, options
/// and oracle. Throws Error if a file cannot be read.
std::string source_digest(const RunParameters& job);

/// Returns xxh3 of the bytes of a file. Throws Error if it cannot be read.
std::string file_digest(const fs::path& file);

/// Returns xxh3 of the code that decides results (deciding_code() of provenance.h), of the loaded plug-ins,
/// and of the bytes of these files. Throws Error if one cannot be read.
std::string program_digest(const std::vector<std::string>& files = {});

}  // namespace proxbench
