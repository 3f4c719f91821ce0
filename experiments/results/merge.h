#pragma once
/// Results of several folders brought together.

#include <filesystem>
#include <string>
#include <vector>

namespace proxbench {

struct MergeResult {
  std::size_t runs = 0, references = 0;
  std::vector<std::string> notes;  ///< what a person should know: configs that differ, runs that are the same
};

/// Copies the runs and references of the folders into OUT (made where it is missing).
/// A run whose name is taken by a run of another machine becomes NAME@MACHINE, with a number where that is
/// taken too; byte-equal runs are copied once. Of two references for the same f* the one with the smaller kkt
/// stays. The config is that of the first folder. Throws Error (kUsage) where two runs of the same name come
/// from the same machine and differ, or OUT is not empty; OUT is left as it was then.
MergeResult merge_results(const std::vector<std::filesystem::path>& folders,
                          const std::filesystem::path& out);

}  // namespace proxbench
