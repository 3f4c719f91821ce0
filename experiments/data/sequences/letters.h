#pragma once
/// Words of handwritten letters and their feature maps (Zhong et al. 2014, section 6.1). Each letter is a
/// grid of black and white pixels. For the formats `ocr` and `synthetic-ocr`.

#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>

#include "experiments/data/files.h"

namespace proxbench {

inline constexpr Index kGridRows = 16, kGridColumns = 8, kGridPixels = kGridRows * kGridColumns;

/// The pixels of one letter, numbered 1..kGridPixels row by row as in the feature names.
using Glyph = std::bitset<kGridPixels + 1>;

/// Word i holds the letters [begin[i], begin[i+1]).
struct Words {
  std::vector<Index> begin{0};     ///< size words + 1
  std::vector<std::int64_t> fold;  ///< of each word
  std::vector<char> letter;        ///< 'a'..'z', of each letter
  std::vector<Glyph> glyph;        ///< of each letter

  Index size() const { return static_cast<Index>(begin.size() - 1); }
};

/// Appends the words of a file of the format `ocr`. Throws Error (kInput) with file, line, found and expected
/// if the file is missing, empty or malformed. Checks the number of fields, integers, letters, pixels, and
/// that letters link up to words.
void read_letter_data(const std::string& path, Words& words);

/// Makes `count` words, all in fold 0, for `synthetic-ocr`. `noise` in [0, 1) is the probability that a pixel
/// of a stroke is lost. On average, an equal number of stray pixels appears. Equal arguments give equal words
/// on every platform with IEEE arithmetic and the same mathematical library. A smaller `count` gives the
/// first of these words.
Words make_synthetic_words(Index count, double noise, std::uint64_t seed);

/// The number of the feature p_i*p_j, 1 <= i < j <= kGridPixels: kGridPixels + sum_{k<i} (kGridPixels - k) +
/// (j - i). Feature 0 is the bias, and feature i is pixel i.
constexpr Index pair_feature(Index i, Index j) {
  return kGridPixels + (i - 1) * kGridPixels - i * (i - 1) / 2 + (j - i);
}

/// The features of a letter: the bias and its pixels (J = 129), and optional ones.
struct LetterMap {
  bool degree2 = true;  ///< adds the products of two different pixels: J = 8257
  bool ends = false;    ///< adds two features at the end: for a word's first and last letter
  bool bias = true;     ///< false: feature 0 keeps its number but is never on

  /// J.
  Index size() const {
    return 1 + (degree2 ? pair_feature(kGridPixels - 1, kGridPixels) : kGridPixels) + (ends ? 2 : 0);
  }
  /// "bias", "p1".."p128", "p1*p2", "p1*p3", ..., "p127*p128", "first", "last".
  std::vector<std::string> names() const;
};

/// The option `features`. degree2() returns whether the choice has products.
OptionSpec letter_features_option();
bool degree2(const Options& options);

/// Returns the letters that occur in the chosen words, each once, from a to z.
std::string letters_of(const Words& words, std::span<const Index> chosen);

/// Makes a vocabulary of the features, with one output for each of `letters`.
std::shared_ptr<const Vocabulary> letter_vocabulary(std::string_view letters, const LetterMap& map);

/// Makes a data set, with its digest, of the chosen words in that order. A letter that is not in the
/// vocabulary becomes kUnknownOutput and is counted in the note "unknown labels".
Dataset letter_dataset(const Words& words, std::span<const Index> chosen, const LetterMap& map,
                       std::shared_ptr<const Vocabulary> vocabulary, std::string description);

}  // namespace proxbench
