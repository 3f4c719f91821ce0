/// User-defined templates, and data with unusual sentences, on the command line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/test_command_line.h"

namespace proxbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr const char* kColumns =
    "The DT O\nnew NNP B\nyork NNP I\nis VB O\n\nIs VB O\n\nsan NNP B\njose NNP I\n\nthe DT O\n\nThe DT "
    "O\nis VB "
    "O\n\n";

TEST_F(CommandLine, AModelHoldsItsTemplates) {
  folder.write("columns.txt", kColumns);
  folder.write("mine.txt",
               "# the word, and what comes before it\nU0:%x[0,word]\nU1:%x[-1,word]/%x[0,word]\nB\n");
  const std::string data =
      "--format conll --threads 1 --data-option template=mine.txt --data-option lowercase=word ";
  ASSERT_EQ(run("train --train columns.txt --lambda 0.05 --quiet --json s.json --model m.tsv "
                "--data-option min_count=2 " +
                data)
                .status,
            0);
  EXPECT_THAT(read_text(folder / "m.tsv"),
              HasSubstr("\n# data-option.template=# the word, and what comes before it\\nU0:%x[0,word]\\n"));
  fs::remove(folder / "mine.txt");
  ASSERT_EQ(run("certify --train columns.txt --model m.tsv --threads 1 --json c.json").status, 0);
  EXPECT_EQ(read_json("c.json")["objective"], read_json("s.json")["objective"]);
  EXPECT_EQ(read_json("c.json")["d"], read_json("s.json")["d"]);
  folder.write("new.txt", "THE DT O\n\nis VB O\n");
  const Result alone = run("predict --model m.tsv --test new.txt --output p.txt");
  ASSERT_EQ(alone.status, 0) << alone.err;
  EXPECT_EQ(read_text(folder / "p.txt"), "O\n\nO\n")
      << "attributes that the new file has once count, as min_count is of the training set";
  const Result beside = run("predict --model m.tsv --train columns.txt --test new.txt --output q.txt");
  EXPECT_EQ(beside.out, alone.out);
  EXPECT_EQ(read_text(folder / "q.txt"), read_text(folder / "p.txt"));
}

TEST_F(CommandLine, MinCountDropsNoAttributeThatTheModelHas) {
  // Only :b separates X from Y. Without it the two tokens would get the same label.
  folder.write("columns.txt", "a X\n\nb Y\n\na X\n\nb Y\n");
  folder.write("mine.txt", "U:%x[0,0]\n");
  ASSERT_EQ(run("train --format conll --train columns.txt --lambda 0.1 --threads 1 --quiet --model m.tsv "
                "--data-option template=mine.txt --data-option min_count=2")
                .status,
            0);
  folder.write("new.txt", "b Y\n\na X\n");
  EXPECT_THAT(run("predict --model m.tsv --test new.txt").out, HasSubstr("test accuracy 1.0000: 2 of 2"));
}

TEST_F(CommandLine, TemplatesThatAreWrongAreErrorsWithFileAndLine) {
  folder.write("columns.txt", kColumns);
  const auto train_with = [&](const std::string& templates) {
    folder.write("mine.txt", templates);
    return run("train --format conll --train columns.txt --lambda 1 --data-option template=mine.txt");
  };
  EXPECT_THAT(train_with("U0:%x[0,0]\nB0:%x[0,0]\n").err, HasSubstr("mine.txt:2: found 'B0:%x[0,0]'"));
  EXPECT_THAT(train_with("U0:%x[0,2]\n").err, HasSubstr("mine.txt:1: found column '2'"));
  EXPECT_EQ(train_with("B\n").status, 1);
  EXPECT_THAT(run("train --format conll --train columns.txt --lambda 1 --data-option template=gone.txt").err,
              HasSubstr("no file 'gone.txt'; looked at gone.txt"));
}

TEST_F(CommandLine, AConfigNamesTemplatesBesideIt) {
  folder.write("sub/columns.txt", kColumns);
  folder.write("sub/mine.txt", "U0:%x[0,0]\n");
  folder.write("sub/own.ini",
               "[experiment]\nname = own\nlambda = 1\nthreads = 1\nreference_tol = "
               "1e-4\n[data.words]\nformat = conll\n"
               "train = columns.txt\ntemplate = mine.txt\n[solver.prox-gd]\n");
  const Result first = run("run sub/own.ini --out out");
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_THAT(run("run sub/own.ini --out out --dry-run --why").out,
              testing::Not(HasSubstr("data: other bytes")));
  folder.write("sub/mine.txt", "U0:%x[1,0]\n");
  EXPECT_THAT(run("run sub/own.ini --out out --dry-run --why").out, HasSubstr("data: other bytes"));
  folder.write("sub/bad.ini", read_text(folder / "sub/own.ini") +
                                  "[data.more]\nformat = conll\n"
                                  "train = columns.txt\ntemplate = gone.txt\n");
  const Result bad = run("check sub/bad.ini");
  EXPECT_EQ(bad.status, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.ini:14"));
  EXPECT_THAT(bad.err, HasSubstr("template: no file 'gone.txt'"));
}

TEST_F(CommandLine, LabelsThatOnlyTestDataHaveAreErrorsOfThePrediction) {
  folder.write("columns.txt", kColumns);
  folder.write("columns_test.txt", "the DT O\nis VB O\n\nXyz XX NEW\n\nthe DT NEW\nis VB O\n");
  folder.write("test.txt", "O\tw=the\tbias\nO\tw=is\tbias\n\nNEW\txyz\n\nNEW\tw=the\tbias\nO\tw=is\tbias\n");
  for (const std::string files : {"--format conll --train columns.txt --test columns_test.txt ",
                                  "--format crfsuite --train train.txt --test test.txt "}) {
    ASSERT_EQ(run("train --lambda 0.1 --threads 1 --quiet --json s.json --model m.tsv " + files).status, 0);
    const json trained = read_json("s.json");
    const Result predicted = run("predict --model m.tsv --json p.json " + files);
    ASSERT_EQ(predicted.status, 0) << predicted.err;
    const json metrics = read_json("p.json");
    EXPECT_EQ(metrics["positions"], 5);
    EXPECT_EQ(metrics["correct"], 3) << files << "two labels that no prediction can be";
    EXPECT_EQ(metrics["test_accuracy"], 0.6);
    EXPECT_EQ(trained["test_accuracy"], 0.6);
    EXPECT_NEAR(metrics["test_metrics"]["structure-accuracy"].get<double>(), 1.0 / 3.0, 1e-12);
  }
}

TEST_F(CommandLine, SentencesOfOneTokenAreReadTrainedAndPredicted) {
  folder.write("columns.txt", "a N X\n\nb N Y\n\na N X\n\nb N Y\n");
  ASSERT_EQ(run("train --format conll --train columns.txt --lambda 0.01 --threads 1 --quiet --json s.json "
                "--model m.tsv")
                .status,
            0);
  const json trained = read_json("s.json");
  EXPECT_EQ(trained["instances"], 4);
  EXPECT_EQ(trained["positions"], 4);
  EXPECT_LT(trained["loss"].get<double>(), 0.1) << "the word tells the label";
  const Result predicted = run("predict --model m.tsv --test columns.txt --output p.txt");
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  EXPECT_EQ(read_text(folder / "p.txt"), "X\n\nY\n\nX\n\nY\n");
}

}  // namespace
}  // namespace proxbench
