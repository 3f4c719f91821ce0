#pragma once
/// Generated data similar to the OCR task (see ocr.h), for tests and benchmarks without files: 26 letters,
/// words as long as those of letter.data, and about 28 black pixels of 128 per letter.
///
/// Each letter is a polyline through random points of the grid. A sample of the letter moves each point a
/// little, loses some pixels and gains stray ones. The letters of a word follow a random Markov chain with
/// uneven transitions, so transition weights matter. The registered format is synthetic_ocr_format() in
/// readers.h.

#include <cstdint>

#include "experiments/data/sequences/letters.h"

namespace proxbench {

/// Makes `count` words, all in fold 0. `noise` in [0, 1) is the probability that a pixel of a stroke is lost;
/// on average as many stray pixels appear. Equal arguments give equal words on every platform with IEEE
/// arithmetic and the same mathematical library. Fewer words are a prefix of more.
Words make_synthetic_words(Index count, double noise, std::uint64_t seed);

}  // namespace proxbench
