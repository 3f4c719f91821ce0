#pragma once
/// Shared libraries that add solvers, oracles, data formats and metrics (core/plugin.h).

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string_view>

#include "core/plugin.h"

namespace proxbench {

struct LoadedPlugin {
  std::filesystem::path file;  ///< absolute
  std::uint64_t digest;        ///< xxh3 of the file's bytes, so that stored runs can be tied to it
  Plugin brought;
};

/// Loads a plug-in and registers what it brings; all of it, or nothing where this throws. It stays loaded
/// until the program ends. Not to be called while a solver runs. References to what was registered before
/// stay good.
///
/// Throws Error that names the file: it is missing, no shared library or no plug-in (kInput); it was built
/// for another proxbench or by another compiler, with the parts in which the two differ (kInput); launched
/// processes have different ones (kInput); it does not load, its own code throws, or it brings a name that is
/// taken (kRun); it is loaded already (kUsage).
const LoadedPlugin& load_plugin(const std::filesystem::path& file);

/// In the order of loading.
const std::deque<LoadedPlugin>& loaded_plugins();

/// The plug-in that brought what has this name, e.g. plugin_of(&Plugin::solvers, "mine"); null where it is
/// built in, or unknown.
template <class Info>
const LoadedPlugin* plugin_of(Registry<Info> Plugin::*kind, std::string_view name) {
  for (const LoadedPlugin& plugin : loaded_plugins())
    if ((plugin.brought.*kind).contains(name)) return &plugin;
  return nullptr;
}

}  // namespace proxbench
