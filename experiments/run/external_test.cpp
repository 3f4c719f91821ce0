#include "experiments/run/external.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "core/base/numbers.h"
#include "experiments/base/files.h"
#include "experiments/base/process.h"
#include "experiments/base/test_folder.h"
#include "experiments/config/format_registry.h"
#include "experiments/config/trainers.h"
#include "experiments/data/convert.h"
#include "experiments/data/model_weights.h"
#include "experiments/run/adapter.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

constexpr const char* kTrainers = PROXBENCH_SOURCE_DIR "/experiments/trainers/";
constexpr const char* kData =
    "O\tthe\tbias\nB\tnew\tbias\nI\tyork\tbias\n\nB\tsan\tbias\nI\tjose\tbias\n\nO\tis\tbias\nB\tnew\tbias\n"
    "\n";

DataPair read_named(const std::string& format, const std::string& file) {
  const DataFormatInfo& info = data_format_registry().find(format);
  return read_data(info, {{file}, {}, ""}, Options(info.options));
}

/// PROXBENCH_DATA at the start of the program, because other tests set the variable.
const std::string kDataFolder = std::getenv("PROXBENCH_DATA") != nullptr ? std::getenv("PROXBENCH_DATA") : "";

/// Returns a file of ../shared/trainers; empty if it is missing.
std::string shared_file(const std::string& name) {
  for (const std::string& root :
       {kDataFolder + "/../trainers", std::string(PROXBENCH_SOURCE_DIR "/../shared/trainers")})
    if (fs::exists(root + "/" + name)) return root + "/" + name;
  return "";
}

RunParameters job_of(const std::string& adapter, const std::string& format = "crfsuite") {
  RunParameters job;
  job.format = format;
  job.solver = kExternal;
  job.solver_options = {{"adapter", adapter}, {"program", ""}, {"algorithm", ""}};
  job.tol = 0.0;
  job.penalty.lambda = 1.0;
  return job;
}

/// The project's adapters are Python scripts.
#define PROXBENCH_NEED_PYTHON() \
  if (std::system("python3 --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "python3 is missing"

// ---- models of other trainers

struct ShownModel {
  const char *adapter, *model, *log;
  double objective;
  std::uint64_t nnz;
  double within;
};

class SharedModel : public testing::TestWithParam<ShownModel> {};

/// Returns a model in ../shared/trainers as TSV, with the names of five.crfsuite.txt.
std::string tsv_of(const ShownModel& shown, const TestFolder& folder) {
  fs::path model = shared_file(shown.model);
  if (shown.adapter == std::string("crf++")) {  // the text model is beside the binary one
    fs::copy_file(model, folder / "model.txt");
    model = folder / "model";
  }
  const Dataset data = read_named("crfsuite", shared_file("data/five.crfsuite.txt")).train;
  const fs::path names = convert(data, "crfsparse", folder / "numbered").names;
  write_json(folder / "job.json", {{"model", model.string()},
                                   {"log", shared_file(shown.log)},
                                   {"names", names.string()},
                                   {"template", shared_file("data/five.crfsparse.template")},
                                   {"lambda", 1.0},
                                   {"mu", 0.0}});
  const ProgramOutput answer = run_program(
      {kTrainers + std::string(shown.adapter), "model", folder / "job.json"}, std::chrono::seconds(60));
  EXPECT_EQ(answer.end.exit_status, 0) << answer.err;
  if (shown.adapter != std::string("crf++") && shown.adapter != std::string("wapiti")) return answer.out;
  // These two were trained with templates of their own. Our names keep the letter with which a template
  // begins.
  std::string out;
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line); out += line + "\n")
    if (line.starts_with("unary\t")) {
      line.insert(6, "U");
      for (std::size_t at; (at = line.find("_x")) != line.npos;) line.replace(at, 2, "_B");
    }
  return out;
}

TEST_P(SharedModel, HasTheObjectiveAndTheNonzerosThatItsProgramFound) {
  PROXBENCH_NEED_PYTHON();
  const ShownModel& shown = GetParam();
  if (shared_file(shown.model).empty()) GTEST_SKIP() << shown.model << " is not in ../shared/trainers";
  const TestFolder folder;
  const LoadedData data(read_named("crfsuite", shared_file("data/five.crfsuite.txt")), Parallel(1));
  const SparseVector w =
      model_weights(parse_model(tsv_of(shown, folder), shown.adapter), data.train(),
                    data.oracle().extra_weights(), data.extra_names(), UnknownFeatures::kReject);
  Objective objective = data.objective({1.0, 0.0});
  const Certificate found = certify(objective, w);
  EXPECT_NEAR(found.objective, shown.objective, shown.within);
  EXPECT_EQ(found.nnz, shown.nnz);
}

