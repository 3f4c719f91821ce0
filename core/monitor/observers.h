#pragma once
/// What fills a sample: one observer for each thing that is measured at an iterate.

#include <cstdint>
#include <memory>

#include "core/base/types.h"
#include "core/certificates/dual.h"
#include "core/certificates/dual_points.h"
#include "core/monitor/evaluation_set.h"
#include "core/monitor/run_clock.h"
#include "core/monitor/sample.h"
#include "core/monitor/schedule.h"
#include "core/objective.h"

namespace proxbench {

/// An iterate as the solver handed it over, and what was computed there.
struct Observed {
  std::int64_t iteration = 0;
  const SparseVector& w;
  std::uint64_t working_set = 0;
  double given_loss = kNaN;  ///< by the solver; not finite: none
  /// These are for full samples. `found` has more than the loss and its rounding if `with_bound` or
  /// `with_kkt`.
  const Scores* scores = nullptr;
  const PointBound* found = nullptr;
  bool with_bound = false;
  bool with_kkt = false;
  bool with_accuracy = false;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void observe(const Observed& at, Sample& sample) = 0;
};

/// Time, counts, and F from the monitor's own loss if it inferred one, otherwise from the solver's.
class LightObserver final : public Observer {
 public:
  LightObserver(const RunClock& clock, const Objective& evaluator, const Objective& solver)
      : clock_(clock), evaluator_(evaluator), solver_(solver) {}
  void observe(const Observed& at, Sample& sample) override;

 private:
  const RunClock& clock_;
  const Objective& evaluator_;
  const Objective& solver_;
};

/// How the losses given by a solver compare with those that the monitor found at the same iterates.
struct Audits {
  std::int64_t count = 0;
  double largest = 0.0;  ///< |given - found| / max(1, |found|)
};

/// Compares the two losses of an iterate. Throws Error if they differ by more than rounding.
class AuditObserver final : public Observer {
 public:
  explicit AuditObserver(const Objective& evaluator) : evaluator_(evaluator) {}
  void observe(const Observed& at, Sample& sample) override;
  const Audits& audits() const { return audits_; }

 private:
  const Objective& evaluator_;
  Audits audits_;
};

class KktObserver final : public Observer {
 public:
  explicit KktObserver(const Objective& evaluator) : evaluator_(evaluator) {}
  void observe(const Observed& at, Sample& sample) override;

 private:
  const Objective& evaluator_;
};

/// Keeps the best lower bound on min F, and the gap that it leaves. Throws Error if a bound is above an F
/// that was found.
class BoundObserver final : public Observer {
 public:
  explicit BoundObserver(const Objective& evaluator) : evaluator_(evaluator) {}
  void observe(const Observed& at, Sample& sample) override;

  void watch(std::shared_ptr<const DualPoint> point) { point_ = std::move(point); }
  bool watches() const { return point_ != nullptr; }
  /// Values the dual point once more, at the end of a run. May throw Stopped.
  void value_dual_point();
  void check() const;
  double best() const { return best_; }
  /// The bound of the last sample that looked for one, and the rounding of F there.
  double last() const { return last_; }
  double rounding() const { return rounding_; }

 private:
  void raise(double bound, const char* from);

  const Objective& evaluator_;
  std::shared_ptr<const DualPoint> point_;
  double best_ = -kInfinity, last_ = -kInfinity, rounding_ = 0.0;
  const char* from_ = "";
  /// The smallest F of all full samples, its rounding, and where it was found.
  double smallest_ = kInfinity, smallest_rounding_ = 0.0;
  std::int64_t smallest_iteration_ = 0;
};

class AccuracyObserver final : public Observer {
 public:
  AccuracyObserver(const EvaluationSet& test, const RunClock& clock, Schedule& schedule)
      : test_(test), clock_(clock), schedule_(schedule) {}
  void observe(const Observed& at, Sample& sample) override;
  /// Seconds of the last sample, 0 if it measured none.
  double cost() const { return cost_; }

 private:
  const EvaluationSet& test_;
  const RunClock& clock_;
  Schedule& schedule_;
  double cost_ = 0.0;
};

}  // namespace proxbench
