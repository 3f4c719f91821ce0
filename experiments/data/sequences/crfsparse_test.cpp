#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/data/files.h"
#include "experiments/data/sequences/named_sequences.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_in(const std::string& text, const std::string& label_file = "") {
  return error_in_text("crfsparse", text, {{"template", label_file}});
}

std::string template_error(const std::string& text) {
  const TempFile file(text);
  const std::string message = error_of([&] { read_label_template(LineReader(file.path())); });
  return message.substr(std::min(message.size(), file.path().size() + 1));
}

TEST(Crfsparse, AModelHoldsTheTextOfTheTemplate) {
  const TempFile labels("label: O B\n\nunigram: 1"), data("B 1:1\n");
  Options options(data_format_registry().find("crfsparse").options);
  options.set("template", labels.path());
  for (const auto& [name, text] : options_with_texts(options)) {
    EXPECT_EQ(name, "template");
    EXPECT_EQ(text, "label: O B\n\nunigram: 1\n");
    EXPECT_EQ(read_data("crfsparse", {{data.path()}, {}, ""}, {{name, text}}).train.vocabulary->outputs,
              (std::vector<std::string>{"O", "B"}));
  }
}

TEST(Crfsparse, ReadsSequencesOfNumberedFeatures) {
  const TempFile train("o 26:1 7:0.5 \nm 7:1\n \no  026:2\n"), test("q 26:1 99:1\nm 7:3\n");
  const DataPair data = read_data("crfsparse", {{train.path()}, {test.path()}, ""});
  EXPECT_EQ(data.oracle, "chain");
  EXPECT_THAT(data.train.begin, ElementsAre(0, 2, 3));
  EXPECT_THAT(data.train.gold, ElementsAre(0, 1, 0));
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("o", "m"));
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("26", "7"));
  EXPECT_THAT(data.train.x.row_values(0), ElementsAre(1.0, 0.5));
  EXPECT_THAT(data.train.x.row_values(2), ElementsAre(2.0));
  EXPECT_THAT(data.test.gold, ElementsAre(kUnknownOutput, 1));
  EXPECT_EQ(data.test.notes.at("unknown attributes"), 1u);
  EXPECT_EQ(data.test.notes.at("unknown labels"), 1u);
}

TEST(Crfsparse, TheTemplateFixesTheLabels) {
  const TempFile labels("label:\nx o m\nunigram:\n0\nbigram:\n"), train("m 1:1\no 2:1\n");
  const DataPair data = read_data("crfsparse", {{train.path()}, {}, ""}, {{"template", labels.path()}});
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("x", "o", "m")) << "unused labels included";
  EXPECT_THAT(data.train.gold, ElementsAre(2, 1));
  EXPECT_EQ(error_in("m 1:1\nq 1:1\n", labels.path()),
            "2: found label 'q', expected one of the labels in " + labels.path());
}

TEST(Crfsparse, MalformedLinesAreErrors) {
  EXPECT_EQ(error_in("o 1:1\n\no 26\n"), "3: found '26', expected feature:value");
  EXPECT_EQ(error_in("o x:1\n"), "1: found feature 'x', expected an integer of at least 0");
  EXPECT_EQ(error_in("o -1:1\n"), "1: found feature '-1', expected an integer of at least 0");
  EXPECT_EQ(error_in("o 3:nan\n"), "1: found value 'nan' of feature 3, expected a finite real number");
  EXPECT_EQ(error_in("o 3:inf\n"), "1: found value 'inf' of feature 3, expected a finite real number");
  EXPECT_EQ(error_in("o 3:\n"), "1: found value '' of feature 3, expected a finite real number");
  EXPECT_EQ(error_in(""), " found an empty file, expected label feature:value feature:value ...");
}

TEST(Crfsparse, MalformedTemplatesAreErrors) {
  EXPECT_EQ(template_error("a b c\n"), "1: found 'a', expected 'label:'");
  EXPECT_EQ(template_error("label:\na b\nc a\n"),
            "3: found label 'a' a second time, expected each label once");
  EXPECT_EQ(template_error("label:\nunigram:\n0\n"), "2: found no labels, expected labels after 'label:'");
  EXPECT_EQ(template_error(""), " found an empty file, expected 'label:' and the labels");
}

TEST(Crfsparse, ATemplateWithManyLabelsTakesNoQuadraticTime) {
  constexpr std::size_t kMany = 200'000;
  std::string text = "label:\n";
  for (std::size_t i = 0; i < kMany; ++i) text += "L" + std::to_string(i) + "\n";
  EXPECT_EQ(read_label_template(LineReader(TempFile(text).path())).size(), kMany);
}