constexpr double kOptimum = 92.012925882222;
// The objectives come from the last iteration in each trainer's log. CRFSparse rounds weights to six digits
// and leaves out the smallest. CRF++ prints no objective of the weights that it writes.
INSTANTIATE_TEST_SUITE_P(
    FiveSentences, SharedModel,
    testing::Values(
        ShownModel{"crfsuite", "crfsuite/converged.model", "crfsuite/converged.log", kOptimum, 62, 1e-11},
        ShownModel{"crfsuite", "crfsuite/stopped.model", "crfsuite/stopped.log", 93.050636, 89, 5e-7},
        ShownModel{"wapiti", "wapiti/converged.model", "wapiti/converged.log", kOptimum, 62, 1e-8},
        ShownModel{"wapiti", "wapiti/stopped.model", "wapiti/stopped.log", 93.45, 93, 5e-3},
        ShownModel{"crf++", "crf++/converged.model.txt", "crf++/converged.log", kOptimum, 62, 2e-7},
        ShownModel{"crfsparse", "crfsparse/converged.model", "crfsparse/converged.log", kOptimum, 62, 1e-9},
        ShownModel{"crfsparse", "crfsparse/stopped.model", "crfsparse/stopped.log", 94.4208756942896, 73,
                   3e-6}));

TEST(SharedModels, AreReadWithTheirIterationsAndPrintedObjectives) {
  PROXBENCH_NEED_PYTHON();
  const ShownModel wapiti{"wapiti", "wapiti/stopped.model", "wapiti/stopped.log", 0.0, 0, 0.0};
  if (shared_file(wapiti.model).empty()) GTEST_SKIP() << "../shared/trainers is missing";
  const TestFolder folder, other;
  const Model model = parse_model(tsv_of(wapiti, folder), "wapiti");
  EXPECT_EQ(model.header.at("iterations"), "10");
  EXPECT_EQ(model.header.at("objective"), "93.45");
  EXPECT_EQ(model.header.at("objective_error"), "0.005");
  const ShownModel crfpp{"crf++", "crf++/stopped.model.txt", "crf++/stopped.log", 0.0, 0, 0.0};
  EXPECT_EQ(parse_model(tsv_of(crfpp, other), "crf++").header.at("iterations"), "10");
}

// ---- runs

class External : public testing::Test {
 protected:
  External() { folder.write("train.txt", kData); }
  /// Returns a shell script that acts as an adapter.
  std::string fake(const std::string& train, const std::string& model,
                   const std::string& formats = "\"crfsuite\"") {
    const fs::path file = folder.write("fake",
                                       "#!/bin/sh\nfolder=$(dirname \"$2\")\ncase $1 in\ndescribe) cat "
                                       "<<'END'\n{\"name\": \"Fake\", \"version\": "
                                       "\"1.0\", \"program\": \"/bin/sh\", \"losses\": [\"log\"], "
                                       "\"algorithms\": {\"a\": [\"l1\", \"l2\"]}, "
                                       "\"structures\": [\"chain\"], \"formats\": [" +
                                           formats +
                                           "], \"stop\": {\"by\": \"iterations\", \"start\": 1, \"first\": "
                                           "2, \"growth\": 2}, \"objective\": "
                                           "true, \"threads\": true}\nEND\n;;\ntrain)\n" +
                                           train + "\n;;\nmodel)\n" + model + "\n;;\nesac\n");
    fs::permissions(file, fs::perms::owner_all);
    return fs::copy_file(file, folder / fmt::format("fake-{}", ++fakes_)),
           (folder / fmt::format("fake-{}", fakes_)).string();
  }
  std::unique_ptr<LoadedData> load() const {
    return std::make_unique<LoadedData>(read_named("crfsuite", folder / "train.txt"), Parallel(1));
  }
  RunOutcome run(const RunParameters& job) {
    const std::unique_ptr<LoadedData> data = load();
    return train_externally(*data, job, folder.path(), {});
  }
  /// Returns the error of the run, and checks that its files are gone.
  template <class Thrown = Error>
  std::string error(const RunParameters& job) {
    std::string message = "no error";
    try {
      run(job);
    } catch (const Thrown& thrown) {
      message = thrown.what();
    }
    EXPECT_FALSE(fs::exists(folder / "trainer"));
    return message;
  }

