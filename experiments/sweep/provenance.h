#pragma once
/// Where, when and with what a run was made, and what on this machine could spoil its timings.

#include <string>
#include <vector>

#include "experiments/results/fields.h"

namespace proxbench {

/// The text of a fact that cannot be read.
inline constexpr const char* kUnavailable = "unavailable";

/// Of this program, machine and moment. In a job of Slurm, `slurm` has its name, job, node, partition, restarts.
Provenance provenance();

/// One line each for what could spoil timings with so many threads a run and so many runs at a time: load,
/// clock frequencies that change, too few cores, too little memory left.
std::vector<std::string> timing_hazards(int threads, int jobs);

}  // namespace proxbench
