/// Tests completion in shells, and the help from which help2man makes the manual page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/test_command_line.h"
#include "experiments/base/test_folder.h"
#include "experiments/base/text.h"
#include "experiments/config/format_registry.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class Completion : public testing::Test {
 protected:
  std::string output_of(const std::string& command) const {
    const auto out = folder / ".out";
    const std::string line =
        "cd " + in_quotes(folder.path().string()) + " && " + command + " >" + in_quotes(out.string());
    EXPECT_EQ(std::system(line.c_str()), 0) << command;
    return read_text(out);
  }

  /// What bash would insert for the last of the words.
  Words bash(const Words& typed) const {
    std::string words = in_quotes(PROXBENCH_PROGRAM);
    for (const std::string& word : typed) words += " " + in_quotes(word);
    folder.write(".script", "source <(" + in_quotes(PROXBENCH_PROGRAM) + " completion bash)\nCOMP_WORDS=(" +
                                words + ")\nCOMP_CWORD=" + std::to_string(typed.size()) +
                                "\n_proxbench\n[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' "
                                "\"${COMPREPLY[@]}\"\n");
    Words lines;
    std::istringstream in(output_of("bash --norc --noprofile .script"));
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

  TestFolder folder;
};

TEST_F(Completion, KnowsCommandsAndFlags) {
  EXPECT_THAT(bash({"ru"}), ElementsAre("run"));
  EXPECT_THAT(bash({"--vers"}), ElementsAre("--version"));
  EXPECT_THAT(bash({"train", "--sol"}), ElementsAre("--solver"));
  EXPECT_THAT(bash({"train", "--quiet", "--sol"}), ElementsAre("--solver"));
}

TEST_F(Completion, KnowsTheChoicesOfFlags) {
  EXPECT_THAT(bash({"train", "--solver", ""}), ElementsAreArray(solver_registry().names()));
  EXPECT_THAT(bash({"train", "--solver", "=", "ow"}), ElementsAre("owl-qn"));
  EXPECT_THAT(bash({"train", "--format", "="}), ElementsAreArray(data_format_registry().names()));
  EXPECT_THAT(bash({"train", "--backend", ""}), ElementsAre("openmp", "tbb"));
  EXPECT_THAT(bash({"table", "out", "--format", "l"}), ElementsAre("latex"));
  EXPECT_THAT(bash({"select", "--rule", ""}), ElementsAre("best", "one-se"));
}

TEST_F(Completion, LeavesFilesToTheShell) {
  folder.write("train.txt", "");
  EXPECT_TRUE(bash({"train", "--train", "tr"}).empty());
  EXPECT_THAT(output_of(in_quotes(PROXBENCH_PROGRAM) + " completion zsh"), HasSubstr("-o default"));
}

TEST_F(Completion, TheManualPageIsMadeFromTheHelpOfAllCommands) {
  const std::string help = output_of(in_quotes(PROXBENCH_PROGRAM) + " --help-all");
  const Words commands = bash({""});
  EXPECT_THAT(commands, Contains("train"));
  for (const std::string& word : commands) {
    EXPECT_THAT(help, HasSubstr(word));
    if (word.starts_with('-')) continue;
    for (const std::string& flag : bash({word, "--"})) EXPECT_THAT(help, HasSubstr(flag)) << word;
  }
}

}  // namespace
}  // namespace proxbench
