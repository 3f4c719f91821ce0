#include "solvers/prox_newton/cholesky.h"

#include <algorithm>
#include <cmath>

#include "core/base/types.h"
#include "core/kernels/kernel_table.h"

namespace proxbench::prox_newton {

namespace {

/// The columns of the rows to update are processed in pieces of kColumns, so that a piece's part of the panel
/// stays in the second-level cache.
constexpr std::size_t kColumns = 2 * Cholesky::kPanel;

/// Factors a small matrix in place.
bool factor_block(double* a, std::size_t n, std::size_t stride) {
  const KernelTable& kernels = kernels_in_use();
  for (std::size_t i = 0; i < n; ++i) {
    double* row = a + i * stride;
    for (std::size_t j = 0; j < i; ++j)
      row[j] = (row[j] - kernels.dot(row, a + j * stride, j)) / a[j * stride + j];
    const double pivot = row[i] - kernels.dot(row, row, i);
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    row[i] = std::sqrt(pivot);
  }
  return true;
}

}  // namespace

void Cholesky::make_room(std::size_t n, std::size_t most) {
  size_ = n;
  stride_ = padded(most);
  lower_.resize(most * stride_);
}

bool Cholesky::factor_rows(const Parallel& parallel, const StopToken& stop) {
  const KernelTable& kernels = kernels_in_use();
  const std::size_t n = size_;
  // The panel's rows, negated, and its transpose in pieces of kColumns columns.
  AlignedVector<double> negated(n * kPanel), transposed(padded(n + kColumns) * kPanel);
  for (std::size_t k = 0; k < n; k += kPanel) {
    const std::size_t width = std::min(kPanel, n - k), below = k + width;
    double* const block = row(k) + k;
    if (stop.requested() || !factor_block(block, width, stride_)) return false;
    const Chunks chunks{n - below, kPanel};
    parallel.for_each(chunks.count(), [&](std::size_t c) {
      if (stop.requested()) return;
      for (std::size_t i = chunks.begin(c); i < chunks.end(c); ++i) {
        double* const x = row(below + i) + k;
        for (std::size_t j = 0; j < width; ++j)
          x[j] = (x[j] - kernels.dot(x, block + j * stride_, j)) / block[j * stride_ + j];
        double* const piece = transposed.data() + i / kColumns * kColumns * kPanel + i % kColumns;
        for (std::size_t j = 0; j < width; ++j) {
          negated[i * kPanel + j] = -x[j];
          piece[j * kColumns] = x[j];
        }
      }
    });
    parallel.for_each(chunks.count(), [&](std::size_t c) {
      if (stop.requested()) return;
      for (std::size_t column = 0; column < chunks.end(c); column += kColumns)
        kernels.add_product({.rows = negated.data() + chunks.begin(c) * kPanel,
                             .rows_stride = kPanel,
                             .count = chunks.end(c) - chunks.begin(c),
                             .inner = width,
                             .matrix = transposed.data() + column * kPanel,
                             .matrix_stride = kColumns,
                             .width = std::min(kColumns, padded(chunks.end(c) - column)),
                             .out = row(below + chunks.begin(c)) + below + column,
                             .out_stride = stride_});
    });
  }
  return !stop.requested();
}

bool Cholesky::append(std::span<const double> a, double diagonal) {
  double* const x = row(size_);
  std::ranges::copy(a, x);
  solve_lower({x, size_});
  const double pivot = diagonal - kernels_in_use().dot(x, x, size_);
  if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
  x[size_++] = std::sqrt(pivot);
  return true;
}

void Cholesky::solve_lower(std::span<double> x, std::size_t zero, std::size_t known) const {
  const KernelTable& kernels = kernels_in_use();
  for (std::size_t i = std::max(zero, known); i < size_; ++i)
    x[i] = (x[i] - kernels.dot(row(i) + zero, x.data() + zero, i - zero)) / row(i)[i];
}

void Cholesky::solve_upper(std::span<double> x) const {
  const KernelTable& kernels = kernels_in_use();
  for (std::size_t i = size_; i-- > 0;) {
    x[i] /= row(i)[i];
    kernels.add_scaled(x.data(), -x[i], row(i), i);
  }
}

}  // namespace proxbench::prox_newton
