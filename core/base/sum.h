#pragma once
/// How sums over positions or instances are made. All ways give the same bits for any number of
/// threads and of processes (core/base/processes.h), and nothing else in the project knows that there may be
/// several processes with some of the instances each.
///
/// A number, or a few, such as a loss: sum_chunks(), by chunks of instances that depend on neither, added up
/// over a fixed binary tree.
///
/// Many numbers, such as a gradient: each term is rounded to a multiple of a step so large that no addition
/// rounds (Grid). Then the order is of no account, and processes add up what they have (add_exact()).
///
/// What is summed once in a run, and has no bound to round by, is summed in the order of positions (InOrder):
/// a process goes on where the one before it stopped.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/processes.h"
#include "core/base/types.h"

namespace proxbench {

/// Chunks of about kChunkPositions positions, whose scores and vectors fill about half of a second-level
/// cache at 26 labels: chunk c has the instances [out[c], out[c+1]). Instance i holds the positions
/// [begin[i], begin[i+1]). Processes share instances at the ends of such chunks.
inline constexpr std::size_t kChunkPositions = 256;
std::vector<Index> instance_chunks(std::span<const Index> begin);

/// out[i] = sum over chunks of part[i], 0 <= i < width; add(chunk, part) adds to zeros. The chunks of all
/// processes are one sequence, those of process 0 first; add() gets numbers of this one's. Takes chunks *
/// width numbers of memory.
void sum_chunks(const Parallel& parallel, std::size_t chunks, std::size_t width, double* out,
                const std::function<void(std::size_t chunk, double* part)>& add);

/// The same for one number: the sum of part(chunk).
double sum_chunks(const Parallel& parallel, std::size_t chunks,
                  const std::function<double(std::size_t chunk)>& part);

/// Multiples of one step, so large that a sum of such numbers is exact in any order (the "pre-rounding" of
/// Demmel and Nguyen 2013, "Fast reproducible floating-point summation").
///
/// A sum of n terms is off by at most n/2 steps, and a step is at most 2^-51 of the bound on their total
/// size. (Added one after the other, they may be off by n * 2^-53 of it.)
class Grid {
 public:
  /// For terms whose sizes add up to `total` at most. 0: terms are left as they are.
  explicit Grid(double total);
  /// The nearest multiple of the step: x + shift() has as many digits below as are kept.
  double round(double x) const { return (x + shift_) - shift_; }
  double shift() const { return shift_; }

 private:
  double shift_;
};

/// Adds up what all processes have, of numbers whose sums are exact: counts, or sums on a Grid.
void add_exact(const Parallel& parallel, std::span<double> numbers);

/// The largest of what all processes give, NaN where one is.
double whole_max(const Parallel& parallel, double own);

/// How many of something all processes have, of which this one has `own`; and those before this one.
std::size_t whole_count(const Parallel& parallel, std::size_t own);
std::size_t count_before(const Parallel& parallel, std::size_t own);

/// Sums over positions, or instances, in their order. The processes wait for each other: for small sums.
class InOrder {
 public:
  explicit InOrder(const Parallel& parallel) : processes_(parallel.processes()) {}

  /// add_own() adds the terms of this process's positions to `out` in their order, starting from what is
  /// there: on the first process what the caller gives, elsewhere what the process before has left.
  template <class T, class AddOwn>
  void add(std::span<T> out, const AddOwn& add_own) const {
    if (processes_ != nullptr && !processes_->first())
      processes_->receive(processes_->rank() - 1, std::as_writable_bytes(out));
    add_own();
    if (processes_ != nullptr && !processes_->last())
      processes_->send(processes_->rank() + 1, std::as_bytes(out));
  }
  /// Gives all processes what the last one has.
  template <class T>
  void hand_back(std::span<T> out) const {
    if (processes_ != nullptr) processes_->broadcast(processes_->count() - 1, std::as_writable_bytes(out));
  }

 private:
  const Processes* processes_;
};

}  // namespace proxbench
