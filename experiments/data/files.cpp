#include "experiments/data/files.h"

#include <filesystem>

#include "core/base/error.h"

namespace proxbench {

void require_training_files(const DataFiles& files, const std::string& format, HierarchyUse hierarchy) {
  if (files.train.empty()) throw Error::usage("format " + format + ": no training file given");
  if (hierarchy == HierarchyUse::kRequired && files.hierarchy.empty())
    throw Error::usage("format " + format + ": no hierarchy given, expected a file such as cat_hier.txt");
  if (hierarchy == HierarchyUse::kNone && !files.hierarchy.empty())
    throw Error::usage("format " + format + ": takes no hierarchy, found '" + files.hierarchy + "'");
}

std::string file_names(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) {
    if (!out.empty()) out += ", ";
    out += std::filesystem::path(path).filename().string();
  }
  return out;
}

}  // namespace proxbench
