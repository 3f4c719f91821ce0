#pragma once
/// Values of lambda or of mu: a number or "path(START, END, COUNT)" in a config or on the command line.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/penalty.h"

namespace proxbench {

/// The part of the penalty that a path goes over; the other one is fixed.
enum class PathOf { kLambda, kMu };
/// Returns "lambda" or "mu".
const char* path_of_name(PathOf of);

/// The values of a lambda or mu: a single one, or COUNT values from START down to END, with a constant ratio.
struct PathGrid {
  /// A lambda or mu, or a multiple of lambda_max, the smallest lambda at which w = 0 is optimal.
  struct End {
    double value = 0.0;
    bool of_max = false;
  };
  End start = {}, end = {};
  int count = 1;  ///< 1: `start` is a single value
  PathOf of = PathOf::kLambda;

  bool is_path() const { return count > 1; }
  /// The single value. For a path, 1: all its values are above 0, and checks without data need no more.
  double value() const { return is_path() ? 1.0 : start.value; }
  /// Returns the canonical text, e.g. "0.5" or "path(max, 0.01*max, 50)".
  std::string text() const;
  /// Returns the text of a path in characters that are safe in file names, e.g. "path-max-0.01max-50" or
  /// "mu-path-10-0.1-20".
  std::string file_text() const;
  /// Returns the `count` values, strictly descending. Throws Error (kUsage) if START is not above END for
  /// this lambda_max (>= 0).
  std::vector<double> values(double lambda_max) const;
  /// Returns the penalty with this value on the path, and the other part fixed.
  Penalty penalty(double value, double fixed) const;
  /// Returns the penalties of the values, with the other part fixed.
  std::vector<Penalty> penalties(double fixed, double lambda_max) const;
};

/// A penalty of a grid: a number for lambda and one for mu, or one of them as a path.
struct GridPenalty {
  PathGrid lambda, mu;

  bool is_path() const { return lambda.is_path() || mu.is_path(); }
  const PathGrid& path() const { return mu.is_path() ? mu : lambda; }
  /// A path counts as 1, as in PathGrid::value().
  Penalty penalty() const { return {lambda.value(), mu.value()}; }
};
/// Returns every lambda with every mu. With a path of lambda, a path of mu counts as its single values.
std::vector<GridPenalty> grid_of(const std::vector<PathGrid>& lambdas, const std::vector<PathGrid>& mus);

/// A wrong value: "found X, expected Y", and the offset of X in the text of the value, in bytes.
struct ValueError : Error {
  explicit ValueError(const std::string& what, std::size_t at = 0, ErrorKind kind = ErrorKind::kUsage)
      : Error(what, kind), offset(at) {}
  std::size_t offset;
};

/// The end of the message for a wrong value that may be a path.
inline constexpr std::string_view kOrPath = ", or path(START, END, COUNT)";

/// Whether the text looks like a path: "path", or "path(" followed by anything.
bool looks_like_path(std::string_view text);

/// Reads "path(START, END, COUNT)": START and END are positive reals or, for lambda, `max` or R*max with a
/// positive real R. START is larger than END. COUNT is an integer >= 2. Throws ValueError.
PathGrid parse_path(std::string_view text, PathOf of);

/// A number as people write it: 1e-6, not 1e-06.
std::string number_as_written(double value);

}  // namespace proxbench
