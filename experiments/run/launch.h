#pragma once
/// How a program finds out that it is one of several processes that share one run (core/base/processes.h),
/// started by `mpirun` or `srun`.

#include <functional>
#include <string>

#include "core/base/processes.h"

namespace proxbench {

/// Calls body() and returns its exit status. Where the program was started as one of several processes, those
/// are launched_processes() meanwhile, and the first of them alone prints and writes files. A process whose
/// body returns another status than 0 ends all of them; what it printed is printed then, unless the first one
/// has failed as well.
int with_launched_processes(int& argc, char**& argv, const std::function<int()>& body);

/// Null outside of it, and where there is one.
const Processes* launched_processes();
/// How many of them run on this machine.
int launched_processes_here();

/// What starts `count` processes of a command line: "mpirun -n COUNT", or the words of the environment
/// variable PROXBENCH_MPIRUN, with "{}" for the count.
std::string launch_command(int count);

}  // namespace proxbench
