#include "experiments/data/sequences/letters.h"

#include <fmt/format.h>

#include <array>

namespace proxbench {
namespace {

constexpr std::size_t kLetters = 26;

std::size_t number_of(char letter) {
  return static_cast<std::size_t>(letter - 'a');
}

/// Adds the features of one glyph in ascending order, so the builder need not sort them.
void add_features(const Glyph& glyph, const LetterMap& map, DesignMatrix::Builder& builder) {
  std::array<Index, kGridPixels> on;
  std::size_t n = 0;
  for (Index pixel = 1; pixel <= kGridPixels; ++pixel)
    if (glyph[pixel]) on[n++] = pixel;

  if (map.bias) builder.add(0, 1.0);
  for (std::size_t i = 0; i < n; ++i) builder.add(on[i], 1.0);
  if (!map.degree2) return;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j) builder.add(pair_feature(on[i], on[j]), 1.0);
}

}  // namespace

OptionSpec letter_features_option() {
  return {
      .name = "features",
      .default_value = "degree2",
      .help = "pixels: bias and 128 pixels (J = 129); degree2: also all products of two pixels (J = 8257)",
      .choices = {"pixels", "degree2"}};
}

bool degree2(const Options& options) {
  return options.string("features") == "degree2";
}

std::vector<std::string> LetterMap::names() const {
  std::vector<std::string> out{"bias"};
  out.reserve(size());
  for (Index i = 1; i <= kGridPixels; ++i) out.push_back(fmt::format("p{}", i));
  for (Index i = 1; degree2 && i <= kGridPixels; ++i)
    for (Index j = i + 1; j <= kGridPixels; ++j) out.push_back(fmt::format("{}*{}", out[i], out[j]));
  if (ends) out.insert(out.end(), {"first", "last"});
  return out;
}

std::string letters_of(const Words& words, std::span<const Index> chosen) {
  std::array<bool, kLetters> seen{};
  for (Index w : chosen)
    for (Index p = words.begin[w]; p < words.begin[w + 1]; ++p) seen[number_of(words.letter[p])] = true;
  std::string letters;
  for (char letter = 'a'; letter <= 'z'; ++letter)
    if (seen[number_of(letter)]) letters += letter;
  return letters;
}

std::shared_ptr<const Vocabulary> letter_vocabulary(std::string_view letters, const LetterMap& map) {
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->features = map.names();
  for (char letter : letters) vocabulary->outputs.emplace_back(1, letter);
  return vocabulary;
}

Dataset letter_dataset(const Words& words, std::span<const Index> chosen, const LetterMap& map,
                       std::shared_ptr<const Vocabulary> vocabulary, std::string description) {
  std::array<Index, kLetters> output;
  output.fill(kUnknownOutput);
  for (std::size_t k = 0; k < vocabulary->outputs.size(); ++k)
    output[number_of(vocabulary->outputs[k][0])] = static_cast<Index>(k);

  Dataset data;
  DesignMatrix::Builder builder;
  for (Index w : chosen) {
    for (Index p = words.begin[w]; p < words.begin[w + 1]; ++p) {
      add_features(words.glyph[p], map, builder);
      if (map.ends && p == words.begin[w]) builder.add(map.size() - 2, 1.0);
      if (map.ends && p + 1 == words.begin[w + 1]) builder.add(map.size() - 1, 1.0);
      builder.end_position();
      data.gold.push_back(output[number_of(words.letter[p])]);
      if (data.gold.back() == kUnknownOutput) ++data.notes["unknown labels"];
    }
    data.begin.push_back(static_cast<Index>(data.gold.size()));
  }
  data.description = std::move(description);
  set_rows(data, std::move(builder), std::move(vocabulary));
  return data;
}

}  // namespace proxbench
