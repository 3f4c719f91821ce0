#pragma once
/// Where, when and with what a run was made, and what on this machine could spoil its timings.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace proxbench {

/// What stands for a fact that cannot be read.
inline constexpr const char* kUnavailable = "unavailable";

/// What does not change while a program runs:
///
///     program    version, git_revision, git_dirty, compiler, flags, build_type,
///                instruction_set (of the hot loops: core/kernels/instruction_set.h)
///     machine    name, cpu, cores (usable by this process), caches, memory_bytes, id (a hash that tells this
///                machine from others), kernel, os
///     libraries  version of each library
///     settings   the environment variables OMP_*, GOMP_*, KMP_*, TBB_*, MALLOC_*, PROXBENCH_* that are set,
///                and the version of OpenMP
///     command    the command line of this process
///
/// and, in a job of Slurm,
///
///     slurm      name, job, node, partition, restarts
nlohmann::ordered_json provenance();

/// What does: time (UTC, ISO 8601), load (averages over 1, 5 and 15 minutes), governor (of the CPUs' clock
/// frequency), affinity (CPUs that the process may run on).
nlohmann::ordered_json provenance_now();

/// One line each for what could spoil timings with so many threads a run and so many runs at a time: load,
/// clock frequencies that change, too few cores, too little memory left.
std::vector<std::string> timing_hazards(int threads, int jobs);

}  // namespace proxbench
