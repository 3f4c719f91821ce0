/// Tests completion in shells, and the manual page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/options.h"
#include "experiments/base/test_folder.h"
#include "experiments/config/config.h"
#include "experiments/config/data_format.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using Words = std::vector<std::string>;

Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string in_quotes(const std::string& text) {
  return '\'' + text + '\'';
}

class Completion : public testing::Test {
 protected:
  Completion() {
    folder.write(
        "tiny.ini",
        "include = common.ini\n[experiment]\nname = tiny\nlambda = 1\n[data.words]\nformat = libsvm\n");
    folder.write("common.ini", "[solver.gd]\nsolver = prox-gd\n");
    folder.write("train.txt", "");
    folder.write("sub/more.ini", "");
  }

  std::string output_of(const std::string& command) const {
    const auto out = folder / ".out";
    const std::string line =
        "cd " + in_quotes(folder.path().string()) + " && " + command + " >" + in_quotes(out.string());
    EXPECT_EQ(std::system(line.c_str()), 0) << command;
    return read_text(out);
  }

  /// The program's own answer, without help.
  Words ask(const Words& typed) const {
    std::string command = in_quotes(PROXBENCH_PROGRAM) + " __complete";
    for (const std::string& word : typed) command += ' ' + in_quotes(word);
    Words answers = lines_of(output_of(command));
    for (std::string& answer : answers) answer.resize(std::min(answer.size(), answer.find('\t')));
    return answers;
  }

