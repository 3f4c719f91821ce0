#pragma once
/// Multi-label data as Mulan has them: ARFF (Weka's attribute-relation file format) beside an XML file that
/// names which of the attributes are labels.
///
///     @relation NAME
///     @attribute NAME {0,1}            or numeric, real, integer; names may stand in quotes
///     @data
///     0,1,2.5,...                      dense: a value for each attribute
///     {3 1,17 2.5,...}                 sparse: number of an attribute (from 0) and value, ascending; others
///     are 0
///
/// % begins a comment, keywords are in any case, empty lines are skipped. Labels must be {0,1}. Each row is
/// an instance of one position for the oracle `labels`; the features are the other attributes in their order.
/// All files have the same attributes.
///
/// The registered format is arff_format() in readers.h.

#include <string>
#include <vector>

#include "experiments/base/line_reader.h"

namespace proxbench {

/// The names of `<label name="...">` elements in the order of the file, nested ones as they come. Throws
/// Error (kInput) where a label has no name, a name comes twice or there is none.
std::vector<std::string> read_label_names(LineReader in);

}  // namespace proxbench
