#pragma once
/// The registry of all oracles: first the built-in ones, then the oracles of plug-ins.

#include "core/oracle.h"
#include "core/base/registry.h"

namespace proxbench {

/// The registry. A built-in oracle takes one line in oracles.cpp.
const Registry<OracleInfo>& oracle_registry();
/// Adds an oracle from outside. Throws Error (kUsage) if the name is taken.
void add_oracle(OracleInfo info);

OracleInfo chain_info();
OracleInfo tree_info();
OracleInfo candidates_info();
OracleInfo labels_info();

}  // namespace proxbench
