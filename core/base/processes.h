#pragma once
/// One run on several processes, possibly on several machines.
///
/// Each process holds some of the training instances, in order: process 0 the first ones. All processes run
/// the same program in step, and add up what each has summed over its own instances (core/base/sum.h). So
/// everything computed from such sums is the same on all of them, and so are all decisions based on it. If
/// something depends on anything else, such as a clock or a file, process 0 decides (agree()).

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace proxbench {

/// Only one thread of a process may call this at a time. Throws Error if the other processes are gone.
class Processes {
 public:
  virtual ~Processes() = default;
  virtual int count() const = 0;
  virtual int rank() const = 0;
  bool first() const { return rank() == 0; }

  /// Copies the data of `root` to all processes.
  virtual void broadcast(int root, std::span<std::byte> data) const = 0;
  /// Fills `all` with the numbers of all processes, in order: sizes[r] numbers from process r.
  virtual void gather(std::span<const double> own, std::span<const std::size_t> sizes,
                      std::span<double> all) const = 0;
  /// Sends a part to each process. `own` has sent[r] numbers for process r, one part after the other. `out`
  /// gets received[r] numbers from process r.
  virtual void exchange(std::span<const double> own, std::span<const std::size_t> sent,
                        std::span<const std::size_t> received, std::span<double> out) const = 0;

  /// Returns one number from each process.
  std::vector<double> gather(double own) const;
  /// Concatenates the numbers of all processes. Each process may give any number of them.
  std::vector<double> gather_all(std::span<const double> own) const;
  /// Sums numbers over all processes, in the order of ranks. Process r gets sizes[r] of the sums in `own`.
  /// `parts` holds what this process adds to the sums of process 0, then to those of process 1, and so on.
  void add_to_owners(std::span<const double> parts, std::span<const std::size_t> sizes,
                     std::span<double> own) const;
  /// Replaces each number by its sum over all processes. All processes get the same bits.
  void add(std::span<double> numbers) const;
};

/// Returns the value of process 0, or `own` if there is only one process.
template <class T>
T agree(const Processes* processes, T own) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (processes != nullptr) processes->broadcast(0, std::as_writable_bytes(std::span(&own, 1)));
  return own;
}

/// Calls step() on one process after the other. Each step finds the `state` that the step before left. At the
/// end, all processes have the state that the last step left.
template <class State, class Step>
void in_turn(const Processes* processes, State&& state, const Step& step) {
  if (processes == nullptr) return step();
  for (int rank = 0; rank < processes->count(); ++rank) {
    if (rank == processes->rank()) step();
    processes->broadcast(rank, std::as_writable_bytes(std::span(state)));
  }
}

/// Copies the vector of `root` to all processes.
template <class T>
void share(const Processes* processes, int root, std::vector<T>& numbers) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (processes == nullptr) return;
  std::size_t size = numbers.size();
  processes->broadcast(root, std::as_writable_bytes(std::span(&size, 1)));
  numbers.resize(size);
  processes->broadcast(root, std::as_writable_bytes(std::span(numbers)));
}
void share(const Processes* processes, int root, std::string& text);

}  // namespace proxbench
