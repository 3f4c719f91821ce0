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
/// Returns "lambda" or "mu".
const char* path_of_name(PathOf of);

/// COUNT values from START down to END, with a constant ratio.
struct PathGrid {
  /// A lambda or mu, or a multiple of lambda_max, the smallest lambda at which w = 0 is optimal.
  struct End {
    double value;
    bool of_max = false;
  };
  End start, end;
  int count;  ///< >= 2
  PathOf of = PathOf::kLambda;

  /// Returns the canonical text, e.g. "path(max, 0.01*max, 50)".
  std::string text() const;
  /// Returns it in characters that are safe in file names, e.g. "path-max-0.01max-50" or "mu-path-10-0.1-20".
  std::string file_text() const;
  /// Returns the `count` values, strictly descending. Throws Error (kUsage) if START is not above END for
  /// this lambda_max (>= 0).
  std::vector<double> values(double lambda_max) const;
  /// Returns the penalties of the values, with the other part fixed.
  std::vector<Penalty> penalties(double fixed, double lambda_max) const;
};

/// The error in the text of a path, and its offset in bytes.
struct PathProblem {
  std::size_t offset = 0;
  std::string text;  ///< "found X, expected Y"
};

/// Whether the text looks like a path: "path", or "path(" followed by anything.
bool looks_like_path(std::string_view text);

/// "path(START, END, COUNT)": START and END are positive reals or, for lambda, `max` or R*max with a positive
/// real R. START is larger than END. COUNT is an integer >= 2. If the text is no such path, returns none and
/// sets `problem`.
std::optional<PathGrid> parse_path(std::string_view text, PathOf of, PathProblem& problem);
/// Does the same, but throws Error (kUsage). `what` names the text in the message.
PathGrid parse_path(std::string_view text, PathOf of, const std::string& what);

}  // namespace proxbench
