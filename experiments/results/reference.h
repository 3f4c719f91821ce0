#pragma once
/// f* of one (data, lambda, mu), as OUT/references holds it.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace proxbench {

struct Reference {
  /// What a run is asked for; gap 0: not tightened, time_limit 0: none.
  struct Wanted {
    double tol, gap, time_limit;
  };

  double objective, kkt, kkt_at_zero, relative_kkt, l1;
  double dual;    ///< a lower bound on min F; NaN in references of before there were any
  Wanted wanted;  ///< of the run that made it; the gap is NaN in those
  /// How the run ended, and how the search for a better bound after it did (empty: there was none).
  std::string status, tighten_status;

  /// Throws nlohmann::json::exception where a key is missing. References without a dual bound are read, so
  /// that tables and figures can be made of them; a `run` that wants a gap makes them again.
  static Reference from(const nlohmann::ordered_json& json);

  /// NaN where no dual bound is stored.
  double relative_gap() const { return (objective - dual) / objective; }

  /// A bound on objective - min F, the smaller of two: the certified gap; and F being convex, F(w) - F(w*) <=
  /// kkt * ||w - w*||_1, where lambda*||w*||_1 <= F(w) and lambda > 0.
  double slack(double lambda) const;

  /// Whether its time limit ended it. Only then another run on the same data may find another f*.
  bool ended_by_time_limit() const { return status == "time-limit" || tighten_status == "time-limit"; }

  /// Good enough for a config that asks for these, or as good as it would get again.
  bool serves(const Wanted& by) const;
};

/// Throws Error where the file is no stored reference.
Reference read_reference(const std::filesystem::path& file);

}  // namespace proxbench
