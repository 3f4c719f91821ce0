#pragma once
/// Made-up data of the shape of the OCR task (see ocr.h), for tests and benchmarks without files: 26 letters,
/// words of letter.data's lengths, about 28 black pixels of 128 a letter.
///
/// Each letter is a polyline of its own through random points of the grid. A sample of it moves each point a
/// little, loses pixels and gains stray ones. The letters of a word follow a random Markov chain with uneven
/// transitions, so that transition weights matter. The registered format is synthetic_ocr_format() in
/// readers.h.

#include <cstdint>

#include "experiments/data/sequences/letters.h"

namespace proxbench {

/// `count` words, all in fold 0. noise in [0, 1): the probability that a stroke's pixel is lost; as many
/// stray pixels appear on average. Equal arguments give equal words on every platform with IEEE arithmetic
/// and the same mathematical library, and fewer words are a prefix of more.
Words make_synthetic_words(Index count, double noise, std::uint64_t seed);

}  // namespace proxbench
