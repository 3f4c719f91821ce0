#pragma once
/// `predict --nbest`: lists of the N best structures as text.

#include <string>

#include "core/base/parallel.h"
#include "core/data/dataset.h"
#include "core/oracle.h"

namespace proxbench {

/// How a list is written, an empty line after the structures of each instance:
/// - kText: `rank TAB score TAB output TAB output ...`, rank from 1, an output for each position.
/// - kRerank: a candidate of the format rerank, `correct/gold/guessed TAB base:DIFFERENCE`, counts of chunks
///   where the outputs are labels of chunks (experiments/metrics/chunks.h), else `RIGHT TAB base:DIFFERENCE`,
///   RIGHT the number of positions that are right. DIFFERENCE is the structure's score less the best one's:
///   beside its log-probability a constant of the group, which re-ranking does not see.
enum class NbestFormat { kText, kRerank };

/// The lists of all instances. Throws Error (kUsage) where the oracle has no n best.
std::string nbest_text(const Dataset& data, const Oracle& oracle, const SparseVector& w, std::size_t n,
                       NbestFormat format, const Parallel& parallel);

}  // namespace proxbench
