#pragma once
/// All built-in oracles.

#include "core/oracle.h"
#include "core/registry.h"

namespace proxbench {

/// One line an oracle in oracles.cpp.
const Registry<OracleInfo>& oracle_registry();

OracleInfo chain_info();
OracleInfo tree_info();

}  // namespace proxbench
