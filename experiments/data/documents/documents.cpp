#include "experiments/data/documents/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "experiments/data/file_parts.h"
#include "experiments/data/files.h"

namespace proxbench {
namespace {

constexpr std::int64_t kDocumentId = 0;

/// Adds one line's entries to the document being read.
void read_entries(const LineReader& in, std::string_view line, const SparseLineRules& rules, bool keep_id,
                  Documents& out) {
  std::vector<std::int64_t> seen;
  bool has_id = false;
  for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
    const SparseEntry entry = parse_entry(in, word, rules);
    if (rules.document_id && entry.feature == kDocumentId) {
      if (has_id) in.fail("feature 0 a second time", "it once, as the document's id");
      has_id = true;
      if (keep_id) out.extra.push_back(entry.value);
      continue;
    }
    seen.push_back(entry.feature);
    if (entry.value == 0.0) {
      ++out.zero_values;
    } else {
      out.entries.push_back(entry);
    }
  }
  if (keep_id && !has_id) in.fail("no document id", "a field 0:<document id> (it is kept as a feature)");
  std::sort(seen.begin(), seen.end());
  if (const auto twice = std::adjacent_find(seen.begin(), seen.end()); twice != seen.end())
    in.fail(fmt::format("feature {} a second time", *twice), "each feature once a line");
}

void read_document_file(const FilePart& part, const SparseLineRules& rules, const OutputOfLabel& output_of,
                        bool keep_id, Documents& out) {
  LineReader in(part);
  const std::size_t before = out.size();
  std::string_view line;
  while (in.next(line)) {
    const std::string_view label = take_word(line);
    if (label.empty()) continue;
    if (label.find(':') != std::string_view::npos)
      in.fail(in_quotes(label) + " in place of the label", rules.line);
    const Index output = output_of(in, label);
    read_entries(in, line, rules, keep_id, out);
    out.end_document(output);
  }
  if (out.size() == before && part.whole()) in.fail_empty(rules.line);
}

/// Moves and divides so that the training values of all processes lie in [0, 1]; where they are all equal, to
/// 0.
void scale_to_unit_range(std::vector<double>& train, std::vector<double>& test, const Processes* processes) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : train) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  if (processes != nullptr) {
    low = std::ranges::min(processes->gather(low));
    high = std::ranges::max(processes->gather(high));
  }
  const double range = high - low;
  for (auto* values : {&train, &test})
    for (double& value : *values) value = range > 0.0 ? (value - low) / range : 0.0;
}

Parallel one_thread(const Processes* processes) {
  return Parallel(1, Backend::kOpenMP, processes);
}

/// The ids of all processes, ascending, each once, as each of them has its own.
void unite(std::vector<std::int64_t>& ids, const Processes& processes) {
  std::vector<std::int64_t> all, merged;
  for (int root = 0; root < processes.count(); ++root) {
    std::vector<std::int64_t> of_root;
    if (root == processes.rank()) of_root = ids;
    share(&processes, root, of_root);
    merged.clear();
    std::ranges::set_union(all, of_root, std::back_inserter(merged));
    all.swap(merged);
  }
  ids = std::move(all);
}

Dataset build(Documents documents, const FeatureTable& features, const DocumentOutputs& outputs,
              Index extra_features, std::shared_ptr<const Vocabulary> vocabulary,
              const Processes* processes) {
  Dataset out;
  DesignMatrix::Builder x;
  std::unordered_set<std::int64_t> unknown;
  std::uint64_t unknown_entries = 0, featureless = 0;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (extra_features > 0) x.add(0, documents.extra[i]);
    bool any = false;
    for (std::size_t e = documents.begin[i]; e < documents.begin[i + 1]; ++e) {
      const SparseEntry& entry = documents.entries[e];
      if (const auto feature = features.find(entry.feature)) {
        x.add(extra_features + *feature, features.scaled(*feature, entry.value));
        any = true;
      } else {
        ++unknown_entries;
        unknown.insert(entry.feature);
      }
    }
    x.end_position();
    featureless += !any;
    out.begin.push_back(static_cast<Index>(i + 1));
  }
  out.gold = std::move(documents.gold);
  const std::uint64_t zero_values = documents.zero_values;
  documents = {};  // the rows hold it all
  if (processes != nullptr) move_to_shares(x, out.gold, out.begin, *processes);
  out.hierarchy = outputs.hierarchy;
  const auto note = [&](const char* what, std::uint64_t own) {
    if (const std::size_t count = whole_count(one_thread(processes), own); count > 0) out.notes[what] = count;
  };
  note("unknown attributes", unknown_entries);
  note("distinct unknown attributes", unknown.size());
  note("unknown labels",
       static_cast<std::uint64_t>(std::count(out.gold.begin(), out.gold.end(), kUnknownOutput)));
  note("zero values", zero_values);
  note("documents without features", featureless);
  set_rows(out, std::move(x), std::move(vocabulary), processes);
  return out;
}

}  // namespace

void Documents::end_document(Index output) {
  begin.push_back(entries.size());
  gold.push_back(output);
}

Documents read_documents(const std::vector<FilePart>& parts, const SparseLineRules& rules,
                         const OutputOfLabel& output_of, bool keep_id) {
  Documents out;
  for (const FilePart& part : parts) read_document_file(part, rules, output_of, keep_id, out);
  return out;
}

