#include "experiments/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "experiments/base/test_folder.h"
#include "experiments/config/config_sections.h"
#include "experiments/config/ini.h"
#include "experiments/config/ini_values.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const char* const kGood = R"([experiment]
name = small
lambda = 50, 100
tol = 1e-5
time_limit = 7
[data]
format = synthetic-ocr
words = 20
[data.pixels]
format = synthetic-ocr
features = pixels
[solver.prox-newton]
[solver.deep]
solver = prox-newton
memory = 20
tol = 1e-3
)";

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse_config(text, "c.ini", "", overrides);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    return error.what();
  }
}

std::string lambdas_of(const ExperimentConfig& config) {
  return ini_text(config.lambdas.to_value());
}

TEST(Config, AGapTakesThePlaceOfATolThatIsNotGiven) {
  const std::string head = "[experiment]\nname = a\nlambda = 1\n",
                    rest = "[data]\nformat = synthetic-ocr\n[solver.prox-newton]\n";
  const auto solver = [&](const std::string& experiment, const std::string& own) {
    const ExperimentConfig config = parse_config(head + experiment + rest + own, "c.ini", "");
    EXPECT_EQ(parse_config(config.to_ini(), "again.ini", "").to_ini(), config.to_ini());
    return std::pair{config.solvers[0].tol, config.solvers[0].gap_target};
  };
  EXPECT_EQ(solver("", ""), (std::pair{1e-6, 0.0}));
  EXPECT_EQ(solver("gap = 1e-4\n", ""), (std::pair{0.0, 1e-4}));
  EXPECT_EQ(solver("gap = 1e-4\ntol = 1e-3\n", ""), (std::pair{1e-3, 1e-4}));
  EXPECT_EQ(solver("gap = 1e-4\n", "tol = 1e-2\n"), (std::pair{1e-2, 1e-4}));
  EXPECT_EQ(solver("gap = 1e-4\n", "gap = 0\n"), (std::pair{1e-6, 0.0}));
  EXPECT_EQ(solver("", "gap = 1e-5\n"), (std::pair{0.0, 1e-5}));
  EXPECT_EQ(solver("tol = 1e-3\n", "gap = 1e-5\n"), (std::pair{1e-3, 1e-5}));
}

TEST(Config, ReadsAnExperiment) {
  const ExperimentConfig config = parse_config(kGood, "c.ini", "");
  EXPECT_EQ(config.name, "small");
  EXPECT_EQ(config.title, "small");
  EXPECT_EQ(lambdas_of(config), "50, 100");
  EXPECT_THAT(config.targets, ElementsAre(1e-2, 1e-4, 1e-6, 1e-8));
  ASSERT_EQ(config.data.size(), 2u);
  EXPECT_EQ(config.data[0].name, "synthetic-ocr");  // a plain [data] has the name of its format
  EXPECT_EQ(config.data[0].options.integer("words"), 20);
  EXPECT_EQ(config.data[1].name, "pixels");
  ASSERT_EQ(config.solvers.size(), 2u);
  EXPECT_EQ(config.solvers[0].label, "prox-newton");
  EXPECT_EQ(config.solvers[0].tol, 1e-5);
  EXPECT_EQ(config.solvers[0].time_limit, 7);
  EXPECT_EQ(config.solvers[1].label, "deep");
  EXPECT_EQ(config.solvers[1].solver, "prox-newton");
  EXPECT_EQ(config.solvers[1].options.integer("memory"), 20);
  EXPECT_EQ(config.solvers[1].tol, 1e-3);
}

TEST(Config, WrittenOutReadsBackToTheSame) {
  const std::string text = parse_config(kGood, "c.ini", "").to_ini();
  EXPECT_EQ(parse_config(text, "again.ini", "").to_ini(), text);
}

