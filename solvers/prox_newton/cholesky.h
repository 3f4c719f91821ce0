#pragma once
/// Cholesky factors of large dense matrices on all threads, the same bits for any number of them. Nearly all
/// of the work is in one kernel for products of matrices (KernelTable::add_product).

#include <cstddef>
#include <span>

#include "core/base/parallel.h"
#include "core/base/stop_token.h"
#include "solvers/prox_newton/settings.h"
#include "core/base/types.h"

namespace proxbench::prox_newton {

/// A = L L^T, A symmetric, positive definite. Rows can be added, one at a time.
class Cholesky {
 public:
  /// Columns that are factored at a time, and rows of a task. Sums are cut there, so it decides bits.
  static constexpr std::size_t kPanel = 2 * kTask;
  /// A of n rows, whose lower triangle a(i, row) writes to row[0..i]; called from several threads. `most`:
  /// rows that there may ever be. Returns false, and is empty, where A is not positive definite or the token
  /// asks to stop.
  template <class Row>
  bool factor(std::size_t n, std::size_t most, const Parallel& parallel, const Row& a,
              const StopToken& stop = {}) {
    make_room(n, most);
    const Chunks chunks{n, kPanel};
    parallel.for_each(chunks.count(), [&](std::size_t c) {
      for (std::size_t i = chunks.begin(c); i < chunks.end(c) && !stop.requested(); ++i) a(i, row(i));
    });
    const bool done = factor_rows(parallel, stop);
    if (!done) size_ = 0;
    return done;
  }
  /// One more row and column of A: size() numbers in `row`, and the diagonal entry. Returns false, and leaves
  /// L as it was, where A would not be positive definite.
  bool append(std::span<const double> row, double diagonal);

  std::size_t size() const { return size_; }
  /// x = L^-1 x, where x[0..zero) is 0 and x[zero..known) are numbers of the solution already.
  void solve_lower(std::span<double> x, std::size_t zero = 0, std::size_t known = 0) const;
  /// x = L^-T x.
  void solve_upper(std::span<double> x) const;

 private:
  void make_room(std::size_t n, std::size_t most);
  bool factor_rows(const Parallel& parallel, const StopToken& stop);
  double* row(std::size_t i) { return lower_.data() + i * stride_; }
  const double* row(std::size_t i) const { return lower_.data() + i * stride_; }

  std::size_t size_ = 0, stride_ = 0;
  AlignedVector<double> lower_;  ///< rows of L; what lies behind their diagonal means nothing
};

}  // namespace proxbench::prox_newton
