#pragma once
/// The model of the smooth part on the working set:
///
///     g^T d + 1/2 d^T B d + lambda*||w + d||_1,    B = gamma*B0 corrected by L-BFGS pairs.
///
/// B0 consists of the Hessian's blocks by output (block_metric.h). The inner problem is solved by coordinate
/// descent. This pays along a path, where the pairs of one lambda serve the next, where full gradients and
/// thus epochs are costly, and with two labels. Elsewhere, and wherever coordinate descent may cost more than
/// the pass over the data that it replaces, steps on the face (face_model.h) take the place of this model.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/hessian.h"
#include "core/quasi_newton/lbfgs.h"
#include "core/solver.h"
#include "solvers/prox_newton/block_metric.h"
#include "solvers/prox_newton/entering.h"
#include "solvers/prox_newton/face_model.h"
#include "solvers/prox_newton/newton_model.h"
#include "solvers/prox_newton/pair_history.h"
#include "solvers/prox_newton/settings.h"
#include "solvers/shared/proximal/coordinate_descent.h"
#include "solvers/shared/proximal/iterate.h"

namespace proxbench::prox_newton {

class QuasiNewtonModel {
 public:
  /// The most iterations of an epoch.
  static constexpr std::int64_t kMostIterations = 15;

  explicit QuasiNewtonModel(const Settings& settings)
      : settings_(settings), lbfgs_(settings.memory, GammaRule::kNone), random_(0) {}

  /// Starts a solve. If it continues a path (SolveProblem::in_sequence), keeps the pairs of the previous
  /// solve and puts their working set into `set`.
  void begin(const SolveProblem& problem, proximal::WorkingSet& set) {
    along_path_ = problem.in_sequence;
    history_capacity_ = problem.in_sequence ? PairHistory::capacity(problem.objective, settings_.memory) : 0;
    history_.next_solve(history_capacity_ > 0 ? 1 : 0);
    if (history_.size() > 0) {
      blocks_ = true;
      set.index = std::move(index_);
      set.w = std::move(weights_);
      set.chosen = true;
    } else {
      forget();
      gamma_of_blocks_ = kFirstGamma;
    }
    made_at_ = kInfinity;
    inner_passes_ = 0.0;
    random_ = Random(problem.seed);
  }

  /// Ends a solve, and keeps what the next one of a path will use.
  void end(proximal::WorkingSet& set) {
    metric_ = {};
    if (history_.size() == 0) return forget();
    index_ = std::move(set.index);
    weights_ = std::move(set.w);
  }

  /// Forgets all that was learned, since another model takes over or the solve was cut short.
  void forget() {
    history_.clear();
    face_.forget();
    lbfgs_ = CompactLbfgs(settings_.memory, GammaRule::kNone);
    metric_ = {};
    blocks_ = false;
  }

  /// Whether pairs are kept for the next solve of a path.
  bool keeps_history() const { return history_capacity_ > 0; }

  /// Whether the model should have blocks on this working set. There must be memory for them. Along a path,
  /// or if full gradients are costly, an inner problem must cost at most the pass over the data that it
  /// replaces, however many passes of coordinate descent it takes. With two labels side by side the blocks
  /// are nearly the Hessian, so they always pay.
  bool blocks_pay(const proximal::Iterate& at, std::span<const Coord> index) const {
    const Objective& objective = at.objective;
    const double entries = BlockMetric::entries(objective, index);
    if (entries > BlockMetric::kMostEntries) return false;
    if (objective.outputs() <= 2 && side_by_side(objective)) return true;
    if (!along_path_ && !full_gradients_are_costly(objective)) return false;
    const double per_row = 4.0 * static_cast<double>(padded(2 * settings_.memory)),
                 descent = per_row * static_cast<double>(index.size()) + 2.0 * entries;
    return static_cast<double>(settings_.max_inner) * descent <= NewtonModel::pass_work(at, index, true);
  }

  /// Moves to the working set of a new epoch. `progressed`: whether the last step was progress.
  void start_epoch(proximal::Iterate& at, bool progressed) {
    if (!blocks_pay(at, at.set.index)) return start_face(at, progressed);
    if (blocks_ && lbfgs_.pairs() > 0 && progressed) return continue_with_blocks(at);
    start_blocks(at);
  }

  /// Whether the model has blocks, else steps stay on the face.
  bool has_blocks() const { return blocks_; }

  /// The working set has shrunk to these rows (ascending).
  void keep_rows(std::span<const std::uint32_t> kept) {
    face_.keep_rows(kept);
    if (!blocks_) return;
    lbfgs_.keep_rows(kept);
    metric_.keep_rows(kept);
  }

  /// Sets at.d to the minimiser of the model, up to a tolerance. w + d is exactly zero where the solution is.
  /// Returns Delta = g^T d + lambda*(||w + d||_1 - ||w||_1).
  double minimise(proximal::Iterate& at) {
    if (!blocks_) return face_.step(at);
    lbfgs_.refresh(at.parallel());
    descent_.begin(lbfgs_, {metric_.start(), metric_.diagonal()}, at.set.w, at.set.g, at.lambda(), at.d);
    const double tolerance = (keeps_history() ? kOfTolerance : 1.0) * settings_.inner_tol;
    double first = 0.0;
    for (std::int64_t pass = 0; pass < settings_.max_inner && !at.stop.requested(); ++pass) {
      const double moved = descent_.pass(random_);
      inner_passes_ += 1.0;
      if (pass == 0) first = moved;
      if (moved <= tolerance * first) break;
    }
    return proximal::predicted_change(at.set.w, at.set.g, at.d, at.lambda());
  }

