#pragma once
/// Where, when and with what a run was made, and what on this machine could spoil its timings.

#include <string>
#include <vector>

#include "experiments/results/fields.h"

namespace proxbench {

/// The text of a fact that cannot be read.
inline constexpr const char* kUnavailable = "unavailable";

/// Of this program, machine and moment. In a job of Slurm, `slurm` has its name, job, node, partition,
/// restarts.
Provenance provenance();

/// What of the program decides the results of runs: a digest of the sources that do
/// (scripts/source-facts.cmake lists them), the compiler and its flags. Neither the revision nor what else
/// the program does is part of it.
std::string deciding_code();

/// The value of an environment variable; empty where it is not set.
std::string environment_text(const char* name);

/// The text as one word of a shell's command line, quoted where it must be.
std::string shell_word(const std::string& text);

/// That other programs leave too little of the CPUs for so many threads; empty: they do not.
std::string busy_text(int threads);

/// One line each for what could spoil timings with so many threads a run and so many runs at a time: load,
/// clock frequencies that change, too few cores, too little memory left.
std::vector<std::string> timing_hazards(int threads, int jobs);

}  // namespace proxbench
