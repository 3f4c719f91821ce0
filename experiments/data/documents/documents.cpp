#include "experiments/data/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "core/base/sum.h"

namespace proxbench {
namespace {

/// Sorts the labels of a training set if all of them are numbers.
void sort_labels(NamedSequences& train) {
  const auto number = [](const std::string& name) {
    double value = 0.0;
    return parse_real(name, value) ? value : kNaN;
  };
  if (std::ranges::any_of(train.names.labels.names(),
                          [&](const std::string& name) { return std::isnan(number(name)); }))
    return;
  const std::vector<Index> place = sort_names(
      train.names.labels, [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
  for (Index& gold : train.data.gold) gold = place[gold];
}

/// Whether a feature comes before another: the bias first, then by number.
bool is_lower(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& name) {
    return std::tuple(name != kBias, name.size(), std::string_view(name));
  };
  return key(a) < key(b);
}

class DocumentReader {
 public:
  DocumentReader(const DataFiles& files, const DocumentFormat& format, const Processes* processes)
      : files_(files), format_(format), processes_(processes) {
    if (!files.hierarchy.empty()) tree_ = read_hierarchy(files.hierarchy);
  }

  NamedSequences training_set() const {
    return NamedSequences(tree_ ? tree_->names : std::vector<std::string>());
  }

  void read(const FilePart& part, NamedSequences& out) {
    const std::uint64_t before = known_entries_;
    if (format_.divide_by_max) out.largest_value = std::numeric_limits<double>::max();
    std::uint64_t empty = 0;  // lines before the first one that shows whether lines have labels
    out.read(part, format_.rules.line, [&](const LineReader& in, std::string_view line) {
      const std::size_t comment = line.find('#');
      if (comment != line.npos) {
        const std::string_view text = line.substr(0, comment);
        if (comment > 0 && text.find_first_of(kBlanks) == text.npos)
          in.fail("'#' inside the label " + in_quotes(line.substr(0, line.find_first_of(kBlanks))),
                  "a blank before a comment");
        line = text;
      }
      if (trim(line, kBlanks).empty()) {
        empty += comment == line.npos && out.is_test() && out.labelled() != true;
      } else {
        const std::string_view label = take_label(line, out);
        if (!label.empty()) empty = 0;
        add_empty(in, empty, out);
        add_document(in, label, line, out);
      }
      // In text without labels, an empty line is a document without features.
      if (out.labelled() == false) add_empty(in, empty, out);
      return true;
    });
    if (out.is_test() && !out.streams() && known_entries_ == before)
      throw Error::in_file(part.path, 0, "no feature that the training data have",
                           "test data for the same features");
  }

  /// Sorts the names and scales the values.
  void complete(NamedSequences& out) {
    if (tree_) out.data.hierarchy = tree_->tree;
    if (tree_ && out.known().labels.names() != tree_->names)
      throw Error("the model's outputs are not the nodes of the hierarchy given with the data",
                  ErrorKind::kInput);
    if (out.streams()) return;
    if (out.is_test())
      return out.remake_rows([&](DesignMatrix::Builder& rows, Index feature, double value) {
        rows.add(feature, value / divisor_[feature]);
      });
    const Parallel all(1, Backend::kOpenMP, processes_);
    if (whole_count(all, known_entries_) == 0)
      throw Error::in_file(files_.train.back(), 0, "no feature in any training document",
                           "some features to train on");
    lowest_id_ = -whole_max(all, -lowest_id_);
    highest_id_ = whole_max(all, highest_id_);
    if (!tree_) sort_labels(out);
    out.rows.renumber(sort_names(out.names.features, is_lower));
    set_divisors(out);
    out.remake_rows([&](DesignMatrix::Builder& rows, Index feature, double value) {
      rows.add(feature, format_.keep_id && feature == 0 ? in_range(value) : value / divisor_[feature]);
    });
  }

  std::string describe(const Dataset& set) const {
    return fmt::format("{} features, {} {}{}{}{}", set.x.features(), set.outputs(),
                       tree_ ? "nodes of " + file_names({files_.hierarchy}) : "labels",
                       format_.divide_by_max ? ", values divided by their maximum" : "",
                       format_.keep_id ? ", document id kept" : "",
                       format_.bias > 0.0 ? fmt::format(", bias {}", format_.bias) : "");
  }

 private:
  void add_empty(const LineReader& in, std::uint64_t& count, NamedSequences& out) {
    for (; count > 0; --count) add_document(in, "", "", out);
  }

  void add_document(const LineReader& in, std::string_view label, std::string_view line,
                    NamedSequences& out) {
    if (label.find(':') != std::string_view::npos)
      in.fail(in_quotes(label) + " in place of the label", format_.rules.line);
    std::optional<std::string> output;
    if (!label.empty()) output = tree_ ? tree_->names[tree_->leaf(in, label)] : format_.output(in, label);
    if (format_.bias > 0.0) out.add(kBias, format_.bias);
    const std::uint64_t before = known_entries_;
    add_entries(in, line, out);
    if (known_entries_ == before) ++out.data.notes[kFeatureless];
    out.end_position(in, output);
    out.end_sequence();
  }

  void add_entries(const LineReader& in, std::string_view line, NamedSequences& out) {
    bool has_id = false;
    seen_.clear();
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
      const SparseEntry entry = parse_entry(in, word, format_.rules);
      if (format_.rules.document_id && entry.feature == 0) {
        if (has_id) in.fail("feature 0 a second time", "it once, as the document's id");
        has_id = true;
        if (format_.keep_id) add_id(entry, out);
        continue;
      }
      seen_.push_back(entry.feature);
      if (entry.value == 0.0)
        ++out.data.notes[kZeroValues];
      else
        known_entries_ += out.add(entry.name, entry.value);
    }
    if (format_.keep_id && !has_id)
      in.fail("no document id", "a field 0:<document id> (it is kept as a feature)");
    if (!std::ranges::is_sorted(seen_)) std::ranges::sort(seen_);
    if (const auto twice = std::ranges::adjacent_find(seen_); twice != seen_.end())
      in.fail(fmt::format("feature {} a second time", *twice), "each feature once a line");
  }

  /// Scales the ids of test documents before it adds them: rows drop zeros, so an unscaled id of 0 would be
  /// lost.
  void add_id(const SparseEntry& entry, NamedSequences& out) {
    if (!out.is_test()) {
      lowest_id_ = std::min(lowest_id_, entry.value);
      highest_id_ = std::max(highest_id_, entry.value);
    }
    out.add(entry.name, out.is_test() ? in_range(entry.value) : entry.value);
  }
  double in_range(double id) const {
    const double range = highest_id_ - lowest_id_;
    return range > 0.0 ? (id - lowest_id_) / range : 0.0;
  }

  void set_divisors(const NamedSequences& train) {
    divisor_.assign(train.names.features.names().size(), format_.divide_by_max ? 0.0 : 1.0);
    if (!format_.divide_by_max) return;
    const DesignMatrix::Builder& rows = train.rows;
    for (std::size_t p = 0; p < train.data.positions(); ++p)
      for (std::size_t e = 0; e < rows.row(p).size(); ++e) {
        double& largest = divisor_[rows.row(p)[e]];
        largest = std::max(largest, std::abs(rows.value(p, e)));
      }
    for (int root = 0; processes_ != nullptr && root < processes_->count(); ++root) {
      std::vector<double> others = divisor_;
      share(processes_, root, others);
      for (std::size_t j = 0; j < divisor_.size(); ++j) divisor_[j] = std::max(divisor_[j], others[j]);
    }
    if (format_.keep_id || format_.bias > 0.0) divisor_[0] = 1.0;
  }

  const DataFiles& files_;
  const DocumentFormat& format_;
  const Processes* processes_;
  std::optional<NamedHierarchy> tree_;
  std::vector<double> divisor_;  ///< by feature
  double lowest_id_ = kInfinity, highest_id_ = -lowest_id_;
  std::uint64_t known_entries_ = 0;  ///< entries added to either set
  std::vector<std::int64_t> seen_;   ///< the features of a line
};

}  // namespace

std::string_view take_label(std::string_view& line, const NamedSequences& out) {
  std::string_view rest = line;
  const std::string_view label = take_word(rest);
  const bool none =
      out.labels() == TestLabels::kNone || (out.labels() == TestLabels::kIfAny &&
                                            label.find(':') != label.npos && !out.known().labels.find(label));
  if (none) return {};
  line = rest;
  return label;
}

SparseEntry parse_entry(const LineReader& in, std::string_view word, const SparseLineRules& rules) {
  const std::size_t colon = word.find(':');
  if (colon == std::string_view::npos) in.fail(in_quotes(word), "feature:value");
  const std::string_view feature = word.substr(0, colon), value = word.substr(colon + 1);
  SparseEntry out{};
  if (feature == "qid")
    in.fail("qid, the query of a ranking problem",
            "feature:value (--format rerank reads groups of candidates)");
  if (!parse_integer(feature, out.feature) || out.feature < rules.first_feature)
    in.fail("feature " + in_quotes(feature),
            "an integer of at least " + std::to_string(rules.first_feature) + rules.first_feature_hint);
  out.name = feature;
  while (out.name.size() > 1 && (out.name[0] < '1' || out.name[0] > '9')) out.name.remove_prefix(1);
  if (!parse_real(value, out.value) || (out.value < 0.0 && !rules.negative_values))
    in.fail("value " + in_quotes(value) + " of feature " + std::to_string(out.feature),
            rules.negative_values ? "a finite real number" : "a finite real number of at least 0");
  return out;
}

DataPair read_documents(const DataFiles& files, const Options& options, const Processes* processes,
                        const DocumentFormat& format) {
  DocumentReader reader(files, format, processes);
  return read_sequences(files, options, processes, reader.training_set(),
                        {.read = [&](const FilePart& part, NamedSequences& out) { reader.read(part, out); },
                         .complete = [&](NamedSequences& out) { reader.complete(out); },
                         .records = FileRecords::kLine,
                         .oracle = "tree",
                         .instances = "documents",
                         .describe = [&](const Dataset& set) { return reader.describe(set); }});
}

OptionSpec value_scale_option(const std::string& default_value) {
  return {.name = "scale",
          .default_value = default_value,
          .help =
              "max: each feature's values are divided by its largest absolute one in the training set, in "
              "test data as well; none: values as they are",
          .choices = {"max", "none"}};
}

bool divides_by_max(const Options& options) {
  return options.string("scale") == "max";
}

}  // namespace proxbench