TEST(Config, AHingeLossHasACostAndItsOwnReferenceSolver) {
  const ExperimentConfig config = parse_config(
      "[experiment]\nname = a\nlambda = 0\nmu = 1\nloss = hinge\ncost = hamming-mean\n"
      "[data]\nformat = synthetic-ocr\n[solver.bcfw]\n",
      "c.ini", "");
  EXPECT_EQ(config.loss, (Loss{Loss::Kind::kHinge, Cost::kHammingMean}));
  EXPECT_EQ(config.reference_solver, "bcfw");
  const std::string text = config.to_ini();
  EXPECT_THAT(text, HasSubstr("loss = hinge\ncost = hamming-mean\n"));
  EXPECT_EQ(parse_config(text, "again.ini", "").to_ini(), text);
  EXPECT_EQ(parse_config(kGood, "c.ini", "").reference_solver, kBestForL1);
  EXPECT_EQ(parse_config("[experiment]\nname = a\nlambda = 0\nmu = 1\n[data]\nformat = synthetic-ocr\n"
                         "[solver.lbfgs]\n",
                         "c.ini", "")
                .reference_solver,
            "lbfgs");
  try {
    parse_config(kGood, "c.ini", "", {"experiment.cost=hamming"});
    ADD_FAILURE() << "a cost without a hinge loss";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("[experiment] cost: found 'hamming' with loss = log, expected loss = hinge"));
  }
}

TEST(Config, PathsStandAmongTheLambdas) {
  const std::vector<std::string> both{"experiment.lambda=path(max, 0.5*max, 9), 3, path(9,1,4)"};
  const ExperimentConfig config = parse_config(kGood, "c.ini", "", both);
  EXPECT_EQ(lambdas_of(config), "3, path(max, 0.5*max, 9), path(9, 1, 4)");
  EXPECT_TRUE(config.has_paths() && config.has_singles());
  EXPECT_THAT(config.plot.kinds, ElementsAre("curves", "path"));
  EXPECT_EQ(parse_config(config.to_ini(), "written.ini", "").to_ini(), config.to_ini());
  const ExperimentConfig alone = parse_config(kGood, "c.ini", "", {"experiment.lambda=path(9, 1, 4)"});
  EXPECT_THAT(alone.plot.kinds, ElementsAre("path"));
  EXPECT_EQ(parse_config(alone.to_ini(), "written.ini", "").to_ini(), alone.to_ini());
}

TEST(Config, AValueThatEndsWithABackslashReadsBackToTheSame) {
  const ExperimentConfig config = parse_config(kGood, "c.ini", "", {"experiment.title=a folder\\"});
  EXPECT_EQ(config.title, "a folder\\");
  EXPECT_EQ(parse_config(config.to_ini(), "again.ini", "").to_ini(), config.to_ini());
}

TEST(Config, OverridesWin) {
  const ExperimentConfig config = parse_config(
      kGood, "c.ini", "", {"experiment.lambda=3", "solver.deep.memory=5", "solver.owl-qn.tol=1e-2"});
  EXPECT_EQ(lambdas_of(config), "3");
  EXPECT_EQ(config.solvers[1].options.integer("memory"), 5);
  EXPECT_EQ(config.solvers[2].solver, "owl-qn");
}

