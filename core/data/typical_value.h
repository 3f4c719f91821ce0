#pragma once
/// The unit of the values of X.

#include "core/base/parallel.h"
#include "core/data/design_matrix.h"

namespace proxbench {

/// Returns the power of two nearest to the geometric mean of |x| over the nonzeros of the whole matrix. The
/// result is 1 if X is binary. It is 2^k times as large if all values are 2^k times as large. A few huge
/// cells hardly change it. Some solvers have first steps or least curvatures that would otherwise be absolute
/// numbers: weights are in units of 1/value, second derivatives in units of value^2. If processes share the
/// positions, all must call this.
double typical_value(const DesignMatrix& x, const Parallel& parallel);

}  // namespace proxbench
