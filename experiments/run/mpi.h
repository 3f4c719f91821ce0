#pragma once
/// Processes on MPI. Only built with PROXBENCH_MPI.

#include <memory>

#include "core/base/processes.h"

namespace proxbench {

/// MPI is initialised while this object lives.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  /// All processes that were started together.
  const Processes& processes() const { return *processes_; }
  /// The number of processes() on this machine.
  int here() const { return here_; }
  /// Ends all processes with this exit status.
  [[noreturn]] void abort(int status) const;

 private:
  std::unique_ptr<Processes> processes_;
  int here_ = 1;
};

}  // namespace proxbench
