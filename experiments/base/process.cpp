#include "experiments/base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <set>

#include "core/base/error.h"
#include "experiments/base/files.h"

extern char** environ;

namespace proxbench {
namespace {

/// The NUMA node mask of Linux system calls: its number of nodes, and the bits of one word.
constexpr std::size_t kMostNodes = 1024, kBits = 8 * sizeof(unsigned long);

/// Returns the environment of this process. The additions replace variables of the same name.
std::vector<std::string> merged_environment(const std::vector<std::string>& additions) {
  const auto name = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  std::set<std::string_view> added;
  for (const std::string& entry : additions) added.insert(name(entry));
  std::vector<std::string> out = additions;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (!added.contains(name(*entry))) out.emplace_back(*entry);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// The set-up between fork and exec. Makes only async-signal-safe calls; errno says what failed.
struct Child {
  char** command;
  char** environment;
  const char* folder;
  const char* log;
  const char* errors;
  const cpu_set_t* cpus;              ///< null: the CPUs of the parent
  const unsigned long* memory_nodes;  ///< a bit for each node; null: the system's default
  rlim_t memory_limit;
  pid_t parent;

  /// Returns only if it fails.
  void become() const {
    setpgid(0, 0);
    // The child dies with its parent. getppid() shows whether the parent has died already.
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
    if (getppid() != parent) _exit(127);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) std::signal(signal, SIG_DFL);
    prefer_for_oom_killer();
    if (cpus != nullptr && sched_setaffinity(0, sizeof *cpus, cpus) != 0) return;
    if (memory_nodes != nullptr && syscall(SYS_set_mempolicy, MPOL_INTERLEAVE, memory_nodes, kMostNodes) != 0)
      return;
    if (memory_limit > 0) {
      const rlimit limit{memory_limit, memory_limit};
      if (setrlimit(RLIMIT_DATA, &limit) != 0) return;
    }
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const int null = ::open("/dev/null", O_RDONLY), out = ::open(log, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (null < 0 || out < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0) return;
    const int err = *errors != '\0' ? ::open(errors, O_WRONLY | O_CREAT | O_APPEND, 0666) : out;
    if (err < 0 || dup2(err, 2) < 0) return;
    if (chdir(folder) != 0) return;
    ::execvpe(command[0], command, environment);
  }

  /// If memory runs out, the kernel shall kill this process, not its parent.
  static void prefer_for_oom_killer() {
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file < 0) return;  // this kernel has no such file
    if (::write(file, "1000", 4) < 0) errno = 0;
    ::close(file);
  }
};

/// Waits until the child's set-up ends. Returns 0, or the errno with which it failed.
int failure_of(int pipe) {
  int code = 0;
  ssize_t got;
  do got = ::read(pipe, &code, sizeof code);
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof code) ? code : 0;
}

int wait_status(pid_t id, rusage& usage) {
  int status = 0;
  while (wait4(id, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  return status;
}

/// Returns the lowest CPU number on the core of `cpu`, or `cpu` itself if the system does not list the core.
int core_of(int cpu) {
  std::ifstream in(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  int first = cpu;
  in >> first;
  return in ? first : cpu;
}

}  // namespace

Process::Process(const ProcessSettings& settings) {
  std::vector<std::string> command = settings.command, environment = merged_environment(settings.environment);
  const std::vector<char*> command_pointers = pointers(command), environment_pointers = pointers(environment);
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : settings.cpus) CPU_SET(cpu, &cpus);
  std::array<unsigned long, kMostNodes / kBits> nodes{};
  for (const int node : settings.memory_nodes)
    nodes.at(static_cast<std::size_t>(node) / kBits) |= 1ul << (static_cast<std::size_t>(node) % kBits);
  const Child child{const_cast<char**>(command_pointers.data()),
                    const_cast<char**>(environment_pointers.data()),
                    settings.folder.c_str(),
                    settings.log.c_str(),
                    settings.errors.c_str(),
                    settings.cpus.empty() ? nullptr : &cpus,
                    settings.memory_nodes.empty() ? nullptr : nodes.data(),
                    settings.memory_limit,
                    getpid()};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(fmt::format("no pipe: {}", std::strerror(errno)));
  id_ = fork();
  if (id_ == 0) {
    child.become();
    const int code = errno;
    if (::write(ends[1], &code, sizeof code) < 0) _exit(126);
    _exit(127);
  }
  const int fork_error = errno;
  ::close(ends[1]);
  const int failure = id_ < 0 ? fork_error : failure_of(ends[0]);
  ::close(ends[0]);
  if (failure != 0) {
    if (id_ > 0) waitpid(id_, nullptr, 0);
    throw Error(fmt::format("{}: cannot be started: {}", settings.command.front(), std::strerror(failure)));
  }
  descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, id_, 0));
}

