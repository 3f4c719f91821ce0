#include "experiments/sweep/launcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/text.h"
#include "experiments/sweep/local_launcher.h"
#include "experiments/sweep/slurm/slurm_launcher.h"

namespace proxbench {

const std::vector<LauncherInfo>& launchers() {
  static const std::vector<LauncherInfo> all = {local_launcher_info(), slurm_launcher_info()};
  return all;
}

const LauncherInfo& find_launcher(const std::string& name) {
  std::vector<std::string> names;
  for (const LauncherInfo& info : launchers()) names.push_back(info.name);
  require_known("launcher", name, names);
  return *std::ranges::find(launchers(), name, &LauncherInfo::name);
}

Run SweepWork::reference_of(const SweepProblem& problem) const {
  Run run;
  run.parameters = reference_job(config, problem.job());
  run.key = key_of(run.parameters, 0.0, digests.source(run.parameters), digests.program());
  return run;
}

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace proxbench
