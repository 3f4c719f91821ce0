#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "experiments/config/config.h"
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

DataPair read(const std::string& train, const std::string& test = "", const Settings& options = {}) {
  return read_texts("conll", train, test, options);
}

std::string error_in(const std::string& text, const Settings& options = {}) {
  return error_in_text("conll", text, options);
}

/// Returns the names of the features at a position.
std::set<std::string> names_at(const Dataset& data, Index position) {
  std::set<std::string> out;
  for (const Index feature : data.x.row(position)) out.insert(data.vocabulary->features[feature]);
  return out;
}

/// Two sentences, and their attributes written by hand. They equal the output of the tutorial's script except
/// for the escapes of the format.
constexpr const char* kColumns = "He PRP B-NP\nate VBD B-VP\nit PRP B-NP\n\n: : O\n";
constexpr const char* kAttributes =
    "B-NP\tw[0]=He\tw[1]=ate\tw[2]=it\tw[0]|w[1]=He|ate\tpos[0]=PRP\tpos[1]=VBD\tpos[2]=PRP\t"
    "pos[0]|pos[1]=PRP|VBD\tpos[1]|pos[2]=VBD|PRP\tpos[0]|pos[1]|pos[2]=PRP|VBD|PRP\t__BOS__\n"
    "B-VP\tw[-1]=He\tw[0]=ate\tw[1]=it\tw[-1]|w[0]=He|ate\tw[0]|w[1]=ate|it\tpos[-1]=PRP\tpos[0]=VBD\t"
    "pos[1]=PRP\tpos[-1]|pos[0]=PRP|VBD\tpos[0]|pos[1]=VBD|PRP\tpos[-1]|pos[0]|pos[1]=PRP|VBD|PRP\n"
    "B-NP\tw[-2]=He\tw[-1]=ate\tw[0]=it\tw[-1]|w[0]=ate|it\tpos[-2]=PRP\tpos[-1]=VBD\tpos[0]=PRP\t"
    "pos[-2]|pos[-1]=PRP|VBD\tpos[-1]|pos[0]=VBD|PRP\tpos[-2]|pos[-1]|pos[0]=PRP|VBD|PRP\t__EOS__\n"
    "\n"
    "O\tw[0]=\\:\tpos[0]=\\:\t__BOS__\t__EOS__\n";

TEST(Conll, GivesTheAttributesOfTheTutorialInItsOrder) {
  const TempFile attributes(kAttributes);
  const DataPair ours = read(kColumns), theirs = read_data("crfsuite", {{attributes.path()}, {}, ""});
  EXPECT_EQ(ours.oracle, "chain");
  EXPECT_TRUE(ours.train.x.binary());
  EXPECT_EQ(ours.train.begin, theirs.train.begin);
  EXPECT_EQ(ours.train.gold, theirs.train.gold);
  EXPECT_EQ(ours.train.vocabulary->outputs, theirs.train.vocabulary->outputs);
  EXPECT_EQ(ours.train.vocabulary->features, theirs.train.vocabulary->features);
  EXPECT_EQ(ours.train.digest, theirs.train.digest) << "and the same X";
}

TEST(Conll, TestDataAgreeWithTheAttributesOfTheTutorial) {
  const TempFile columns(kColumns), attributes(kAttributes);
  const TempFile test_columns("it PRP B-NP\nate VBZ X\n");
  const TempFile test_attributes(
      "B-NP\tw[0]=it\tw[1]=ate\tw[0]|w[1]=it|ate\tpos[0]=PRP\tpos[1]=VBZ\tpos[0]|pos[1]=PRP|VBZ\t__BOS__\n"
      "X\tw[-1]=it\tw[0]=ate\tw[-1]|w[0]=it|ate\tpos[-1]=PRP\tpos[0]=VBZ\tpos[-1]|pos[0]=PRP|VBZ\t__EOS__\n");
  const DataPair ours = read_data("conll", {{columns.path()}, {test_columns.path()}, ""});
  const DataPair theirs = read_data("crfsuite", {{attributes.path()}, {test_attributes.path()}, ""});
  EXPECT_EQ(ours.test.vocabulary, ours.train.vocabulary);
  EXPECT_EQ(ours.test.digest, theirs.test.digest);
  EXPECT_EQ(ours.test.notes, theirs.test.notes);
  EXPECT_THAT(ours.test.gold, ElementsAre(0, kUnknownOutput));
  EXPECT_THAT(ours.test.notes,
              UnorderedElementsAre(Pair("unknown attributes", 7), Pair("distinct unknown attributes", 7),
                                   Pair("unknown labels", 1)));
  EXPECT_THAT(names_at(ours.test, 1), ElementsAre("__EOS__", "pos[-1]=PRP", "w[0]=ate"));
}

