#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/error.h"
#include "experiments/base/test_file.h"
#include "experiments/data/model_weights.h"

namespace proxbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Dataset data_of(const Vocabulary& vocabulary) {
  Dataset data;
  data.vocabulary = std::make_shared<const Vocabulary>(vocabulary);
  return data;
}

const Dataset kData = data_of({{"bias", "p5*p9", "tab\there", "back\\slash\nline"}, {"O", "B-X", "I-X"}});
constexpr std::size_t kPairs = 9;
/// The names of a chain's extra weights.
const ExtraWeightNames kNames{
    "pair", {"label", "label"}, [](std::size_t weight, const Dataset& data) {
      const std::vector<std::string>& labels = data.vocabulary->outputs;
      return std::vector{labels[weight / labels.size()], labels[weight % labels.size()]};
    }};
/// The names of an oracle with one weight per label for the first position, and one weight for all last
/// positions.
const ExtraWeightNames kEnds{"end", {"side", "label"}, [](std::size_t weight, const Dataset& data) {
                               const std::vector<std::string>& labels = data.vocabulary->outputs;
                               return weight < labels.size()
                                          ? std::vector<std::string>{"first", labels[weight]}
                                          : std::vector<std::string>{"last", "any\tlabel"};
                             }};

SparseVector some_weights() {
  SparseVector w;
  w.push_back(1, 0.1);                    // bias, B-X
  w.push_back(6, -1e-300);                // tab, O
  w.push_back(11, 1.0 / 3.0);             // back, I-X
  w.push_back(12 + 5, 12345678.9012345);  // B-X -> I-X
  return w;
}

std::string with_header(const std::string& lines) {
  return "# proxbench model 1\n# labels=O\tB-PER\n" + lines;
}

std::string error_of(const std::string& text) {
  try {
    parse_model(text, "m.tsv");
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    return error.what();
  }
}

TEST(Model, IsWrittenUnderNamesInShortestText) {
  std::string text =
      model_text({{"format", "ocr"}, {"note", "two\nlines"}}, kData, some_weights(), kPairs, kNames);
  const std::string seal = "# proxbench model 1\n# lines=10\n# checksum=";
  ASSERT_THAT(text, StartsWith(seal));
  text.erase(0, seal.size() + 16);
  EXPECT_EQ(text,
            "\n# format=ocr\n# note=two\\nlines\n# labels=O\tB-X\tI-X\n"
            "unary\tbias\tB-X\t0.1\nunary\ttab\\there\tO\t-1e-300\nunary\tback\\\\slash\\nline\tI-X\t0."
            "3333333333333333\n"
            "pair\tB-X\tI-X\t12345678.9012345\n");
}

TEST(Model, IsRefusedWhereItIsNotAsItWasWritten) {
  const std::string text = model_text({{"lambda", "1"}}, kData, some_weights(), kPairs, kNames);
  EXPECT_EQ(error_of(text), "");
  EXPECT_EQ(error_of(text.substr(0, text.size() - 1)), "") << "the end of the last line says nothing";
  EXPECT_EQ(
      error_of(text.substr(0, text.rfind("pair"))),
      "m.tsv: found 8 lines, expected 9 as its header says: the file was cut or something was added; copy "
      "it again, or train the model again");
  EXPECT_THAT(error_of(text + "unary\tbias\tO\t1\n"), HasSubstr("found 10 lines, expected 9"));
  std::string digit = text;
  digit.erase(digit.size() - 2, 1);
  EXPECT_THAT(error_of(digit),
              AllOf(StartsWith("m.tsv: found other content than was written, expected what its "
                               "line '# checksum="),
                    HasSubstr("copy the file again, train the model again, or remove that line")));
  // Changes that a user makes on purpose, and line ends that programs change.
  const std::size_t seal = digit.find("# checksum");
  EXPECT_EQ(error_of(digit.erase(seal, digit.find('\n', seal) + 1 - seal)), "");
  std::string windows;
  for (const char c : text) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(error_of(windows), "");
  // A model that was read and is written again has its header lines once.
  const Model model = parse_model(text, "m.tsv");
  EXPECT_EQ(model_text(model.header, kData, some_weights(), kPairs, kNames), text);
}

TEST(Model, ReadsBackToTheSameBits) {
  const Model model = parse_model(
      model_text({{"lambda", "100"}, {"x", "a\\b"}}, kData, some_weights(), kPairs, kNames), "m.tsv");
  EXPECT_EQ(model.at("lambda"), "100");
  EXPECT_EQ(model.at("x"), "a\\b");
  EXPECT_EQ(model.labels, kData.vocabulary->outputs);
  const SparseVector w = model_weights(model, kData, kPairs, kNames, UnknownFeatures::kReject);
  EXPECT_EQ(w.index, some_weights().index);
  EXPECT_EQ(w.value, some_weights().value);
}

