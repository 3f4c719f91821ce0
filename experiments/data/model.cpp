#include "experiments/data/model.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "experiments/base/byte_source.h"
#include "experiments/base/files.h"
#include "experiments/base/line_reader.h"
#include "experiments/base/mapped_file.h"
#include "experiments/data/binary_model.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

constexpr std::string_view kFirstLine = "# proxbench model 1";
constexpr std::string_view kUnary = "unary\t";
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

/// Returns a whole file, of the text below its first three lines.
std::string sealed(std::string&& below) {
  std::uint64_t lines = 3, checksum = 0;
  for (std::string_view rest = below; !rest.empty(); ++lines) {
    const std::string_view line = take_line(rest);
    checksum = XXH3_64bits_withSeed(line.data(), line.size(), checksum);
  }
  return std::move(below.insert(
      0, fmt::format("{}\n{}{}\n{}{}\n", kFirstLine, kLines, lines, kChecksum, digest_text(checksum))));
}

std::string header_text(const std::map<std::string, std::string>& header,
                        const std::vector<std::string>& labels) {
  std::string out, names;
  for (const auto& [key, value] : header) out += fmt::format("# {}={}\n", key, escaped_name(value));
  for (const std::string& name : labels) names += (names.empty() ? "" : "\t") + escaped_name(name);
  return labels.empty() ? out : out + fmt::format("# labels={}\n", names);
}

/// `feature` and `output` are escaped.
void add_unary(std::string& out, const std::string& feature, const std::string& output, double weight) {
  (((((out += kUnary) += feature) += '\t') += output) += '\t') += shortest_text(weight);
  out += '\n';
}

std::vector<std::string> escaped_names(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(escaped_name(name));
  return out;
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

/// Returns the name of its escaped text.
std::string unescaped(const LineReader& in, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const std::size_t code = ++i < text.size() ? kCodes.find(text[i]) : kCodes.npos;
    if (code == kCodes.npos) in.fail(fmt::format("escape in '{}'", text), "\\t, \\n, \\r or \\\\");
    out += kEscaped[code];
  }
  return out;
}

[[noreturn]] void fail_again(const std::string& source, std::size_t line, std::string_view key,
                             std::size_t first) {
  throw Error::in_file(source, line, shown(key) + " again",
                       fmt::format("each entry once (first at line {})", first));
}

/// Makes the rows of a model from unary weights in any order. Rows are in the order in which their features
/// appear first.
class RowCollector {
 public:
  explicit RowCollector(Model& model) : model_(model) {}

  /// `key` is the text of the line before the weight.
  void add(const LineReader& in, std::string_view escaped, Index output, double weight,
           std::string_view key) {
    if (first_line_ == 0 || escaped != escaped_) begin_row(in, escaped);
    if (line_of_.size() <= output) line_of_.resize(output + std::size_t{1});
    if (line_of_[output] >= first_line_) fail_again(in.path(), in.line(), key, line_of_[output]);
    line_of_[output] = in.line();
    if (place_ == WeightTable::kNone)
      row_.emplace_back(output, weight);
    else
      late_.push_back({place_, output, weight, in.line()});
  }

  void finish() {
    end_row();
    if (!late_.empty()) add_late();
    model_.unary = std::move(rows_).finish();
  }

 private:
  using Entries = WeightTable::Builder::Entries;
  struct Late {
    Index place, output;
    double weight;
    std::size_t line;
  };

  void begin_row(const LineReader& in, std::string_view escaped) {
    end_row();
    escaped_ = escaped;
    name_ = unescaped(in, escaped);
    first_line_ = in.line();
    place_ = rows_.view().find(name_);
  }

  void end_row() {
    if (row_.empty()) return;
    std::ranges::sort(row_);
    rows_.add(name_, row_);
    row_.clear();
    model_.feature_line.push_back(first_line_);
  }

  /// Adds the weights that were not beside others of their features.
  void add_late() {
    std::ranges::stable_sort(late_, {}, &Late::place);
    WeightTable::Builder all;
    auto late = late_.begin();
    std::size_t number = 0;
    rows_.view().for_each([&](Index place, const WeightTable::Row& row) {
      Entries entries;
      row.for_each([&](Index k, double weight) { entries.emplace_back(k, weight); });
      for (; late != late_.end() && late->place == place; ++late) {
        if (std::ranges::find(entries, late->output, &Entries::value_type::first) != entries.end())
          fail_again(model_.source, late->line,
                     fmt::format("unary\t{}\t{}\t", row.name, model_.outputs[late->output]),
                     model_.feature_line[number]);
        entries.emplace_back(late->output, late->weight);
      }
      std::ranges::sort(entries);
      all.add(row.name, entries);
      ++number;
    });
    rows_ = std::move(all);
  }

