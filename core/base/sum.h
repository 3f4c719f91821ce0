#pragma once
/// The two ways in which sums over positions or instances are made. Both give the same bits for any number of
/// threads and of processes (core/base/processes.h), and nothing else in the project knows that there may be
/// several processes with some of the instances each.
///
/// A number, or a few, such as a loss: sum_chunks(), by chunks of instances that depend on neither, added up
/// over a fixed binary tree.
///
/// Many numbers, such as a gradient: each is summed over positions in their order (InOrder). A process goes
/// on where the one before it stopped.

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

/// Makes counts of this process's instances those of all: exact, in whatever order.
void add_counts(const Parallel& parallel, std::span<double> counts);

/// How many of something all processes have, of which this one has `own`; and those before this one.
std::size_t whole_count(const Parallel& parallel, std::size_t own);
std::size_t count_before(const Parallel& parallel, std::size_t own);

/// Sums over positions, or instances, in their order.
class InOrder {
 public:
  explicit InOrder(const Parallel& parallel) : processes_(parallel.processes()) {}

  /// Whether several processes take part. Then many numbers are best added in some tens of pieces: while a
  /// process adds to one piece, the next one adds to the piece before.
  bool shared() const { return processes_ != nullptr; }
  /// add_own() adds the terms of this process's positions to `out` in their order, starting from what is
  /// there: on the first process what the caller gives, elsewhere what the process before has left.
  template <class T, class AddOwn>
  void add(std::span<T> out, const AddOwn& add_own) const {
    if (shared() && !processes_->first())
      processes_->receive(processes_->rank() - 1, std::as_writable_bytes(out));
    add_own();
    if (shared() && !processes_->last()) processes_->send(processes_->rank() + 1, std::as_bytes(out));
  }
  /// Whether what add() leaves here is the whole sum: on the last process.
  bool complete() const { return !shared() || processes_->last(); }
  /// Gives all processes what the last one has.
  template <class T>
  void hand_back(std::span<T> out) const {
    if (shared()) processes_->broadcast(processes_->count() - 1, std::as_writable_bytes(out));
  }
  template <class T>
  void hand_back(std::vector<T>& out) const {
    if (shared()) share(processes_, processes_->count() - 1, out);
  }

 private:
  const Processes* processes_;
};

}  // namespace proxbench
