#include "experiments/data/documents/arff.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/text.h"
#include "experiments/data/files.h"
#include "experiments/data/readers.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

constexpr const char* kAttribute = "@attribute NAME {0,1}, or numeric, real or integer";

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// The next line that holds more than blanks and comments.
bool next_line(LineReader& in, std::string_view& line) {
  while (in.next(line)) {
    line = trim(line, kBlanks);
    if (!line.empty() && line.front() != '%') return true;
  }
  return false;
}

/// Takes a name, in quotes or up to a blank, off the front.
std::string take_name(const LineReader& in, std::string_view& text) {
  const char quote = text.empty() ? ' ' : text.front();
  if (quote != '\'' && quote != '"') {
    const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
    std::string name(text.substr(0, end));
    text = trim(text.substr(end), kBlanks);
    return name;
  }
  std::string name;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == quote) {
      text = trim(text.substr(i + 1), kBlanks);
      return name;
    }
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    name += text[i];
  }
  in.fail("a name without its closing quote", kAttribute);
}

struct Attribute {
  std::string name;
  bool binary = false;  ///< {0,1}
  bool operator==(const Attribute&) const = default;
};

Attribute parse_attribute(const LineReader& in, std::string_view text) {
  Attribute out{take_name(in, text), false};
  if (out.name.empty()) in.fail("an attribute without a name", kAttribute);
  std::string type = lower_case(text);
  std::erase_if(type, [](char c) { return c == ' ' || c == '\t'; });
  out.binary = type == "{0,1}";
  if (!out.binary && type != "numeric" && type != "real" && type != "integer")
    in.fail(fmt::format("type {} of attribute {}", in_quotes(text), in_quotes(out.name)),
            "{0,1}, numeric, real or integer");
  return out;
}

/// Reads up to and with the line @data.
std::vector<Attribute> read_header(LineReader& in) {
  std::vector<Attribute> out;
  NameIndex names;
  for (std::string_view line; next_line(in, line);) {
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    const std::string keyword = lower_case(line.substr(0, end));
    if (keyword == "@relation") continue;
    if (keyword == "@data") {
      if (out.empty()) in.fail("@data before any attribute", kAttribute);
      return out;
    }
    if (keyword != "@attribute") in.fail(in_quotes(line), "@relation, @attribute or @data");
    out.push_back(parse_attribute(in, trim(line.substr(end), kBlanks)));
    if (names.intern(out.back().name) + std::size_t{1} != out.size())
      in.fail(fmt::format("attribute {} a second time", in_quotes(out.back().name)), "each name once");
  }
  throw Error::in_file(in.path(), in.line(), "no line @data", "it after the attributes");
}

/// What each attribute is.
struct Columns {
  std::vector<Attribute> attributes;
  std::vector<std::optional<Index>> label;  ///< the label's number; none: a feature
  std::vector<Index> feature;               ///< the feature's number
  Vocabulary names;
};

Columns make_columns(const std::string& path, std::vector<Attribute> attributes,
                     std::vector<std::string> labels, double bias) {
  Columns out;
  NameIndex known;
  for (const std::string& name : labels) known.intern(name);
  out.names.outputs = std::move(labels);
  if (bias > 0.0) out.names.features.push_back("bias");
  std::size_t found = 0;
  for (const Attribute& attribute : attributes) {
    const std::optional<Index> label = known.find(attribute.name);
    if (label && !attribute.binary)
      throw Error::in_file(path, 0, fmt::format("label {} of a numeric type", in_quotes(attribute.name)),
                           "{0,1}");
    found += label.has_value();
    out.label.push_back(label);
    out.feature.push_back(static_cast<Index>(out.names.features.size()));
    if (!label) out.names.features.push_back(attribute.name);
  }
  if (found < out.names.outputs.size())
    for (const std::string& name : out.names.outputs)
      if (std::ranges::none_of(attributes, [&](const Attribute& a) { return a.name == name; }))
        throw Error::in_file(path, 0, fmt::format("no attribute for label {}", in_quotes(name)),
                             "one for each label");
  if (out.names.features.empty())
    throw Error::in_file(path, 0, "labels only", "attributes that are features");
  out.attributes = std::move(attributes);
  return out;
}

/// One data set, row by row.
class Rows {
 public:
  Rows(const Columns& columns, double bias) : columns_(columns), bias_(bias) {}

