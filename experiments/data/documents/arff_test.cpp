/// Mulan's ARFF: both kinds of rows, both ways to specify labels, and the text of each error.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/data/documents/documents.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

const std::string kHeader =
    "% made up\n"
    "@RELATION 'a b'\n"
    "\n"
    "@attribute size numeric\n"
    "@attribute 'the word' { 0, 1 }\n"
    "@Attribute red {0,1}\n"
    "@attribute \"blue\" {0,1}\n"
    "@data\n";
const Settings kTwoLast{{"label_count", "2"}, {"bias", "0"}};

DataPair read(const std::string& rows, const Settings& options = kTwoLast) {
  return read_texts("arff", kHeader + rows, "", options);
}

std::string error_in(const std::string& rows) {
  return error_in_text("arff", kHeader + rows, kTwoLast);
}

TEST(Arff, ReadsDenseAndSparseRows) {
  const DataPair data = read("2.5,1,0,1\n% a comment\n{0 -1, 2 1}\n{}\n{1 1,2 1,3 1}\n");
  EXPECT_EQ(data.oracle, "labels");
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("size", "the word"));
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("red", "blue"));
  ASSERT_EQ(data.train.instances(), 4u);
  EXPECT_EQ(data.train.positions(), 4u);
  EXPECT_EQ(data.train.prediction_size(), 8u);
  EXPECT_THAT(data.train.x.row(0), ElementsAre(0, 1));
  EXPECT_THAT(data.train.x.row_values(0), ElementsAre(2.5, 1.0));
  EXPECT_THAT(data.train.x.row_values(1), ElementsAre(-1.0));
  EXPECT_THAT(data.train.x.row(2), IsEmpty());
  EXPECT_THAT(data.train.on.at(0), ElementsAre(1));
  EXPECT_THAT(data.train.on.at(1), ElementsAre(0));
  EXPECT_THAT(data.train.on.at(2), IsEmpty());
  EXPECT_THAT(data.train.on.at(3), ElementsAre(0, 1));
  EXPECT_THAT(data.train.gold, testing::Each(kNoOutput));
  EXPECT_THAT(data.train.notes, UnorderedElementsAre(Pair("instances without labels", 1)));
}

TEST(Arff, LabelsAreTheLastAttributesOrTheFirstOrThoseOfAList) {
  EXPECT_THAT(read_texts("arff", "@attribute a {0,1}\n@attribute b {0,1}\n@attribute c {0,1}\n@data\n1,0,1\n",
                         "", {{"label_count", "-1"}, {"bias", "2"}})
                  .train.vocabulary->features,
              ElementsAre("bias", "b", "c"));
  const TempFile xml(
      "<?xml version=\"1.0\"?>\n<labels xmlns=\"x\">\n<label name=\"blue\"></label>\n"
      "<label name='the word'><label name=\"red\"/></label></labels>");
  const DataPair data = read("2.5,1,0,1\n", {{"labels", xml.path()}, {"bias", "0"}});
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("blue", "the word", "red"))
      << "in the list's order";
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre("size"));
  EXPECT_THAT(data.train.on.at(0), ElementsAre(0, 1));
}

TEST(Arff, LabelListsThatAreNone) {
  const auto error = [](const std::string& xml) {
    return error_of([&] { read_label_names(LineReader(xml, "l.xml")); }, ErrorKind::kInput);
  };
  EXPECT_THAT(read_label_names(LineReader("<label name=\"a &amp; b\">", "l.xml")), ElementsAre("a & b"));
  EXPECT_EQ(error("<labels>\n</labels>\n"),
            "l.xml: found no label, expected <label name=\"...\">, each name once");
  EXPECT_EQ(error("<label name=\"a\"/>\n<label name=\"a\"/>\n"),
            "l.xml:2: found label 'a' a second time, expected <label name=\"...\">, each name once");
  EXPECT_EQ(error("<label id=\"a\"/>\n"),
            "l.xml:1: found a label without a name, expected <label name=\"...\">, each name once");
  EXPECT_EQ(error("<label name=\"a/>\n"),
            "l.xml:1: found a name without its closing quote, expected <label name=\"...\">, each name once");
}

