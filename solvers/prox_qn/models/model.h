#pragma once
/// A model of the smooth part around w, on the working set: what prox-qn minimises with the l1 term to find
/// its direction. Three are there: gamma*D with L-BFGS pairs (scaled_diagonal.h), the Hessian's blocks with
/// L-BFGS pairs (blocks.h), and the exact Hessian (newton_model.h). model_choice.h says which serves when.

#include <cstdint>
#include <span>

#include "solvers/prox_qn/iterate.h"

namespace proxbench::prox_qn {

class Model {
 public:
  virtual ~Model() = default;

  /// Fills at.d with what minimises, more or less, g^T d + 1/2 d^T B d + lambda*||w + d||_1; w + d is exactly
  /// zero where the solution is. Returns Delta = g^T d + lambda*(||w + d||_1 - ||w||_1).
  virtual double minimise(Iterate& at) = 0;
  /// Whether B comes from the data: then the first trial of a line search is mostly taken.
  virtual bool measured() const = 0;
  /// The line search's allowance for rounding, where this model has one of its own.
  virtual double rounding(double standard) const { return standard; }
  /// After a step on this model's direction, or on that of the one before.
  virtual void learn(const Step& step, const Iterate& at) = 0;
  /// The working set shrank to these rows (ascending).
  virtual void keep_rows(std::span<const std::uint32_t> kept) = 0;
  /// Another model serves from now on: forgets what it has learned, and gives back the memory.
  virtual void stop() = 0;
};

}  // namespace proxbench::prox_qn
