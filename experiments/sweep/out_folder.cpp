#include "experiments/sweep/out_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/monitor.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

// Names of what is on its way, in OUT/runs: ".NAME.PID.new" until a run is complete, ".NAME.PID.old" while a
// complete one takes its place.
constexpr const char* kNew = ".new";
constexpr const char* kOld = ".old";

fs::path hidden(const fs::path& folder, const char* suffix) {
  return folder.parent_path() / fmt::format(".{}.{}{}", folder.filename().string(), getpid(), suffix);
}

/// "NAME" of ".NAME.PID.SUFFIX"; empty where it is no such name.
std::string hidden_name(const std::string& file) {
  if (!file.starts_with('.') || !(file.ends_with(kNew) || file.ends_with(kOld))) return "";
  const std::string middle = file.substr(1, file.size() - 5);
  const std::size_t dot = middle.find_last_of('.');
  return dot == std::string::npos ? "" : middle.substr(0, dot);
}

/// Whether this is the temporary name ".SOMETHING-PID" (of write_file_atomically(), of make_curves()) of a
/// process that is no more.
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
  std::error_code ignored;  // what is left here is in nobody's way, and the next sweep's to remove
  for (const fs::path& path : left) fs::remove_all(path, ignored);
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

OutLock::OutLock(const fs::path& out, double patience_seconds) : out_(out) {
  take(patience_seconds);
}

void OutLock::take(double patience_seconds) {
  const fs::path file = out_ / ".lock";
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw Error(file.string() + ": cannot be opened");
  const double end = wall_seconds() + patience_seconds;
  while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const int code = errno;
    if (code == EWOULDBLOCK && wall_seconds() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    release();
    if (code != EWOULDBLOCK)
      throw Error(fmt::format("{}: cannot be locked: {}", file.string(), std::strerror(code)));
    throw Error(out_.string() + ": another `proxbench run` works in this folder");
  }
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

void recover(const fs::path& out) {
  remove_temporary_files(out);
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "runs"))
    if (!hidden_name(entry.path().filename().string()).empty()) left.push_back(entry.path());
  std::sort(left.begin(), left.end());  // .new before .old of the same run
  for (const fs::path& path : left) {
    const fs::path folder = path.parent_path() / hidden_name(path.filename().string());
    const bool complete = fs::exists(path / "manifest.json");
    if (complete && (path.extension() == kNew || !fs::exists(folder)))
      publish(path, folder);
    else
      fs::remove_all(path);
  }
}

}  // namespace proxbench
