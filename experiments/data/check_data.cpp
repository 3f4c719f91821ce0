#include "experiments/data/check_data.h"

#include <fmt/format.h>

#include <algorithm>

namespace proxbench {
namespace {

class SetCheck {
 public:
  SetCheck(const Dataset& data, std::string where) : data_(data), where_(std::move(where)) {}

  void check(bool unknown_allowed) const {
    if (data_.vocabulary == nullptr) fail("no vocabulary", "one");
    check_instances();
    const std::size_t positions = data_.positions(), outputs = data_.outputs();
    if (outputs == 0) fail("a vocabulary without outputs", "one output or more");
    require_count("X", data_.x.positions(), "positions", positions, "gold outputs");
    require_count("X", data_.x.features(), "features", data_.vocabulary->features.size(),
                  "the vocabulary has");
    if (data_.hierarchy != nullptr)
      require_count("a hierarchy", data_.hierarchy->nodes(), "nodes", outputs, "the vocabulary has outputs");
    for (const std::size_t size : {data_.quality.size(), data_.counts.size()})
      if (size != 0)
        require_count("qualities or counts", size, "positions", positions, "gold outputs, or none");
    if (data_.on.empty())
      check_gold(unknown_allowed);
    else
      check_label_sets();
  }

  void check_beside(const Dataset& train) const {
    if (data_.vocabulary != train.vocabulary) {
      if (data_.vocabulary->features != train.vocabulary->features)
        fail("other features", "those of the training data");
      if (data_.vocabulary->outputs != train.vocabulary->outputs)
        fail("other outputs", "those of the training data");
    }
    if (data_.hierarchy == train.hierarchy) return;
    if (data_.hierarchy == nullptr || train.hierarchy == nullptr ||
        data_.hierarchy->parents() != train.hierarchy->parents())
      fail("another hierarchy", "that of the training data");
  }

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw Error(fmt::format("{}: found {}, expected {}", where_, found, expected));
  }

  void require_count(const char* what, std::size_t found, const char* unit, std::size_t expected,
                     const char* as_many) const {
    if (found != expected)
      fail(fmt::format("{} of {} {}", what, found, unit),
           fmt::format("{}, as many as {}", expected, as_many));
  }

  void check_instances() const {
    if (data_.begin.empty() || data_.begin.front() != 0)
      fail(data_.begin.empty() ? "no boundaries of instances" : fmt::format("begin[0] = {}", data_.begin[0]),
           "begin[0] = 0");
    for (std::size_t i = 1; i < data_.begin.size(); ++i)
      if (data_.begin[i] <= data_.begin[i - 1])
        fail(fmt::format("begin[{}] = {} after {}", i, data_.begin[i], data_.begin[i - 1]),
             "ascending boundaries: each instance has a position");
    if (data_.begin.back() != data_.positions())
      fail(fmt::format("{} gold outputs", data_.positions()),
           fmt::format("{}, where the last instance ends", data_.begin.back()));
  }

  void check_gold(bool unknown_allowed) const {
    for (std::size_t p = 0; p < data_.positions(); ++p) {
      const Index gold = data_.gold[p];
      if (unknown_allowed && gold == kUnknownOutput) continue;
      if (gold == kNoOutput && !data_.quality.empty()) continue;
      if (gold >= data_.outputs())
        fail(gold == kUnknownOutput ? fmt::format("an unknown gold output at position {}", p)
                                    : fmt::format("gold output {} at position {}", gold, p),
             fmt::format("one of the {} outputs", data_.outputs()));
    }
  }

  void check_label_sets() const {
    if (data_.on.begin.size() != data_.positions() + 1 || data_.on.begin.front() != 0 ||
        data_.on.begin.back() != data_.on.label.size() || !std::ranges::is_sorted(data_.on.begin))
      fail(fmt::format("{} boundaries of label sets", data_.on.begin.size()),
           fmt::format("{}, ascending from 0 to the number of labels", data_.positions() + 1));
    for (std::size_t p = 0; p < data_.positions(); ++p) {
      if (data_.gold[p] != kNoOutput)
        fail(fmt::format("gold output {} at position {}", data_.gold[p], p), "none beside label sets");
      const auto labels = data_.on.at(p);
      for (std::size_t i = 0; i < labels.size(); ++i)
        if (labels[i] >= data_.outputs() || (i > 0 && labels[i] <= labels[i - 1]))
          fail(fmt::format("label {} at position {}", labels[i], p),
               fmt::format("ascending labels below {}", data_.outputs()));
    }
  }

  const Dataset& data_;
  std::string where_;
};

}  // namespace

void check_data(const DataPair& data, const std::string& format) {
  SetCheck(data.train, fmt::format("data format {}: training data", format)).check(false);
  const SetCheck test(data.test, fmt::format("data format {}: test data", format));
  if (data.test.positions() == 0 && data.test.instances() == 0) return;
  test.check(true);
  test.check_beside(data.train);
}

std::string label_warning(const Dataset& train) {
  const std::size_t labels = train.outputs(), positions = train.x.whole_positions();
  if (train.hierarchy != nullptr || !train.quality.empty() || !train.on.empty()) return "";
  if (labels > 1 && 2 * labels <= positions) return "";
  const std::string found = labels == 1 ? fmt::format("all {} positions have the label {}", positions,
                                                      in_quotes(train.vocabulary->outputs.front()))
                                        : fmt::format("the {} positions have {} labels", positions, labels);
  return found + ": another column or field, or a number to regress on, may have been read as the label";
}

}  // namespace proxbench
