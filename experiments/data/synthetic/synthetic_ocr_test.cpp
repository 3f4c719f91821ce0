#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "experiments/data/sequences/letters.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

std::size_t number(char letter) {
  return static_cast<std::size_t>(letter - 'a');
}

TEST(SyntheticOcr, HasTheShapeOfTheRealTask) {
  const DataPair data = read_data("synthetic-ocr", {}, {{"words", "600"}, {"test_words", "60"}});
  EXPECT_EQ(data.oracle, "chain");
  EXPECT_EQ(data.train.instances(), 600u);
  EXPECT_EQ(data.test.instances(), 60u);
  EXPECT_EQ(data.train.outputs(), 26u);
  EXPECT_EQ(data.train.x.features(), 8257u);
  EXPECT_TRUE(data.train.x.binary());
  const double letters = static_cast<double>(data.train.positions());
  EXPECT_NEAR(letters / 600, 7.58, 0.5) << "letters a word";
  EXPECT_NEAR(static_cast<double>(data.train.x.nonzeros()) / letters, 480, 60) << "features a letter";
  for (std::size_t i = 0; i < 600; ++i) {
    const Index length = data.train.begin[i + 1] - data.train.begin[i];
    EXPECT_TRUE(length >= 3 && length <= 14) << length;
  }
}

TEST(SyntheticOcr, FollowsItsSeedAndFewerWordsAreAPrefix) {
  const Words many = make_synthetic_words(40, 0.1, 5), few = make_synthetic_words(20, 0.1, 5);
  for (std::size_t p = 0; p < few.letter.size(); ++p) {
    EXPECT_EQ(few.letter[p], many.letter[p]);
    for (Index pixel = 1; pixel <= kGridPixels; ++pixel) ASSERT_EQ(few.glyph[p][pixel], many.glyph[p][pixel]);
  }
  EXPECT_NE(make_synthetic_words(20, 0.1, 6).letter, few.letter);
}

TEST(SyntheticOcr, IsLearnableButNotTrivially) {
  // Uses an independent classifier: naive Bayes on single pixels, without transitions.
  const Words words = make_synthetic_words(2000, 0.15, 1);
  const std::size_t half = words.letter.size() / 2;
  std::array<std::array<double, kGridPixels + 1>, 26> on{};
  std::array<double, 26> count{};
  for (std::size_t p = 0; p < half; ++p) {
    ++count[number(words.letter[p])];
    for (Index pixel = 1; pixel <= kGridPixels; ++pixel)
      if (words.glyph[p][pixel]) ++on[number(words.letter[p])][pixel];
  }
  std::size_t right = 0;
  for (std::size_t p = half; p < words.letter.size(); ++p) {
    std::size_t best = 0;
    double best_score = -1e300;
    for (std::size_t k = 0; k < 26; ++k) {
      double score = std::log(count[k] + 1);
      for (Index pixel = 1; pixel <= kGridPixels; ++pixel) {
        const double share = (on[k][pixel] + 1) / (count[k] + 2);
        score += std::log(words.glyph[p][pixel] ? share : 1 - share);
      }
      if (score > best_score) {
        best = k;
        best_score = score;
      }
    }
    if (best == number(words.letter[p])) ++right;
  }
  const double accuracy = static_cast<double>(right) / static_cast<double>(words.letter.size() - half);
  RecordProperty("naive_bayes_accuracy", std::to_string(accuracy));
  EXPECT_GT(accuracy, 0.5);
  EXPECT_LT(accuracy, 0.97);
}

TEST(SyntheticOcr, TransitionsAreUneven) {
  // Mutual information of neighbouring letters in nats. It is near 0 if transitions do not matter.
  const Words words = make_synthetic_words(5000, 0.15, 1);
  std::array<std::array<double, 26>, 26> pair{};
  std::array<double, 26> left{}, right{};
  double n = 0;
  for (Index w = 0; w < words.size(); ++w)
    for (Index p = words.begin[w] + 1; p < words.begin[w + 1]; ++p) {
      const std::size_t a = number(words.letter[p - 1]), b = number(words.letter[p]);
      ++pair[a][b];
      ++left[a];
      ++right[b];
      ++n;
    }
  double information = 0;
  for (std::size_t a = 0; a < 26; ++a)
    for (std::size_t b = 0; b < 26; ++b)
      if (pair[a][b] > 0) information += pair[a][b] / n * std::log(pair[a][b] * n / (left[a] * right[b]));
  EXPECT_GT(information, 0.4);
}

TEST(SyntheticOcr, TakesNoFiles) {
  EXPECT_EQ(error_of(
                [] {
                  read_data("synthetic-ocr", {{"x"}, {}, ""});
                },
                ErrorKind::kUsage),
            "format synthetic-ocr: takes no files, its data are generated");
}

}  // namespace
}  // namespace proxbench
