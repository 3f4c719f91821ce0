#include "core/monitor/run_clock.h"

#include <ctime>

namespace proxbench {

namespace {

double read_clock(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

double wall_seconds() {
  return read_clock(CLOCK_MONOTONIC);
}

double process_cpu_seconds() {
  return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

void RunClock::pause() {
  off_mark_ = now();
  seconds_ += off_mark_ - wall_mark_;
  cpu_seconds_ += process_cpu_seconds() - cpu_mark_;
  running_ = false;
}

double RunClock::resume() {
  running_ = true;
  cpu_mark_ = process_cpu_seconds();
  const double off = take_off_clock();
  wall_mark_ = off_mark_;
  return off;
}

double RunClock::take_off_clock() {
  const double began = off_mark_;
  off_mark_ = now();
  return off_mark_ - began;
}

bool RunClock::limit_passed_here() const {
  return running_ && std::isfinite(options_.time_limit) &&
         seconds_ + (own() - wall_mark_) >= options_.time_limit;
}

}  // namespace proxbench
