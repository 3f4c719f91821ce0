#pragma once
/// Helpers for tests of readers: they read small texts, and real data if present.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "experiments/base/test_file.h"
#include "experiments/config/format_registry.h"

namespace proxbench {

/// Options of a format and their texts, set in order.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Reads with the registered format.
inline DataPair read_data(const std::string& format, const DataFiles& files, const Settings& options = {}) {
  const DataFormatInfo& info = data_format_registry().find(format);
  Options values(info.options);
  for (const auto& [name, text] : options) values.set(name, text);
  return info.read(files, values);
}

/// Expects that generated data depend on their seed only, that more training instances begin with those of
/// fewer, and that the test set does not depend on their number. `size` is the option for that number, and
/// "test_" with it the one for the test set.
inline void expect_fixed_by_seed(const std::string& format, const std::string& size) {
  const auto read = [&](const char* seed, const char* instances) {
    return read_data(format, {}, {{"seed", seed}, {size, instances}, {"test_" + size, "5"}});
  };
  const DataPair one = read("1", "30"), same = read("1", "30"), other = read("2", "30"),
                 more = read("1", "50");
  EXPECT_EQ(one.train.digest, same.train.digest);
  EXPECT_NE(one.train.digest, other.train.digest);
  EXPECT_EQ(one.test.digest, more.test.digest);
  EXPECT_TRUE(std::equal(one.train.gold.begin(), one.train.gold.end(), more.train.gold.begin()));
}

/// Reads files with these texts. If the test text is empty, there is no test file.
inline DataPair read_texts(const std::string& format, const std::string& train, const std::string& test,
                           const Settings& options = {}, const std::string& hierarchy = "") {
  const TempFile train_file(train), test_file(test);
  DataFiles files{{train_file.path()}, {}, hierarchy};
  if (!test.empty()) files.test.push_back(test_file.path());
  return read_data(format, files, options);
}

/// Returns the error of reading the training text, without the file's path at its start. The paths of the
/// file and the hierarchy elsewhere in the message become FILE and TREE.
inline std::string error_in_text(const std::string& format, const std::string& text,
                                 const Settings& options = {}, const std::string& hierarchy = "") {
  const TempFile file(text);
  std::string message = error_of([&] { read_data(format, {{file.path()}, {}, hierarchy}, options); });
  EXPECT_TRUE(message.starts_with(file.path() + ":")) << message;
  message.erase(0, file.path().size() + 1);
  const auto replace_all = [&](const std::string& path, const char* name) {
    for (std::size_t at; !path.empty() && (at = message.find(path)) != message.npos;)
      message.replace(at, path.size(), name);
  };
  replace_all(file.path(), "FILE");
  replace_all(hierarchy, "TREE");
  return message;
}

/// The path of a real data file, in $PROXBENCH_DATA or else in ../shared/data beside the source; "" if it is
/// missing.
inline std::string real_data(const std::string& name) {
  std::vector<std::string> folders;
  if (const char* folder = std::getenv("PROXBENCH_DATA")) folders.emplace_back(folder);
  folders.emplace_back(PROXBENCH_SOURCE_DIR "/../shared/data");
  for (const std::string& folder : folders)
    if (std::filesystem::exists(folder + "/" + name)) return folder + "/" + name;
  return "";
}

#define PROXBENCH_NEED_DATA(variable, name)     \
  const std::string variable = real_data(name); \
  if (variable.empty()) GTEST_SKIP() << name << " is neither in $PROXBENCH_DATA nor in ../shared/data"

}  // namespace proxbench
