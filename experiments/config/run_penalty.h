#pragma once
/// The penalty of a run: lambda and mu, each a number or a path. It knows all its forms: the text in configs
/// and records ("100", "path(max, 0.01*max, 50)"), in messages ("lambda = 100"), and in file names
/// ("lambda100", "path-max-0.01max-50").

#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/penalty.h"

namespace proxbench {

/// A lambda or mu: a number, or a path of `count` values from START down to END, with a constant ratio.
struct Strength {
  /// An end of a path: a number, or a multiple of lambda_max, the smallest lambda at which w = 0 is optimal.
  struct End {
    double value = 0.0;
    bool of_max = false;
    bool operator==(const End&) const = default;
  };
  End start = {}, end = {};
  int count = 1;  ///< 1: `start` is the number

  // NOLINTNEXTLINE(google-explicit-constructor): a number is a strength
  Strength(double number = 0.0) : start{number} {}
  Strength(End first, End last, int points) : start(first), end(last), count(points) {}

  bool operator==(const Strength&) const = default;
  bool is_path() const { return count > 1; }
  /// Throws Error for a path.
  double number() const;
  /// The number. For a path, 1 stands for its values: all are above 0, and checks without data need no more.
  double any_value() const { return is_path() ? 1.0 : start.value; }
  /// Returns "0.5" or "path(max, 0.01*max, 50)", as in a config.
  std::string text() const;
  /// Returns the `count` values, strictly descending. Throws Error (kUsage) if START is not above END for
  /// this lambda_max (>= 0).
  std::vector<double> values(double lambda_max) const;

  // In a record: a number, or the text of a path.
  static constexpr OptionType kType = OptionType::kReal;
  Value to_value() const { return is_path() ? Value{text()} : Value{start.value}; }
  static Strength from_value(const Value& value);
};

/// At most one of the two is a path: one run solves for two numbers, or for all penalties of a path.
struct RunPenalty {
  Strength lambda, mu;

  RunPenalty(Strength l1, Strength l2) : lambda(l1), mu(l2) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a single penalty is one for a run
  RunPenalty(const Penalty& single) : lambda(single.lambda), mu(single.mu) {}

  bool operator==(const RunPenalty&) const = default;
  bool is_path() const { return lambda.is_path() || mu.is_path(); }
  const Strength& path() const { return mu.is_path() ? mu : lambda; }
  /// "lambda" or "mu".
  const char* path_name() const { return mu.is_path() ? "mu" : "lambda"; }
  /// Throws Error for a path.
  Penalty single() const { return {lambda.number(), mu.number()}; }
  /// Strength::any_value() of both.
  Penalty any_penalty() const { return {lambda.any_value(), mu.any_value()}; }
  /// The penalties along the path. Throws the errors of Strength::values().
  std::vector<Penalty> penalties(double lambda_max) const;
  /// Returns the penalty in characters that are safe in file names: "lambda100", "path-max-0.01max-50" or
  /// "lambda0-mu-path-10-0.1-20". If `with_mu`, "-mu0.5" follows where mu is a number.
  std::string file_text(bool with_mu) const;
};

/// Returns every lambda with every mu. With a path of lambda, a path of mu counts as its single values.
std::vector<RunPenalty> grid_of(const std::vector<Strength>& lambdas, const std::vector<Strength>& mus);

/// The penalties to choose from: every lambda with every mu, either of which may be a path.
struct PenaltySearch {
  std::vector<Strength> lambdas, mus;  ///< not empty

  /// Whether only mu has several values.
  bool over_mu() const;
  /// Whether lambda or mu has several values.
  bool several() const;
  /// Whether both have.
  bool is_grid() const;
  /// The parameter that varies along each path: "mu" or "lambda".
  const char* name() const { return over_mu() ? "mu" : "lambda"; }
  const std::vector<Strength>& values() const { return over_mu() ? mus : lambdas; }
  /// The largest lambda and mu, where 1 stands for a path (Strength::any_value()).
  Penalty largest() const;
  /// Paths along lambda, one for each mu, or one path along mu; penalties descend. Throws Error (kUsage)
  /// unless lambda + mu > 0 everywhere, and for a path that lambda_max leaves empty.
  std::vector<std::vector<Penalty>> paths(double lambda_max) const;
};

/// Whether the text looks like a path: "path", or "path(" followed by anything.
bool looks_like_path(std::string_view text);

/// Reads "path(START, END, COUNT)" as lambda or mu (`name`): START and END are positive reals or, for lambda,
/// `max` or R*max with a positive real R. START is larger than END. COUNT is an integer >= 2. Throws
/// ValueError.
Strength parse_path(std::string_view text, std::string_view name);

}  // namespace proxbench
