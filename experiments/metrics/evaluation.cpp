#include "experiments/metrics/evaluation.h"

#include "core/base/error.h"

namespace proxbench {
namespace {

double ratio(std::size_t part, std::size_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

void evaluate_sets(const Dataset& data, std::span<const Index> prediction, Evaluation& out) {
  const std::vector<std::string>& names = data.vocabulary->outputs;
  for (std::size_t p = 0; p < data.positions(); ++p) {
    const std::span<const Index> row = prediction.subspan(p * names.size(), names.size());
    for (std::size_t k = 0; k < names.size(); ++k)
      if (row[k] == 1) ++out.labels[names[k]].guessed;
    for (const Index k : data.on.at(p)) {
      MatchCounts& counts = out.labels[names[k]];
      ++counts.gold;
      counts.correct += row[k];
    }
  }
}

}  // namespace

Quality quality_of(const MatchCounts& counts) {
  return {ratio(counts.correct, counts.guessed), ratio(counts.correct, counts.gold),
          ratio(std::size_t{2} * counts.correct, std::size_t{counts.gold} + counts.guessed)};
}

MatchCounts sum_of(const CountsByName& counts) {
  MatchCounts sum;
  for (const auto& [name, one] : counts) {
    sum.correct += one.correct;
    sum.gold += one.gold;
    sum.guessed += one.guessed;
  }
  return sum;
}

Quality micro_of(const CountsByName& counts) {
  return quality_of(sum_of(counts));
}

Quality macro_of(const CountsByName& counts) {
  Quality mean;
  for (const auto& [name, one] : counts) {
    const Quality quality = quality_of(one);
    const auto n = static_cast<double>(counts.size());
    mean.precision += quality.precision / n;
    mean.recall += quality.recall / n;
    mean.f1 += quality.f1 / n;
  }
  return mean;
}

std::string_view gold_name(const Dataset& data, Index position) {
  if (data.gold[position] != kUnknownOutput) return data.vocabulary->outputs[data.gold[position]];
  const auto name = data.unknown_gold.find(position);
  return name == data.unknown_gold.end() ? std::string_view("?") : name->second;
}

Evaluation evaluate(const Dataset& data, std::span<const Index> prediction, const std::string& scheme) {
  if (!data.quality.empty())
    throw Error::usage(
        "evaluate: found groups of candidates, expected labels (predict prints what is known)");
  Evaluation out;
  if (!data.on.empty()) {
    evaluate_sets(data, prediction, out);
    return out;
  }
  for (Index p = 0; p < data.positions(); ++p) {
    const std::string_view gold = gold_name(data, p), predicted = data.vocabulary->outputs[prediction[p]];
    ++out.labels[gold].gold;
    ++out.labels[predicted].guessed;
    if (gold == predicted)
      ++out.labels[gold].correct;
    else
      ++out.confusions[{gold, predicted}];
  }
  const std::vector<std::string>& labels = data.vocabulary->outputs;
  ChunkScheming found =
      scheme.empty() ? chunk_scheme_of(labels) : ChunkScheming{&chunk_scheme_named(scheme, labels), ""};
  out.warning = std::move(found.warning);
  if (found.scheme == nullptr) return out;
  out.scheme = found.scheme->name;
  out.chunks = count_chunks(data, prediction, *found.scheme);
  return out;
}

}  // namespace proxbench