TEST(Model, FollowsTheNumbersOfTheData) {
  const Model model = parse_model(model_text({}, kData, some_weights(), kPairs, kNames), "m.tsv");
  const Vocabulary other{{"new", "tab\there", "bias"}, {"I-X", "B-X", "O"}};
  const SparseVector w = model_weights(model, data_of(other), kPairs, kNames, UnknownFeatures::kDrop);
  EXPECT_THAT(w.index, ElementsAre(1 * 3 + 2, 2 * 3 + 1, 9 + 1 * 3 + 0));
  EXPECT_THAT(w.value, ElementsAre(-1e-300, 0.1, 12345678.9012345));
}

TEST(Model, NamesThatTheDataLackAreErrorsWithTheirLine) {
  const Model model =
      parse_model(with_header("unary\tf\tO\t1\nunary\tg\tB-PER\t2\npair\tO\tB-PER\t1\n"), "m.tsv");
  const auto error = [&](const Vocabulary& vocabulary, std::size_t pairs,
                         UnknownFeatures unknown) -> std::string {
    try {
      model_weights(model, data_of(vocabulary), pairs, kNames, unknown);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(
      error({{"f"}, {"O", "B-PER"}}, 4, UnknownFeatures::kReject),
      "m.tsv:4: found feature 'g', expected one of the data's 1 features; the model was trained on other "
      "data: give the data, format and options that it was trained with, or train a new model");
  EXPECT_EQ(error({{"f"}, {"O", "B-PER"}}, 4, UnknownFeatures::kDrop), "");
  EXPECT_EQ(
      error({{"f", "g"}, {"O", "B-PERS"}}, 4, UnknownFeatures::kDrop),
      "m.tsv:4: found label 'B-PER', expected one of the data's 2 labels (did you mean 'B-PERS'?); the model "
      "was trained on other data, with 2 labels of which these lack 1: give all the data that it was "
      "trained on, or train a new model");
  EXPECT_THAT(error({{"f", "g"}, {"1"}}, 1, UnknownFeatures::kDrop),
              HasSubstr("with 2 labels of which these lack 2: check the format and the column of the label"));
  EXPECT_EQ(error({{"f", "g"}, {"O", "B-PER"}}, 0, UnknownFeatures::kDrop),
            "m.tsv:5: found 'pair' with 2 names, expected 'unary<TAB>feature<TAB>output<TAB>weight'");
}

TEST(Model, ExtraWeightsHaveTheNamesThatTheirOracleGives) {
  SparseVector w;
  w.push_back(2, 0.5);
  w.push_back(12 + 1, -2.0);  // first, B-X
  w.push_back(12 + 3, 0.25);  // last
  const std::string text = model_text({}, kData, w, 4, kEnds);
  EXPECT_THAT(text, HasSubstr("\nend\tfirst\tB-X\t-2\nend\tlast\tany\\tlabel\t0.25\n"));
  const Model model = parse_model(text, "m.tsv");
  const SparseVector same = model_weights(model, kData, 4, kEnds, UnknownFeatures::kReject);
  EXPECT_EQ(same.index, w.index);
  EXPECT_EQ(same.value, w.value);
  // The labels have another order.
  const Dataset other = data_of({kData.vocabulary->features, {"I-X", "O", "B-X"}});
  EXPECT_THAT(model_weights(model, other, 4, kEnds, UnknownFeatures::kReject).index,
              ElementsAre(0, 12 + 2, 12 + 3));
}

TEST(Model, ExtraWeightsThatTheOracleLacksAreErrorsWithTheirLine) {
  const auto error = [](const std::string& line) -> std::string {
    try {
      const Model model = parse_model("# proxbench model 1\n" + line + "\n", "m.tsv");
      model_weights(model, kData, 4, kEnds, UnknownFeatures::kReject);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(error("end\tfirst\tO\t1"), "");
  EXPECT_EQ(error("end\tfirst\tB-Y\t1"),
            "m.tsv:2: found label 'B-Y', expected one of the data's 4 labels (did you mean 'B-X'?)");
  EXPECT_EQ(error("end\tlate\tO\t1"),
            "m.tsv:2: found side 'late', expected one of the data's 2 sides (did you mean 'last'?)");
  EXPECT_EQ(
      error("end\tlast\tO\t1"),
      "m.tsv:2: found 'last\\tO', expected one of the 4 extra weights 'end<TAB>side<TAB>label<TAB>weight'");
  const std::string expected =
      ", expected 'unary<TAB>feature<TAB>output<TAB>weight' or 'end<TAB>side<TAB>label<TAB>weight'";
  EXPECT_EQ(error("pair\tO\tO\t1"), "m.tsv:2: found 'pair' with 2 names" + expected);
  EXPECT_EQ(error("end\tfirst\t1"), "m.tsv:2: found 'end' with 1 names" + expected);
  EXPECT_THAT(error("end\tfirst\tO\t1\nend\tfirst\tO\t2"),
              HasSubstr("m.tsv:3: found 'end\\tfirst\\tO\\t' again"));
}

TEST(Model, ExtraWeightsWithoutProperNamesAreNotWritten) {
  SparseVector w;
  w.push_back(12, 1.0);
  w.push_back(13, 1.0);
  const auto error = [&](const ExtraWeightNames& names) -> std::string {
    try {
      model_text({}, kData, w, 2, names);
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  const auto same = [](std::size_t, const Dataset&) { return std::vector<std::string>{"x"}; };
  EXPECT_EQ(error({}), "found 2 extra weights that the oracle has no names for, expected OracleInfo::extra");
  EXPECT_EQ(error({"bias", {"name"}, same}),
            "extra weights 0 and 1 are both named 'x\\t', expected a name each");
  EXPECT_EQ(error({"bias", {"name", "label"}, same}),
            "extra weight 0: found 1 names, expected 2: bias<TAB>name<TAB>label<TAB>weight");
}

TEST(Model, MalformedLinesAreErrorsWithFoundAndExpected) {
  const std::string first =
      ", expected '# proxbench model 1', the first line of a model of `proxbench train --model`";
  EXPECT_EQ(error_of(""), "m.tsv: found an empty file" + first);
  EXPECT_EQ(error_of("unary\ta\tO\t1\n"), "m.tsv:1: found 'unary\\ta\\tO\\t1'" + first);
  EXPECT_THAT(error_of(with_header("unary\ta\tO\n")),
              HasSubstr("m.tsv:3: found 'unary\\ta\\tO', expected 'unary<TAB>"));
  EXPECT_THAT(error_of(with_header("pair\t1\n")), HasSubstr("m.tsv:3: found 'pair\\t1', expected 'unary"));
  for (const char* bad : {"nan", "inf", "-inf", "1e999", "", "1x", "0,5"})
    EXPECT_EQ(error_of(with_header(std::string("unary\ta\tO\t") + bad + "\n")),
              std::string("m.tsv:3: found weight '") + bad + "', expected a finite number");
  EXPECT_EQ(error_of(with_header("unary\ta\tO\t1\n\nunary\ta\tO\t2\n")),
            "m.tsv:5: found 'unary\\ta\\tO\\t' again, expected each entry once (first at line 3)");
  EXPECT_EQ(error_of(with_header("unary\ta\tI-LOC\t1\n")),
            "m.tsv:3: found label 'I-LOC', expected one of '# labels='");
  EXPECT_THAT(error_of(with_header("unary\tf\tB-PERS\t1\n")),
              HasSubstr("found label 'B-PERS', expected one of '# labels=' (did you mean 'B-PER'?)"));
  EXPECT_THAT(error_of(with_header("unary\ta\\q\tO\t1\n")),
              HasSubstr("m.tsv:3: found escape in 'a\\q', expected \\t, \\n, \\r or \\\\"));
  EXPECT_THAT(error_of(with_header("# junk\n")),
              HasSubstr("m.tsv:3: found '# junk', expected '# key=value'"));
  EXPECT_THAT(error_of(with_header("# a=1\n# a=2\n")), HasSubstr("m.tsv:4: found key 'a' again"));
  EXPECT_THAT(error_of("# proxbench model 1\n# labels=O\tO\n"), HasSubstr("m.tsv:2: found label 'O' twice"));
}

TEST(Model, WeightsOfAFeatureMayStandApart) {
  const std::string scattered =
      with_header("unary\tb\tB-PER\t1\nunary\ta\tO\t2\nunary\tb\tO\t3\nunary\tc\tO\t4\nunary\ta\tB-PER\t5\n");
  const std::string ordered =
      with_header("unary\tb\tO\t3\nunary\tb\tB-PER\t1\nunary\ta\tO\t2\nunary\ta\tB-PER\t5\nunary\tc\tO\t4\n");
  EXPECT_EQ(model_text(parse_model(scattered, "m.tsv")), model_text(parse_model(ordered, "m.tsv")));
  EXPECT_THAT(error_of(scattered + "unary\tb\tB-PER\t7\n"),
              HasSubstr("m.tsv:8: found 'unary\\tb\\tB-PER\\t' again, expected each entry once"));
  EXPECT_THAT(error_of(with_header("unary\tb\tO\t1\n# labels=O\n")), HasSubstr("key 'labels' again"));
  EXPECT_THAT(error_of("# proxbench model 1\nunary\tb\tO\t1\n# labels=O\n"),
              HasSubstr("m.tsv:3: found '# labels=' below a weight, expected it above all weights"));
}

TEST(Model, HasTheSameWeightsAsABinaryFile) {
  const std::string text =
      model_text({{"lambda", "100"}, {"x", "a\\b\nc"}}, kData, some_weights(), kPairs, kNames);
  const std::string bytes = model_bytes(parse_model(text, "m.tsv"));
  TempFile file(bytes);
  for (const Model& model : {parse_model(bytes, "m.pbm"), read_model(file.path())}) {
    EXPECT_EQ(model.labels, kData.vocabulary->outputs);
    EXPECT_EQ(model_text(model), text);
    EXPECT_EQ(model_bytes(model), bytes);
    const SparseVector w = model_weights(model, kData, kPairs, kNames, UnknownFeatures::kReject);
    EXPECT_EQ(w.index, some_weights().index);
    EXPECT_EQ(w.value, some_weights().value);
    EXPECT_THROW(model_weights(model, data_of({{"bias"}, {"O", "B-X", "I-X"}}), kPairs, kNames,
                               UnknownFeatures::kReject),
                 Error);
  }
  EXPECT_EQ(model_text(parse_model(model_text(parse_model(bytes, "m.pbm")), "again")), text);
  EXPECT_TRUE(names_binary_model("a/m.pbm"));
  EXPECT_FALSE(names_binary_model("m.tsv"));
  const Model unlisted = parse_model("# proxbench model 1\nunary\tb\tO\t1\n", "m.tsv");
  EXPECT_THROW(model_bytes(unlisted), Error) << "outputs have no order";
}

TEST(Model, ABinaryFileThatIsNotAsItWasWrittenIsRefused) {
  const std::string bytes =
      model_bytes(parse_model(model_text({{"lambda", "1"}}, kData, some_weights(), kPairs, kNames), "m.tsv"));
  const auto refusal = [](const std::string& damaged) {
    TempFile file(damaged);
    std::string out = error_of(damaged);
    EXPECT_NE(out, "");
    EXPECT_THROW(read_model(file.path()), Error);
    return out;
  };
  for (std::size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      EXPECT_THAT(error_of(damaged), HasSubstr("copy the file again, or train the model again"))
          << "byte " << at << ", bit " << bit;
    }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_NE(refusal(bytes.substr(0, size)), "") << size;
  EXPECT_THAT(refusal(bytes.substr(0, bytes.size() - 8)), HasSubstr("as its head says: the file was cut"));
  EXPECT_THAT(refusal(bytes + '\n'), HasSubstr("as its head says"));
  std::string other = bytes;
  other[12] = 2;
  EXPECT_THAT(refusal(other), HasSubstr("found a binary model of version 2, expected version 1: `proxbench "
                                        "convert --model M.pbm --out M.tsv` of the program that wrote it"));
  std::string swapped = bytes;
  std::reverse(swapped.begin() + 8, swapped.begin() + 12);
  EXPECT_THAT(refusal(swapped), HasSubstr("found a binary model of a machine of another byte order"));
  std::string windows;
  for (const char c : bytes) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_NE(refusal(windows), "") << "copied as if it were a text";
}

TEST(Model, HoldsFiniteWeightsOnly) {
  SparseVector w;
  w.push_back(0, std::nan(""));
  EXPECT_THROW(model_text({}, kData, w, kPairs, kNames), Error);
}

TEST(Model, DataCanTakeOverTheLabelsOfAModel) {
  Dataset data;
  data.vocabulary = std::make_shared<const Vocabulary>(Vocabulary{{"f"}, {"B", "new", "O"}});
  data.gold = {0, 1, 2, kUnknownOutput};
  const Dataset renumbered = with_labels(std::move(data), {"O", "B", "C"});
  EXPECT_THAT(renumbered.gold, ElementsAre(1, kUnknownOutput, 0, kUnknownOutput));
  EXPECT_EQ(renumbered.unknown_gold, (std::map<Index, std::string>{{1, "new"}})) << "the name is kept";
  EXPECT_THAT(renumbered.vocabulary->outputs, ElementsAre("O", "B", "C"));
  EXPECT_THAT(renumbered.vocabulary->features, ElementsAre("f"));
}

}  // namespace
}  // namespace proxbench
