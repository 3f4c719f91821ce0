#pragma once
/// The format of LIBSVM and LIBLINEAR, for multiclass and binary logistic models: one instance per line,
///
///     label index:value index:value ...
///
/// with indices from 1 (from 0 with the option `zero_based`), in any order, each at most once per line. An
/// entry with value 0 is ignored.
///
/// The outputs are the labels of the training data, without a hierarchy. Numerically equal labels are the
/// same ("+1", "1" and "1.0" are "1"). If all labels are numbers, they are sorted as such; otherwise they are
/// in order of first appearance. Several labels on a line ("2,5") are an error.
///
/// The registered format is libsvm_format() in readers.h.

#include <string>
#include <string_view>

#include "experiments/data/readers.h"

namespace proxbench {

/// Returns the shortest text of the number `label`, or `label` itself if it is not a number.
std::string canonical_label(std::string_view label);

}  // namespace proxbench
