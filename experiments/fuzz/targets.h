#pragma once
/// The readers of text that others wrote, each behind one function that takes bytes: for fuzzers, and for a
/// test that feeds them mutations of valid files.
///
/// An input of the config is its text; each further part is a --set. An input of a data format is a line of
/// data options `key=value key=value ...` (it may be empty), then files. Parts and files are separated by a
/// line "%%". An input of the model is the model file.

#include <string>
#include <string_view>
#include <vector>

namespace proxbench {

struct FuzzTarget {
  std::string name;
  std::string help;
  /// Reads the input, and uses what was read as the program would. Returns, or throws Error for bad input;
  /// anything else is a defect. Throws std::logic_error where what was read breaks a promise of the reader.
  void (*feed)(std::string_view input);
  /// Valid inputs, small ones.
  std::vector<std::string> (*seeds)();
};

const std::vector<FuzzTarget>& fuzz_targets();
/// Throws Error (kUsage) where there is none of that name.
const FuzzTarget& fuzz_target(std::string_view name);

}  // namespace proxbench