Process::~Process() {
  if (!ended_) {
    ::kill(id_, SIGKILL);
    rusage usage;
    wait_status(id_, usage);
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Process::wait_for(std::chrono::milliseconds timeout) {
  if (ended_) return true;
  pollfd watched{descriptor_, POLLIN, 0};
  // Without a descriptor (kernels before 5.3), poll() waits for the whole timeout.
  const int ready = ::poll(&watched, descriptor_ >= 0 ? 1 : 0, static_cast<int>(timeout.count()));
  if (ready <= 0 && descriptor_ >= 0) return false;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
    return false;
  rusage usage{};
  const int status = wait_status(id_, usage);
  end_.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end_.peak_rss_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  for (const timeval& time : {usage.ru_utime, usage.ru_stime})
    end_.cpu_seconds += static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  ended_ = true;
  return true;
}

void Process::stop(double grace, bool group) {
  const auto now = std::chrono::steady_clock::now();
  if (ended_ || killed_ || (asked_ && now - *asked_ < std::chrono::duration<double>(grace))) return;
  killed_ = asked_.has_value();
  if (!killed_) asked_ = now;
  ::kill(group ? -id_ : id_, killed_ ? SIGKILL : SIGTERM);
}

void Process::kill_group() const {
  ::kill(-id_, SIGKILL);
}

std::uint64_t Process::peak_rss_bytes() const {
  std::ifstream in(fmt::format("/proc/{}/status", id_));
  std::uint64_t kibibytes = 0;
  for (std::string word; in >> word;)
    if (word == "VmHWM:" && in >> kibibytes) break;
  return kibibytes * 1024;
}

ProgramOutput run_program(const std::vector<std::string>& command, std::chrono::seconds timeout,
                          const std::function<bool(const std::string& err)>& give_up) {
  std::string name = (fs::temp_directory_path() / "proxbench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw Error(fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
  const ScratchFolder folder(name);
  const fs::path out = folder.path / "out", err = folder.path / "err";
  ProgramOutput result;
  Process process({.command = command, .log = out, .errors = err});
  const auto end = std::chrono::steady_clock::now() + timeout;
  while (!process.wait_for(std::chrono::milliseconds(100))) {
    result.given_up = result.given_up || std::chrono::steady_clock::now() >= end ||
                      (give_up != nullptr && give_up(text_of(err)));
    if (result.given_up) process.stop(1.0);
  }
  result.end = process.end();
  result.out = text_of(out);
  result.err = text_of(err);
  return result;
}

std::string signal_name(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? fmt::format("SIG{}", name) : fmt::format("signal {}", signal);
}

std::vector<int> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> first, rest;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {};
  std::set<int> cores;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) (cores.insert(core_of(cpu)).second ? first : rest).push_back(cpu);
  first.insert(first.end(), rest.begin(), rest.end());
  return first;
}

bool may_place_memory() {
  int policy = -1;
  if (syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) != 0 || policy != MPOL_DEFAULT)
    return false;
  // -1 is no valid policy, so EINVAL shows that the call is allowed. A sandbox may forbid the call.
  return syscall(SYS_set_mempolicy, -1, nullptr, 0) != 0 && errno == EINVAL;
}

std::vector<int> memory_nodes_of(const std::vector<int>& cpus, const fs::path& system) {
  std::set<int> nodes;
  std::error_code failure;
  for (const fs::directory_entry& entry : fs::directory_iterator(system, failure)) {
    int node = 0;
    if (std::sscanf(entry.path().filename().c_str(), "node%d", &node) != 1 || node < 0 ||
        static_cast<std::size_t>(node) >= kMostNodes)
      continue;
    for (const int cpu : cpus)
      if (fs::exists(entry.path() / fmt::format("cpu{}", cpu), failure)) nodes.insert(node);
  }
  return nodes.size() > 1 ? std::vector<int>(nodes.begin(), nodes.end()) : std::vector<int>{};
}

}  // namespace proxbench