TEST(Crfsparse, WithAHierarchyItReadsDocuments) {
  const TempFile tree("1 3\n1 4\n2\n", "cat_hier.txt"), train("4 0:0.5 7:2\n2 3:-1 0:1\n"),
      test("3 7:0.25 9:1\n");
  const DataPair data = read_data("crfsparse", {{train.path()}, {test.path()}, tree.path()});
  EXPECT_EQ(data.oracle, "tree");
  EXPECT_THAT(data.train.begin, ElementsAre(0, 1, 2));
  EXPECT_THAT(data.train.gold, ElementsAre(3, 4));
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("0", "3", "7"))
      << "feature 0 is one like any other";
  EXPECT_THAT(data.train.x.row_values(0), ElementsAre(0.5, 2.0)) << "not scaled again";
  EXPECT_THAT(data.train.x.row_values(1), ElementsAre(1.0, -1.0));
  EXPECT_EQ(data.train.hierarchy->nodes(), 5u);
  EXPECT_EQ(data.test.notes.at("unknown attributes"), 1u);
  const TempFile twice("4 0:1 0:1\n"), inner("1 5:1\n");
  EXPECT_EQ(error_of([&] {
              read_data("crfsparse", {{twice.path()}, {}, tree.path()});
            }),
            twice.path() + ":1: found feature 0 a second time, expected each feature once a line");
  EXPECT_EQ(error_of([&] {
              read_data("crfsparse", {{inner.path()}, {}, tree.path()});
            }),
            inner.path() + ":1: found label '1', an inner node, expected a leaf of " + tree.path());
  EXPECT_EQ(error_of(
                [&] {
                  read_data("crfsparse", {{train.path()}, {}, tree.path()}, {{"template", "labels.txt"}});
                },
                ErrorKind::kUsage),
            "option template: for sequences, but the labels here are those of the hierarchy");
}

TEST(CrfsparseRealData, ReadsTheAuthorsDocuments) {
  PROXBENCH_NEED_DATA(tree, "lshtc1-dryrun/cat_hier.txt");
  PROXBENCH_NEED_DATA(train, "crfsparse/train.hier.20");
  PROXBENCH_NEED_DATA(test, "crfsparse/test.hier.5");
  const DataPair data = read_data("crfsparse", {{train}, {test}, tree});
  EXPECT_EQ(data.oracle, "tree");
  EXPECT_EQ(data.train.instances(), 20u);
  EXPECT_EQ(data.test.instances(), 5u);
  EXPECT_EQ(data.train.outputs(), 2388u);
  // The fields of the first and last line were counted with awk. Their labels are 29 and 771.
  EXPECT_EQ(data.train.x.row(0).size(), 100u);
  EXPECT_EQ(data.train.x.row(19).size(), 1283u);
  EXPECT_EQ(data.train.vocabulary->outputs[data.train.gold[0]], "29");
  EXPECT_EQ(data.train.vocabulary->outputs[data.train.gold[19]], "771");
  for (Index i = 0; i < 20; ++i)
    for (const double value : data.train.x.row_values(i)) EXPECT_TRUE(value > 0 && value <= 1);
}

TEST(CrfsparseRealData, TheAuthorsLettersAreTheFirstTenWordsOfLetterData) {
  PROXBENCH_NEED_DATA(letters, "ocr/letter.data.gz");
  PROXBENCH_NEED_DATA(authors, "crfsparse/ocr.deg2.100.gz");
  PROXBENCH_NEED_DATA(labels, "crfsparse/seq_label_feature_template");
  const Dataset theirs = read_data("crfsparse", {{authors}, {}, ""}, {{"template", labels}}).train;
  const Dataset ours = read_data("ocr", {{letters}, {}, ""}, {{"words", "10"}, {"split", "none"}}).train;
  ASSERT_EQ(theirs.instances(), 10u);
  ASSERT_EQ(theirs.positions(), 90u);
  EXPECT_EQ(theirs.outputs(), 26u);
  EXPECT_EQ(theirs.begin, ours.begin);
  EXPECT_TRUE(theirs.x.binary());
  for (Index p = 0; p < 90; ++p) {
    EXPECT_EQ(theirs.vocabulary->outputs[theirs.gold[p]], ours.vocabulary->outputs[ours.gold[p]]);
    std::vector<int> their_numbers, our_numbers;
    for (Index j : theirs.x.row(p)) their_numbers.push_back(std::stoi(theirs.vocabulary->features[j]));
    std::sort(their_numbers.begin(), their_numbers.end());
    for (Index j : ours.x.row(p))
      if (j > 0) our_numbers.push_back(static_cast<int>(j));  // their data have no bias
    EXPECT_EQ(their_numbers, our_numbers) << "letter " << p;
  }
}

TEST(CrfsparseRealData, ReadsTheAuthorsTestFile) {
  PROXBENCH_NEED_DATA(train, "crfsparse/ocr.deg2.100.gz");
  PROXBENCH_NEED_DATA(test, "crfsparse/ocr.deg2.t49.gz");
  const DataPair data = read_data("crfsparse", {{train}, {test}, ""});
  EXPECT_EQ(data.test.instances(), 5u);
  EXPECT_EQ(data.test.positions(), 45u) << "counted with awk: 45 lines, 4 empty ones between 5 words";
  EXPECT_GT(data.test.notes.at("unknown attributes"), 0u);
}

}  // namespace
}  // namespace proxbench
