/// How exact the inference of a chain is, with u = 2^-53, K labels and a sequence of T positions.
///
/// **Loss.** In the linear domain every stored number of a forward message equals the result of exact
/// recursions on factors with relative errors. At one position these errors are: the product of the earlier
/// message with a column of M, K + 1 roundings; the product with the weight and with the inverse scale, and
/// the inverse itself, 3; the exponentials of the score and of the transition, at most 8, and their
/// arguments, whose roundings are relative to the sizes of the scores. The last message sums to 1 within K +
/// 3. So log Z belongs to the changed factors, and is off by at most the sum of their relative errors.
/// chain_loss() adds a few roundings of a position's terms, of log scale <= log K + (range of the
/// transitions), and of their compensated sum. In the log domain a position takes one sum of K exponentials
/// and a few roundings of numbers that never exceed the sizes of its scores and the range of the transitions.
///
/// **Residual.** Let v_t be the stored product of weight, backward message and inverse scale (ChainChunk).
/// The distribution whose residual is meant is the Markov chain with the transitions P_t(j, k) = M(j, k)
/// v_{t+1}(k) / sum_k' M(j, k') v_{t+1}(k'), which starts from the stored posterior of the first position.
/// Multiplied out, this chain is the model with factors changed as above. Let q_t be its exact marginals, and
/// p_t the stored posteriors. Count roundings: p_{t+1} and p_t P_t agree to K + 4 on one side and K + 4 on
/// the other, so p_{t+1} = (p_t P_t)(1 + e) with |e| <= (2K + 8) u at each label. P_t has no entry below 0,
/// so by induction p_t = q_t (1 + e) with |e| <= (T - 1)(2K + 8) u. Renormalising, which only sequences of
/// more than kChainRest positions need, changes all labels of a position by one factor that the errors of p_t
/// bound: twice that in all. The number of the gold label is minus the sum of the others, K more roundings.
/// So each number of the residual has the relative error `drift`. In the log domain P_t are the stored
/// conditionals, whose rows sum to 1 within K + 2 roundings, and a step adds K products: no more.
///
/// **Pairs.** A stored pair marginal is a product of M, a message and v, all positive. So at each edge the
/// matrix equals the exact one up to one common factor and relative errors of at most the drift. The common
/// factor is 1 within kChainRest steps' roundings, since posteriors are made to sum to 1 that often. A number
/// p with relative error e that is then divided by a sum with such errors moves by at most 2e p (1 - p). For
/// the gold pair, 1 - p is at most the residual of its two labels together; for another pair (a, b), p is at
/// most the residual of a or of b, whichever is not gold. So drift spreads from the two labels of a pair to
/// the pair. The additions comprise kChainEdges edges, equally many gold edges, and these partial sums.

#include <algorithm>

#include "oracles/chain/chain.h"
#include "oracles/chain/chain_kernels.h"

namespace proxbench {

namespace {

/// Roundings of a step, of a position's loss, and of a score in it, as derived above, rounded up.
constexpr double kOfStep = 10.0, kOfPosition = 32.0, kOfScore = 16.0;
/// Viterbi subtracts the largest of a row's sums after 16 positions. So the sums span at most 17 positions'
/// scores and costs, three roundings are made at each, and the structure found may be below the best one by
/// twice their sum.
constexpr double kOfMaxScore = 256.0, kOfMaxPosition = 128.0;

}  // namespace

std::optional<InferenceRounding> ChainOracle::sum_rounding(Index instance) const {
  const auto positions = static_cast<double>(length(instance)), labels = static_cast<double>(outputs_),
             step = 2.0 * labels + kOfStep, edges = static_cast<double>(kChainEdges);
  return InferenceRounding{.of_scores = kOfScore,
                           .of_positions = 2.0 * labels + kOfPosition,
                           .of_losses = 2.0,
                           .drift = (length(instance) > kChainRest ? 2.0 : 1.0) * positions * step + labels,
                           .of_extra = std::min(positions, static_cast<double>(kChainRest)) * step +
                                       2.0 * std::min(positions, edges) + positions / edges};
}

void ChainOracle::spread_drift(std::span<const double> by_output, std::span<double> by_extra) const {
  for (std::size_t a = 0; a < outputs_; ++a)
    for (std::size_t b = 0; b < outputs_; ++b) by_extra[a * outputs_ + b] = by_output[a] + by_output[b];
}

std::optional<InferenceRounding> ChainOracle::max_rounding() const {
  return InferenceRounding{.of_scores = kOfMaxScore, .of_positions = kOfMaxPosition, .of_losses = 2.0};
}

}  // namespace proxbench
