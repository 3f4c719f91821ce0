#include "experiments/run/plugins.h"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <map>

#include "experiments/base/files.h"
#include "experiments/base/text.h"
#include "experiments/config/config_sections.h"
#include "experiments/data/file_parts.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/launch.h"
#include "experiments/run/python_plugin.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

std::deque<LoadedPlugin>& plugins() {
  static std::deque<LoadedPlugin> all;
  return all;
}

/// Lists the differences of two stamps "NAME=VALUE; NAME=VALUE", e.g. "compiler GCC 11 (this program: GCC
/// 12)".
std::string difference(std::string_view found, std::string_view expected) {
  struct Values {
    std::string there = "none", here = "none";
  };
  std::map<std::string, Values> parts;
  const auto fill = [&](std::string_view stamp, std::string Values::*side) {
    for (std::size_t begin = 0, end; begin < stamp.size(); begin = end + 2) {
      end = std::min(stamp.find("; ", begin), stamp.size());
      const std::string text(stamp.substr(begin, end - begin));
      const std::size_t equals = std::min(text.find('='), text.size() - 1);
      parts[text.substr(0, equals)].*side = text.substr(equals + 1);
    }
  };
  fill(found, &Values::there);
  fill(expected, &Values::here);
  std::vector<std::string> out;
  for (const auto& [name, values] : parts)
    if (values.here != values.there)
      out.push_back(fmt::format("{} {} (this program: {})", name, values.there, values.here));
  return joined(out);
}

/// Returns the stamp in a library's bytes, or "" if there is none. The mark may also occur without a stamp,
/// in debug information.
std::string_view find_stamp(std::string_view bytes) {
  constexpr std::string_view kMark = PROXBENCH_STAMP_MARK, kFirst = "version=";
  for (std::size_t at = bytes.find(kMark); at != bytes.npos; at = bytes.find(kMark, at)) {
    at += kMark.size();
    const std::string_view stamp = bytes.substr(at, bytes.find('\0', at) - at);
    if (stamp.starts_with(kFirst)) return stamp;
  }
  return "";
}

/// Throws Error unless the file is a complete shared library. Loading a truncated one would crash the
/// program.
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

/// Checks the stamp in the library's bytes before the library is loaded. So no code of a wrong library runs,
/// and a missing symbol cannot make loading fail first.
void check_stamp(const fs::path& file, std::string_view bytes) {
  const std::string_view stamp = find_stamp(bytes);
  if (stamp.empty())
    throw Error::in_file(file.string(), 0, "a shared library without PROXBENCH_PLUGIN", "a plug-in");
  if (stamp != PROXBENCH_STAMP)
    throw Error(fmt::format("{}: built for another proxbench: {}; build it again for this one", file.string(),
                            difference(stamp, PROXBENCH_STAMP)),
                ErrorKind::kInput);
}

using RegisterFunction = void (*)(Plugin&);

RegisterFunction open_library(const fs::path& file) {
  // The library is never closed, because the registered functions are its code.
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

/// Checks that a model file can store the names of the extra weights, and can tell their lines from others.
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

/// Options of a format and keys of [data] share a section of configs, so their names must differ.
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

/// Checks one kind of plug-in content before anything is added. `function` is the member that such an Info
/// must have.
template <class Info, class Function>
void check_infos(const fs::path& file, const char* what, const Registry<Info>& known, const Plugin& plugin,
                 Registry<Info> Plugin::*kind, Function Info::*function) {
  for (const Info& info : (plugin.*kind).items()) {
    if (info.name.empty() || info.*function == nullptr)
      throw Error(fmt::format("{}: {} '{}' has no {}", file.string(), what, info.name,
                              info.name.empty() ? "name" : "function"));
    if (!known.contains(info.name)) continue;
    const LoadedPlugin* other = plugin_of(kind, info.name);
    throw Error(fmt::format("{}: {} '{}' is registered already, {}", file.string(), what, info.name,
                            other == nullptr ? "built in" : "by " + other->file.string()));
  }
}

}  // namespace

const LoadedPlugin& load_plugin(const fs::path& given) {
  const fs::path file = fs::absolute(given).lexically_normal();
  const std::string bytes = read_file(file, "a plug-in");
  for (const LoadedPlugin& known : loaded_plugins())
    if (fs::equivalent(known.file, file))
      throw Error::usage(file.string() + ": this plug-in is loaded already");
  if (!is_python(file)) {
    check_library(file, bytes);
    check_stamp(file, bytes);
  }
  const std::uint64_t hash = XXH3_64bits(bytes.data(), bytes.size());
  if (const Processes* processes = launched_processes(); processes != nullptr)
    require_same(*processes, file.string(), static_cast<double>(hash >> 11));  // exact
  const Plugin plugin = is_python(file) ? python_plugin(file) : contents_of(file);
  const auto each_kind = [&](const auto& act) {
    act("solver", &Plugin::solvers, solver_registry(), &SolverInfo::make, add_solver);
    act("oracle", &Plugin::oracles, oracle_registry(), &OracleInfo::make, add_oracle);
    act("data format", &Plugin::formats, data_format_registry(), &DataFormatInfo::read, add_data_format);
    act("metric", &Plugin::metrics, metric_registry(), &MetricInfo::measure, add_metric);
  };
  each_kind([&](const char* what, auto kind, const auto& known, auto function, auto) {
    check_infos(file, what, known, plugin, kind, function);
  });
  for (const OracleInfo& info : plugin.oracles.items()) check_extra_names(file, info);
  for (const DataFormatInfo& info : plugin.formats.items()) check_options(file, info);
  each_kind([&](const char*, auto kind, const auto&, auto, auto add) {
    for (const auto& info : (plugin.*kind).items()) add(info);
  });
  plugins().push_back({file, hash, plugin});
  return plugins().back();
}

void require_plugin(const fs::path& file) {
  std::error_code ignored;
  for (const LoadedPlugin& known : loaded_plugins())
    if (fs::equivalent(known.file, file, ignored)) return;
  load_plugin(file);
}

const std::deque<LoadedPlugin>& loaded_plugins() {
  return plugins();
}

}  // namespace proxbench
