#pragma once
/// The work of an objective's methods by definition: what must be computed and what must move, whichever way
/// it is done (experiments/bench/README.md). Entries of X are counted with their values where it is not
/// binary.

#include <span>

#include "core/objective.h"
#include "core/profile.h"

namespace proxbench {

/// Objective::scores(): a multiply-add an entry of X under the coordinates; its offset, and the score read
/// and written.
Work scores_work(const Objective& objective, std::span<const Coord> index);
/// Objective::advance(): a multiply-add a score of the direction; two scores read, one written.
Work advance_work(const Objective& objective, const Scores& direction);
/// An inference over so many positions: the oracle's flops; scores read, residual written.
Work inference_work(const Objective& objective, const ScorePoint& at, const Residual* residual,
                    std::size_t positions);
/// Objective::partial_gradient(): a multiply-add an entry of X under the set; its offset, and the residual
/// there.
Work partial_gradient_work(const Objective& objective, std::span<const Coord> set);
/// Objective::gradient() and select_gradient(): each nonzero of X meets every column of the residual.
Work full_gradient_work(const Objective& objective, const Residual& residual);

}  // namespace proxbench
