#include "experiments/data/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/files.h"
#include "experiments/base/text.h"

namespace proxbench {
namespace {

constexpr std::string_view kFirstLine = "# proxbench model 1";
constexpr std::string_view kUnaryLine = "unary<TAB>feature<TAB>output<TAB>weight";

/// What is written as a backslash and the character at the same place of kCodes.
constexpr std::string_view kEscaped = "\t\n\r\\", kCodes = "tnr\\";

std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const std::size_t code = kEscaped.find(c);
    if (code == kEscaped.npos)
      out += c;
    else
      (out += '\\') += kCodes[code];
  }
  return out;
}

std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return fmt::format("'{}{}'", escaped(text.substr(0, kShown)), text.size() > kShown ? "..." : "");
}

std::vector<std::string_view> split_tabs(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return fields;
}

/// Numbers of names; the names must outlive it.
class NumberOfName {
 public:
  explicit NumberOfName(const std::vector<std::string>& names) {
    number_.reserve(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) number_.emplace(names[i], static_cast<Index>(i));
  }
  /// kUnknownOutput where there is none.
  Index find(std::string_view name) const {
    const auto found = number_.find(name);
    return found == number_.end() ? kUnknownOutput : found->second;
  }

 private:
  std::unordered_map<std::string_view, Index> number_;
};

/// "pair<TAB>label<TAB>label<TAB>weight".
std::string line_of(const ExtraWeightNames& names) {
  return fmt::format("{}<TAB>{}<TAB>weight", names.word, fmt::join(names.fields, "<TAB>"));
}

/// The names of one extra weight as they stand in a line. Throws Error where their number is wrong.
std::string key_of(const ExtraWeightNames& names, std::size_t weight, const Dataset& data) {
  const std::vector<std::string> own = names.names(weight, data);
  if (own.size() != names.fields.size())
    throw Error(fmt::format("extra weight {}: found {} names, expected {}: {}", weight, own.size(),
                            names.fields.size(), line_of(names)));
  std::string key;
  for (const std::string& name : own) key += escaped(name) + '\t';
  return key;
}

void require_names(std::size_t extra_weights, const ExtraWeightNames& names) {
  if (extra_weights > 0 && (names.word.empty() || names.fields.empty() || !names.names))
    throw Error(
        fmt::format("found {} extra weights that the oracle has no names for, expected OracleInfo::extra",
                    extra_weights));
}

[[noreturn]] void same_names(const std::string& key, std::size_t first, std::size_t second) {
  throw Error(fmt::format("extra weights {} and {} are both named {}, expected a name each", first, second,
                          shown(key)));
}

/// Numbers of the extra weights by their names.
class ExtraWeights {
 public:
  ExtraWeights(const Dataset& data, std::size_t count, const ExtraWeightNames& names)
      : data_(data), count_(count), names_(names) {
    for (std::size_t i = 0; i < count; ++i) {
      std::string key = key_of(names, i, data);
      const auto [known, added] = number_.emplace(std::move(key), i);
      if (!added) same_names(known->first, known->second, i);
    }
  }

  /// Throws Error (kInput) with the line of the entry where there is none of these names.
  std::size_t find(const Model::ExtraWeight& entry, const std::string& source) const {
    const auto fail = [&](const std::string& found, const std::string& expected) {
      throw Error::in_file(source, entry.line, found, expected);
    };
    if (count_ == 0 || entry.word != names_.word || entry.names.size() != names_.fields.size())
      fail(fmt::format("'{}' with {} names", escaped(entry.word), entry.names.size()),
           fmt::format("'{}'{}", kUnaryLine, count_ == 0 ? "" : " or '" + line_of(names_) + "'"));
    std::string key;
    for (const std::string& name : entry.names) key += escaped(name) + '\t';
    if (const auto found = number_.find(key); found != number_.end()) return found->second;
    for (std::size_t field = 0; field < names_.fields.size(); ++field) {
      const std::vector<std::string> known = names_in(field);
      if (std::find(known.begin(), known.end(), entry.names[field]) == known.end())
        fail(fmt::format("{} {}", names_.fields[field], shown(entry.names[field])),
             fmt::format("one of the data's {} {}s{}", known.size(), names_.fields[field],
                         did_you_mean(entry.names[field], known)));
    }
    key.pop_back();
    fail(shown(key), fmt::format("one of the {} extra weights '{}'", count_, line_of(names_)));
    return 0;
  }

