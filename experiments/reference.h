#pragma once
/// f* of one (data, lambda, mu), as OUT/references holds it.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace proxbench {

struct Reference {
  double objective, kkt, kkt_at_zero, relative_kkt, l1;
  double tol, time_limit;  ///< what the run that made it was asked for
  std::string status;      ///< of that run

  /// Throws nlohmann::json::exception where a key is missing.
  static Reference from(const nlohmann::ordered_json& json);

  /// A bound on objective - min F: F is convex, so F(w) - F(w*) <= kkt * ||w - w*||_1, and lambda*||w*||_1 <=
  /// F(w).
  double slack(double lambda) const { return kkt * (l1 + objective / lambda); }

  /// Good enough for a config that asks for these, or as good as it would get again.
  bool serves(double wanted_tol, double wanted_time_limit) const;
};

/// Throws Error where the file is no stored reference.
Reference read_reference(const std::filesystem::path& file);

}  // namespace proxbench
