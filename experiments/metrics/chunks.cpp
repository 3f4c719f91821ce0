/// Precision, recall and F1 of chunks.
#include "experiments/metrics/chunks.h"

#include <algorithm>

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

MatchCounts count_chunks(const Dataset& data, std::span<const Index> prediction) {
  const ChunkGrader grader(data);
  MatchCounts sum;
  for (std::size_t i = 0; i < data.instances(); ++i) {
    const std::size_t begin = data.begin[i], length = data.begin[i + 1] - begin;
    const MatchCounts one = grader.count(i, prediction.subspan(begin, length));
    sum.correct += one.correct;
    sum.gold += one.gold;
    sum.guessed += one.guessed;
  }
  return sum;
}

/// 0 of nothing is 0, as conlleval has it.
double share(std::size_t part, std::size_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

bool has_chunks(const Dataset& data) {
  return data.on.empty() && data.vocabulary != nullptr && are_chunk_labels(data.vocabulary->outputs);
}

MetricInfo chunk_metric(const char* name, const char* help, double (*of)(const MatchCounts&)) {
  return {
      .name = name,
      .help = help,
      .paper = "conlleval (Tjong Kim Sang, Buchholz, CoNLL-2000); where all labels are O, B-TYPE or I-TYPE",
      .measure = [of](const Dataset& data,
                      std::span<const Index> prediction) { return of(count_chunks(data, prediction)); },
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

MatchCounts ChunkGrader::count(std::size_t instance, std::span<const Index> outputs) const {
  MatchCounts counts;
  ChunkLabel gold, predicted;  // of the position before: a sequence begins and ends with O
  bool agree = false;          // both are in a chunk that started at the same position with the same type
  for (std::size_t t = 0; t <= outputs.size(); ++t) {
    const bool end = t == outputs.size();
    const ChunkLabel next_gold = end ? ChunkLabel() : gold_at(data_.begin[instance] + static_cast<Index>(t)),
                     next_predicted = end ? ChunkLabel() : labels_[outputs[t]];
    const bool gold_ends = ends_chunk(gold, next_gold),
               predicted_ends = ends_chunk(predicted, next_predicted);
    if (agree && gold_ends && predicted_ends) ++counts.correct;
    const bool same_type = next_gold.type == next_predicted.type;
    if (gold_ends || predicted_ends || !same_type) agree = false;
    const bool gold_starts = starts_chunk(gold, next_gold),
               predicted_starts = starts_chunk(predicted, next_predicted);
    if (gold_starts && predicted_starts && same_type) agree = true;
    counts.gold += gold_starts;
    counts.guessed += predicted_starts;
    gold = next_gold;
    predicted = next_predicted;
  }
  return counts;
}

std::vector<MetricInfo> chunk_metrics() {
  return {
      chunk_metric("chunk-precision", "share of predicted chunks that are right: start, end and type",
                   [](const MatchCounts& c) { return share(c.correct, c.guessed); }),
      chunk_metric("chunk-recall", "share of gold chunks that are predicted",
                   [](const MatchCounts& c) { return share(c.correct, c.gold); }),
      chunk_metric("chunk-f1", "harmonic mean of chunk-precision and chunk-recall", [](const MatchCounts& c) {
        return share(std::size_t{2} * c.correct, std::size_t{c.gold} + c.guessed);
      })};
}

}  // namespace proxbench