TEST(Arff, MalformedRowsAreErrors) {
  EXPECT_EQ(error_in("1,0,0\n"), "9: found 3 values, expected 4, one an attribute");
  EXPECT_EQ(error_in("1,2,0,0\n"), "9: found value '2' of attribute 'the word', expected 0 or 1");
  EXPECT_EQ(error_in("1,0,0,0\nx,0,0,0\n"),
            "10: found value 'x' of attribute 'size', expected a finite number");
  EXPECT_EQ(error_in("?,0,0,0\n"), "9: found value '?' of attribute 'size', expected a finite number");
  EXPECT_EQ(error_in("{0 1\n"), "9: found a sparse row without '}' at its end, expected {NUMBER VALUE,...}");
  EXPECT_EQ(error_in("{2 1,1 1}\n"),
            "9: found attribute number 1 after 2, expected ascending numbers, each once");
  EXPECT_EQ(error_in("{2 1,2 1}\n"),
            "9: found attribute number 2 after 2, expected ascending numbers, each once");
  EXPECT_EQ(error_in("{4 1}\n"), "9: found attribute number 4, expected 0 to 3");
  EXPECT_EQ(error_in("{1}\n"), "9: found '1', expected NUMBER VALUE");
  EXPECT_EQ(error_in("{1 1,}\n"), "9: found a comma before '}', expected NUMBER VALUE after each comma");
  EXPECT_EQ(error_in("{3 2}\n"), "9: found value '2' of attribute 'blue', expected 0 or 1");
  EXPECT_EQ(error_in(""), "8: found no row after @data, expected one row or more");
}

TEST(Arff, MalformedHeadersAreErrors) {
  const auto error = [](const std::string& text, const Settings& options = kTwoLast) {
    return error_in_text("arff", text, options);
  };
  EXPECT_EQ(error("@attribute a {0,1}\n@attribute a numeric\n@data\n"),
            "2: found attribute 'a' a second time, expected each name once");
  EXPECT_EQ(error("@attribute a {x,y}\n@data\n"),
            "1: found type '{x,y}' of attribute 'a', expected {0,1}, {FALSE,TRUE}, numeric, real or integer");
  EXPECT_EQ(error("@attribute 'a numeric\n"),
            "1: found a name without its closing quote, expected @attribute NAME {0,1}, or numeric, real or "
            "integer");
  EXPECT_EQ(
      error("@data\n"),
      "1: found @data before any attribute, expected @attribute NAME {0,1}, or numeric, real or integer");
  EXPECT_EQ(error("@attribute a numeric\n1\n"), "2: found '1', expected @relation, @attribute or @data");
  EXPECT_EQ(error("@attribute a numeric\n"), "1: found no line @data, expected it after the attributes");
  EXPECT_EQ(error("@attribute a {0,1}\n@attribute b {0,1}\n@data\n1,1\n"),
            " found 2 attributes, expected more than label_count = 2");
  EXPECT_EQ(error("@attribute a {0,1}\n@attribute b numeric\n@data\n1,1\n", {{"label_count", "1"}}),
            " found label 'b' of a numeric type, expected {0,1} or {FALSE,TRUE}");
  EXPECT_EQ(error("@attribute bias numeric\n@attribute b {0,1}\n@data\n1,1\n", {{"label_count", "1"}}),
            " found attribute 'bias' beside the bias, expected another name, or bias = 0");
  const TempFile xml("<label name=\"z\"/>\n");
  EXPECT_EQ(error("@attribute a {0,1}\n@data\n1\n", {{"labels", xml.path()}}),
            " found no attribute for label 'z', expected one for each label");
}

TEST(Arff, OptionsThatDoNotGoTogether) {
  EXPECT_EQ(error_of([] { read("1,0,0,0\n", {}); }, ErrorKind::kUsage),
            "format arff: found neither labels and label_count, expected one of them");
}

TEST(Arff, TestFilesHaveTheSameAttributes) {
  const auto error = [](const std::string& header) {
    const TempFile train(kHeader + "1,0,0,0\n"), test(header + "@data\n1,0\n");
    const std::string message = error_of([&] {
      read_data("arff", {{train.path()}, {test.path()}, ""}, {{"label_count", "2"}});
    });
    return message.substr(test.path().size());
  };
  EXPECT_EQ(error("@attribute size numeric\n"),
            ": found 1 attributes, expected 4, as in the first training file");
  EXPECT_EQ(
      error("@attribute size numeric\n@attribute word {0,1}\n@attribute red {0,1}\n@attribute blue {0,1}\n"),
      ": found attribute 'word', {0,1}, expected 'the word', {0,1}, as in the first training file");
}

TEST(ArffRealData, HasTheCountsOfBibtex) {
  PROXBENCH_NEED_DATA(train, "mulan/bibtex/bibtex-train.arff.gz");
  PROXBENCH_NEED_DATA(test, "mulan/bibtex/bibtex-test.arff.gz");
  PROXBENCH_NEED_DATA(labels, "mulan/bibtex/bibtex.xml");
  const DataPair data = read_data("arff", {{train}, {test}, ""}, {{"labels", labels}});
  // Mulan's page states 7,395 instances, 1,836 features, and 159 labels, of which 2.402 are on.
  EXPECT_EQ(data.train.instances(), 4880u);
  EXPECT_EQ(data.test.instances(), 2515u);
  EXPECT_EQ(data.train.x.features(), 1837u) << "with the bias";
  EXPECT_EQ(data.train.outputs(), 159u);
  EXPECT_NEAR(static_cast<double>(data.train.on.label.size() + data.test.on.label.size()) / 7395.0, 2.402,
              5e-4);
  EXPECT_TRUE(data.train.x.binary());
}

