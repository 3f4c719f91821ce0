#pragma once
/// For tests: threads that act as processes, each with data of its own.

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/error.h"
#include "core/base/processes.h"

namespace proxbench {

namespace process_team {

using Message = std::vector<std::byte>;

/// The messages that are sent but not yet taken, by sender and receiver.
class Mailboxes {
 public:
  void put(int from, int to, std::span<const std::byte> message) {
    const std::lock_guard<std::mutex> lock(mutex_);
    boxes_[{from, to}].emplace_back(message.begin(), message.end());
    changed_.notify_all();
  }
  Message take(int from, int to) {
    std::unique_lock<std::mutex> lock(mutex_);
    std::deque<Message>& box = boxes_[{from, to}];
    changed_.wait(lock, [&] { return failure_ || !box.empty(); });
    if (failure_) throw Error("another process failed");
    Message message = std::move(box.front());
    box.pop_front();
    return message;
  }
  void fail(std::exception_ptr failure) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!failure_) failure_ = failure;
    changed_.notify_all();
  }
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<Message>> boxes_;
  std::exception_ptr failure_;
};

class Member : public Processes {
 public:
  Member(Mailboxes& boxes, int count, int rank) : boxes_(boxes), count_(count), rank_(rank) {}
  int count() const override { return count_; }
  int rank() const override { return rank_; }
  void send(int to, std::span<const std::byte> message) const { boxes_.put(rank_, to, message); }
  void receive(int from, std::span<std::byte> message) const {
    const Message taken = boxes_.take(from, rank_);
    if (taken.size() != message.size())
      throw Error("processes are out of step: found a message of " + std::to_string(taken.size()) +
                  " bytes, expected " + std::to_string(message.size()));
    std::ranges::copy(taken, message.begin());
  }
  void broadcast(int root, std::span<std::byte> data) const override {
    if (rank_ != root) return receive(root, data);
    for (int to = 0; to < count_; ++to)
      if (to != root) send(to, data);
  }
  using Processes::gather;
  void gather(std::span<const double> own, std::span<const std::size_t> sizes,
              std::span<double> all) const override {
    for (int to = 0; to < count_; ++to) send(to, std::as_bytes(own));
    for (int from = 0; from < count_; ++from) {
      const std::size_t size = sizes[static_cast<std::size_t>(from)];
      receive(from, std::as_writable_bytes(all.first(size)));
      all = all.subspan(size);
    }
  }

  void exchange(std::span<const double> own, std::span<const std::size_t> sent,
                std::span<const std::size_t> received, std::span<double> out) const override {
    for (int to = 0; to < count_; ++to) {
      const std::size_t size = sent[static_cast<std::size_t>(to)];
      send(to, std::as_bytes(own.first(size)));
      own = own.subspan(size);
    }
    for (int from = 0; from < count_; ++from) {
      const std::size_t size = received[static_cast<std::size_t>(from)];
      receive(from, std::as_writable_bytes(out.first(size)));
      out = out.subspan(size);
    }
  }

 private:
  Mailboxes& boxes_;
  int count_, rank_;
};

}  // namespace process_team

/// Calls body(processes) in `count` threads at once and returns when all have ended. If a body throws, the
/// next exchange of each other body throws too. Rethrows the first exception.
inline void run_process_team(int count, const std::function<void(const Processes&)>& body) {
  process_team::Mailboxes boxes;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < count; ++rank)
    threads.emplace_back([&boxes, &body, count, rank] {
      try {
        body(process_team::Member(boxes, count, rank));
      } catch (...) {
        boxes.fail(std::current_exception());
      }
    });
  for (std::thread& thread : threads) thread.join();
  boxes.rethrow();
}

}  // namespace proxbench
