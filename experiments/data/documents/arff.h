#pragma once
/// Multi-label data in Mulan's format: ARFF (Weka's attribute-relation file format), and an XML file that
/// tells which attributes are labels.
///
///     @relation NAME
///     @attribute NAME {0,1}            or numeric, real, integer; names may stand in quotes
///     @data
///     0,1,2.5,...                      dense: a value for each attribute
///     {3 1,17 2.5,...}                 sparse: number of an attribute (from 0) and value, ascending; others
///     are 0
///
/// % begins a comment. Keywords are in any case. Empty lines are skipped. Labels must be {0,1}. Each row is
/// an instance of one position for the oracle `labels`. The other attributes are the features, in their
/// order. All files have the same attributes.
///
/// The registered format is arff_format() in readers.h.

#include <string>
#include <vector>

#include "experiments/base/line_reader.h"

namespace proxbench {

/// Returns the names of the `<label name="...">` elements in the order of the file, including nested ones.
/// Throws Error (kInput) if a label has no name, if a name occurs twice, or if there is no label.
std::vector<std::string> read_label_names(LineReader in);

}  // namespace proxbench