TEST(Config, ReportsAllErrorsAtOnceWithLinesAndSuggestions) {
  const std::string error = error_of(R"([experiment]
name = x
lamda = 3
lambda = 1, -2, nan
backend = openmpi
threads = two
[dta]
[data]
format = ocrr
[solver.prox-qm]
[solver.prox-newton]
memry = 3
memory = 0
junk
)",
                                     {"plot.par=0"});
  EXPECT_THAT(error, HasSubstr("c.ini: 12 errors\n"));
  EXPECT_THAT(
      error,
      HasSubstr(
          "c.ini:3:1: found key 'lamda' in [experiment] (did you mean 'lambda'?), expected one of name, "));
  EXPECT_THAT(error, HasSubstr("c.ini:4:13: [experiment] lambda: found '-2', expected a finite real, 0 <= "
                               "lambda, or path(START, END, COUNT)\n"));
  EXPECT_THAT(error, HasSubstr("c.ini:4:17: [experiment] lambda: found 'nan', expected a finite real, 0 <= "
                               "lambda, or path(START, END, COUNT)\n"));
  EXPECT_THAT(
      error,
      HasSubstr(
          "c.ini:5:11: [experiment] backend: found 'openmpi', expected one of openmp, tbb (did you mean "
          "'openmp'?)\n"));
  EXPECT_THAT(error, HasSubstr("c.ini:6:11: [experiment] threads: found 'two', expected an integer, "));
  EXPECT_THAT(
      error,
      HasSubstr("c.ini:7:2: found section [dta], expected [experiment], [data], [data.NAME], [solver.LABEL], "
                "[plot], [paper] or [slurm] (did you mean 'data'?)\n"));
  EXPECT_THAT(
      error,
      HasSubstr("c.ini:9:10: [data] format: found 'ocrr' (did you mean 'ocr'?), expected one of ocr, "));
  EXPECT_THAT(
      error,
      HasSubstr("c.ini:10:2: [solver.prox-qm] label without a key 'solver': found 'prox-qm' (did you mean "
                "'prox-qn'?), expected one of "));
  EXPECT_THAT(error, HasSubstr("c.ini:12:1: found key 'memry' in [solver.prox-newton] (did you mean "
                               "'memory'?), expected one of "));
  EXPECT_THAT(
      error,
      HasSubstr("c.ini:13:10: [solver.prox-newton] memory: found '0', expected an integer, 1 <= memory"));
  EXPECT_THAT(error, HasSubstr("c.ini:14:1: found 'junk', expected [section] or key = value"));
  EXPECT_THAT(error, HasSubstr("--set plot.par=0: [plot] par: found '0', expected a finite real, 1 <= par"));
}

