#pragma once
/// Runs a program as a separate process, which its parent can watch, stop and outlive. Linux only.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/base/paths.h"

namespace proxbench {

struct ProcessSettings {
  std::vector<std::string> command;           ///< program (found on PATH if without '/') and arguments
  std::vector<std::string> environment = {};  ///< "NAME=value", added to the environment of this process
  std::vector<int> cpus = {};                 ///< the CPUs that it may use; empty: those of this process
  /// Its memory is interleaved page by page over these NUMA nodes. Empty: the system's default, which puts
  /// each page on the node of the thread that first touches it.
  std::vector<int> memory_nodes = {};
  std::uint64_t memory_limit = 0;  ///< bytes of private writable memory; 0: no limit
  fs::path folder = ".";           ///< its working directory
  fs::path log = "/dev/null";      ///< receives its standard output and error
  fs::path errors = {};            ///< receives its standard error; empty: the log does
};

/// How a process ended.
struct ProcessEnd {
  int exit_status = -1;              ///< -1: a signal ended it
  int signal = 0;                    ///< 0: no signal ended it
  std::uint64_t peak_rss_bytes = 0;  ///< includes the memory between fork and exec
  double cpu_seconds = 0.0;          ///< includes the children that it waited for
};

/// A running process. It has its own process group, so Ctrl-C on the terminal reaches only the parent. The
/// kernel kills it when the thread that started it ends for any reason.
class Process {
 public:
  /// Throws Error if the program cannot be started.
  explicit Process(const ProcessSettings& settings);
  /// Kills the process if it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return id_; }
  /// Waits at most `timeout`. Returns true if the process has ended. A signal to this process ends the wait
  /// early.
  bool wait_for(std::chrono::milliseconds timeout);
  bool ended() const { return ended_; }
  const ProcessEnd& end() const { return end_; }
  /// The first call sends SIGTERM to the process or, with `group`, to its process group. Later calls send
  /// SIGKILL once `grace` seconds have passed since the first.
  void stop(double grace, bool group = false);
  /// Whether stop() has killed it.
  bool killed() const { return killed_; }
  /// Kills what the process has left running in its process group.
  void kill_group() const;
  /// The peak memory of the program that it runs now; 0 if unknown.
  std::uint64_t peak_rss_bytes() const;

 private:
  pid_t id_ = -1;
  int descriptor_ = -1;  ///< a pidfd, for poll()
  bool ended_ = false, killed_ = false;
  std::optional<std::chrono::steady_clock::time_point> asked_;  ///< when stop() was called first
  ProcessEnd end_;
};

/// What a program wrote, and how it ended.
struct ProgramOutput {
  ProcessEnd end;
  std::string out, err;
  bool given_up = false;
};

/// Runs a program to its end. Kills it if it takes longer than `timeout`, or if `give_up` returns true for
/// the standard error written so far. `give_up` may be empty. Throws Error if the program cannot be started.
ProgramOutput run_program(const std::vector<std::string>& command, std::chrono::seconds timeout,
                          const std::function<bool(const std::string& err)>& give_up = {});

/// "SIGSEGV"; "signal 64" if the signal has no name.
std::string signal_name(int signal);

/// The numbers of the CPUs that this process may run on. One CPU of each core comes first, so the first n of
/// them share as few cores as possible.
std::vector<int> usable_cpus();

/// The NUMA nodes of these CPUs, ascending. Empty if there is only one node, or if the system does not report
/// nodes.
///
/// Loops give their chunks to whichever thread is free, so no page belongs to one thread. But a single thread
/// reads a file and fills most arrays. Spreading these pages over the nodes gives loops the bandwidth of all
/// nodes.
std::vector<int> memory_nodes_of(const std::vector<int>& cpus,
                                 const fs::path& system = "/sys/devices/system/node");
/// Whether this process may set its memory policy and none has been set before. Containers often may not set
/// one; numactl sets one.
bool may_place_memory();

}  // namespace proxbench
