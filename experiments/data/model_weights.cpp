#include "experiments/data/model_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "experiments/base/files.h"
#include "experiments/data/model_lines.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

/// "pair<TAB>label<TAB>label<TAB>weight".
std::string line_of(const ExtraWeightNames& names) {
  return fmt::format("{}<TAB>{}<TAB>weight", names.word, fmt::join(names.fields, "<TAB>"));
}

/// Throws Error (kInput): the data lack a name of the model.
[[noreturn]] void fail_missing(const std::string& source, std::size_t line, const std::string& what,
                               const std::string& name, const std::vector<std::string>& known,
                               const std::string& advice) {
  throw Error::in_file(source, line, fmt::format("{} {}", what, shown_text(name)),
                       fmt::format("one of the data's {} {}s{}", known.size(), what, advice));
}

/// Finds extra weights by their names. Throws Error if two have the same names.
class ExtraWeights {
 public:
  ExtraWeights(const Dataset& data, std::size_t count, const ExtraWeightNames& names)
      : data_(data), count_(count), names_(names) {
    if (count > 0 && (names.word.empty() || names.fields.empty() || !names.names))
      throw Error(fmt::format(
          "found {} extra weights that the oracle has no names for, expected OracleInfo::extra", count));
  }

  /// Returns the names of a weight as a key. Call this once for each weight.
  const std::string& add(std::size_t weight) {
    const std::vector<std::string> own = names_.names(weight, data_);
    if (own.size() != names_.fields.size())
      throw Error(fmt::format("extra weight {}: found {} names, expected {}: {}", weight, own.size(),
                              names_.fields.size(), line_of(names_)));
    const auto [known, added] = number_.emplace(key_of(own), weight);
    if (!added)
      throw Error(fmt::format("extra weights {} and {} are both named {}, expected a name each",
                              known->second, weight, shown_text(known->first)));
    return known->first;
  }

  /// Throws Error (kInput) with the line of the entry if no weight has these names. If the data lack one of
  /// them, the message ends with `advice`.
  std::size_t find(const Model::ExtraWeight& entry, const std::string& source, const std::string& advice) {
    for (std::size_t i = number_.size(); i < count_; ++i) add(i);
    const bool fits = count_ > 0 && entry.word == names_.word && entry.names.size() == names_.fields.size();
    const std::string key = key_of(entry.names);
    if (const auto found = number_.find(key); fits && found != number_.end()) return found->second;
    const auto fail = [&](const std::string& found, const std::string& expected) {
      throw Error::in_file(source, entry.line, found, expected);
    };
    if (!fits)
      fail(fmt::format("'{}' with {} names", escaped_name(entry.word), entry.names.size()),
           fmt::format("'{}'{}", kUnaryLine, count_ == 0 ? "" : " or '" + line_of(names_) + "'"));
    for (std::size_t field = 0; field < names_.fields.size(); ++field) {
      NameIndex known;
      for (std::size_t i = 0; i < count_; ++i) known.intern(names_.names(i, data_)[field]);
      if (const std::string& name = entry.names[field]; !known.find(name))
        fail_missing(source, entry.line, names_.fields[field], name, known.names(),
                     did_you_mean(name, known.names()) + advice);
    }
    fail(shown_text(std::string_view(key).substr(0, key.size() - 1)),
         fmt::format("one of the {} extra weights '{}'", count_, line_of(names_)));
    return 0;
  }

 private:
  const Dataset& data_;
  std::size_t count_;
  const ExtraWeightNames& names_;
  std::unordered_map<std::string, std::size_t> number_;
};

/// Returns the label sets with the model's numbers. Throws Error (kInput) if the model lacks a label.
LabelSets renumbered_sets(const Dataset& data, const std::vector<Index>& number,
                          const std::vector<std::string>& labels) {
  for (std::size_t k = 0; k < number.size(); ++k)
    if (number[k] == kUnknownOutput)
      throw Error(fmt::format("found label {} of the data, expected one of the model's {} labels{}",
                              shown_text(data.vocabulary->outputs[k]), labels.size(),
                              did_you_mean(data.vocabulary->outputs[k], labels)),
                  ErrorKind::kInput);
  LabelSets out;
  std::vector<Index> set;
  for (std::size_t p = 0; p < data.positions(); ++p) {
    set.clear();
    for (const Index k : data.on.at(p)) set.push_back(number[k]);
    std::sort(set.begin(), set.end());
    out.add(set);
  }
  return out;
}

}  // namespace

std::string model_text(const std::map<std::string, std::string>& header, const Dataset& data,
                       const SparseVector& w, std::size_t extra_weights, const ExtraWeightNames& names) {
  const Vocabulary& vocabulary = *data.vocabulary;
  const std::size_t outputs = vocabulary.outputs.size();
  const Coord unary = static_cast<Coord>(vocabulary.features.size()) * outputs;
  ExtraWeights extra(data, extra_weights, names);
  if (!w.index.empty() && w.index.back() >= unary + extra_weights)
    throw Error(
        fmt::format("weight {} is beyond the model's dimension {}", w.index.back(), unary + extra_weights));
  const std::vector<std::string> features = escaped_names(vocabulary.features),
                                 names_of_outputs = escaped_names(vocabulary.outputs);
  std::string out = header_text(header, vocabulary.outputs);
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    const Coord c = w.index[i];
    if (!std::isfinite(w.value[i]))
      throw Error(fmt::format("weight {} is {}: a model holds finite weights only", c, w.value[i]));
    if (c < unary)
      add_unary(out, features[c / outputs], names_of_outputs[c % outputs], w.value[i]);
    else
      out += fmt::format("{}\t{}{}\n", names.word, extra.add(c - unary), shortest_text(w.value[i]));
  }
  return sealed(std::move(out));
}

