#pragma once
/// Lines `label feature:value feature:value ...`, what the formats of documents and `crfsparse` have in
/// common.

#include <cstdint>
#include <string>
#include <string_view>

#include "experiments/base/line_reader.h"
#include "experiments/base/text.h"

namespace proxbench {

/// One feature of a line, by the number it has in the file.
struct SparseEntry {
  std::int64_t feature;
  std::string_view name;  ///< the feature without sign and leading zeros, a part of the line
  double value;
};

/// What a format allows in a line beyond `feature:value`.
struct SparseLineRules {
  const char* line = "label feature:value feature:value ...";  ///< a whole line, for error messages
  std::int64_t first_feature = 0;
  const char* first_feature_hint = "";  ///< goes after "an integer of at least N" in error messages
  bool negative_values = true;
  bool document_id = false;  ///< feature 0 is no feature but the document's id, at most once a line
};

/// Reads `feature:value`. Throws through in.fail() where the feature is not an integer of at least
/// rules.first_feature, or the value not a finite number or one that the rules exclude.
SparseEntry parse_entry(const LineReader& in, std::string_view word, const SparseLineRules& rules = {});

}  // namespace proxbench
