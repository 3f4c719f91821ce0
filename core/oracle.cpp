#include "core/oracle.h"

#include "core/base/error.h"

namespace proxbench {

namespace {

struct Row {
  Capability capability;
  const char* name;
  bool (*has)(const Oracle& oracle);
};

template <auto kGet>
bool has(const Oracle& oracle) {
  return (oracle.*kGet)() != nullptr;
}

/// In the order of the enum.
constexpr Row kRows[] = {{Capability::kSum, "sum", has<&Oracle::sum>},
                         {Capability::kInstance, "one instance", has<&Oracle::instance>},
                         {Capability::kBeliefs, "beliefs", has<&Oracle::beliefs>},
                         {Capability::kCovariance, "covariances", has<&Oracle::covariance>},
                         {Capability::kDerivative, "derivative", has<&Oracle::derivatives>},
                         {Capability::kNbest, "n best", has<&Oracle::nbest>},
                         {Capability::kMax, "max", has<&Oracle::max>},
                         {Capability::kInstanceMax, "max of one instance", has<&Oracle::instance_max>},
                         {Capability::kRelaxation, "relaxation", has<&Oracle::relaxation>},
                         {Capability::kFactors, "factors", has<&Oracle::factors>}};

const Row& row(Capability capability) {
  return kRows[static_cast<std::size_t>(capability)];
}

}  // namespace

const char* capability_name(Capability capability) {
  return row(capability).name;
}

bool has_capability(const Oracle& oracle, Capability capability) {
  return row(capability).has(oracle);
}

void check_capabilities(const OracleInfo& info, const Oracle& oracle) {
  for (const auto& [capability, name, has] : kRows) {
    const bool stated = std::ranges::find(info.capabilities, capability) != info.capabilities.end();
    if (stated == has(oracle)) continue;
    throw Error("oracle '" + info.name + "': '" + name + "' is " +
                (stated ? "stated, but the oracle has it not" : "not stated, but the oracle has it") +
                ": expected OracleInfo::capabilities to be what it has");
  }
}

}  // namespace proxbench
