#include "experiments/run/plugins.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/plugin.h"
#include "experiments/config/config.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/launch.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using Parts = std::vector<std::pair<std::string, std::string>>;

std::deque<LoadedPlugin>& plugins() {
  static std::deque<LoadedPlugin> all;
  return all;
}

std::string read_bytes(const fs::path& file) {
  std::error_code ignored;  // "missing" says it all
  if (!fs::exists(file, ignored)) throw Error::in_file(file.string(), 0, "no such file", "a plug-in");
  if (fs::is_directory(file, ignored)) throw Error::in_file(file.string(), 0, "a folder", "a plug-in");
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw Error(file.string() + ": cannot be read", ErrorKind::kInput);
  return bytes;
}

/// "NAME=VALUE; NAME=VALUE".
Parts parts_of(std::string_view stamp) {
  Parts parts;
  while (!stamp.empty()) {
    const std::string_view part = stamp.substr(0, stamp.find("; "));
    const std::size_t equals = std::min(part.find('='), part.size());
    parts.emplace_back(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())));
    stamp.remove_prefix(std::min(part.size() + 2, stamp.size()));
  }
  return parts;
}

std::string value_in(const Parts& parts, const std::string& name) {
  for (const auto& [known, value] : parts)
    if (known == name) return value;
  return "none";
}

/// Where two stamps differ: "compiler GCC 11 (this program: GCC 12)".
std::string difference(std::string_view found, std::string_view expected) {
  const Parts ours = parts_of(expected), theirs = parts_of(found);
  Parts names = ours;
  names.insert(names.end(), theirs.begin(), theirs.end());
  std::vector<std::string> told, out;
  for (const auto& [name, unused] : names) {
    const std::string here = value_in(ours, name), there = value_in(theirs, name);
    if (here == there || std::find(told.begin(), told.end(), name) != told.end()) continue;
    told.push_back(name);
    out.push_back(fmt::format("{} {} (this program: {})", name, there, here));
  }
  return fmt::format("{}", fmt::join(out, ", "));
}

/// The stamp in a library's bytes; "" where there is none. The mark may also stand by itself, in debug
/// information.
std::string_view find_stamp(std::string_view bytes) {
  constexpr std::string_view kMark = PROXBENCH_STAMP_MARK, kFirst = "version=";
  for (std::size_t at = bytes.find(kMark); at != bytes.npos; at = bytes.find(kMark, at)) {
    at += kMark.size();
    const std::string_view stamp = bytes.substr(at, bytes.find('\0', at) - at);
    if (stamp.starts_with(kFirst)) return stamp;
  }
  return "";
}

/// Whether the file is a shared library to its end: loading one that was cut short would end the program.
void check_library(const fs::path& file, std::string_view bytes) {
  const auto found = [&](const std::string& what) {
    return Error::in_file(file.string(), 0, what, "a plug-in");
  };
  ElfW(Ehdr) header;
  if (!bytes.starts_with(ELFMAG) || bytes.size() < sizeof header) throw found("no shared library");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.e_type != ET_DYN) throw found("no shared library");
  if (bytes.size() < header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize)
    throw found("a part of a shared library");
}

/// Judges the library by its bytes: none of its code has run by then, and symbols that another version of
/// core lacks have not kept it from loading.
void check_stamp(const fs::path& file, std::string_view bytes) {
  const std::string_view stamp = find_stamp(bytes);
  if (stamp.empty())
    throw Error::in_file(file.string(), 0, "a shared library without PROXBENCH_PLUGIN", "a plug-in");
  if (stamp != PROXBENCH_STAMP)
    throw Error(fmt::format("{}: built for another proxbench: {}; build it again for this one", file.string(),
                            difference(stamp, PROXBENCH_STAMP)),
                ErrorKind::kInput);
}

/// Whether all launched processes have the same plug-in.
void check_others(const fs::path& file, std::uint64_t hash) {
  const Processes* processes = launched_processes();
  if (processes == nullptr) return;
  const std::vector<double> hashes = processes->gather(static_cast<double>(hash >> 11));  // exact
  for (std::size_t r = 1; r < hashes.size(); ++r)
    if (hashes[r] != hashes[0])
      throw Error(fmt::format("{}: processes 1 and {} found different plug-ins, expected the same on all",
                              file.string(), r + 1),
                  ErrorKind::kInput);
}

using RegisterFunction = void (*)(Plugin&);

RegisterFunction open_library(const fs::path& file) {
  // Never closed: what it registers is code.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw Error(fmt::format("{}: cannot be loaded: {}", file.string(), dlerror()));
  void* function = dlsym(library, "proxbench_plugin_register");
  if (function == nullptr)
    throw Error::in_file(file.string(), 0, "no proxbench_plugin_register", "a plug-in");
  return reinterpret_cast<RegisterFunction>(function);
}

Plugin contents_of(const fs::path& file) {
  const RegisterFunction fill = open_library(file);
  Plugin plugin;
  try {
    fill(plugin);
  } catch (const std::exception& error) {
    throw Error(fmt::format("{}: the plug-in failed to register: {}", file.string(), error.what()));
  } catch (...) {
    throw Error(file.string() + ": the plug-in failed to register with an unknown exception");
  }
  return plugin;
}

