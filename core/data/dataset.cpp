#include "core/data/dataset.h"

#define XXH_STATIC_LINKING_ONLY  // for the size of its state
#include <xxhash.h>

#include "core/base/error.h"
#include "core/base/sum.h"

namespace proxbench {
namespace {

/// A running xxh3. Every list comes after its length, so that different contents give different bytes.
class Hash {
 public:
  Hash() : state_(XXH3_createState(), &XXH3_freeState) {
    if (state_ == nullptr || XXH3_64bits_reset(state_.get()) != XXH_OK) throw Error("digest: out of memory");
  }
  template <class T>
  void list(std::span<const T> items) {
    number(items.size());
    bytes(items.data(), items.size_bytes());
  }
  void number(std::uint64_t n) { bytes(&n, sizeof n); }
  void names(const std::vector<std::string>& names) {
    number(names.size());
    for (const std::string& name : names) list(std::span<const char>(name));
  }
  template <class T>
  void item(const T& one) {
    bytes(&one, sizeof one);
  }
  std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }
  /// The state, for continuing in another process.
  std::span<std::byte> state() { return std::as_writable_bytes(std::span(state_.get(), 1)); }
  /// The only pointer within the state. It differs between processes.
  const unsigned char*& secret() { return state_->extSecret; }

 private:
  void bytes(const void* data, std::size_t size) {
    if (size > 0) XXH3_64bits_update(state_.get(), data, size);
  }
  std::unique_ptr<XXH3_state_t, decltype(&XXH3_freeState)> state_;
};

}  // namespace

double f1_of(double correct, double gold, double guessed) {
  return gold + guessed > 0.0 ? 2.0 * correct / (gold + guessed) : 1.0;
}

std::uint64_t digest_of(const Dataset& data, const Processes* processes) {
  const Parallel parallel(1, Backend::kOpenMP, processes);
  Hash hash;
  // Hashes data that is spread over the processes, in the order of the processes.
  const auto in_turn = [&](const auto& add) {
    const unsigned char* const secret = hash.secret();
    proxbench::in_turn(processes, hash.state(), [&] {
      hash.secret() = secret;
      add();
    });
    hash.secret() = secret;
  };
  const bool binary = whole_count(parallel, data.x.binary() ? 0 : 1) == 0;
  hash.number(data.x.whole_positions());
  hash.number(data.x.features());
  hash.number(binary ? 1 : 0);
  in_turn([&] {
    std::vector<double> scratch;
    for (Index p = 0; p < data.x.positions(); ++p) {
      hash.list(data.x.row(p));
      if (binary) continue;
      if (data.x.binary()) scratch.assign(data.x.row(p).size(), 1.0);
      hash.list(data.x.binary() ? std::span<const double>(scratch) : data.x.row_values(p, scratch));
    }
  });
  const std::size_t first = count_before(parallel, data.positions());
  hash.number(whole_count(parallel, data.instances()) + 1);
  in_turn([&] {
    for (std::size_t i = first == 0 ? 0 : 1; i < data.begin.size(); ++i)
      hash.item(static_cast<Index>(first + data.begin[i]));
  });
  hash.number(data.x.whole_positions());
  in_turn([&] {
    for (const Index gold : data.gold) hash.item(gold);
  });
  if (data.vocabulary != nullptr) {
    hash.names(data.vocabulary->features);
    hash.names(data.vocabulary->outputs);
  }
  // Members that a data set lacks do not change its digest. Data that each process reads in part has none of
  // these members.
  if (data.hierarchy != nullptr) hash.list(std::span<const Index>(data.hierarchy->parents()));
  if (!data.quality.empty()) {
    hash.list(std::span<const double>(data.quality));
    hash.list(std::span<const MatchCounts>(data.counts));
  }
  if (!data.on.empty()) {
    hash.list(std::span<const std::size_t>(data.on.begin));
    hash.list(std::span<const Index>(data.on.label));
  }
  return hash.value();
}

std::uint64_t digest_with_oracle(std::uint64_t digest, const std::string& oracle) {
  Hash hash;
  hash.number(digest);
  hash.list(std::span<const char>(oracle));
  return hash.value();
}

}  // namespace proxbench
