#include "core/oracle.h"

namespace proxbench {

const char* capability_name(Capability capability) {
  switch (capability) {
    case Capability::kSum:
      return "sum";
    case Capability::kInstance:
      return "one instance";
    case Capability::kCovariance:
      return "covariances";
  }
  return "unknown";
}

bool has_capability(const Oracle& oracle, Capability capability) {
  switch (capability) {
    case Capability::kSum:
      return oracle.sum() != nullptr;
    case Capability::kInstance:
      return oracle.instance() != nullptr;
    case Capability::kCovariance:
      return oracle.covariance() != nullptr;
  }
  return false;
}

}  // namespace proxbench
