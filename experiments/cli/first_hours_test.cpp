/// The first hours of a user with new data, written from README.md and the pages that it links to. Each step
/// works, and each typical mistake ends in one sentence that says what to do.
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
  const char *line, *says;  ///< `says`: text on either stream
};

/// What was printed may be lost only with a word.
TEST_F(FirstHours, AFullDiskUnderStandardOutputIsAFailure) {
  train("--lambda 0.5 --model model.tsv");
  run("run tiny.ini --out results");
  for (const char* line :
       {"train --format crfsuite --train train.txt --lambda 1", "evaluate test.txt",
        "certify --model model.tsv --format crfsuite --train train.txt",
        "predict --model model.tsv --test test.txt",
        "select --format crfsuite --train train.txt --lambda 'path(max, 0.1*max, 3)' --folds 2",
        "status results", "table results", "check tiny.ini", "list",
        "describe --format crfsuite --train train.txt", "--help", "--version"}) {
    const Result r = run(std::string(line) + " > /dev/full");
    EXPECT_EQ(r.status, 1) << line;
    EXPECT_THAT(r.err, testing::AnyOf(HasSubstr("cannot be written"), HasSubstr("No space left"))) << line;
  }
}

TEST_F(FirstHours, LbfgsOfTheLibraryAnswersWhereNoFeatureIsLeft) {
  folder.write("points.svm", "1 1:1\n2 1:-1\n");
  for (const char* solver : {"liblbfgs-owlqn", "owl-qn", "lbfgs-b", "prox-newton"}) {
    const Result r =
        run(std::string("train --format libsvm --train points.svm --lambda 5 --solver ") + solver);
    EXPECT_EQ(r.status, 0) << r.err;
    EXPECT_THAT(r.out, HasSubstr("nonzeros 0 of 2")) << solver;
  }
}

