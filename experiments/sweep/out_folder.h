#pragma once
/// The folder of a sweep's results as a place where runs appear as a whole or not at all, whatever ends the
/// sweep. Layout: results.h.

#include <filesystem>

namespace proxbench {

/// Makes the folders of OUT and proves that they can be written to. Throws Error otherwise.
void prepare_out(const std::filesystem::path& out);

/// OUT is one sweep's at a time. The lock goes with the process, however that ends.
class OutLock {
 public:
  /// Waits for it so long at most. Throws Error where another process holds it still.
  explicit OutLock(const std::filesystem::path& out, double patience_seconds = 0.0);
  ~OutLock() { release(); }
  OutLock(const OutLock&) = delete;
  OutLock& operator=(const OutLock&) = delete;

  void release();
  /// Takes it again.
  void take(double patience_seconds);

 private:
  std::filesystem::path out_;
  int descriptor_ = -1;
};

/// A new, empty, hidden folder on its way to become this one.
std::filesystem::path start_folder(const std::filesystem::path& folder);

/// Makes what start_folder() gave, now complete, visible as `folder` by rename, in the place of what was
/// there.
void publish(const std::filesystem::path& complete, const std::filesystem::path& folder);

/// For the holder of the lock: ends what a sweep that was killed had begun. A run that was complete takes its
/// place, an old one whose successor never came gets it back, everything else that is temporary is removed.
void recover(const std::filesystem::path& out);

}  // namespace proxbench