TEST(Conll, SpacesTabsAndBlankLinesSeparate) {
  const DataPair data = read("\n \t\n the  DT\tB \r\n\tcat NN I\n \n\n. . O");
  EXPECT_EQ(data.train.digest, read("the DT B\ncat NN I\n\n. . O\n").train.digest);
  EXPECT_THAT(data.train.begin, ElementsAre(0, 2, 3));
}

TEST(Conll, NoLineIsSpecial) {
  const DataPair data = read("-DOCSTART- -DOCSTART- O\n# # B\n");
  EXPECT_THAT(data.train.begin, ElementsAre(0, 2));
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("O", "B"));
}

TEST(Conll, OptionsSayWhichColumnIsWhich) {
  const std::string text = "1 He x PRP B-NP _\n2 ate y VBD B-VP _\n3 it z PRP B-NP _\n\n1 : . : O _\n";
  EXPECT_EQ(read(text, "", {{"word_column", "1"}, {"pos_column", "3"}, {"label_column", "-2"}}).train.digest,
            read(kColumns).train.digest);
  EXPECT_EQ(read(text, "", {{"word_column", "-5"}, {"pos_column", "-3"}, {"label_column", "4"}}).train.digest,
            read(kColumns).train.digest);
}

TEST(Conll, AttributesOfWordsNeedNoPos) {
  const DataPair data = read("a X\nb Y\nc X\n", "", {{"attributes", "words"}});
  EXPECT_THAT(names_at(data.train, 0), ElementsAre("__BOS__", "w[0]=a", "w[0]|w[1]=a|b", "w[1]=b", "w[2]=c"));
  EXPECT_THAT(names_at(data.train, 1),
              ElementsAre("w[-1]=a", "w[-1]|w[0]=a|b", "w[0]=b", "w[0]|w[1]=b|c", "w[1]=c"));
  EXPECT_EQ(data.train.digest, read("a P X\nb Q Y\nc R X\n", "", {{"attributes", "words"}}).train.digest);
}

TEST(Conll, EqualNamesAreOneAttribute) {
  const DataPair data = read("a|b X\nc Y\n\na X\nb|c Y\n", "", {{"attributes", "words"}});
  const auto first = names_at(data.train, 0), second = names_at(data.train, 2);
  EXPECT_TRUE(first.contains("w[0]|w[1]=a|b|c") && second.contains("w[0]|w[1]=a|b|c"))
      << "words may hold the bar that joins them; a model knows an attribute by its name alone";
}

TEST(Conll, SeveralFilesAreOneDataSetAndFilesEndSentences) {
  const TempFile one("a N X\n"), two(gzipped("b N Y\n"), "b.gz");
  const DataPair data = read_data("conll", {{one.path(), two.path()}, {}, ""});
  EXPECT_THAT(data.train.begin, ElementsAre(0, 1, 2));
  const auto name = [](const auto& file) { return std::filesystem::path(file.path()).filename().string(); };
  EXPECT_EQ(data.train.description, name(one) + ", " + name(two) + ": 2 sequences, 2 positions");
}

TEST(Conll, EachLineHasAsManyColumnsAsTheFirst) {
  EXPECT_EQ(error_in("a N X\n\nb N\n"), "3: found 2 columns, expected 3 columns, as in FILE:1");
  EXPECT_EQ(error_in("\na N X\nb c N X\n"), "3: found 4 columns, expected 3 columns, as in FILE:2");
  const TempFile train("a N X\n"), test("a N N X\n");
  EXPECT_EQ(error_of([&] {
              read_data("conll", {{train.path()}, {test.path()}, ""});
            }),
            test.path() + ":1: found 4 columns, expected 3 columns, as in " + train.path() + ":1");
}

