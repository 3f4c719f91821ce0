#include "experiments/data/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/files.h"
#include "experiments/base/text.h"
#include "experiments/data/model_lines.h"

namespace proxbench {
namespace {

/// One position of a data set, with the target's names or numbers.
struct Position {
  std::string_view label;
  std::vector<std::string_view> features;
  std::vector<double> values;  ///< empty: all are 1
};

/// How a target writes a data set.
struct Target {
  TargetFormat format;
  bool values = false;            ///< values other than 1 are possible
  bool blanks = false;            ///< names may contain blanks
  bool documents = false;         ///< each line is an instance of one position; no empty lines
  std::int64_t first_number = 0;  ///< number of the first feature, if numbered
  std::string (*written)(const std::string& name) = nullptr;  ///< writes a name; null: unchanged
  void (*write)(const Position& position, std::string& line) = nullptr;
  std::string (*template_text)(const Dataset& data) = nullptr;  ///< null: no template
};

[[noreturn]] void refuse(const Target& target, const std::string& found, const std::string& expected) {
  throw Error(
      fmt::format("{} cannot hold these data: found {}, expected {}", target.format.name, found, expected),
      ErrorKind::kInput);
}

std::string crfsuite_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

void write_crfsuite(const Position& position, std::string& line) {
  line += position.label;
  for (std::size_t e = 0; e < position.features.size(); ++e) {
    (line += '\t') += position.features[e];
    if (!position.values.empty() && position.values[e] != 1.0)
      (line += ':') += shortest_text(position.values[e]);
  }
}

void write_wapiti(const Position& position, std::string& line) {
  for (const std::string_view feature : position.features) ((line += 'u') += feature) += ' ';
  (line += "b ") += position.label;
}

void write_columns(const Position& position, std::string& line) {
  for (const std::string_view feature : position.features) (line += feature) += ' ';
  line += position.label;
}

/// Writes a position for libsvm and crfsparse.
void write_numbered(const Position& position, std::string& line) {
  line += position.label;
  for (std::size_t e = 0; e < position.features.size(); ++e) {
    ((line += ' ') += position.features[e]) += ':';
    line += position.values.empty() ? "1" : shortest_text(position.values[e]);
  }
}

/// The name of a feature is `U` and the text of a column, regardless of the column's number.
std::string columns_template(const Dataset& data) {
  std::string out;
  for (std::size_t c = 0; c < data.x.row(0).size(); ++c) out += fmt::format("U%x[0,{}]\n", c);
  return out + "B\n";
}

std::string labels_template(const Dataset& data) {
  return fmt::format("label:\n{}\nunigram:\n0\nbigram:\n", fmt::join(data.vocabulary->outputs, " "));
}

const std::vector<Target>& targets() {
  static const std::vector<Target> all{
      {.format = {"crfsuite", "CRFsuite: label TAB attribute[:value] TAB ...", false},
       .values = true,
       .blanks = true,
       .written = crfsuite_name,
       .write = write_crfsuite},
      {.format = {"wapiti", "Wapiti without patterns: uNAME uNAME ... b label", false},
       .write = write_wapiti},
      {.format = {"crf++", "CRF++: columns, and the template FILE.template", false},
       .write = write_columns,
       .template_text = columns_template},
      {.format = {"crfsparse", "CRFSparse: label number:value ..., and its template FILE.template", true},
       .values = true,
       .write = write_numbered,
       .template_text = labels_template},
      {.format = {"libsvm", "LIBSVM and LIBLINEAR: label number:value ...", true},
       .values = true,
       .documents = true,
       .first_number = 1,
       .write = write_numbered}};
  return all;
}

const Target& target_named(const std::string& name) {
  std::vector<std::string> known;
  for (const Target& target : targets()) known.push_back(target.format.name);
  require_known("--to", name, known);
  return *std::ranges::find(targets(), name, [](const Target& target) { return target.format.name; });
}

void check_structure(const Target& target, const Dataset& data) {
  if (data.hierarchy != nullptr) refuse(target, "labels in a hierarchy", "labels without one");
  if (!data.quality.empty()) refuse(target, "candidates in groups", "a label at each position");
  if (!data.on.empty()) refuse(target, "sets of labels", "one label at each position");
  if (target.documents && data.instances() != data.positions())
    refuse(target, fmt::format("sequences: {} positions in {} instances", data.positions(), data.instances()),
           "instances of one position");
}

/// Returns the names as written in the file.
std::vector<std::string> written_names(const Target& target, const std::vector<std::string>& names,
                                       const char* what) {
  const std::string_view forbidden = target.blanks ? "\t\n\r" : " \t\n\r\v\f";
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (trim(name).empty() || name.find_first_of(forbidden) != name.npos)
      refuse(target, fmt::format("{} {}", what, in_quotes(name)),
             target.blanks ? "a name without TAB and line end" : "a name without blanks");
    out.push_back(target.written != nullptr ? target.written(name) : name);
  }
  return out;
}

/// Returns numbers as text: the names themselves if all are integers that ascend from at least `first`;
/// otherwise first, first + 1, ...
std::vector<std::string> numbers_of(const std::vector<std::string>& names, std::int64_t first) {
  std::int64_t last = first - 1, number = 0;
  const bool are_numbers = std::ranges::all_of(names, [&](const std::string& name) {
    const bool ascends = parse_integer(name, number) && number > last && std::to_string(number) == name;
    last = number;
    return ascends;
  });
  if (are_numbers) return names;
  std::vector<std::string> out;
  for (std::size_t j = 0; j < names.size(); ++j)
    out.push_back(std::to_string(first + static_cast<std::int64_t>(j)));
  return out;
}

/// Checks that crf++ can read a line of this length with this number of columns. Names are checked elsewhere.
void check_columns(const Target& target, const Dataset& data, std::string_view line, Index position) {
  constexpr std::size_t kLongestLine = 8190, kMostColumns = 1023;
  const std::size_t found = data.x.row(position).size(), first = data.x.row(0).size();
  const std::string where = fmt::format("{} features at position {}", found, position + 1);
  if (found != first)
    refuse(target, where, fmt::format("{} as at the first, since a column cannot be empty", first));
  if (found == 0 || found > kMostColumns) refuse(target, where, fmt::format("1 to {}", kMostColumns));
  if (line.size() > kLongestLine)
    refuse(target, fmt::format("a line of {} characters at position {}", line.size(), position + 1),
           fmt::format("{} at most", kLongestLine));
}

class Conversion {
 public:
  Conversion(const Target& target, const Dataset& data) : target_(target), data_(data) {
    check_structure(target, data);
    const Vocabulary& names = *data.vocabulary;
    features_ = target.format.numbered ? numbers_of(names.features, target.first_number)
                                       : written_names(target, names.features, "feature");
    // Labels that are ascending integers from this one on keep their numbers.
    constexpr std::int64_t kAnyNumber = -1'000'000'000;
    labels_ = target.documents ? numbers_of(names.outputs, kAnyNumber)
                               : written_names(target, names.outputs, "label");
    if (target.documents && labels_ != names.outputs) labels_ = numbers_of(names.outputs, 1);
    if (!target.documents && target.blanks)
      for (const std::string& label : names.outputs)
        if (label.starts_with("@weight"))
          refuse(target, "label '" + label + "'", "another, since it is a keyword");
  }