OptionSpec value_scale_option(const std::string& default_value) {
  OptionSpec spec{
      "scale", OptionType::kString, default_value,
      "max: each feature's values are divided by its largest absolute one in the training set, in test "
      "data as well; none: values as they are"};
  spec.choices = {"max", "none"};
  return spec;
}

ValueScale value_scale(const Options& options) {
  return options.string("scale") == "max" ? ValueScale::kMax : ValueScale::kNone;
}

FeatureTable::FeatureTable(const Documents& train, ValueScale scale, const Processes* processes) {
  ids_.reserve(train.entries.size());
  for (const SparseEntry& entry : train.entries) ids_.push_back(entry.feature);
  std::sort(ids_.begin(), ids_.end());
  ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  if (processes != nullptr) unite(ids_, *processes);
  ids_.shrink_to_fit();
  if (ids_.size() >= std::numeric_limits<Index>::max())
    throw Error(fmt::format("{} features, expected fewer than 2^32 - 1", ids_.size()), ErrorKind::kInput);
  if (scale == ValueScale::kNone) return;
  divisor_.assign(ids_.size(), 0.0);
  for (const SparseEntry& entry : train.entries) {
    double& largest = divisor_[*find(entry.feature)];
    largest = std::max(largest, std::abs(entry.value));
  }
  if (processes == nullptr) return;
  const std::vector<double> own = divisor_;
  const InOrder in_order(one_thread(processes));
  in_order.add(std::span(divisor_), [&] {
    for (std::size_t j = 0; j < own.size(); ++j) divisor_[j] = std::max(divisor_[j], own[j]);
  });
  in_order.hand_back(std::span(divisor_));
}

std::optional<Index> FeatureTable::find(std::int64_t id) const {
  const auto at = std::lower_bound(ids_.begin(), ids_.end(), id);
  if (at == ids_.end() || *at != id) return std::nullopt;
  return static_cast<Index>(at - ids_.begin());
}

void require_features(const Documents& train, const std::vector<std::string>& paths,
                      const Processes* processes) {
  if (whole_count(one_thread(processes), train.entries.size()) == 0)
    throw Error::in_file(paths.back(), 0, "no feature in any training document", "some features to train on");
}

Documents read_test_documents(const std::vector<std::string>& paths, const FeatureTable& features,
                              const std::function<Documents(const std::vector<FilePart>&)>& read) {
  Documents all;
  for (const std::string& path : paths) {
    const Documents one = read({FilePart{path}});
    if (std::none_of(one.entries.begin(), one.entries.end(),
                     [&](const SparseEntry& entry) { return features.find(entry.feature).has_value(); }))
      throw Error::in_file(path, 0, "no feature that the training data have",
                           "test data for the same features");
    const std::size_t before = all.entries.size();
    all.entries.insert(all.entries.end(), one.entries.begin(), one.entries.end());
    for (std::size_t i = 1; i < one.begin.size(); ++i) all.begin.push_back(before + one.begin[i]);
    all.gold.insert(all.gold.end(), one.gold.begin(), one.gold.end());
    all.extra.insert(all.extra.end(), one.extra.begin(), one.extra.end());
    all.zero_values += one.zero_values;
  }
  return all;
}

DataPair document_data(Documents train, Documents test, const FeatureTable& features,
                       const DocumentOutputs& outputs, const std::string& extra_feature,
                       const Processes* processes) {
  Vocabulary names;
  names.outputs = outputs.names;
  if (!extra_feature.empty()) names.features.push_back(extra_feature);
  const auto extra_features = static_cast<Index>(names.features.size());
  for (const std::int64_t id : features.ids()) names.features.push_back(std::to_string(id));
  const auto vocabulary = std::make_shared<const Vocabulary>(std::move(names));
  DataPair out;
  out.oracle = "tree";
  out.train = build(std::move(train), features, outputs, extra_features, vocabulary, processes);
  out.test = build(std::move(test), features, outputs, extra_features, vocabulary, nullptr);
  return out;
}

void describe_documents(const DataFiles& files, const std::string& how, DataPair& data) {
  describe(files, data, [&](const Dataset& set) {
    return fmt::format("{} documents, {} features, {}", set.x.whole_positions(), set.x.features(), how);
  });
}

DataPair read_hierarchy_documents(const DataFiles& files, const Options& options,
                                  const SparseLineRules& rules, ValueScale scale, bool keep_id,
                                  const Processes* processes) {
  const std::vector<FilePart> parts = own_parts(files, options, processes, FileRecords::kLine);
  const NamedHierarchy tree = read_hierarchy(files.hierarchy);
  const auto read = [&](const std::vector<FilePart>& some) {
    return read_documents(
        some, rules, [&](const LineReader& in, std::string_view label) { return tree.leaf(in, label); },
        keep_id);
  };
  Documents train = read(parts);
  require_features(train, files.train, processes);
  const FeatureTable features(train, scale, processes);
  Documents test = read_test_documents(files.test, features, read);
  if (keep_id) scale_to_unit_range(train.extra, test.extra, processes);
  DataPair out = document_data(std::move(train), std::move(test), features, {tree.names, tree.tree},
                               keep_id ? std::to_string(kDocumentId) : "", processes);
  describe_documents(files,
                     fmt::format("{} nodes of {}{}{}", tree.tree->nodes(), file_names({files.hierarchy}),
                                 scale == ValueScale::kMax ? ", values divided by their maximum" : "",
                                 keep_id ? ", document id kept" : ""),
                     out);
  return out;
}

}  // namespace proxbench