  void read(LineReader& in) {
    const std::size_t before = data_.gold.size();
    for (std::string_view line; next_line(in, line);) {
      if (line.front() == '{')
        read_sparse(in, line);
      else
        read_dense(in, line);
      end_row();
    }
    if (data_.gold.size() == before)
      throw Error::in_file(in.path(), in.line(), "no row after @data", "one row or more");
  }

  Dataset build(std::shared_ptr<const Vocabulary> vocabulary) && {
    if (without_labels_ > 0) data_.notes["instances without labels"] = without_labels_;
    set_rows(data_, std::move(builder_), std::move(vocabulary));
    return std::move(data_);
  }

 private:
  void add(const LineReader& in, std::size_t attribute, std::string_view text) {
    const Attribute& of = columns_.attributes[attribute];
    double value = 0.0;
    if (!parse_real(text, value) || (of.binary && value != 0.0 && value != 1.0))
      in.fail(fmt::format("value {} of attribute {}", in_quotes(text), in_quotes(of.name)),
              of.binary ? "0 or 1" : "a finite number");
    if (!columns_.label[attribute])
      builder_.add(columns_.feature[attribute], value);
    else if (value == 1.0)
      on_.push_back(*columns_.label[attribute]);
  }

  void read_sparse(const LineReader& in, std::string_view line) {
    if (line.back() != '}') in.fail("a sparse row without '}' at its end", "{NUMBER VALUE,...}");
    std::string_view rest = trim(line.substr(1, line.size() - 2), kBlanks);
    std::int64_t last = -1;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view entry = trim(rest.substr(0, comma), kBlanks);
      const std::size_t blank = std::min(entry.find_first_of(kBlanks), entry.size());
      std::int64_t number = 0;
      if (!parse_integer(entry.substr(0, blank), number) || blank == entry.size())
        in.fail(in_quotes(entry), "NUMBER VALUE");
      if (number < 0 || number >= static_cast<std::int64_t>(columns_.attributes.size()))
        in.fail(fmt::format("attribute number {}", number),
                fmt::format("0 to {}", columns_.attributes.size() - 1));
      if (number <= last)
        in.fail(fmt::format("attribute number {} after {}", number, last), "ascending numbers, each once");
      last = number;
      add(in, static_cast<std::size_t>(number), trim(entry.substr(blank), kBlanks));
      if (comma + 1 == rest.size()) in.fail("a comma before '}'", "NUMBER VALUE after each comma");
      rest = trim(rest.substr(std::min(comma + 1, rest.size())), kBlanks);
    }
  }

  void read_dense(const LineReader& in, std::string_view line) {
    const auto values = static_cast<std::size_t>(std::ranges::count(line, ',')) + 1;
    if (values != columns_.attributes.size())
      in.fail(fmt::format("{} values", values),
              fmt::format("{}, one an attribute", columns_.attributes.size()));
    for (std::size_t attribute = 0; attribute < values; ++attribute) {
      const std::size_t comma = std::min(line.find(','), line.size());
      add(in, attribute, trim(line.substr(0, comma), kBlanks));
      line.remove_prefix(std::min(comma + 1, line.size()));
    }
  }

  void end_row() {
    if (bias_ > 0.0) builder_.add(0, bias_);
    builder_.end_position();
    std::sort(on_.begin(), on_.end());
    without_labels_ += on_.empty();
    data_.on.add(on_);
    on_.clear();
    data_.gold.push_back(kNoOutput);
    data_.begin.push_back(static_cast<Index>(data_.gold.size()));
  }

  const Columns& columns_;
  double bias_;
  Dataset data_;
  DesignMatrix::Builder builder_;
  std::vector<Index> on_;
  std::uint64_t without_labels_ = 0;
};

std::vector<std::string> label_names(const std::string& path, const std::vector<Attribute>& attributes,
                                     const Options& options) {
  const std::int64_t count = options.integer("label_count");
  const bool by_file = !options.string("labels").empty();
  if (by_file == (count != 0))
    throw Error::usage(fmt::format("format arff: found {} labels and label_count, expected one of them",
                                   by_file ? "both" : "neither"));
  if (by_file) return read_label_names(option_lines(options, "labels"));
  const auto n = static_cast<std::size_t>(std::abs(count));
  if (n >= attributes.size())
    throw Error::in_file(path, 0, fmt::format("{} attributes", attributes.size()),
                         fmt::format("more than label_count = {}", count));
  std::vector<std::string> out;
  for (std::size_t i = 0; i < n; ++i)
    out.push_back(attributes[count > 0 ? attributes.size() - n + i : i].name);
  return out;
}