TEST(Conll, ColumnsMustBeThere) {
  EXPECT_EQ(error_in("a X\n", {{"pos_column", "2"}}),
            "1: found 2 columns, expected enough for pos_column = 2 (0 is the first, -1 the last)");
  EXPECT_EQ(error_in("a N X\n", {{"label_column", "-4"}}),
            "1: found 3 columns, expected enough for label_column = -4 (0 is the first, -1 the last)");
  EXPECT_EQ(error_in("a N X\n", {{"word_column", "3"}, {"attributes", "words"}}),
            "1: found 3 columns, expected enough for word_column = 3 (0 is the first, -1 the last)");
}

TEST(Conll, TheLabelIsNoAttribute) {
  EXPECT_EQ(error_in("a X\n"),
            "1: found 2 columns, of which pos_column = 1 and label_column = -1 are the same, expected "
            "a column each (attributes = words needs none of POS)");
  EXPECT_EQ(error_in("a\n", {{"attributes", "words"}}),
            "1: found 1 column, of which word_column = 0 and label_column = -1 are the same, expected "
            "a column each (attributes = words needs none of POS)");
  EXPECT_THAT(error_in("a N X\n", {{"pos_column", "0"}}),
              HasSubstr("word_column = 0 and pos_column = 0 are the same"));
  const TempFile pos_first("U:%x[0,pos]/%x[0,word]\n");
  EXPECT_THAT(error_in("a N X\n", {{"pos_column", "0"}, {"template", pos_first.path()}}),
              HasSubstr("word_column = 0 and pos_column = 0 are the same"));
}

TEST(Conll, DataWithoutTokensAreErrors) {
  EXPECT_EQ(error_in("\n \n"), "2: found only empty lines, expected columns: word POS ... label");
  const TempFile empty(""), good("a N X\n");
  EXPECT_EQ(error_of([&] {
              read_data("conll", {{good.path()}, {empty.path()}, ""});
            }),
            empty.path() + ": found an empty file, expected columns: word POS ... label");
  EXPECT_THAT(error_of([&] {
                read_data("conll", {{"/nowhere.txt"}, {}, ""});
              }),
              HasSubstr("/nowhere.txt: found no such file"));
  EXPECT_EQ(error_of(
                [&] {
                  read_data("conll", {{good.path()}, {}, good.path()});
                },
                ErrorKind::kUsage),
            "format conll: takes no hierarchy, found '" + good.path() + "'");
}

TEST(Conll, TemplatesOfAFileTakeThePlaceOfTheNamedOnes) {
  const std::string own_text = "U00:%x[-1,0]\nU01:%x[0,1]/%x[1,1]\nU02:%x[0,2]\nB\n";
  const TempFile own(own_text, "own.txt");
  const std::string columns = "He PRP x B-NP\nate VBD y B-VP\n\nso RB z O\n";
  const TempFile attributes(
      "B-NP\t00\\:_B-1\t01\\:PRP/VBD\t02\\:x\nB-VP\t00\\:He\t01\\:VBD/_B+1\t02\\:y\n\n"
      "O\t00\\:_B-1\t01\\:RB/_B+1\t02\\:z\n");
  const DataPair ours = read(columns, "", {{"template", own.path()}});
  EXPECT_EQ(ours.train.digest, read_data("crfsuite", {{attributes.path()}, {}, ""}).train.digest);
  EXPECT_EQ(ours.train.digest, read(columns, "", {{"template", own_text}}).train.digest)
      << "the text itself, as a model holds it";
  EXPECT_NE(ours.train.digest, read(columns, "", {{"template", own.path()}, {"pad", "0"}}).train.digest);
}

TEST(Conll, ShippedTemplatesAreThoseThatAttributesName) {
  for (const std::string name : {"chunking", "words"}) {
    const std::string file = PROXBENCH_SOURCE_DIR "/configs/templates/" + name + ".txt";
    EXPECT_EQ(read(kColumns, "", {{"template", file}, {"pad", "0"}, {"ends", "true"}}).train.digest,
              read(kColumns, "", {{"attributes", name}}).train.digest);
  }
}

