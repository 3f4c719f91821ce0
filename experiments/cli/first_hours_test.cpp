/// The first hours of a user with new data. Each step works, and each typical mistake ends in one sentence
/// that says what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/base/test_command_line.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

class FirstHours : public CommandLine {
 protected:
  FirstHours() {
    std::string columns;
    for (int i = 0; i < 6; ++i)
      columns +=
          "Anna NNP B-PER\nSmith NNP I-PER\nlives VBZ O\nin IN O\nYork NNP B-LOC\n\nHe PRP O\nlives VBZ "
          "O\n\n";
    folder.write("columns.txt", columns);
    folder.write("mine.txt",
                 "# the word, whether it is a name, its end\nU0:%x[0,0]\nU1:%t[0,0,\"^\\u\\l*$\"]\n"
                 "U2:%m[0,0,\"..?$\"]\nB\n");
    folder.write("points.txt", "1 1:0.5 2:1\n2 1:-0.5 3:2\n1 1:0.25 2:1\n2 1:-0.75\n1 1:1 2:3\n2 3:1\n");
  }
};

struct Step {
  const char *command, *says;  ///< `says`: text on either stream
};

TEST_F(FirstHours, StepsWork) {
  for (const auto& [command, says] : std::vector<Step>{
           {"list", "crfsuite"},
           {"list --options", "template"},
           {"train --format crfsuite --train train.txt --lambda 1 --model model.tsv",
            "solver: prox-newton, the best known"},
           {"train --format crfsuite --train train.txt --test test.txt --lambda 0.1 --quiet",
            "test accuracy"},
           {"train --format crfsuite --train train.txt --mu 1 --gap 1e-4", "gap-reached"},
           {"train --format crfsuite --train train.txt --loss hinge --mu 1 --gap 1e-2", "gap-reached"},
           {"train --format crfsuite --train train.txt --lambda 0.5 --start model.tsv", "converged"},
           {"train --format conll --train columns.txt --lambda 0.1 --model columns.tsv", "nonzeros"},
           {"train --format conll --train columns.txt --data-option template=mine.txt --lambda 0.1 --model "
            "mine.tsv",
            "nonzeros"},
           {"train --format libsvm --train points.txt --data-option bias=1 --lambda 0.1", "6 documents"},
           {"certify --train train.txt --model model.tsv --tighten 5", "min F >= "},
           {"select --format crfsuite --train train.txt --lambda 'path(max, 0.01*max, 10)' --folds 3 --model "
            "best.tsv",
            "chosen: lambda = "},
           {"select --format crfsuite --train train.txt --test test.txt --lambda 'path(max, 0.5*max, 3)' "
            "--folds 3 --extend",
            "test accuracy"},
           {"convert --format conll --train columns.txt --to crfsuite --out columns.crfsuite", ""},
           {"run tiny.ini --out out --set experiment.warm_up=0", "Results: out"},
           {"export out --out runs.csv", ""}}) {
    SCOPED_TRACE(command);
    const Result result = run(command);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out + result.err, HasSubstr(says));
  }
  EXPECT_THAT(read_text(folder / "mine.tsv"), HasSubstr("\t1:false\t"));
}

struct Mistake {
  const char* command;
  int status;
  const char* says;
};

TEST_F(FirstHours, MistakesEndInASentenceThatSaysWhatToDo) {
  folder.write("times.txt", "O\tw=12:30\tbias\nB\tw=york\tbias\nO\tw=is\tbias\nB\tw=york\tbias\n");
  folder.write("pairs.txt", "U0:%x[0,0]\nB0:%x[0,0]\n");
  folder.write("huge.txt", "O\tx:1\nB\tx:1e200\n");
  folder.write("raw.txt", "Anna Smith lives in York\nShe has always lived there with him\n");
  for (const auto& [command, status, says] : std::vector<Mistake>{
           {"train --format crfsuite --train columns.txt --lambda 1", 1,
            "columns.txt: line 1 has no TAB; is this `--format conll`?"},
           {"train --format crfsuite --train raw.txt --lambda 1", 1,
            "raw.txt: line 1 has no TAB, expected label TAB attribute[:value] TAB ..."},
           {"train --format conll --train train.txt --lambda 1", 1, "; is this `--format crfsuite`?"},
           {"train --format libsvm --train columns.txt --lambda 1", 1,
            "found 'NNP', expected feature:value; is this `--format conll`?"},
           {"train --format crfsuite --train train.txt --test columns.txt --lambda 1", 1,
            "columns.txt: line 1 has no TAB"},
           {"train --format conll --train columns.txt --data-option label_column=3 --lambda 1", 1,
            "expected enough for label_column = 3"},
           {"train --format crfsuite --train times.txt --lambda 0.1", 0,
            "a colon inside a name is written \\:"},
           {"train --format crfsuite --train huge.txt --lambda 1", 1,
            "huge.txt:2: found a feature value of 1e+200, expected at most 1e+150"},
           {"train --format conll --train columns.txt --data-option template=pairs.txt --lambda 1", 1,
            "weights of pairs of labels for each attribute, expected B without %x[ROW,COLUMN]"},
           {"train --format crfsuite --train train.txt --lambda 1000", 0, "gives nonzeros"},
           {"train --format crfsuite --train train.txt", 2,
            "--lambda and --mu are missing, expected --lambda REAL"},
           {"train --format crfsuit --train train.txt --lambda 1", 2, "did you mean 'crfsuite'"},
           {"train --format crfsuite --train trian.txt --lambda 1", 1, "no file 'trian.txt'; looked at"},
           {"select --format crfsuite --train train.txt --lambda 'path(max, 0.5*max, 3)' --measure loss "
            "--folds 3",
            0, "smaller ones may be better: "},
           {"select --format crfsuite --train train.txt --lambda 1 --folds 3", 2, "expected one path"}}) {
    SCOPED_TRACE(command);
    const Result result = run(command);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_THAT(result.err, HasSubstr(says));
  }
  // The label of a column file is predicted from the words.
  const Result words =
      run("train --format conll --train columns.txt --lambda 1 --data-option label_column=0 "
          "--data-option word_column=1 --data-option attributes=words --data-option sentences=2");
  EXPECT_THAT(words.err, HasSubstr("labels: another column or field"));
}

}  // namespace
}  // namespace proxbench
