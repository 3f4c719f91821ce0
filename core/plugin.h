#pragma once
/// Plug-ins: shared libraries, built separately against the installed headers, that add solvers, oracles,
/// data formats and metrics to the program (`proxbench --plugin libmine.so COMMAND`). One source file of a
/// plug-in lists what it adds:
///
///     PROXBENCH_PLUGIN(plugin) {
///       plugin.solvers.add(my_solver_info());
///       plugin.oracles.add(my_oracle_info());
///     }

#include "core/base/registry.h"
#include "core/data/data_format.h"
#include "core/metric.h"
#include "core/oracle.h"
#include "core/plugin_abi.h"
#include "core/stateless.h"

namespace proxbench {

/// The registries that a plug-in fills. Names must be new: no built-in and no other plug-in may have them.
struct Plugin {
  Registry<SolverInfo> solvers{"solver"};
  Registry<OracleInfo> oracles{"oracle"};
  Registry<DataFormatInfo> formats{"data format"};
  Registry<MetricInfo> metrics{"metric"};
};

}  // namespace proxbench
