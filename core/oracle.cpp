#include "core/oracle.h"

#include <numeric>

#include "core/base/error.h"
#include "core/base/sum.h"

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

InferenceRounding plain_rounding(std::size_t positions, Index outputs) {
  constexpr double kOfScore = 16.0, kOfStep = 16.0;
  const auto n = static_cast<double>(positions), terms = n * static_cast<double>(outputs);
  // A marginal divides two sums of products. On the way through n positions each may take part in as many
  // sums and products as there are terms, forward and backward.
  const double marginal = 4.0 * terms + kOfStep * n;
  return {.of_scores = n + kOfScore,
          .of_positions = terms + kOfStep,
          .of_losses = static_cast<double>(kChunkPositions),
          .of_marginals = marginal,
          .of_extra = marginal + n};
}

void SumOracle::spread_drift(std::span<const double> by_output, std::span<double> by_extra) const {
  std::ranges::fill(by_extra, std::accumulate(by_output.begin(), by_output.end(), 0.0));
}

const char* capability_name(Capability capability) {
  return row(capability).name;
}

bool has_capability(const Oracle& oracle, Capability capability) {
  return row(capability).has(oracle);
}

}  // namespace proxbench