 private:
  /// What this field is in any extra weight, in the order in which it comes up.
  std::vector<std::string> names_in(std::size_t field) const {
    std::vector<std::string> out;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < count_; ++i)
      if (std::string name = names_.names(i, data_)[field]; seen.insert(name).second)
        out.push_back(std::move(name));
    return out;
  }

  const Dataset& data_;
  std::size_t count_;
  const ExtraWeightNames& names_;
  std::unordered_map<std::string, std::size_t> number_;
};

class ModelParser {
 public:
  ModelParser(std::string_view text, const std::string& source) : rest_(text) { model_.source = source; }

  Model parse() {
    std::string_view line;
    if (!next(line) || line != kFirstLine)
      fail(line_ ? shown(line) : "an empty file", "'" + std::string(kFirstLine) + "'");
    while (next(line)) {
      if (line.empty()) continue;
      if (line.front() == '#')
        parse_header(line);
      else
        parse_weight(line);
    }
    check_labels();
    return std::move(model_);
  }

 private:
  bool next(std::string_view& line) {
    if (rest_.empty()) return false;
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    line = rest_.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);  // written on another system
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    return true;
  }

  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw Error::in_file(model_.source, line_, found, expected);
  }

  std::string unescaped(std::string_view text) const {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        out += text[i];
        continue;
      }
      const std::size_t code = ++i < text.size() ? kCodes.find(text[i]) : kCodes.npos;
      if (code == kCodes.npos) fail(fmt::format("escape in '{}'", text), "\\t, \\n, \\r or \\\\");
      out += kEscaped[code];
    }
    return out;
  }

  void parse_header(std::string_view line) {
    std::string_view text = line.substr(1);
    if (text.starts_with(' ')) text.remove_prefix(1);
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) fail(shown(line), "'# key=value'");
    const std::string key(text.substr(0, equals));
    const std::string_view value = text.substr(equals + 1);
    if (key == "labels") {
      if (!model_.labels.empty()) fail("key 'labels' again", "each key once");
      for (std::string_view name : split_tabs(value)) model_.labels.push_back(unescaped(name));
      std::set<std::string> once;
      for (const std::string& name : model_.labels)
        if (!once.insert(name).second) fail("label " + shown(name) + " twice", "each label once");
    } else if (!model_.header.emplace(key, unescaped(value)).second) {
      fail("key '" + key + "' again", "each key once");
    }
  }

  void parse_weight(std::string_view line) {
    const std::vector<std::string_view> fields = split_tabs(line);
    const bool unary = fields[0] == "unary";
    // How many names an extra weight has is for its oracle to say.
    if (fields[0].empty() || (unary ? fields.size() != 4 : fields.size() < 3))
      fail(shown(line), fmt::format("'{}' or 'WORD<TAB>name<TAB>...<TAB>weight'", kUnaryLine));
    double weight = 0.0;
    if (!parse_real(fields.back(), weight)) fail("weight " + shown(fields.back()), "a finite number");
    if (unary) {
      model_.unary.push_back({unescaped(fields[1]), unescaped(fields[2]), weight, line_});
    } else {
      std::vector<std::string> names;
      for (std::size_t i = 1; i + 1 < fields.size(); ++i) names.push_back(unescaped(fields[i]));
      model_.extra.push_back({std::string(fields[0]), std::move(names), weight, line_});
    }
    // The escaped names hold no TAB, so all fields but the weight together are a key.
    const std::string_view key = line.substr(0, line.size() - fields.back().size());
    const auto [first, added] = seen_.emplace(key, line_);
    if (!added)
      fail(shown(key) + " again", "each entry once (first at line " + std::to_string(first->second) + ")");
  }

  void check_labels() {
    if (model_.labels.empty()) return;
    const NumberOfName labels(model_.labels);
    for (const Model::Weight& entry : model_.unary) {
      line_ = entry.line;
      if (labels.find(entry.output) == kUnknownOutput)
        fail("label " + shown(entry.output),
             "one of '# labels='" + did_you_mean(entry.output, model_.labels));
    }
  }

  std::string_view rest_;
  std::size_t line_ = 0;
  Model model_;
  std::unordered_map<std::string_view, std::size_t> seen_;
};

