#include "experiments/run/worker.h"

int main(int argc, char** argv) {
  return proxbench::worker_main(argc, argv);
}
