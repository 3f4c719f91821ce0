#include "experiments/sweep/plan.h"

#include <gtest/gtest.h>

#include "experiments/base/test_folder.h"
#include "experiments/config/ini.h"

namespace proxbench {
namespace {

/// An empty file for each that the config names, so that a test needs no data.
void make_data_files(const Ini& config, const TestFolder& data) {
  for (const IniSection& section : config.sections) {
    if (!section.name.starts_with("data")) continue;
    for (const char* key : {"train", "test", "hierarchy"}) {
      const IniEntry* entry = section.find(key);
      for (const std::string& file : split_list(entry ? entry->value : "")) data.write(file, "");
    }
  }
}

TEST(Plan, TheConfigsOfTheProjectAreGood) {
  std::size_t checked = 0;
  const std::filesystem::path folder = PROXBENCH_SOURCE_DIR "/configs";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string paper =
        entry.path().parent_path() == folder ? "" : entry.path().parent_path().filename();
    if (entry.path().extension() != ".ini" || paper == "common") continue;
    SCOPED_TRACE(entry.path());
    const TestFolder data;
    Problems none;
    make_data_files(read_ini(entry.path(), none), data);
    setenv("PROXBENCH_DATA", data.path().c_str(), 1);
    const ExperimentConfig config = load_config(entry.path());
    EXPECT_FALSE(plan_runs(config).empty());
    EXPECT_EQ(config.name, (paper.empty() ? "" : paper + "-") + entry.path().stem().string())
        << "results go to a folder of the config's name";
    EXPECT_EQ(parse_config(config.to_ini(), "again.ini", "").to_ini(), config.to_ini());
    unsetenv("PROXBENCH_DATA");
    ++checked;
  }
  EXPECT_GT(checked, 0u);
}

}  // namespace
}  // namespace proxbench
