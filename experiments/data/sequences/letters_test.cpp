#include "experiments/data/sequences/letters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace proxbench {
namespace {

using testing::ElementsAre;

const LetterMap kPixels{.degree2 = false};

Words two_words() {
  // "ca" with pixels {1, 3, 128} and {}, then "b" with pixel {64, 65}.
  Words words;
  Glyph c, a, b;
  for (Index pixel : {1u, 3u, 128u}) c.set(pixel);
  for (Index pixel : {64u, 65u}) b.set(pixel);
  words.letter = {'c', 'a', 'b'};
  words.glyph = {c, a, b};
  words.begin = {0, 2, 3};
  words.fold = {0, 1};
  return words;
}

TEST(LetterFeatures, PairsAreNumberedRowByRowOfTheUpperTriangle) {
  Index next = 129;  // the bias and 128 pixels come first
  for (Index i = 1; i <= 128; ++i)
    for (Index j = i + 1; j <= 128; ++j) ASSERT_EQ(pair_feature(i, j), next++) << i << "*" << j;
  EXPECT_EQ(next, 8257u);
  EXPECT_EQ(LetterMap{}.size(), 8257u);
  EXPECT_EQ(kPixels.size(), 129u);
}

TEST(LetterFeatures, NamesSayWhichPixels) {
  const auto names = LetterMap{}.names();
  ASSERT_EQ(names.size(), 8257u);
  EXPECT_EQ(names[0], "bias");
  EXPECT_EQ(names[1], "p1");
  EXPECT_EQ(names[128], "p128");
  EXPECT_EQ(names[129], "p1*p2");
  EXPECT_EQ(names[255], "p1*p128");
  EXPECT_EQ(names[256], "p2*p3");
  EXPECT_EQ(names[8256], "p127*p128");
  EXPECT_EQ(kPixels.names().size(), 129u);
}

TEST(LetterDataset, HoldsBiasPixelsAndPairs) {
  const Words words = two_words();
  const std::vector<Index> all{0, 1};
  const auto vocabulary = letter_vocabulary(letters_of(words, all), LetterMap{});
  EXPECT_THAT(vocabulary->outputs, ElementsAre("a", "b", "c"));
  const Dataset data = letter_dataset(words, all, LetterMap{}, vocabulary, "two words");
  EXPECT_THAT(data.begin, ElementsAre(0, 2, 3));
  EXPECT_THAT(data.gold, ElementsAre(2, 0, 1));
  // Computed by hand: 1*3 = 128 + 0 + 2, 1*128 = 128 + 127, 3*128 = 128 + (127 + 126) + 125.
  EXPECT_THAT(data.x.row(0), ElementsAre(0, 1, 3, 128, 130, 255, 506));
  EXPECT_THAT(data.x.row(1), ElementsAre(0));
  EXPECT_TRUE(data.x.binary());
  EXPECT_EQ(data.description, "two words");
  EXPECT_EQ(data.digest, digest_of(data));
  EXPECT_TRUE(data.notes.empty());
}

TEST(LetterDataset, PixelFeaturesHaveNoPairs) {
  const Words words = two_words();
  const std::vector<Index> all{0, 1};
  const Dataset data = letter_dataset(words, all, kPixels, letter_vocabulary("abc", kPixels), "");
  EXPECT_THAT(data.x.row(0), ElementsAre(0, 1, 3, 128));
  EXPECT_EQ(data.x.features(), 129u);
}

TEST(LetterDataset, LettersOutsideTheVocabularyAreUnknownAndCounted) {
  const Words words = two_words();
  const std::vector<Index> first{0}, second{1};
  const auto vocabulary = letter_vocabulary(letters_of(words, first), kPixels);
  EXPECT_THAT(vocabulary->outputs, ElementsAre("a", "c"));
  const Dataset data = letter_dataset(words, second, kPixels, vocabulary, "");
  EXPECT_THAT(data.gold, ElementsAre(kUnknownOutput));
  EXPECT_EQ(data.notes.at("unknown labels"), 1u);
}

}  // namespace
}  // namespace proxbench
