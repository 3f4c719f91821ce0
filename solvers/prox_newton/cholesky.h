#pragma once
/// Cholesky factors of large dense matrices, computed on all threads, with the same bits for any number of
/// threads. Nearly all of the work is in one kernel for products of matrices (KernelTable::add_product).

#include <cstddef>
#include <span>

#include "core/base/parallel.h"
#include "core/base/stop_token.h"
#include "core/base/types.h"
#include "solvers/prox_newton/settings.h"

namespace proxbench::prox_newton {

/// A = L L^T for a symmetric, positive definite A. Rows can be added one at a time.
class Cholesky {
 public:
  /// The number of columns factored at a time, and of rows per task. Sums are split at multiples of kPanel,
  /// so its value affects the bits of the result.
  static constexpr std::size_t kPanel = 2 * kTask;
  /// Factors A of n rows. a(i, row) must write row i of the lower triangle to row[0..i]. Several threads call
  /// a(). `most` is the most rows that A may ever have. Returns false, and is empty, if A is not positive
  /// definite or `stop` was requested.
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
  /// Adds a row and column to A: size() numbers in `row`, and the diagonal entry. Returns false, and leaves L
  /// as it was, if A would not be positive definite.
  bool append(std::span<const double> row, double diagonal);

  std::size_t size() const { return size_; }
  /// x = L^-1 x. Requires that x[0..zero) is 0 and that x[zero..known) already holds the solution.
  void solve_lower(std::span<double> x, std::size_t zero = 0, std::size_t known = 0) const;
  /// x = L^-T x.
  void solve_upper(std::span<double> x) const;

 private:
  void make_room(std::size_t n, std::size_t most);
  bool factor_rows(const Parallel& parallel, const StopToken& stop);
  double* row(std::size_t i) { return lower_.data() + i * stride_; }
  const double* row(std::size_t i) const { return lower_.data() + i * stride_; }

  std::size_t size_ = 0, stride_ = 0;
  AlignedVector<double> lower_;  ///< rows of L; undefined right of the diagonal
};

}  // namespace proxbench::prox_newton
