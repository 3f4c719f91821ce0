#include "core/factor_marginals.h"

#include <cstdio>

namespace proxbench {

std::string six_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", x);
  return text;
}

}  // namespace proxbench
