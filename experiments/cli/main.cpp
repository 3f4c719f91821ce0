#include <unistd.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "experiments/base/paths.h"
#include "experiments/cli/cli.h"
#include "experiments/run/launch.h"

namespace {

/// libgomp's threads wait at the end of a loop by spinning, for up to seconds if another program runs on the
/// CPU of one of them. libgomp reads the limit of this time before main(). So the program starts itself again
/// with a shorter limit, unless the user has set one (experiments/bench/RESULTS.md).
void wait_briefly(char** argv) {
  constexpr const char *kSpins = "GOMP_SPINCOUNT", *kPolicy = "OMP_WAIT_POLICY", *kShort = "1000";
  if (std::getenv(kSpins) != nullptr || std::getenv(kPolicy) != nullptr) return;
  ::setenv(kSpins, kShort, 1);
  std::error_code failed;
  const std::string self = proxbench::fs::read_symlink("/proc/self/exe", failed);
  ::execv(self.c_str(), argv);  // returns only if it fails; threads spin longer then
}

}  // namespace

int main(int argc, char** argv) {
  wait_briefly(argv);
  return proxbench::with_launched_processes(argc, argv,
                                            [&] { return proxbench::run_command_line(argc, argv); });
}
