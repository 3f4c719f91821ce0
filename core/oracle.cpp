#include "core/oracle.h"

#include "core/base/error.h"

namespace proxbench {

namespace {

struct Row {
  Capability capability;
  const char* name;
  bool (*has)(const Oracle& oracle);
};

/// In the order of the enum.
constexpr Row kRows[] = {
    {Capability::kSum, "sum", [](const Oracle& oracle) { return oracle.sum() != nullptr; }},
    {Capability::kInstance, "one instance",
     [](const Oracle& oracle) { return oracle.instance() != nullptr; }},
    {Capability::kBeliefs, "beliefs", [](const Oracle& oracle) { return oracle.beliefs() != nullptr; }},
    {Capability::kCovariance, "covariances",
     [](const Oracle& oracle) { return oracle.covariance() != nullptr; }},
    {Capability::kDerivative, "derivative",
     [](const Oracle& oracle) { return oracle.derivatives() != nullptr; }},
    {Capability::kNbest, "n best", [](const Oracle& oracle) { return oracle.nbest() != nullptr; }},
    {Capability::kMax, "max", [](const Oracle& oracle) { return oracle.max() != nullptr; }},
    {Capability::kInstanceMax, "max of one instance",
     [](const Oracle& oracle) { return oracle.instance_max() != nullptr; }},
    {Capability::kRelaxation, "relaxation",
     [](const Oracle& oracle) { return oracle.relaxation() != nullptr; }},
    {Capability::kFactors, "factors", [](const Oracle& oracle) { return oracle.factors() != nullptr; }}};

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
