#pragma once
/// The folder of a sweep's results. Runs appear in it as a whole or not at all, however the sweep ends. For
/// the layout see results.h.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "experiments/base/paths.h"

namespace proxbench {

/// Makes the folders of OUT. Throws Error if they cannot be written to.
void prepare_out(const fs::path& out);

/// A lock on a part of OUT, which one process holds at a time. The lock ends with the process, even after a
/// kill. Each part is a range of bytes of OUT/.lock, so the lock works across machines too.
class OutLock {
 public:
  struct Part {
    std::int64_t first, count;  ///< count 0: all bytes from the first
  };
  static constexpr Part kPlan{0, 1};         ///< the plan: OUT/config.ini and OUT/slurm
  static constexpr Part kAllProblems{1, 0};  ///< the runs and references of all problems
  static Part problem(const std::string& name);

  /// Takes the lock, and waits at most `timeout` seconds for it. Throws Error if another process still holds
  /// it.
  explicit OutLock(const fs::path& out, double timeout = 0.0, Part part = kPlan);
  /// Makes a lock that is not taken yet.
  OutLock(const fs::path& out, Part part) : out_(out), part_(part) {}
  ~OutLock() { release(); }
  OutLock(const OutLock&) = delete;
  OutLock& operator=(const OutLock&) = delete;

  void release();
  /// Takes the lock again.
  void take(double timeout);
  /// Returns false if another process still holds the lock.
  bool try_take(double timeout = 0.0);
  /// Whether another process holds a part of the lock. Takes nothing.
  static bool is_held(const fs::path& out, Part part);

 private:
  fs::path out_;
  Part part_;
  int descriptor_ = -1;
};

/// Makes an empty hidden folder, which publish() later renames to `folder`.
fs::path start_folder(const fs::path& folder);

/// Makes a folder from start_folder() visible as `folder` once it is complete, by rename. Replaces an older
/// `folder`.
void publish(const fs::path& complete, const fs::path& folder);

/// Returns the names of the runs that are being made.
std::set<std::string> unfinished_runs(const fs::path& out);

/// Cleans up after a killed sweep. Moves complete runs to their places. Moves an old run back if its
/// successor is incomplete. Removes all other temporary folders. The caller holds kAllProblems.
void recover(const fs::path& out);
/// Does what recover() does, for these runs only. The caller holds the lock of their problem.
void recover_runs(const fs::path& out, const std::vector<std::string>& names);

}  // namespace proxbench
