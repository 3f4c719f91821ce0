#pragma once
/// The sequence format of the solver published by the authors of Prox-QN (Zhong et al. 2014): one position
/// per line,
///
///     label feature:value feature:value ...
///
/// separated by spaces, with numbers as features. An empty line follows each sequence. A template file (the
/// data option `template`) may give the label set and its order: the lines after "label:" up to "unigram:" or
/// "bigram:" list the labels. Without it, labels are those of the training data in order of first appearance.
/// The parts on unigram and bigram features are not used: features come from the lines, and transitions
/// belong to the chain.
///
/// With a hierarchy file (hierarchy_file.h), it is the authors' format for hierarchical classification: one
/// document per line, labelled with a leaf. The values are scaled already, no feature occurs twice, and
/// feature 0 is an ordinary one.
///
/// The registered format is crfsparse_format() in readers.h.

#include <string>
#include <vector>

#include "experiments/base/line_reader.h"

namespace proxbench {

/// Returns the labels of a template file, in its order. Throws Error (kInput) if there are none or if one
/// occurs twice.
std::vector<std::string> read_label_template(LineReader&& in);

}  // namespace proxbench
