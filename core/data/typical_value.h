#pragma once
/// The unit that the values of X are in.

#include "core/base/parallel.h"
#include "core/data/design_matrix.h"

namespace proxbench {

/// The power of two nearest to the geometric mean of |x| over the nonzeros of the whole matrix: 1 where X is
/// binary, and 2^k times as large where all values are. A few huge cells hardly move it. For solvers whose
/// first steps, or least curvatures, would otherwise be absolute numbers: weights are in units of 1/value,
/// second derivatives in those of value^2. Where processes share the positions all must call it.
double typical_value(const DesignMatrix& x, const Parallel& parallel);

}  // namespace proxbench
