#include "experiments/run/plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"
#include "experiments/config/format_registry.h"
#include "experiments/conformance/conformance.h"
#include "experiments/metrics/metrics.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

fs::path built(const std::string& name) {
  return fs::path(PROXBENCH_TEST_PLUGINS) / (name + ".so");
}

/// Returns the error of loading a file that must not load, and checks that nothing was registered.
Error refusal(const fs::path& file) {
  const auto solvers = solver_registry().names(), oracles = oracle_registry().names(),
             formats = data_format_registry().names(), metrics = metric_registry().names();
  const std::size_t loaded = loaded_plugins().size();
  try {
    load_plugin(file);
    ADD_FAILURE() << file << " was loaded";
    return Error("");
  } catch (const Error& error) {
    EXPECT_EQ(solver_registry().names(), solvers);
    EXPECT_EQ(oracle_registry().names(), oracles);
    EXPECT_EQ(data_format_registry().names(), formats);
    EXPECT_EQ(metric_registry().names(), metrics);
    EXPECT_EQ(loaded_plugins().size(), loaded);
    EXPECT_THAT(error.what(), HasSubstr(file.string() + ": "));
    return error;
  }
}

TEST(Plugins, BringASolverThatKeepsToAllPromises) {
  EXPECT_EQ(plugin_of(&Plugin::solvers, "prox-bb"), nullptr);
  const SolverInfo& before = solver_registry().find("prox-newton");
  const fs::path file = built("prox_bb");
  const LoadedPlugin& plugin = load_plugin(fs::relative(file));
  EXPECT_EQ(plugin.file, file);
  EXPECT_NE(plugin.digest, 0u);
  EXPECT_THAT(plugin.brought.solvers.names(), testing::ElementsAre("prox-bb"));
  EXPECT_THAT(plugin.brought.oracles.names(), testing::IsEmpty());
  EXPECT_EQ(&loaded_plugins().back(), &plugin);
  EXPECT_EQ(plugin_of(&Plugin::solvers, "prox-bb"), &plugin);
  EXPECT_EQ(plugin_of(&Plugin::solvers, "prox-newton"), nullptr);
  EXPECT_EQ(plugin_of(&Plugin::oracles, "prox-bb"), nullptr);
  EXPECT_EQ(&solver_registry().find("prox-newton"), &before);

  const SolverInfo& solver = solver_registry().find("prox-bb");
  for (const ConformanceCheck& check : check_solver(solver, Options(solver.options)))
    EXPECT_TRUE(check.passed) << check.name << ": " << check.found;

  const Error again = refusal(file);
  EXPECT_EQ(again.kind(), ErrorKind::kUsage);
  EXPECT_THAT(again.what(), HasSubstr("loaded already"));

  // Another file brings the same names.
  const TestFolder folder;
  fs::copy_file(file, folder / "copy.so");
  EXPECT_THAT(refusal(folder / "copy.so").what(),
              HasSubstr("solver 'prox-bb' is registered already, by " + file.string()));
}

TEST(Plugins, RefuseWhatIsNoPlugin) {
  const TestFolder folder;
  EXPECT_THAT(refusal(folder / "missing.so").what(), HasSubstr("found no readable file, expected a plug-in"));
  EXPECT_THAT(refusal(folder.path()).what(), HasSubstr("found a directory, expected a plug-in"));
  EXPECT_THAT(refusal(folder.write("text.so", "#!/bin/sh\n")).what(), HasSubstr("found no shared library"));
  EXPECT_THAT(refusal(folder.write("empty.so", "")).what(), HasSubstr("found no shared library"));
  EXPECT_THAT(refusal(built("no_entry")).what(),
              HasSubstr("found a shared library without PROXBENCH_PLUGIN"));
  EXPECT_THAT(refusal(PROXBENCH_PROGRAM).what(), HasSubstr("without PROXBENCH_PLUGIN"));
  EXPECT_EQ(refusal(folder / "missing.so").kind(), ErrorKind::kInput);
}

TEST(Plugins, RefuseADamagedOne) {
  const TestFolder folder;
  std::string bytes = read_text(built("prox_bb"));
  bytes.resize(bytes.find("proxbench plug-in stamp: ") + 1000);
  EXPECT_THAT(refusal(folder.write("cut.so", bytes)).what(), HasSubstr("found a part of a shared library"));
}

TEST(Plugins, NameThePartsOfTheStampThatDiffer) {
  const Error error = refusal(built("other_headers"));
  EXPECT_EQ(error.kind(), ErrorKind::kInput);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("built for another proxbench: core headers older (this program: "),
                    Not(HasSubstr("version")), Not(HasSubstr("compiler"))));
}

TEST(Plugins, NameAPartThatOneSideLacks) {
  const TestFolder folder;
  std::string bytes = read_text(built("prox_bb"));
  const std::size_t at = bytes.find("; compiler=");
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, 11, "; composer=");
  EXPECT_THAT(
      refusal(folder.write("renamed.so", bytes)).what(),
      AllOf(HasSubstr("compiler none (this program: "), HasSubstr("composer "), HasSubstr("program: none)")));
}

TEST(Plugins, RegisterAllOrNothing) {
  EXPECT_THAT(refusal(built("throws")).what(), HasSubstr("the plug-in failed to register: no licence found"));
  EXPECT_THAT(refusal(built("twice")).what(), HasSubstr("solver 'fine' is registered twice"));
  EXPECT_THAT(refusal(built("built_in")).what(),
              HasSubstr("solver 'prox-newton' is registered already, built in"));
  EXPECT_THAT(refusal(built("no_maker")).what(), HasSubstr("oracle 'nothing' has no function"));
  EXPECT_THAT(refusal(built("no_reader")).what(), HasSubstr("data format 'nothing' has no function"));
  EXPECT_THAT(refusal(built("no_measure")).what(), HasSubstr("metric 'nothing' has no function"));
  EXPECT_THAT(
      refusal(built("key_of_data")).what(),
      HasSubstr("data format 'mine': found an option 'train', expected another name than a key of [data]"));
  EXPECT_THAT(refusal(built("named_unary")).what(),
              HasSubstr("oracle 'mine': found the word 'unary' for its extra weights"));
}

}  // namespace
}  // namespace proxbench
