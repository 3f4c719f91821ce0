#pragma once
/// The folder of a sweep's results as a place where runs appear as a whole or not at all, whatever ends the
/// sweep. Layout: results.h.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace proxbench {

/// Makes the folders of OUT and proves that they can be written to. Throws Error otherwise.
void prepare_out(const std::filesystem::path& out);

/// A part of OUT that belongs to one process at a time. The lock goes with the process, however that ends.
/// Each part is a range of bytes of OUT/.lock, which also locks across machines.
class OutLock {
 public:
  struct Part {
    std::int64_t first, count;  ///< count 0: all bytes from the first
  };
  static constexpr Part kPlan{0, 1};         ///< what is to be made: OUT/config.ini and OUT/slurm
  static constexpr Part kAllProblems{1, 0};  ///< the runs and references of all problems
  static Part problem(const std::string& name);

  /// Takes it, and waits so long at most. Throws Error where another process still holds it.
  explicit OutLock(const std::filesystem::path& out, double patience_seconds = 0.0, Part part = kPlan);
  /// Does not take it.
  OutLock(const std::filesystem::path& out, Part part) : out_(out), part_(part) {}
  ~OutLock() { release(); }
  OutLock(const OutLock&) = delete;
  OutLock& operator=(const OutLock&) = delete;

  void release();
  /// Takes it again.
  void take(double patience_seconds);
  /// False where another process still holds it.
  bool try_take(double patience_seconds = 0.0);

 private:
  std::filesystem::path out_;
  Part part_;
  int descriptor_ = -1;
};

/// A new, empty, hidden folder on its way to become this one.
std::filesystem::path start_folder(const std::filesystem::path& folder);

/// Makes what start_folder() gave, now complete, visible as `folder` by rename, in the place of what was
/// there.
void publish(const std::filesystem::path& complete, const std::filesystem::path& folder);

/// Where runs that are being made are: the hidden folder of each name.
std::map<std::string, std::filesystem::path> unfinished_runs(const std::filesystem::path& out);

/// For the holder of kAllProblems: ends what a sweep that was killed had begun. A run that was complete takes
/// its place, an old one whose successor never came gets it back, everything else that is temporary is
/// removed.
void recover(const std::filesystem::path& out);
/// The same of these runs alone, for the holder of their problem.
void recover_runs(const std::filesystem::path& out, const std::vector<std::string>& names);

}  // namespace proxbench
