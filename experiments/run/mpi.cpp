#include "experiments/run/mpi.h"

#define OMPI_SKIP_MPICXX
#define MPICH_SKIP_MPICXX
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
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

class MpiProcesses : public Processes {
 public:
  MpiProcesses() {
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }
  int count() const override { return count_; }
  int rank() const override { return rank_; }

  void broadcast(int root, std::span<std::byte> data) const override {
    for (std::size_t first = 0; first < data.size(); first += kMostBytes)
      check(MPI_Bcast(data.data() + first, static_cast<int>(std::min(kMostBytes, data.size() - first)),
                      MPI_BYTE, root, MPI_COMM_WORLD),
            "broadcasting");
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

  int count_ = 1, rank_ = 0;
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
