#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/base/random.h"
#include "experiments/data/readers.h"
#include "experiments/data/sequences/test_crfsuite.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

DataPair read(const std::string& train, const std::string& test = "") {
  return read_texts("crfsuite", train, test);
}

std::string error_in(const std::string& text) {
  return error_in_text("crfsuite", text);
}

/// Returns the values of the features at a position, by name.
std::map<std::string, double> features_at(const Dataset& data, Index position) {
  std::map<std::string, double> out;
  const auto row = data.x.row(position);
  for (std::size_t i = 0; i < row.size(); ++i)
    out[data.vocabulary->features[row[i]]] = data.x.binary() ? 1.0 : data.x.row_values(position)[i];
  return out;
}

TEST(Crfsuite, ReadsSequencesWithNamesInOrderOfAppearance) {
  const DataPair data = read("B-NP\tw=the\tpos=DT\nI-NP\tw=cat\tpos=NN\n\n\nB-VP\tpos=VB\tw=sat\n");
  EXPECT_EQ(data.oracle, "chain");
  EXPECT_THAT(data.train.begin, ElementsAre(0, 2, 3))
      << "two empty lines end one sequence; the last lacks its one";
  EXPECT_THAT(data.train.gold, ElementsAre(0, 1, 2));
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("B-NP", "I-NP", "B-VP"));
  EXPECT_THAT(data.train.vocabulary->features,
              ElementsAre("w=the", "pos=DT", "w=cat", "pos=NN", "pos=VB", "w=sat"));
  EXPECT_TRUE(data.train.x.binary());
  EXPECT_THAT(data.train.x.row(2), ElementsAre(4, 5)) << "and no bias";
  EXPECT_EQ(data.test.instances(), 0u);
  EXPECT_EQ(data.train.digest, digest_of(data.train));
}

TEST(Crfsuite, ReadsValuesAndSumsRepeatedAttributes) {
  const DataPair data = read("A\tx:0.5\ty:-2e-3\tx:0.25\tz\tzero:0\n");
  EXPECT_THAT(features_at(data.train, 0),
              UnorderedElementsAre(Pair("x", 0.75), Pair("y", -0.002), Pair("z", 1.0)));
  EXPECT_EQ(data.train.x.features(), 4u) << "an attribute seen only with value 0 is an attribute";
}

TEST(Crfsuite, UndoesItsTwoEscapesOnly) {
  const DataPair data = read("a\\:b\tw=\\:\tp=\\\\:2\tq\\n\ttail\\\t\\\\\\::0.5\n");
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("a:b"));
  EXPECT_THAT(features_at(data.train, 0),
              UnorderedElementsAre(Pair("w=:", 1.0), Pair("p=\\", 2.0), Pair("q\\n", 1.0),
                                   Pair("tail\\", 1.0), Pair("\\:", 0.5)));
}

TEST(Crfsuite, HashIsNoCommentAndColonsStayInLabels) {
  const DataPair data = read("#\tw=#\t#\n:\tx\n::\tx\n$\tw=a b\n''\n");
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("#", ":", "::", "$", "''"));
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("w=#", "#", "x", "w=a b"));
  EXPECT_THAT(data.train.x.row(4), IsEmpty()) << "a label alone is a position without attributes";
}

TEST(Crfsuite, SkipsEmptyFieldsAndTakesCrLf) {
  const DataPair data = read("A\t\tx\t\r\n\r\nB\ty\r\n");
  EXPECT_THAT(data.train.begin, ElementsAre(0, 1, 2));
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("x", "y"));
}

TEST(Crfsuite, UnseenNamesInTestDataAddNoDimensionAndAreCounted) {
  const DataPair data = read("A\tx\nB\ty:2\n", "B\tx\tnew\tnew\nC\tother:3\ty:4\n\nC\tx\n");
  EXPECT_EQ(data.test.vocabulary, data.train.vocabulary);
  EXPECT_EQ(data.test.x.features(), 2u);
  EXPECT_THAT(data.test.gold, ElementsAre(1, kUnknownOutput, kUnknownOutput));
  EXPECT_THAT(data.test.unknown_gold, ElementsAre(Pair(1, "C"), Pair(2, "C")));
  EXPECT_THAT(features_at(data.test, 1), ElementsAre(Pair("y", 4.0)));
  EXPECT_THAT(data.test.notes,
              UnorderedElementsAre(Pair("unknown attributes", 3), Pair("distinct unknown attributes", 2),
                                   Pair("unknown labels", 2)));
  EXPECT_THAT(data.train.notes, IsEmpty());
}

TEST(Crfsuite, SeveralFilesAreOneDataSetAndFilesEndSequences) {
  const TempFile one("A\tx\n"), two(gzipped("B\ty\n"), "b.gz");
  const DataPair data = read_data("crfsuite", {{one.path(), two.path()}, {}, ""});
  EXPECT_THAT(data.train.begin, ElementsAre(0, 1, 2));
  const auto name = [](const auto& file) { return std::filesystem::path(file.path()).filename().string(); };
  EXPECT_EQ(data.train.description, name(one) + ", " + name(two) + ": 2 sequences, 2 positions");
}

