/// Tests what `list` prints, and that a README lists all solvers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/options.h"
#include "experiments/base/test_folder.h"
#include "experiments/config/config_sections.h"
#include "experiments/config/format_registry.h"
#include "experiments/results/fields.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

/// Expects every option of the table to be documented, parsed and checked.
void expect_documented(const OptionTable& table) {
  for (const OptionSpec& spec : table) {
    EXPECT_FALSE(spec.help.empty()) << spec.name;
    Options options({spec});
    if (!spec.default_value.empty() && spec.type != OptionType::kString) {
      EXPECT_NO_THROW(options.set(spec.name, spec.default_value)) << spec.name;
    }
    if (spec.type != OptionType::kString || !spec.choices.empty()) {
      EXPECT_THROW(options.set(spec.name, "no such value"), Error) << spec.name;
    }
  }
}

TEST(OptionDocs, EveryOptionHasHelpAndIsChecked) {
  for (const SolverInfo& solver : solver_registry().items()) expect_documented(solver.options);
  for (const DataFormatInfo& format : data_format_registry().items()) expect_documented(format.options);
  for (const ConfigSectionInfo& section : config_sections())
    for (const OptionSpec& spec : section.keys) EXPECT_FALSE(spec.help.empty()) << spec.name;
}

TEST(OptionDocs, SayDefaultsBoundsAndChoices) {
  const TestFolder folder;
  const std::string file = (folder / "list.txt").string();
  ASSERT_EQ(std::system(("'" PROXBENCH_PROGRAM "' list experiment >'" + file + "'").c_str()), 0);
  const std::string text = read_text(file);
  EXPECT_THAT(text, HasSubstr("list of weights of ||w||_1 in F; path(START, END, COUNT) is "));
  EXPECT_THAT(text, HasSubstr("; required; 0 <= lambda\n"));
  EXPECT_THAT(text, HasSubstr(" parallel back end; default: openmp; one of openmp, tbb\n"));
}

TEST(OptionDocs, TheReadmeOfSolversListsEverySolver) {
  const std::string text = read_text(PROXBENCH_SOURCE_DIR "/solvers/README.md");
  for (const std::string& name : solver_registry().names())
    EXPECT_THAT(text.substr(0, text.find("\n## ")), HasSubstr("\n| `" + name + "` | ")) << name;
}

TEST(ListFields, HasEveryFieldWithItsTypeAndMeaning) {
  const TestFolder folder;
  const std::string file = (folder / "fields.json").string();
  ASSERT_EQ(std::system(("'" PROXBENCH_PROGRAM "' list --fields >'" + file + "'").c_str()), 0);
  const nlohmann::json fields = nlohmann::json::parse(read_text(file));
  EXPECT_EQ(fields["run"].size(), run_fields().size());
  EXPECT_EQ(fields["trace"].size(), trace_columns().size());
  EXPECT_EQ(fields["path"].size(), path_columns().size());
  for (const char* table : {"run", "trace", "path"})
    for (const nlohmann::json& field : fields[table]) EXPECT_FALSE(field["help"].get<std::string>().empty());
  EXPECT_EQ(fields["trace"][0]["unit"], "s");
  EXPECT_EQ(fields["trace"].back()["type"], "numbers");
  EXPECT_EQ(fields["statuses"][0], "converged");
  EXPECT_EQ(fields["config"]["plot"][0]["name"], "kinds");
}

}  // namespace
}  // namespace proxbench
