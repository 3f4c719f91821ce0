#include "experiments/cli/cli.h"
#include "experiments/run/launch.h"

int main(int argc, char** argv) {
  return proxbench::with_launched_processes(argc, argv,
                                            [&] { return proxbench::run_command_line(argc, argv); });
}
