#pragma once
/// Merges the results of several folders.

#include <filesystem>
#include <string>
#include <vector>

namespace proxbench {

struct MergeResult {
  std::size_t runs = 0, references = 0;
  std::vector<std::string> notes;  ///< for the user: configs that differ, runs that are equal
};

/// Copies the runs and references of the folders into OUT, which is made if it is missing. If a run of
/// another machine has the same name, the run becomes NAME@MACHINE, with a number if that name is taken too.
/// Byte-equal runs are copied once. Of two references for the same f*, the more exact one is kept. The config
/// is copied from the first folder. Throws Error (kUsage) if two different runs of the same name come from
/// the same machine, or if OUT is not empty; OUT then stays as it was.
MergeResult merge_results(const std::vector<std::filesystem::path>& folders,
                          const std::filesystem::path& out);

}  // namespace proxbench
