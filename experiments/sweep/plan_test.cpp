#include "experiments/sweep/plan.h"

#include <gtest/gtest.h>

#include <map>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "experiments/config/config_rules.h"
#include "experiments/config/ini.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

/// Makes an empty file for each file that the config names, so that a test needs no data.
void make_data_files(const Ini& config, const TestFolder& data) {
  for (const IniSection& section : config.sections) {
    if (!section.name.starts_with("data")) continue;
    for (const char* key : {"train", "test", "hierarchy", "template"}) {
      const IniEntry* entry = section.entries.find(key);
      for (const std::string& file : split_list(entry ? entry->value : "")) data.write(file, "");
    }
  }
}

/// Checks a folder of configs: the name of each experiment is `prefix` followed by the name of its file.
void expect_good_configs(const std::string& folder, const std::string& prefix) {
  std::size_t checked = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PROXBENCH_SOURCE_DIR "/configs" + folder)) {
    if (entry.path().extension() != ".ini") continue;
    SCOPED_TRACE(entry.path());
    const TestFolder data;
    Problems none;
    make_data_files(read_ini(entry.path(), none), data);
    setenv("PROXBENCH_DATA", data.path().c_str(), 1);
    const ExperimentConfig config = load_config(entry.path());
    EXPECT_FALSE(plan_runs(config).empty());
    EXPECT_EQ(config.name, prefix + entry.path().stem().string())
        << "results go to a folder of the config's name";
    EXPECT_EQ(parse_config(config.to_ini(), "again.ini", "").to_ini(), config.to_ini());
    unsetenv("PROXBENCH_DATA");
    ++checked;
  }
  EXPECT_GT(checked, 0u);
}

TEST(Plan, TheConfigsOfTheProjectAreGood) {
  expect_good_configs("", "");
  expect_good_configs("/sdca", "sdca-");
  expect_good_configs("/owl-qn", "owl-qn-");
  expect_good_configs("/trainers", "trainers-");
}

TEST(Plan, AReferenceByAnotherSolverGoesByTheGapAlone) {
  const std::string text =
      "[experiment]\nname = a\nlambda = 0\nmu = 1\nreference_tol = 1e-4\nreference_gap = 1e-7\n"
      "[data]\nformat = synthetic-ocr\n[solver.sdca]\n";
  const auto job = [&](const std::string& solver, const std::string& gap) {
    const ExperimentConfig config = parse_config(
        text, "c.ini", "", {"experiment.reference_solver=" + solver, "experiment.reference_gap=" + gap});
    EXPECT_EQ(parse_config(config.to_ini(), "again.ini", "").to_ini(), config.to_ini());
    return reference_job(config, plan_runs(config)[0]);
  };
  EXPECT_EQ(job("prox-newton", "1e-7").tol, 1e-4);
  EXPECT_EQ(job("prox-newton", "1e-7").gap_target, 0.0);
  EXPECT_EQ(job("prox-newton", "1e-7").tighten, 1e-7);
  EXPECT_EQ(job("prox-newton", "1e-7").solver_options.at("max_stagnant"), "200");
  EXPECT_EQ(job("sdca", "1e-7").solver, "sdca");
  EXPECT_EQ(job("sdca", "1e-7").tol, 0.0) << "else it might end before its gap is proven";
  EXPECT_EQ(job("sdca", "1e-7").gap_target, 1e-7);
  EXPECT_EQ(job("sdca", "1e-7").tighten, 0.0);
  EXPECT_EQ(job("sdca", "0").tol, 1e-4);
  EXPECT_EQ(job("sdca", "0").gap_target, 0.0);
  EXPECT_THROW(job("sdac", "0"), Error);
}

TEST(Plan, ASolverThatCanRunOnSomeProblemsIsTold) {
  const std::string text =
      "[experiment]\nname = a\nlambda = 0, 1\nmu = 1\n[data]\nformat = synthetic-ocr\n[solver.prox-newton]\n"
      "[solver.smooth]\nsolver = lbfgs\n";
  const std::vector<std::string> notes = notes_of_skipped_solvers(parse_config(text, "c.ini", ""));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_TRUE(notes[0].starts_with("smooth is skipped on 1 of 2 problems: solver 'lbfgs' needs a "))
      << notes[0];
}

TEST(Plan, TheOracleThatAFormatIsKnownToHaveIsThatOfItsData) {
  std::string pixels;
  for (int i = 0; i < 128; ++i) pixels += "0\t";
  const TempFile tree("1 2\n1 3\n");
  const std::map<std::string, std::string> texts{
      {"ocr", "1\to\t-1\t1\t1\t0\t" + pixels + "\n2\ta\t-1\t2\t1\t1\t" + pixels + "\n"},
      {"crfsuite", "A\tx\n\nB\ty\n"},
      {"conll", "He PRP B-NP\nate VBD B-VP\n"},
      {"conllu", "1\tHe\the\tPRON\tPRP\t_\t2\tnsubj\t_\t_\n2\tate\teat\tVERB\tVBD\t_\t0\troot\t_\t_\n"},
      {"lshtc", "2 7:1\n3 8:2\n"},
      {"libsvm", "1 1:1\n2 1:2\n"},
      {"arff", "@relation r\n@attribute x numeric\n@attribute red {0,1}\n@data\n2.5,1\n"},
      {"rerank", "0.5\ta\n0.75\tb\n"}};
  std::map<std::string, Settings> settings{{"ocr", {{"split", "none"}}}, {"arff", {{"label_count", "1"}}}};
  for (const DataFormatInfo& format : data_format_registry().items()) {
    RunData asked;
    asked.format = format.name;
    const OracleInfo* oracle = known_oracle(asked);
    if (oracle == nullptr) continue;
    DataPair data;
    if (!format.needs_files)
      data = read_data(format.name, {});
    else
      data = read_texts(format.name, texts.at(format.name), "", settings[format.name],
                        format.name == "lshtc" ? tree.path() : "");
    EXPECT_EQ(oracle->name, data.oracle) << format.name;
  }
  RunData crfsparse;
  crfsparse.format = "crfsparse";
  EXPECT_EQ(known_oracle(crfsparse), nullptr) << "its files hold a chain or a tree";
}

TEST(Plan, AReferenceTakesFewSamples) {
  const ExperimentConfig config = parse_config(
      "[experiment]\nname = a\nlambda = 1\nsampling_budget = 1e6\n[data]\nformat = synthetic-ocr\n"
      "[solver.prox-newton]\n",
      "c.ini", "");
  EXPECT_EQ(reference_job(config, plan_runs(config)[0]).sampling_budget, RunParameters{}.sampling_budget);
  EXPECT_EQ(plan_runs(config)[0].sampling_budget, 1e6);
}

}  // namespace
}  // namespace proxbench
