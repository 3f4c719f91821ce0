#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "experiments/data/documents/documents.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

DataPair read(const std::string& train, const std::string& test = "", const Settings& options = {}) {
  return read_texts("libsvm", train, test, options);
}

std::string error_in(const std::string& text, const Settings& options = {}) {
  return error_in_text("libsvm", text, options);
}

TEST(Libsvm, EachLineIsOneInstanceOfAFlatTree) {
  const DataPair data = read("+1 3:1 1:0.5\n-1 2:-4 \n\n1 3:2\n");
  EXPECT_EQ(data.oracle, "tree");
  EXPECT_EQ(data.train.hierarchy, nullptr);
  EXPECT_THAT(data.train.begin, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("-1", "1"));
  EXPECT_THAT(data.train.gold, ElementsAre(1, 0, 1));
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("1", "2", "3"));
  EXPECT_THAT(data.train.x.row(0), ElementsAre(0, 2));
  EXPECT_THAT(data.train.x.row_values(0), ElementsAre(0.5, 1.0));
  EXPECT_THAT(data.train.notes, IsEmpty());
  EXPECT_EQ(data.train.digest, digest_of(data.train));
}

TEST(Libsvm, LabelsAreNumbersWhereAllOfThemAre) {
  EXPECT_THAT(read("10 1:1\n9 1:1\n-2 1:1\n2.5 1:1\n9.0 1:1\n").train.vocabulary->outputs,
              ElementsAre("-2", "2.5", "9", "10"));
  const DataPair named = read("10 1:1\nspam 1:1\n9 1:1\n");
  EXPECT_THAT(named.train.vocabulary->outputs, ElementsAre("10", "spam", "9")) << "in order of appearance";
  EXPECT_EQ(canonical_label("+1"), "1");
  EXPECT_EQ(canonical_label("1.000"), "1");
  EXPECT_EQ(canonical_label("-0"), "0");
  EXPECT_EQ(canonical_label("-0.0"), "0");
  EXPECT_EQ(canonical_label("1e2"), "100");
  EXPECT_EQ(canonical_label("0.50"), "0.5");
  EXPECT_EQ(canonical_label("9007199254740993"), "9007199254740993") << "more than a double holds";
  EXPECT_EQ(canonical_label("nan"), "nan");
  EXPECT_EQ(canonical_label("a b"), "a b");
}

TEST(Libsvm, WhatTrainingLacksIsCounted) {
  const DataPair data = read("1 1:1 2:0\n2 3:1\n1\n", "+2 1:1 7:1 8:1\n3 3:1\n1 7:2\n");
  EXPECT_THAT(data.train.notes,
              UnorderedElementsAre(Pair("zero values", 1), Pair("documents without features", 1)));
  EXPECT_THAT(data.test.gold, ElementsAre(1, kUnknownOutput, 0));
  EXPECT_THAT(data.test.notes,
              UnorderedElementsAre(Pair("unknown attributes", 3), Pair("distinct unknown attributes", 2),
                                   Pair("unknown labels", 1), Pair("documents without features", 1)));
}

TEST(Libsvm, ABiasIsOneMoreFeature) {
  const DataPair data = read("1 1:3\n2\n", "1 1:1\n", {{"bias", "0.5"}});
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("bias", "1"));
  EXPECT_THAT(data.train.x.row_values(0), ElementsAre(0.5, 3.0));
  EXPECT_THAT(data.train.x.row_values(1), ElementsAre(0.5));
  EXPECT_THAT(data.train.notes, UnorderedElementsAre(Pair("documents without features", 1)));
  EXPECT_THAT(data.test.x.row_values(0), ElementsAre(0.5, 1.0));
  EXPECT_EQ(error_of(
                [] {
                  read("1 1:3\n", "", {{"bias", "-1"}});
                },
                ErrorKind::kUsage),
            "option bias = -1: expected a finite real, 0 <= bias");
}

TEST(Libsvm, ScaleDividesByTheLargestAbsoluteValue) {
  const DataPair data = read("1 1:-8 2:1\n2 1:2 2:4\n", "1 1:16\n", {{"scale", "max"}, {"bias", "3"}});
  EXPECT_THAT(data.train.x.row_values(0), ElementsAre(3.0, -1.0, 0.25)) << "the bias stays as it is";
  EXPECT_THAT(data.train.x.row_values(1), ElementsAre(3.0, 0.25, 1.0));
  EXPECT_THAT(data.test.x.row_values(0), ElementsAre(3.0, 2.0));
}

TEST(Libsvm, IndicesBeginWithOneUnlessToldOtherwise) {
  EXPECT_EQ(error_in("1 1:1\n1 0:1\n"),
            "2: found feature '0', expected an integer of at least 1 (or of 0 with zero_based = true)");
  EXPECT_EQ(error_in("1 -1:1\n"),
            "1: found feature '-1', expected an integer of at least 1 (or of 0 with zero_based = true)");
  EXPECT_THAT(read("1 0:1 3:1\n", "", {{"zero_based", "true"}}).train.vocabulary->features,
              ElementsAre("0", "3"));
  EXPECT_EQ(error_in("1 -1:1\n", {{"zero_based", "true"}}),
            "1: found feature '-1', expected an integer of at least 0");
  EXPECT_EQ(error_in("1 0:1 0:1\n", {{"zero_based", "true"}}),
            "1: found feature 0 a second time, expected each feature once a line");
}

