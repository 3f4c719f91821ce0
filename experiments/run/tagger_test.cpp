#include "experiments/run/tagger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "core/base/error.h"
#include "experiments/base/test_file.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

DataConfig config_of(const std::string& format, const std::string& file,
                     TestLabels labels = TestLabels::kIfAny) {
  DataConfig config;
  config.format = format;
  config.options = Options(data_format_registry().find(format).options);
  config.files.test = {file};
  config.files.labels = labels;
  return config;
}

/// The results that a test checks, over all batches.
struct Found {
  std::vector<std::string> labels;
  std::vector<double> structure;
  std::vector<std::vector<double>> at;  ///< by position and output
  Fit fit;
};

Found tag(const std::string& model_text, DataConfig config, int threads = 1) {
  const Model model = parse_model(model_text, "m.tsv");
  const Parallel parallel(threads);
  Tagger tagger(model, std::move(config), parallel);
  Found out;
  tagger.run([&](const DataBatch& batch, const Tagged& tagged) {
    const Marginals marginals(batch, tagged, parallel);
    for (std::size_t i = 0; i < batch.data.instances(); ++i) out.structure.push_back(marginals.structure(i));
    for (Index p = 0; p < batch.data.positions(); ++p) {
      out.labels.push_back(
          tagged.outputs[p] == kNoOutput ? "" : batch.data.vocabulary->outputs[tagged.outputs[p]]);
      out.at.emplace_back();
      for (Index k = 0; k < batch.data.outputs(); ++k) out.at.back().push_back(marginals.at(p, k));
    }
  });
  out.fit = tagger.fit();
  return out;
}

constexpr const char* kChain =
    "# proxbench model 1\n# labels=A\tB\tC\nunary\tx\tA\t0.5\nunary\tx\tC\t-0.25\nunary\ty\tB\t1.5\n"
    "unary\tz\tC\t0.75\npair\tA\tB\t0.8\npair\tB\tB\t-0.3\npair\tB\tC\t0.4\npair\tC\tA\t-1\n";

TEST(Tagger, MarginalsOfAChainAreThoseOfAllSequences) {
  const double x[] = {0.5, 0.0, -0.25}, y[] = {0.0, 1.5, 0.0}, z[] = {0.0, 0.0, 0.75};
  const double pair[3][3] = {{0.0, 0.8, 0.0}, {0.0, -0.3, 0.4}, {-1.0, 0.0, 0.0}};
  // The sequence x:2 | y z | x unknown.
  double total = 0.0, largest = 0.0, marginal[3][3] = {};
  std::string best;
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      for (int c = 0; c < 3; ++c) {
        const double weight = std::exp(2 * x[a] + y[b] + z[b] + x[c] + pair[a][b] + pair[b][c]);
        total += weight;
        marginal[0][a] += weight;
        marginal[1][b] += weight;
        marginal[2][c] += weight;
        if (weight > largest)
          best = {static_cast<char>('A' + a), static_cast<char>('A' + b), static_cast<char>('A' + c)};
        largest = std::max(largest, weight);
      }
  const TempFile file("\tx:2\n\ty\tz\n\tx\tunknown\n\n\ty\n");
  for (const int threads : {1, 2}) {
    const Found found = tag(kChain, config_of("crfsuite", file.path()), threads);
    ASSERT_EQ(found.labels.size(), 4u);
    EXPECT_EQ(found.labels[0] + found.labels[1] + found.labels[2], best);
    EXPECT_NEAR(found.structure[0], largest / total, 1e-14);
    for (std::size_t t = 0; t < 3; ++t)
      for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(found.at[t][k], marginal[t][k] / total, 1e-14);
    EXPECT_NEAR(found.structure[1], std::exp(1.5) / (2.0 + std::exp(1.5)), 1e-14) << "a sequence of one";
    EXPECT_EQ(found.fit.positions, 4u);
    EXPECT_EQ(found.fit.unlabelled, 4u);
    EXPECT_EQ(found.fit.attributes, 6u);
    EXPECT_EQ(found.fit.unknown_attributes, 1u);
    EXPECT_FALSE(found.fit.graded());
  }
}

