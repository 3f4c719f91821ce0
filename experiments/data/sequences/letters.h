#pragma once
/// Words of handwritten letters, each letter a grid of black and white pixels, and their feature maps (Zhong
/// et al. 2014, section 6.1). Shared by the formats `ocr` and `synthetic-ocr`.

#include <bitset>
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
using Glyph = std::bitset<kGridPixels + 1>;

/// Word i holds the letters [begin[i], begin[i+1]).
struct Words {
  std::vector<Index> begin{0};     ///< size words + 1
  std::vector<std::int64_t> fold;  ///< one a word
  std::vector<char> letter;        ///< 'a'..'z', one a letter
  std::vector<Glyph> glyph;        ///< one a letter

  Index size() const { return static_cast<Index>(begin.size() - 1); }
};

/// Number of the feature p_i*p_j, 1 <= i < j <= kGridPixels: kGridPixels + sum_{k<i} (kGridPixels - k) + (j -
/// i). Feature 0 is the bias and feature i is pixel i.
constexpr Index pair_feature(Index i, Index j) {
  return kGridPixels + (i - 1) * kGridPixels - i * (i - 1) / 2 + (j - i);
}

/// What features a letter has: the bias and its pixels, J = 129, and those that follow.
struct LetterMap {
  bool degree2 = true;  ///< the products of two different pixels: J = 8257
  bool ends = false;    ///< two more, the last ones: of a word's first letter and of its last
  bool bias = true;     ///< false: feature 0 keeps its place and is never on

  /// J.
  Index size() const {
    return 1 + (degree2 ? pair_feature(kGridPixels - 1, kGridPixels) : kGridPixels) + (ends ? 2 : 0);
  }
  /// "bias", "p1".."p128", "p1*p2", "p1*p3", ..., "p127*p128", "first", "last".
  std::vector<std::string> names() const;
};

/// The option `features` of a table, and whether it asks for degree 2.
OptionSpec letter_features_option();
bool degree2(const Options& options);

/// The letters that occur in the chosen words, each once, from a to z.
std::string letters_of(const Words& words, std::span<const Index> chosen);

/// The names of the features, and one output for each of `letters`.
std::shared_ptr<const Vocabulary> letter_vocabulary(std::string_view letters, const LetterMap& map);

/// The chosen words, in that order, as a data set with its digest. A letter that the vocabulary lacks becomes
/// kUnknownOutput and is counted in the note "unknown labels".
Dataset letter_dataset(const Words& words, std::span<const Index> chosen, const LetterMap& map,
                       std::shared_ptr<const Vocabulary> vocabulary, std::string description);

}  // namespace proxbench
