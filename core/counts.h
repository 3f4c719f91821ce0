#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace proxbench {

/// What a solver has done so far. Several threads may call add_inference() at once.
class Counts {
 public:
  explicit Counts(std::size_t instances) : instances_(static_cast<double>(instances)) {}

  /// An inference over this many of the instances, or a search of all their factors.
  void add_searches(double instances) { passes_ += instances / instances_; }
  void add_pass() { passes_ += 1.0; }
  /// An inference over one instance.
  void add_inference() { ++single_; }
  /// One change of w, or of the variables of a dual solver, made by `instances` of the instances.
  void add_updates(double instances) { updated_ = updated_.value_or(0.0) + instances; }

  /// Inferences over all training instances. One such inference is a pass.
  double passes() const { return passes_ + static_cast<double>(single_.load()) / instances_; }
  /// Updates by all training instances. Empty if the solver counts none: then each of its iterations is one.
  std::optional<double> updates() const {
    return updated_ ? std::optional(*updated_ / instances_) : std::nullopt;
  }

 private:
  double instances_, passes_ = 0.0;
  std::atomic<std::uint64_t> single_ = 0;
  std::optional<double> updated_;
};

}  // namespace proxbench
