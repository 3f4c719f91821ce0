#include "core/penalty.h"

#include "core/base/options.h"

namespace proxbench {

std::string Penalty::text() const {
  const std::string l1 = "lambda = " + number_text(lambda), l2 = "mu = " + number_text(mu);
  if (mu == 0.0) return l1;
  return lambda == 0.0 ? l2 : l1 + ", " + l2;
}

void Penalty::check() const {
  for (const auto& [name, value] : {std::pair{"lambda", lambda}, {"mu", mu}})
    if (!(value >= 0.0) || !std::isfinite(value))
      throw Error::usage(name, " = ", number_text(value), ": violated constraint ", name, " >= 0");
  if (lambda == 0.0 && mu == 0.0)
    throw Error::usage("lambda = 0 and mu = 0: violated constraint lambda + mu > 0 (F may have no minimum)");
}

}  // namespace proxbench
