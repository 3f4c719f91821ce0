/// Multi-label data in Mulan's format: ARFF (Weka's attribute-relation file format), and an XML file that
/// determines which attributes are labels.
///
///     @relation NAME
///     @attribute NAME {0,1}            or numeric, real, integer; names may stand in quotes
///     @attribute NAME {FALSE,TRUE}     or {no,yes}, {n,y}, {f,t}, in any case; values may stand in quotes
///     @data
///     0,1,2.5,...                      dense: a value for each attribute
///     {3 1,17 2.5,...}                 sparse: NUMBER VALUE, ascending; attributes are numbered from 0, and
///                                      those that are not listed are 0
///
/// % begins a comment, also behind other text. Keywords are in any case. Empty lines are skipped. An
/// attribute's values may continue on the next lines. Labels must have two values. Each row is an instance of
/// one position for the oracle `labels`. The other attributes are the features, in their order. All files
/// have the same attributes.
///
/// MEKA writes the number of labels into the header: `@relation 'NAME: -C 6'` means the first 6 attributes,
/// and -6 the last 6. The header counts if neither an XML file nor `label_count` is given.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/data/documents/documents.h"

namespace proxbench {
namespace {

constexpr const char* kAttribute = "@attribute NAME {0,1}, or numeric, real or integer";

/// Returns the line up to a comment. A % in quotes begins none.
std::string_view without_comment_at_end(std::string_view line) {
  if (line.find('%') == line.npos) return line;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\0')
      ++i;
    else if (quote != '\0')
      quote = c == quote ? '\0' : quote;
    else if (c == '%')
      return line.substr(0, i);
    else if (c == '\'' || c == '"')
      quote = c;
  }
  return line;
}

/// Finds the next line that contains more than blanks and comments, and removes these.
bool next_line(LineReader& in, std::string_view& line) {
  while (in.next(line)) {
    line = trim(without_comment_at_end(line), kBlanks);
    if (!line.empty()) return true;
  }
  return false;
}

/// Removes a name, in quotes or up to a blank, from the front and returns it.
std::string take_name(const LineReader& in, std::string_view& text) {
  const char quote = text.empty() ? ' ' : text.front();
  if (quote != '\'' && quote != '"') {
    const std::size_t end = std::min(text.find_first_of(" \t{"), text.size());
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

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  to_lowercase(out);
  return out;
}

/// The texts that mean "off" and "on", in lower case.
struct Binary {
  std::string_view off, on;
};
constexpr Binary kBinary[] = {{"0", "1"}, {"false", "true"}, {"no", "yes"}, {"n", "y"}, {"f", "t"}};

struct Attribute {
  std::string name;
  std::string type = {};           ///< "numeric", or two values, such as "{0,1}"
  const Binary* binary = nullptr;  ///< null: numeric
  bool on_first = false;           ///< whether the first of the two values means on
  bool label = false;              ///< otherwise a feature
  Index number = 0;                ///< number of the label or feature

  /// The number that a text means: 0 or 1 if the attribute is binary. Words may have any case.
  std::optional<double> value(std::string_view text) const {
    double out = 0.0;
    if (binary != nullptr && binary != kBinary)
      out = binary->on == in_lower_case(text) ? 1.0 : binary->off == in_lower_case(text) ? 0.0 : kNaN;
    else if (!parse_real(text, out))
      return std::nullopt;
    return binary == nullptr || out == 0.0 || out == 1.0 ? std::optional(out) : std::nullopt;
  }
};

std::string_view without_quotes(std::string_view text) {
  const bool quoted =
      text.size() > 1 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

/// Removes the text up to the next comma from the front and returns it.
std::string_view take_field(std::string_view& text) {
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::string_view field = trim(text.substr(0, comma), kBlanks);
  text.remove_prefix(std::min(comma + 1, text.size()));
  return field;
}

/// Parses the text after @attribute. If it is incomplete, it continues on the next lines.
Attribute parse_attribute(LineReader& in, std::string text) {
  std::string_view rest = text;
  Attribute out{take_name(in, rest)};
  if (out.name.empty()) in.fail("an attribute without a name", kAttribute);
  std::string type(rest);
  for (std::string_view line;
       (type.empty() || (type.front() == '{' && type.back() != '}')) && next_line(in, line);)
    type += line;
  out.type = in_lower_case(type);
  std::erase_if(out.type,
                [](char c) { return std::string_view(" \t'\"").find(c) != std::string_view::npos; });
  if (out.type == "numeric" || out.type == "real" || out.type == "integer") {
    out.type = "numeric";
    return out;
  }
  for (const Binary& one : kBinary) {
    out.on_first = out.type == fmt::format("{{{},{}}}", one.on, one.off);
    if (out.on_first || out.type == fmt::format("{{{},{}}}", one.off, one.on)) {
      out.binary = &one;
      return out;
    }
  }
  in.fail(fmt::format("type {} of attribute {}", in_quotes(type), in_quotes(out.name)),
          "{0,1}, {FALSE,TRUE}, numeric, real or integer");
}

struct Header {
  std::vector<Attribute> attributes;
  std::int64_t meka_labels = 0;  ///< the number after -C in the relation; 0: none
};

/// Returns the number after -C in the name of a relation, or 0.
std::int64_t meka_labels(std::string_view relation) {
  for (std::string_view word = take_word(relation); !word.empty(); word = take_word(relation))
    if (word == "-C") {
      const std::string_view number = take_word(relation);
      std::int64_t out = 0;
      parse_integer(number.substr(0, number.find_first_of("'\"")), out);
      return out;
    }
  return 0;
}

/// Reads all lines up to and including @data.
Header read_header(LineReader& in) {
  Header header;
  std::vector<Attribute>& out = header.attributes;
  NameIndex names;
  for (std::string_view line; next_line(in, line);) {
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    const std::string keyword = in_lower_case(line.substr(0, end));
    if (keyword == "@relation") {
      header.meka_labels = meka_labels(line.substr(end));
      continue;
    }
    if (keyword == "@data") {
      if (out.empty()) in.fail("@data before any attribute", kAttribute);
      return header;
    }
    if (keyword != "@attribute") in.fail(in_quotes(line), "@relation, @attribute or @data");
    out.push_back(parse_attribute(in, std::string(trim(line.substr(end), kBlanks))));
    if (names.intern(out.back().name) + std::size_t{1} != out.size())
      in.fail(fmt::format("attribute {} a second time", in_quotes(out.back().name)), "each name once");
  }
  throw Error::in_file(in.path(), in.line(), "no line @data", "it after the attributes");
}

std::vector<std::string> label_names(const std::string& path, const Header& header, const Options& options) {
  const std::vector<Attribute>& attributes = header.attributes;
  const bool by_file = !options.string("labels").empty();
  std::int64_t count = options.integer("label_count");
  if (count == 0 && !by_file) count = -header.meka_labels;  // MEKA counts the first ones as positive
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

/// Reads files. All must have the attributes of the first one.
class ArffReader {
 public:
  explicit ArffReader(const Options& options) : options_(options), bias_(options.real("bias")) {}

  void read(const FilePart& part, NamedSequences& out) {
    LineReader in(part);
    Header header = read_header(in);
    if (attributes_.empty())
      number_attributes(in.path(), std::move(header), out.names);
    else
      require_same(in.path(), header.attributes);
    const std::size_t before = out.data.positions();
    for (std::string_view line; next_line(in, line);) read_row(in, line, out);
    if (out.data.positions() == before)
      throw Error::in_file(in.path(), in.line(), "no row after @data", "one row or more");
  }

 private:
  void number_attributes(const std::string& path, Header header, NamedSequences::Names& names) {
    std::vector<Attribute>& attributes = header.attributes;
    for (const std::string& name : label_names(path, header, options_)) names.labels.intern(name);
    if (bias_ > 0.0) names.features.intern(kBias);
    std::vector<bool> found(names.labels.names().size());
    for (Attribute& attribute : attributes) {
      const std::optional<Index> label = names.labels.find(attribute.name);
      attribute.label = label.has_value();
      if (label && attribute.binary == nullptr)
        throw Error::in_file(path, 0, fmt::format("label {} of a numeric type", in_quotes(attribute.name)),
                             "{0,1} or {FALSE,TRUE}");
      if (!label && bias_ > 0.0 && attribute.name == kBias)
        throw Error::in_file(path, 0, "attribute 'bias' beside the bias", "another name, or bias = 0");
      attribute.number = label ? *label : names.features.intern(attribute.name);
      if (label) found[*label] = true;
      if (attribute.on_first) on_first_ = attribute.name;
    }
    for (std::size_t k = 0; k < found.size(); ++k)
      if (!found[k])
        throw Error::in_file(path, 0,
                             fmt::format("no attribute for label {}", in_quotes(names.labels.names()[k])),
                             "one for each label");
    if (names.features.names().empty())
      throw Error::in_file(path, 0, "labels only", "attributes that are features");
    attributes_ = std::move(attributes);
  }

  void require_same(const std::string& path, const std::vector<Attribute>& found) const {
    const auto fail = [&](const std::string& what, const std::string& expected) {
      throw Error::in_file(path, 0, what, expected + ", as in the first training file");
    };
    if (found.size() != attributes_.size())
      fail(fmt::format("{} attributes", found.size()), std::to_string(attributes_.size()));
    for (std::size_t i = 0; i < found.size(); ++i)
      if (const Attribute& a = found[i], &known = attributes_[i];
          a.name != known.name || a.type != known.type)
        fail(fmt::format("attribute {}, {}", in_quotes(a.name), a.type),
             fmt::format("{}, {}", in_quotes(known.name), known.type));
  }

  void read_row(const LineReader& in, std::string_view line, NamedSequences& out) {
    on_.clear();
    if (bias_ > 0.0) out.rows.add(0, bias_);
    if (line.front() == '{')
      read_sparse(in, line, out);
    else
      read_dense(in, line, out);
    out.end_row(in);
    std::sort(on_.begin(), on_.end());
    if (on_.empty()) ++out.data.notes["instances without labels"];
    out.data.on.add(on_);
    out.data.gold.push_back(kNoOutput);
    out.end_sequence();
  }

  void add(const LineReader& in, std::size_t attribute, std::string_view text, NamedSequences& out) {
    const Attribute& of = attributes_[attribute];
    const std::optional<double> value = of.value(without_quotes(text));
    if (!value)
      in.fail(
          fmt::format("value {} of attribute {}", in_quotes(without_quotes(text)), in_quotes(of.name)),
          of.binary == nullptr ? "a finite number" : fmt::format("{} or {}", of.binary->off, of.binary->on));
    if (!of.label)
      out.rows.add(of.number, *value);
    else if (*value == 1.0)
      on_.push_back(of.number);
  }

  void read_sparse(const LineReader& in, std::string_view line, NamedSequences& out) {
    if (line.back() != '}') in.fail("a sparse row without '}' at its end", "{NUMBER VALUE,...}");
    if (!on_first_.empty())
      in.fail(
          fmt::format("a sparse row, though the first value of attribute {} means on", in_quotes(on_first_)),
          "{0,1} or {FALSE,TRUE}, since values left out are the first ones");
    std::string_view rest = trim(line.substr(1, line.size() - 2), kBlanks);
    if (rest.ends_with(',')) in.fail("a comma before '}'", "NUMBER VALUE after each comma");
    std::int64_t last = -1;
    while (!rest.empty()) {
      const std::string_view entry = take_field(rest);
      const std::size_t blank = std::min(entry.find_first_of(kBlanks), entry.size());
      std::int64_t number = 0;
      if (!parse_integer(entry.substr(0, blank), number) || blank == entry.size())
        in.fail(in_quotes(entry), "NUMBER VALUE");
      if (number < 0 || number >= std::ssize(attributes_))
        in.fail(fmt::format("attribute number {}", number), fmt::format("0 to {}", attributes_.size() - 1));
      if (number <= last)
        in.fail(fmt::format("attribute number {} after {}", number, last), "ascending numbers, each once");
      last = number;
      add(in, static_cast<std::size_t>(number), trim(entry.substr(blank), kBlanks), out);
    }
  }

  void read_dense(const LineReader& in, std::string_view line, NamedSequences& out) {
    const auto values = static_cast<std::size_t>(std::ranges::count(line, ',')) + 1;
    if (values != attributes_.size())
      in.fail(fmt::format("{} values", values), fmt::format("{}, one an attribute", attributes_.size()));
    for (std::size_t attribute = 0; attribute < values; ++attribute)
      add(in, attribute, take_field(line), out);
  }

  const Options& options_;
  double bias_;
  std::vector<Attribute> attributes_;  ///< of the first file
  std::vector<Index> on_;              ///< labels of a row
  std::string on_first_;               ///< an attribute whose first value means on; empty: none
};

DataPair read_arff(const DataFiles& files, const Options& options) {
  ArffReader reader(options);
  return read_sequences(files, options, nullptr, NamedSequences(),
                        {.read = [&](const FilePart& part, NamedSequences& out) { reader.read(part, out); },
                         .oracle = "labels",
                         .instances = "instances",
                         .describe =
                             [](const Dataset& set) {
                               return fmt::format("{} features, {} labels, {:.3g} on", set.x.features(),
                                                  set.outputs(),
                                                  static_cast<double>(set.on.label.size()) /
                                                      static_cast<double>(set.instances()));
                             }});
}

/// Replaces the five entities of XML by their characters.
std::string without_entities(std::string_view text) {
  static constexpr std::pair<std::string_view, char> kEntities[] = {
      {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}};
  std::string out(text);
  for (const auto& [entity, meaning] : kEntities)
    for (std::size_t at = 0; (at = out.find(entity, at)) != out.npos; ++at)
      out.replace(at, entity.size(), 1, meaning);
  return out;
}

/// Returns the name of a label from the attributes of its element in XML. Calls fail() if there is none.
template <class Fail>
std::string name_of_label(std::string_view attributes, const Fail& fail) {
  constexpr std::string_view kSpace = " \t\n";
  for (;;) {
    const std::size_t equals = attributes.find('=');
    const std::string_view key = trim(attributes.substr(0, equals), kSpace);
    if (equals == attributes.npos) fail("a label without a name");
    attributes = trim(attributes.substr(equals + 1), kSpace);
    if (!attributes.starts_with('"') && !attributes.starts_with('\'')) fail("a label without a name");
    const std::size_t close = attributes.find(attributes.front(), 1);
    if (close == attributes.npos) fail("a name without its closing quote");
    if (key == "name") return without_entities(attributes.substr(1, close - 1));
    attributes.remove_prefix(close + 1);
  }
}

}  // namespace

std::vector<std::string> read_label_names(LineReader in) {
  constexpr const char* kLabel = "<label name=\"...\">, each name once";
  constexpr std::string_view kElement = "<label";
  std::string text;
  for (std::string_view line; in.next(line);) (text += line) += '\n';
  NameIndex names;
  for (std::size_t at = 0; (at = text.find('<', at)) != text.npos;) {
    const auto fail = [&, begin = at](const std::string& found) {
      const auto line = 1 + std::ranges::count(std::string_view(text).substr(0, begin), '\n');
      throw Error::in_file(in.path(), static_cast<std::uint64_t>(line), found, kLabel);
    };
    const std::string_view rest = std::string_view(text).substr(at);
    const std::string_view element = rest.substr(0, rest.find(rest.starts_with("<!--") ? "-->" : ">"));
    at += element.size();
    if (!element.starts_with(kElement) || element.starts_with("<labels")) continue;
    const std::string label = name_of_label(element.substr(kElement.size()), fail);
    if (names.find(label)) fail(fmt::format("label {} a second time", in_quotes(label)));
    names.intern(label);
  }
  if (names.names().empty()) throw Error::in_file(in.path(), 0, "no label", kLabel);
  return names.names();
}

DataFormatInfo arff_format() {
  return with_reader(
      {.name = "arff",
       .help = "Mulan's ARFF: multi-label data, dense or sparse rows, with the XML list of labels",
       .source = "Weka's ARFF as Mulan uses it, mulan.sourceforge.net",
       .options =
           {{.name = "labels",
             .default_value = "",
             .help = "the XML file that names the labels",
             .file = true},
            {"label_count", OptionType::kInt, "0",
             "in its place: how many of the last attributes are labels; negative: of the first; 0: what a "
             "MEKA header says (-C)",
             -1e6, 1e6},
            {"bias", OptionType::kReal, "1", "value of one more feature, the bias; 0: none", 0}},
       .oracle = "labels"},
      read_arff);
}

}  // namespace proxbench
