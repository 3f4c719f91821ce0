#include "experiments/sweep/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <tbb/version.h>
#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <set>

#include "build_facts.h"
#include "core/kernels/instruction_set.h"
#include "experiments/base/process.h"
#include "experiments/base/text.h"
#include "experiments/data/model.h"
#include "experiments/run/plugins.h"
#include "source_facts.h"

extern char** environ;

namespace proxbench {
namespace {

/// Returns the first line of a file, or an empty text if it cannot be read.
std::string first_line(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string or_unavailable(const std::string& text) {
  return text.empty() ? kUnavailable : text;
}

/// Returns the value of a line "KEY : VALUE" or "KEY=VALUE", or an empty text if there is none.
std::string value_in(const std::string& file, const std::string& key, char separator) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find(separator);
    if (at == std::string::npos || !line.starts_with(key)) continue;
    if (line.find_first_not_of(" \t", key.size()) != at) continue;
    const std::size_t begin = line.find_first_not_of(" \t\"", at + 1), end = line.find_last_not_of(" \t\"");
    return begin == std::string::npos ? "" : line.substr(begin, end - begin + 1);
  }
  return "";
}

/// Returns the caches of the first CPU, e.g. "L1d 32K, L1i 32K, L2 1024K, L3 32768K".
std::string caches() {
  std::string out;
  for (int index = 0;; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string level = first_line(folder + "level"), size = first_line(folder + "size"),
                      type = first_line(folder + "type");
    if (level.empty() || size.empty()) break;
    out += fmt::format("{}L{}{} {}", out.empty() ? "" : ", ", level,
                       type == "Data"          ? "d"
                       : type == "Instruction" ? "i"
                                               : "",
                       size);
  }
  return or_unavailable(out);
}

/// Returns the distinct governors of the CPUs.
std::string governors() {
  std::set<std::string> found;
  for (const int cpu : usable_cpus())
    found.insert(first_line(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu)));
  found.erase("");
  return or_unavailable(fmt::format("{}", fmt::join(found, ", ")));
}

std::optional<std::array<double, 3>> load_averages() {
  std::array<double, 3> load{};
  return getloadavg(load.data(), 3) == 3 ? std::optional(load) : std::nullopt;
}

void set_program(Provenance& out) {
  out.version = PROXBENCH_VERSION;
  out.git_revision = or_unavailable(PROXBENCH_GIT_REVISION);
  out.git_dirty = or_unavailable(PROXBENCH_GIT_DIRTY);
  out.compiler = PROXBENCH_COMPILER;
  out.flags = PROXBENCH_FLAGS;
  out.build_type = PROXBENCH_BUILD_TYPE;
  out.instruction_set = instruction_set_name(instruction_set());
}

void set_machine(Provenance& out) {
  char name[256] = {};
  const bool named = gethostname(name, sizeof name - 1) == 0;
  utsname kernel{};
  const bool known = uname(&kernel) == 0;
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  out.machine = named ? name : kUnavailable;
  out.cpu = or_unavailable(value_in("/proc/cpuinfo", "model name", ':'));
  out.cores = usable_cpus().size();
  out.caches = caches();
  if (pages > 0 && page > 0)
    out.memory_bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  const std::string self =
      fmt::format("{} {} {} {}", first_line("/etc/machine-id"), name, out.cpu, out.cores);
  out.id = fmt::format("{:08x}", XXH3_64bits(self.data(), self.size()) >> 32);
  out.kernel = known ? fmt::format("{} {}", kernel.sysname, kernel.release) : kUnavailable;
  out.os = or_unavailable(value_in("/etc/os-release", "PRETTY_NAME", '='));
}

