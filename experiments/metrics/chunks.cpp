/// Precision, recall and F1 of chunks.
#include "experiments/metrics/chunks.h"

#include <algorithm>

#include "experiments/metrics/evaluation.h"
#include "experiments/metrics/metrics.h"

namespace proxbench {
namespace {

ChunkLabel chunk_label(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos) return {name, {}};
  return {name.substr(0, dash), name.substr(dash + 1)};
}

bool in_chunk(const ChunkLabel& label) {
  return label.tag == "B" || label.tag == "I";
}

/// Whether the second of two labels starts a chunk. In IOB2 a chunk starts with B. In IOB1 it starts with I,
/// and with B only after a chunk of the same type. Other tags, which only labels of the test set may have,
/// are compared by type.
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

bool has_chunks(const Dataset& data) {
  return data.on.empty() && data.vocabulary != nullptr && are_chunk_labels(data.vocabulary->outputs);
}

MetricInfo chunk_metric(const char* name, const char* help, double Quality::*of) {
  return {
      .name = name,
      .help = help,
      .paper = "conlleval (Tjong Kim Sang, Buchholz, CoNLL-2000); where all labels are O, B-TYPE or I-TYPE",
      .measure =
          [of](const Dataset& data, std::span<const Index> prediction) {
            return micro_of(count_chunks(data, prediction)).*of;
          },
      .applies = has_chunks};
}

}  // namespace

bool are_chunk_labels(const std::vector<std::string>& names) {
  const auto is_chunk = [](const std::string& name) {
    return name == "B" || name == "I" || name.starts_with("B-") || name.starts_with("I-");
  };
  return std::any_of(names.begin(), names.end(), is_chunk) &&
         std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name == "O" || is_chunk(name); });
}

ChunkGrader::ChunkGrader(const Dataset& data) : data_(data) {
  for (const std::string& name : data.vocabulary->outputs) labels_.push_back(chunk_label(name));
}

ChunkLabel ChunkGrader::gold_at(Index position) const {
  const Index gold = data_.gold[position];
  if (gold != kUnknownOutput) return labels_[gold];
  const auto name = data_.unknown_gold.find(position);
  return name == data_.unknown_gold.end() ? ChunkLabel{"B", "\n"} : chunk_label(name->second);
}

void ChunkGrader::add(std::size_t instance, std::span<const Index> outputs, CountsByName& counts) const {
  ChunkLabel gold, predicted;  // of the previous position: a sequence begins and ends with O
  bool agree = false;          // both are in chunks that started at the same position with the same type
  for (std::size_t t = 0; t <= outputs.size(); ++t) {
    const bool end = t == outputs.size();
    const ChunkLabel next_gold = end ? ChunkLabel() : gold_at(data_.begin[instance] + static_cast<Index>(t)),
                     next_predicted = end ? ChunkLabel() : labels_[outputs[t]];
    const bool gold_ends = ends_chunk(gold, next_gold),
               predicted_ends = ends_chunk(predicted, next_predicted);
    if (agree && gold_ends && predicted_ends) ++counts[gold.type].correct;
    const bool same_type = next_gold.type == next_predicted.type;
    if (gold_ends || predicted_ends || !same_type) agree = false;
    const bool gold_starts = starts_chunk(gold, next_gold),
               predicted_starts = starts_chunk(predicted, next_predicted);
    if (gold_starts && predicted_starts && same_type) agree = true;
    if (gold_starts) ++counts[next_gold.type].gold;
    if (predicted_starts) ++counts[next_predicted.type].guessed;
    gold = next_gold;
    predicted = next_predicted;
  }
}

MatchCounts ChunkGrader::count(std::size_t instance, std::span<const Index> outputs) const {
  CountsByName counts;
  add(instance, outputs, counts);
  return sum_of(counts);
}

CountsByName count_chunks(const Dataset& data, std::span<const Index> prediction) {
  const ChunkGrader grader(data);
  CountsByName counts;
  for (std::size_t i = 0; i < data.instances(); ++i)
    grader.add(i, prediction.subspan(data.begin[i], data.begin[i + 1] - data.begin[i]), counts);
  return counts;
}

std::vector<MetricInfo> chunk_metrics() {
  return {chunk_metric("chunk-precision", "share of predicted chunks that are right: start, end and type",
                       &Quality::precision),
          chunk_metric("chunk-recall", "share of gold chunks that are predicted", &Quality::recall),
          chunk_metric("chunk-f1", "harmonic mean of chunk-precision and chunk-recall", &Quality::f1)};
}

}  // namespace proxbench
