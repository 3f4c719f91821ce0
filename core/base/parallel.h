#pragma once
/// Parallel loops with two back ends chosen at run time. Work is cut into chunks that do not depend on the
/// number of threads; whatever is summed across chunks is summed in chunk order by the caller. So OpenMP and
/// oneTBB, with any number of threads, give the same bits.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace proxbench {

struct Profile;
class Processes;

enum class Backend { kOpenMP, kTBB };

/// "openmp" or "tbb"; throws Error (kUsage) on anything else.
Backend parse_backend(std::string_view name);
std::string backend_name(Backend backend);

/// A team of threads. Copies share the TBB arena. Not for use from several threads at once.
class Parallel {
 public:
  /// threads >= 1; throws Error (kUsage) otherwise. `processes` must outlive it.
  explicit Parallel(int threads = 1, Backend backend = Backend::kOpenMP,
                    const Processes* processes = nullptr);

  int threads() const { return threads_; }
  Backend backend() const { return backend_; }
  /// Those that share the instances, which loops know nothing of, but sums do (core/base/sum.h); null: this
  /// one has them all.
  const Processes* processes() const { return processes_; }
  /// The same threads, for sums over what every process has as a whole.
  Parallel alone() const {
    Parallel out = *this;
    out.processes_ = nullptr;
    return out;
  }

  /// Calls body(chunk) once for each chunk in [0, chunks), in any order, on up to threads() threads. The
  /// first exception thrown by a body is rethrown here after all chunks have ended.
  void for_each(std::size_t chunks, const std::function<void(std::size_t)>& body) const;

  /// Counts a sum over instances, of so many numbers, in the profile.
  void count_sum(std::size_t numbers) const;

  /// From now on loops are timed and counted there (core/base/profile.h); null: they are not. Copies made
  /// before are not told.
  void time_loops(Profile* profile) { profile_ = profile; }

 private:
  struct Arena;
  void run(std::size_t chunks, const std::function<void(std::size_t)>& body) const;

  int threads_;
  Backend backend_;
  const Processes* processes_;
  std::shared_ptr<Arena> arena_;
  Profile* profile_ = nullptr;
};

/// The chunks of [0, n) in pieces of `grain`.
struct Chunks {
  std::size_t n;
  std::size_t grain;
  std::size_t count() const { return (n + grain - 1) / grain; }
  std::size_t begin(std::size_t chunk) const { return chunk * grain; }
  std::size_t end(std::size_t chunk) const { return chunk * grain + grain < n ? chunk * grain + grain : n; }
};

}  // namespace proxbench
