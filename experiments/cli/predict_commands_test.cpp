/// Labelling text and evaluating labels on the command line.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>
#include <sstream>

#include "experiments/base/test_command_line.h"
#include "experiments/base/test_file.h"

namespace proxbench {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;

/// The text of kTest without its labels.
constexpr const char* kText =
    "\tw=the\tbias\n\tw=new\tbias\n\tw=york\tbias\n\n\tw=paris\tbias\n\tw=is\tbias\n\n";

class PredictCommands : public CommandLine {
 protected:
  PredictCommands() {
    EXPECT_EQ(train("--lambda 0.1 --model m.tsv --quiet").status, 0);
    folder.write("text.txt", kText);
  }
};

TEST_F(PredictCommands, LabelsTextWithoutLabels) {
  ASSERT_EQ(run("predict --model m.tsv --test test.txt --output p.txt").status, 0);
  const Result shown = run("predict --model m.tsv --test text.txt --output q.txt --json q.json");
  ASSERT_EQ(shown.status, 0) << shown.err;
  EXPECT_EQ(read_text(folder / "q.txt"), read_text(folder / "p.txt"));
  EXPECT_EQ(shown.out, "labelled 5 positions in 2 instances\n") << "there is no accuracy to tell";
  EXPECT_TRUE(read_json("q.json")["test_accuracy"].is_null());
  EXPECT_EQ(read_json("q.json")["unlabelled"], 5);
  folder.write("bare.txt", "w=the\tbias\nw=new\tbias\nw=york\tbias\n\nw=paris\tbias\nw=is\tbias\n");
  ASSERT_EQ(run("predict --model m.tsv --test bare.txt --unlabelled --output r.txt").status, 0);
  EXPECT_EQ(read_text(folder / "r.txt"), read_text(folder / "p.txt"));
  // Each mistake ends in one sentence that says what to do.
  for (const auto& [flags, expected] :
       {std::pair("--test text.txt", "expected --output FILE for those of the model, or --output -"),
        std::pair("--test bare.txt --unlabelled", "--unlabelled requires --output"),
        std::pair("--test test.txt --marginals", "--marginals requires --output"),
        std::pair("--test text.txt --with-gold --output x", "the text has no labels, expected some for"),
        std::pair("--test test.txt --nbest 2 --marginals --output x", "--marginals excludes --nbest"),
        std::pair("--test test.txt --output - --json -",
                  "both go to standard output, expected a file for one of them")}) {
    const Result wrong = run(std::string("predict --model m.tsv ") + flags);
    EXPECT_EQ(wrong.status, 2) << flags;
    EXPECT_THAT(wrong.err, HasSubstr(expected));
    EXPECT_FALSE(fs::exists(folder / "x"));
  }
}

TEST_F(PredictCommands, TakesABinaryModelForATextModel) {
  ASSERT_EQ(run("convert --model m.tsv --out m.pbm").status, 0);
  ASSERT_EQ(train("--lambda 0.1 --model trained.pbm --quiet").status, 0);
  ASSERT_EQ(run("convert --model m.pbm --out back.tsv").status, 0);
  EXPECT_EQ(read_text(folder / "trained.pbm"), read_text(folder / "m.pbm"));
  EXPECT_EQ(read_text(folder / "back.tsv"), read_text(folder / "m.tsv"));
  for (const std::string command :
       {"predict --test test.txt --output - --marginals", "predict --test test.txt --output - --nbest 3",
        "predict --train train.txt --test test.txt --output -", "evaluate --test test.txt",
        "certify --train train.txt"}) {
    const Result text = run(command + " --model m.tsv"), binary = run(command + " --model m.pbm");
    EXPECT_EQ(text.status, 0) << text.err;
    EXPECT_EQ(binary.out, text.out) << command << binary.err;
  }
  EXPECT_EQ(run("predict --test test.txt --output - --model - < m.pbm").out,
            run("predict --test test.txt --output - --model m.tsv").out);
  std::string damaged = read_text(folder / "m.pbm");
  damaged[damaged.size() / 2] ^= 1;
  folder.write("m.pbm", damaged);
  const Result refused = run("predict --test test.txt --output x --model m.pbm");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("m.pbm: found other content than was written"),
                                 HasSubstr("copy the file again, or train the model again")));
  EXPECT_FALSE(fs::exists(folder / "x"));
  EXPECT_EQ(run("convert --out x").status, 2) << "neither data nor a model";
}

