#include "experiments/run/loaded_data.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "core/data/reduction.h"
#include "core/data/sharing.h"
#include "experiments/base/text.h"
#include "experiments/config/format_registry.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/launch.h"
#include "oracles/oracles.h"

namespace proxbench {

std::unique_ptr<Oracle> make_oracle(const OracleInfo& info, const Dataset& data) {
  const auto refused = [&](const std::string& why, ErrorKind kind) {
    return OracleMismatch(fmt::format("oracle {} cannot serve these data: {}", info.name, why), kind);
  };
  try {
    std::unique_ptr<Oracle> oracle = info.make(data);
    if (oracle->extra_weights() > 0 && !info.extra.names)
      throw Error(fmt::format("found {} extra weights without names for models, expected OracleInfo::extra",
                              oracle->extra_weights()));
    return oracle;
  } catch (const Error& error) {
    throw refused(error.what(), error.kind());
  }
}

namespace {

/// The data with only this process's share of the training set.
DataPair share_with(const Parallel& parallel, DataPair data) {
  const Processes* const processes = parallel.processes();
  if (processes == nullptr || data.train.instances() == 0 || data.train.x.shared()) return data;
  const std::uint64_t first = agree(processes, data.train.digest);
  const bool here = first != data.train.digest;
  const std::size_t different = whole_count(parallel, here ? 1 : 0);
  if (different > 0)
    throw Error(fmt::format("{}: found the digest {}, process 1 has {}{}, expected the same data on all",
                            data.train.description, digest_text(data.train.digest), digest_text(first),
                            here ? "" : fmt::format(", and {} other processes have others", different)),
                ErrorKind::kInput);
  data.train = share_of(std::move(data.train), *processes);
  return data;
}

}  // namespace

LoadedData::LoadedData(DataPair data, const Parallel& parallel, Decoding decoding)
    : LoadedData(std::make_shared<const DataPair>(share_with(parallel, std::move(data))), parallel,
                 decoding) {}

LoadedData::LoadedData(std::shared_ptr<const DataPair> data, const Parallel& parallel, Decoding decoding)
    : data_(std::move(data)), parallel_(parallel), decoding_(decoding) {
  if (train().instances() == 0 || train().positions() == 0)
    throw Error("no training instances in " + train().description, ErrorKind::kInput);
  const OracleInfo& oracle = oracle_registry().find(oracle_name());
  extra_names_ = &oracle.extra;
  oracle_ = make_oracle(oracle, train());
  if (test().positions() == 0) return;
  test_oracle_ = make_oracle(oracle, test());
  test_set_ = std::make_unique<EvaluationSet>(test(), *test_oracle_, parallel_.alone(), metrics_for(test()),
                                              decoding);
}

const LoadedData::Reduced& LoadedData::reduced(const std::optional<Penalty>& penalty) const {
  if (reduced_ && reduced_->penalty == penalty) return *reduced_;
  reduced_.reset();  // memory need not hold two of them
  auto out = std::make_unique<Reduced>();
  out->penalty = penalty;
  if (penalty) {
    out->kept = needed_features(train().x, *penalty, parallel_);
  } else {
    out->kept.resize(train().x.features());
    std::iota(out->kept.begin(), out->kept.end(), Index{0});
  }
  out->all = out->kept.size() == train().x.features();
  if (!out->all) {
    out->x = train().x.select_features(out->kept);
    if (test_set_) {
      out->test = test();
      out->test.x = test().x.select_features(out->kept);
      out->test_set = std::make_unique<EvaluationSet>(out->test, *test_oracle_, parallel_.alone(),
                                                      metrics_for(test()), decoding_);
    }
  }
  reduced_ = std::move(out);
  return *reduced_;
}

LoadedData data_of(const RunParameters& job) {
  const DataFormatInfo& format = data_format_registry().find(job.format);
  return LoadedData(read_data(format, job.files, options_from(format.options, job.data_options), job.oracle,
                              launched_processes()),
                    Parallel(job.threads, parse_backend(job.backend), launched_processes()),
                    job.decoding == "positions" ? Decoding::kPositions : Decoding::kStructure);
}

std::map<std::string, double> metrics_of(const Dataset& data, std::span<const Index> prediction) {
  std::map<std::string, double> out;
  for (const MetricInfo* metric : metrics_for(data)) out[metric->name] = metric->measure(data, prediction);
  return out;
}

}  // namespace proxbench
