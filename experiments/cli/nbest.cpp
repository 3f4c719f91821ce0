#include "experiments/cli/nbest.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "core/base/error.h"
#include "core/linear_map.h"
#include "experiments/metrics/chunks.h"

namespace proxbench {
namespace {

/// Instances that share a workspace.
constexpr std::size_t kInstancesPerTask = 32;

class NbestWriter {
 public:
  NbestWriter(const Dataset& data, NbestFormat format)
      : data_(data), names_(data.vocabulary->outputs), format_(format) {
    if (are_chunk_labels(names_)) chunks_.emplace(data);
  }

  void write(Index instance, const NbestOracle::List& list, std::string& out) const {
    const std::size_t begin = data_.begin[instance], length = data_.begin[instance + std::size_t{1}] - begin;
    for (std::size_t r = 0; r < list.score.size(); ++r) {
      const std::span<const Index> outputs(list.outputs.data() + r * length, length);
      if (format_ == NbestFormat::kRerank) {
        fmt::format_to(std::back_inserter(out), "{}\tbase:{}\n", quality(instance, outputs),
                       list.score[r] - list.score[0]);
        continue;
      }
      fmt::format_to(std::back_inserter(out), "{}\t{}", r + 1, list.score[r]);
      if (groups()) {
        fmt::format_to(std::back_inserter(out), "\t{}\n", chosen(outputs) + 1);
        continue;
      }
      for (const Index k : outputs) (out += '\t') += names_[k];
      out += '\n';
    }
    out += '\n';
  }

 private:
  /// Whether structures are candidates chosen from groups.
  bool groups() const { return !data_.quality.empty(); }
  static std::size_t chosen(std::span<const Index> outputs) {
    return static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), Index{0}) - outputs.begin());
  }
  static std::string text_of(const MatchCounts& counts) {
    return fmt::format("{}/{}/{}", counts.correct, counts.gold, counts.guessed);
  }

  std::string quality(Index instance, std::span<const Index> outputs) const {
    if (groups()) {
      const std::size_t p = data_.begin[instance] + chosen(outputs);
      return data_.counts.empty() ? fmt::format("{}", data_.quality[p]) : text_of(data_.counts[p]);
    }
    if (!chunks_) {
      std::size_t right = 0;
      for (std::size_t t = 0; t < outputs.size(); ++t)
        right += outputs[t] == data_.gold[data_.begin[instance] + t];
      return std::to_string(right);
    }
    return text_of(chunks_->count(instance, outputs));
  }

  const Dataset& data_;
  const std::vector<std::string>& names_;
  NbestFormat format_;
  std::optional<ChunkGrader> chunks_;  ///< where the outputs are labels of chunks
};

}  // namespace

std::string nbest_text(const Dataset& data, const Oracle& oracle, const SparseVector& w, std::size_t n,
                       NbestFormat format, const Parallel& parallel) {
  const NbestOracle* nbest = oracle.nbest();
  if (nbest == nullptr)
    throw Error::usage("--nbest: the oracle of these data has no 'n best' (chain, tree and candidates have)");
  const LinearMap map(data.x, oracle, parallel);
  Scores scores = map.make_scores();
  map.apply(w, scores);
  const NbestWriter writer(data, format);
  const Chunks chunks{data.instances(), kInstancesPerTask};
  std::vector<std::string> part(chunks.count());
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    const auto work = nbest->make_workspace();
    NbestOracle::List list;
    for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      nbest->nbest(scores, static_cast<Index>(i), n, list, *work);
      writer.write(static_cast<Index>(i), list, part[chunk]);
    }
  });
  std::string out;
  for (const std::string& text : part) out += text;
  return out;
}

}  // namespace proxbench
