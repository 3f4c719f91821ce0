#pragma once
/// The result of a data reader: X, the structure of the instances, the gold outputs, and names.

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

/// Names of features and outputs, shared by training set and test set.
struct Vocabulary {
  std::vector<std::string> features;  ///< size J
  std::vector<std::string> outputs;   ///< size K
};

/// Compares a candidate structure with the gold one: the numbers of items (chunks, brackets) that both have,
/// that the gold structure has, and that the candidate has.
struct MatchCounts {
  std::uint32_t correct = 0, gold = 0, guessed = 0;
  bool operator==(const MatchCounts&) const = default;
};
/// 2*correct / (gold + guessed), the harmonic mean of precision and recall. 1 if there is nothing to find and
/// nothing was found. Takes counts of one structure, or sums over a corpus.
double f1_of(double correct, double gold, double guessed);

/// The labels that are on at each position, if there may be any number of them.
struct LabelSets {
  std::vector<std::size_t> begin;  ///< position p has label[begin[p]..begin[p+1]), ascending; empty: no sets
  std::vector<Index> label;

  bool empty() const { return begin.empty(); }
  std::span<const Index> at(std::size_t position) const {
    return {label.data() + begin[position], label.data() + begin[position + 1]};
  }
  /// Adds a position with these labels, which must ascend.
  void add(std::span<const Index> labels) {
    if (begin.empty()) begin.push_back(0);
    label.insert(label.end(), labels.begin(), labels.end());
    begin.push_back(label.size());
  }
  bool operator==(const LabelSets&) const = default;
};

/// What one file of a data set holds.
struct FileCounts {
  std::string path;
  std::uint64_t instances = 0, positions = 0;
};

/// One set of instances. Instance i holds the positions [begin[i], begin[i+1]).
struct Dataset {
  DesignMatrix x;
  std::vector<Index> begin{0};  ///< size instances + 1
  std::vector<Index> gold;      ///< one output per position; kUnknownOutput only in test data
  /// The names of unknown gold outputs by position, if the reader has them.
  std::map<Index, std::string> unknown_gold = {};
  /// Only for candidates (oracle `candidates`): the quality of each, higher is better. Positions are
  /// candidates, and instances are groups of them. `gold` is kNoOutput at all candidates of a group but one.
  std::vector<double> quality;
  std::vector<MatchCounts> counts;  ///< from which the qualities were computed
  /// Only for multi-label data (oracle `labels`): the gold labels. `gold` is kNoOutput everywhere.
  LabelSets on = {};
  std::shared_ptr<const Vocabulary> vocabulary;
  /// The hierarchy of the outputs, for the tree oracle: one node per output. Null: the outputs are flat.
  std::shared_ptr<const Hierarchy> hierarchy;
  std::string description;   ///< one line for people: the source of the data and how they were made
  std::uint64_t digest = 0;  ///< xxh3 of the content, which ties results to data
  std::map<std::string, std::uint64_t>
      notes;  ///< numbers of things counted or dropped by the reader: "unknown attributes" -> 12
  /// Signs that the data were read wrongly, one sentence each. The signs of a test set are stored with its
  /// training set.
  std::vector<std::string> warnings;
  std::vector<FileCounts> files;  ///< empty if the reader does not count, or if several processes read

  std::size_t instances() const { return begin.size() - 1; }
  std::size_t positions() const { return gold.size(); }
  /// The length of a prediction for one position: 1, for the output. A prediction of multi-label data has one
  /// number for each label, 1 if the label is on and 0 otherwise.
  std::size_t prediction_width() const { return on.empty() ? 1 : outputs(); }
  std::size_t prediction_size() const { return positions() * prediction_width(); }
  /// The number of outputs to be predicted: one for each group of candidates, one for each label and position
  /// of multi-label data, and otherwise one for each position.
  std::size_t graded() const {
    if (!on.empty()) return prediction_size();
    return gold.size() - static_cast<std::size_t>(std::ranges::count(gold, kNoOutput));
  }
  Index outputs() const { return static_cast<Index>(vocabulary->outputs.size()); }
};

/// xxh3 over features, instance boundaries, gold outputs and label sets, vocabulary, hierarchy and qualities.
/// If processes have parts of a data set of sequences, this is the digest of the whole.
std::uint64_t digest_of(const Dataset& data, const Processes* processes = nullptr);

/// The digest of data with `digest` that are used with another oracle than DataPair::oracle.
std::uint64_t digest_with_oracle(std::uint64_t digest, const std::string& oracle);

/// A training set and a test set. The test set has no instances if none was asked for.
struct DataPair {
  Dataset train;
  Dataset test;
  std::string oracle;  ///< the oracle for these data: "chain"
};

}  // namespace proxbench