TEST(Tagger, MarginalsOfATreeAreThoseOfItsLeaves) {
  // Nodes root > 1 > 2 > {4, 5} and root > 3 > 6.
  const TempFile hierarchy("1 2 4\n1 2 5\n3 6\n"), file("0:1 7:1 9:2\n");
  DataConfig config = config_of("lshtc", file.path());
  config.files.hierarchy = hierarchy.path();
  config.options.set("scale", "none");
  const Found found =
      tag("# proxbench model 1\n# "
          "labels=root\t1\t2\t4\t5\t3\t6\nunary\t7\t2\t0.5\nunary\t9\t4\t0.25\nunary\t7\t6\t0.3\n",
          config);
  const double four = std::exp(0.5 + 0.5), five = std::exp(0.5), six = std::exp(0.3);
  const double total = four + five + six;
  ASSERT_EQ(found.labels, std::vector<std::string>{"4"});
  EXPECT_NEAR(found.structure[0], four / total, 1e-14);
  const double expected[] = {1.0,          (four + five) / total, (four + five) / total,
                             four / total, five / total,          six / total,
                             six / total};
  for (std::size_t k = 0; k < 7; ++k) EXPECT_NEAR(found.at[0][k], expected[k], 1e-14) << k;
}

TEST(Tagger, MarginalsOfCandidatesAreThoseOfTheirGroup) {
  const TempFile file("0.5\tbase:1\n1\tbase:2\n\n1\tbase:7\n");
  const Found found =
      tag("# proxbench model 1\n# labels=best\nunary\tbase\tbest\t0.5\n", config_of("rerank", file.path()));
  const double total = std::exp(0.5) + std::exp(1.0);
  EXPECT_EQ(found.labels, (std::vector<std::string>{"", "best", "best"}));
  EXPECT_NEAR(found.structure[0], std::exp(1.0) / total, 1e-14);
  EXPECT_NEAR(found.structure[1], 1.0, 1e-14);
  EXPECT_NEAR(found.at[0][0], std::exp(0.5) / total, 1e-14);
  EXPECT_NEAR(found.at[1][0], std::exp(1.0) / total, 1e-14);
}

/// The scores of all positions and outputs, and the outputs.
std::pair<std::vector<double>, std::vector<Index>> scores_of(const Model& model, DataConfig config,
                                                             int threads) {
  std::pair<std::vector<double>, std::vector<Index>> out;
  Tagger tagger(model, std::move(config), Parallel(threads));
  tagger.run([&](const DataBatch& batch, const Tagged& tagged) {
    for (std::size_t p = 0; p < batch.data.positions(); ++p)
      for (Index k = 0; k < batch.data.outputs(); ++k) out.first.push_back(tagged.scores.column(k)[p]);
    out.second.insert(out.second.end(), tagged.outputs.begin(), tagged.outputs.end());
  });
  return out;
}

TEST(Tagger, ScoresAreTheSumsOverFeaturesInTheirOrderHoweverModelAndDataAreRead) {
  constexpr std::size_t kFeatures = 400, kLabels = 5, kPositions = 20'000;
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<std::vector<double>> weight(kFeatures, std::vector<double>(kLabels, 0.0));
  std::string text = "# proxbench model 1\n# labels=A\tB\tC\tD\tE\n";
  for (std::size_t j = 0; j < kFeatures; ++j)
    for (std::size_t k = 0; k < kLabels; ++k)
      if (j % 2 == 0 || random() % 3 == 0)
        text += fmt::format("unary\tf{}\t{}\t{}\n", j, "ABCDE"[k], weight[j][k] = normal(random));
  text += "pair\tA\tB\t0.7\npair\tC\tE\t-1.3\n";
  std::string data;
  std::vector<double> expected;
  for (std::size_t p = 0; p < kPositions; ++p) {
    std::map<std::size_t, double> row;
    data += "ABCDE"[p % kLabels];  // in their order, so that the training set numbers them alike
    for (int entry = 0; entry < 12; ++entry) {
      const std::size_t j = random() % (kFeatures + 20);
      const double value = p % 3 == 0 ? normal(random) : 1.0;
      data += fmt::format("\tf{}:{}", j, value);
      row[j] += value;
    }
    data += random() % 10 == 0 ? "\n\n" : "\n";
    for (std::size_t k = 0; k < kLabels; ++k) {
      double sum = 0.0;
      for (const auto& [j, value] : row)
        if (j < kFeatures && value != 0.0) sum += value * weight[j][k];
      expected.push_back(sum);
    }
  }
  const TempFile file(data);
  const Model model = parse_model(text, "m.tsv"), binary = parse_model(model_bytes(model), "m.pbm");
  const auto first = scores_of(model, config_of("crfsuite", file.path()), 1);
  EXPECT_EQ(first.first, expected);
  for (const int threads : {1, 2, 3})
    for (const Model& one : {model, binary}) {
      EXPECT_EQ(scores_of(one, config_of("crfsuite", file.path()), threads), first) << threads << " threads";
      // With a training set, features have its numbers, and sums their order.
      DataConfig trained = config_of("crfsuite", file.path());
      trained.files.train = {file.path()};
      const auto whole = scores_of(one, trained, threads);
      EXPECT_EQ(whole.second, first.second);
      for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(whole.first[i], expected[i], 1e-12);
    }
}