TEST_F(PredictCommands, StandardInputAndOutputTakeThePlaceOfFiles) {
  ASSERT_EQ(run("predict --model m.tsv --test test.txt --output p.txt").status, 0);
  const Result piped = run("predict --model - --test test.txt --output - < m.tsv");
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_EQ(piped.out, read_text(folder / "p.txt")) << "labels alone";
  EXPECT_EQ(run("predict --model m.tsv --test - --output - < text.txt").out, piped.out);
  EXPECT_EQ(run("predict --model m.tsv --test - --output - < text.txt | cat").out, piped.out + "\n")
      << "in a pipe each sequence ends with an empty line";
  // Everything except the name of the file is the same.
  const auto after_name = [](const std::string& model) { return model.substr(model.find("# format=")); };
  const Result trained =
      run("train --format crfsuite --train - --test test.txt --lambda 0.1 --threads 1 --model - < train.txt");
  EXPECT_THAT(trained.out, StartsWith("# proxbench model 1\n"));
  EXPECT_EQ(after_name(trained.out), after_name(read_text(folder / "m.tsv")));
  EXPECT_THAT(run("predict --model m.tsv --test - --output - < /dev/null").err,
              HasSubstr("standard input: found an empty file, expected label TAB"));
}

/// A named pipe, held open at this end.
class NamedPipe {
 public:
  explicit NamedPipe(const fs::path& path) {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~NamedPipe() { close(); }
  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  void write(const std::string& text) const {
    EXPECT_EQ(::write(descriptor_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  /// Returns everything up to an empty line, or until a timeout.
  std::string answer() const {
    constexpr int kMilliseconds = 20'000;
    std::string out;
    pollfd wait{descriptor_, POLLIN, 0};
    while (!out.ends_with("\n\n") && poll(&wait, 1, kMilliseconds) == 1) {
      char c = 0;
      if (::read(descriptor_, &c, 1) != 1) break;
      out += c;
    }
    return out;
  }

 private:
  int descriptor_;
};

TEST_F(PredictCommands, AStreamIsLabelledAsItComes) {
  NamedPipe in(folder / "in"), out(folder / "out");
  ASSERT_EQ(run("predict --model m.tsv --test in --output out &").status, 0);
  // The writer waits for the answer, even if the next sequence has begun.
  in.write("\tw=the\tbias\n\tw=new\tbias\n\n");
  EXPECT_EQ(out.answer(), "O\nB\n\n");
  in.write("\tw=is\tbias\n\n\tw=new\tbias\n");
  EXPECT_EQ(out.answer(), "O\n\n");
  in.write("\tw=york\tbias\n\n\tw=san\tbias\n");
  EXPECT_EQ(out.answer(), "B\nI\n\n");
  in.close();
  EXPECT_EQ(out.answer(), "B\n\n") << "the last sequence ends with the stream";
}

/// The lines of `crfsuite tag -p -i -l` of CRFsuite 0.12.2, except for its lines `@score`, after
/// `crfsuite learn -a lbfgs -p c1=0 -p c2=0.5 -p feature.possible_states=1 -p feature.possible_transitions=1
/// -p epsilon=1e-11 -p delta=1e-14`, whose objective is F with mu = 1.
const char* const kCrfsuiteMarginals =
    "@probability\t0.666946\n"
    "O:0.884981\tO:0.884981\tB:0.064091\tI:0.050928\n"
    "B:0.856233\tO:0.090380\tB:0.856233\tI:0.053388\n"
    "I:0.777811\tO:0.117970\tB:0.104219\tI:0.777811\n\n"
    "@probability\t0.310832\n"
    "O:0.446721\tO:0.446721\tB:0.278323\tI:0.274956\n"
    "O:0.667183\tO:0.667183\tB:0.151376\tI:0.181441\n\n";

/// Replaces the numbers of a line of marginals by `#`. Appends the numbers to `numbers`.
std::string without_numbers(const std::string& text, std::vector<double>& numbers) {
  static const std::regex number("0\\.[0-9]+(e-[0-9]+)?");
  for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end; ++at)
    numbers.push_back(std::stod(at->str()));
  return std::regex_replace(text, number, "#");
}

TEST_F(PredictCommands, WritesTheMarginalsOfCrfsuite) {
  ASSERT_EQ(run("train --format crfsuite --train train.txt --mu 1 --gap 1e-12 --model l2.tsv --quiet").status,
            0);
  const Result shown = run("predict --model l2.tsv --test test.txt --marginals --output - | cat");
  std::vector<double> ours, theirs;
  EXPECT_EQ(without_numbers(shown.out, ours), without_numbers(kCrfsuiteMarginals, theirs));
  // Two numbers on either side of a rounding boundary differ by one in the sixth decimal, up to rounding.
  constexpr double kOneDigit = 1.001e-6;
  EXPECT_THAT(ours, testing::Pointwise(testing::DoubleNear(kOneDigit), theirs));
}

TEST_F(PredictCommands, WritesGold) {
  ASSERT_EQ(run("predict --model m.tsv --test test.txt --with-gold --output g.txt").status, 0);
  EXPECT_THAT(read_text(folder / "g.txt"), MatchesRegex("O\tO\nB\tB\nI\tI\n\nX\t[OBI]\nO\tO\n"))
      << "also a label that the model does not have";
}

TEST_F(PredictCommands, DataThatDoNotFitAreWarnedOf) {
  folder.write("other.txt", "N\tword=the\n\nN\tword=new\tbias\nV\tword=york\tw=the\tx:2\n");
  const Result result = run("predict --model m.tsv --test other.txt --output p.txt --json p.json");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.err, StartsWith("warning: the model knows "));
  EXPECT_THAT(result.err, AllOf(HasSubstr(" of 6 attributes only: give data of the format"),
                                HasSubstr("; 3 of 3 labels are none of the model's 3: check the column")));
  EXPECT_THAT(result.out, Not(HasSubstr("accuracy"))) << "none of the labels can be predicted";
  EXPECT_EQ(read_json("p.json")["unknown_labels"], 3);
  EXPECT_THAT(run("predict --model m.tsv --test test.txt").err, IsEmpty());
  // These data differ from the training data.
  EXPECT_THAT(run("certify --train train.txt --model m.tsv").err, IsEmpty());
  folder.write("more.txt", read_text(folder / "train.txt") + "\nO\tw=the\n");
  EXPECT_THAT(run("certify --train more.txt --model m.tsv").err,
              StartsWith("warning: these data differ from the model's training data (digest "));
}

TEST_F(PredictCommands, AModelThatWasCutIsRefused) {
  const std::string model = read_text(folder / "m.tsv");
  folder.write("cut.tsv", model.substr(0, model.size() / 2));
  const Result cut = run("predict --model cut.tsv --test test.txt");
  EXPECT_EQ(cut.status, 1);
  EXPECT_THAT(cut.err, HasSubstr("the file was cut or something was added; copy it again, or train"));
  std::string before = model;
  for (const char* line : {"# lines=", "# checksum="})
    before.erase(before.find(line), before.find('\n', before.find(line)) + 1 - before.find(line));
  folder.write("before.tsv", before);
  EXPECT_EQ(run("predict --model before.tsv --test test.txt").out,
            run("predict --model m.tsv --test test.txt").out);
}

TEST_F(PredictCommands, EvaluatesAModelAndColumnsAlike) {
  const Result of_model = run("evaluate --model m.tsv --test test.txt --json m.json");
  ASSERT_EQ(of_model.status, 0) << of_model.err;
  EXPECT_THAT(of_model.out, AllOf(StartsWith("accuracy 0.8000 of 5 positions in 2 instances\n"),
                                  HasSubstr("\n### Labels\n"), HasSubstr("\n### Chunks in IOB\n"),
                                  HasSubstr("\n| micro average | 0.8000 | 0.8000 | 0.8000 | 5 |\n"),
                                  HasSubstr("\n### Most frequent confusions, of 1\n")));
  ASSERT_EQ(run("predict --model m.tsv --test test.txt --with-gold --output - | '" PROXBENCH_PROGRAM
                "' evaluate - --json c.json")
                .status,
            0);
  EXPECT_EQ(read_json("c.json")["labels"], read_json("m.json")["labels"]);
  EXPECT_EQ(read_json("c.json")["confusions"], read_json("m.json")["confusions"]);
  EXPECT_EQ(run("evaluate").status, 2);
  EXPECT_THAT(run("evaluate").err,
              HasSubstr("expected either FILE with gold and predicted labels, or --model"));
  folder.write("one.txt", "O\n");
  EXPECT_THAT(run("evaluate one.txt").err,
              HasSubstr("one.txt:1: found one column, expected gold and predicted label as the last two"));
  EXPECT_THAT(run("evaluate --model m.tsv --test text.txt").err,
              HasSubstr("evaluate: the text has no labels to compare with, expected labelled text"));
}

/// conlleval counts "word gold predicted" of these lines: gold chunks are NP(1-2) VP(3) NP(4) PP(6),
/// predicted ones NP(1-2) VP(3) NP(4-5) PP(6). So one of two NP chunks is correct on either side. All other
/// chunks and 5 of 6 tokens are correct.
TEST_F(PredictCommands, EvaluatesChunksAsConllevalDoes) {
  folder.write("columns.txt",
               "a B-NP B-NP\nb I-NP I-NP\nc B-VP B-VP\nd B-NP B-NP\ne O I-NP\n\nf B-PP B-PP\n");
  ASSERT_EQ(run("evaluate columns.txt --json e.json").status, 0);
  const json chunks = read_json("e.json")["chunks"];
  EXPECT_EQ(chunks["micro"], json({{"precision", 0.75}, {"recall", 0.75}, {"f1", 0.75}, {"support", 4}}));
  EXPECT_EQ(chunks["by_name"]["NP"],
            json({{"precision", 0.5}, {"recall", 0.5}, {"f1", 0.5}, {"support", 2}}));
  EXPECT_EQ(chunks["by_name"]["VP"]["f1"], 1.0);
  EXPECT_NEAR(read_json("e.json")["accuracy"].get<double>(), 5.0 / 6.0, 1e-15);
}

TEST_F(PredictCommands, EvaluatesLabelsAsScikitLearnDoes) {
  if (std::system("/usr/bin/python3 -c 'import sklearn' >/dev/null 2>&1") != 0)
    GTEST_SKIP() << "Debian's python3-sklearn is missing";
  std::string columns;
  unsigned state = 7;
  const auto label = [&] {
    state = state * 1664525u + 1013904223u;
    return std::string(1, "AABCDE"[(state >> 16) % 6]);
  };
  for (int i = 0; i < 300; ++i) {
    const std::string gold = label(), other = label();
    columns += gold + "\t" + (i % 3 == 0 ? other : gold) + (i % 10 == 0 ? "\n\n" : "\n");
  }
  folder.write("columns.txt", columns + "only-gold\tA\nB\tonly-predicted\n");
  folder.write("report.py",
               "import json, warnings\nfrom sklearn.metrics import "
               "classification_report\nwarnings.simplefilter('ignore')\n"
               "gold, predicted = zip(*(l.split() for l in open('columns.txt') if l.strip()))\n"
               "json.dump(classification_report(gold, predicted, output_dict=True), open('s.json', 'w'))\n");
  ASSERT_EQ(std::system(("cd '" + folder.path().string() + "' && /usr/bin/python3 report.py").c_str()), 0);
  ASSERT_EQ(run("evaluate columns.txt --json e.json").status, 0);
  const json theirs = read_json("s.json"), ours = read_json("e.json")["labels"];
  const auto expect_same = [](const json& own, const json& other) {
    for (const auto& [key, their_key] : {std::pair("precision", "precision"),
                                         {"recall", "recall"},
                                         {"f1", "f1-score"},
                                         {"support", "support"}})
      EXPECT_NEAR(own[key].get<double>(), other[their_key].get<double>(), 1e-12) << key;
  };
  ASSERT_EQ(ours["by_name"].size(), 7u);
  for (const auto& [name, own] : ours["by_name"].items()) expect_same(own, theirs[name]);
  expect_same(ours["macro"], theirs["macro avg"]);
  EXPECT_NEAR(ours["micro"]["f1"].get<double>(), theirs["accuracy"].get<double>(), 1e-12);
}

TEST_F(PredictCommands, WritesTheColumnsOfTheTextAndTheLabels) {
  ASSERT_EQ(run("predict --model m.tsv --test test.txt --output p.txt").status, 0);
  std::string expected;
  std::istringstream labels(read_text(folder / "p.txt")), lines(kText);
  for (std::string line, label; std::getline(lines, line);) {
    std::getline(labels, label);
    expected += line.empty() ? "\n" : line + "\t" + label + "\n";
  }
  EXPECT_EQ(run("predict --model m.tsv --test text.txt --columns --output -").out, expected);
  EXPECT_EQ(run("predict --model m.tsv --test - --columns --output - < text.txt").out, expected);
  const Result both =
      run("predict --model m.tsv --test test.txt --columns --with-gold --output - | '" PROXBENCH_PROGRAM
          "' evaluate - --json c.json");
  ASSERT_EQ(both.status, 0) << both.err;
  ASSERT_EQ(run("evaluate --model m.tsv --test test.txt --json m.json").status, 0);
  EXPECT_EQ(read_json("c.json")["labels"], read_json("m.json")["labels"]);
  const Result trained = run("predict --model m.tsv --train train.txt --test test.txt --columns --output x");
  EXPECT_EQ(trained.status, 2);
  EXPECT_THAT(trained.err, HasSubstr("--columns: found --train, expected a model, --test FILE and a format"));
  folder.write("d.svm", "1 1:1\n2 2:1\n");
  ASSERT_EQ(run("train --format libsvm --train d.svm --lambda 0.1 --model d.tsv").status, 0);
  const Result documents = run("predict --model d.tsv --test d.svm --columns --output x");
  EXPECT_EQ(documents.status, 2);
  EXPECT_THAT(documents.err, HasSubstr("--columns: format libsvm has no columns, expected one of sequences"));
  EXPECT_FALSE(fs::exists(folder / "x"));
}

TEST_F(PredictCommands, KeepsCommentsAndRangesOfConllu) {
  const std::string text =
      "# text = Del\n1-2\tDel\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDe\tde\tADP\t_\t_\t_\t_\t_\t_\n"
      "2\tel\tel\tDET\t_\t_\t_\t_\t_\t_\n\n";
  folder.write("t.conllu", text + text);
  ASSERT_EQ(run("train --format conllu --train t.conllu --lambda 0.01 --model u.tsv").status, 0);
  const std::string labelled =
      run("predict --model u.tsv --test t.conllu --columns --with-gold --output u.txt").err;
  std::string expected = text + text;
  for (const char* label : {"DET", "ADP"})
    for (std::size_t at = expected.size(); (at = expected.rfind(label, at)) != expected.npos; --at)
      expected.insert(expected.find('\n', at), std::string("\t") + label + "\t" + label);
  EXPECT_EQ(read_text(folder / "u.txt"), expected) << labelled;
  const Result evaluated = run("evaluate u.txt");
  EXPECT_THAT(evaluated.out, StartsWith("accuracy 1.0000 of 4 positions in 2 instances\n"));
  EXPECT_THAT(evaluated.err, HasSubstr("ranges and empty nodes of CoNLL-U left out: 2"));
}

TEST_F(PredictCommands, SaysWhichNotationOfChunksItCounts) {
  folder.write("bioes.txt", "B-X B-X\nE-X E-X\nS-Y S-Y\nS-Y O\nO O\n");
  const Result found = run("evaluate bioes.txt --json b.json");
  EXPECT_THAT(found.out, HasSubstr("\n### Chunks in BIOES\n"));
  EXPECT_EQ(read_json("b.json")["chunk_scheme"], "BIOES");
  EXPECT_EQ(read_json("b.json")["chunks"]["micro"]["recall"], 2.0 / 3.0);
  const Result other = run("evaluate bioes.txt --chunks IOB");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("chunks: found label 'E-X', expected O or TAG-TYPE with the tags of IOB"));
  folder.write("none.txt", "B-X B-X\nI-X I-X\nX-X O\n");
  EXPECT_THAT(run("evaluate none.txt").err,
              HasSubstr("no chunks are counted: most labels are those of IOB, but label 'X-X' is not"));
}

TEST_F(PredictCommands, SaysWhatTheTextMakesUncertain) {
  folder.write("colon.txt", "O\tw=12:30\nO\tw=the\n\n");
  for (const char* command : {"predict", "evaluate"})
    EXPECT_THAT(
        run(std::string(command) + " --model m.tsv --test colon.txt").err,
        HasSubstr("fields such as 'w=12:30' (colon.txt:1, 1 in all) are read as an attribute and its value"));
}

TEST_F(PredictCommands, ReadsAPackedModel) {
  folder.write("m.gz", gzipped(read_text(folder / "m.tsv")));
  EXPECT_EQ(run("predict --model m.gz --test test.txt").out,
            run("predict --model m.tsv --test test.txt").out);
}

TEST_F(PredictCommands, DescribesDataWithoutTraining) {
  folder.write("a,b.txt", "B-X\tw=a\tw=b\nO\tw=12:30\n\n");
  folder.write("c.txt", "O\tw=a\n\nO\tw=c\n\n");
  const Result shown = run("describe --format crfsuite --train a,b.txt c.txt --test test.txt --json d.json");
  ASSERT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, AllOf(HasSubstr("format crfsuite, oracle chain, labels of chunks in IOB\n"),
                               HasSubstr("training data: a,b.txt, c.txt: 3 sequences, 4 positions\n"),
                               HasSubstr("\n  a,b.txt: 1 instances, 2 positions\n"),
                               HasSubstr("\n| O | 3 | 0.7500 |\n")));
  EXPECT_THAT(shown.err, HasSubstr("fields such as 'w=12:30' (a,b.txt:2, 1 in all)"));
  const json facts = read_json("d.json");
  EXPECT_EQ(facts["train"]["labels"], json({{"B-X", 1}, {"O", 3}}));
  EXPECT_EQ(facts["train"]["features"], 4);
  EXPECT_EQ(facts["train"]["entries"], 5);
  EXPECT_EQ(facts["train"]["longest"], 2);
  EXPECT_EQ(facts["train"]["files"][1], json({{"file", "c.txt"}, {"instances", 2}, {"positions", 2}}));
  EXPECT_EQ(facts["test"]["positions"], 5);
  EXPECT_EQ(facts["warnings"].size(), 1u);
  EXPECT_THAT(run("describe --train c.txt").err, HasSubstr("--format is missing"));
}

TEST_F(PredictCommands, AFolderIsNoFile) {
  const Result wrong = run("describe --format crfsuite --train .");
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.err, HasSubstr("found a directory, expected a file"));
  EXPECT_THAT(run("predict --model . --test test.txt").err, HasSubstr("found a directory, expected a model"));
}

TEST_F(PredictCommands, EvaluateWarnsOfLabelsThatDifferOnlyInCaseOrBlanks) {
  folder.write("columns.txt", "B-X\tB-X\nb-x\tB-X\nO\tO\xC2\xA0\n");
  EXPECT_THAT(
      run("evaluate columns.txt").err,
      HasSubstr("labels that differ only in case or blanks (with their positions): 'B-X' (3) and 'b-x' (1); "
                "'O' (1) and 'O\xC2\xA0' (1)"));
}

}  // namespace
}  // namespace proxbench
