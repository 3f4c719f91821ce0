#include "experiments/data/model.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "experiments/base/byte_source.h"
#include "experiments/base/files.h"
#include "experiments/base/line_reader.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

constexpr std::string_view kFirstLine = "# proxbench model 1";
constexpr std::string_view kUnaryLine = "unary<TAB>feature<TAB>output<TAB>weight";

/// Each character of kEscaped is written as a backslash and the character at the same place of kCodes.
constexpr std::string_view kEscaped = "\t\n\r\\", kCodes = "tnr\\";

std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return fmt::format("'{}{}'", escaped_name(text.substr(0, kShown)), text.size() > kShown ? "..." : "");
}

/// Removes the first line from the text and returns it without its line break.
std::string_view take_line(std::string_view& text) {
  std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

constexpr std::string_view kLines = "# lines=", kChecksum = "# checksum=";

/// Returns the two header lines with the number of lines and the checksum of a file in which `body` follows
/// its first three lines.
std::pair<std::string, std::string> seal_of(std::string_view body) {
  std::uint64_t lines = 3, checksum = 0;
  for (; !body.empty(); ++lines) {
    const std::string_view line = take_line(body);
    checksum = XXH3_64bits_withSeed(line.data(), line.size(), checksum);
  }
  return {fmt::format("{}{}", kLines, lines), fmt::format("{}{}", kChecksum, digest_text(checksum))};
}

/// Throws Error (kInput) if the text does not match the number of lines and the checksum in its header.
void check_seal(std::string_view text, const std::string& source) {
  take_line(text);
  const std::string_view lines = take_line(text), checksum = take_line(text);
  if (!lines.starts_with(kLines) || !checksum.starts_with(kChecksum)) return;
  const auto [own_lines, own_checksum] = seal_of(text);
  if (own_lines != lines)
    throw Error::in_file(source, 0, own_lines.substr(kLines.size()) + " lines",
                         fmt::format("{} as its header says: the file was cut or something was added; copy "
                                     "it again, or train the model again",
                                     lines.substr(kLines.size())));
  if (own_checksum != checksum)
    throw Error::in_file(source, 0, "other content than was written",
                         fmt::format("what its line '{}' was made of: copy the file again, train the model "
                                     "again, or remove that line where the change is wanted",
                                     checksum));
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

/// "pair<TAB>label<TAB>label<TAB>weight".
std::string line_of(const ExtraWeightNames& names) {
  return fmt::format("{}<TAB>{}<TAB>weight", names.word, fmt::join(names.fields, "<TAB>"));
}

/// The names as in a line, with a TAB after each.
std::string key_of(const std::vector<std::string>& names) {
  std::string key;
  for (const std::string& name : names) key += escaped_name(name) + '\t';
  return key;
}

/// Throws Error (kInput): the data lack a name of the model.
[[noreturn]] void fail_missing(const std::string& source, std::size_t line, const std::string& what,
                               const std::string& name, const std::vector<std::string>& known,
                               const std::string& advice) {
  throw Error::in_file(source, line, fmt::format("{} {}", what, shown(name)),
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
                              known->second, weight, shown(known->first)));
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
    fail(shown(std::string_view(key).substr(0, key.size() - 1)),
         fmt::format("one of the {} extra weights '{}'", count_, line_of(names_)));
    return 0;
  }

 private:
  const Dataset& data_;
  std::size_t count_;
  const ExtraWeightNames& names_;
  std::unordered_map<std::string, std::size_t> number_;
};

class ModelParser {
 public:
  ModelParser(std::string_view text, const std::string& source) : in_(text, source) {
    model_.source = source;
  }

  Model parse() {
    std::string_view line;
    if (!in_.next(line) || line != kFirstLine)
      in_.fail(in_.line() > 0 ? shown(line) : "an empty file",
               fmt::format("'{}', the first line of a model of `proxbench train --model`", kFirstLine));
    while (in_.next(line)) {
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
  std::string unescaped(std::string_view text) const {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        out += text[i];
        continue;
      }
      const std::size_t code = ++i < text.size() ? kCodes.find(text[i]) : kCodes.npos;
      if (code == kCodes.npos) in_.fail(fmt::format("escape in '{}'", text), "\\t, \\n, \\r or \\\\");
      out += kEscaped[code];
    }
    return out;
  }

