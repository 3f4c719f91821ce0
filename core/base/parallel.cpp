#include "core/base/parallel.h"

#include <omp.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <atomic>
#include <exception>
#include <mutex>

#include "core/base/error.h"
#include "core/base/options.h"
#include "core/base/profile.h"
#include "core/base/stop_token.h"

namespace proxbench {

namespace {

/// Repeats TBB's guarantees of order with atomics, because a thread sanitizer cannot see inside TBB's
/// library. Each body sees all writes before the loop, and all writes of the bodies are visible after it.
/// Bodies only release `ended_`, which adds no order among them. So the sanitizer still finds races between
/// bodies.
class OrderedBody {
 public:
  explicit OrderedBody(const std::function<void(std::size_t)>& body) : body_(body) {
    begun_.store(true, std::memory_order_release);
  }
  ~OrderedBody() { static_cast<void>(ended_.load(std::memory_order_acquire)); }
  OrderedBody(const OrderedBody&) = delete;
  OrderedBody& operator=(const OrderedBody&) = delete;

  void operator()(std::size_t chunk) const {
    static_cast<void>(begun_.load(std::memory_order_acquire));
    const Ended ended{ended_};
    body_(chunk);
  }

 private:
  struct Ended {
    std::atomic<std::size_t>& count;
    ~Ended() { count.fetch_add(1, std::memory_order_release); }
  };
  const std::function<void(std::size_t)>& body_;
  mutable std::atomic<bool> begun_{false};
  mutable std::atomic<std::size_t> ended_{0};
};

}  // namespace

/// A TBB arena for `threads` threads, with permission for that many workers even if there are fewer cores.
struct Parallel::Arena {
  explicit Arena(int threads)
      : limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        arena(threads) {}
  tbb::global_control limit;
  tbb::task_arena arena;
};

Backend parse_backend(std::string_view name) {
  require_known("backend", name, {"openmp", "tbb"});
  return name == "tbb" ? Backend::kTBB : Backend::kOpenMP;
}

std::string backend_name(Backend backend) {
  return backend == Backend::kOpenMP ? "openmp" : "tbb";
}

Parallel::Parallel(int threads, Backend backend, const Processes* processes)
    : threads_(threads), backend_(backend), processes_(processes) {
  if (threads < 1) throw Error::usage("threads = ", threads, ": violated constraint threads >= 1");
  if (backend == Backend::kTBB && threads > 1) arena_ = std::make_shared<Arena>(threads);
}

void Parallel::keep_small(double pass) {
  constexpr double kSmall = 0x1p17;  // experiments/bench/RESULTS.md
  small_ = pass < kSmall;
}

void Parallel::count_sum(std::size_t numbers) const {
  if (profile_ == nullptr) return;
  PhaseProfile& phase = profile_->of(profile_->current);
  ++phase.sums;
  phase.sum_bytes += static_cast<double>(numbers * sizeof(double));
}

void Parallel::for_each(std::size_t chunks, const std::function<void(std::size_t)>& body) const {
  if (profile_ != nullptr && chunks > 1) {
    Parallel untimed = *this;
    untimed.profile_ = nullptr;
    const double begin = profile_clock();
    untimed.for_each(chunks, body);
    profile_->of(profile_->current).loop_seconds += profile_clock() - begin;
    return;
  }
  const std::function<void(std::size_t)> within = [&body, scope = StopScope::current()](std::size_t chunk) {
    const StopScope::Borrowed borrowed(scope);
    stop_point();
    body(chunk);
  };
  if (threads_ == 1 || chunks <= 1 || small_) {
    for (std::size_t chunk = 0; chunk < chunks; ++chunk) within(chunk);
    return;
  }
  if (backend_ == Backend::kTBB) {
    const OrderedBody ordered(within);
    arena_->arena.execute(
        [&] { tbb::parallel_for(std::size_t{0}, chunks, ordered, tbb::simple_partitioner()); });
    return;
  }
  std::exception_ptr failure;
  std::mutex mutex;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_)
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    try {
      within(chunk);
    } catch (...) {
      const std::lock_guard<std::mutex> lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace proxbench
