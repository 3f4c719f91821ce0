#include "core/data/typical_value.h"

#include <cmath>
#include <cstdint>

#include "core/base/sum.h"

namespace proxbench {

double typical_value(const DesignMatrix& x, const Parallel& parallel) {
  double exponents = 0.0;
  for (Index j = 0; j < x.features(); ++j)
    for (const double value : x.column_values(j)) exponents += std::ilogb(value);
  const auto sum = static_cast<std::int64_t>(add_processes(parallel, exponents)),
             entries = static_cast<std::int64_t>(x.whole_nonzeros());
  if (entries == 0) return 1.0;
  // The integer nearest to sum/entries, computed in integers. It rises by one if all exponents do.
  const std::int64_t twice = 2 * sum + entries, divisor = 2 * entries;
  const std::int64_t nearest = twice >= 0 ? twice / divisor : -((-twice + divisor - 1) / divisor);
  return std::ldexp(1.0, static_cast<int>(nearest));
}

}  // namespace proxbench
