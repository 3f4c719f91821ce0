#pragma once
/// Times in Slurm's words, as `sbatch --time` takes them and `scontrol` prints them.

#include <optional>
#include <string_view>

namespace proxbench {

/// Seconds of "MINUTES", "MINUTES:SECONDS", "HOURS:MINUTES:SECONDS", "DAYS-HOURS", "DAYS-HOURS:MINUTES" or
/// "DAYS-HOURS:MINUTES:SECONDS"; none where it is none of these, or 0.
std::optional<double> slurm_seconds(std::string_view text);

}  // namespace proxbench