  Model& model_;
  WeightTable::Builder rows_;
  std::string escaped_, name_;        ///< of the row that is read
  std::size_t first_line_ = 0;        ///< of this row; 0: none yet
  Index place_ = WeightTable::kNone;  ///< its place, if the feature has a row already
  Entries row_;
  std::vector<std::size_t> line_of_;  ///< by output, where it occurred last
  std::vector<Late> late_;
};

/// Parses the text of a model, or the lines that a binary model has.
class ModelParser {
 public:
  ModelParser(LineReader& in, std::string source) : in_(in), rows_(model_) {
    model_.source = std::move(source);
  }

  Model parse() {
    std::string_view line;
    if (!next(line) || line != kFirstLine)
      in_.fail(in_.line() > 0 ? shown(line) : "an empty file",
               fmt::format("'{}', the first line of a model of `proxbench train --model`", kFirstLine));
    try {
      parse_lines();
    } catch (const Error&) {  // if the file was cut, that is why
      while (next(line)) continue;
      check_seal();
      throw;
    }
    check_seal();
    rows_.finish();
    return std::move(model_);
  }

  Model parse_head() {
    parse_lines();
    return std::move(model_);
  }

 private:
  void parse_lines() {
    for (std::string_view line; next(line);) {
      if (line.empty()) continue;
      if (line.front() == '#')
        parse_header(line);
      else if (line.starts_with(kUnary))
        parse_unary(line);
      else
        parse_extra(line);
    }
    if (model_.outputs.empty()) model_.outputs = outputs_.names();
  }

  /// Moves to the next line, and takes it into the checksum of all lines after the third.
  bool next(std::string_view& line) {
    if (!in_.next(line)) return false;
    if (in_.line() == 2) lines_ = line;
    if (in_.line() == 3) sealed_ = line;
    if (in_.line() > 3) checksum_ = XXH3_64bits_withSeed(line.data(), line.size(), checksum_);
    return true;
  }

  /// Throws Error (kInput) if the text does not match the number of lines and the checksum in its header.
  void check_seal() const {
    if (!lines_.starts_with(kLines) || !sealed_.starts_with(kChecksum)) return;
    const std::string own_lines = std::to_string(in_.line()), lines = lines_.substr(kLines.size());
    if (own_lines != lines)
      throw Error::in_file(model_.source, 0, own_lines + " lines",
                           fmt::format("{} as its header says: the file was cut or something was added; copy "
                                       "it again, or train the model again",
                                       lines));
    if (sealed_ != std::string(kChecksum) + digest_text(checksum_))
      throw Error::in_file(model_.source, 0, "other content than was written",
                           fmt::format("what its line '{}' was made of: copy the file again, train the model "
                                       "again, or remove that line where the change is wanted",
                                       sealed_));
  }

