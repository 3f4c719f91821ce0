#pragma once
/// The integer and vector types that all of proxbench uses.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <vector>

#include "core/base/numbers.h"

namespace proxbench {

/// A feature, an output (label, node), a position or an instance.
using Index = std::uint32_t;

/// A coordinate of the weight vector w, 0 <= c < d. Unary weight (feature j, output k) is j*K + k; the
/// oracle's extra weights (label x label transitions, row-major) follow from J*K on.
using Coord = std::uint64_t;

/// The gold output of a position whose label was never seen in training (test data only).
inline constexpr Index kUnknownOutput = static_cast<Index>(-1);
/// The gold output of a position at which no output is on: a candidate that is not the one chosen from its
/// group.
inline constexpr Index kNoOutput = static_cast<Index>(-2);

/// Width of padding, in doubles: one cache line, and the widest vector register in use.
inline constexpr std::size_t kPad = 8;
constexpr std::size_t padded(std::size_t n) {
  return (n + kPad - 1) / kPad * kPad;
}
/// Cache-line aligned storage, so that vector kernels see the same alignment in every run.
template <class T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlign{64};
  AlignedAllocator() = default;
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kAlign)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kAlign); }
  template <class U>
  bool operator==(const AlignedAllocator<U>&) const {
    return true;
  }
};
template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

/// A vector of length d, given by its nonzeros. Coordinates strictly ascend.
struct SparseVector {
  std::vector<Coord> index;
  std::vector<double> value;

  std::size_t nnz() const { return index.size(); }
  void clear() {
    index.clear();
    value.clear();
  }
  void push_back(Coord c, double v) {
    index.push_back(c);
    value.push_back(v);
  }
  /// Takes the nonzeros of a dense vector, in the memory that this vector has.
  void assign(std::span<const double> dense) {
    const auto nonzeros = dense.size() - static_cast<std::size_t>(std::ranges::count(dense, 0.0));
    clear();
    index.reserve(nonzeros);
    value.reserve(nonzeros);
    for (std::size_t c = 0; c < dense.size(); ++c)
      if (dense[c] != 0.0) push_back(c, dense[c]);
  }
  static SparseVector from_dense(std::span<const double> dense) {
    SparseVector out;
    out.assign(dense);
    return out;
  }
};

}  // namespace proxbench
