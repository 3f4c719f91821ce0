#pragma once
/// What a data reader hands over: X, the instances' structure, the gold outputs, and names.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/types.h"
#include "core/data/design_matrix.h"
#include "core/data/hierarchy.h"

namespace proxbench {

/// Names of features and outputs, shared by training and test set.
struct Vocabulary {
  std::vector<std::string> features;  ///< size J
  std::vector<std::string> outputs;   ///< size K
};

/// How a candidate structure compares with the gold one: items (chunks, brackets) that both have, that the
/// gold structure has, that the candidate has.
struct MatchCounts {
  std::uint32_t correct = 0, gold = 0, guessed = 0;
  bool operator==(const MatchCounts&) const = default;
};
/// 2*correct / (gold + guessed): the harmonic mean of precision and recall; 1 where there is nothing to find
/// and nothing was found. Counts of one structure, or sums over a corpus.
double f1_of(double correct, double gold, double guessed);

/// The labels that are on at each position, where there may be any number of them.
struct LabelSets {
  std::vector<std::size_t> begin;  ///< position p has label[begin[p]..begin[p+1]), ascending; empty: no sets
  std::vector<Index> label;

  bool empty() const { return begin.empty(); }
  std::span<const Index> at(std::size_t position) const {
    return {label.data() + begin[position], label.data() + begin[position + 1]};
  }
  /// Adds a position whose labels are these, ascending.
  void add(std::span<const Index> labels) {
    if (begin.empty()) begin.push_back(0);
    label.insert(label.end(), labels.begin(), labels.end());
    begin.push_back(label.size());
  }
  bool operator==(const LabelSets&) const = default;
};

/// One set of instances. Instance i holds the positions [begin[i], begin[i+1]).
struct Dataset {
  DesignMatrix x;
  std::vector<Index> begin{0};  ///< size instances + 1
  std::vector<Index> gold;      ///< one output a position; kUnknownOutput only in test data
  /// What the unknown gold outputs are called, by position, where the reader tells.
  std::map<Index, std::string> unknown_gold = {};
  /// Where positions are candidates and instances groups of them (oracle `candidates`): what each is worth,
  /// the higher the better, and the counts that this was made of; else empty. `gold` is then kNoOutput at all
  /// candidates of a group but one.
  std::vector<double> quality;
  std::vector<MatchCounts> counts;
  /// Multi-label data (oracle `labels`): what is gold; `gold` is then kNoOutput everywhere.
  LabelSets on = {};
  std::shared_ptr<const Vocabulary> vocabulary;
  /// What the outputs are nested in, for the tree oracle: one node an output; null: they are flat.
  std::shared_ptr<const Hierarchy> hierarchy;
  std::string description;   ///< one line for people: where it came from, how it was made
  std::uint64_t digest = 0;  ///< xxh3 of the content, so that results can be tied to data
  std::map<std::string, std::uint64_t>
      notes;  ///< what was counted and dropped, e.g. "unknown attributes" -> 12
  /// Of training data: what makes it likely that they were read wrongly, a sentence each.
  std::vector<std::string> doubts;

  std::size_t instances() const { return begin.size() - 1; }
  std::size_t positions() const { return gold.size(); }
  /// Numbers of a prediction at each position: its output, or of multi-label data one for each label, 1 where
  /// it is on and 0 elsewhere.
  std::size_t prediction_width() const { return on.empty() ? 1 : outputs(); }
  std::size_t prediction_size() const { return positions() * prediction_width(); }
  /// What is to be predicted: an output for each position, but one for each group of candidates, and one for
  /// each label and position of multi-label data.
  std::size_t graded() const {
    if (!on.empty()) return prediction_size();
    return gold.size() - static_cast<std::size_t>(std::ranges::count(gold, kNoOutput));
  }
  Index outputs() const { return static_cast<Index>(vocabulary->outputs.size()); }
};

/// xxh3 over features, instance boundaries, gold outputs and label sets, vocabulary, hierarchy and qualities.
/// Of a data set of sequences that processes have parts of, that of the whole.
std::uint64_t digest_of(const Dataset& data, const Processes* processes = nullptr);

/// The digest of the data of that digest as a problem of an oracle that they are not made for.
std::uint64_t digest_with_oracle(std::uint64_t digest, const std::string& oracle);

/// A training set, and the test set where one was asked for (else zero instances).
struct DataPair {
  Dataset train;
  Dataset test;
  std::string oracle;  ///< name of the oracle these data are for, e.g. "chain"
};

}  // namespace proxbench
