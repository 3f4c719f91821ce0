#include "plots/curve_panel.h"

namespace proxbench {
namespace {

double difference_at(const Run& run, const Sample& sample) {
  return relative_difference(sample.objective, run.best.objective);
}

double instances_of(const Run& run) {
  return number_or_nan(run.result.instances);
}

}  // namespace

double Quantity::unit_of(const Run& run) const {
  if (!to_reference) return 1.0;
  Sample far;
  far.objective = run.best.objective + std::abs(run.best.objective);
  return value(run, far);
}

const std::vector<Abscissa>& abscissas() {
  static const std::vector<Abscissa> all = {{find_measure("seconds"), "seconds", 3},
                                            {find_measure("passes"), "oracle calls / n", 6},
                                            {find_measure("updates"), "parameter updates / n", 7},
                                            {find_measure("iterations"), "iterations", 5}};
  return all;
}

const std::vector<Quantity>& quantities() {
  static const std::vector<Quantity> all = {
      {"objective", "Relative objective difference", "(f − f*) / f*", "relative_difference", true,
       kDifferenceFloor, kInfinity, difference_at, true},
      {"suboptimality", "Primal suboptimality", "(f − f*) / n", "suboptimality", true, kDifferenceFloor,
       kInfinity,
       [](const Run& run, const Sample& s) { return (s.objective - run.best.objective) / instances_of(run); },
       true},
      {"nnz", "Nonzero weights", "nonzeros", "nnz", true, 0.0, kNaN,
       [](const Run&, const Sample& s) { return static_cast<double>(s.nnz); }},
      {"accuracy", "Test accuracy", "accuracy per position", "test_accuracy", false, -kInfinity, kNaN,
       [](const Run&, const Sample& s) { return s.test_accuracy; }},
      {"error", "Test error", "error per position", "test_error", false, -kInfinity, kNaN,
       [](const Run&, const Sample& s) { return 1.0 - s.test_accuracy; }},
      {"structure-error", "Test error by structure", "error per structure", "structure_error", false,
       -kInfinity, kNaN,
       [](const Run&, const Sample& s) { return 1.0 - metric_at(s, "structure-accuracy"); }},
      {"chunk-f1", "Test F1 of chunks", "F1 of chunks", "chunk_f1", false, -kInfinity, kNaN,
       [](const Run&, const Sample& s) { return metric_at(s, "chunk-f1"); }},
      {"gap", "Certified relative gap", "(f − lower bound) / f", "relative_gap", true, kDifferenceFloor, kNaN,
       [](const Run&, const Sample& s) { return s.gap / s.objective; }},
      {"dual", "Dual suboptimality", "(f* − lower bound) / f*", "dual_difference", true, kDifferenceFloor,
       kNaN,
       [](const Run& run, const Sample& s) {
         return (run.best.objective - (s.objective - s.gap)) / std::abs(run.best.objective);
       }},
      {"mean-gap", "Certified gap", "(f − lower bound) / n", "mean_gap", true, 0.0, kNaN,
       [](const Run& run, const Sample& s) { return s.gap / instances_of(run); }},
      {"gap-estimate", "The solver's estimate of its gap", "estimated gap / gap", "gap_estimate", true, 0.0,
       kNaN, [](const Run&, const Sample& s) { return s.estimated_gap / s.dual_gap; }},
      {"gap-infeasibility", "Gap of the solver's dual point, and its infeasibility",
       "(gap + infeasibility) / n", "gap_infeasibility", true, 0.0, kNaN,
       [](const Run& run, const Sample& s) {
         return (s.dual_gap + (std::isnan(s.infeasibility) ? 0.0 : s.infeasibility)) / instances_of(run);
       }}};
  return all;
}

}  // namespace proxbench
