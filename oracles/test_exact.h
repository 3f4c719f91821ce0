#pragma once
/// For tests: finds an exact oracle by name.

#include <memory>
#include <string>

#include "oracles/exact_oracle.h"
#include "oracles/oracles.h"

namespace proxbench::test {

/// An oracle of the registry. It must be an ExactOracle.
inline std::unique_ptr<ExactOracle> make_exact(const std::string& name, const Dataset& data) {
  std::unique_ptr<Oracle> made = oracle_registry().find(name).make(data);
  return std::unique_ptr<ExactOracle>(&dynamic_cast<ExactOracle&>(*made.release()));
}

}  // namespace proxbench::test