TEST(Tagger, StatesWhatFitsBadly) {
  const Model model = parse_model(kChain, "m.tsv");
  Fit fit{.attributes = 10, .unknown_attributes = 5, .positions = 4, .unlabelled = 0, .unknown_labels = 2};
  EXPECT_EQ(fit.warning(model), "") << "half";
  fit.unknown_attributes = 6;
  EXPECT_EQ(fit.warning(model),
            "the model knows 4 of 10 attributes only: give data of the format, options and templates that it "
            "was trained with (its training data: 100 %)");
  fit.unknown_labels = 3;
  EXPECT_THAT(fit.warning(model),
              HasSubstr("; 3 of 4 labels are none of the model's 3: check the column of the label, or give "
                        "text without labels as --unlabelled"));
  // A sparse model has weights for some attributes of its training data only.
  Model sparse = model;
  sparse.header["known_share"] = "0.7";
  fit.unknown_labels = 0;
  EXPECT_EQ(fit.warning(sparse), "");
  EXPECT_EQ(Fit{}.warning(model), "");
}

TEST(Tagger, TextIsUnlabelledWhereItsLinesShowIt) {
  const std::string chunking =
      "# proxbench model 1\n# labels=A\tB\nunary\tw[0]=a\tA\t1\nunary\tw[0]=b\tB\t1\n";
  const auto labels_of = [](const std::string& model, const std::string& format, const std::string& text,
                            TestLabels labels = TestLabels::kIfAny, const std::string& option = "",
                            const std::string& value = "") {
    const TempFile file(text);
    DataConfig config = config_of(format, file.path(), labels);
    if (!option.empty()) config.options.set(option, value);
    const Found found = tag(model, config);
    EXPECT_EQ(found.fit.unlabelled, found.fit.positions) << text;
    std::string out;
    for (const std::string& label : found.labels) out += label;
    return out;
  };
  const std::string words = "attributes";
  EXPECT_EQ(labels_of(chunking, "conll", "a N\nb N\n\nb N\n"), "ABB");
  EXPECT_EQ(labels_of(chunking, "conll", "a\nb\n", TestLabels::kIfAny, words, "words"), "AB");
  EXPECT_EQ(labels_of(chunking, "conll", "a N\nb N\n", TestLabels::kNone), "AB");
  EXPECT_EQ(labels_of(kChain, "crfsuite", "x\n\n\ty\n", TestLabels::kNone), "AB") << "with or without a TAB";
  EXPECT_EQ(labels_of("# proxbench model 1\n# labels=1\t2\nunary\t3\t2\t1\nunary\t4\t1\t1\n", "libsvm",
                      "3:1\n4:1 3:0.5\n"),
            "21");
  EXPECT_EQ(labels_of("# proxbench model 1\n# labels=1\t2\nunary\t3\t2\t1\nunary\t4\t1\t1\n", "crfsparse",
                      "3:1\n4:1 3:0.5\n\n", TestLabels::kNone),
            "21");
  const TempFile mixed("A\tx\n\tx\n");
  EXPECT_THAT(error_of([&] { tag(kChain, config_of("crfsuite", mixed.path())); }),
              HasSubstr(":2: found no label, expected a label in each line, or in none"));
}

}  // namespace
}  // namespace proxbench
