#pragma once
/// Parallel loops with two back ends, chosen at run time. Work is cut into chunks that do not depend on the
/// number of threads, and callers add the results of chunks in a fixed order. So OpenMP and oneTBB give the
/// same bits, with any number of threads.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace proxbench {

struct Profile;
class Processes;

enum class Backend { kOpenMP, kTBB };

/// "openmp" or "tbb". Throws Error (kUsage) for anything else.
Backend parse_backend(std::string_view name);
std::string backend_name(Backend backend);

/// A team of threads. Copies share the TBB arena. Only one thread at a time may use it.
class Parallel {
 public:
  /// Throws Error (kUsage) unless threads >= 1. `processes` must outlive this object.
  explicit Parallel(int threads = 1, Backend backend = Backend::kOpenMP,
                    const Processes* processes = nullptr);

  int threads() const { return threads_; }
  Backend backend() const { return backend_; }
  /// The processes that share the instances. Null: this process has all instances. Loops ignore them; sums
  /// use them (core/base/sum.h).
  const Processes* processes() const { return processes_; }
  /// The same threads without the processes, for sums over data that every process has as a whole.
  Parallel alone() const {
    Parallel out = *this;
    out.processes_ = nullptr;
    return out;
  }

  /// Calls body(chunk) once for each chunk in [0, chunks), in any order, on up to threads() threads. Rethrows
  /// the first exception of a body after all chunks have ended. Passes stop_point() before each chunk.
  void for_each(std::size_t chunks, const std::function<void(std::size_t)>& body) const;

  /// Takes the number of multiplications of a pass. If there are fewer than about 100,000, all later loops
  /// run on the calling thread, since threads would mostly wait for each other.
  void keep_small(double pass);

  /// Records in the profile that `numbers` numbers were summed over instances.
  void count_sum(std::size_t numbers) const;

  /// Times loops from now on, and counts them in `profile` (core/base/profile.h). Null stops this. Earlier
  /// copies are not affected.
  void time_loops(Profile* profile) { profile_ = profile; }

 private:
  struct Arena;

  int threads_;
  Backend backend_;
  const Processes* processes_;
  std::shared_ptr<Arena> arena_;
  Profile* profile_ = nullptr;
  bool small_ = false;
};

/// Cuts [0, n) into chunks of `grain`.
struct Chunks {
  std::size_t n;
  std::size_t grain;
  std::size_t count() const { return (n + grain - 1) / grain; }
  std::size_t begin(std::size_t chunk) const { return chunk * grain; }
  std::size_t end(std::size_t chunk) const { return chunk * grain + grain < n ? chunk * grain + grain : n; }
};

/// Cuts [0, n) into the smallest chunks whose sizes sum to at least `least`. The last chunk may be smaller.
/// Returns the bounds of the chunks.
template <class Size>
std::vector<std::uint32_t> cut_evenly(std::size_t n, std::uint64_t least, const Size& size) {
  std::vector<std::uint32_t> out{0};
  std::uint64_t filled = 0;
  for (std::size_t i = 0; i < n; ++i) {
    filled += size(i);
    if (filled < least && i + 1 < n) continue;
    out.push_back(static_cast<std::uint32_t>(i + 1));
    filled = 0;
  }
  return out;
}

}  // namespace proxbench