TEST(Conll, BiasAndEndsAreAttributesOfTheirOwn) {
  const TempFile own("U:%x[0,0]\n");
  const DataPair data =
      read("a X\nb Y\n", "", {{"template", own.path()}, {"ends", "true"}, {"bias", "true"}});
  EXPECT_THAT(names_at(data.train, 0), ElementsAre(":a", "__BOS__", "bias"));
  EXPECT_THAT(names_at(data.train, 1), ElementsAre(":b", "__EOS__", "bias"));
  EXPECT_THAT(names_at(read("a X\n", "", {{"template", own.path()}}).train, 0), ElementsAre(":a"));
}

TEST(Conll, LowercaseIsOfTheColumnsItNames) {
  const TempFile own("U0:%x[0,0]\nU1:%x[0,1]\n");
  const auto names = [&](const std::string& columns) {
    return names_at(read("The DT O\n", "", {{"template", own.path()}, {"lowercase", columns}}).train, 0);
  };
  EXPECT_THAT(names(""), ElementsAre("0:The", "1:DT"));
  EXPECT_THAT(names("word"), ElementsAre("0:the", "1:DT"));
  EXPECT_THAT(names("1"), ElementsAre("0:The", "1:dt"));
  EXPECT_THAT(names("pos, 0"), ElementsAre("0:the", "1:dt"));
}

TEST(Conll, RareAttributesAreDroppedAsTheTrainingSetCountsThem) {
  const TempFile own("U:%x[0,0]\n");
  const DataPair data =
      read("a X\nb Y\na X\nc Y\n", "b X\nb X\na X\nd X\n", {{"template", own.path()}, {"min_count", "2"}});
  EXPECT_THAT(data.train.vocabulary->features, ElementsAre(":a"));
  EXPECT_EQ(data.train.x.features(), 1u);
  EXPECT_EQ(data.train.positions(), 4u) << "tokens without an attribute stay";
  EXPECT_THAT(data.train.notes, UnorderedElementsAre(Pair("rare attributes", 2)));
  EXPECT_THAT(data.test.notes,
              UnorderedElementsAre(Pair("unknown attributes", 3), Pair("distinct unknown attributes", 2)))
      << ":b twice and :d, though :b is frequent in the test set";
  EXPECT_EQ(data.train.vocabulary, data.test.vocabulary);
  EXPECT_EQ(error_of(
                [&] {
                  read("a X\nb Y\n", "", {{"attributes", "words"}, {"min_count", "3"}});
                },
                ErrorKind::kUsage),
            "option min_count = 3: no attribute occurs so often");
}

TEST(Conll, ColumnsOfTemplatesMustBeThereAndNotTheLabel) {
  for (const char* column : {"2", "3"}) {
    const TempFile own(std::string("# mine\nU0:%x[0,0]\nU1:%x[-1,") + column + "]\n");
    const TempFile data("\na N X\n");
    EXPECT_EQ(error_of([&] {
                read_data("conll", {{data.path()}, {}, ""}, {{"template", own.path()}});
              }),
              own.path() + ":3: found column '" + column +
                  "', expected word, pos or one of the 3 columns from 0 of " + data.path() +
                  ":2 but 2, the label's");
  }
  EXPECT_THAT(
      error_of([&] {
        read("a N X\n", "", {{"lowercase", "words"}});
      }),
      HasSubstr("option lowercase: found column 'words', expected word, pos or one of the 3 columns"));
}

TEST(Conll, PaddingIsChecked) {
  const auto error = [](const char* option, const char* value) {
    return error_of([&] { read("a N X\n", "", {{option, value}}); }, ErrorKind::kUsage);
  };
  EXPECT_EQ(error("pad", "-1"), "option pad = -1: expected auto or an integer from 0");
  EXPECT_EQ(error("pad", "numbered"), "option pad = numbered: expected auto or an integer from 0");
  EXPECT_EQ(error("pad_symbols", "a, b, c"),
            "option pad_symbols = a, b, c: expected numbered, a symbol, or two: before, after");
  EXPECT_EQ(error("pad_symbols", ""),
            "option pad_symbols = : expected numbered, a symbol, or two: before, after");
}

/// Reads the data set of a file in configs/common whose data are below `folder`.
DataPair read_config(const std::string& file, const std::string& folder) {
  setenv("PROXBENCH_DATA", folder.c_str(), 1);
  const ExperimentConfig config =
      parse_config("include = common/" + file + "\n[experiment]\nname = x\nlambda = 1\n[solver.prox-gd]\n",
                   "x", PROXBENCH_SOURCE_DIR "/configs");
  const DataConfig& data = config.data.at(0);
  return data_format_registry().find(data.format).read(data.files, data.options);
}