  /// Learns from a step along at.d.
  void learn(const proximal::Step& step, const proximal::Iterate& at) {
    if (!blocks_) return face_.learn(step, at);
    gamma_of_blocks_ =
        step.alpha < 1.0 ? gamma_of_blocks_ / std::sqrt(step.alpha) : std::max(0.5 * gamma_of_blocks_, 1.0);
    lbfgs_.set_gamma(gamma_of_blocks_);
    metric_.multiply(step.d, product_);
    if (lbfgs_.update(step.d, step.change, product_) && history_capacity_ > 0)
      history_.push(history_capacity_, at.set.index, step.d, step.before, step.after, at.parallel());
  }

  /// The number of passes of coordinate descent in this solve.
  double inner_passes() const { return inner_passes_; }

 private:
  /// Blocks also serve the next working set if F has fallen by at most this share since they were made.
  static constexpr double kFresh = 1e-4;
  /// The first gamma with blocks: Newton steps from w = 0 are too long by about this factor. gamma is
  /// multiplied by alpha^-1/2 after a step that was shortened, and halved, but kept >= 1, after any other.
  static constexpr double kFirstGamma = 3.0;
  /// On a path, the tolerance of the inner problem is this share of inner_tol. The model then has pairs from
  /// the start, so it is accurate enough for a better solution to pay.
  static constexpr double kOfTolerance = 0.1;

  void start_face(proximal::Iterate& at, bool progressed) {
    if (!progressed) face_.forget();
    blocks_ = false;
    history_.clear();
    face_.start_epoch(at);
  }

  void start_blocks(const proximal::Iterate& at) {
    face_.follow(at);
    blocks_ = true;
    make_blocks(at);
    forget_pairs(at);
  }

  void continue_with_blocks(const proximal::Iterate& at) {
    face_.follow(at);
    // Moves to another working set. Keeps the blocks if F has hardly fallen since they were made, and keeps
    // the pairs that fit.
    const bool fresh = made_at_ - at.value <= kFresh * at.value;
    if (fresh)
      metric_.take_rows(at.objective, at.residual(), at.set.index, at.set.from);
    else if (!make_blocks(at))
      return;
    if (history_.size() > 0)
      carry_pairs(at);
    else if (fresh)
      lbfgs_.take_rows(at.set.from);
    else
      forget_pairs(at);
  }

  bool make_blocks(const proximal::Iterate& at) {
    made_at_ = at.value;
    return metric_.build(at.objective, at.residual(), at.set.index, at.stop);
  }

  void forget_pairs(const proximal::Iterate& at) {
    history_.clear();
    lbfgs_.reset(at.set.size(), gamma_of_blocks_);
  }

  void carry_pairs(const proximal::Iterate& at) {
    // Moves the pairs in the history to the current working set and blocks. Each pair needs all its rows:
    // without some of them it does more harm than good (pair_history.h).
    const std::vector<Coord>& index = at.set.index;
    const std::vector<std::uint32_t>& from = at.set.from;
    const std::size_t n = index.size(), pairs = history_.size(), older = lbfgs_.pairs() - pairs;
    std::vector<Coord> fresh;
    std::vector<std::size_t> fresh_row;
    for (std::size_t j = 0; j < n; ++j) {
      if (from[j] != CompactLbfgs::kNew) continue;
      fresh.push_back(index[j]);
      fresh_row.push_back(j);
    }
    const std::vector<std::vector<double>> changes = history_.gradient_changes(at.objective, fresh);
    std::vector<std::vector<double>> s(pairs), y(pairs);
    for (std::size_t i = 0; i < pairs; ++i) s[i] = history_.step(i, index);
    std::vector<std::vector<double>> b = metric_.multiply(s, at.parallel());
    std::vector<std::size_t> carried;
    for (std::size_t i = 0; i < pairs; ++i) {
      y[i].resize(n);
      for (std::size_t j = 0; j < n; ++j)
        if (from[j] != CompactLbfgs::kNew) y[i][j] = lbfgs_.y(older + i, from[j]);
      for (std::size_t f = 0; f < fresh.size(); ++f)
        y[i][fresh_row[f]] = changes[i][f] + at.set.mu[fresh_row[f]] * s[i][fresh_row[f]];
      double sy = 0.0;
      for (std::size_t j = 0; j < n; ++j) sy += s[i][j] * y[i][j];
      if (!(sy > 0.0)) continue;
      if (carried.size() < i) {
        s[carried.size()].swap(s[i]);
        y[carried.size()].swap(y[i]);
        b[carried.size()].swap(b[i]);
      }
      carried.push_back(i);
    }
    s.resize(carried.size());
    history_.keep(carried);
    lbfgs_.set_gamma(gamma_of_blocks_);
    lbfgs_.assign(n, s, y, b, at.parallel());
  }

  const Settings& settings_;
  CompactLbfgs lbfgs_;
  BlockMetric metric_;  ///< B0
  FaceModel face_;
  proximal::CoordinateDescent descent_;
  Random random_;
  PairHistory history_;  ///< of the newest pairs in lbfgs_
  bool along_path_ = false;
  std::size_t history_capacity_ = 0;
  std::vector<Coord> index_;  ///< the working set between two solves, and w there
  std::vector<double> weights_;

  bool blocks_ = false;  ///< whether the model has blocks, else it is face_
  double gamma_of_blocks_ = 0.0;
  double made_at_ = 0.0;  ///< F at the build of blocks
  double inner_passes_ = 0.0;
  std::vector<double> product_;
};

}  // namespace proxbench::prox_newton