bool works(const SolverInfo& info) {
  return info.make != nullptr;
}
bool works(const OracleInfo& info) {
  return info.make != nullptr;
}
bool works(const DataFormatInfo& info) {
  return info.read != nullptr;
}
bool works(const MetricInfo& info) {
  return info.measure != nullptr;
}

/// What a model file can hold, and tell from its other lines.
void check_extra_names(const fs::path& file, const OracleInfo& info) {
  const std::string& word = info.extra.word;
  if (!info.extra.names && word.empty()) return;
  const bool plain = word.find_first_of("\t\r\n\\") == word.npos && !word.empty() && word.front() != '#';
  if (!plain || word == "unary")
    throw Error(
        fmt::format("{}: oracle '{}': found the word '{}' for its extra weights, expected one that is "
                    "not 'unary', without TAB, line break and backslash, and no '#' first",
                    file.string(), info.name, word));
  if (info.extra.fields.empty() || !info.extra.names)
    throw Error(fmt::format("{}: oracle '{}': found no {} of its extra weights", file.string(), info.name,
                            info.extra.fields.empty() ? "fields" : "names"));
}

/// In a config the options of a format stand beside the keys of [data].
void check_options(const fs::path& file, const DataFormatInfo& info) {
  for (const ConfigSectionInfo& section : config_sections())
    for (const OptionSpec& key : section.keys)
      for (const OptionSpec& option : info.options)
        if (section.name == "data" && option.name == key.name)
          throw Error(
              fmt::format("{}: data format '{}': found an option '{}', expected another name than a key "
                          "of [data]",
                          file.string(), info.name, option.name));
}

/// Before anything is added, so that all is added or nothing.
template <class Info>
void check_infos(const fs::path& file, const std::string& kind, const Registry<Info>& known,
                 const Registry<Info>& brought, const LoadedPlugin* (*origin)(std::string_view)) {
  for (const Info& info : brought.items()) {
    if (info.name.empty() || !works(info))
      throw Error(fmt::format("{}: {} '{}' has no {}", file.string(), kind, info.name,
                              info.name.empty() ? "name" : "function"));
    if (!known.contains(info.name)) continue;
    const LoadedPlugin* other = origin(info.name);
    throw Error(fmt::format("{}: {} '{}' is registered already, {}", file.string(), kind, info.name,
                            other == nullptr ? "built in" : "by " + other->file.string()));
  }
}

const LoadedPlugin* plugin_of(std::vector<std::string> LoadedPlugin::*names, std::string_view name) {
  for (const LoadedPlugin& plugin : plugins())
    if (std::find((plugin.*names).begin(), (plugin.*names).end(), name) != (plugin.*names).end())
      return &plugin;
  return nullptr;
}

}  // namespace

const LoadedPlugin& load_plugin(const fs::path& given) {
  const fs::path file = fs::absolute(given).lexically_normal();
  const std::string bytes = read_bytes(file);
  for (const LoadedPlugin& known : loaded_plugins())
    if (fs::equivalent(known.file, file))
      throw Error::usage(file.string() + ": this plug-in is loaded already");
  check_library(file, bytes);
  check_stamp(file, bytes);
  const std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  check_others(file, hash);
  const Plugin plugin = contents_of(file);
  check_infos(file, "solver", solver_registry(), plugin.solvers, plugin_of_solver);
  check_infos(file, "oracle", oracle_registry(), plugin.oracles, plugin_of_oracle);
  check_infos(file, "data format", data_format_registry(), plugin.formats, plugin_of_format);
  check_infos(file, "metric", metric_registry(), plugin.metrics, plugin_of_metric);
  for (const OracleInfo& info : plugin.oracles.items()) check_extra_names(file, info);
  for (const DataFormatInfo& info : plugin.formats.items()) check_options(file, info);
  for (const SolverInfo& info : plugin.solvers.items()) add_solver(info);
  for (const OracleInfo& info : plugin.oracles.items()) add_oracle(info);
  for (const DataFormatInfo& info : plugin.formats.items()) add_data_format(info);
  for (const MetricInfo& info : plugin.metrics.items()) add_metric(info);
  plugins().push_back({file, hash, plugin.solvers.names(), plugin.oracles.names(), plugin.formats.names(),
                       plugin.metrics.names()});
  return plugins().back();
}

const std::deque<LoadedPlugin>& loaded_plugins() {
  return plugins();
}

const LoadedPlugin* plugin_of_solver(std::string_view name) {
  return plugin_of(&LoadedPlugin::solvers, name);
}
const LoadedPlugin* plugin_of_oracle(std::string_view name) {
  return plugin_of(&LoadedPlugin::oracles, name);
}
const LoadedPlugin* plugin_of_format(std::string_view name) {
  return plugin_of(&LoadedPlugin::formats, name);
}
const LoadedPlugin* plugin_of_metric(std::string_view name) {
  return plugin_of(&LoadedPlugin::metrics, name);
}

}  // namespace proxbench
