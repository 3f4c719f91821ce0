#include "experiments/run/launch.h"
#include "experiments/run/worker.h"

int main(int argc, char** argv) {
  return proxbench::with_launched_processes(argc, argv, [&] { return proxbench::worker_main(argc, argv); });
}