  /// Returns what bash would insert for the last of `parts`. Parts are words as bash splits them, also at
  /// '='. A part that begins with a blank begins a new word.
  Words bash(const Words& parts) const {
    std::string line = PROXBENCH_PROGRAM, words = in_quotes(PROXBENCH_PROGRAM);
    for (const std::string& part : parts) {
      line += part;
      words += ' ' + in_quotes(part.starts_with(' ') ? part.substr(1) : part);
    }
    folder.write(".script",
                 "source <(" + in_quotes(PROXBENCH_PROGRAM) +
                     " completion bash)\nCOMP_LINE=" + in_quotes(line) + "\nCOMP_WORDS=(" + words +
                     ")\nCOMP_CWORD=" + std::to_string(parts.size()) +
                     "\n_proxbench\n[[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return lines_of(output_of("bash --norc --noprofile .script"));
  }

  TestFolder folder;
};

TEST_F(Completion, BashCompletesCommandsFlagsAndNames) {
  EXPECT_THAT(bash({" ru"}), ElementsAre("run"));
  EXPECT_THAT(bash({" train", " --sol"}), ElementsAre("--solver"));
  EXPECT_THAT(bash({" train", " --solver", " "}), ElementsAreArray(solver_registry().names()));
  EXPECT_THAT(bash({" train", " --format", " "}), ElementsAreArray(data_format_registry().names()));
  EXPECT_THAT(bash({" train", " --backend", " "}), ElementsAre("openmp", "tbb"));
  EXPECT_THAT(bash({" table", " out", " --format", " l"}), ElementsAre("latex"));
  EXPECT_THAT(bash({" no-command", " --"}), Contains("--help"));
}

TEST_F(Completion, BashSeesOneWordWhereItTakesWordsApart) {
  EXPECT_THAT(bash({" train", " --solver", "=", "ow"}), ElementsAre("owl-qn"));
  EXPECT_THAT(bash({" train", " --solver", " bcd", " --option", " shr"}), ElementsAre("shrinking="));
  EXPECT_THAT(bash({" train", " --solver", "=", "bcd", " --option", " shrinking", "="}),
              ElementsAre("true", "false"));
  EXPECT_THAT(bash({" train", " --option", " newton", "=", "n"}), ElementsAre("never"));
  EXPECT_THAT(bash({" train", " --format", " ocr", " --data-option", " split", "=", "r"}),
              ElementsAre("random"));
}

TEST_F(Completion, BashCompletesFilesOfTheRightKind) {
  EXPECT_THAT(bash({" run", " "}), UnorderedElementsAre("tiny.ini", "common.ini", "sub"));
  EXPECT_THAT(bash({" check", " t"}), ElementsAre("tiny.ini"));
  EXPECT_THAT(bash({" run", " sub/"}), ElementsAre("sub/more.ini"));
  EXPECT_THAT(bash({" train", " --train", " tiny.ini,tr"}), ElementsAre("tiny.ini,train.txt"));
  EXPECT_THAT(bash({" train", " --train", "=", "tr"}), ElementsAre("train.txt"));
  EXPECT_THAT(bash({" table", " "}), ElementsAre("sub"));
}

TEST_F(Completion, SetKnowsTheSectionsOfTheConfigAndTheKeysOfItsSolversAndFormats) {
  EXPECT_THAT(bash({" run", " tiny.ini", " --set", " solver.gd"}), ElementsAre("solver.gd.", "solver.gdmm."));
  EXPECT_THAT(bash({" run", " tiny.ini", " --set", " solver.gd.lip"}), ElementsAre("solver.gd.lipschitz="));
  EXPECT_THAT(bash({" run", " tiny.ini", " --set", " solver.gd.solver", "=", "ow"}), ElementsAre("owl-qn"));
  EXPECT_THAT(bash({" run", " tiny.ini", " --set", " data.words.zero"}),
              ElementsAre("data.words.zero_based="));
  EXPECT_THAT(bash({" run", " tiny.ini", " --set", " plot.quantities", "=", "nnz,acc"}),
              ElementsAre("nnz,accuracy"));
  EXPECT_THAT(bash({" run", " none.ini", " --set", " experiment.back"}), ElementsAre("experiment.backend="));
}

TEST_F(Completion, OnlyKnowsTheProblemsOfTheConfig) {
  folder.write(
      "whole.ini",
      "[experiment]\nname = whole\nlambda = 0.5, 1\n[data.words]\nformat = crfsuite\ntrain = train.txt\n"
      "[solver.prox-newton]\n");
  EXPECT_THAT(bash({" run", " whole.ini", " --only", " "}), ElementsAre("words-lambda0.5", "words-lambda1"));
  EXPECT_TRUE(bash({" run", " none.ini", " --only", " "}).empty());
}

TEST_F(Completion, KnowsEveryOptionOfTheTables) {
  const auto keys = [](const OptionTable& table, const std::string& prefix) {
    Words names;
    for (const OptionSpec& spec : table) names.push_back(prefix + spec.name + "=");
    return names;
  };
  for (const SolverInfo& solver : solver_registry().items())
    EXPECT_THAT(ask({"train", "--solver", solver.name, "--option", ""}),
                ElementsAreArray(keys(solver.options, "")));
  for (const DataFormatInfo& format : data_format_registry().items())
    EXPECT_THAT(ask({"train", "--data-option", "", "--format", format.name, "--data-option", ""}),
                ElementsAreArray(keys(format.options, "")));
  for (const ConfigSectionInfo& section : config_sections())
    EXPECT_THAT(ask({"run", "--set", section.name + "."}),
                testing::IsSupersetOf(keys(section.keys, section.name + ".")));
}

TEST_F(Completion, ZshIsGivenTheSameAnswers) {
  if (std::system("command -v zsh >/dev/null") != 0) GTEST_SKIP() << "needs zsh";
  const std::string script = output_of(in_quotes(PROXBENCH_PROGRAM) + " completion zsh");
  // Replaces the functions of zsh that offer words and files by ones that print their arguments.
  const auto zsh = [&](const std::string& typed) {
    folder.write(".script",
                 "compdef() { }\ncompset() { }\n_files() { print -r -- files $* }\n"
                 "_describe() { print -rl -- ${(P)3} ${4:+suffix $4} }\n" +
                     script + "words=(" + in_quotes(PROXBENCH_PROGRAM) + " " + typed +
                     ")\nCURRENT=$#words\n_proxbench 2>&1\n");
    return lines_of(output_of("zsh -f .script"));
  };
  EXPECT_THAT(zsh("ru"), ElementsAre("run:Run an experiment: all its runs, tables and figures"));
  EXPECT_THAT(zsh("train --backend ''"), ElementsAre("openmp", "tbb"));
  EXPECT_THAT(zsh("train --solver=owl"),
              ElementsAre("--solver=owl-qn:orthant-wise limited-memory quasi-Newton"));
  EXPECT_THAT(zsh("train --solver bcd --option shr"),
              ElementsAre(testing::StartsWith("shrinking=:shrink "), "suffix -S"));
  EXPECT_THAT(zsh("run ''"), ElementsAre("files -g *.ini"));
  EXPECT_THAT(zsh("table ''"), ElementsAre("files -/"));
}

TEST_F(Completion, TheManualHasEveryCommandAndFlag) {
  const std::string manual = output_of(in_quotes(PROXBENCH_PROGRAM) + " man");
  const auto escaped = [](const std::string& text) {
    std::string out;
    for (const char c : text) out += c == '-' ? std::string("\\-") : std::string(1, c);
    return out;
  };
  for (const char* section :
       {"NAME", "SYNOPSIS", "COMMANDS", "EXIT STATUS", "FILES", "ENVIRONMENT", "EXAMPLES"})
    EXPECT_THAT(manual, HasSubstr("\n.SH " + std::string(section) + "\n"));
  const Words commands = ask({""});
  EXPECT_THAT(commands, Contains("run"));
  for (const std::string& command : commands) {
    const std::size_t begin = manual.find("\n.SS proxbench " + escaped(command));
    ASSERT_NE(begin, manual.npos) << command;
    const std::string part = manual.substr(begin, manual.find("\n.S", begin + 1) - begin);
    for (const std::string& flag : ask({command, "-"})) {
      const bool there =
          part.find(escaped(flag) + "\\fR") != part.npos || manual.find(escaped(flag) + "\\fR") < begin;
      EXPECT_TRUE(there) << command << " " << flag;
    }
  }
}

}  // namespace
}  // namespace proxbench