/// Returns d of a chain: a weight for each label and feature, and for each pair of labels.
std::size_t weights(const Dataset& data) {
  const std::size_t labels = data.outputs();
  return labels * (data.x.features() + labels);
}

// n and d are from Table 1 of Le Priol et al. 2018. A few lines of Python counted A and the other numbers.
TEST(ConllRealData, ChunkingIsThatOfTheSdcaPaper) {
  PROXBENCH_NEED_DATA(train, "conll2000/train.txt.gz");
  const DataPair data = read_config("conll2000-sdca.ini", train.substr(0, train.find("/conll2000")));
  EXPECT_EQ(data.train.instances(), 8936u);
  EXPECT_EQ(data.train.outputs(), 22u);
  EXPECT_EQ(data.train.x.features(), 74658u + 3u) << "bias and the two ends are not among the attributes";
  EXPECT_EQ(weights(data.train), 1643026u);
  EXPECT_EQ(data.train.x.nonzeros(), 3732441u + 211727u + 2u * 8936u);
  EXPECT_EQ(data.test.notes.at("unknown labels"), 2u);
}

TEST(ConllRealData, DutchNamedEntitiesAreThoseOfTheSdcaPaper) {
  PROXBENCH_NEED_DATA(train, "conll2002-ned/ned.train.gz");
  const DataPair data = read_config("ner-sdca.ini", train.substr(0, train.find("/conll2002")));
  EXPECT_EQ(data.train.instances(), 15806u);
  EXPECT_EQ(data.train.positions(), 202931u);
  EXPECT_EQ(data.train.outputs(), 9u);
  EXPECT_EQ(data.train.x.features(), 360299u + 3u);
}

TEST(ConllRealData, EnglishXposStandsInForTheWallStreetJournal) {
  PROXBENCH_NEED_DATA(train, "ud-ewt/train.tsv.gz");
  const DataPair data = read_config("pos-sdca.ini", train.substr(0, train.find("/ud-ewt")));
  EXPECT_EQ(data.train.instances(), 12544u);
  EXPECT_EQ(data.train.positions(), 204577u);
  EXPECT_EQ(data.train.outputs(), 49u);
  EXPECT_EQ(data.train.x.features(), 299966u + 3u);
}

// The numbers were counted with a few lines of Python.
TEST(ConllRealData, ChunkingHasTheAttributesOfTheTutorial) {
  PROXBENCH_NEED_DATA(train, "conll2000/train.txt.gz");
  PROXBENCH_NEED_DATA(test, "conll2000/test.txt.gz");
  const DataPair data = read_data("conll", {{train}, {test}, ""});
  EXPECT_EQ(data.train.instances(), 8936u);
  EXPECT_EQ(data.train.positions(), 211727u);
  EXPECT_EQ(data.train.x.features(), 335674u);
  EXPECT_EQ(data.train.outputs(), 22u);
  EXPECT_EQ(data.train.x.nonzeros(), 3808439u);
  EXPECT_EQ(data.test.instances(), 2012u);
  EXPECT_EQ(data.test.positions(), 47377u);
  EXPECT_THAT(data.train.notes, IsEmpty());
  EXPECT_THAT(data.test.notes,
              UnorderedElementsAre(Pair("unknown attributes", 59274),
                                   Pair("distinct unknown attributes", 51905), Pair("unknown labels", 2)));
}

TEST(ConllRealData, AgreesWithItsAttributesInTheFormatOfCrfsuite) {
  PROXBENCH_NEED_DATA(train, "conll2000/test.txt.gz");
  const DataPair columns = read_data("conll", {{train}, {}, ""});
  const DataPair attributes = read_texts("crfsuite", crfsuite_text(columns.train), "");
  EXPECT_EQ(columns.train.digest, attributes.train.digest);
}

