#include "experiments/run/launch.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "core/kernels/instruction_set.h"
#include "experiments/base/files.h"
#ifdef PROXBENCH_MPI
#include "experiments/run/mpi.h"
#endif

namespace proxbench {
namespace {

const Processes* launched = nullptr;
int launched_here = 1;

/// The value of the first environment variable in `names` that is set, or `otherwise`.
int first_of(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names)
    if (const char* text = std::getenv(name)) return std::atoi(text);
  return otherwise;
}
/// Variables that launchers set in each process: Open MPI's, then PMI's (MPICH, and Slurm with PMI), then
/// Slurm's own (with PMIx, or without PMI and PMIx).
int launched_count() {
  return first_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}, 1);
}
int launched_rank() {
  return first_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}, 0);
}

/// How long a failed process waits for the first process to report the same failure.
constexpr std::chrono::milliseconds kWaitForFirst{1500};

/// Reports why the processes cannot communicate. Returns the exit status.
int refuse(const std::string& why) {
  if (launched_rank() == 0)
    fmt::print(stderr, "error: {}\n", why);
  else
    std::this_thread::sleep_for(kWaitForFirst);
  return 2;
}

#ifdef PROXBENCH_MPI
/// Time for the launcher to read the output: MPICH's launcher drops unread output when a process aborts.
constexpr std::chrono::milliseconds kTimeToForward{200};

/// Redirects stderr into memory, so that it can be printed later, and drops stdout.
class Silence {
 public:
  Silence() : terminal_(::dup(STDERR_FILENO)), memory_(::memfd_create("printed", MFD_CLOEXEC)) {
    std::fflush(nullptr);
    ::dup2(memory_, STDERR_FILENO);
    if (std::freopen("/dev/null", "w", stdout) == nullptr) ::close(STDOUT_FILENO);
  }
  void print(const std::string& before) const {
    std::fflush(nullptr);
    std::string text = before;
    char piece[4096];
    ::lseek(memory_, 0, SEEK_SET);
    for (ssize_t n; (n = ::read(memory_, piece, sizeof piece)) > 0;)
      text.append(piece, static_cast<std::size_t>(n));
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t n = ::write(terminal_, text.data() + done, text.size() - done);
      if (n <= 0) return;
      done += static_cast<std::size_t>(n);
    }
  }

 private:
  int terminal_, memory_;
};

/// Makes all processes use the best instruction set that each of them has.
void agree_on_instruction_set(const Processes& processes) {
  const std::vector<double> sets = processes.gather(static_cast<double>(instruction_set()));
  use_instruction_set(
      static_cast<InstructionSet>(static_cast<int>(*std::min_element(sets.begin(), sets.end()))));
}

int in_session(const MpiSession& session, const std::function<int()>& body) {
  const Processes& processes = session.processes();
  launched = &processes;
  launched_here = session.here();
  std::unique_ptr<Silence> silence;
  if (!processes.first()) {
    silence = std::make_unique<Silence>();
    write_no_files();
  }
  agree_on_instruction_set(processes);
  const int status = body();
  std::fflush(nullptr);
  if (status != 0) {
    if (silence) {
      std::this_thread::sleep_for(kWaitForFirst);
      silence->print(fmt::format("process {} of {}: ", processes.rank() + 1, processes.count()));
    }
    std::this_thread::sleep_for(kTimeToForward);
    session.abort(status);
  }
  launched = nullptr;
  return status;
}
#endif

}  // namespace

int with_launched_processes(int& argc, char**& argv, const std::function<int()>& body) {
  const int count = launched_count();
  if (count <= 1) return body();
#ifdef PROXBENCH_MPI
  const MpiSession session(argc, argv);
  if (const int found = session.processes().count(); found != count)
    return refuse(fmt::format(
        "started as one of {} processes, but MPI found {}: start the program by the "
        "mpirun of the MPI that it was built with, or by `srun --mpi=pmix` (Open MPI) or `srun --mpi=pmi2` "
        "(MPICH)",
        count, found));
  return in_session(session, body);
#else
  static_cast<void>(argc);
  static_cast<void>(argv);
  return refuse(
      fmt::format("started as one of {} processes, but this program was built without MPI: build it with "
                  "`cmake --preset mpi && cmake --build --preset mpi`",
                  count));
#endif
}

const Processes* launched_processes() {
  return launched;
}

int launched_processes_here() {
  return launched_here;
}

std::string launch_command(int count) {
  std::string text = environment_text("PROXBENCH_MPIRUN");
  if (text.empty()) text = "mpirun -n {}";
  if (const std::size_t at = text.find("{}"); at != std::string::npos)
    text.replace(at, 2, std::to_string(count));
  return text;
}

}  // namespace proxbench
