#include "solvers/best_solver.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/data/typical_value.h"
#include "solvers/shared/rough_hessian.h"
#include "solvers/solvers.h"

namespace proxbench {

namespace {

/// With l2 alone, dual steps on one instance at a time are faster than L-BFGS if features occur fewer times
/// than this, on average: a step then changes few weights, where L-BFGS has vectors of all weights.
constexpr double kFewOccurrences = 30.0;
/// And if L / (mu n) is at most this, where L is the mean of ||x||^2 over the n instances, in the units of X.
/// The number of passes of dual ascent grows with this ratio (Shalev-Shwartz and Zhang, JMLR 2013).
constexpr double kMostCondition = 5.0;
/// If L-BFGS would need more than kManyBytes of memory, L / (mu n) may be as large as kMostConditionOfLarge.
/// There dual steps are still faster to a relative difference of 1e-2, but no longer to 1e-6.
constexpr double kManyBytes = 4e9, kMostConditionOfLarge = 150.0;

/// With the hinge loss, Newton steps on all instances pay if X has at least so many nonzeros for each weight,
/// and if L / (mu n) is at least kLeastCondition: below it, steps on one instance at a time converge at once.
constexpr double kNonzerosPerWeight = 30.0, kLeastCondition = 0.005;

double weights(const Dataset& data) {
  return static_cast<double>(data.x.features()) * static_cast<double>(data.outputs());
}

/// L / (mu n).
double condition(const Dataset& data, double mu) {
  const double unit = typical_value(data.x, Parallel()), instances = static_cast<double>(data.instances());
  return static_cast<double>(data.x.nonzeros()) * unit * unit / (mu * instances * instances);
}

/// Whether dual steps pay. False where processes share the data, since these steps need all instances.
bool dual_steps_pay(const Dataset& data, double mu) {
  const DesignMatrix& x = data.x;
  if (x.shared()) return false;
  const bool large = solver_registry().find("lbfgs").bytes_per_weight * weights(data) > kManyBytes;
  return static_cast<double>(x.nonzeros()) < kFewOccurrences * static_cast<double>(x.features()) &&
         condition(data, mu) <= (large ? kMostConditionOfLarge : kMostCondition);
}

/// Whether Newton steps pay. False where processes share the data, since these steps need all instances.
bool newton_steps_pay(const Dataset& data, double mu) {
  const DesignMatrix& x = data.x;
  return !x.shared() && x.features() <= dense::RoughHessian::kMostFeatures &&
         static_cast<double>(x.nonzeros()) >= kNonzerosPerWeight * weights(data) &&
         condition(data, mu) >= kLeastCondition;
}

}  // namespace

std::string best_solver(const Penalty& penalty, Loss::Kind loss, const OracleInfo* oracle,
                        const Dataset* data) {
  if (loss == Loss::Kind::kLog) {
    if (penalty.lambda > 0.0) return kBestForL1;
    const auto fits = [&](const char* name) {
      return oracle != nullptr && data != nullptr &&
             unmet_needs(solver_registry().find(name), penalty, loss, *oracle).empty();
    };
    if (fits("oeg") && dual_steps_pay(*data, penalty.mu)) return "oeg";
    if (fits("newton-cg") && data->outputs() == 2 && data->instances() == data->x.positions())
      return "newton-cg";  // two labels side by side
    return "lbfgs";
  }
  // Label sets have no exact max oracle.
  if (oracle != nullptr && !has_capability(*oracle, Capability::kInstanceMax)) return "gdmm";
  return data != nullptr && newton_steps_pay(*data, penalty.mu) ? "ssnal" : "bcfw";
}

std::vector<std::string> fitting_solvers(const Penalty& penalty, Loss::Kind loss, const OracleInfo& oracle) {
  std::vector<std::string> out;
  for (const SolverInfo& info : solver_registry().items())
    if (unmet_needs(info, penalty, loss, oracle).empty()) out.push_back(info.name);
  return out;
}

std::string no_solver_text(const Penalty& penalty, Loss::Kind loss, const OracleInfo& oracle) {
  return all_parts("no solver has a ", loss_name(loss), " loss with ", penalty.text(), " on oracle '",
                   oracle.name, "'");
}

}  // namespace proxbench
