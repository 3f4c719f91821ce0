#pragma once
/// Times in Slurm's format, as `sbatch --time` takes them and `scontrol` prints them.

#include <optional>
#include <string_view>

namespace proxbench {

/// Returns the seconds of "MINUTES", "MINUTES:SECONDS", "HOURS:MINUTES:SECONDS", "DAYS-HOURS",
/// "DAYS-HOURS:MINUTES" or "DAYS-HOURS:MINUTES:SECONDS". Returns none if the text has another form, or is 0.
std::optional<double> slurm_seconds(std::string_view text);

}  // namespace proxbench