  void parse_header(std::string_view line) {
    std::string_view text = line.substr(1);
    if (text.starts_with(' ')) text.remove_prefix(1);
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) in_.fail(shown(line), "'# key=value'");
    const std::string key(text.substr(0, equals));
    if (key == "lines" || key == "checksum") return;
    const std::string_view value = text.substr(equals + 1);
    const bool labels = key == "labels";
    if (labels ? !model_.labels.empty() : !model_.header.emplace(key, unescaped(in_, value)).second)
      in_.fail("key '" + key + "' again", "each key once");
    if (!labels) return;
    if (!outputs_.names().empty()) in_.fail("'# labels=' below a weight", "it above all weights");
    for (std::string_view name : split_tabs(value)) {
      model_.labels.push_back(unescaped(in_, name));
      if (outputs_.intern(model_.labels.back()) + std::size_t{1} != model_.labels.size())
        in_.fail("label " + shown(model_.labels.back()) + " twice", "each label once");
    }
    model_.outputs = model_.labels;
    model_.output_line.resize(model_.labels.size());
  }

  [[noreturn]] void fail_line(std::string_view line) const {
    in_.fail(shown(line), fmt::format("'{}' or 'WORD<TAB>name<TAB>...<TAB>weight'", kUnaryLine));
  }

  double weight_of(std::string_view text) const {
    double weight = 0.0;
    if (!parse_real(text, weight)) in_.fail("weight " + shown(text), "a finite number");
    return weight;
  }

  void parse_unary(std::string_view line) {
    const std::size_t feature = kUnary.size(), first = line.find('\t', feature),
                      second = first == line.npos ? first : line.find('\t', first + 1);
    if (second == line.npos || line.find('\t', second + 1) != line.npos) fail_line(line);
    const double weight = weight_of(line.substr(second + 1));
    rows_.add(in_, line.substr(feature, first - feature),
              output_of(line.substr(first + 1, second - first - 1)), weight, line.substr(0, second + 1));
  }

  /// Returns the number of an output. Models that list no labels get their outputs from their weights.
  Index output_of(std::string_view escaped) {
    std::string holder;
    const bool plain = escaped.find('\\') == escaped.npos;
    const std::string_view name = plain ? escaped : holder = unescaped(in_, escaped);
    const auto known = outputs_.find(name);
    if (!known && !model_.labels.empty())
      in_.fail("label " + shown(name), "one of '# labels='" + did_you_mean(std::string(name), model_.labels));
    const Index k = known ? *known : outputs_.intern(name);
    if (model_.output_line.size() <= k) model_.output_line.resize(k + std::size_t{1});
    if (model_.output_line[k] == 0) model_.output_line[k] = in_.line();
    return k;
  }

  /// The oracle decides how many names an extra weight has.
  void parse_extra(std::string_view line) {
    const std::vector<std::string_view> fields = split_tabs(line);
    if (fields[0].empty() || fields[0] == "unary" || fields.size() < 3) fail_line(line);
    const double weight = weight_of(fields.back());
    std::vector<std::string> names;
    for (std::size_t i = 1; i + 1 < fields.size(); ++i) names.push_back(unescaped(in_, fields[i]));
    model_.extra.push_back({std::string(fields[0]), std::move(names), weight, in_.line()});
    // Escaped names contain no TAB, so all fields before the weight form a key.
    const std::string_view key = line.substr(0, line.size() - fields.back().size());
    const auto [first, added] = seen_.emplace(key, in_.line());
    if (!added) fail_again(in_.path(), in_.line(), key, first->second);
  }

  LineReader& in_;
  Model model_;
  RowCollector rows_;
  NameIndex outputs_;
  std::unordered_map<std::string, std::size_t> seen_;  ///< the keys of extra weights, and their lines
  std::string lines_, sealed_;                         ///< lines 2 and 3
  std::uint64_t checksum_ = 0;
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

std::string extra_text(const Model& model) {
  std::string out;
  for (const Model::ExtraWeight& entry : model.extra)
    out += fmt::format("{}\t{}{}\n", entry.word, key_of(entry.names), shortest_text(entry.weight));
  return out;
}

Model binary_model(std::string_view bytes, std::shared_ptr<const void> owner, const std::string& source) {
  BinaryModel parts = parse_binary_model(bytes, std::move(owner), source);
  LineReader in(parts.lines, source);
  Model out = ModelParser(in, source).parse_head();
  out.unary = std::move(parts.unary);
  for (Model::ExtraWeight& entry : out.extra) entry.line = 0;
  out.output_line.clear();
  return out;
}

}  // namespace

std::string model_text(const Model& model) {
  const std::vector<std::string> outputs = escaped_names(model.outputs);
  std::string out = header_text(model.header, model.labels);
  model.unary.for_each([&](Index, const WeightTable::Row& row) {
    const std::string feature = escaped_name(row.name);
    row.for_each([&](Index k, double weight) { add_unary(out, feature, outputs[k], weight); });
  });
  return sealed(std::move(out += extra_text(model)));
}

std::string model_bytes(const Model& model) {
  if (model.labels.empty())
    throw Error::in_file(model.source, 0, "no line '# labels=...'", "it in the header, for a binary model");
  return binary_model_bytes({header_text(model.header, model.labels) + extra_text(model), model.unary});
}

bool names_binary_model(const std::filesystem::path& file) {
  return file.extension() == ".pbm";
}

Model parse_model(std::string_view text, const std::string& source) {
  if (is_binary_model(text)) {
    const auto owned = std::make_shared<const std::string>(text);
    return binary_model(*owned, owned, source);
  }
  LineReader in(text, source);
  return ModelParser(in, source).parse();
}

Model read_model(const std::filesystem::path& file) {
  const std::string source = file.string();
  const auto mapped = file == kStandardStream ? nullptr : MappedFile::open(file);
  if (mapped == nullptr || is_compressed(mapped->bytes()))
    return parse_model(read_unpacked(source, "a model"), source);
  if (is_binary_model(mapped->bytes())) return binary_model(mapped->bytes(), mapped, source);
  LineReader in(source);
  return ModelParser(in, source).parse();
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
