#include "experiments/data/sequences/named_sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/error.h"
#include "core/base/sum.h"
#include "experiments/data/file_parts.h"
#include "experiments/data/files.h"

namespace proxbench {

std::uint32_t NameIndex::hash_of(std::string_view name) {
  const std::uint64_t hash = std::hash<std::string_view>()(name);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::size_t NameIndex::slot_of(std::string_view name, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].number != kFree && (slots_[at].hash != hash || names_[slots_[at].number] != name))
    at = (at + 1) & mask;
  return at;
}

void NameIndex::grow() {
  const std::vector<Slot> old =
      std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(16, 2 * slots_.size())));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number == kFree) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].number != kFree) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

Index NameIndex::intern(std::string_view name) {
  if (2 * names_.size() >= slots_.size()) grow();
  const std::uint32_t hash = hash_of(name);
  Slot& slot = slots_[slot_of(name, hash)];
  if (slot.number == kFree) {
    slot = {hash, static_cast<Index>(names_.size())};
    names_.emplace_back(name);
  }
  return slot.number;
}

std::optional<Index> NameIndex::find(std::string_view name) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[slot_of(name, hash_of(name))];
  return slot.number == kFree ? std::nullopt : std::optional<Index>(slot.number);
}

NamedSequences::NamedSequences(const std::vector<std::string>& labels) {
  for (const std::string& label : labels) own_.labels.intern(label);
}

NamedSequences NamedSequences::test_for(const NamedSequences& train) {
  NamedSequences out;
  out.train_ = &train;
  return out;
}

void NamedSequences::add(std::string_view feature, double value) {
  if (train_ == nullptr) {
    builder_.add(own_.features.intern(feature), value);
  } else if (const auto known = train_->own_.features.find(feature)) {
    builder_.add(*known, value);
  } else {
    ++data_.notes["unknown attributes"];
    unknown_features_.emplace(feature);
  }
}

void NamedSequences::end_position(const LineReader& in, std::string_view label) {
  try {
    builder_.end_position();
  } catch (const Error&) {
    in.fail("a repeated attribute whose values sum to no finite number", "values with finite sums");
  }
  if (train_ == nullptr) {
    data_.gold.push_back(own_.labels.intern(label));
  } else {
    const auto known = train_->own_.labels.find(label);
    if (!known) {
      ++data_.notes["unknown labels"];
      data_.unknown_gold[static_cast<Index>(data_.gold.size())] = label;
    }
    data_.gold.push_back(known.value_or(kUnknownOutput));
  }
}

std::vector<Index> merge_names(NameIndex& names, const Processes& processes) {
  NameIndex merged;
  std::vector<Index> number;
  for (int root = 0; root < processes.count(); ++root) {
    std::string text;
    if (root == processes.rank())
      for (const std::string& name : names.names()) (text += name) += '\n';
    share(&processes, root, text);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const Index of_name = merged.intern(std::string_view(text).substr(at, end - at));
      if (root == processes.rank()) number.push_back(of_name);
      at = end + 1;
    }
  }
  names = std::move(merged);
  return number;
}

void NamedSequences::share(const Processes* processes) {
  if (processes == nullptr) return;
  processes_ = processes;
  builder_.renumber(merge_names(own_.features, *processes));
  const std::vector<Index> label = merge_names(own_.labels, *processes);
  for (Index& gold : data_.gold) gold = label[gold];
  move_to_shares(builder_, data_.gold, data_.begin, *processes);
}

void NamedSequences::read(const FilePart& part, const char* record, const LineUser& use_line) {
  LineReader in(part);
  const std::size_t before = positions();
  for (std::string_view line; in.next(line);) use_line(in, line);
  use_line(in, "");
  if (positions() == before && part.whole()) in.fail_empty(record);
}

void NamedSequences::end_sequence() {
  if (data_.gold.size() > data_.begin.back()) data_.begin.push_back(static_cast<Index>(data_.gold.size()));
}

std::shared_ptr<const Vocabulary> NamedSequences::make_vocabulary() const {
  return std::make_shared<Vocabulary>(Vocabulary{own_.features.names(), own_.labels.names()});
}

Dataset NamedSequences::build(std::shared_ptr<const Vocabulary> vocabulary) && {
  if (!unknown_features_.empty()) data_.notes["distinct unknown attributes"] = unknown_features_.size();
  set_rows(data_, std::move(builder_), std::move(vocabulary), processes_);
  return std::move(data_);
}

namespace {

/// Drops the features that occur at fewer positions of the training set.
void drop_rare_features(DataPair& data, std::size_t min_count, const Processes* processes) {
  auto vocabulary = std::make_shared<Vocabulary>();
  vocabulary->outputs = data.train.vocabulary->outputs;
  std::vector<Index> kept;
  std::uint64_t newly_unknown = 0;
  for (Index feature = 0; feature < data.train.x.features(); ++feature) {
    if (data.train.x.whole_column_size(feature) >= min_count) {
      kept.push_back(feature);
      vocabulary->features.push_back(data.train.vocabulary->features[feature]);
    } else if (data.test.x.column_size(feature) > 0) {
      ++newly_unknown;
    }
  }
  if (kept.empty())
    throw Error::usage(fmt::format("option min_count = {}: no attribute occurs so often", min_count));
  if (const std::size_t rare = data.train.x.features() - kept.size(); rare > 0)
    data.train.notes["rare attributes"] = rare;
  if (newly_unknown > 0) data.test.notes["distinct unknown attributes"] += newly_unknown;
  for (Dataset* set : {&data.train, &data.test}) {
    const std::uint64_t before = set->x.nonzeros();
    set->x = set->x.select_features(kept);
    if (set == &data.test && before > set->x.nonzeros())
      set->notes["unknown attributes"] += before - set->x.nonzeros();
    set->vocabulary = vocabulary;
    set->digest = digest_of(*set, set == &data.train ? processes : nullptr);
  }
}

}  // namespace

DataPair read_sequences(const DataFiles& files, const Options& options, const Processes* processes,
                        NamedSequences train, const SequenceReader& read, std::size_t min_count) {
  for (const FilePart& part : own_parts(files, options, processes)) read(part, train);
  train.share(processes);
  NamedSequences test = NamedSequences::test_for(train);
  for (const std::string& path : files.test) read({path}, test);
  const auto vocabulary = train.make_vocabulary();
  DataPair out;
  out.oracle = "chain";
  out.test = std::move(test).build(vocabulary);  // first: it looks names up in the training set
  out.train = std::move(train).build(vocabulary);
  if (min_count > 1) drop_rare_features(out, min_count, processes);
  describe(files, out, [&](const Dataset& data) {
    const Parallel all(1, Backend::kOpenMP, &data == &out.train ? processes : nullptr);
    return fmt::format("{} sequences, {} positions", whole_count(all, data.instances()),
                       data.x.whole_positions());
  });
  return out;
}

}  // namespace proxbench
