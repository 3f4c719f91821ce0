#pragma once
/// Processes that are threads of this one, each with data of its own: for tests of what processes share.

#include <functional>

#include "core/base/processes.h"

namespace proxbench {

/// Calls body(processes) in `count` threads at once, and returns when all have ended. Where a body throws,
/// the others' next exchange throws too; the first exception is rethrown.
void run_process_team(int count, const std::function<void(const Processes&)>& body);

}  // namespace proxbench
