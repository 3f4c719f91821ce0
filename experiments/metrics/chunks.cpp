/// Precision, recall and F1 of chunks in B/I/O labels, counted as conlleval of the CoNLL shared tasks counts
/// them.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/metrics/metrics.h"

namespace proxbench {
namespace {

/// "B-NP" has the tag "B" and the type "NP", "O" has no type.
struct ChunkLabel {
  std::string_view tag = "O", type = {};
};

ChunkLabel chunk_label(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return {name, {}};
  return {name.substr(0, dash), name.substr(dash + 1)};
}

bool in_chunk(const ChunkLabel& label) {
  return label.tag == "B" || label.tag == "I";
}

/// Whether the second of two labels starts a chunk. In IOB2 chunks start with B; in IOB1 with I, and with B
/// only behind a chunk of the same type. Other tags, which labels of the test set alone may have, count by
/// their types.
bool starts_chunk(const ChunkLabel& before, const ChunkLabel& now) {
  if (now.tag == "O") return false;
  if (now.type != before.type) return true;
  return before.tag == "O" ? in_chunk(now) : in_chunk(before) && now.tag == "B";
}
/// Whether a chunk ends with the first of two labels.
bool ends_chunk(const ChunkLabel& before, const ChunkLabel& now) {
  if (before.tag == "O") return false;
  return now.type != before.type || (in_chunk(before) && (now.tag == "B" || now.tag == "O"));
}

struct ChunkCounts {
  std::size_t correct = 0, gold = 0, predicted = 0;
};

/// Counts position by position, as conlleval does. A sequence begins and ends with O.
class ChunkCounter {
 public:
  void add(const ChunkLabel& gold, const ChunkLabel& predicted) {
    const bool gold_ends = ends_chunk(gold_, gold), predicted_ends = ends_chunk(predicted_, predicted);
    if (agree_ && gold_ends && predicted_ends) ++counts_.correct;
    if (gold_ends || predicted_ends || gold.type != predicted.type) agree_ = false;
    const bool gold_starts = starts_chunk(gold_, gold),
               predicted_starts = starts_chunk(predicted_, predicted);
    if (gold_starts && predicted_starts && gold.type == predicted.type) agree_ = true;
    counts_.gold += gold_starts;
    counts_.predicted += predicted_starts;
    gold_ = gold;
    predicted_ = predicted;
  }
  void end_sequence() { add({}, {}); }
  const ChunkCounts& counts() const { return counts_; }

 private:
  ChunkCounts counts_;
  ChunkLabel gold_, predicted_;
  bool agree_ = false;  ///< both are in a chunk that started at the same position with the same type
};

ChunkCounts count_chunks(const Dataset& data, std::span<const Index> prediction) {
  std::vector<ChunkLabel> labels;
  for (const std::string& name : data.vocabulary->outputs) labels.push_back(chunk_label(name));
  // Where the reader does not tell the name: a chunk that no prediction has.
  const ChunkLabel nameless{"B", "\n"};
  const auto gold_at = [&](Index p) {
    if (data.gold[p] != kUnknownOutput) return labels[data.gold[p]];
    const auto name = data.unknown_gold.find(p);
    return name == data.unknown_gold.end() ? nameless : chunk_label(name->second);
  };
  ChunkCounter counter;
  for (std::size_t i = 0; i < data.instances(); ++i) {
    for (Index p = data.begin[i]; p < data.begin[i + 1]; ++p) counter.add(gold_at(p), labels[prediction[p]]);
    counter.end_sequence();
  }
  return counter.counts();
}

/// 0 of nothing is 0, as conlleval has it.
double share(std::size_t part, std::size_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

double chunk_precision(const Dataset& data, std::span<const Index> prediction) {
  const ChunkCounts counts = count_chunks(data, prediction);
  return share(counts.correct, counts.predicted);
}
double chunk_recall(const Dataset& data, std::span<const Index> prediction) {
  const ChunkCounts counts = count_chunks(data, prediction);
  return share(counts.correct, counts.gold);
}
double chunk_f1(const Dataset& data, std::span<const Index> prediction) {
  const ChunkCounts counts = count_chunks(data, prediction);
  return share(2 * counts.correct, counts.gold + counts.predicted);
}

/// All labels are O, B, I, B-TYPE or I-TYPE, and not all are O.
bool has_chunks(const Dataset& data) {
  if (data.vocabulary == nullptr) return false;
  const auto is_chunk = [](const std::string& name) {
    return name == "B" || name == "I" || name.starts_with("B-") || name.starts_with("I-");
  };
  const std::vector<std::string>& names = data.vocabulary->outputs;
  return std::any_of(names.begin(), names.end(), is_chunk) &&
         std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name == "O" || is_chunk(name); });
}

MetricInfo chunk_metric(const char* name, const char* help,
                        double (*measure)(const Dataset&, std::span<const Index>)) {
  return {
      .name = name,
      .help = help,
      .paper = "conlleval (Tjong Kim Sang, Buchholz, CoNLL-2000); where all labels are O, B-TYPE or I-TYPE",
      .measure = measure,
      .applies = has_chunks};
}

}  // namespace

MetricInfo chunk_precision_metric() {
  return chunk_metric("chunk-precision", "share of predicted chunks that are right: start, end and type",
                      chunk_precision);
}
MetricInfo chunk_recall_metric() {
  return chunk_metric("chunk-recall", "share of gold chunks that are predicted", chunk_recall);
}
MetricInfo chunk_f1_metric() {
  return chunk_metric("chunk-f1", "harmonic mean of chunk-precision and chunk-recall", chunk_f1);
}

}  // namespace proxbench