TEST(ConllRealData, DutchNamedEntitiesAndEnglishTreesAreRead) {
  PROXBENCH_NEED_DATA(entities, "conll2002-ned/ned.testa.gz");
  PROXBENCH_NEED_DATA(trees, "ud-ewt/dev.tsv.gz");
  const DataPair dutch = read_data("conll", {{entities}, {}, ""});
  EXPECT_EQ(dutch.train.instances(), 2895u);
  EXPECT_EQ(dutch.train.positions(), 37761u);
  EXPECT_EQ(dutch.train.outputs(), 9u);
  EXPECT_EQ(dutch.train.x.features(), 92616u);
  const DataPair english =
      read_data("conll", {{trees}, {}, ""}, {{"label_column", "1"}, {"attributes", "words"}});
  EXPECT_EQ(english.train.instances(), 2001u);
  EXPECT_EQ(english.train.outputs(), 17u);
}

TEST(Conll, TakesTheFirstSentencesOfTheTrainingFilesOnly) {
  const Settings first{{"attributes", "words"}, {"sentences", "2"}};
  const DataPair data = read_texts("conll", "a X\nb Y\n\nc X\n\nd Z\n\n", "a X\n\nb Y\n\nc X\n", first);
  EXPECT_THAT(data.train.begin, ElementsAre(0, 2, 3));
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("X", "Y"));
  EXPECT_EQ(data.test.instances(), 3u) << "test files are whole";
}

TEST(Conll, CellsMayContainSpacesIfOnlyTabsSeparateThem) {
  const DataPair data = read("New York\tNNP\tB-LOC\nSan Juan \tNNP\tI-LOC\n \t\n\tX\tO\n", "",
                             {{"delimiter", "tab"}, {"attributes", "words"}});
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("B-LOC", "I-LOC", "O"));
  EXPECT_EQ(data.train.instances(), 2u);
  EXPECT_THAT(data.train.vocabulary->features, testing::Contains("w[0]|w[1]=New York|San Juan"));
  EXPECT_EQ(error_in("the DT\tO\ncat\tO\nin\t\n", {{"delimiter", "tab"}, {"attributes", "words"}}),
            "3: found an empty label in column 1, expected a label (columns count from 0)");
}

const std::string kUd =
    "# text = Del mar\n1-2\tDel\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDe\tde\tADP\tIN\t_\t3\tcase\t_\t_\n"
    "2\tel\tel\tDET\tDT\t_\t3\tdet\t_\t_\n2.1\tes\tser\tVERB\tVB\t_\t_\t_\t0:root\t_\n\n"
    "1\tSi\tsi\tADV\tRB\t_\t0\troot\t_\t_\n";

TEST(Conllu, ReadsWordsWithoutCommentsRangesAndEmptyNodes) {
  const DataPair data = read_texts("conllu", kUd, kUd);
  EXPECT_EQ(data.train.instances(), 2u);
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("ADP", "DET", "ADV"));
  EXPECT_THAT(data.train.vocabulary->features, testing::Contains("w[0]|w[1]=De|el"));
  EXPECT_THAT(data.test.gold, ElementsAre(0, 1, 2));
  EXPECT_THAT(data.train.warnings, IsEmpty());
  EXPECT_THAT(read_texts("conllu", kUd, "", {{"label_column", "7"}}).train.vocabulary->outputs,
              ElementsAre("case", "det", "root"));
  EXPECT_EQ(error_in_text("conllu", kUd + "2\tno\n"),
            "8: found 2 columns, expected the 10 of CoNLL-U, each after a TAB");
}

TEST(Conllu, TextWithoutLabelsHasUnderscores) {
  std::string bare = kUd;
  for (const char* label : {"ADP", "DET", "ADV"}) bare.replace(bare.find(label), 3, "_");
  const TempFile train(kUd), test(bare);
  for (const TestLabels labels : {TestLabels::kIfAny, TestLabels::kNone}) {
    const DataPair data = read_data("conllu", {{train.path()}, {test.path()}, "", labels});
    EXPECT_THAT(data.test.gold, testing::Each(kUnknownOutput));
    EXPECT_EQ(data.test.notes.at(kUnlabelled), 3u);
  }
  const DataPair same = read_data("conllu", {{train.path()}, {train.path()}, "", TestLabels::kNone});
  EXPECT_THAT(same.test.gold, testing::Each(kUnknownOutput)) << "labels that are not asked for";
}

}  // namespace
}  // namespace proxbench
