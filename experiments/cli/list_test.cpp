/// Tests the tables of `list --options --markdown`, and that a README lists all solvers.
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

/// Returns the block of this name, as the program prints it.
std::string block(const std::string& name) {
  static const std::string all = [] {
    const TestFolder folder;
    const std::string file = (folder / "blocks.md").string();
    EXPECT_EQ(std::system(("'" PROXBENCH_PROGRAM "' list --options --markdown >'" + file + "'").c_str()), 0);
    return read_text(file);
  }();
  const std::string end = "<!-- end -->\n";
  const std::size_t begin = all.find("<!-- " + name + " -->\n");
  return all.substr(begin, all.find(end, begin) + end.size() - begin);
}

/// Returns the part of the block from a heading to the next heading.
std::string part(const std::string& name, const std::string& heading) {
  const std::string text = block(name);
  const std::size_t begin = text.find("\n### `" + heading + "`\n");
  if (begin == text.npos) return "";
  return text.substr(begin, text.find("\n### ", begin + 1) - begin);
}

/// Expects every option of the table to be documented, and every documented row to be parsed and checked.
void expect_documented(const OptionTable& table, const std::string& text) {
  for (const OptionSpec& spec : table) {
    EXPECT_THAT(text, HasSubstr("\n| `" + spec.name + "` | "));
    EXPECT_FALSE(spec.help.empty()) << spec.name;
    for (const std::string& choice : spec.choices)
      EXPECT_THAT(text, HasSubstr("`" + choice + "`")) << spec.name;
    Options options({spec});
    if (!spec.default_value.empty() && spec.type != OptionType::kString) {
      EXPECT_NO_THROW(options.set(spec.name, spec.default_value)) << spec.name;
    }
    if (spec.type != OptionType::kString || !spec.choices.empty()) {
      EXPECT_THROW(options.set(spec.name, "no such value"), Error) << spec.name;
    }
  }
}

TEST(OptionDocs, TellEveryOptionOfTheTablesThatParseAndCheck) {
  for (const SolverInfo& solver : solver_registry().items())
    expect_documented(solver.options, part("options:solvers", solver.name));
  for (const DataFormatInfo& format : data_format_registry().items())
    expect_documented(format.options, part("options:formats", format.name));
  for (const ConfigSectionInfo& section : config_sections()) {
    const std::string text = part("options:config", "[" + section.name + "]");
    for (const OptionSpec& spec : section.keys)
      EXPECT_THAT(text, HasSubstr("\n| `" + spec.name + "` | " + (spec.required ? "required | " : "")));
  }
}

TEST(OptionDocs, SayTypesBoundsAndChoicesAndKeepFormulasLiteral) {
  const std::string text = part("options:config", "[experiment]");
  EXPECT_THAT(text, HasSubstr("| `lambda` | required | list of real: `0 <= lambda` | list of weights of "
                              "\\|\\|w\\|\\|_1 in F; path(START, END, COUNT) is "));
  EXPECT_THAT(text, HasSubstr("| `backend` | `openmp` | `openmp`, `tbb` | parallel back end |\n"));
  EXPECT_THAT(text, HasSubstr("| `tol` | `1e-6` | real: `0 <= tol <= 1` | stop when kkt \\<= tol \\* (kkt at "
                              "w = 0); with loss = hinge, "
                              "when the solver finds a relative gap \\<= tol |\n"));
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
