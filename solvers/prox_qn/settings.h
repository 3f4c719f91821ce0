#pragma once
/// The options of prox-qn and its two presets: each is a column of one table (options()).

#include <cstddef>
#include <cstdint>

#include "core/quasi_newton/lbfgs.h"
#include "core/quasi_newton/line_search.h"
#include "core/base/options.h"
#include "solvers/shared/common_options.h"

namespace proxbench::prox_qn {

struct Settings {
  std::size_t memory;
  std::int64_t max_inner;
  double inner_tol;
  bool subspace;   ///< conjugate gradients on the face that a pass has found
  bool inner_cap;  ///< at most d/|A| passes
  EpochSettings epochs;
  bool relative_epochs;  ///< an epoch's tolerance is relative to its own start
  bool growing;
  bool blocks;
  bool screening;
  bool newton;
  bool measured_scale;  ///< the first gamma is the curvature along the first direction, and not 1
  GammaRule scaling;
  std::int64_t max_stagnant;
  ArmijoOptions line_search;
};

OptionTable options();
Settings read_settings(const Options& options);

}  // namespace proxbench::prox_qn
