#pragma once
/// Grids of lambda or of mu: "path(START, END, COUNT)" in a config or on the command line.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/penalty.h"
#include "experiments/config/ini.h"

namespace proxbench {

/// The part of the penalty that a path goes over; the other one is fixed.
enum class PathOf { kLambda, kMu };
/// "lambda" or "mu".
const char* path_of_name(PathOf of);

/// From START down to END in COUNT points, a constant factor apart.
struct PathGrid {
  /// A lambda or mu, or a multiple of lambda_max, the smallest lambda at which w = 0 is optimal.
  struct End {
    double value;
    bool of_max = false;
  };
  End start, end;
  int count;  ///< >= 2
  PathOf of = PathOf::kLambda;

  /// "path(max, 0.01*max, 50)"; the same for all ways to write it.
  std::string text() const;
  /// The same in characters that are safe in file names: "path-max-0.01max-50", "mu-path-10-0.1-20".
  std::string file_text() const;
  /// Strictly descending, `count` of them. Throws Error (kUsage) where START is not above END for this
  /// lambda_max (>= 0).
  std::vector<double> values(double lambda_max) const;
  /// The penalties of its values, with the other part fixed.
  std::vector<Penalty> penalties(double fixed, double lambda_max) const;
};

/// What is wrong with the text of a path, and from which byte of it on.
struct PathProblem {
  std::size_t offset = 0;
  std::string text;  ///< "found X, expected Y"
};

/// Whether the text is meant as a path: "path", or "path(" and anything.
bool looks_like_path(std::string_view text);

/// "path(START, END, COUNT)": START and END a positive real or, of lambda, `max` or R*max with R a positive
/// real; START the larger one; COUNT an integer >= 2. None where it is not one, with the problem.
std::optional<PathGrid> parse_path(std::string_view text, PathOf of, PathProblem& problem);
/// Throws Error (kUsage): `what` says what the text is.
PathGrid parse_path(std::string_view text, PathOf of, const std::string& what);

}  // namespace proxbench