/// The label sets under the model's numbers. Throws Error (kInput) where the model lacks a label.
LabelSets renumbered_sets(const Dataset& data, const std::vector<Index>& number,
                          const std::vector<std::string>& labels) {
  for (std::size_t k = 0; k < number.size(); ++k)
    if (number[k] == kUnknownOutput)
      throw Error(fmt::format("found label {} of the data, expected one of the model's {} labels{}",
                              shown(data.vocabulary->outputs[k]), labels.size(),
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

const std::string& Model::at(const std::string& key) const {
  const auto found = header.find(key);
  if (found == header.end())
    throw Error::in_file(source, 0, "no line '# " + key + "=...'", "it in the header of the model");
  return found->second;
}

std::string model_text(const std::map<std::string, std::string>& header, const Dataset& data,
                       const SparseVector& w, std::size_t extra_weights, const ExtraWeightNames& names) {
  const Vocabulary& vocabulary = *data.vocabulary;
  const std::size_t outputs = vocabulary.outputs.size();
  const Coord unary = static_cast<Coord>(vocabulary.features.size()) * outputs;
  require_names(extra_weights, names);
  if (!w.index.empty() && w.index.back() >= unary + extra_weights)
    throw Error("weight " + std::to_string(w.index.back()) + " is beyond the model's dimension " +
                std::to_string(unary + extra_weights));
  std::string out(kFirstLine);
  out += '\n';
  for (const auto& [key, value] : header) out += fmt::format("# {}={}\n", key, escaped(value));
  out += "# labels=";
  for (std::size_t k = 0; k < outputs; ++k)
    out += fmt::format("{}{}", k ? "\t" : "", escaped(vocabulary.outputs[k]));
  out += '\n';
  std::unordered_map<std::string, std::size_t> written;
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    if (!std::isfinite(w.value[i]))
      throw Error("weight " + std::to_string(w.index[i]) + " is " + shortest_text(w.value[i]) +
                  ": a model holds finite weights only");
    const Coord c = w.index[i];
    if (c < unary) {
      out.append("unary\t").append(escaped(vocabulary.features[c / outputs])).append("\t");
      out.append(escaped(vocabulary.outputs[c % outputs])).append("\t").append(shortest_text(w.value[i])).append("\n");
      continue;
    }
    const std::string key = key_of(names, c - unary, data);
    if (const auto [other, added] = written.emplace(key, c - unary); !added)
      same_names(key, other->second, c - unary);
    out.append(names.word).append("\t").append(key).append(shortest_text(w.value[i])).append("\n");
  }
  return out;
}

Model parse_model(std::string_view text, const std::string& source) {
  return ModelParser(text, source).parse();
}

Model read_model(const std::filesystem::path& file) {
  return parse_model(read_file(file, "a model"), file.string());
}

SparseVector model_weights(const Model& model, const Dataset& data, std::size_t extra_weights,
                           const ExtraWeightNames& names, UnknownFeatures unknown) {
  require_names(extra_weights, names);
  const Vocabulary& vocabulary = *data.vocabulary;
  const NumberOfName features(vocabulary.features), outputs(vocabulary.outputs);
  const Coord width = vocabulary.outputs.size();
  std::vector<std::pair<Coord, double>> weights;
  for (const Model::Weight& entry : model.unary) {
    const Index k = outputs.find(entry.output), j = features.find(entry.feature);
    if (k == kUnknownOutput)
      throw Error::in_file(model.source, entry.line, "label " + shown(entry.output),
                           "one of the data's " + std::to_string(width) + " labels" +
                               did_you_mean(entry.output, vocabulary.outputs));
    if (j != kUnknownOutput)
      weights.emplace_back(j * width + k, entry.weight);
    else if (unknown == UnknownFeatures::kReject)
      throw Error::in_file(model.source, entry.line, "feature " + shown(entry.feature),
                           "one of the data's " + std::to_string(vocabulary.features.size()) + " features");
  }
  if (!model.extra.empty()) {
    const ExtraWeights extra(data, extra_weights, names);
    for (const Model::ExtraWeight& entry : model.extra)
      weights.emplace_back(vocabulary.features.size() * width + extra.find(entry, model.source),
                           entry.weight);
  }
  std::sort(weights.begin(), weights.end());
  SparseVector w;
  for (const auto& [coordinate, weight] : weights)
    if (weight != 0.0) w.push_back(coordinate, weight);
  return w;
}

Dataset with_labels(Dataset data, const std::vector<std::string>& labels) {
  if (data.hierarchy != nullptr && labels != data.vocabulary->outputs)
    throw Error("the model's outputs are not the nodes of the hierarchy given with the data",
                ErrorKind::kInput);
  const NumberOfName numbers(labels);
  std::vector<Index> renumbered;
  for (const std::string& name : data.vocabulary->outputs) renumbered.push_back(numbers.find(name));
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
