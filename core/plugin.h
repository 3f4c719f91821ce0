#pragma once
/// Plug-ins: shared libraries, built separately against the installed headers, that add solvers, oracles,
/// data formats and metrics to the program (`proxbench --plugin libmine.so COMMAND`). One source file of a
/// plug-in lists what it adds:
///
///     PROXBENCH_PLUGIN(plugin) {
///       plugin.solvers.add(my_solver_info());
///       plugin.oracles.add(my_oracle_info());
///     }
///
/// A plug-in contains no copy of core: its calls resolve to the program that loads it. C++ has no stable
/// binary interface. So each side carries a stamp of everything that the layout of the shared types depends
/// on, and the program refuses a plug-in whose stamp differs from its own. No layout in core/ depends on the
/// instruction set or on NDEBUG, so neither is part of the stamp: a plug-in may be built with other flags
/// than the program.

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

/// Opens the function that fills a proxbench::Plugin. Use it once in a plug-in. If the function throws,
/// nothing is added.
#define PROXBENCH_PLUGIN(plugin)                                                                      \
  extern "C" {                                                                                        \
  __attribute__((visibility("default"))) extern const char proxbench_plugin_stamp[];                  \
  const char proxbench_plugin_stamp[] = PROXBENCH_STAMP_MARK PROXBENCH_STAMP;                         \
  __attribute__((visibility("default"))) void proxbench_plugin_register(::proxbench::Plugin& plugin); \
  }                                                                                                   \
  void proxbench_plugin_register(::proxbench::Plugin& plugin)
