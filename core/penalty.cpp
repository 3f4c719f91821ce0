#include "core/penalty.h"

#include <string>

#include "core/base/error.h"

namespace proxbench {

void Penalty::check() const {
  for (const auto& [name, value] : {std::pair{"lambda", lambda}, {"mu", mu}})
    if (!(value >= 0.0) || !std::isfinite(value))
      throw Error::usage(std::string(name) + " = " + std::to_string(value) + ": violated constraint " + name +
                         " >= 0");
  if (lambda == 0.0 && mu == 0.0)
    throw Error::usage("lambda = 0 and mu = 0: violated constraint lambda + mu > 0 (F may have no minimum)");
}

}  // namespace proxbench