/// The steps use the files of those before them.
TEST_F(FirstHours, StepsWork) {
  for (
      const auto& [line, says] : std::vector<Step>{
          // What there is.
          {"proxbench list", "crfsuite"},
          {"proxbench list --options", "template"},
          // Training on three formats.
          {"proxbench train --format crfsuite --train train.txt --lambda 1 --model model.tsv",
           "solver: prox-newton, the best known"},
          {"proxbench train --format crfsuite --train train.txt --test test.txt --lambda 0.1 --quiet",
           "test accuracy"},
          {"proxbench train --format crfsuite --train train.txt --mu 1 --gap 1e-4", "gap-reached"},
          {"proxbench train --format crfsuite --train train.txt --loss hinge --mu 1 --gap 1e-2",
           "gap-reached"},
          {"proxbench train --format crfsuite --train train.txt --lambda 0.5 --start model.tsv", "converged"},
          {"proxbench train --format conll --train columns.txt --lambda 0.1 --model columns.tsv", "nonzeros"},
          {"proxbench train --format conll --train columns.txt --data-option template=mine.txt --lambda 0.1 "
           "--model mine.tsv",
           "nonzeros"},
          {"grep 1:false mine.tsv", "unary\t1:false\t"},
          {"proxbench train --format libsvm --train points.txt --data-option bias=1 --lambda 0.1 --model "
           "points.tsv",
           "6 documents"},
          {"gzip -c columns.txt | proxbench train --format conll --train - --lambda 0.1 --model piped.tsv",
           "standard input: 12 sequences, 42 positions"},
          {"proxbench select --format crfsuite --train train.txt --lambda 'path(max, 0.01*max, 10)' --folds "
           "3 --model best.tsv",
           "chosen: lambda = "},
          {"proxbench select --format crfsuite --train train.txt --test test.txt --lambda 'path(max, "
           "0.5*max, 3)' --folds 3 --extend",
           "test accuracy"},
          // Predicting.
          {"proxbench predict --model best.tsv --test test.txt", "of 5 positions in 2 instances"},
          {"proxbench predict --model best.tsv --test test.txt --output labels.txt && wc -l < labels.txt",
           "6\n"},
          {"proxbench predict --model columns.tsv --test - --output - < columns.txt",
           "B-PER\nI-PER\nO\nO\nB-LOC\n\nO\nO\n"},
          {"cut -d ' ' -f 1,2 columns.txt | proxbench predict --model columns.tsv --test - --output -",
           "B-PER\nI-PER\nO\nO\nB-LOC\n\nO\nO\n"},
          {"cut -f 2- train.txt > bare.txt && proxbench predict --model best.tsv --test bare.txt "
           "--unlabelled --output bare.labels",
           "labelled 22 positions in 9 instances"},
          {"proxbench predict --model columns.tsv --test columns.txt --marginals --output -",
           "@probability\t"},
          {"cut -d ' ' -f 2- points.txt | proxbench predict --model points.tsv --test - --marginals "
           "--output -",
           "@probability\t"},
          {"proxbench predict --model columns.tsv --test columns.txt --with-gold --output gold.txt && head "
           "-n 1 gold.txt",
           "B-PER\tB-PER\n"},
          {"proxbench predict --model columns.tsv --test columns.txt --nbest 10 --output lists.txt && head "
           "-n 1 lists.txt",
           "\tB-PER\tI-PER\tO\tO\tB-LOC\n"},
          {"proxbench train --format crfsuite --train train.txt --lambda 1 --quiet --model - | proxbench "
           "predict --model - --test test.txt",
           "test accuracy"},
          // Evaluating and certifying.
          {"proxbench evaluate --model columns.tsv --test columns.txt", "### Chunks"},
          {"proxbench evaluate gold.txt", "| micro average | 1.0000 |"},
          {"proxbench predict --model best.tsv --test test.txt --with-gold --output - | proxbench evaluate -",
           "### Most frequent confusions"},
          {"proxbench certify --train columns.txt --model columns.tsv", "so F is proven to a relative gap"},
          {"proxbench certify --train train.txt --model model.tsv --tighten 5", "tightened: min F >= "},
          // Other trainers.
          {"proxbench convert --format conll --train columns.txt --to crfsuite --out columns.crfsuite",
           "columns.crfsuite"},
          {"proxbench train --format crfsuite --train columns.crfsuite --lambda 0.1", "12 sequences"},
          {"proxbench convert --format conll --train columns.txt --to wapiti --out columns.wapiti",
           "columns.wapiti"},
          // Comparing solvers.
          {"proxbench check tiny.ini", "tiny.ini: good; 4 runs"},
          {"proxbench run tiny.ini --out out", "Results: out"},
          {"proxbench run tiny.ini --out out --dry-run", "4 of them stored"},
          {"proxbench status out", "4 done"},
          {"proxbench table out", "| prox-newton |"},
          {"proxbench table out --columns nnz,seconds --format latex", "\\begin{tabular}"},
          {"proxbench report --out page.html out", "page.html"},
          {"proxbench export out --out runs.csv && head -n 1 runs.csv", "name,experiment,dataset"},
          {"proxbench export out --out runs.sqlite && ls", "runs.sqlite"}}) {
    SCOPED_TRACE(line);
    const Result result = type(line);
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_THAT(result.out + result.err, HasSubstr(says));
  }
}

struct Mistake {
  const char* command;
  int status;
  const char* says;
};

TEST_F(FirstHours, MistakesOfTrainingEndInASentenceThatSaysWhatToDo) {
  folder.write("times.txt", "O\tw=12:30\tbias\nB\tw=york\tbias\nO\tw=is\tbias\nB\tw=york\tbias\n");
  folder.write("pairs.txt", "U0:%x[0,0]\nB0:%x[0,0]\n");
  folder.write("huge.txt", "O\tx:1\nB\tx:1e200\n");
  folder.write("raw.txt", "Anna Smith lives in York\nShe has always lived there with him\n");
  for (const auto& [command, status, says] : std::vector<Mistake>{
           {"train --format crfsuite --train columns.txt --lambda 1", 1,
            "columns.txt:1: found no TAB in 'Anna NNP B-PER', expected label TAB attribute[:value]"},
           {"train --format crfsuite --train raw.txt --lambda 1", 1,
            "raw.txt:1: found no TAB in 'Anna Smith lives in York'"},
           {"train --format crfsuite --train - --lambda 1 < columns.txt", 1,
            "standard input:1: found no TAB in 'Anna NNP B-PER'"},
           {"train --format libsvm --train columns.txt --lambda 1", 1, "found 'NNP', expected feature:value"},
           {"train --format crfsuite --train train.txt --test columns.txt --lambda 1", 1,
            "columns.txt:1: found no TAB in 'Anna NNP B-PER'"},
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
            0, "smaller ones may be better: --extend"},
           {"select --format crfsuite --train train.txt --lambda 1 --folds 3", 2,
            "expected a list or path"}}) {
    SCOPED_TRACE(command);
    const Result result = run(command);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_THAT(result.err, HasSubstr(says));
  }
  // The column of the words is read as the labels, so nearly every position has its own label.
  const Result words =
      run("train --format conll --train columns.txt --lambda 1 --data-option label_column=0 "
          "--data-option word_column=1 --data-option attributes=words --data-option sentences=2");
  EXPECT_THAT(words.err, HasSubstr("labels: another column or field"));
}

