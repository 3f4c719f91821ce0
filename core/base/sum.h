#pragma once
/// Sums over positions or instances. They have the same bits for any number of threads.
///
/// If several processes share the instances (core/base/processes.h), each makes the sum of its own. The parts
/// are then added once, in the order of ranks, so that all processes hold the same bits and decide alike. The
/// number of processes changes sums within rounding.
///
/// A sum over the entries of a column of X has a rule of its own (core/data/design_matrix.h).

#include <cmath>
#include <cstddef>
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
  /// Adds another sum, with what it lost.
  void add(const CompensatedSum& other) {
    add(other.sum_);
    lost_ += other.lost_;
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

/// Sums `width` numbers over chunks. add(chunk, part) must add a chunk's share to part[0..width), which is
/// zero before. out[i] gets the sum of part[i] over all chunks, added in their order by CompensatedSum. Takes
/// memory for chunks * width numbers.
void sum_chunks(const Parallel& parallel, std::size_t chunks, std::size_t width, double* out,
                const std::function<void(std::size_t chunk, double* part)>& add);

/// Sums one number per chunk: part(chunk).
double sum_chunks(const Parallel& parallel, std::size_t chunks,
                  const std::function<double(std::size_t chunk)>& part);

/// Replaces numbers by their sums over all processes. Throws Stopped on all of them if the scope of process 0
/// asks for a stop (StopScope).
void add_processes(const Parallel& parallel, std::span<double> numbers);
double add_processes(const Parallel& parallel, double own);

/// The largest value of all processes, or NaN if one of them is NaN.
double whole_max(const Parallel& parallel, double own);

/// The sum of the counts of all processes, and the sum of the counts of the processes before this one. `own`
/// is the count of this process.
std::size_t whole_count(const Parallel& parallel, std::size_t own);
std::size_t count_before(const Parallel& parallel, std::size_t own);

/// The numbers of all processes, in the order of ranks.
std::vector<double> whole_list(const Parallel& parallel, std::vector<double> own);

}  // namespace proxbench