TEST(Libsvm, MalformedLinesAreErrors) {
  EXPECT_EQ(error_in("1\n2\n", {{"bias", "1"}}),
            " found no feature in any training document, expected some features to train on");
  EXPECT_EQ(error_in("1 2:1 1:1 2:3\n"),
            "1: found feature 2 a second time, expected each feature once a line");
  EXPECT_EQ(error_in("1 2\n"), "1: found '2', expected feature:value");
  EXPECT_EQ(error_in("1 2:x\n"), "1: found value 'x' of feature 2, expected a finite real number");
  EXPECT_EQ(error_in("1 2:1e999\n"), "1: found value '1e999' of feature 2, expected a finite real number");
  EXPECT_EQ(error_in("2:1 3:1\n"),
            "1: found '2:1' in place of the label, expected label index:value index:value ...");
  EXPECT_EQ(error_in("2,5 3:1\n"),
            "1: found labels '2,5', expected one label a line (--format arff reads sets of labels)");
  EXPECT_EQ(error_in(""), " found an empty file, expected label index:value index:value ...");
}

TEST(Libsvm, TestFilesShareAFeatureWithTrainingAndThereIsNoHierarchy) {
  const TempFile train("1 1:1\n"), test("1 2:1\n");
  EXPECT_EQ(error_of([&] {
              read_data("libsvm", {{train.path()}, {test.path()}, ""}, {{"bias", "1"}});
            }),
            test.path() +
                ": found no feature that the training data have, expected test data for the same features");
  EXPECT_EQ(error_of(
                [&] {
                  read_data("libsvm", {{train.path()}, {}, "cat_hier.txt"});
                },
                ErrorKind::kUsage),
            "format libsvm: takes no hierarchy, found 'cat_hier.txt'");
}

TEST(Libsvm, DescriptionsNameFilesWithoutFolders) {
  const TempFile train("1 1:1\n2 1:2\n");
  const auto name = std::filesystem::path(train.path()).filename().string();
  EXPECT_EQ(read_data("libsvm", {{train.path()}, {}, ""}).train.description,
            name + ": 2 documents, 1 features, 2 labels");
  EXPECT_EQ(
      read_data("libsvm", {{train.path()}, {}, ""}, {{"scale", "max"}, {"bias", "0.5"}}).train.description,
      name + ": 2 documents, 2 features, 2 labels, values divided by their maximum, bias 0.5");
}

TEST(LibsvmRealData, HasTheCountsOfA9a) {
  PROXBENCH_NEED_DATA(train, "libsvm/a9a.gz");
  PROXBENCH_NEED_DATA(test, "libsvm/a9a.t.gz");
  const DataPair data = read_data("libsvm", {{train}, {test}, ""});
  EXPECT_EQ(data.train.instances(), 32561u);
  EXPECT_EQ(data.test.instances(), 16281u);
  EXPECT_EQ(data.train.x.features(), 123u);
  EXPECT_TRUE(data.train.x.binary());
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("-1", "1"));
  // Counted with awk: lines that begin with +1, and fields that contain a colon.
  EXPECT_EQ(std::count(data.train.gold.begin(), data.train.gold.end(), 1u), 7841);
  EXPECT_EQ(data.train.x.nonzeros(), 451592u);
  EXPECT_THAT(data.test.notes, IsEmpty());
}

TEST(Libsvm, HashBeginsAComment) {
  const DataPair data =
      read_texts("libsvm", "# comment: 1\n1 1:1 # tail 7:1\n  # 1 9:1\n2 2:1#\n", "2 2:1 # x\n# y\n");
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("1", "2"));
  EXPECT_EQ(data.train.positions(), 2u);
  EXPECT_EQ(data.test.positions(), 1u);
  EXPECT_THAT(data.train.warnings, testing::IsEmpty());
  EXPECT_EQ(
      error_in_text("libsvm", "1 qid:3 1:1\n"),
      "1: found qid, the query of a ranking problem, expected feature:value (--format rerank reads groups of "
      "candidates)");
  EXPECT_EQ(error_in_text("libsvm", "C# 1:1\nC 2:1\n"),
            "1: found '#' inside the label 'C#', expected a blank before a comment");
}

/// The number of entries of each document of a test text that may lack labels.
std::vector<std::size_t> documents_in(const std::string& text, TestLabels labels) {
  const TempFile train("1 1:1\n2 2:1\n"), test(text);
  const DataPair data = read_data("libsvm", {{train.path()}, {test.path()}, "", labels});
  std::vector<std::size_t> out;
  for (Index p = 0; p < data.test.positions(); ++p) out.push_back(data.test.x.row(p).size());
  return out;
}

TEST(Libsvm, EmptyLinesOfTextWithoutLabelsAreDocuments) {
  for (const TestLabels labels : {TestLabels::kIfAny, TestLabels::kNone}) {
    EXPECT_THAT(documents_in("1:1\n\n\n2:1\n", labels), ElementsAre(1, 0, 0, 1));
    EXPECT_THAT(documents_in("\n# a comment\n\n1:1\n\n", labels), ElementsAre(0, 0, 1, 0));
  }
  EXPECT_THAT(documents_in("\n1 1:1\n\n2 2:1\n\n", TestLabels::kIfAny), ElementsAre(1, 1))
      << "these have labels";
}

}  // namespace
}  // namespace proxbench
