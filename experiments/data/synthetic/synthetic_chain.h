#pragma once
/// Made-up sequences with many labels, in the shape of ChineseOCR (Yen et al. 2016): 86 binary features with
/// the bias, 14 tokens a sequence, K in the thousands.
///
/// Labels follow Zipf's law, P(k) about 1/(k + 1). Each label has a few successors, drawn by the same law
/// once, and the next label is one of them, the i-th with weight 1/(i + 1): transitions are sparse. A label
/// is a random set of features; its token shows each feature of the set, and hides each other, with
/// probability 1 - noise. The registered format is synthetic_chain_format() in readers.h.

#include <cstdint>

#include "core/data/dataset.h"

namespace proxbench {

struct SyntheticChain {
  Index labels, features;
  Index tokens = 14;      ///< a sequence
  Index successors = 10;  ///< labels that may follow a label, repeats among them
  double noise = 0.15;    ///< probability that a feature of a token is flipped
  std::uint64_t seed;
};

/// Training and test set. Equal arguments give equal sequences, and fewer sequences of training are a prefix
/// of more.
DataPair make_synthetic_chain(const SyntheticChain& shape, Index sequences, Index test_sequences);

}  // namespace proxbench
