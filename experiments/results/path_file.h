#pragma once
/// path.csv: the points of a regularisation path as they are stored.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "core/monitor.h"

namespace proxbench {

/// One penalty of a path. Counts and times of the solver and of the path's own work.
struct PathPoint {
  double lambda = 0.0, mu = 0.0;
  Certificate certificate = {};  ///< over all coordinates, with the best lower bound that its solves gave
  double kkt_target = 0.0;       ///< what kkt was to come down to
  double seconds = 0.0;          ///< on the clock, since the path began
  double cpu_seconds = 0.0;      ///< the same
  std::int64_t iterations = 0;
  double passes = 0.0;
  std::uint64_t candidates = 0;  ///< coordinates that the solver saw last
  std::uint64_t violations = 0;  ///< coordinates that the strong rule had wrongly left out
  std::int64_t rounds = 0;       ///< solves: 1 + those after a violation; 0: w = 0 needed none
  double test_accuracy = std::numeric_limits<double>::quiet_NaN();
  Status status = Status::kConverged;
};

/// path.csv: the points of a path, one line each.
std::string path_header();
/// `number`: from 1.
std::string path_line(std::size_t number, const PathPoint& point);
/// Throws Error with file and line where it is malformed. A half line at its end is left out.
std::vector<PathPoint> read_path_file(const std::filesystem::path& file);

}  // namespace proxbench