TEST(Config, AnIncludedFileIsNamedInItsErrorsAndOverriddenByTheFileAndBySet) {
  const TestFolder folder;
  folder.write("common/base.ini", "[experiment]\nlambda = 3\ntol = 1e-3\n[solver.prox-newton]\nmemry = 4\n");
  const auto file = folder.write(
      "main.ini",
      "include = common/base.ini\n[experiment]\nname = x\nlambda = 4\n[data]\nformat = synthetic-ocr\n");
  const std::string base = (folder / "common/base.ini").string();
  try {
    load_config(file, {"experiment.mu=-1"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::StartsWith(file.string() + ": 2 errors\n" + base +
                                    ":5:1: found key 'memry' in [solver.prox-newton] (did you mean "
                                    "'memory'?), expected one of "));
    EXPECT_THAT(error.what(), HasSubstr("\n--set experiment.mu=-1: [experiment] mu: found '-1', expected "));
  }
  folder.write("common/base.ini", "[experiment]\nlambda = 3\ntol = 1e-3\n[solver.prox-newton]\nmemory = 4\n");
  const ExperimentConfig config = load_config(file, {"solver.prox-newton.memory=6"});
  EXPECT_EQ(lambdas_of(config), "4");
  EXPECT_EQ(config.solvers[0].tol, 1e-3);
  EXPECT_EQ(config.solvers[0].options.integer("memory"), 6);
  EXPECT_THAT(config.includes, ElementsAre(base));
  EXPECT_EQ(parse_config(config.to_ini(), "again.ini", "").to_ini(), config.to_ini());
}

TEST(Config, DataFilesAreLookedForBesideTheFileThatNamesThem) {
  const TestFolder folder;
  folder.write("common/train.txt", "");
  folder.write("test.txt", "");
  folder.write("common/base.ini", "[data]\nformat = crfsuite\ntrain = train.txt\n");
  const auto file = folder.write("main.ini",
                                 "include = common/base.ini\n[experiment]\nname = x\nlambda = "
                                 "4\n[data]\ntest = test.txt\n[solver.prox-newton]\n");
  const ExperimentConfig config = load_config(file);
  EXPECT_THAT(config.data[0].files.train, ElementsAre((folder / "common/train.txt").string()));
  EXPECT_THAT(config.data[0].files.test, ElementsAre((folder / "test.txt").string()));
  EXPECT_THAT(load_config(file, {"data.train=test.txt"}).data[0].files.train,
              ElementsAre((folder / "test.txt").string()));
}

TEST(Config, DataMayNameAModelToStartFrom) {
  const TestFolder folder;
  folder.write("train.txt", "");
  folder.write("m.tsv", "");
  const auto file = folder.write("main.ini",
                                 "[experiment]\nname = x\nlambda = 4\n[data]\nformat = crfsuite\ntrain = "
                                 "train.txt\nstart = m.tsv\n[solver.prox-newton]\n");
  const ExperimentConfig config = load_config(file);
  EXPECT_EQ(config.data[0].start, (folder / "m.tsv").string());
  EXPECT_EQ(parse_config(config.to_ini(), "again", "").data[0].start, config.data[0].start);
  const auto error = [&](const std::string& override) -> std::string {
    try {
      load_config(file, {override});
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  EXPECT_THAT(error("data.start=missing.tsv"), HasSubstr("missing.tsv"));
  EXPECT_THAT(error("data.start=m.tsv, train.txt"), HasSubstr("[data] start: found 2 files, expected one"));
  EXPECT_THAT(error("experiment.lambda=path(max, 1, 3)"), HasSubstr("[data] start: found 'm.tsv', but"));
}

TEST(Config, PlotsChooseAxesAndQuantities) {
  const PlotConfig defaults = parse_config(kGood, "c.ini", "").plot;
  EXPECT_THAT(defaults.x, ElementsAre("seconds"));
  EXPECT_THAT(defaults.quantities, ElementsAre("objective", "nnz", "accuracy"));
  const PlotConfig plot =
      parse_config(kGood, "c.ini", "",
                   {"plot.x=seconds, passes, iterations", "plot.x_max=0, 40, 0", "plot.quantities=nnz"})
          .plot;
  EXPECT_THAT(plot.x, ElementsAre("seconds", "passes", "iterations"));
  EXPECT_THAT(plot.x_max, ElementsAre(0, 40, 0));
  EXPECT_THAT(plot.quantities, ElementsAre("nnz"));
  EXPECT_THAT(
      error_of(kGood, {"plot.x=seconds, pases"}),
      HasSubstr("[plot] x: found 'pases', expected one of seconds, passes, updates, iterations (did you mean "
                "'passes'?)"));
  EXPECT_THAT(error_of(kGood, {"plot.x_max=1, 2"}),
              HasSubstr("[plot] x_max: found 2 values, expected 1: one for each of x"));
  EXPECT_TRUE(parse_config(kGood, "c.ini", "", {"plot.quantities="}).plot.quantities.empty());
}

const char* const kPaper = R"([paper]
item = Table 1
reports = that it \
          works
lambda = 50, 100
nnz = 7, 7
accuracy = 0.5, 0.25
)";

TEST(Config, KeepsWhatThePaperSays) {
  const ExperimentConfig config = parse_config(kGood + std::string(kPaper), "c.ini", "");
  EXPECT_EQ(config.paper.item, "Table 1");
  EXPECT_EQ(config.paper.reports, "that it works");
  EXPECT_THAT(config.paper.lambdas, ElementsAre(50, 100));
  EXPECT_THAT(config.paper.nnz, ElementsAre(7, 7));
  EXPECT_THAT(config.paper.accuracy, ElementsAre(0.5, 0.25));
  EXPECT_EQ(parse_config(config.to_ini(), "again.ini", "").to_ini(), config.to_ini());
  EXPECT_EQ(parse_config(kGood, "c.ini", "").paper.item, "");
}

TEST(Config, ThePapersNumbersMustMatchLambdas) {
  const std::string text = kGood + std::string(kPaper);
  EXPECT_THAT(error_of(text, {"paper.nnz=1"}),
              HasSubstr("[paper] nnz: found 1 values, expected 2: one for each of lambda"));
  EXPECT_THAT(
      error_of(text, {"paper.lambda=7,50,8", "paper.nnz=1,1,1", "paper.accuracy=1,1,1"}),
      testing::AllOf(HasSubstr("[paper] lambda: found 7, expected one of [experiment] lambda = 50, 100"),
                     HasSubstr("[paper] lambda: found 8, expected one of ")));
  EXPECT_THAT(error_of(text, {"paper.accuracy=0.5, 1.5"}), HasSubstr("found '1.5', expected a finite real"));
  EXPECT_THAT(error_of(text, {"experiment.lambda=100"}),
              HasSubstr("c.ini:21:10: [paper] lambda: found 50, expected one of [experiment] lambda = 100"));
  EXPECT_THAT(error_of(kGood, {"paper.nnz=3"}), HasSubstr("[paper] has no key 'item'"));
}

TEST(Config, TheNameOfAStoredExperimentIsRead) {
  const TestFolder folder;
  EXPECT_EQ(stored_experiment(folder.write("config.ini", "[experiment]\nname = n\n")), "n");
  EXPECT_EQ(stored_experiment(folder / "none.ini"), "");
  EXPECT_THROW(stored_experiment(folder.write("bad.ini", "[experiment\n")), Error);
}

TEST(Config, ASolverThatCanRunOnNoProblemIsAnError) {
  const std::string text =
      "[experiment]\nname = a\nlambda = 1\n[data]\nformat = synthetic-ocr\n[solver.prox-newton]\n"
      "[solver.smooth]\nsolver = lbfgs\n";
  EXPECT_THAT(
      error_of(text),
      HasSubstr("c.ini: 1 error\nc.ini:7:2: [solver.smooth] can run on no problem of the config: solver "
                "'lbfgs' needs a smooth objective: found an l1 penalty, expected lambda = 0; solvers "
                "that fit: prox-newton, prox-qn, owl-qn, "));
  EXPECT_THAT(error_of(text, {"experiment.lambda=path(max, 1, 3)", "experiment.mu=1"}),
              HasSubstr("c.ini:7:2"));
  EXPECT_THAT(
      error_of(text, {"experiment.loss=hinge", "experiment.mu=1"}),
      HasSubstr("c.ini:6:2: [solver.prox-newton] can run on no problem of the config: solver 'prox-newton' "
                "minimises the log loss: found loss = hinge; no solver can"));
  EXPECT_THAT(error_of(text, {"experiment.lambda=0", "experiment.mu=1", "data.oracle=labels"}),
              HasSubstr("[solver.smooth] can run on no problem"));
  EXPECT_THAT(error_of(text, {"experiment.lambda=0", "experiment.mu=1", "data.format=synthetic-lshtc",
                              "solver.smooth.solver=gdmm"}),
              HasSubstr("[solver.smooth] can run on no problem of the config: solver 'gdmm' needs "))
      << "the oracle of a format is known";
}

TEST(Config, WithoutAReferenceNothingMayNeedFStar) {
  const std::vector<std::string> none{"experiment.reference=none"};
  const ExperimentConfig config = parse_config(kGood, "c.ini", "", none);
  EXPECT_FALSE(config.has_reference());
  EXPECT_THAT(config.targets, testing::IsEmpty());
  EXPECT_THAT(config.plot.quantities, ElementsAre("nnz", "accuracy"));
  EXPECT_EQ(parse_config(config.to_ini(), "again.ini", "").to_ini(), config.to_ini());
  const auto error = [&](const std::string& more) { return error_of(kGood, {none[0], more}); };
  for (const std::string needs : {"plot.quantities=objective", "plot.quantities=nnz, suboptimality",
                                  "plot.quantities=dual", "plot.kinds=profile", "plot.kinds=curves, ecdf"})
    EXPECT_THAT(error(needs), HasSubstr(", which needs f*, but [experiment] reference = none")) << needs;
  EXPECT_THAT(
      error("experiment.stop_at=1e-3"),
      HasSubstr("[experiment] stop_at: found '1e-3', which needs f*, but [experiment] reference = none"));
  EXPECT_THAT(error("experiment.targets=1e-2"),
              HasSubstr("[experiment] targets: found '1e-2', but reference = none gives no f*"));
  EXPECT_EQ(error("plot.quantities=gap"), "");
  EXPECT_THAT(error_of(kGood, {"experiment.reference=nobody"}), HasSubstr("expected one of run, none"));
}

TEST(Config, AFileWithoutSectionsIsOneError) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "B\tw[0]=the\tpos=DT\n";
  EXPECT_EQ(error_of(text),
            "c.ini:1:1: found key 'B\\x09w[0]' outside a section, expected [section] first: the file has no "
            "[section], expected a config");
}

TEST(Config, OfManyErrorsOfAKindTheFirstAreShown) {
  std::string text = kGood;
  for (int i = 0; i < 30; ++i) text += "junk " + std::to_string(i) + "\n";
  const std::string error = error_of(text + "memry = 1\n");
  EXPECT_THAT(error, testing::StartsWith("c.ini: 31 errors\n"));
  EXPECT_THAT(error, HasSubstr("found 'junk 19'"));
  EXPECT_THAT(error, testing::Not(HasSubstr("found 'junk 20'")));
  EXPECT_THAT(error, HasSubstr("found key 'memry'"));
  EXPECT_THAT(error, testing::EndsWith("\n10 more errors that begin with \"found\""));
}

TEST(Config, MessagesStayShortWhereNamesAreLong) {
  std::string text = std::string(kGood) + "[solver." + std::string(10'000, 's') + "]\nsolver = prox-newton\n";
  for (int i = 0; i < 1000; ++i) text += "k" + std::to_string(i) + " = 1\n";
  const std::string error = error_of(text);
  EXPECT_THAT(error, HasSubstr("c.ini: 1000 errors"));
  EXPECT_LT(error.size(), 1'000'000u);
}

TEST(Config, SaysWhatIsMissing) {
  EXPECT_THAT(error_of(""), HasSubstr("no section [experiment]"));
  EXPECT_THAT(error_of(""), HasSubstr("no data, expected [data] or [data.NAME]"));
  EXPECT_THAT(error_of(""), HasSubstr("no solver, expected [solver.LABEL]"));
  EXPECT_THAT(error_of("[experiment]\nname = x\n"), HasSubstr("c.ini:1:2: [experiment] has no key 'lambda'"));
  EXPECT_THAT(error_of("[data]\nformat = ocr\n"),
              HasSubstr("c.ini:1:2: [data] has no training file, expected train = FILE"));
  EXPECT_THAT(error_of("[data]\nformat = ocr\ntrain = no.data\n"),
              HasSubstr("c.ini:3:9: [data] train: no file 'no.data'; looked at"));
  EXPECT_THAT(error_of("[data]\nformat = conll\ntrain = -\n"),
              HasSubstr("c.ini:3:9: [data] train: found '-', expected a file: each run reads it"));
  EXPECT_THAT(error_of("[data]\nformat = synthetic-ocr\ntrain = x\n"),
              HasSubstr("c.ini:3:9: [data] train: found 'x', expected no file"));
}

TEST(Config, RefusesNamesThatAreNoFileNamesAndRepeatedValues) {
  EXPECT_THAT(error_of("[solver.a/b]\n"), HasSubstr("c.ini:1:2: found name 'a/b', expected letters"));
  EXPECT_THAT(error_of("[experiment]\nname = ../x\nlambda = 1, 1.0\n"),
              HasSubstr("found '1.0' again, expected each value once"));
  EXPECT_THAT(error_of("[experiment]\nname = ../x\nlambda = 1\n"),
              HasSubstr("c.ini:2:8: [experiment] name: found '../x'"));
  EXPECT_THAT(error_of("[data]\nformat = synthetic-ocr\n[data.synthetic-ocr]\nformat = synthetic-ocr\n"),
              HasSubstr("c.ini:3:2: found a second data set named 'synthetic-ocr'"));
}

TEST(Config, AMissingFileIsBadUsage) {
  try {
    load_config("/no/such.ini");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/no/such.ini: cannot be read, expected a config file");
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  }
}

TEST(Config, NoOptionHidesBehindAKeyOfItsSection) {
  const auto names = [](const OptionTable& table) {
    std::set<std::string> out;
    for (const OptionSpec& spec : table) out.insert(spec.name);
    return out;
  };
  for (const ConfigSectionInfo& section : config_sections()) {
    const std::set<std::string> keys = names(section.keys);
    if (section.name == "solver") {
      for (const SolverInfo& solver : solver_registry().items())
        for (const std::string& option : names(solver.options)) EXPECT_FALSE(keys.contains(option)) << option;
    }
    if (section.name == "data") {
      for (const DataFormatInfo& format : data_format_registry().items())
        for (const std::string& option : names(format.options)) EXPECT_FALSE(keys.contains(option)) << option;
    }
  }
}

TEST(DataFiles, AreLookedForBesideTheConfigAndBelowTheDataFolders) {
  const TestFolder folder;
  folder.write("config/near.txt", "");
  folder.write("data/ocr/far.txt", "");
  folder.write("cache/proxbench/data/cached.txt", "");
  setenv("PROXBENCH_DATA", (folder / "data").c_str(), 1);
  setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
  EXPECT_EQ(find_data_file("near.txt", folder / "config"), folder / "config/near.txt");
  EXPECT_EQ(find_data_file("ocr/far.txt", folder / "config"), folder / "data/ocr/far.txt");
  EXPECT_EQ(find_data_file("cached.txt", folder / "config"), folder / "cache/proxbench/data/cached.txt");
  EXPECT_EQ(find_data_file((folder / "config/near.txt").string(), ""), folder / "config/near.txt");
  try {
    find_data_file("none.txt", folder / "config");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "no file 'none.txt'; looked at none.txt, " + (folder / "config/none.txt").string() + ", " +
                  (folder / "data/none.txt").string() + ", ../shared/data/none.txt, " +
                  (folder / "cache/proxbench/data/none.txt").string());
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
  }
  unsetenv("PROXBENCH_DATA");
  unsetenv("XDG_CACHE_HOME");
}

TEST(DataFiles, MayHaveACommaInTheirName) {
  const FindFile find = [](const std::string& name) -> std::string {
    if (contains({"a,b.txt", "c.txt", "d, e,f.txt"}, name)) return name;
    throw Error("no file");
  };
  const OptionSpec files{.name = "train", .file = true, .list = true, .repeats = true};
  const auto names = [&](const char* text) {
    Value found;
    EXPECT_TRUE(read_ini_value(files, text, find, found).empty());
    std::vector<std::string> out;
    assign(out, found);
    return out;
  };
  using testing::ElementsAre;
  EXPECT_THAT(names("a,b.txt"), ElementsAre("a,b.txt"));
  EXPECT_THAT(names("c.txt, a,b.txt, c.txt, d, e,f.txt"),
              ElementsAre("c.txt", "a,b.txt", "c.txt", "d, e,f.txt"));
  Value ignored;
  const std::vector<ValueError> errors = read_ini_value(files, "c.txt, x.txt", find, ignored);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors.front().offset, 7u);
}

TEST(DataFiles, AFolderIsNone) {
  const TestFolder folder;
  try {
    find_data_file(folder.path().string(), "");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), folder.path().string() + ": found a directory, expected a file");
  }
}

}  // namespace
}  // namespace proxbench