  void write(FileWriter& out) const {
    constexpr std::size_t kBlock = 1 << 20;
    std::string line, block;
    Position position;
    for (std::size_t i = 0; i < data_.instances(); ++i) {
      for (Index p = data_.begin[i]; p < data_.begin[i + 1]; ++p) {
        take(p, position);
        line.clear();
        target_.write(position, line);
        if (target_.template_text == columns_template) check_columns(target_, data_, line, p);
        (block += line) += '\n';
      }
      if (!target_.documents) block += '\n';
      if (block.size() >= kBlock) out.write(std::exchange(block, ""));
    }
    out.write(block);
  }

  std::string names() const {
    std::string out;
    const auto add = [&](const char* kind, const std::vector<std::string>& numbers,
                         const std::vector<std::string>& of) {
      for (std::size_t i = 0; i < of.size(); ++i)
        out += fmt::format("{}\t{}\t{}\n", kind, numbers[i], escaped_name(of[i]));
    };
    add("feature", features_, data_.vocabulary->features);
    if (target_.documents) add("label", labels_, data_.vocabulary->outputs);
    return out;
  }

 private:
  void take(Index p, Position& position) const {
    position.label = labels_[data_.gold[p]];
    position.features.clear();
    for (const Index j : data_.x.row(p)) position.features.push_back(features_[j]);
    position.values = data_.x.row_values(p);
    if (target_.values) return;
    const auto other = std::ranges::find_if(position.values, [](double value) { return value != 1.0; });
    if (other != position.values.end())
      refuse(target_,
             fmt::format(
                 "the value {} of feature {}", *other,
                 in_quotes(position.features[static_cast<std::size_t>(other - position.values.begin())])),
             "1, since its features have no values");
  }

  const Target& target_;
  const Dataset& data_;
  std::vector<std::string> features_, labels_;  ///< names as in the file
};

}  // namespace

const std::vector<TargetFormat>& target_formats() {
  static const std::vector<TargetFormat> all = [] {
    std::vector<TargetFormat> out;
    for (const Target& target : targets()) out.push_back(target.format);
    return out;
  }();
  return all;
}

ConvertedFiles converted_files(const std::string& target_name, const fs::path& file) {
  const Target& target = target_named(target_name);
  ConvertedFiles files{.data = file, .names = {}, .template_file = {}};
  if (target.format.numbered) files.names = file.string() + ".names";
  if (target.template_text != nullptr) files.template_file = file.string() + ".template";
  return files;
}

ConvertedFiles convert(const Dataset& data, const std::string& target_name, const fs::path& file) {
  const Target& target = target_named(target_name);
  const Conversion conversion(target, data);
  const ConvertedFiles files = converted_files(target_name, file);
  FileWriter out(file);
  conversion.write(out);
  out.sync();
  NamedTexts beside;
  if (!files.names.empty()) beside.emplace_back(files.names, conversion.names());
  if (!files.template_file.empty()) beside.emplace_back(files.template_file, target.template_text(data));
  write_files_together(beside);
  out.finish();
  return files;
}

}  // namespace proxbench
