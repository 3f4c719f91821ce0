#pragma once
/// Building blocks of hot loops: vectors as wide as the registers of the instruction set for which a source
/// is compiled, and small kernels on them. Only for sources named *_simd.cpp, which are compiled once for
/// each instruction set. Everything lies in a namespace of that set's own, so that the linker never confuses
/// the functions of two sets. For the same reason, these sources use no inline function from elsewhere: no
/// containers, no algorithms. The linker keeps a single copy of those, possibly compiled for an instruction
/// set that this CPU lacks.

#include <cstddef>
#include <cstring>

#include "core/base/types.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#ifndef PROXBENCH_SIMD
#error "core/kernels/kernels.h is for sources named *_simd.cpp, which CMake compiles with PROXBENCH_SIMD"
#endif

/// Put this before a loop over an array of vectors. Registers can hold the array only if the loop is fully
/// unrolled.
#define PROXBENCH_UNROLL _Pragma("GCC unroll 8")

namespace proxbench::kernels {
inline namespace PROXBENCH_SIMD {

/// Doubles in a vector register.
#if defined(__AVX512F__)
inline constexpr std::size_t kLanes = 8;
#elif defined(__AVX__)
inline constexpr std::size_t kLanes = 4;
#else
inline constexpr std::size_t kLanes = 2;
#endif
static_assert(kPad % kLanes == 0);

using Vec = double __attribute__((vector_size(kLanes * sizeof(double))));
using IntVec = unsigned long long __attribute__((vector_size(kLanes * sizeof(double))));

/// Half a register. If the padding of a row fills the upper half of its last vector, sums of products over
/// that vector take half the time this way.
inline constexpr bool kHalves = kLanes == 8;
inline constexpr std::size_t kHalfLanes = kHalves ? kLanes / 2 : kLanes;
using HalfVec = double __attribute__((vector_size(kHalfLanes * sizeof(double))));

inline Vec load(const double* p) {
  Vec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline HalfVec load_half(const double* p) {
  HalfVec v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
inline void store(double* p, const Vec& v) {
  std::memcpy(p, &v, sizeof v);
}
inline Vec splat(double x) {
  return x - Vec{};
}
inline HalfVec lower_half(const Vec& v) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(v, v, 0, 1, 2, 3);
#else
  return v;
#endif
}
/// A whole vector with zeros in the upper half.
inline Vec whole(const HalfVec& v) {
#if defined(__AVX512F__)
  return __builtin_shufflevector(v, HalfVec{}, 0, 1, 2, 3, 4, 5, 6, 7);
#else
  return v;
#endif
}
/// The sum of the lanes in a fixed order: halves are added until one number is left.
inline double sum(const Vec& v) {
#if defined(__AVX512F__)
  const auto four = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
  const auto two = __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
  return two[0] + two[1];
#elif defined(__AVX__)
  const auto two = __builtin_shufflevector(v, v, 0, 1) + __builtin_shufflevector(v, v, 2, 3);
  return two[0] + two[1];
#else
  return v[0] + v[1];
#endif
}
/// The larger lanes, or those of b if both are equal or one is NaN.
inline Vec larger(const Vec& a, const Vec& b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Vec>(_mm512_max_pd(reinterpret_cast<__m512d>(a), reinterpret_cast<__m512d>(b)));
#else
  return a > b ? a : b;
#endif
}

/// exp(x) for x <= 700, off by at most 2 ulp. 0 below -708, where results would lose digits. NaN for NaN.
inline Vec exp(const Vec& x) {
#if defined(__AVX512F__)
  // x = n*ln2/16 + r, |r| <= ln2/32. Adding 1.5 * 2^52 rounds to an integer and leaves it in the lowest bits.
  // Four of these bits choose a root of 2 from two registers, and the bits above them are the exponent.
  constexpr double kRound = 0x1.8p52, k16Log2E = 0x1.71547652b82fep4;
  constexpr double kLn2High = 0x1.62e42feep-5, kLn2Low = 0x1.a39ef35793c76p-37;
  // 2^(i/16) minus i << 48, which the exponent contributes.
  const IntVec low{0x3ff0000000000000, 0x3fefb5586cf9890f, 0x3fef72b83c7d517b, 0x3fef387a6e756238,
                   0x3fef06fe0a31b715, 0x3feedea64c123422, 0x3feebfdad5362a27, 0x3feeab07dd485429};
  const IntVec high{0x3feea09e667f3bcd, 0x3feea11473eb0187, 0x3feeace5422aa0db, 0x3feec49182a3f090,
                    0x3feee89f995ad3ad, 0x3fef199bdd85529c, 0x3fef5818dcfba487, 0x3fefa4afa2a490da};
  const Vec shifted = x * k16Log2E + kRound;
  const Vec n = shifted - kRound;
  const Vec r = (x - n * kLn2High) - n * kLn2Low;
  const IntVec bits = reinterpret_cast<IntVec>(shifted);
  const IntVec root = reinterpret_cast<IntVec>(_mm512_permutex2var_epi64(
      reinterpret_cast<__m512i>(low), reinterpret_cast<__m512i>(bits), reinterpret_cast<__m512i>(high)));
  const Vec power = reinterpret_cast<Vec>(root + (bits << 48));
  // exp(r) = 1 + r + r^2 q(r). q interpolates at the Chebyshev nodes with relative error below 3e-17.
  Vec q = splat(0x1.6c17bb51f57d5p-10);
  q = q * r + 0x1.11120af705254p-7;
  q = q * r + 0x1.55555555194d1p-5;
  q = q * r + 0x1.55555554dd44dp-3;
  q = q * r + 0.5;
  const Vec y = power + power * (r + r * r * q);
#else
  // x = n*ln2 + r, |r| <= ln2/2. Adding 1.5 * 2^52 rounds to an integer and leaves it in the lowest bits.
  constexpr double kRound = 0x1.8p52, kLog2E = 0x1.71547652b82fep0;
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  const Vec shifted = x * kLog2E + kRound;
  const Vec n = shifted - kRound;
  const Vec r = (x - n * kLn2High) - n * kLn2Low;
  // exp(r) = 1 + r + r^2 q(r). q interpolates at the Chebyshev nodes with relative error below 2e-17.
  Vec q = splat(0x1.af389ecfc4b9cp-26);
  q = q * r + 0x1.28917c89a43a7p-22;
  q = q * r + 0x1.71de0db2f6b19p-19;
  q = q * r + 0x1.a019b9149a41cp-16;
  q = q * r + 0x1.a01a01a7c2efep-13;
  q = q * r + 0x1.6c16c17889ef1p-10;
  q = q * r + 0x1.11111111109b5p-7;
  q = q * r + 0x1.5555555553d68p-5;
  q = q * r + 0x1.5555555555556p-3;
  q = q * r + 0x1.0000000000001p-1;
  const Vec p = 1.0 + (r + r * r * q);
  const IntVec exponent = (reinterpret_cast<IntVec>(shifted) + 1023) << 52;
  const Vec y = p * reinterpret_cast<Vec>(exponent);
#endif
  return x < splat(-708.0) ? Vec{} : y;
}

/// log(x) for normal x > 0, off by at most 2 ulp (the method of fdlibm's e_log.c), together with 1/x. Smaller
/// x, including 0, are treated as the smallest normal number, whose logarithm is about -708. Undefined for
/// all other x.
struct Logarithm {
  Vec log, inverse;
};
inline Logarithm log_and_inverse(const Vec& at) {
  constexpr unsigned long long kOne = 0x3ff0000000000000, kRootHalf = 0x3fe6a09e667f3bcd;
  constexpr unsigned long long kMantissa = 0x000fffffffffffff, kTwo52 = 0x4330000000000000;
  constexpr double kLn2High = 0x1.62e42feep-1, kLn2Low = 0x1.a39ef35793c76p-33;
  const Vec x = larger(at, splat(0x1p-1022));
  // x = 2^k * (1 + f), with 1 + f between sqrt(1/2) and sqrt(2).
  const IntVec shifted = reinterpret_cast<IntVec>(x) + (kOne - kRootHalf);
  const Vec k = reinterpret_cast<Vec>((shifted >> 52) | kTwo52) - (0x1p52 + 1023.0);
  const Vec f = reinterpret_cast<Vec>((shifted & kMantissa) + kRootHalf) - 1.0;
  // One division serves both. Its divisor, x * (2 + f), is far from overflow.
  const Vec quotient = 1.0 / (x * (2.0 + f));
  const Vec s = f * (x * quotient), z = s * s;
  Vec r = splat(0x1.2f112df3e5244p-3);
  r = r * z + 0x1.39a09d078c69fp-3;
  r = r * z + 0x1.7466496cb03dep-3;
  r = r * z + 0x1.c71c51d8e78afp-3;
  r = r * z + 0x1.2492494229359p-2;
  r = r * z + 0x1.999999997fa04p-2;
  r = r * z + 0x1.5555555555593p-1;
  const Vec half = 0.5 * f * f;
  return {k * kLn2High - ((half - (s * (half + r * z) + k * kLn2Low)) - f), (2.0 + f) * quotient};
}

/// Transposes a kLanes x kLanes block.
inline void transpose(Vec (&m)[kLanes]) {
#if defined(__AVX512F__)
  Vec t[8], u[8];
  for (int i = 0; i < 4; ++i) {
    t[2 * i] = __builtin_shufflevector(m[2 * i], m[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    t[2 * i + 1] = __builtin_shufflevector(m[2 * i], m[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int h = 0; h < 8; h += 4)
    for (int i = 0; i < 2; ++i) {
      u[h + i] = __builtin_shufflevector(t[h + i], t[h + i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
      u[h + i + 2] = __builtin_shufflevector(t[h + i], t[h + i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int i = 0; i < 4; ++i) {
    m[i] = __builtin_shufflevector(u[i], u[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    m[i + 4] = __builtin_shufflevector(u[i], u[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
#elif defined(__AVX__)
  const Vec a = __builtin_shufflevector(m[0], m[1], 0, 4, 2, 6),
            b = __builtin_shufflevector(m[0], m[1], 1, 5, 3, 7),
            c = __builtin_shufflevector(m[2], m[3], 0, 4, 2, 6),
            d = __builtin_shufflevector(m[2], m[3], 1, 5, 3, 7);
  m[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  m[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  m[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  m[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
#else
  const Vec a = m[0];
  m[0] = __builtin_shufflevector(a, m[1], 0, 2);
  m[1] = __builtin_shufflevector(a, m[1], 1, 3);
#endif
}

/// A number that is known at compile time.
template <int N>
struct Count {
  static constexpr int value = N;
};

/// Calls body(Count<n>()); 1 <= n <= Max.
template <int Max, class Body>
inline void with_count(std::size_t n, const Body& body) {
  if constexpr (Max > 1)
    if (n < static_cast<std::size_t>(Max)) return with_count<Max - 1>(n, body);
  body(Count<Max>());
}

/// A tile of this many rows, with this many vectors each, is the part of a sum of products that is kept in
/// registers.
inline constexpr int kTileRows = kLanes == 8 ? 6 : 3, kTileVectors = 4;

/// Calls body(Count<V>(), Count<H>()). The first `columns` numbers of a row, or as many as fit into a tile,
/// lie in V vectors. H is 1 if the lower half of the last vector is enough for them.
template <class Body>
inline void with_tile(std::size_t columns, const Body& body) {
  constexpr std::size_t kTile = kTileVectors * kLanes;
  if (columns >= kTile) return body(Count<kTileVectors>(), Count<0>());
  with_count<kTileVectors>((columns + kLanes - 1) / kLanes, [&](auto vectors) {
    const std::size_t in_last = columns % kLanes;
    if constexpr (kHalves)
      if (in_last != 0 && in_last <= kHalfLanes) return body(vectors, Count<1>());
    body(vectors, Count<0>());
  });
}

/// sums[r][v] = sum_i left(r, i) * right(i)[v*kLanes..), i < n, for R rows of V vectors. If H = 1, the upper
/// half of the last vectors is 0. Always inlined, since the sums would not stay in registers otherwise.
template <int R, int V, int H, class Left, class Right>
[[gnu::always_inline]] inline void sum_products(std::size_t n, const Left& left, const Right& right,
                                                Vec (&sums)[R][V]) {
  constexpr int kWhole = V - H;
  HalfVec last[R];
  PROXBENCH_UNROLL for (int r = 0; r < R; ++r) {
    last[r] = HalfVec{};
    PROXBENCH_UNROLL for (int v = 0; v < V; ++v) sums[r][v] = Vec{};
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double* row = right(i);
    Vec x[R];
    PROXBENCH_UNROLL for (int r = 0; r < R; ++r) x[r] = splat(left(r, i));
    PROXBENCH_UNROLL for (int v = 0; v < kWhole; ++v) {
      const Vec m = load(row + static_cast<std::size_t>(v) * kLanes);
      PROXBENCH_UNROLL for (int r = 0; r < R; ++r) sums[r][v] += x[r] * m;
    }
    if constexpr (H == 1) {
      const HalfVec m = load_half(row + kWhole * kLanes);
      PROXBENCH_UNROLL for (int r = 0; r < R; ++r) last[r] += lower_half(x[r]) * m;
    }
  }
  if constexpr (H == 1) PROXBENCH_UNROLL for (int r = 0; r < R; ++r) sums[r][kWhole] = whole(last[r]);
}

/// acc[0..V*kLanes) += sum over i < n of x_i * row(i)[0..V*kLanes), which is formed first. If x is null, all
/// x_i are 1.
template <int V, class Row>
[[gnu::always_inline]] inline void accumulate_rows(const Row& row, const double* x, std::size_t n,
                                                   double* acc) {
  Vec a[V];
  for (int v = 0; v < V; ++v) a[v] = Vec{};
  if (x == nullptr) {
    for (std::size_t i = 0; i < n; ++i) {
      const double* from = row(i);
      for (int v = 0; v < V; ++v) a[v] += load(from + static_cast<std::size_t>(v) * kLanes);
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      const double* from = row(i);
      const Vec xi = splat(x[i]);
      for (int v = 0; v < V; ++v) a[v] += xi * load(from + static_cast<std::size_t>(v) * kLanes);
    }
  }
  for (int v = 0; v < V; ++v) {
    double* const to = acc + static_cast<std::size_t>(v) * kLanes;
    store(to, load(to) + a[v]);
  }
}

/// Does the same for any width that is a multiple of kLanes.
template <class Row>
[[gnu::always_inline]] inline void accumulate_rows(const Row& row, const double* x, std::size_t n,
                                                   double* acc, std::size_t width) {
  constexpr std::size_t kTile = 8 * kLanes;
  for (std::size_t k = 0; k < width; k += kTile)
    with_count<8>((width - k < kTile ? width - k : kTile) / kLanes, [&](auto vectors) {
      accumulate_rows<decltype(vectors)::value>([&](std::size_t i) { return row(i) + k; }, x, n, acc + k);
    });
}

/// Returns sum_i a_i * b_i, summed in a fixed order.
inline double dot(const double* a, const double* b, std::size_t n) {
  Vec s0{}, s1{};
  std::size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    s0 += load(a + i) * load(b + i);
    s1 += load(a + i + kLanes) * load(b + i + kLanes);
  }
  double s = sum(s0 + s1);
  for (; i < n; ++i) s += a[i] * b[i];
  return s;
}

/// y += alpha * x.
inline void add_scaled(double* y, double alpha, const double* x, std::size_t n) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(y + i, load(y + i) + alpha * load(x + i));
  for (; i < n; ++i) y[i] += alpha * x[i];
}

}  // namespace PROXBENCH_SIMD
}  // namespace proxbench::kernels
