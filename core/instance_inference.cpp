#include "core/instance_inference.h"

namespace proxbench {

double infer_instance(Objective& objective, Index instance, const double* scores,
                      std::span<const double> extra, double* residual, std::span<double> extra_residual) {
  OutputColumns all;
  all.columns = objective.outputs();
  const PhaseTimer timer = objective.time_inference({all}, residual != nullptr ? &all : nullptr,
                                                    objective.oracle().length(instance));
  objective.counts().add_inference();
  return objective.oracle().instance()->infer_instance(instance, scores, extra, residual, extra_residual);
}

double infer_beliefs(Objective& objective, Index instance, const double* scores,
                     std::span<const double> extra, double* log_beliefs) {
  objective.counts().add_inference();
  return objective.oracle().beliefs()->infer_beliefs(instance, scores, extra, log_beliefs);
}

LossAndCost best_structure(Objective& objective, Index instance, const double* scores,
                           std::span<const double> extra, std::span<Index> outputs) {
  objective.counts().add_inference();
  return objective.oracle().instance_max()->best_structure(instance, objective.loss().cost, scores, extra,
                                                           outputs);
}

}  // namespace proxbench
