#pragma once
/// Penalties, paths of them, and the grid that the keys lambda and mu of a config span.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/penalty.h"

namespace proxbench {

/// `count` values of lambda or mu from START down to END, with a constant ratio.
struct PenaltyPath {
  /// A number, or a multiple of lambda_max, the smallest lambda at which w = 0 is optimal.
  struct End {
    double value = 0.0;
    bool of_max = false;
    bool operator==(const End&) const = default;
  };
  End start = {}, end = {};
  int count = 0;

  bool operator==(const PenaltyPath&) const = default;
  /// "path(max, 0.01*max, 50)", as in configs and records.
  std::string text() const;
  /// "path-max-0.01max-50", which is safe in file names.
  std::string file_text() const;
  /// Returns the values, strictly descending. Throws Error (kUsage) if START is not above END for this
  /// lambda_max (>= 0).
  std::vector<double> values(double lambda_max) const;

  static constexpr OptionType kType = OptionType::kString;
  Value to_value() const { return {text()}; }
  static PenaltyPath from_value(const Value& value);
};

/// The value of the key lambda or mu: numbers and paths.
struct PenaltyList {
  std::vector<double> numbers;
  std::vector<PenaltyPath> paths = {};

  bool empty() const { return numbers.empty() && paths.empty(); }
  /// Whether there are several values.
  bool several() const { return numbers.size() > 1 || !paths.empty(); }
  /// The largest number, or 0 without numbers. 1 stands for the values of a path, which are all above 0:
  /// checks without data need no more.
  double largest() const;
  /// The numbers and the values of the paths, descending; 0 if the list is empty. Throws the errors of
  /// PenaltyPath::values().
  std::vector<double> values(double lambda_max) const;

  static constexpr OptionType kType = OptionType::kReal;
  Value to_value() const;
  static PenaltyList from_value(const Value& value);
};

/// What one run solves for: a penalty, or all penalties of a path over lambda or mu, which is then NaN.
struct RunPenalty {
  Penalty penalty;
  std::optional<PenaltyPath> path = {};

  /// "lambda100", "lambda0.1-mu0.5", "path-max-0.01max-50", "path-max-50-50-mu0.5" or
  /// "lambda0-mu-path-10-0.1-20", which are safe in file names. "-mu0.5" stands where mu is a number above 0.
  std::string file_text() const;
  /// The penalties along the path. Throws the errors of PenaltyPath::values().
  std::vector<Penalty> penalties(double lambda_max) const;
};

/// Every lambda with every mu: the penalties of a config, or those that `select` chooses from.
struct PenaltyGrid {
  PenaltyList lambdas, mus{{0.0}};

  bool has_paths() const { return !lambdas.paths.empty() || !mus.paths.empty(); }
  /// Whether there are single penalties.
  bool has_singles() const { return !lambdas.numbers.empty() && !mus.numbers.empty(); }
  Penalty largest() const { return {lambdas.largest(), mus.largest()}; }
  /// One for each run of a config, in order. Beside a path of lambda, each value of a path of mu is a number.
  std::vector<RunPenalty> penalties() const;

  /// Whether lambda or mu has several values.
  bool several() const { return lambdas.several() || mus.several(); }
  /// Whether both have.
  bool is_grid() const { return lambdas.several() && mus.several(); }
  /// Whether only mu has several values.
  bool over_mu() const { return !lambdas.several(); }
  /// The parameter that varies along each of paths(): "mu" or "lambda".
  const char* varying() const { return over_mu() ? "mu" : "lambda"; }
  /// Paths along lambda, one for each mu, or one path along mu; penalties descend. Throws Error (kUsage) if
  /// lambda + mu = 0 somewhere, or if START of a path is not above its END for this lambda_max.
  std::vector<std::vector<Penalty>> paths(double lambda_max) const;
};

/// Whether the text looks like a path: "path", or "path(" followed by anything.
bool looks_like_path(std::string_view text);

/// Reads "path(START, END, COUNT)" as lambda or mu (`name`): START and END are positive reals or, for lambda,
/// `max` or R*max with a positive real R. START is larger than END. COUNT is an integer >= 2. Throws
/// ValueError.
PenaltyPath parse_path(std::string_view text, std::string_view name);

}  // namespace proxbench
