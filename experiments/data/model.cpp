#include "experiments/data/model.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <unordered_map>

#include "experiments/base/byte_source.h"
#include "experiments/base/files.h"
#include "experiments/base/line_reader.h"
#include "experiments/base/mapped_file.h"
#include "experiments/data/binary_model.h"
#include "experiments/data/model_lines.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

[[noreturn]] void fail_again(const std::string& source, std::size_t line, std::string_view key,
                             std::size_t first) {
  throw Error::in_file(source, line, shown_text(key) + " again",
                       fmt::format("each entry once (first at line {})", first));
}

/// Makes the rows of a model from unary weights in any order. Rows are in the order in which their features
/// appear first.
class RowCollector {
 public:
  explicit RowCollector(Model& model) : model_(model) {}

  void add(const LineReader& in, std::string_view escaped, Index output, double weight) {
    if (weights_.empty() || escaped != escaped_) {
      escaped_ = escaped;
      row_ = names_.intern(unescaped(in, escaped));
      if (row_ == model_.feature_line.size()) model_.feature_line.push_back(in.line());
    }
    weights_.push_back({row_, output, weight, in.line()});
  }

  void finish() {
    const auto place = [](const Weight& one) { return std::pair(one.row, one.output); };
    if (!std::ranges::is_sorted(weights_, {}, place)) std::ranges::stable_sort(weights_, {}, place);
    WeightTable::Builder rows;
    WeightTable::Builder::Entries row;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      const Weight& one = weights_[i];
      const std::string& name = names_.names()[one.row];
      if (i > 0 && place(weights_[i - 1]) == place(one))
        fail_again(model_.source, one.line, key_of({"unary", name, model_.outputs[one.output]}),
                   weights_[i - 1].line);
      row.emplace_back(one.output, one.weight);
      if (i + 1 < weights_.size() && weights_[i + 1].row == one.row) continue;
      rows.add(name, row);
      row.clear();
    }
    model_.unary = std::move(rows).finish();
  }

 private:
  struct Weight {
    Index row, output;
    double weight;
    std::size_t line;
  };

  Model& model_;
  NameIndex names_;      ///< of the features
  std::string escaped_;  ///< the feature of the last weight
  Index row_ = 0;        ///< and its row
  std::vector<Weight> weights_;
};

/// Parses the text of a model, or the lines that a binary model has.
class ModelParser {
 public:
  ModelParser(LineReader& in, std::string source) : in_(in), rows_(model_) {
    model_.source = std::move(source);
  }

  Model parse() {
    std::string_view line;
    if (!next(line) || line != kModelLine)
      in_.fail(in_.line() > 0 ? shown_text(line) : "an empty file",
               fmt::format("'{}', the first line of a model of `proxbench train --model`", kModelLine));
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
    if (equals == text.npos || equals == 0) in_.fail(shown_text(line), "'# key=value'");
    const std::string key(text.substr(0, equals));
    if (key == "lines" || key == "checksum") return;
    const std::string_view value = text.substr(equals + 1);
    const bool labels = key == "labels";
    if (labels ? !model_.labels.empty() : !model_.header.emplace(key, unescaped(in_, value)).second)
      in_.fail("key '" + key + "' again", "each key once");
    if (!labels) return;
    if (!outputs_.names().empty()) in_.fail("'# labels=' below a weight", "it above all weights");
    for (std::string_view name : split(value, '\t')) {
      model_.labels.push_back(unescaped(in_, name));
      if (outputs_.intern(model_.labels.back()) + std::size_t{1} != model_.labels.size())
        in_.fail("label " + shown_text(model_.labels.back()) + " twice", "each label once");
    }
    model_.outputs = model_.labels;
    model_.output_line.resize(model_.labels.size());
  }

  [[noreturn]] void fail_line(std::string_view line) const {
    in_.fail(shown_text(line), fmt::format("'{}' or 'WORD<TAB>name<TAB>...<TAB>weight'", kUnaryLine));
  }

  double weight_of(std::string_view text) const {
    double weight = 0.0;
    if (!parse_real(text, weight)) in_.fail("weight " + shown_text(text), "a finite number");
    return weight;
  }

  void parse_unary(std::string_view line) {
    const std::size_t feature = kUnary.size(), first = line.find('\t', feature),
                      second = first == line.npos ? first : line.find('\t', first + 1);
    if (second == line.npos || line.find('\t', second + 1) != line.npos) fail_line(line);
    const double weight = weight_of(line.substr(second + 1));
    rows_.add(in_, line.substr(feature, first - feature),
              output_of(line.substr(first + 1, second - first - 1)), weight);
  }

  /// Returns the number of an output. Models that list no labels get their outputs from their weights.
  Index output_of(std::string_view escaped) {
    std::string holder;
    const bool plain = escaped.find('\\') == escaped.npos;
    const std::string_view name = plain ? escaped : holder = unescaped(in_, escaped);
    const auto known = outputs_.find(name);
    if (!known && !model_.labels.empty())
      in_.fail("label " + shown_text(name),
               "one of '# labels='" + did_you_mean(std::string(name), model_.labels));
    const Index k = known ? *known : outputs_.intern(name);
    if (model_.output_line.size() <= k) model_.output_line.resize(k + std::size_t{1});
    if (model_.output_line[k] == 0) model_.output_line[k] = in_.line();
    return k;
  }

  /// The oracle decides how many names an extra weight has.
  void parse_extra(std::string_view line) {
    const std::vector<std::string_view> fields = split(line, '\t');
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

}  // namespace

const std::string& Model::at(const std::string& key) const {
  const auto found = header.find(key);
  if (found == header.end())
    throw Error::in_file(source, 0, "no line '# " + key + "=...'", "it in the header of the model");
  return found->second;
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

bool names_binary_model(const fs::path& file) {
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

Model read_model(const fs::path& file) {
  const std::string source = file.string();
  const auto mapped = file == kStandardStream ? nullptr : MappedFile::open(file);
  if (mapped == nullptr || is_compressed(mapped->bytes()))
    return parse_model(read_unpacked(source, "a model"), source);
  if (is_binary_model(mapped->bytes())) return binary_model(mapped->bytes(), mapped, source);
  LineReader in(source);
  return ModelParser(in, source).parse();
}

}  // namespace proxbench