void require_same(const std::string& path, const std::vector<Attribute>& found, const Columns& expected) {
  const auto& known = expected.attributes;
  if (found.size() != known.size())
    throw Error::in_file(path, 0, fmt::format("{} attributes", found.size()),
                         fmt::format("{}, as in the first training file", known.size()));
  for (std::size_t i = 0; i < known.size(); ++i)
    if (!(found[i] == known[i]))
      throw Error::in_file(
          path, 0,
          fmt::format("attribute {}, {}", in_quotes(found[i].name), found[i].binary ? "{0,1}" : "numeric"),
          fmt::format("{}, {}, as in the first training file", in_quotes(known[i].name),
                      known[i].binary ? "{0,1}" : "numeric"));
}

DataPair read_arff(const DataFiles& files, const Options& options) {
  require_training_files(files, "arff");
  const double bias = options.real("bias");
  std::optional<Columns> columns;
  const auto read = [&](const std::vector<std::string>& paths) {
    std::optional<Rows> rows;
    for (const std::string& path : paths) {
      LineReader in(path);
      std::vector<Attribute> attributes = read_header(in);
      if (columns) {
        require_same(path, attributes, *columns);
      } else {
        std::vector<std::string> labels = label_names(path, attributes, options);
        columns = make_columns(path, std::move(attributes), std::move(labels), bias);
      }
      if (!rows) rows.emplace(*columns, bias);
      rows->read(in);
    }
    if (!rows) rows.emplace(*columns, bias);
    return std::move(*rows);
  };
  Rows train = read(files.train), test = read(files.test);
  const auto vocabulary = std::make_shared<const Vocabulary>(columns->names);
  DataPair out;
  out.oracle = "labels";
  out.train = std::move(train).build(vocabulary);
  out.test = std::move(test).build(vocabulary);
  describe(files, out, [](const Dataset& set) {
    return fmt::format("{} instances, {} features, {} labels, {:.3g} on", set.instances(), set.x.features(),
                       set.outputs(),
                       static_cast<double>(set.on.label.size()) / static_cast<double>(set.instances()));
  });
  return out;
}

/// The text with the five entities of XML replaced.
std::string without_entities(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
  std::string out;
  while (!text.empty()) {
    std::size_t taken = 1;
    char c = text.front();
    for (const auto& [entity, meaning] : kEntities)
      if (text.starts_with(entity)) {
        taken = entity.size();
        c = meaning;
      }
    out += c;
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace

std::vector<std::string> read_label_names(LineReader in) {
  constexpr const char* kLabel = "<label name=\"...\">, each name once";
  constexpr std::string_view kElement = "<label", kName = "name=";
  NameIndex names;
  for (std::string_view line; in.next(line);) {
    for (std::size_t at = 0; (at = line.find(kElement, at)) != line.npos;) {
      at += kElement.size();
      if (at < line.size() && line[at] == 's') continue;  // the root, <labels>
      const std::string_view element = line.substr(at, std::min(line.find('>', at), line.size()) - at);
      const std::size_t name = element.find(kName), open = name + kName.size();
      if (name == element.npos || open >= element.size() || (element[open] != '"' && element[open] != '\''))
        in.fail("a label without a name", kLabel);
      const std::size_t close = element.find(element[open], open + 1);
      if (close == element.npos) in.fail("a name without its closing quote", kLabel);
      const std::string text = without_entities(element.substr(open + 1, close - open - 1));
      if (names.find(text)) in.fail(fmt::format("label {} a second time", in_quotes(text)), kLabel);
      names.intern(text);
    }
  }
  if (names.names().empty()) throw Error::in_file(in.path(), 0, "no label", kLabel);
  return names.names();
}

DataFormatInfo arff_format() {
  DataFormatInfo info;
  info.name = "arff";
  info.help = "Mulan's ARFF: multi-label data, dense or sparse rows, with the XML list of labels";
  info.source = "Weka's ARFF as Mulan uses it, mulan.sourceforge.net";
  OptionSpec labels{"labels", OptionType::kString, "", "the XML file that names the labels"};
  labels.file = true;
  info.options = {
      labels,
      {"label_count", OptionType::kInt, "0",
       "in its place: how many of the last attributes are labels; negative: of the first", -1e6, 1e6},
      {"bias", OptionType::kReal, "1", "value of one more feature, the bias; 0: none", 0}};
  info.read = read_arff;
  return info;
}

}  // namespace proxbench
