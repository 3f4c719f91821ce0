#include "core/oracle.h"

#include "core/base/error.h"

namespace proxbench {

const char* capability_name(Capability capability) {
  switch (capability) {
    case Capability::kSum:
      return "sum";
    case Capability::kInstance:
      return "one instance";
    case Capability::kBeliefs:
      return "beliefs";
    case Capability::kCovariance:
      return "covariances";
    case Capability::kDerivative:
      return "derivative";
    case Capability::kNbest:
      return "n best";
    case Capability::kMax:
      return "max";
    case Capability::kInstanceMax:
      return "max of one instance";
    case Capability::kRelaxation:
      return "relaxation";
    case Capability::kFactors:
      return "factors";
  }
  return "unknown";
}

bool has_capability(const Oracle& oracle, Capability capability) {
  switch (capability) {
    case Capability::kSum:
      return oracle.sum() != nullptr;
    case Capability::kInstance:
      return oracle.instance() != nullptr;
    case Capability::kBeliefs:
      return oracle.beliefs() != nullptr;
    case Capability::kCovariance:
      return oracle.covariance() != nullptr;
    case Capability::kDerivative:
      return oracle.derivatives() != nullptr;
    case Capability::kNbest:
      return oracle.nbest() != nullptr;
    case Capability::kMax:
      return oracle.max() != nullptr;
    case Capability::kInstanceMax:
      return oracle.instance_max() != nullptr;
    case Capability::kRelaxation:
      return oracle.relaxation() != nullptr;
    case Capability::kFactors:
      return oracle.factors() != nullptr;
  }
  return false;
}

void check_capabilities(const OracleInfo& info, const Oracle& oracle) {
  for (const Capability capability : kCapabilities) {
    const bool stated =
        std::find(info.capabilities.begin(), info.capabilities.end(), capability) != info.capabilities.end();
    if (stated == has_capability(oracle, capability)) continue;
    throw Error("oracle '" + info.name + "': '" + capability_name(capability) + "' is " +
                (stated ? "stated, but the oracle has it not" : "not stated, but the oracle has it") +
                ": expected OracleInfo::capabilities to be what it has");
  }
}

}  // namespace proxbench
