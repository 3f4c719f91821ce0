/// Re-ranking on the command line: lists of the N best structures, and training on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "experiments/base/test_command_line.h"

namespace proxbench {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class RerankCommands : public CommandLine {
 protected:
  void list(const std::string& file, const std::string& flags) {
    const Result result = run("predict --model m.tsv --output " + file + " " + flags);
    ASSERT_EQ(result.status, 0) << result.err;
  }
};

TEST_F(RerankCommands, NbestListsBeginWithThePrediction) {
  ASSERT_EQ(train("--lambda 0.1 --model m.tsv --quiet").status, 0);
  list("text.txt", "--test test.txt --nbest 3");
  std::istringstream text(read_text(folder / "text.txt"));
  std::string line;
  std::vector<std::string> lines;
  while (std::getline(text, line)) lines.push_back(line);
  ASSERT_EQ(lines.size(), 8u) << "two sequences, three structures each, an empty line";
  EXPECT_THAT(lines[0], StartsWith("1\t"));
  EXPECT_THAT(lines[0], testing::EndsWith("\tO\tB\tI")) << "what predict writes without --nbest";
  EXPECT_THAT(lines[2], StartsWith("3\t"));
  EXPECT_EQ(lines[3], "");
  // Gold: O B I; X O. Training does not have the label X.
  list("rerank.txt", "--test test.txt --nbest 2 --nbest-format rerank");
  EXPECT_THAT(read_text(folder / "rerank.txt"), StartsWith("1/1/1\tbase:0\n"));
  list("all.txt", "--test test.txt --nbest 1000");
  const std::string all = read_text(folder / "all.txt");
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 27 + 1 + 9 + 1) << "all label sequences";
}

TEST_F(RerankCommands, NbestRefusesWhatIsNoNumberOfStructures) {
  ASSERT_EQ(train("--lambda 0.1 --model m.tsv --quiet").status, 0);
  for (const auto& [flags, error] :
       {std::pair("--nbest 0 --output x", "--nbest: Value 0 not in range 1 to 1000000"),
        std::pair("--nbest -2 --output x", "--nbest: Value -2 not in range 1 to 1000000"),
        std::pair("--nbest 99999999999999999999 --output x",
                  "--nbest: Value 99999999999999999999 not in range 1 to 1000000"),
        std::pair("--nbest 2", "--nbest requires --output")}) {
    const Result result = run(std::string("predict --model m.tsv --test test.txt ") + flags);
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr(error));
  }
}

TEST_F(RerankCommands, TrainsCertifiesPredictsAndSelects) {
  ASSERT_EQ(train("--lambda 0.5 --model m.tsv --quiet").status, 0);
  list("lists.txt", "--test train.txt --nbest 6 --nbest-format rerank");
  const std::string data = "--format rerank --train lists.txt --threads 1 ";
  const Result trained = run("train " + data + "--test lists.txt --lambda 0.01 --model r.tsv --json s.json");
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_THAT(trained.out, HasSubstr(" of 9 groups\n"));
  EXPECT_THAT(trained.out, HasSubstr("test ranking-f1 "));
  EXPECT_THAT(trained.out, testing::Not(HasSubstr("structure-accuracy")));
  const json summary = read_json("s.json");
  EXPECT_EQ(summary["d"], 1);
  EXPECT_EQ(summary["instances"], 9);
  EXPECT_LE(summary["test_metrics"]["ranking-f1"], summary["test_metrics"]["oracle-f1"]);
  EXPECT_THAT(read_text(folder / "r.tsv"), HasSubstr("\nunary\tbase\tbest\t"));

  ASSERT_EQ(run("certify " + data + "--model r.tsv --json c.json").status, 0);
  EXPECT_EQ(read_json("c.json")["objective"], summary["objective"]);
  const Result predicted =
      run("predict --model r.tsv --test lists.txt --output p.txt --json p.json --threads 1");
  ASSERT_EQ(predicted.status, 0) << predicted.err;
  EXPECT_EQ(read_json("p.json")["test_metrics"], summary["test_metrics"]);
  // A positive weight of the base score selects the first of each list.
  EXPECT_EQ(read_text(folder / "p.txt"), "1\n1\n1\n1\n1\n1\n1\n1\n1\n");
  ASSERT_EQ(run("predict --model r.tsv --test lists.txt --output q.txt --nbest 2").status, 0);
  EXPECT_THAT(read_text(folder / "q.txt"), testing::MatchesRegex("(1\t0\t1\n2\t-[0-9.e-]+\t2\n\n){9}"));
  ASSERT_EQ(
      run("predict --model r.tsv --test lists.txt --output r.txt --nbest 2 --nbest-format rerank").status, 0);
  EXPECT_THAT(read_text(folder / "r.txt"),
              testing::MatchesRegex("([0-9]+/[0-9]+/[0-9]+\tbase:0\n.*\n\n){9}"));

  for (const char* measure : {"accuracy", "loss", "ranking-f1"}) {
    const Result selected =
        run("select " + data + "--lambda 'path(max, 0.1*max, 4)' --folds 3 --measure " + measure);
    EXPECT_EQ(selected.status, 0) << selected.err;
  }
}

}  // namespace
}  // namespace proxbench