  TestFolder folder;
  int fakes_ = 0;
};

constexpr const char* kWritesNothing = "echo work; echo 1 > model";
constexpr const char* kWeight = "printf '# proxbench model 1\\nunary\\tthe\\tO\\t0.25\\n'";

TEST_F(External, ProxbenchThroughTheDoorIsTheSolverInTheHarnessToTheLastDigit) {
  PROXBENCH_NEED_PYTHON();
  const std::unique_ptr<LoadedData> data = load();
  for (const char* solver : {"prox-newton", "owl-qn"}) {
    RunParameters job = job_of("proxbench");
    job.penalty.lambda = 0.1;
    job.max_iterations = 3;
    job.solver_options["algorithm"] = solver;
    const RunOutcome outside = train_externally(*data, job, folder.path(), {});
    job.solver = solver;
    job.solver_options.clear();
    const RunOutcome inside = train(*data, job, {});
    EXPECT_EQ(outside.certificate.objective, inside.certificate.objective) << solver;
    EXPECT_EQ(outside.w.value, inside.w.value);
    EXPECT_EQ(outside.iterations, inside.iterations);
    EXPECT_EQ(outside.status, Status::kMaxIterations);
    EXPECT_THAT(outside.warnings, testing::IsEmpty());
    ASSERT_EQ(outside.trace.size(), 3u) << "stops at 1, 2 and 3";
    EXPECT_GE(outside.load_seconds, 1e-3);
    EXPECT_EQ(outside.trainer.substr(0, 10), "proxbench ");
  }
}

TEST_F(External, StopsGrowUntilTheTrainerEndsByItsOwnRuleWhichIsLabelled) {
  const std::string adapter = fake("sed -n 's/.*\"stop\": //p' \"$2\" >> ../stops; echo 1 > model", kWeight);
  const RunOutcome outcome = run(job_of(adapter));
  EXPECT_EQ(read_text(folder / "stops"), "1\n1\n2\n") << "the first run is discarded; equal weights end it";
  EXPECT_EQ(outcome.status, Status::kSmallChange);
  ASSERT_EQ(outcome.warnings.size(), 1u);
  EXPECT_THAT(outcome.warnings.front(), HasSubstr("by its own rule at a certified relative gap of "));
  EXPECT_EQ(outcome.certificate.nnz, 1u);
  EXPECT_LE(outcome.certificate.dual, outcome.certificate.objective);
}

TEST_F(External, APrintedObjectiveBeyondItsDigitsIsAWarning) {
  const auto objective_of = [&](const std::string& printed) {
    RunParameters job = job_of(fake(kWritesNothing, "printf '# proxbench model 1\\n# objective=" + printed +
                                                        "\\n# objective_error=0.0005\\n'"));
    job.max_iterations = 1;
    return run(job).warnings;
  };
  const double truth = 7.0 * std::log(3.0);  // w = 0
  EXPECT_THAT(objective_of(fmt::format("{:.3f}", truth)), testing::IsEmpty());
  EXPECT_THAT(
      objective_of("7.7"),
      ElementsAre(HasSubstr("stopped at 1 it prints the objective 7.7, its weights have 7.69028602067")));
}

TEST_F(External, WhatGoesWrongFailsTheRunWithTheEndOfItsLog) {
  EXPECT_THAT(error(job_of(fake("echo one; echo two; kill -SEGV $$", ""))),
              HasSubstr("Fake 1.0: crashed with SIGSEGV; the end of its log: one | two"));
  EXPECT_EQ(error(job_of(fake("echo no memory >&2; exit 3", ""))),
            "Fake 1.0: exit status 3; the end of its log: no memory");
  EXPECT_EQ(error(job_of(fake("echo done", ""))), "Fake 1.0: wrote no model; the end of its log: done");
  EXPECT_EQ(error(job_of(fake(kWritesNothing, "echo cut off >&2; exit 1"))),
            "Fake 1.0: its model cannot be read: cut off; the end of its log: work");
  EXPECT_EQ(error(job_of(fake(kWritesNothing, "printf '# proxbench model 1\\nunary\\tthe\\tO'"))),
            "Fake 1.0:2: found 'unary\\tthe\\tO', expected 'unary<TAB>feature<TAB>output<TAB>weight' or "
            "'WORD<TAB>name<TAB>...<TAB>weight'");
  EXPECT_EQ(error(job_of(fake(kWritesNothing, "printf '# proxbench model 1\\nunary\\tother\\tO\\t1\\n'"))),
            "Fake 1.0:2: found feature 'other', expected one of the data's 7 features");
  EXPECT_EQ(error(job_of(fake(kWritesNothing, "printf '# proxbench model 1\\nunary\\tthe\\tO\\tnan\\n'"))),
            "Fake 1.0:2: found weight 'nan', expected a finite number");
  EXPECT_EQ(error(job_of(fake(kWritesNothing, "printf '# proxbench model 1\\npair\\tO\\tX\\t1\\n'"))),
            "Fake 1.0:2: found label 'X', expected one of the data's 3 labels (did you mean 'O'?)");
}

