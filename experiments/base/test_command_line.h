#pragma once
/// For tests that run the command line as a process: small data, a config, and a function that runs the
/// program.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/base/test_folder.h"

namespace proxbench {

namespace fs = std::filesystem;

struct Result {
  int status;
  std::string out, err;
};

/// Nine short sequences with three labels. Words mostly determine labels.
inline const char* const kTrain =
    "O\tw=the\tbias\nB\tw=new\tbias\nI\tw=york\tbias\nO\tw=is\tbias\n\n"
    "B\tw=san\tbias\tx:0.5\nI\tw=jose\tbias\n\nO\tw=the\tbias\nO\tw=is\tbias\nB\tw=new\tbias\n\n"
    "B\tw=new\tbias\nI\tw=jose\tbias\nO\tw=the\tbias\tx:0.25\n\nO\tw=is\tbias\n\n"
    "O\tw=the\tbias\nB\tw=san\tbias\nI\tw=york\tbias\n\nO\tw=the\tbias\nO\tw=the\tbias\n\n"
    "B\tw=new\tbias\nI\tw=york\tbias\n\nO\tw=is\tbias\nB\tw=san\tbias\n";
/// "paris" and the label "X" do not occur in training.
inline const char* const kTest =
    "O\tw=the\tbias\nB\tw=new\tbias\nI\tw=york\tbias\n\nX\tw=paris\tbias\nO\tw=is\tbias\n\n";

/// A config of two runs that never end by themselves.
inline const std::string kEndless = read_text(PROXBENCH_SOURCE_DIR "/experiments/base/test_endless.ini");

/// Draws no figures, since drawing takes far longer than the runs.
inline const char* const kConfig = R"([experiment]
name = tiny
lambda = 0.5, 1
threads = 1
tol = 1e-6
max_iterations = 500
reference_tol = 1e-8
reference_time_limit = 20
warm_up = 0
[plot]
quantities =
[data.words]
format = crfsuite
train = train.txt
test = test.txt
[solver.prox-newton]
[solver.gd]
solver = prox-gd
max_iterations = 20
)";

class CommandLine : public testing::Test {
 protected:
  CommandLine() {
    folder.write("train.txt", kTrain);
    folder.write("test.txt", kTest);
    folder.write("tiny.ini", kConfig);
  }

  Result run(const std::string& arguments, const std::string& environment = "") const {
    return type(environment + " '" PROXBENCH_PROGRAM "' " + arguments);
  }
  /// Runs the program without Python, so that a sweep shows nothing: drawing takes far longer than small
  /// runs.
  Result measure(const std::string& arguments) const { return run(arguments, "PROXBENCH_PYTHON=/no/python"); }
  /// Runs a line of the shell in the folder, with `proxbench` on the PATH.
  Result type(const std::string& line) const {
    const fs::path out = folder / "stdout", err = folder / "stderr";
    const int status = std::system(("cd '" + folder.path().string() + "' && PATH='" +
                                    fs::path(PROXBENCH_PROGRAM).parent_path().string() + "':\"$PATH\" && { " +
                                    line + "\n} >'" + out.string() + "' 2>'" + err.string() + "'")
                                       .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_text(out), read_text(err)};
  }
  nlohmann::json read_json(const std::string& name) const {
    return nlohmann::json::parse(read_text(folder / name));
  }
  Result train(const std::string& more) const {
    return run("train --format crfsuite --train train.txt --test test.txt --threads 1 " + more);
  }

  TestFolder folder;
};

}  // namespace proxbench
