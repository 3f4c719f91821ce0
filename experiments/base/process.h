#pragma once
/// A program run as a process of its own, which its parent can watch, stop and outlive. Linux.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace proxbench {

struct ProcessSettings {
  std::vector<std::string> command;           ///< the program, looked for on PATH without '/', then arguments
  std::vector<std::string> environment = {};  ///< "NAME=value", added to this process's own
  std::vector<int> cpus = {};                 ///< it may run on these only; empty: as this process may
  /// NUMA nodes over which its memory is spread page by page; empty: as the system does it, each page on the
  /// node of the thread that touches it first.
  std::vector<int> memory_nodes = {};
  std::uint64_t memory_limit = 0;           ///< bytes of private writable memory; 0: no limit
  std::filesystem::path folder = ".";       ///< where it works
  std::filesystem::path log = "/dev/null";  ///< its standard output and error go there
  std::filesystem::path errors = {};        ///< its standard error instead; empty: to the log
};

/// How a process ended.
struct ProcessEnd {
  int exit_status = -1;  ///< -1: ended by a signal
  int signal = 0;        ///< 0: not ended by a signal
  std::uint64_t peak_rss_bytes = 0;  ///< the kernel counts what it held between fork and exec, too
  double cpu_seconds = 0.0;          ///< with those of the children that it waited for
};

/// A running process. It has a process group of its own, so that Ctrl-C on the terminal reaches this process
/// only, and is killed by the kernel when the thread that started it ends, however that comes.
class Process {
 public:
  /// Throws Error where the program cannot be started.
  explicit Process(const ProcessSettings& settings);
  /// Kills it where it still runs.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t id() const { return id_; }
  /// Waits at most so long; true where it has ended. A signal that this process receives ends the waiting.
  bool wait_for(std::chrono::milliseconds timeout);
  bool ended() const { return ended_; }
  const ProcessEnd& end() const { return end_; }
  void send(int signal) const;
  /// The same to all of its process group, also where it has ended and left others.
  void send_to_group(int signal) const;
  /// The most memory that the program it runs now has held so far; 0 where that cannot be told.
  std::uint64_t peak_rss_bytes() const;

 private:
  pid_t id_ = -1;
  int descriptor_ = -1;  ///< of the process, for poll()
  bool ended_ = false;
  ProcessEnd end_;
};

/// What a program said, and how it ended.
struct ProgramOutput {
  ProcessEnd end;
  std::string out, err;
  bool given_up = false;
};

/// Runs a program to its end. It is killed where it takes longer than `timeout`, or `give_up` (which may be
/// empty) says so of what it has written to standard error so far. Throws Error where it cannot be started.
ProgramOutput run_program(const std::vector<std::string>& command, std::chrono::seconds timeout,
                          const std::function<bool(const std::string& err)>& give_up = {});

/// "SIGSEGV"; "signal 64" where it has no name.
std::string signal_name(int signal);

/// The numbers of the CPUs that this process may run on, one of each core first, so that any first n of them
/// share as few cores as can be.
std::vector<int> usable_cpus();

/// The NUMA nodes of these CPUs, ascending, where they are several; empty where there is one, or the system
/// does not tell.
///
/// Loops hand out their chunks to whichever thread is free, so no page belongs to one thread; but a file is
/// read, and most arrays are filled, by one. Spread over the nodes, they are read at the bandwidth of all.
std::vector<int> memory_nodes_of(const std::vector<int>& cpus,
                                 const std::filesystem::path& system = "/sys/devices/system/node");
/// Whether this process may say where memory lies and nobody has said so before: containers often may not,
/// and numactl has.
bool may_place_memory();

}  // namespace proxbench
