#include "experiments/data/check_data.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/base/error.h"
#include "experiments/data/files.h"

namespace proxbench {
namespace {

/// Training and test data: two sequences of 2 and 1 positions, 2 features, 3 outputs.
DataPair sound() {
  DataPair pair;
  pair.oracle = "chain";
  const auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary{{"f", "g"}, {"A", "B", "C"}});
  for (Dataset* set : {&pair.train, &pair.test}) {
    DesignMatrix::Builder builder;
    for (Index p = 0; p < 3; ++p) {
      builder.add(p % 2, 1.0);
      builder.end_position();
    }
    set->x = std::move(builder).build(2);
    set->begin = {0, 2, 3};
    set->gold = {0, 1, 2};
    set->vocabulary = vocabulary;
  }
  pair.test.gold[1] = kUnknownOutput;
  return pair;
}

std::string error_of(const std::function<void(DataPair&)>& spoil) {
  DataPair pair = sound();
  spoil(pair);
  try {
    check_data(pair, "mine");
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::shared_ptr<const Vocabulary> names(std::vector<std::string> features, std::vector<std::string> outputs) {
  return std::make_shared<const Vocabulary>(Vocabulary{std::move(features), std::move(outputs)});
}

TEST(CheckData, LetsSoundDataPass) {
  EXPECT_EQ(error_of([](DataPair&) {}), "");
  EXPECT_EQ(error_of([](DataPair& d) { d.test = Dataset(); }), "");
  EXPECT_EQ(error_of([](DataPair& d) { d.test.vocabulary = names({"f", "g"}, {"A", "B", "C"}); }), "");
  EXPECT_EQ(error_of([](DataPair& d) {
              d.train.hierarchy = d.test.hierarchy = std::make_shared<Hierarchy>(Hierarchy::flat(3));
            }),
            "");
}

TEST(LabelWarning, IsOfLabelsThatAreTooManyOrOne) {
  DataPair pair = sound();
  EXPECT_EQ(
      label_warning(pair.train),
      "the 3 positions have 3 labels: another column or field, or a number to regress on, may have been "
      "read as the label");
  pair.train.vocabulary = names({"f", "g"}, {"A"});
  EXPECT_EQ(label_warning(pair.train).substr(0, 36), "all 3 positions have the label 'A': ");
  pair.train.hierarchy = std::make_shared<Hierarchy>(Hierarchy::flat(3));
  EXPECT_EQ(label_warning(pair.train), "") << "outputs are nodes";
  DesignMatrix::Builder builder;
  for (Index p = 0; p < 6; ++p) builder.end_position();
  pair.train.hierarchy = nullptr;
  pair.train.x = std::move(builder).build(2);
  pair.train.vocabulary = names({"f", "g"}, {"A", "B", "C"});
  EXPECT_EQ(label_warning(pair.train), "") << "half of the positions are no more than half";
}

TEST(CheckData, NamesTheFormatTheSetAndWhatDoesNotFit) {
  const std::string train = "data format mine: training data: found ",
                    test = "data format mine: test data: found ";
  EXPECT_EQ(error_of([](DataPair& d) {
              d.train.begin = {0, 2, 2, 3};
            }),
            train + "begin[2] = 2 after 2, expected ascending boundaries: each instance has a position");
  EXPECT_EQ(error_of([](DataPair& d) {
              d.train.begin = {1, 3};
            }),
            train + "begin[0] = 1, expected begin[0] = 0");
  EXPECT_EQ(error_of([](DataPair& d) { d.train.begin.clear(); }),
            train + "no boundaries of instances, expected begin[0] = 0");
  EXPECT_EQ(error_of([](DataPair& d) { d.train.gold.pop_back(); }),
            train + "2 gold outputs, expected 3, where the last instance ends");
  EXPECT_EQ(error_of([](DataPair& d) { d.train.x = DesignMatrix(); }),
            train + "X of 0 positions, expected 3, as many as gold outputs");
  EXPECT_EQ(error_of([](DataPair& d) {
              d.train.vocabulary = names({"f"}, {"A", "B", "C"});
            }),
            train + "X of 2 features, expected 1, as many as the vocabulary has");
  EXPECT_EQ(error_of([](DataPair& d) { d.train.vocabulary = nullptr; }),
            train + "no vocabulary, expected one");
  EXPECT_EQ(error_of([](DataPair& d) {
              d.train.vocabulary = names({"f", "g"}, {});
            }),
            train + "a vocabulary without outputs, expected one output or more");
  EXPECT_EQ(error_of([](DataPair& d) { d.train.gold[2] = 3; }),
            train + "gold output 3 at position 2, expected one of the 3 outputs");
  EXPECT_EQ(error_of([](DataPair& d) { d.train.gold[0] = kUnknownOutput; }),
            train + "an unknown gold output at position 0, expected one of the 3 outputs");
  EXPECT_EQ(
      error_of([](DataPair& d) { d.train.hierarchy = std::make_shared<Hierarchy>(Hierarchy::flat(4)); }),
      train + "a hierarchy of 4 nodes, expected 3, as many as the vocabulary has outputs");
  EXPECT_EQ(error_of([](DataPair& d) { d.test.gold[0] = 7; }),
            test + "gold output 7 at position 0, expected one of the 3 outputs");
  EXPECT_EQ(error_of([](DataPair& d) { d.test.gold.clear(); }),
            test + "0 gold outputs, expected 3, where the last instance ends");
  EXPECT_EQ(error_of([](DataPair& d) {
              d.test.vocabulary = names({"f", "h"}, {"A", "B", "C"});
            }),
            test + "other features, expected those of the training data");
  EXPECT_EQ(error_of([](DataPair& d) {
              d.test.vocabulary = names({"f", "g"}, {"A", "C", "B"});
            }),
            test + "other outputs, expected those of the training data");
  EXPECT_EQ(error_of([](DataPair& d) { d.test.hierarchy = std::make_shared<Hierarchy>(Hierarchy::flat(3)); }),
            test + "another hierarchy, expected that of the training data");
}

}  // namespace
}  // namespace proxbench
