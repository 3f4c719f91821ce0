/// Precision, recall and F1 of chunks.
#include "experiments/metrics/chunks.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/metrics/evaluation.h"
#include "experiments/metrics/metrics.h"

namespace proxbench {
namespace {

/// For each tag of a scheme, the tag of BIOES with the same meaning.
constexpr std::string_view kTags = "BIES";

constexpr ChunkScheme kSchemes[] = {{"IOB", "BI"}, {"BIOES", "BIES"}, {"BILOU", "BILU"}, {"BMES", "BMES"}};

char upper(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

ChunkLabel chunk_label(std::string_view name, const ChunkScheme& scheme) {
  const std::size_t dash = std::min(name.find('-'), name.size());
  const std::string_view type = dash < name.size() ? name.substr(dash + 1) : std::string_view();
  if (dash != 1) return {'?', type};
  const char tag = upper(name[0]);
  if (tag == 'O') return type.empty() ? ChunkLabel() : ChunkLabel{'?', type};
  const std::size_t place = scheme.tags.find(tag);
  return {place == scheme.tags.npos ? '?' : kTags[place], type};
}

/// Whether only a chunk can have this label: it begins or continues a chunk, or is a typed chunk of one
/// position.
bool shows_chunks(const ChunkLabel& label) {
  return label.tag == 'B' || label.tag == 'I' || (label.tag == 'S' && !label.type.empty());
}

bool fits(const std::string& name, const ChunkScheme& scheme) {
  return chunk_label(name, scheme).tag != '?';
}

/// Whether the second of two labels starts a chunk. In IOB2 a chunk starts with B. In IOB1 it starts with I,
/// and with B only after a chunk of the same type. After the end of a chunk, any label starts one. Unknown
/// tags, which only labels of the test set may have, are compared by type.
bool starts_chunk(const ChunkLabel& before, const ChunkLabel& now) {
  if (now.tag == 'O') return false;
  if (!now.has_type_of(before)) return true;
  if (now.tag == '?' || before.tag == '?') return false;
  return now.tag == 'B' || now.tag == 'S' || before.tag == 'O' || before.tag == 'E' || before.tag == 'S';
}
/// Whether a chunk ends with the first of two labels.
bool ends_chunk(const ChunkLabel& before, const ChunkLabel& now) {
  if (before.tag == 'O') return false;
  if (!now.has_type_of(before)) return true;
  if (before.tag == '?') return false;
  return before.tag == 'E' || before.tag == 'S' || now.tag == 'B' || now.tag == 'S' || now.tag == 'O';
}

MetricInfo chunk_metric(const char* name, const char* help, double Quality::*of) {
  return {.name = name,
          .help = help,
          .paper =
              "conlleval (Tjong Kim Sang, Buchholz, CoNLL-2000); where all labels are those of IOB, BIOES, "
              "BILOU or BMES",
          .measure =
              [of](const Dataset& data, std::span<const Index> prediction) {
                return micro_of(count_chunks(data, prediction, *chunk_scheme(data))).*of;
              },
          .applies = [](const Dataset& data) { return chunk_scheme(data) != nullptr; }};
}

/// The notation that most labels fit, and how many do.
struct BestScheme {
  const ChunkScheme* scheme = nullptr;
  std::ptrdiff_t labels = 0;
};

BestScheme best_scheme(const std::vector<std::string>& labels) {
  BestScheme best;
  for (const ChunkScheme& scheme : kSchemes) {
    const auto fitting =
        std::ranges::count_if(labels, [&](const std::string& name) { return fits(name, scheme); });
    if (fitting <= best.labels || std::ranges::none_of(labels, [&](const std::string& name) {
          return shows_chunks(chunk_label(name, scheme));
        }))
      continue;
    best = {&scheme, fitting};
  }
  return best;
}

}  // namespace

std::vector<std::string> chunk_scheme_names() {
  std::vector<std::string> out;
  for (const ChunkScheme& scheme : kSchemes) out.emplace_back(scheme.name);
  return out;
}

ChunkScheming chunk_scheme_of(const std::vector<std::string>& labels) {
  const auto [best, most] = best_scheme(labels);
  if (best == nullptr || most == std::ssize(labels)) return {best, ""};
  const auto typed = std::ranges::count_if(labels, [scheme = best](const std::string& name) {
    return fits(name, *scheme) && name.find('-') != name.npos;
  });
  if (2 * typed < std::ssize(labels)) return {};
  const auto wrong =
      std::ranges::find_if(labels, [scheme = best](const std::string& name) { return !fits(name, *scheme); });
  return {nullptr, "no chunks are counted: most labels are those of " + std::string(best->name) +
                       ", but label '" + *wrong + "' is not"};
}

const ChunkScheme* chunk_scheme(const Dataset& data) {
  if (!data.on.empty() || data.vocabulary == nullptr) return nullptr;
  const std::vector<std::string>& labels = data.vocabulary->outputs;
  const BestScheme best = best_scheme(labels);
  return best.labels == std::ssize(labels) ? best.scheme : nullptr;
}

const ChunkScheme& chunk_scheme_named(const std::string& name, const std::vector<std::string>& labels) {
  const auto* const scheme =
      std::ranges::find_if(kSchemes, [&](const ChunkScheme& one) { return one.name == name; });
  if (scheme == std::end(kSchemes))
    throw Error::usage("chunks: found '" + name + "', expected one of " + joined(chunk_scheme_names()));
  for (const std::string& label : labels)
    if (!fits(label, *scheme))
      throw Error::usage("chunks: found label '" + label + "', expected O or TAG-TYPE with the tags of " +
                         name);
  return *scheme;
}

ChunkGrader::ChunkGrader(const Dataset& data, const ChunkScheme& scheme) : data_(data), scheme_(scheme) {
  for (const std::string& name : data.vocabulary->outputs) {
    ChunkLabel label = chunk_label(name, scheme);
    set_number(label);
    if (label.number == ChunkLabel::kOther) label.number = labels_.size() + 1;
    labels_.push_back(label);
  }
}

/// Sets the number of a label's type: that of the outputs with the same type, or kOther if there are none.
void ChunkGrader::set_number(ChunkLabel& label) const {
  const auto same = std::ranges::find(labels_, label.type, &ChunkLabel::type);
  label.number = label.type.empty() ? 0 : same == labels_.end() ? ChunkLabel::kOther : same->number;
}

ChunkLabel ChunkGrader::gold_at(Index position) const {
  const Index gold = data_.gold[position];
  if (gold != kUnknownOutput) return labels_[gold];
  const auto name = data_.unknown_gold.find(position);
  ChunkLabel label =
      name == data_.unknown_gold.end() ? ChunkLabel{'B', "\n"} : chunk_label(name->second, scheme_);
  set_number(label);
  return label;
}

/// Finds the chunks of an instance. Calls count(type, field) for each number of MatchCounts that a chunk adds
/// 1 to; the field is a pointer to a member.
template <class Count>
void ChunkGrader::grade(std::size_t instance, std::span<const Index> outputs, const Count& count) const {
  ChunkLabel gold, predicted;  // of the previous position: a sequence begins and ends with O
  bool agree = false;          // both are in chunks that started at the same position with the same type
  for (std::size_t t = 0; t <= outputs.size(); ++t) {
    const bool end = t == outputs.size();
    const ChunkLabel next_gold = end ? ChunkLabel() : gold_at(data_.begin[instance] + static_cast<Index>(t)),
                     next_predicted = end ? ChunkLabel() : labels_[outputs[t]];
    const bool gold_ends = ends_chunk(gold, next_gold),
               predicted_ends = ends_chunk(predicted, next_predicted);
    if (agree && gold_ends && predicted_ends) count(gold.type, &MatchCounts::correct);
    const bool same_type = next_gold.has_type_of(next_predicted);
    if (gold_ends || predicted_ends || !same_type) agree = false;
    const bool gold_starts = starts_chunk(gold, next_gold),
               predicted_starts = starts_chunk(predicted, next_predicted);
    if (gold_starts && predicted_starts && same_type) agree = true;
    if (gold_starts) count(next_gold.type, &MatchCounts::gold);
    if (predicted_starts) count(next_predicted.type, &MatchCounts::guessed);
    gold = next_gold;
    predicted = next_predicted;
  }
}

void ChunkGrader::add(std::size_t instance, std::span<const Index> outputs, CountsByName& counts) const {
  grade(instance, outputs, [&](std::string_view type, auto field) { ++(counts[type].*field); });
}

MatchCounts ChunkGrader::count(std::size_t instance, std::span<const Index> outputs) const {
  MatchCounts sum;
  grade(instance, outputs, [&](std::string_view, auto field) { ++(sum.*field); });
  return sum;
}

CountsByName count_chunks(const Dataset& data, std::span<const Index> prediction, const ChunkScheme& scheme) {
  const ChunkGrader grader(data, scheme);
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
