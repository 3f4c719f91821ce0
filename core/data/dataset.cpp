#include "core/data/dataset.h"

#include <xxhash.h>

#include <memory>
#include <span>

#include "core/base/error.h"

namespace proxbench {
namespace {

/// A running xxh3. Every list goes in after its length, so that no two contents run together.
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
  std::uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

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

std::uint64_t digest_of(const Dataset& data) {
  Hash hash;
  hash.number(data.x.positions());
  hash.number(data.x.features());
  hash.number(data.x.binary() ? 1 : 0);
  std::vector<double> scratch;
  for (Index p = 0; p < data.x.positions(); ++p) {
    hash.list(data.x.row(p));
    if (!data.x.binary()) hash.list(data.x.row_values(p, scratch));
  }
  hash.list(std::span<const Index>(data.begin));
  hash.list(std::span<const Index>(data.gold));
  if (data.vocabulary != nullptr) {
    hash.names(data.vocabulary->features);
    hash.names(data.vocabulary->outputs);
  }
  // What data do not have leaves their digest as it is.
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
