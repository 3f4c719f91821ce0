#include "experiments/data/convert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "experiments/base/test_folder.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

/// A data set by names: for each position its instance, label and features. `renamed` renames features.
using Rows = std::vector<std::tuple<std::size_t, std::string, std::map<std::string, double>>>;
using Renamed = std::map<std::string, std::string>;

Rows rows_of(const Dataset& data, const Renamed& features = {}, const Renamed& labels = {}) {
  const auto name = [](const Renamed& names, const std::string& known) {
    return names.empty() ? known : names.at(known);
  };
  Rows out;
  for (std::size_t i = 0; i < data.instances(); ++i)
    for (Index p = data.begin[i]; p < data.begin[i + 1]; ++p) {
      std::map<std::string, double> row;
      const auto index = data.x.row(p);
      const std::vector<double> values = data.x.row_values(p);
      for (std::size_t e = 0; e < index.size(); ++e)
        row[name(features, data.vocabulary->features[index[e]])] = values.empty() ? 1.0 : values[e];
      out.emplace_back(i, name(labels, data.vocabulary->outputs[data.gold[p]]), row);
    }
  return out;
}

/// Returns the names behind the numbers in FILE.names.
Renamed names_in(const std::filesystem::path& file, const std::string& kind) {
  Renamed out;
  std::istringstream lines(read_text(file));
  std::string found, number, name;
  while (std::getline(lines, found, '\t') && std::getline(lines, number, '\t') && std::getline(lines, name))
    if (found == kind) out[number] = name;
  return out;
}

constexpr const char* kPlain = "A\tx\ty:2\nB\tx\n\n";
constexpr const char* kNamed = "A\tx\tyz\nB\tyz\tx\n\nB\tx\tw=1\n\n";
constexpr const char* kValued = "A\tx:0.1\tb c\nB\ty\\:z:-3e-7\tx:2\n\nA\ty\\:z\n\n";

class Convert : public testing::Test {
 protected:
  Dataset read(const std::string& format, const std::string& text) {
    return read_texts(format, text, "").train;
  }
  std::string error(const Dataset& data, const std::string& target) {
    const std::string message = error_of([&] { convert(data, target, folder / "out"); });
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing half-written stays";
    return message;
  }
  TestFolder folder;
};

TEST_F(Convert, CrfsuiteThereAndBackIsTheSameToTheDigest) {
  for (const char* text : {kNamed, kValued}) {
    const Dataset data = read("crfsuite", text);
    const ConvertedFiles files = convert(data, "crfsuite", folder / "out");
    EXPECT_TRUE(files.names.empty() && files.template_file.empty());
    EXPECT_EQ(read_data("crfsuite", {{files.data}, {}, ""}).train.digest, data.digest);
  }
}

TEST_F(Convert, ColumnsAndTheirTemplateReadBackWithTheLetterOfTemplates) {
  const Dataset data = read("crfsuite", kNamed);
  const ConvertedFiles files = convert(data, "crf++", folder / "out");
  EXPECT_EQ(read_text(files.template_file), "U%x[0,0]\nU%x[0,1]\nB\n");
  const Dataset back =
      read_data("conll", {{files.data}, {}, ""}, {{"template", files.template_file.string()}}).train;
  Renamed names;
  for (const std::string& name : data.vocabulary->features) names[name] = name, names["U" + name] = name;
  EXPECT_EQ(rows_of(back, names), rows_of(data));
}

TEST_F(Convert, WapitiHasUBeforeNamesAndATransitionOnEveryLine) {
  const ConvertedFiles files = convert(read("crfsuite", kNamed), "wapiti", folder / "out");
  EXPECT_EQ(read_text(files.data), "ux uyz b A\nux uyz b B\n\nux uw=1 b B\n\n");
}