/// The labels that are on in each row, e.g. "c|-|c d".
std::string labels_on(const std::string& text, const Settings& options) {
  const DataPair data = read_texts("arff", text, "", options);
  std::string out;
  for (std::size_t p = 0; p < data.train.positions(); ++p) {
    std::string row;
    for (const Index k : data.train.on.at(p))
      row += (row.empty() ? "" : " ") + data.train.vocabulary->outputs[k];
    out += (p > 0 ? "|" : "") + (row.empty() ? "-" : row);
  }
  return out;
}

TEST(Arff, ValuesMayBeWordsOrQuoted) {
  const Settings last{{"label_count", "1"}};
  EXPECT_EQ(
      labels_on("@attribute u numeric\n@attribute c {FALSE,TRUE}\n@data\n1,TRUE\n0,FALSE\n0,true\n", last),
      "c|-|c");
  EXPECT_EQ(labels_on("@attribute u numeric\n@attribute c { yes, no }\n@data\n1,no\n0,'yes'\n", last), "-|c");
  EXPECT_EQ(
      labels_on("@attribute 'a b' numeric\n@attribute c {'0','1'}\n@data\n{0 .5, 1 '1'}\n{0 1}\n{}\n", last),
      "c|-|-");
  EXPECT_EQ(labels_on("@attribute u{0,1}\n@attribute c\n  {0,\n 1}\n@data\n1,1\n", last), "c")
      << "across lines";
  const std::string words = "@attribute u numeric\n@attribute c {TRUE,FALSE}\n@data\n";
  EXPECT_EQ(labels_on(words + "1,TRUE\n", last), "c");
  EXPECT_EQ(error_in_text("arff", words + "{0 1}\n", last),
            "4: found a sparse row, though the first value of attribute 'c' means on, expected {0,1} or "
            "{FALSE,TRUE}, "
            "since values left out are the first ones");
  EXPECT_EQ(error_in_text("arff", words + "1,1\n", last),
            "4: found value '1' of attribute 'c', expected false or true");
  EXPECT_EQ(
      error_in_text("arff", "@attribute c {red,green}\n@data\n", last),
      "1: found type '{red,green}' of attribute 'c', expected {0,1}, {FALSE,TRUE}, numeric, real or integer");
}

TEST(Arff, CommentsMayFollowOtherText) {
  const Settings last{{"label_count", "1"}};
  EXPECT_EQ(
      labels_on("@relation r % 1\n@attribute 'u % \\' v' numeric % 2\n@attribute c {0, % 3\n 1} % 4\n@data "
                "% 5\n1,1 % 6\n{0 1, 1 1} % 7\n1,0%\n",
                last),
      "c|c|-");
  EXPECT_THAT(
      read_texts("arff", "@attribute 'u % \\' v' numeric % 2\n@attribute c {0,1}\n@data\n1,1\n", "", last)
          .train.vocabulary->features,
      ElementsAre("bias", "u % ' v"));
}

TEST(Arff, MekaSaysInTheHeaderHowManyLabelsThereAre) {
  const std::string attributes =
      "@attribute a {0,1}\n@attribute b {0,1}\n@attribute u numeric\n@attribute c {0,1}\n@data\n1,0,2,1\n";
  EXPECT_EQ(labels_on("@relation 'Music: -C 2 -split 3'\n" + attributes, {}), "a") << "the first two";
  EXPECT_EQ(labels_on("@relation 'Music: -C -1'\n" + attributes, {}), "c") << "the last";
  EXPECT_EQ(labels_on("@relation 'Music: -C 2'\n" + attributes, {{"label_count", "1"}}), "c")
      << "the option counts";
}

TEST(Arff, CommentsInTheListAreNoLabels) {
  EXPECT_THAT(
      read_label_names(LineReader("<labels><!-- <label name=\"c\"/> --><label name=\"g\"/><!--\n<label "
                                  "name=\"d\"/>--><label\nname=\"h\"/></labels><!-- open <label name=\"i\"/>",
                                  "l.xml")),
      ElementsAre("g", "h"));
  EXPECT_THAT(
      read_label_names(LineReader("<label nickname='x' name = \"c\"/><label\n name\n='d'/>", "l.xml")),
      ElementsAre("c", "d"));
  EXPECT_EQ(error_of([] { read_label_names(LineReader("<!--\n\n-->\n<label/>\n", "l.xml")); }),
            "l.xml:4: found a label without a name, expected <label name=\"...\">, each name once");
}

}  // namespace
}  // namespace proxbench
