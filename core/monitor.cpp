#include "core/monitor.h"

#include <algorithm>
#include <cmath>
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

TestSet::TestSet(const Dataset& data, const Oracle& oracle, const Parallel& parallel, Decoding decoding)
    : data_(data), oracle_(oracle), parallel_(parallel), decoding_(decoding) {}

std::vector<Index> TestSet::decode(const SparseVector& w) const {
  // Any positive lambda will do: only the linear map is used.
  const Objective map(data_.x, oracle_, 1.0, 0.0, parallel_);
  Scores scores = map.make_scores();
  map.scores(w, scores);
  std::vector<Index> outputs(data_.positions());
  oracle_.decode(scores, decoding_, outputs, parallel_);
  return outputs;
}

double TestSet::accuracy(const SparseVector& w) const {
  const std::vector<Index> outputs = decode(w);
  std::size_t right = 0;
  for (std::size_t p = 0; p < outputs.size(); ++p) right += outputs[p] == data_.gold[p];
  return static_cast<double>(right) / static_cast<double>(outputs.size());
}

Certificate certify(Objective& objective, const SparseVector& w) {
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  objective.scores(w, scores);
  Certificate c;
  c.loss = objective.infer({scores}, &residual);
  c.objective = c.loss + objective.l1(w.value) + objective.l2(w.value);
  c.l1 = objective.l1(w.value) / objective.lambda();
  c.nnz = w.nnz();
  Objective::Selection selection;
  objective.select_gradient(residual, w, std::numeric_limits<double>::infinity(), selection);
  c.kkt = selection.kkt_max;
  return c;
}

const char* status_name(Status status) {
  switch (status) {
    case Status::kConverged:
      return "converged";
    case Status::kMaxIterations:
      return "max-iterations";
    case Status::kTimeLimit:
      return "time-limit";
    case Status::kInterrupted:
      return "interrupted";
    case Status::kStalled:
      return "stalled";
    case Status::kDiverged:
      return "diverged";
  }
  return "unknown";
}

Monitor::Monitor(Objective& evaluator, const Objective& solver_objective, const MonitorOptions& options,
                 const TestSet* test)
    : evaluator_(evaluator),
      solver_objective_(solver_objective),
      options_(options),
      test_(test),
      scores_(evaluator.make_scores()) {
  if (options.sample_kkt) residual_ = evaluator.make_residual();
}

void Monitor::pause() {
  seconds_ += read_clock(CLOCK_MONOTONIC) - wall_mark_;
  cpu_seconds_ += read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu_mark_;
  running_ = false;
}

void Monitor::resume() {
  running_ = true;
  cpu_mark_ = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  wall_mark_ = read_clock(CLOCK_MONOTONIC);
}

void Monitor::start(const SparseVector& w) {
  take_sample(0, w, w.nnz());
  resume();
}

bool Monitor::due(std::int64_t iteration) const {
  return iteration <= options_.dense_samples ||
         seconds_ >= trace_.back().seconds * (1.0 + options_.sample_growth);
}

/// With the clock stopped: whether to go on, and if so, the clock runs again.
bool Monitor::proceed(std::int64_t iteration) {
  if (interrupt != nullptr && interrupt->load())
    stop_status_ = Status::kInterrupted;
  else if (seconds_ >= options_.time_limit)
    stop_status_ = Status::kTimeLimit;
  else if (iteration >= options_.max_iterations)
    stop_status_ = Status::kMaxIterations;
  else {
    resume();
    return true;
  }
  return false;
}

bool Monitor::step(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set) {
  pause();
  if (due(iteration)) take_sample(iteration, w, working_set);
  return proceed(iteration);
}

bool Monitor::step(std::int64_t iteration, std::span<const double> w) {
  return step(
      iteration, [&] { return SparseVector::from_dense(w); }, w.size());
}

bool Monitor::step(std::int64_t iteration, const std::function<SparseVector()>& iterate,
                   std::uint64_t working_set) {
  pause();
  if (due(iteration)) take_sample(iteration, iterate(), working_set);
  return proceed(iteration);
}

void Monitor::finish(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set) {
  if (running_) pause();
  if (trace_.back().iteration != iteration) take_sample(iteration, w, working_set);
}

void Monitor::take_sample(std::int64_t iteration, const SparseVector& w, std::uint64_t working_set) {
  Sample sample;
  sample.seconds = seconds_;
  sample.cpu_seconds = cpu_seconds_;
  sample.iteration = iteration;
  sample.passes = solver_objective_.passes();
  sample.nnz = w.nnz();
  sample.working_set = working_set;
  evaluator_.scores(w, scores_);
  sample.loss = evaluator_.infer({scores_}, options_.sample_kkt ? &residual_ : nullptr);
  sample.objective = sample.loss + evaluator_.l1(w.value) + evaluator_.l2(w.value);
  if (options_.sample_kkt) {
    Objective::Selection selection;
    evaluator_.select_gradient(residual_, w, std::numeric_limits<double>::infinity(), selection);
    sample.kkt = selection.kkt_max;
  }
  if (test_ != nullptr) sample.test_accuracy = test_->accuracy(w);
  trace_.push_back(sample);
  if (on_sample) on_sample(sample);
}

}  // namespace proxbench
