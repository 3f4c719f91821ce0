#pragma once
/// What a data reader hands over: X, the instances' structure, the gold outputs, and names.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/data/design_matrix.h"
#include "core/data/hierarchy.h"
#include "core/base/types.h"

namespace proxbench {

/// Names of features and outputs, shared by training and test set.
struct Vocabulary {
  std::vector<std::string> features;  ///< size J
  std::vector<std::string> outputs;   ///< size K
};

/// One set of instances. Instance i holds the positions [begin[i], begin[i+1]).
struct Dataset {
  DesignMatrix x;
  std::vector<Index> begin{0};  ///< size instances + 1
  std::vector<Index> gold;      ///< one output a position; kUnknownOutput only in test data
  /// What the unknown gold outputs are called, by position, where the reader tells.
  std::map<Index, std::string> unknown_gold = {};
  std::shared_ptr<const Vocabulary> vocabulary;
  /// What the outputs are nested in, for the tree oracle: one node an output; null: they are flat.
  std::shared_ptr<const Hierarchy> hierarchy;
  std::string description;   ///< one line for people: where it came from, how it was made
  std::uint64_t digest = 0;  ///< xxh3 of the content, so that results can be tied to data
  std::map<std::string, std::uint64_t>
      notes;  ///< what was counted and dropped, e.g. "unknown attributes" -> 12

  std::size_t instances() const { return begin.size() - 1; }
  std::size_t positions() const { return gold.size(); }
  Index outputs() const { return static_cast<Index>(vocabulary->outputs.size()); }
};

/// xxh3 over features, instance boundaries, gold outputs, vocabulary and hierarchy.
std::uint64_t digest_of(const Dataset& data);

/// The digest of the data of that digest as a problem of an oracle that they are not made for.
std::uint64_t digest_with_oracle(std::uint64_t digest, const std::string& oracle);

/// A training set, and the test set where one was asked for (else zero instances).
struct DataPair {
  Dataset train;
  Dataset test;
  std::string oracle;  ///< name of the oracle these data are for, e.g. "chain"
};

}  // namespace proxbench
