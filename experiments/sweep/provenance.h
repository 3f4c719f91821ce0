#pragma once
/// Records where, when and with which program a run was made, and what on this machine could disturb its
/// timings.

#include <string>
#include <vector>

#include "experiments/results/fields.h"

namespace proxbench {

/// The text of a fact that cannot be read.
inline constexpr const char* kUnavailable = "unavailable";

/// Describes this program, this machine and the current time. In a Slurm job, `slurm` holds its name, job,
/// node, partition and restarts.
Provenance provenance();

/// Returns a digest of the sources that decide the results of runs (listed by scripts/source-facts.cmake),
/// and of the compiler and its flags. The revision and the rest of the program are not part of it.
std::string deciding_code();

/// Returns the text as one word of a shell command, quoted if necessary.
std::string shell_word(const std::string& text);

/// Returns a warning if other programs leave too few CPUs for this number of threads; otherwise an empty
/// text.
std::string busy_text(int threads);

/// Returns one line for each possible disturbance of timings with `threads` threads per run and `jobs` runs
/// at a time: load, changing clock frequencies, too few cores, memory that cannot be placed.
std::vector<std::string> timing_hazards(int threads, int jobs);

}  // namespace proxbench
