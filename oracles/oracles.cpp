#include "oracles/oracles.h"

#include <utility>

namespace proxbench {
namespace {

Registry<OracleInfo>& registry() {
  static Registry<OracleInfo> all = [] {
    Registry<OracleInfo> r("oracle");
    r.add(chain_info());
    r.add(tree_info());
    r.add(candidates_info());
    r.add(labels_info());
    return r;
  }();
  return all;
}

}  // namespace

const Registry<OracleInfo>& oracle_registry() {
  return registry();
}

void add_oracle(OracleInfo info) {
  registry().add(std::move(info));
}

}  // namespace proxbench
