/// Generated data similar to the OCR task (see ocr.cpp), for tests and benchmarks without files: 26 letters,
/// words as long as those of letter.data, and about 28 black pixels of 128 per letter.
///
/// Each letter is a polyline through random points of the grid. A sample of the letter moves each point a
/// little, loses some pixels and gains stray ones. The letters of a word follow a random Markov chain with
/// uneven transitions, so transition weights matter.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/random.h"
#include "experiments/data/sequences/letters.h"
#include "experiments/data/synthetic/synthetic.h"

namespace proxbench {
namespace {

constexpr std::size_t kAlphabet = 26;

/// How many of the 6,877 words of letter.data have 3, 4, ..., 14 letters. The mean length is 7.58.
constexpr std::size_t kShortestWord = 3;
constexpr std::array<double, 12> kLengthCounts{1283, 0, 568, 768, 695, 750, 1047, 584, 304, 298, 313, 267};

constexpr double kNoise = 0.15;               ///< probability that a pixel of a letter is lost
constexpr std::size_t kPrototypePixels = 28;  ///< minimum black pixels of a letter without wobble and noise
constexpr double kWobble = 0.8;               ///< standard deviation of a point's move, in pixels
constexpr double kTransitionSpread = 1.5;     ///< standard deviation of the log of transition weights

/// Draws k with probability weights[k] / sum.
template <class Weights>
std::size_t draw(const Weights& weights, Random& random) {
  double left = random.uniform() * std::accumulate(weights.begin(), weights.end(), 0.0);
  std::size_t k = 0;
  while (k + 1 < weights.size() && left >= weights[k]) left -= weights[k++];
  return k;
}

struct Point {
  double row, column;
};
using Polyline = std::vector<Point>;

void set_if_inside(double row, double column, Glyph& glyph) {
  const double r = std::round(row), c = std::round(column);
  if (r >= 0 && r < kGridRows && c >= 0 && c < kGridColumns)
    glyph.set(1 + static_cast<Index>(r) * kGridColumns + static_cast<Index>(c));
}

Glyph drawn(const Polyline& line) {
  Glyph glyph;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const Point &from = line[i], &to = line[i + 1];
    const double steps =
        std::max(1.0, std::ceil(std::max(std::abs(to.row - from.row), std::abs(to.column - from.column))));
    for (double s = 0; s <= steps; ++s)
      set_if_inside(from.row + (to.row - from.row) * s / steps,
                    from.column + (to.column - from.column) * s / steps, glyph);
  }
  return glyph;
}

Polyline random_letter(Random& random) {
  Polyline line;
  do {
    const double row = random.uniform() * (kGridRows - 1);
    line.push_back({row, random.uniform() * (kGridColumns - 1)});
  } while (drawn(line).count() < kPrototypePixels);
  return line;
}

/// The random letters and the Markov chain from which words are drawn.
struct MadeUpWords {
  std::array<Polyline, kAlphabet> letter;
  std::array<double, kAlphabet> first;
  std::array<std::array<double, kAlphabet>, kAlphabet> next;

  explicit MadeUpWords(Random& random) {
    for (Polyline& line : letter) line = random_letter(random);
    for (double& weight : first) weight = std::exp(kTransitionSpread * random.normal());
    for (auto& row : next)
      for (double& weight : row) weight = std::exp(kTransitionSpread * random.normal());
  }
};

Glyph sample(const Polyline& letter, double noise, Random& random) {
  Polyline moved = letter;
  for (Point& point : moved) {
    point.row += kWobble * random.normal();
    point.column += kWobble * random.normal();
  }
  const Glyph clean = drawn(moved);
  const auto black = static_cast<double>(clean.count());
  const double stray = noise * black / (kGridPixels - black);
  Glyph out;
  for (Index pixel = 1; pixel <= kGridPixels; ++pixel)
    if (random.uniform() < (clean[pixel] ? 1.0 - noise : stray)) out.set(pixel);
  return out;
}

DataPair read_synthetic_ocr(const DataFiles&, const Options& options) {
  const Index train = count_of(options, "words"), test = count_of(options, "test_words");
  const LetterMap map{.degree2 = degree2(options)};
  const Words words = make_synthetic_words(train + test, kNoise, seed_of(options));
  const auto vocabulary = letter_vocabulary("abcdefghijklmnopqrstuvwxyz", map);
  const auto describe = [&](Index count) {
    return fmt::format("synthetic OCR: {} words, {} features, noise {}, seed {}", count,
                       options.string("features"), kNoise, options.integer("seed"));
  };

  const std::vector<Index> all = first_indices(words.size());
  return {letter_dataset(words, std::span(all).first(train), map, vocabulary, describe(train)),
          letter_dataset(words, std::span(all).subspan(train), map, vocabulary, describe(test)), "chain"};
}

}  // namespace

Words make_synthetic_words(Index count, double noise, std::uint64_t seed) {
  Random random(seed);
  const MadeUpWords model(random);
  Words words;
  for (Index w = 0; w < count; ++w) {
    const std::size_t length = kShortestWord + draw(kLengthCounts, random);
    std::size_t letter = 0;
    for (std::size_t i = 0; i < length; ++i) {
      letter = draw(i == 0 ? model.first : model.next[letter], random);
      words.letter.push_back(static_cast<char>('a' + letter));
      words.glyph.push_back(sample(model.letter[letter], noise, random));
    }
    words.begin.push_back(static_cast<Index>(words.letter.size()));
    words.fold.push_back(0);
  }
  return words;
}

DataFormatInfo synthetic_ocr_format() {
  return with_reader(
      {.name = "synthetic-ocr",
       .help = "generated words of the shape of the OCR data (26 letters, 128 pixels); needs no files",
       .source = "generated; word lengths as in letter.data",
       .needs_files = false,
       .options = {letter_features_option(),
                   {"words", OptionType::kInt, "6216", "training words", 1, 1e7},
                   {"test_words", OptionType::kInt, "661", "test words", 0, 1e7},
                   {"seed", OptionType::kInt, "1", "seed of letters, words and noise", 0}},
       .oracle = "chain"},
      read_synthetic_ocr);
}

}  // namespace proxbench
