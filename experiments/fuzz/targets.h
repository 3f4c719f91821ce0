#pragma once
/// Puts each reader of external text behind a function that takes bytes. For fuzzers, and for a test that
/// gives it mutations of valid files.
///
/// An input of `ini` or `config` is the config's text; each further part is a --set. An input of a data
/// format is a line of data options `key=value key=value ...` (it may be empty), then files. A line "%%"
/// separates parts and files. An input of `model` is the model file.

#include <string>
#include <string_view>
#include <vector>

namespace proxbench {

struct FuzzTarget {
  std::string name;
  std::string help;
  /// Reads the input, and uses the result as the program would. Returns, or throws Error for bad input;
  /// anything else is a defect. Throws std::logic_error if the result breaks a promise of the reader.
  void (*feed)(std::string_view input);
  /// Small inputs; the first is valid.
  std::vector<std::string> (*seeds)();
};

const std::vector<FuzzTarget>& fuzz_targets();
/// Throws Error (kUsage) if no target has this name.
const FuzzTarget& fuzz_target(std::string_view name);

}  // namespace proxbench