TEST_F(External, ATrainerThatHangsIsStoppedWithAllThatItStarted) {
  const std::string adapter = fake("sleep 1000 & echo $! > ../child; wait", "");
  std::atomic<bool> interrupt{false};
  std::thread user([&] {
    while (read_text(folder / "child").empty()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    interrupt = true;
  });
  RunHooks hooks;
  hooks.stop = &interrupt;
  const std::unique_ptr<LoadedData> data = load();
  const RunOutcome outcome = train_externally(*data, job_of(adapter), folder.path(), hooks);
  user.join();
  EXPECT_EQ(outcome.status, Status::kInterrupted);
  EXPECT_TRUE(outcome.trace.empty());
  EXPECT_TRUE(std::isnan(outcome.certificate.objective));
  const std::string child = read_text(folder / "child");
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    const std::string stat = read_text("/proc/" + child.substr(0, child.size() - 1) + "/stat");
    gone = stat.empty() || stat.find(") Z ") != stat.npos;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(gone) << "what it started in the background lives on";
}

TEST_F(External, ItsTimeLimitIsThatOfOneRunWithoutItsStart) {
  // A run sleeps for stop - 1 seconds; the third stop exceeds the limit.
  RunParameters job =
      job_of(fake("stop=$(sed -n 's/.*\"stop\": //p' \"$2\"); sleep $((stop - 1)); echo $stop > model",
                  "printf '# proxbench model 1\\nunary\\tthe\\tO\\t0.%s\\n' $(cat $folder/model)"));
  job.time_limit = 2.0;
  const RunOutcome outcome = run(job);
  EXPECT_EQ(outcome.status, Status::kTimeLimit);
  ASSERT_EQ(outcome.trace.size(), 2u);
  EXPECT_NEAR(outcome.trace[1].seconds, 1.0, 0.5);
  EXPECT_LT(outcome.load_seconds, 0.5);
}

TEST_F(External, WhatItCannotTakeIsNoFailure) {
  folder.write("train.txt", "A\tx:0.5\n");
  EXPECT_EQ(error<TrainerMismatch>(job_of(fake("", "", "\"crf++\", \"wapiti\""))),
            "crf++ cannot hold these data: found the value 0.5 of feature 'x', expected 1, since its "
            "features have no "
            "values; wapiti cannot hold these data: found the value 0.5 of feature 'x', expected 1, since "
            "its features "
            "have no values");
  RunParameters both = job_of(fake("", ""));
  both.penalty.mu = 1.0;
  EXPECT_EQ(unmet_trainer(both, nullptr),
            "Fake: found algorithm '' with lambda = 1, mu = 1, expected one of: none");
  EXPECT_THAT(unmet_trainer(job_of("waptii"), nullptr), HasSubstr("no adapter 'waptii' in "));
  folder.write("mute", "#!/bin/sh\necho trouble >&2\nexit 1\n");
  fs::permissions(folder / "mute", fs::perms::owner_all);
  EXPECT_THAT(unmet_trainer(job_of((folder / "mute").string()), nullptr),
              HasSubstr("/mute describe: trouble"));
}

TEST(Adapters, SayWhenAProgramIsMissingOrAnother) {
  PROXBENCH_NEED_PYTHON();
  RunParameters other = job_of("wapiti");
  other.solver_options["program"] = "/bin/ls";
  EXPECT_THAT(unmet_trainer(other, nullptr),
              HasSubstr("/bin/ls is not Wapiti, the CRF tool (Debian's package"));
  other.solver_options["program"] = "/nowhere";
  EXPECT_THAT(unmet_trainer(other, nullptr), HasSubstr("no program /nowhere; Wapiti, the CRF tool, is at "));
}

// ---- the real programs, if present

/// Documents of two classes that no single weight separates.
constexpr const char* kDocuments =
    "+1 1:1 2:0.5\n-1 2:1\n+1 1:0.3 3:1\n-1 1:0.2 3:0.5\n+1 2:2\n-1 3:1 1:0.1\n";

class TwoClasses : public testing::TestWithParam<std::tuple<const char*, const char*, double, double>> {};

TEST_P(TwoClasses, EndsAtTheOptimumThatProxNewtonProves) {
  const auto& [adapter, algorithm, lambda, mu] = GetParam();
  RunParameters job = job_of(adapter, "libsvm");
  job.solver_options["algorithm"] = algorithm;
  job.penalty.lambda = lambda;
  job.penalty.mu = mu;
  job.gap_target = 1e-5;
  if (const Trainer& trainer = find_trainer(job.solver_options); !trainer.missing.empty())
    GTEST_SKIP() << trainer.missing;
  const TestFolder folder;
  const LoadedData data(read_named("libsvm", folder.write("train.txt", kDocuments)), Parallel(1));
  const RunOutcome found = train_externally(data, job, folder.path(), {});
  EXPECT_EQ(found.status, Status::kGapReached) << found.certificate.relative_gap();
  EXPECT_THAT(found.warnings, testing::IsEmpty()) << "its printed objective is that of its weights";
  job.solver = lambda > 0.0 ? "prox-newton" : "lbfgs";
  job.solver_options.clear();
  job.gap_target = 1e-9;
  const RunOutcome best = train(data, job, {});
  EXPECT_NEAR(found.certificate.objective, best.certificate.objective, 1e-5 * best.certificate.objective);
}

INSTANTIATE_TEST_SUITE_P(Programs, TwoClasses,
                         testing::Values(std::tuple{"liblinear", "s6", 0.2, 0.0},
                                         std::tuple{"liblinear", "s0", 0.0, 0.3},
                                         std::tuple{"liblinear", "s7", 0.0, 0.3},
                                         std::tuple{"scikit-learn", "saga", 0.2, 0.0},
                                         std::tuple{"scikit-learn", "saga", 0.1, 0.3},
                                         std::tuple{"scikit-learn", "liblinear", 0.2, 0.0},
                                         std::tuple{"scikit-learn", "lbfgs", 0.0, 0.3},
                                         std::tuple{"proxbench", "prox-newton", 0.2, 0.0}));

class FiveSentences : public testing::TestWithParam<std::tuple<const char*, double, double>> {};

TEST_P(FiveSentences, AreSolvedByTheProgramItself) {
  const auto& [adapter, lambda, mu] = GetParam();
  RunParameters job = job_of(adapter);
  job.penalty.lambda = lambda;
  job.penalty.mu = mu;
  job.gap_target = 2e-4;  // CRF++ ends by its own rule soon after
  const std::string five = shared_file("data/five.crfsuite.txt");
  if (five.empty()) GTEST_SKIP() << "../shared/trainers is missing";
  if (const Trainer& trainer = find_trainer(job.solver_options); !trainer.missing.empty())
    GTEST_SKIP() << trainer.missing;
  const LoadedData data(read_named("crfsuite", five), Parallel(1));
  const TestFolder folder;
  const RunOutcome found = train_externally(data, job, folder.path(), {});
  EXPECT_EQ(found.status, Status::kGapReached) << found.certificate.relative_gap();
  EXPECT_THAT(found.warnings, testing::IsEmpty());
  if (mu == 0.0) {
    EXPECT_NEAR(found.certificate.objective, kOptimum, 2e-4 * kOptimum);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, FiveSentences,
                         testing::Values(std::tuple{"crfsuite", 1.0, 0.0}, std::tuple{"crfsuite", 0.0, 1.0},
                                         std::tuple{"wapiti", 1.0, 0.0}, std::tuple{"wapiti", 0.0, 1.0},
                                         std::tuple{"crf++", 1.0, 0.0}, std::tuple{"crf++", 0.0, 0.5},
                                         std::tuple{"crfsparse", 1.0, 0.0},
                                         std::tuple{"proxbench", 1.0, 0.0}));

}  // namespace
}  // namespace proxbench
