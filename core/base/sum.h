#pragma once
/// Sums over positions or instances. Every method gives the same bits for any number of threads and of
/// processes (core/base/processes.h). No other part of the project knows that several processes may each have
/// some of the instances.
///
/// sum_chunks() sums a few numbers, such as a loss. It adds chunks of instances over a fixed binary tree.
///
/// LeafTree sums many numbers, each over its own entries, such as a gradient. The positions are cut into at
/// most kSumLeaves leaves. A leaf is summed in the order of positions, and leaves are added over a fixed
/// binary tree. Leaves without entries are skipped, which changes no bits. So a sum of n terms t_i is off by
/// at most (m + log2(kSumLeaves)) * 2^-53 * sum_i |t_i|, where m is its largest number of entries in a leaf.
///
/// add_in_order() makes rare sums in the order of positions. Each process continues where the previous one
/// stopped.

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/processes.h"
#include "core/base/types.h"

namespace proxbench {

/// A compensated sum (Higham 2002, section 4.3, with Knuth's exact error of an addition). The sum of n terms
/// t_i is off by at most 2^-53 * |sum| + (n * 2^-53)^2 * sum_i |t_i|.
class CompensatedSum {
 public:
  void add(double term) {
    const double next = sum_ + term, added = next - sum_;
    lost_ += (sum_ - (next - added)) + (term - added);
    sum_ = next;
  }
  /// Adds value * number, with the rounding of the product.
  void add_product(double value, double number) {
    const double term = value * number;
    add(term);
    lost_ += std::fma(value, number, -term);
  }
  /// The sum; NaN or infinite if a term is.
  double value() const { return std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  double sum_ = 0.0, lost_ = 0.0;
};

/// Chunks of about kChunkPositions positions, whose scores and vectors fill about half of a second-level
/// cache at 26 labels. Chunk c has the instances [out[c], out[c+1]), and instance i has the positions
/// [begin[i], begin[i+1]). Processes share instances at the ends of such chunks.
inline constexpr std::size_t kChunkPositions = 256;
std::vector<Index> instance_chunks(std::span<const Index> begin);

/// Computes out[i] = sum over chunks of part[i], 0 <= i < width, where add(chunk, part) adds to zeros. The
/// chunks of all processes are one sequence, those of process 0 first. add() gets chunk numbers of its own
/// process. Takes memory for chunks * width numbers.
void sum_chunks(const Parallel& parallel, std::size_t chunks, std::size_t width, double* out,
                const std::function<void(std::size_t chunk, double* part)>& add);

/// Sums one number per chunk: part(chunk).
double sum_chunks(const Parallel& parallel, std::size_t chunks,
                  const std::function<double(std::size_t chunk)>& part);

/// Leaves of the tree over which many numbers are summed. There must be at least as many leaves as processes.
/// Each leaf costs a few additions per number.
inline constexpr std::size_t kSumLeaves = 32;

/// The leaves that hold positions of this process. Leaf i has its positions [begin[i], begin[i+1]) and is
/// leaf number[i] of the whole tree; the numbers ascend. Leaves consist of whole instance_chunks().
struct SumLeaves {
  std::vector<Index> begin{0};
  std::vector<std::uint32_t> number;

  std::size_t size() const { return number.size(); }
  bool operator==(const SumLeaves&) const = default;
};
/// Instance i of this process holds its positions [begin[i], begin[i+1]).
SumLeaves sum_leaves(std::span<const Index> begin, const Processes* processes = nullptr);

/// The level of the lowest node of the tree that holds both leaves; 0 if they are the same.
inline int common_level(std::uint32_t a, std::uint32_t b) {
  return static_cast<int>(std::bit_width(a ^ b));
}
/// While leaves are added in order, at most this many partial sums wait for their siblings.
inline constexpr std::size_t kWaitingSums = std::bit_width(kSumLeaves);

/// A node of a binary tree: its first leaf, and the largest number of leaves that it can hold, a power of
/// two.
struct SumNode {
  std::size_t begin, size;
};

/// The tree over which many numbers are summed. A process adds its leaves up to its own nodes: the smallest
/// set of nodes that hold its leaves and no others. The nodes of all processes are then added up to the root.
/// A single process has one node, the root.
class LeafTree {
 public:
  /// Takes SumLeaves::number. All processes must call this together. Throws Error if two processes have
  /// positions in the same leaf.
  LeafTree(std::span<const std::uint32_t> number, const Processes* processes);

  std::size_t leaves() const { return number_.size(); }
  /// The number of this process's nodes.
  std::size_t nodes() const { return node_leaf_.size(); }
  /// For each leaf of this process: its number, and its node among those of this process.
  std::span<const std::uint32_t> numbers() const { return number_; }
  std::span<const std::uint32_t> node_of() const { return node_of_; }

  /// out[node * stride] = the sum over the leaves of the node, where sums[leaf] is the sum of one leaf.
  /// Overwrites `sums`.
  void add_leaves(double* sums, double* out, std::size_t stride) const;

  /// Sums `width` numbers over all processes, width = out.size(). own[node * width + i] is this process's
  /// part of number i, for each of its nodes. Every process gets all sums in `out`.
  void add_nodes(std::span<const double> own, std::span<double> out) const;
  /// Does the same if process r needs only sizes[r] of the numbers. `own` holds the parts for process 0
  /// first, then those for process 1, and so on. Within the parts for process r, that of number i stands at
  /// [node * sizes[r] + i]. `out` gets the sums that this process needs.
  void add_nodes(std::span<const double> own, std::span<const std::size_t> sizes,
                 std::span<double> out) const;

 private:
  struct Merge {
    std::uint32_t to, from;  ///< leaves of this process
  };
  void add_all(std::span<double> values, std::span<double> out) const;
  const Processes* processes_;
  std::vector<std::uint32_t> number_, node_of_;
  std::vector<Merge> merges_;             ///< sums[to] += sums[from], in this order
  std::vector<std::uint32_t> node_leaf_;  ///< for each own node, its first leaf with positions or kNone
  std::vector<SumNode> all_nodes_;        ///< nodes of all processes, in order; empty without processes
  std::vector<std::size_t> nodes_of_process_;
};

/// Adds up numbers over all processes. Only for numbers whose sums are exact, such as counts.
void add_exact(const Parallel& parallel, std::span<double> numbers);

/// The largest value of all processes, or NaN if one of them is NaN.
double whole_max(const Parallel& parallel, double own);

/// The sum of the counts of all processes, and the sum of the counts of the processes before this one. `own`
/// is the count of this process.
std::size_t whole_count(const Parallel& parallel, std::size_t own);
std::size_t count_before(const Parallel& parallel, std::size_t own);

/// Sums over positions or instances in their order, and gives the result to all processes. add_own() must add
/// this process's terms to `numbers`, in order. On the first process, `numbers` starts with the caller's
/// values. On each other process, it starts with the sums of the processes before. Processes wait for each
/// other, so use this only for small sums.
template <class Numbers, class AddOwn>
void add_in_order(const Parallel& parallel, Numbers&& numbers, const AddOwn& add_own) {
  const std::span out(numbers);
  const Processes* const processes = parallel.processes();
  if (processes != nullptr && !processes->first())
    processes->receive(processes->rank() - 1, std::as_writable_bytes(out));
  add_own();
  if (processes == nullptr) return;
  if (!processes->last()) processes->send(processes->rank() + 1, std::as_bytes(out));
  processes->broadcast(processes->count() - 1, std::as_writable_bytes(out));
}

}  // namespace proxbench
