#pragma once
/// The SQLite index of stored results, and results of several folders brought together. The files of
/// results.h are the truth; the index is made from them and can be made again at any time.
///
///     OUT/index.sqlite
///         runs     one row a run: folder, the columns of run_columns(), difference ((F - f*)/|f*|), manifest
///                  (JSON)
///         samples  one row a row of a trace: folder, and the columns of trace.csv

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results/results.h"

namespace proxbench {

/// Makes the index of OUT anew and puts it in the place of the old one by rename. Returns the number of runs.
/// Throws Error where files cannot be read or written.
std::size_t rebuild_index(const std::filesystem::path& out);

/// Puts the run of this folder into the index, in the place of what it says of that folder; one transaction.
/// Rebuilds the index where it is missing or cannot be used.
void index_run(const std::filesystem::path& out, const std::filesystem::path& run_folder);

/// Whether the index holds just the runs of OUT/runs, each as its manifest was when it was put in.
bool index_agrees(const std::filesystem::path& out);

struct MergeResult {
  std::size_t runs = 0, references = 0;
  std::vector<std::string> notes;  ///< what a person should know: configs that differ, runs that are the same
};

/// Copies the runs and references of the folders into OUT (made where it is missing), and makes its index.
/// A run whose name is taken by a run of another machine becomes NAME@MACHINE, with a number where that is
/// taken too; byte-equal runs are copied once. Of two references for the same f* the one with the smaller kkt
/// stays. The config is that of the first folder. Throws Error (kUsage) where two runs of the same name come
/// from the same machine and differ, or OUT is not empty; OUT is left as it was then.
MergeResult merge_results(const std::vector<std::filesystem::path>& folders,
                          const std::filesystem::path& out);

}  // namespace proxbench
