#include "experiments/data/named_sequences.h"

#include <fmt/format.h>

#include <utility>

#include "experiments/data/files.h"

namespace proxbench {

Index NameIndex::intern(std::string_view name) {
  if (const auto known = find(name)) return *known;
  const auto number = static_cast<Index>(names_.size());
  names_.emplace_back(name);
  number_.emplace(name, number);
  return number;
}

std::optional<Index> NameIndex::find(std::string_view name) const {
  const auto at = number_.find(name);
  return at == number_.end() ? std::nullopt : std::optional<Index>(at->second);
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

void NamedSequences::end_position(std::string_view label) {
  builder_.end_position();
  if (train_ == nullptr) {
    data_.gold.push_back(own_.labels.intern(label));
  } else {
    const auto known = train_->own_.labels.find(label);
    if (!known) ++data_.notes["unknown labels"];
    data_.gold.push_back(known.value_or(kUnknownOutput));
  }
}

void NamedSequences::end_sequence() {
  if (data_.gold.size() > data_.begin.back()) data_.begin.push_back(static_cast<Index>(data_.gold.size()));
}

std::shared_ptr<const Vocabulary> NamedSequences::make_vocabulary() const {
  return std::make_shared<Vocabulary>(Vocabulary{own_.features.names(), own_.labels.names()});
}

Dataset NamedSequences::build(std::shared_ptr<const Vocabulary> vocabulary) && {
  data_.x = std::move(builder_).build(static_cast<Index>(vocabulary->features.size()));
  data_.vocabulary = std::move(vocabulary);
  if (!unknown_features_.empty()) data_.notes["distinct unknown attributes"] = unknown_features_.size();
  data_.digest = digest_of(data_);
  return std::move(data_);
}

DataPair finish(NamedSequences&& train, NamedSequences&& test, const DataFiles& files) {
  const auto vocabulary = train.make_vocabulary();
  const auto describe = [](const Dataset& data, const std::vector<std::string>& paths) {
    return fmt::format("{}: {} sequences, {} positions", file_names(paths), data.instances(), data.positions());
  };
  DataPair out;
  out.oracle = "chain";
  out.test = std::move(test).build(vocabulary);  // first: it looks names up in the training set
  out.train = std::move(train).build(vocabulary);
  out.train.description = describe(out.train, files.train);
  if (!files.test.empty()) out.test.description = describe(out.test, files.test);
  return out;
}

}  // namespace proxbench
