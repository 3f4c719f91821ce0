#pragma once
/// Generated sequences with many labels, similar to ChineseOCR (Yen et al. 2016): 86 binary features
/// including the bias, 14 tokens per sequence, K in the thousands.
///
/// Labels follow Zipf's law, P(k) about 1/(k + 1). Each label has a few successors, drawn once by the same
/// law. The next label is one of them, the i-th with weight 1/(i + 1), so transitions are sparse. Each label
/// is a random set of features. A token of the label shows each feature of this set, and hides each other
/// one, with probability 1 - noise. The registered format is synthetic_chain_format() in readers.h.

#include <cstdint>

#include "core/data/dataset.h"

namespace proxbench {

struct SyntheticChain {
  Index labels, features;
  Index tokens = 14;      ///< per sequence
  Index successors = 10;  ///< labels that may follow a label, repetitions included
  double noise = 0.15;    ///< probability of flipping a feature of a token
  std::uint64_t seed;
};

/// Makes a training and a test set. Equal arguments give equal sequences. Fewer training sequences are a
/// prefix of more.
DataPair make_synthetic_chain(const SyntheticChain& shape, Index sequences, Index test_sequences);

}  // namespace proxbench
