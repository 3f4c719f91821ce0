#pragma once
/// Finds out whether the program is one of several processes that share one run (core/base/processes.h),
/// started by `mpirun` or `srun`.

#include <functional>
#include <string>

#include "core/base/processes.h"

namespace proxbench {

/// Calls body() and returns its exit status. If the program was started as one of several processes,
/// launched_processes() returns these during the call, and only the first process prints and writes files. If
/// body() returns a status other than 0 in one process, all processes end. That process's output is then
/// printed, unless the first process failed as well.
int with_launched_processes(int& argc, char**& argv, const std::function<int()>& body);

/// Null outside of with_launched_processes(), and if there is only one process.
const Processes* launched_processes();
/// The number of launched_processes() on this machine; 1 without them.
int launched_processes_here();

/// The command that starts `count` processes of a command line: "mpirun -n COUNT", or the value of the
/// environment variable PROXBENCH_MPIRUN with "{}" replaced by the count.
std::string launch_command(int count);

}  // namespace proxbench
