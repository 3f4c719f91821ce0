#pragma once
/// Small vector kernels over raw memory, written with the compiler's vector types so that one source serves
/// every instruction set. All operate on rows padded to kPad doubles.

#include <cstddef>
#include <cstring>

#include "core/types.h"

namespace proxbench::kernels {

/// kPad doubles: one AVX-512 register, two AVX2 ones, four SSE2 ones.
using Pack = double __attribute__((vector_size(kPad * sizeof(double))));

inline Pack load(const double* p) {
  Pack v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(double* p, const Pack& v) {
  std::memcpy(p, &v, sizeof v);
}
inline Pack splat(double x) {
  return Pack{x, x, x, x, x, x, x, x};
}
/// Sum of the lanes in a fixed order.
inline double sum(const Pack& v) {
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/// Whether |x_i| <= bound for all i < n; false where one is NaN.
inline bool all_within(const double* x, std::size_t n, double bound) {
  std::size_t i = 0;
  for (; i + kPad <= n; i += kPad) {
    const Pack v = load(x + i);
    const auto outside = ~((v <= splat(bound)) & (v >= splat(-bound)));
    long long any = 0;
    for (std::size_t l = 0; l < kPad; ++l) any |= outside[l];
    if (any != 0) return false;
  }
  for (; i < n; ++i)
    if (!(x[i] <= bound && x[i] >= -bound)) return false;
  return true;
}

/// The lanes l in which some |x[i*kPad + l]| > bound, i < n, or is NaN, as bits.
inline unsigned lanes_outside(const double* x, std::size_t n, double bound) {
  auto within = load(x) == load(x);  // false where NaN
  for (std::size_t i = 0; i < n; ++i) {
    const Pack v = load(x + i * kPad);
    within &= (v <= splat(bound)) & (v >= splat(-bound));
  }
  unsigned out = 0;
  for (std::size_t l = 0; l < kPad; ++l) out |= within[l] != 0 ? 0u : 1u << l;
  return out;
}

/// acc[0..V*kPad) += sum_i x_i * rows[position_i][0..V*kPad); x null means all ones. 2nV*kPad flops, and
/// 8nV*kPad bytes of rows read.
template <int V, class Int>
inline void accumulate_rows(const double* rows, std::size_t stride, const Int* position, const double* x,
                            std::size_t n, double* acc) {
  Pack a[V];
  for (int v = 0; v < V; ++v) a[v] = load(acc + static_cast<std::size_t>(v) * kPad);
  if (x == nullptr) {
    for (std::size_t i = 0; i < n; ++i) {
      const double* row = rows + position[i] * stride;
      for (int v = 0; v < V; ++v) a[v] += load(row + static_cast<std::size_t>(v) * kPad);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      const double* row = rows + position[i] * stride;
      const Pack xi = splat(x[i]);
      for (int v = 0; v < V; ++v) a[v] += xi * load(row + static_cast<std::size_t>(v) * kPad);
    }
  }
  for (int v = 0; v < V; ++v) store(acc + static_cast<std::size_t>(v) * kPad, a[v]);
}

/// The same for any padded width, in tiles of at most 4 packs.
template <class Int>
inline void accumulate_rows(const double* rows, std::size_t stride, const Int* position, const double* x,
                            std::size_t n, double* acc, std::size_t width) {
  std::size_t k = 0;
  for (; k + 4 * kPad <= width; k += 4 * kPad) accumulate_rows<4>(rows + k, stride, position, x, n, acc + k);
  switch ((width - k) / kPad) {
    case 3:
      accumulate_rows<3>(rows + k, stride, position, x, n, acc + k);
      break;
    case 2:
      accumulate_rows<2>(rows + k, stride, position, x, n, acc + k);
      break;
    case 1:
      accumulate_rows<1>(rows + k, stride, position, x, n, acc + k);
      break;
    default:
      break;
  }
}

/// sum_i x_i * column[position_i]; x null means all ones. Four running sums, so the order is fixed.
template <class Int>
inline double gather_dot(const double* column, const Int* position, const double* x, std::size_t n) {
  double a0 = 0.0, a1 = 0.0, a2 = 0.0, a3 = 0.0;
  std::size_t i = 0;
  if (x == nullptr) {
    for (; i + 4 <= n; i += 4) {
      a0 += column[position[i]];
      a1 += column[position[i + 1]];
      a2 += column[position[i + 2]];
      a3 += column[position[i + 3]];
    }
    for (; i < n; ++i) a0 += column[position[i]];
  } else {
    for (; i + 4 <= n; i += 4) {
      a0 += x[i] * column[position[i]];
      a1 += x[i + 1] * column[position[i + 1]];
      a2 += x[i + 2] * column[position[i + 2]];
      a3 += x[i + 3] * column[position[i + 3]];
    }
    for (; i < n; ++i) a0 += x[i] * column[position[i]];
  }
  return (a0 + a1) + (a2 + a3);
}

/// column[position_i] += w * x_i; x null means all ones.
template <class Int>
inline void scatter_add(double* column, const Int* position, const double* x, double w, std::size_t n) {
  if (x == nullptr) {
    for (std::size_t i = 0; i < n; ++i) column[position[i]] += w;
  } else {
    for (std::size_t i = 0; i < n; ++i) column[position[i]] += w * x[i];
  }
}

/// out[0..V*kPad) = sum_j v[j] * m[j][0..V*kPad), j < n: a row vector times a dense row-major matrix.
template <int V>
inline void row_times_matrix(const double* v, const double* m, std::size_t n, double* out) {
  Pack a[V];
  for (int c = 0; c < V; ++c) a[c] = splat(0.0);
  for (std::size_t j = 0; j < n; ++j) {
    const Pack vj = splat(v[j]);
    const double* row = m + j * V * kPad;
    for (int c = 0; c < V; ++c) a[c] += vj * load(row + static_cast<std::size_t>(c) * kPad);
  }
  for (int c = 0; c < V; ++c) store(out + static_cast<std::size_t>(c) * kPad, a[c]);
}

/// The same for any padded width `width` = row stride of m.
inline void row_times_matrix(const double* v, const double* m, std::size_t n, double* out,
                             std::size_t width) {
  switch (width / kPad) {
    case 1:
      return row_times_matrix<1>(v, m, n, out);
    case 2:
      return row_times_matrix<2>(v, m, n, out);
    case 3:
      return row_times_matrix<3>(v, m, n, out);
    case 4:
      return row_times_matrix<4>(v, m, n, out);
    default:
      break;
  }
  for (std::size_t k = 0; k < width; k += kPad) {
    Pack a = splat(0.0);
    for (std::size_t j = 0; j < n; ++j) a += splat(v[j]) * load(m + j * width + k);
    store(out + k, a);
  }
}

/// Transposes an 8 x 8 block held in eight packs.
inline void transpose(Pack (&m)[kPad]) {
  static_assert(kPad == 8);
  Pack t[kPad], u[kPad];
  for (std::size_t i = 0; i < 4; ++i) {
    t[2 * i] = __builtin_shufflevector(m[2 * i], m[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    t[2 * i + 1] = __builtin_shufflevector(m[2 * i], m[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (std::size_t h = 0; h < 8; h += 4)
    for (std::size_t i = 0; i < 2; ++i) {
      u[h + i] = __builtin_shufflevector(t[h + i], t[h + i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      u[h + i + 2] = __builtin_shufflevector(t[h + i], t[h + i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (std::size_t i = 0; i < 4; ++i) {
    m[i] = __builtin_shufflevector(u[i], u[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    m[i + 4] = __builtin_shufflevector(u[i], u[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// rows[p][k] = columns[k][begin + p], p < n, for k < outputs; the padding of each row is set to `fill`.
/// With `direction`, columns + alpha * direction.
inline void columns_to_rows(const double* columns, const double* direction, double alpha, std::size_t stride,
                            std::size_t outputs, std::size_t begin, std::size_t n, double* rows,
                            std::size_t width, double fill) {
  const Pack a = splat(alpha);
  std::size_t p = 0;
  for (; p + kPad <= n; p += kPad)
    for (std::size_t k = 0; k < width; k += kPad) {
      Pack block[kPad];
      for (std::size_t i = 0; i < kPad; ++i) {
        if (k + i >= outputs) {
          block[i] = splat(fill);
          continue;
        }
        const std::size_t at = (k + i) * stride + begin + p;
        block[i] = load(columns + at);
        if (direction != nullptr) block[i] += a * load(direction + at);
      }
      transpose(block);
      for (std::size_t i = 0; i < kPad; ++i) store(rows + (p + i) * width + k, block[i]);
    }
  for (; p < n; ++p)
    for (std::size_t k = 0; k < width; ++k) {
      const std::size_t at = k * stride + begin + p;
      double value = fill;
      if (k < outputs) value = direction == nullptr ? columns[at] : columns[at] + alpha * direction[at];
      rows[p * width + k] = value;
    }
}

/// columns[k][begin + p] = rows[p][k].
inline void rows_to_columns(const double* rows, std::size_t width, std::size_t outputs, std::size_t begin,
                            std::size_t n, double* columns, std::size_t stride) {
  std::size_t p = 0;
  for (; p + kPad <= n; p += kPad)
    for (std::size_t k = 0; k < outputs; k += kPad) {
      Pack block[kPad];
      for (std::size_t i = 0; i < kPad; ++i) block[i] = load(rows + (p + i) * width + k);
      transpose(block);
      const std::size_t count = outputs - k < kPad ? outputs - k : kPad;
      for (std::size_t i = 0; i < count; ++i) store(columns + (k + i) * stride + begin + p, block[i]);
    }
  for (; p < n; ++p)
    for (std::size_t k = 0; k < outputs; ++k) columns[k * stride + begin + p] = rows[p * width + k];
}

}  // namespace proxbench::kernels
