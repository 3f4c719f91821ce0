#include "core/curvature.h"

namespace proxbench {

double Curvature::infer(const ScorePoint& at, Residual& residual) {
  const auto timer = objective_.time_inference(at, &residual, objective_.map().x().positions());
  objective_.counts().add_pass();
  return objective_.oracle().derivatives()->infer_and_keep(at, residual, messages_, objective_.parallel());
}

/// Computes change_ along direction_.
void Curvature::differentiate() {
  const auto timer = objective_.time_inference({direction_}, &change_, objective_.map().x().positions());
  objective_.counts().add_pass();
  objective_.oracle().derivatives()->derivative(*messages_, direction_, change_, objective_.parallel());
}

void Curvature::product(std::span<const Coord> set, std::span<const double> v, std::span<double> out) {
  objective_.scores(set, v, direction_);
  differentiate();
  objective_.partial_gradient(change_, set, v, out);
}

void Curvature::product(std::span<const double> v, std::span<double> out) {
  objective_.scores(SparseVector::from_dense(v), direction_);
  differentiate();
  objective_.gradient(change_, v, out);
}

}  // namespace proxbench