TEST_F(Convert, NumbersStandForTheNamesOfTheirFile) {
  const Dataset data = read("crfsuite", kValued);
  const ConvertedFiles files = convert(data, "crfsparse", folder / "out");
  EXPECT_EQ(read_text(files.template_file), "label:\nA B\nunigram:\n0\nbigram:\n");
  const Dataset back =
      read_data("crfsparse", {{files.data}, {}, ""}, {{"template", files.template_file.string()}}).train;
  EXPECT_EQ(rows_of(back, names_in(files.names, "feature")), rows_of(data));
  EXPECT_EQ(back.vocabulary->outputs, data.vocabulary->outputs);
}

TEST_F(Convert, DocumentsGoToLibsvmAndKeepTheNumbersThatTheyHave) {
  const Dataset numbered = read("libsvm", "+1 2:0.5 7:1\n-1 7:3\n");
  const ConvertedFiles files = convert(numbered, "libsvm", folder / "out");
  EXPECT_EQ(read_text(files.data), "1 2:0.5 7:1\n-1 7:3\n");
  EXPECT_EQ(read_data("libsvm", {{files.data}, {}, ""}).train.digest, numbered.digest);

  const Dataset named = read("crfsuite", "spam\tb c:2\n\nham\ta\tb c\n\n");
  const ConvertedFiles of_named = convert(named, "libsvm", folder / "named");
  const Dataset back = read_data("libsvm", {{of_named.data}, {}, ""}).train;
  EXPECT_EQ(rows_of(back, names_in(of_named.names, "feature"), names_in(of_named.names, "label")),
            rows_of(named));
}

TEST_F(Convert, WhatATargetCannotHoldIsAnErrorThatSaysWhat) {
  const Dataset valued = read("crfsuite", kValued), named = read("crfsuite", kNamed);
  EXPECT_EQ(error(read("crfsuite", "A\tx:0.5\n"), "wapiti"),
            "wapiti cannot hold these data: found the value 0.5 of feature 'x', expected 1, since its "
            "features have no "
            "values");
  EXPECT_EQ(error(valued, "crf++"),
            "crf++ cannot hold these data: found feature 'b c', expected a name without blanks");
  EXPECT_EQ(error(read("crfsuite", kPlain), "crf++"),
            "crf++ cannot hold these data: found the value 2 of feature 'y', expected 1, since its features "
            "have no "
            "values");
  EXPECT_EQ(error(read("crfsuite", "A\tx\ty\nB\tx\n"), "crf++"),
            "crf++ cannot hold these data: found 1 features at position 2, expected 2 as at the first, since "
            "a column "
            "cannot be empty");
  EXPECT_EQ(
      error(named, "libsvm"),
      "libsvm cannot hold these data: found sequences: 3 positions in 2 instances, expected instances of one "
      "position");
  const TempFile tree("0 1 3\n0 1 4\n0 2\n");
  EXPECT_THAT(
      error(read_texts("lshtc", "3 0:1 5:1\n4 0:2 6:1\n2 0:3 5:2\n", "", {}, tree.path()).train, "libsvm"),
      HasSubstr("libsvm cannot hold these data: found labels in a hierarchy"));
  EXPECT_THAT(error(read("rerank", "1\tx\n0\ty\n\n"), "crfsuite"), HasSubstr("found candidates in groups"));
  EXPECT_THAT(error_of([&] { convert(named, "crfsiute", folder / "out"); }, ErrorKind::kUsage),
              HasSubstr("did you mean 'crfsuite'?"));
}

TEST_F(Convert, RealDataGoToEachTargetThatHoldsThem) {
  PROXBENCH_NEED_DATA(letters, "ocr/letter.data.gz");
  const Dataset data =
      read_data("ocr", {{letters}, {}, ""}, {{"features", "pixels"}, {"words", "50"}, {"split", "none"}})
          .train;
  const ConvertedFiles files = convert(data, "crfsuite", folder / "out");
  EXPECT_EQ(rows_of(read_data("crfsuite", {{files.data}, {}, ""}).train), rows_of(data));
  const ConvertedFiles sparse = convert(data, "crfsparse", folder / "sparse");
  EXPECT_EQ(rows_of(read_data("crfsparse", {{sparse.data}, {}, ""}).train, names_in(sparse.names, "feature")),
            rows_of(data));
}

}  // namespace
}  // namespace proxbench
