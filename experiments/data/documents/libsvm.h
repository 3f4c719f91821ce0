#pragma once
/// The format of LIBSVM and LIBLINEAR, for multiclass and binary logistic models: one instance a line,
///
///     label index:value index:value ...
///
/// with indices from 1 on (from 0 with the option `zero_based`), in any order, each at most once a line. A
/// value of 0 is as if the entry were not there.
///
/// The outputs are the labels of the training data, without a hierarchy. Numerically equal labels are one
/// ("+1", "1" and "1.0" are "1"); where all labels are numbers they are sorted as such, else they stand in
/// order of first appearance. Several labels a line ("2,5") are an error.
///
/// The registered format is libsvm_format() in readers.h.

#include <string>
#include <string_view>

#include "experiments/data/readers.h"

namespace proxbench {

/// The shortest text of the number that `label` is; `label` itself where it is none.
std::string canonical_label(std::string_view label);

}  // namespace proxbench