TEST(Crfsuite, ValuesMustBeFiniteNumbers) {
  const std::string expected = ", expected a finite real number (a colon inside a name is written \\:)";
  EXPECT_EQ(error_in("A\tx\n\nB\ty:nan\n"), "3: found value 'nan' of attribute 'y'" + expected);
  EXPECT_EQ(error_in("A\ty:inf\n"), "1: found value 'inf' of attribute 'y'" + expected);
  EXPECT_EQ(error_in("A\ty:-INF\n"), "1: found value '-INF' of attribute 'y'" + expected);
  EXPECT_EQ(error_in("A\ty:1e999\n"), "1: found value '1e999' of attribute 'y'" + expected);
  EXPECT_EQ(error_in("A\ty:\n"), "1: found value '' of attribute 'y'" + expected);
  EXPECT_EQ(error_in("A\ty:1:2\n"), "1: found value '1:2' of attribute 'y'" + expected);
  EXPECT_EQ(error_in("A\tw=::1\n"), "1: found value ':1' of attribute 'w='" + expected);
  EXPECT_EQ(
      error_in("A\tx:1e308\tx:1e308\n"),
      "1: found a repeated attribute whose values sum to no finite number, expected values with finite sums");
}

TEST(Crfsuite, MalformedLinesAreErrors) {
  EXPECT_EQ(error_in("A\t:1\n"),
            "1: found attribute ':1' without a name, expected attribute or attribute:value");
  EXPECT_EQ(error_in("A\tx\n\tx\n"), "2: found an empty label, expected label TAB attribute[:value] TAB ...");
  EXPECT_EQ(
      error_in("A\tx\n  \nB\tx\n"),
      "2: found a line of white space, expected label TAB attributes, or an empty line after a sequence");
  EXPECT_EQ(error_in("@weight:2\nA\tx\n"),
            "1: found '@weight:2', expected a label (instance weights are not supported)");
}

TEST(Crfsuite, DataWithoutPositionsAreErrors) {
  const TempFile empty(""), blank("\n\n"), good("A\tx\n");
  EXPECT_EQ(error_of([&] {
              read_data("crfsuite", {{empty.path()}, {}, ""});
            }),
            empty.path() + ": found an empty file, expected label TAB attribute[:value] TAB ...");
  EXPECT_EQ(error_of([&] {
              read_data("crfsuite", {{blank.path()}, {}, ""});
            }),
            blank.path() + ":2: found only empty lines, expected label TAB attribute[:value] TAB ...");
  EXPECT_THAT(error_of([&] {
                read_data("crfsuite", {{good.path()}, {empty.path()}, ""});
              }),
              HasSubstr("found an empty file"));
  EXPECT_THAT(error_of([&] {
                read_data("crfsuite", {{"/nowhere.txt"}, {}, ""});
              }),
              HasSubstr("/nowhere.txt: found no such file"));
}

TEST(Crfsuite, RandomDataReadBackTheSame) {
  Random random(3);
  const std::string alphabet = "ab:\\ =#\xC3\xA9";
  Dataset data;
  Vocabulary vocabulary;
  for (int j = 0; j < 30; ++j) {
    std::string name = std::to_string(j);
    for (int c = 0; c < 6; ++c) name += alphabet[random.below(alphabet.size())];
    vocabulary.features.push_back(name);
  }
  vocabulary.outputs = {"B:x", "\\", "#", "I\\:"};
  DesignMatrix::Builder builder;
  for (int i = 0; i < 40; ++i) {
    for (std::uint64_t n = 1 + random.below(5); n > 0; --n) {
      for (Index j = 0; j < 30; ++j)
        if (random.below(4) == 0) builder.add(j, random.below(3) == 0 ? 1.0 : std::exp(40 * random.normal()));
      builder.end_position();
      data.gold.push_back(static_cast<Index>(random.below(4)));
    }
    data.begin.push_back(static_cast<Index>(data.gold.size()));
  }
  data.x = std::move(builder).build(30);
  data.vocabulary = std::make_shared<Vocabulary>(vocabulary);

  const Dataset back = read(crfsuite_text(data)).train;
  EXPECT_EQ(back.begin, data.begin);
  ASSERT_EQ(back.positions(), data.positions());
  for (Index p = 0; p < data.positions(); ++p) {
    EXPECT_EQ(back.vocabulary->outputs[back.gold[p]], vocabulary.outputs[data.gold[p]]);
    EXPECT_EQ(features_at(back, p), features_at(data, p)) << "position " << p << ", to the last bit";
  }
}

}  // namespace
}  // namespace proxbench
