#include "experiments/sweep/out_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <thread>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/monitor/monitor.h"
#include "experiments/base/text.h"
#include "experiments/results/results.h"
#include "experiments/run/job.h"

namespace proxbench {
namespace {

// Temporary names in OUT/runs: ".NAME.PID.new" until a run is complete, ".NAME.PID.old" while a complete run
// replaces an older one.
constexpr const char* kNew = ".new";
constexpr const char* kOld = ".old";

constexpr const char* kLockFile = ".lock";

struct flock range_of(const OutLock::Part& part) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = part.first;
  range.l_len = part.count;
  return range;
}

fs::path hidden(const fs::path& folder, const char* suffix) {
  return folder.parent_path() / fmt::format(".{}.{}{}", folder.filename().string(), getpid(), suffix);
}

/// Returns "NAME" from ".NAME.PID.SUFFIX", or an empty text if it is no such name.
std::string hidden_name(const std::string& file) {
  if (!file.starts_with('.') || !(file.ends_with(kNew) || file.ends_with(kOld))) return "";
  const std::string middle = file.substr(1, file.size() - 5);
  const std::size_t dot = middle.find_last_of('.');
  return dot == std::string::npos ? "" : middle.substr(0, dot);
}

/// Whether this is a temporary name ".SOMETHING-PID" (temporary_name(), or the Python package) of a process
/// that has ended.
bool left_by_the_dead(const std::string& name) {
  const std::size_t dash = name.find_last_of('-');
  std::int64_t id = 0;
  if (!name.starts_with('.') || dash == std::string::npos || !parse_integer(name.substr(dash + 1), id))
    return false;
  return id > 0 && ::kill(static_cast<pid_t>(id), 0) != 0 && errno == ESRCH;
}

void remove_temporary_files(const fs::path& out) {
  std::vector<fs::path> left;
  for (const fs::path& folder : {out, out / "runs", out / "references", out / "figures", out / "tables"})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (left_by_the_dead(entry.path().filename().string())) left.push_back(entry.path());
  std::error_code ignored;  // leftovers do no harm, and the next sweep removes them
  for (const fs::path& path : left) fs::remove_all(path, ignored);
}

/// Returns the temporary folders of runs with the runs' names, .new before .old of the same run.
std::map<fs::path, std::string> temporary_runs(const fs::path& out) {
  std::map<fs::path, std::string> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "runs"))
    if (const std::string name = hidden_name(entry.path().filename().string()); !name.empty())
      found[entry.path()] = name;
  return found;
}

/// Ends these runs, or all if `only` is null.
void end_unfinished(const fs::path& out, const std::vector<std::string>* only) {
  for (const auto& [path, name] : temporary_runs(out)) {
    if (only != nullptr && !contains(*only, name)) continue;
    const fs::path folder = out / "runs" / name;
    // The worker writes the manifest. The job file is removed once the run is complete, except for jobs that
    // describe a data set or make a reference.
    const bool complete = fs::exists(path / "manifest.json") && !fs::exists(path / kJobFile);
    if (complete && (path.extension() == kNew || !fs::exists(folder)))
      publish(path, folder);
    else
      fs::remove_all(path);
  }
}

}  // namespace

void prepare_out(const fs::path& out) {
  for (const char* folder : {"runs", "references", "figures", "tables"}) {
    make_folder(out / folder);
    const fs::path probe = out / folder / ".probe";
    write_file_atomically(probe, "");
    fs::remove(probe);
  }
}

OutLock::Part OutLock::problem(const std::string& name) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  return {static_cast<std::int64_t>(1 + XXH3_64bits(name.data(), name.size()) % kMost), 1};
}

OutLock::OutLock(const fs::path& out, double timeout, Part part) : out_(out), part_(part) {
  take(timeout);
}

void OutLock::take(double timeout) {
  if (!try_take(timeout)) throw Error(out_.string() + ": another `proxbench run` works in this folder");
}

bool OutLock::is_held(const fs::path& out, Part part) {
  const int descriptor = ::open((out / kLockFile).c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;  // no sweep ever began here
  struct flock range = range_of(part);
  const bool known = ::fcntl(descriptor, F_OFD_GETLK, &range) == 0;
  ::close(descriptor);
  return known && range.l_type != F_UNLCK;
}

bool OutLock::try_take(double timeout) {
  const fs::path file = out_ / kLockFile;
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw Error(file.string() + ": cannot be opened");
  const double end = wall_seconds() + timeout;
  struct flock range = range_of(part_);
  while (::fcntl(descriptor_, F_OFD_SETLK, &range) != 0) {
    const int code = errno;
    const bool held = code == EAGAIN || code == EACCES;
    if (held && wall_seconds() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    release();
    if (!held) throw Error(fmt::format("{}: cannot be locked: {}", file.string(), std::strerror(code)));
    return false;
  }
  return true;
}

void OutLock::release() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

fs::path start_folder(const fs::path& folder) {
  const fs::path temporary = hidden(folder, kNew);
  fs::remove_all(temporary);
  make_folder(temporary);
  return temporary;
}

void publish(const fs::path& complete, const fs::path& folder) {
  const fs::path old = hidden(folder, kOld);
  fs::remove_all(old);
  if (fs::exists(folder)) fs::rename(folder, old);
  fs::rename(complete, folder);
  fs::remove_all(old);
}

std::set<std::string> unfinished_runs(const fs::path& out) {
  std::set<std::string> found;
  for (const auto& [path, name] : temporary_runs(out))
    if (path.extension() == kNew) found.insert(name);
  return found;
}

void recover(const fs::path& out) {
  remove_temporary_files(out);
  end_unfinished(out, nullptr);
}

void recover_runs(const fs::path& out, const std::vector<std::string>& names) {
  end_unfinished(out, &names);
}

}  // namespace proxbench
