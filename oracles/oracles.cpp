#include "oracles/oracles.h"

namespace proxbench {

const Registry<OracleInfo>& oracle_registry() {
  static const Registry<OracleInfo> registry = [] {
    Registry<OracleInfo> r("oracle");
    r.add(chain_info());
    r.add(tree_info());
    return r;
  }();
  return registry;
}

}  // namespace proxbench
