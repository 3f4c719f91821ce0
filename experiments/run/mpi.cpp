#include "experiments/run/mpi.h"

#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <list>
#include <numeric>

#include "core/base/error.h"

namespace proxbench {
namespace {

/// MPI counts with an int, so longer messages are sent in pieces of this many bytes.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

void check(int code, const char* what) {
  if (code != MPI_SUCCESS)
    throw Error(std::string("MPI: ") + what + " failed with code " + std::to_string(code));
}

/// Calls transfer(first byte, bytes) for each piece.
template <class Transfer>
void in_pieces(std::size_t bytes, const Transfer& transfer) {
  for (std::size_t first = 0; first < bytes; first += kMostBytes)
    transfer(first, static_cast<int>(std::min(kMostBytes, bytes - first)));
}

class MpiProcesses : public Processes {
 public:
  MpiProcesses() {
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }
  int count() const override { return count_; }
  int rank() const override { return rank_; }

  void send(int to, std::span<const std::byte> message) const override {
    drop_sent();
    Sending& sending = sent_.emplace_back();
    sending.message.assign(message.begin(), message.end());
    in_pieces(message.size(), [&](std::size_t first, int bytes) {
      check(MPI_Isend(sending.message.data() + first, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD,
                      &sending.requests.emplace_back()),
            "sending");
    });
  }
  void receive(int from, std::span<std::byte> message) const override {
    in_pieces(message.size(), [&](std::size_t first, int bytes) {
      MPI_Status status;
      check(MPI_Recv(message.data() + first, bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &status), "receiving");
      int received = 0;
      MPI_Get_count(&status, MPI_BYTE, &received);
      if (received != bytes)
        throw Error("processes are out of step: found a message of " + std::to_string(received) +
                    " bytes, expected " + std::to_string(bytes));
    });
  }
  void broadcast(int root, std::span<std::byte> data) const override {
    in_pieces(data.size(), [&](std::size_t first, int bytes) {
      check(MPI_Bcast(data.data() + first, bytes, MPI_BYTE, root, MPI_COMM_WORLD), "broadcasting");
    });
  }
  using Processes::gather;
  void gather(std::span<const double> own, std::span<const std::size_t> sizes,
              std::span<double> all) const override {
    const std::vector<int> counts = counts_of(sizes);
    const std::vector<int> first = firsts_of(counts);
    check(MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, all.data(), counts.data(),
                         first.data(), MPI_DOUBLE, MPI_COMM_WORLD),
          "gathering");
  }

  void sum(std::span<double> numbers) const override {
    constexpr std::size_t kMostNumbers = kMostBytes / sizeof(double);
    for (std::size_t first = 0; first < numbers.size(); first += kMostNumbers)
      check(MPI_Allreduce(MPI_IN_PLACE, numbers.data() + first,
                          static_cast<int>(std::min(kMostNumbers, numbers.size() - first)), MPI_DOUBLE,
                          MPI_SUM, MPI_COMM_WORLD),
            "adding");
  }
  void exchange(std::span<const double> own, std::span<const std::size_t> sent,
                std::span<const std::size_t> received, std::span<double> out) const override {
    const std::vector<int> to = counts_of(sent), from = counts_of(received);
    const std::vector<int> to_first = firsts_of(to), from_first = firsts_of(from);
    check(MPI_Alltoallv(own.data(), to.data(), to_first.data(), MPI_DOUBLE, out.data(), from.data(),
                        from_first.data(), MPI_DOUBLE, MPI_COMM_WORLD),
          "exchanging");
  }

 private:
  static std::vector<int> counts_of(std::span<const std::size_t> sizes) {
    const std::size_t total = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    if (total > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw Error("processes exchange " + std::to_string(total) +
                  " numbers at once, expected at most 2^31 - 1");
    return {sizes.begin(), sizes.end()};
  }

  static std::vector<int> firsts_of(const std::vector<int>& counts) {
    std::vector<int> first(counts.size(), 0);
    std::partial_sum(counts.begin(), counts.end() - 1, first.begin() + 1);
    return first;
  }

  /// A message that may not have been received yet.
  struct Sending {
    std::vector<std::byte> message;
    std::list<MPI_Request> requests;
  };
  void drop_sent() const {
    sent_.remove_if([](Sending& sending) {
      sending.requests.remove_if([](MPI_Request& request) {
        int done = 0;
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "sending");
        return done != 0;
      });
      return sending.requests.empty();
    });
  }

  int count_ = 1, rank_ = 0;
  mutable std::list<Sending> sent_;
};

}  // namespace

MpiSession::MpiSession(int& argc, char**& argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  processes_ = std::make_unique<MpiProcesses>();
  MPI_Comm here;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
  MPI_Comm_size(here, &here_);
  MPI_Comm_free(&here);
}

MpiSession::~MpiSession() {
  MPI_Finalize();
}

void MpiSession::abort(int status) const {
  MPI_Abort(MPI_COMM_WORLD, status);
  std::abort();
}

}  // namespace proxbench
