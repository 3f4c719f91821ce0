#include "experiments/data/sequences/letters.h"

#include <fmt/format.h>

#include <utility>

namespace proxbench {
namespace {

constexpr std::size_t kLetters = 26;

/// Adds the features of one glyph in ascending order, which the builder takes as they come.
void add_features(const Glyph& glyph, LetterFeatures map, bool bias, DesignMatrix::Builder& builder) {
  std::array<Index, kGridPixels> on;
  std::size_t n = 0;
  for (Index pixel = 1; pixel <= kGridPixels; ++pixel)
    if (glyph.on(pixel)) on[n++] = pixel;

  if (bias) builder.add(0, 1.0);
  for (std::size_t i = 0; i < n; ++i) builder.add(on[i], 1.0);
  if (map == LetterFeatures::kPixels) return;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) builder.add(pair_feature(on[i], on[j]), 1.0);
}

}  // namespace

OptionSpec letter_features_option() {
  OptionSpec spec{
      "features", OptionType::kString, "degree2",
      "pixels: bias and 128 pixels (J = 129); degree2: also all products of two pixels (J = 8257)"};
  spec.choices = {"pixels", "degree2"};
  return spec;
}

LetterFeatures letter_features(const Options& options) {
  return options.string("features") == "pixels" ? LetterFeatures::kPixels : LetterFeatures::kDegree2;
}

std::vector<std::string> letter_feature_names(LetterFeatures map, bool ends) {
  std::vector<std::string> names{"bias"};
  names.reserve(letter_feature_count(map, ends));
  for (Index i = 1; i <= kGridPixels; ++i) names.push_back(fmt::format("p{}", i));
  if (map == LetterFeatures::kDegree2)
    for (Index i = 1; i <= kGridPixels; ++i)
      for (Index j = i + 1; j <= kGridPixels; ++j) names.push_back(fmt::format("{}*{}", names[i], names[j]));
  if (ends) names.insert(names.end(), {"first", "last"});
  return names;
}

std::string letters_of(const Words& words, std::span<const Index> chosen) {
  std::array<bool, kLetters> seen{};
  for (Index w : chosen)
    for (Index p = words.begin[w]; p < words.begin[w + 1]; ++p)
      seen[static_cast<std::size_t>(words.letter[p] - 'a')] = true;
  std::string letters;
  for (std::size_t k = 0; k < kLetters; ++k)
    if (seen[k]) letters += static_cast<char>('a' + k);
  return letters;
}

std::shared_ptr<const Vocabulary> letter_vocabulary(std::string_view letters, LetterFeatures map, bool ends) {
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->features = letter_feature_names(map, ends);
  for (char letter : letters) vocabulary->outputs.emplace_back(1, letter);
  return vocabulary;
}

Dataset letter_dataset(const Words& words, std::span<const Index> chosen, LetterFeatures map,
                       std::shared_ptr<const Vocabulary> vocabulary, std::string description, bool bias,
                       bool ends) {
  std::array<Index, kLetters> output;
  output.fill(kUnknownOutput);
  for (std::size_t k = 0; k < vocabulary->outputs.size(); ++k)
    output[static_cast<std::size_t>(vocabulary->outputs[k][0] - 'a')] = static_cast<Index>(k);

  Dataset data;
  DesignMatrix::Builder builder;
  std::uint64_t unknown = 0;
  const Index first =
      letter_feature_count(map);  // the feature of a word's first letter, before that of the last
  for (Index w : chosen) {
    for (Index p = words.begin[w]; p < words.begin[w + 1]; ++p) {
      add_features(words.glyph[p], map, bias, builder);
      if (ends && p == words.begin[w]) builder.add(first, 1.0);
      if (ends && p + 1 == words.begin[w + 1]) builder.add(first + 1, 1.0);
      builder.end_position();
      data.gold.push_back(output[static_cast<std::size_t>(words.letter[p] - 'a')]);
      if (data.gold.back() == kUnknownOutput) ++unknown;
    }
    data.begin.push_back(static_cast<Index>(data.gold.size()));
  }
  data.description = std::move(description);
  if (unknown > 0) data.notes["unknown labels"] = unknown;
  set_rows(data, std::move(builder), std::move(vocabulary));
  return data;
}

}  // namespace proxbench
