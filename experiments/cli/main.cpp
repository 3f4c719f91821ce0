#include "experiments/cli/cli.h"

int main(int argc, char** argv) {
  return proxbench::run_command_line(argc, argv);
}
