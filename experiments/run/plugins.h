#pragma once
/// Shared libraries that add solvers, oracles, data formats and metrics (core/plugin.h), and files of Python
/// that add solvers (python_plugin.h).

#include <cstdint>
#include <deque>
#include <string_view>

#include "core/plugin.h"
#include "experiments/base/paths.h"

namespace proxbench {

struct LoadedPlugin {
  fs::path file;         ///< absolute
  std::uint64_t digest;  ///< xxh3 of the file's bytes; stored runs record it
  Plugin brought;
};

/// Loads a plug-in and registers everything that it adds, or nothing if this function throws. The plug-in
/// stays loaded until the program ends. Do not call this while a solver runs. References to earlier
/// registrations stay valid.
///
/// Throws Error with the name of the file:
/// - kInput if the file is missing, is no shared library or is no plug-in.
/// - kInput if the file was built for another proxbench or by another compiler; the message names the
///   differences.
/// - kInput if launched processes have different plug-ins.
/// - kRun if the file cannot be loaded, its own code throws, or it adds a name that is taken.
/// - kUsage if the plug-in is loaded already.
const LoadedPlugin& load_plugin(const fs::path& file);

/// Does the same unless the plug-in is loaded.
void require_plugin(const fs::path& file);

/// The loaded plug-ins, in the order of loading.
const std::deque<LoadedPlugin>& loaded_plugins();

/// Returns the plug-in that added the item with this name, e.g. plugin_of(&Plugin::solvers, "mine"). Returns
/// null if the item is built in or unknown.
template <class Info>
const LoadedPlugin* plugin_of(Registry<Info> Plugin::*kind, std::string_view name) {
  for (const LoadedPlugin& plugin : loaded_plugins())
    if ((plugin.brought.*kind).contains(name)) return &plugin;
  return nullptr;
}

}  // namespace proxbench
