#pragma once

#include <cstddef>
#include <span>

#include "core/base/stop_token.h"
#include "core/objective.h"

namespace proxbench {

/// Whether outputs stand side by side: each instance is one position, each output has a column of its own,
/// and there are no extra weights. The marginals then give all covariances.
bool side_by_side(const Objective& objective);
/// Whether hessian() is available: the oracle has covariances, or outputs stand side by side.
bool has_hessian(const Objective& objective);

/// Computes the Hessian of the smooth part on the coordinates `set`, which must ascend: row i of the full
/// symmetric matrix at out + i*stride, stride >= set.size(). Requires has_hessian(). Returns false if `stop`
/// was requested. The contents of `out` are then undefined. Not counted.
bool hessian(const Objective& objective, const Scores& scores, std::span<const Coord> set, double* out,
             std::size_t stride, const StopToken& stop = {});

}  // namespace proxbench