namespace {

/// Says what to do if the data lack a name of the model. A model that does not list its labels is not from
/// `train`, and gets no advice.
std::string advice_on_data(const Model& model, const NameIndex& labels) {
  const std::size_t all = model.labels.size();
  const auto missing = static_cast<std::size_t>(
      std::ranges::count_if(model.labels, [&](const std::string& name) { return !labels.find(name); }));
  if (all == 0) return "";
  const char* todo = missing == 0     ? "give the data, format and options that it was trained with"
                     : missing == all ? "check the format and the column of the label"
                                      : "give all the data that it was trained on";
  const std::string lacks =
      missing == 0 ? "" : fmt::format(", with {} labels of which these lack {}", all, missing);
  return fmt::format("; the model was trained on other data{}: {}, or train a new model", lacks, todo);
}

}  // namespace

ModelMatch match_model(const Model& model, const Dataset& data, UnknownFeatures unknown) {
  const Vocabulary& vocabulary = *data.vocabulary;
  const NameIndex outputs(vocabulary.outputs);
  const std::string advice = advice_on_data(model, outputs);
  ModelMatch out{{}, std::vector<Index>(model.outputs.size(), kUnknownOutput)};
  model.unary.for_each([&](Index, const WeightTable::Row& row) {
    row.for_each([&](Index k, double) {
      if (out.output[k] != kUnknownOutput) return;
      const std::string& name = model.outputs[k];
      const auto number = outputs.find(name);
      if (!number)
        fail_missing(model.source, model.output_line.empty() ? 0 : model.output_line[k], "label", name,
                     vocabulary.outputs, did_you_mean(name, vocabulary.outputs) + advice);
      out.output[k] = *number;
    });
  });
  for (const std::string& name : vocabulary.features) out.place.push_back(model.unary.find(name));
  if (unknown == UnknownFeatures::kReject) {
    const NameIndex features(vocabulary.features);
    std::size_t number = 0;
    model.unary.for_each([&](Index, const WeightTable::Row& row) {
      if (!features.find(row.name))
        fail_missing(model.source, model.feature_line.empty() ? 0 : model.feature_line[number], "feature",
                     std::string(row.name), vocabulary.features, advice);
      ++number;
    });
  }
  return out;
}

std::vector<double> model_extra(const Model& model, const Dataset& data, std::size_t extra_weights,
                                const ExtraWeightNames& names) {
  ExtraWeights extra(data, extra_weights, names);
  const std::string advice = advice_on_data(model, NameIndex(data.vocabulary->outputs));
  std::vector<double> out(extra_weights, 0.0);
  for (const Model::ExtraWeight& entry : model.extra)
    out[extra.find(entry, model.source, advice)] = entry.weight;
  return out;
}

SparseVector model_weights(const Model& model, const Dataset& data, std::size_t extra_weights,
                           const ExtraWeightNames& names, UnknownFeatures unknown) {
  const ModelMatch match = match_model(model, data, unknown);
  const Coord width = data.vocabulary->outputs.size();
  SparseVector w;
  WeightTable::Builder::Entries row;
  for (std::size_t j = 0; j < match.place.size(); ++j) {
    if (match.place[j] == WeightTable::kNone) continue;
    row.clear();
    model.unary.row(match.place[j]).for_each([&](Index k, double weight) {
      row.emplace_back(match.output[k], weight);
    });
    std::ranges::sort(row);
    for (const auto& [k, weight] : row) w.push_back(j * width + k, weight);
  }
  const std::vector<double> extra = model_extra(model, data, extra_weights, names);
  for (std::size_t i = 0; i < extra.size(); ++i)
    if (extra[i] != 0.0) w.push_back(match.place.size() * width + i, extra[i]);
  return w;
}

Dataset with_labels(Dataset data, const std::vector<std::string>& labels) {
  if (data.hierarchy != nullptr && labels != data.vocabulary->outputs)
    throw Error("the model's outputs are not the nodes of the hierarchy given with the data",
                ErrorKind::kInput);
  const NameIndex numbers(labels);
  std::vector<Index> renumbered;
  for (const std::string& name : data.vocabulary->outputs)
    renumbered.push_back(numbers.find(name).value_or(kUnknownOutput));
  if (!data.on.empty()) data.on = renumbered_sets(data, renumbered, labels);
  for (std::size_t p = 0; p < data.gold.size(); ++p) {
    const Index gold = data.gold[p];
    if (gold == kUnknownOutput || gold == kNoOutput) continue;
    data.gold[p] = renumbered[gold];
    if (renumbered[gold] == kUnknownOutput)
      data.unknown_gold[static_cast<Index>(p)] = data.vocabulary->outputs[gold];
  }
  data.vocabulary = std::make_shared<const Vocabulary>(Vocabulary{data.vocabulary->features, labels});
  return data;
}

}  // namespace proxbench
