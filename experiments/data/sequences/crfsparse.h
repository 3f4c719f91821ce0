#pragma once
/// The sequence format of the solver published by the authors of Prox-QN (Zhong et al. 2014): one position a
/// line,
///
///     label feature:value feature:value ...
///
/// separated by spaces, where a feature is a number, and an empty line after each sequence. The label set and
/// its order come from a template file (the data option `template`), whose lines after "label:" up to
/// "unigram:" or "bigram:" list the labels; without one, from the training data in order of first appearance.
/// What a template says of unigram and bigram features is not used: features are those of the lines, and
/// transitions are the chain's own.
///
/// With a hierarchy file (hierarchy_file.h) it is the authors' format for hierarchical classification: one
/// document a line, labelled with a leaf, the values already scaled, no feature twice, and feature 0 like any
/// other.
///
/// The registered format is crfsparse_format() in readers.h.

#include <string>
#include <vector>

#include "experiments/base/line_reader.h"

namespace proxbench {

/// The labels that a template file lists, in its order. Throws Error (kInput) where there are none or one
/// twice.
std::vector<std::string> read_label_template(LineReader&& in);

}  // namespace proxbench
