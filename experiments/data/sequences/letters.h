#pragma once
/// Words of handwritten letters, each letter a grid of black and white pixels, and their feature maps (Zhong
/// et al. 2014, section 6.1). Shared by the formats `ocr` and `synthetic-ocr`.

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/data/dataset.h"

namespace proxbench {

inline constexpr Index kGridRows = 16, kGridColumns = 8, kGridPixels = kGridRows * kGridColumns;

/// The pixels of one letter, numbered 1..kGridPixels row by row as in the feature names.
class Glyph {
 public:
  bool on(Index pixel) const { return (word(pixel) >> shift(pixel) & 1) != 0; }
  void set(Index pixel) { words_[(pixel - 1) / 64] |= std::uint64_t{1} << shift(pixel); }
  void clear(Index pixel) { words_[(pixel - 1) / 64] &= ~(std::uint64_t{1} << shift(pixel)); }
  int count() const { return std::popcount(words_[0]) + std::popcount(words_[1]); }

 private:
  std::uint64_t word(Index pixel) const { return words_[(pixel - 1) / 64]; }
  static unsigned shift(Index pixel) { return (pixel - 1) % 64; }
  std::array<std::uint64_t, 2> words_{};
};

/// Word i holds the letters [begin[i], begin[i+1]).
struct Words {
  std::vector<Index> begin{0};     ///< size words + 1
  std::vector<std::int64_t> fold;  ///< one a word
  std::vector<char> letter;        ///< 'a'..'z', one a letter
  std::vector<Glyph> glyph;        ///< one a letter

  Index size() const { return static_cast<Index>(begin.size() - 1); }
};

/// kPixels: the bias and the pixels, J = 129. kDegree2: also the products of two different pixels, J = 8257.
enum class LetterFeatures { kPixels, kDegree2 };

/// The option `features`, and its value.
OptionSpec letter_features_option();
LetterFeatures letter_features(const Options& options);

/// Number of the feature p_i*p_j, 1 <= i < j <= kGridPixels: kGridPixels + sum_{k<i} (kGridPixels - k) + (j -
/// i). Feature 0 is the bias and feature i is pixel i.
constexpr Index pair_feature(Index i, Index j) {
  return kGridPixels + (i - 1) * kGridPixels - i * (i - 1) / 2 + (j - i);
}

/// J. With `ends` two more features, the last ones: of a word's first letter and of its last.
constexpr Index letter_feature_count(LetterFeatures map, bool ends = false) {
  return 1 + (map == LetterFeatures::kPixels ? kGridPixels : pair_feature(kGridPixels - 1, kGridPixels)) +
         (ends ? 2 : 0);
}

/// "bias", "p1".."p128", for degree 2 "p1*p2", "p1*p3", ..., "p127*p128", and with `ends` "first", "last".
std::vector<std::string> letter_feature_names(LetterFeatures map, bool ends = false);

/// The letters that occur in the chosen words, each once, from a to z.
std::string letters_of(const Words& words, std::span<const Index> chosen);

/// The names of the features, and one output for each of `letters`.
std::shared_ptr<const Vocabulary> letter_vocabulary(std::string_view letters, LetterFeatures map,
                                                    bool ends = false);

/// The chosen words, in that order, as a data set with its digest. A letter that the vocabulary lacks becomes
/// kUnknownOutput and is counted in the note "unknown labels".
/// Without `bias` feature 0 keeps its place and is never on.
Dataset letter_dataset(const Words& words, std::span<const Index> chosen, LetterFeatures map,
                       std::shared_ptr<const Vocabulary> vocabulary, std::string description,
                       bool bias = true, bool ends = false);

}  // namespace proxbench