std::map<std::string, std::string> settings() {
  std::map<std::string, std::string> out{{"OpenMP", PROXBENCH_OPENMP_VERSION}};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    for (const char* prefix : {"OMP_", "GOMP_", "KMP_", "TBB_", "MALLOC_", "PROXBENCH_"})
      if (text.starts_with(prefix)) out[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  return out;
}

std::map<std::string, std::string> slurm_job() {
  const std::string array = environment_text("SLURM_ARRAY_JOB_ID");
  return {{"name", environment_text("SLURM_JOB_NAME")},
          {"job", array.empty() ? environment_text("SLURM_JOB_ID")
                                : array + "_" + environment_text("SLURM_ARRAY_TASK_ID")},
          {"node", environment_text("SLURMD_NODENAME")},
          {"partition", environment_text("SLURM_JOB_PARTITION")},
          {"restarts", environment_text("SLURM_RESTART_COUNT")}};
}

/// Returns the command line of this process, quoted for a shell.
std::string command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(in, word, '\0');) words.push_back(shell_word(word));
  return words.empty() ? kUnavailable : fmt::format("{}", fmt::join(words, " "));
}

}  // namespace

Provenance provenance() {
  Provenance out;
  set_program(out);
  set_machine(out);
  out.libraries = PROXBENCH_LIBRARIES;
  out.libraries["glibc"] = gnu_get_libc_version();
  out.libraries["oneTBB"] = TBB_runtime_version();
  for (const LoadedPlugin& plugin : loaded_plugins())
    out.libraries[plugin.file.string()] = digest_text(plugin.digest);
  out.settings = settings();
  out.command = command_line();
  out.time = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  if (const auto load = load_averages()) out.load.assign(load->begin(), load->end());
  out.governor = governors();
  out.affinity = usable_cpus();
  if (!environment_text("SLURM_JOB_ID").empty()) out.slurm = slurm_job();
  return out;
}

std::string deciding_code() {
  return fmt::format("{}; {}; {}; {}", PROXBENCH_DECIDING_SOURCES, PROXBENCH_COMPILER, PROXBENCH_FLAGS,
                     PROXBENCH_BUILD_TYPE);
}

std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./=:,+@%").find(static_cast<char>(c)) != std::string::npos;
  });
  if (plain) return text;
  return "'" + replaced(text, {{'\'', "'\\''"}}) + "'";
}

std::string busy_text(int threads) {
  const auto load = load_averages();
  const auto cpus = static_cast<double>(usable_cpus().size());
  if (!load || (*load)[0] <= 0.3 || (*load)[0] + threads <= 1.05 * cpus) return "";
  return fmt::format("the load of this machine is {:.2f} already: other programs take time on its {} CPUs{}",
                     (*load)[0], cpus,
                     threads > 1 ? ", and threads wait for each other; --threads 1 may be faster" : "");
}

std::vector<std::string> timing_hazards(int threads, int jobs) {
  std::vector<std::string> out;
  const int cpus = static_cast<int>(usable_cpus().size()), wanted = threads * jobs;
  std::set<std::string> cores;
  bool cores_known = true;
  for (const int cpu : usable_cpus()) {
    const std::string siblings =
        first_line(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
    cores_known = cores_known && !siblings.empty();
  }
  if (wanted > cpus)
    out.push_back(
        fmt::format("{} threads at a time on {} CPUs: they will wait for each other", wanted, cpus));
  else if (wanted > static_cast<int>(cores.size()))
    out.push_back(
        fmt::format("{} threads at a time on {} cores: some will share a core", wanted, cores.size()));
  else if (wanted > 1 && !cores_known)
    out.push_back(
        "the system does not tell which CPUs share a core (found no topology below /sys/devices/system/cpu): "
        "threads may share one");
  if (const std::string busy = busy_text(wanted); !busy.empty()) out.push_back(busy);
  const std::string governor = governors();
  if (governor != kUnavailable && governor != "performance")
    out.push_back(
        fmt::format("the frequency governor is '{}', not 'performance': clock frequencies change", governor));
  if (const std::vector<int> nodes = memory_nodes_of(usable_cpus()); !nodes.empty() && !may_place_memory())
    out.push_back(
        fmt::format("memory is not spread over the NUMA nodes {}: the system forbids it, or numactl has set "
                    "another policy",
                    fmt::join(nodes, ", ")));
  if (jobs > 1)
    out.push_back(
        fmt::format("{} runs at a time share caches and memory bandwidth: their timings are stored as "
                    "not comparable",
                    jobs));
  return out;
}

}  // namespace proxbench
