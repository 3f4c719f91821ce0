#pragma once
/// One run on several processes, which may lie on several machines.
///
/// Each process holds some of the training instances, in order: process 0 the first ones. All of them run the
/// same program in step. What they exchange are sums over instances (core/base/sum.h), so whatever is made of
/// such sums is the same everywhere, and so are all decisions taken by it. What depends on anything else, a
/// clock or a file, is decided by process 0 (agree()).

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace proxbench {

/// Calls come from one thread of a process at a time. Throws Error where the others have gone.
class Processes {
 public:
  virtual ~Processes() = default;
  virtual int count() const = 0;
  virtual int rank() const = 0;
  bool first() const { return rank() == 0; }
  bool last() const { return rank() + 1 == count(); }

  /// Returns before the message is received.
  virtual void send(int to, std::span<const std::byte> message) const = 0;
  /// The next message of that process to this one, which must be of this size.
  virtual void receive(int from, std::span<std::byte> message) const = 0;
  /// To all, from `root`.
  virtual void broadcast(int root, std::span<std::byte> data) const = 0;
  /// all = what each process gives, in order: sizes[r] numbers of process r.
  virtual void gather(std::span<const double> own, std::span<const std::size_t> sizes,
                      std::span<double> all) const = 0;
  /// numbers = the sums of what each process gives, in any order of additions: for sums without rounding.
  virtual void sum(std::span<double> numbers) const = 0;
  /// Each process gives each of them a part: own has sent[r] numbers for process r, one part after the other;
  /// out gets received[r] numbers from process r.
  virtual void exchange(std::span<const double> own, std::span<const std::size_t> sent,
                        std::span<const std::size_t> received, std::span<double> out) const = 0;

  /// The numbers that each process gives, one each.
  std::vector<double> gather(double own) const;
  /// What each process gives, however much, one after the other.
  std::vector<double> gather_all(std::span<const double> own) const;
};

/// What process 0 says; `own` where there is one process.
template <class T>
T agree(const Processes* processes, T own) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (processes != nullptr) processes->broadcast(0, std::as_writable_bytes(std::span(&own, 1)));
  return own;
}

/// Makes the vector of `root` that of all.
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