  void parse_header(std::string_view line) {
    std::string_view text = line.substr(1);
    if (text.starts_with(' ')) text.remove_prefix(1);
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) in_.fail(shown(line), "'# key=value'");
    const std::string key(text.substr(0, equals));
    if (key == "lines" || key == "checksum") return;
    const std::string_view value = text.substr(equals + 1);
    if (key == "labels" ? !model_.labels.empty() : !model_.header.emplace(key, unescaped(value)).second)
      in_.fail("key '" + key + "' again", "each key once");
    if (key != "labels") return;
    for (std::string_view name : split_tabs(value)) {
      model_.labels.push_back(unescaped(name));
      if (labels_.intern(model_.labels.back()) + std::size_t{1} != model_.labels.size())
        in_.fail("label " + shown(model_.labels.back()) + " twice", "each label once");
    }
  }

  void parse_weight(std::string_view line) {
    const std::vector<std::string_view> fields = split_tabs(line);
    const bool unary = fields[0] == "unary";
    // The oracle decides how many names an extra weight has.
    if (fields[0].empty() || (unary ? fields.size() != 4 : fields.size() < 3))
      in_.fail(shown(line), fmt::format("'{}' or 'WORD<TAB>name<TAB>...<TAB>weight'", kUnaryLine));
    double weight = 0.0;
    if (!parse_real(fields.back(), weight)) in_.fail("weight " + shown(fields.back()), "a finite number");
    if (unary) {
      model_.unary.push_back({unescaped(fields[1]), unescaped(fields[2]), weight, in_.line()});
    } else {
      std::vector<std::string> names;
      for (std::size_t i = 1; i + 1 < fields.size(); ++i) names.push_back(unescaped(fields[i]));
      model_.extra.push_back({std::string(fields[0]), std::move(names), weight, in_.line()});
    }
    // Escaped names contain no TAB, so all fields before the weight form a key.
    const std::string_view key = line.substr(0, line.size() - fields.back().size());
    const auto [first, added] = seen_.emplace(key, in_.line());
    if (!added)
      in_.fail(shown(key) + " again",
               "each entry once (first at line " + std::to_string(first->second) + ")");
  }

  void check_labels() const {
    for (const Model::Weight& entry : model_.unary)
      if (!model_.labels.empty() && !labels_.find(entry.output))
        throw Error::in_file(model_.source, entry.line, "label " + shown(entry.output),
                             "one of '# labels='" + did_you_mean(entry.output, model_.labels));
  }

  LineReader in_;
  Model model_;
  NameIndex labels_;
  std::unordered_map<std::string_view, std::uint64_t> seen_;  ///< keys in the reader's text, and their lines
};

/// Returns the label sets with the model's numbers. Throws Error (kInput) if the model lacks a label.
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

std::string digest_text(std::uint64_t digest) {
  return fmt::format("{:016x}", digest);
}

std::string escaped_name(std::string_view name) {
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
  ExtraWeights extra(data, extra_weights, names);
  if (!w.index.empty() && w.index.back() >= unary + extra_weights)
    throw Error(
        fmt::format("weight {} is beyond the model's dimension {}", w.index.back(), unary + extra_weights));
  std::string out;
  for (const auto& [key, value] : header) out += fmt::format("# {}={}\n", key, escaped_name(value));
  std::string labels;
  for (const std::string& name : vocabulary.outputs)
    labels += (labels.empty() ? "" : "\t") + escaped_name(name);
  out += fmt::format("# labels={}\n", labels);
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    const Coord c = w.index[i];
    if (!std::isfinite(w.value[i]))
      throw Error(fmt::format("weight {} is {}: a model holds finite weights only", c, w.value[i]));
    if (c < unary)
      out.append("unary\t")
          .append(escaped_name(vocabulary.features[c / outputs]))
          .append("\t")
          .append(escaped_name(vocabulary.outputs[c % outputs]))
          .append("\t");
    else
      out.append(names.word).append("\t").append(extra.add(c - unary));
    out.append(shortest_text(w.value[i])).append("\n");
  }
  const auto [lines, checksum] = seal_of(out);
  return out.insert(0, fmt::format("{}\n{}\n{}\n", kFirstLine, lines, checksum));
}

Model parse_model(std::string_view text, const std::string& source) {
  check_seal(text, source);
  return ModelParser(text, source).parse();
}

Model read_model(const std::filesystem::path& file) {
  return parse_model(read_unpacked(file.string(), "a model"), file.string());
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

SparseVector model_weights(const Model& model, const Dataset& data, std::size_t extra_weights,
                           const ExtraWeightNames& names, UnknownFeatures unknown) {
  ExtraWeights extra(data, extra_weights, names);
  const Vocabulary& vocabulary = *data.vocabulary;
  const NameIndex features(vocabulary.features), outputs(vocabulary.outputs);
  const std::string advice = advice_on_data(model, outputs);
  const Coord width = vocabulary.outputs.size();
  std::vector<std::pair<Coord, double>> weights;
  for (const Model::Weight& entry : model.unary) {
    const auto k = outputs.find(entry.output), j = features.find(entry.feature);
    if (!k)
      fail_missing(model.source, entry.line, "label", entry.output, vocabulary.outputs,
                   did_you_mean(entry.output, vocabulary.outputs) + advice);
    if (!j && unknown == UnknownFeatures::kReject)
      fail_missing(model.source, entry.line, "feature", entry.feature, vocabulary.features, advice);
    if (j) weights.emplace_back(*j * width + *k, entry.weight);
  }
  for (const Model::ExtraWeight& entry : model.extra)
    weights.emplace_back(vocabulary.features.size() * width + extra.find(entry, model.source, advice),
                         entry.weight);
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