TEST_F(FirstHours, MistakesAfterTrainingEndInASentenceThatSaysWhatToDo) {
  folder.write("words.txt", "Anna\nlives\n");
  for (const char* line :
       {"proxbench train --format crfsuite --train train.txt --lambda 0.1 --model model.tsv --quiet",
        "proxbench train --format conll --train columns.txt --lambda 0.1 --model columns.tsv --quiet",
        "proxbench train --format libsvm --train points.txt --lambda 0.1 --model points.tsv --quiet",
        "head -n 20 columns.tsv > cut.tsv", "sed 's/^I\t/X\t/' train.txt > renamed.txt",
        "sed 's/w=/v=/' train.txt > other.txt", "sed 's/^train = .*/train = -/' tiny.ini > dash.ini"})
    ASSERT_EQ(type(line).status, 0) << line;
  for (const auto& [command, status, says] : std::vector<Mistake>{
           // The model.
           {"predict --test columns.txt", 2, "--model is required"},
           {"predict --model modle.tsv --test columns.txt", 1,
            "modle.tsv: found no readable file, expected a model"},
           {"predict --model columns.txt --test columns.txt", 1,
            "columns.txt:1: found 'Anna NNP B-PER', expected '# proxbench model 1', the first line of a "
            "model "
            "of `proxbench train --model`"},
           {"evaluate --model cut.tsv --test columns.txt", 1,
            "the file was cut or something was added; copy it again, or train the model again"},
           // The data.
           {"predict --model columns.tsv", 2, "no data, expected --test FILE"},
           {"predict --model columns.tsv --test colums.txt", 1, "no file 'colums.txt'; looked at"},
           {"predict --model model.tsv --test columns.txt", 1,
            "columns.txt:1: found no TAB in 'Anna NNP B-PER', expected label TAB attribute[:value]"},
           {"predict --model model.tsv --test - --output - < columns.txt", 1,
            "standard input:1: found no TAB in 'Anna NNP B-PER'"},
           {"predict --model points.tsv --test columns.txt", 1,
            "columns.txt:1: found 'NNP', expected feature:value"},
           {"predict --model columns.tsv --test words.txt --output -", 1,
            "words.txt:1: found 1 column without a label, expected one more for pos_column = 1"},
           {"certify --model columns.tsv", 2, "format conll: no training file given"},
           {"certify --train renamed.txt --model model.tsv", 1,
            "; the model was trained on other data, with 3 labels of which these lack 1: give all the data "
            "that it was trained on, or train a new model"},
           {"certify --format conll --train columns.txt --model model.tsv", 1,
            "; the model was trained on other data, with 3 labels of which these lack 2: "},
           {"certify --train other.txt --model model.tsv", 1,
            "; the model was trained on other data: give the data, format and options that it was trained "
            "with, or train a new model"},
           // The results.
           {"predict --model columns.tsv --test columns.txt --output none/labels.txt", 1,
            "none/labels.txt: cannot be written: there is no folder none"},
           {"evaluate columns.txt", 0,
            "no gold label is ever predicted: the last two columns of each line must be the gold and the "
            "predicted label, as `predict --with-gold` writes them"},
           {"convert --format conll --train columns.txt --to crf --out x", 2, "crf not in {crfsuite,"},
           {"check dash.ini", 2, "train: found '-', expected a file: each run reads it"},
           {"run tiny", 2, "tiny: cannot be read, expected a config file"},
           {"run .", 2, ".: found a directory, expected a config file"},
           {"table .", 1, "found no run, expected the results of `proxbench run`"}}) {
    SCOPED_TRACE(command);
    const Result result = run(command);
    EXPECT_EQ(result.status, status) << result.err;
    EXPECT_THAT(result.err, HasSubstr(says));
  }
}

}  // namespace
}  // namespace proxbench
