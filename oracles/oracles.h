#pragma once
/// All oracles: the built-in ones, then those of plug-ins.

#include "core/oracle.h"
#include "core/base/registry.h"

namespace proxbench {

/// Built in: one line an oracle in oracles.cpp.
const Registry<OracleInfo>& oracle_registry();
/// One more, from outside. Throws Error (kUsage) where the name is taken.
void add_oracle(OracleInfo info);

OracleInfo chain_info();
OracleInfo tree_info();
OracleInfo candidates_info();
OracleInfo labels_info();

}  // namespace proxbench
