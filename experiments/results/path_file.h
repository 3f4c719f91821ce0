#pragma once
/// path.csv: the points of a regularisation path as they are stored.

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results/fields.h"

namespace proxbench {

/// path.csv: the points of a path, one line each.
std::string path_header();
/// `number`: from 1.
std::string path_line(std::size_t number, const PathPoint& point);
/// Throws Error with file and line where it is malformed. A half line at its end is left out.
std::vector<PathPoint> read_path_file(const std::filesystem::path& file);

}  // namespace proxbench
