#pragma once
/// CRFsuite's data format (http://www.chokkan.org/software/crfsuite/manual.html): one position per line,
///
///     label TAB attribute[:value] TAB attribute[:value] ...
///
/// and an empty line after each sequence (optional after the last one). Files are read as by CRFsuite's own
/// reader (frontend/iwa.c and reader.c):
/// - In names, `\:` stands for a colon and `\\` for a backslash. Any other backslash stands for itself.
/// - An unescaped colon starts the value. Without it the value is 1. Values of a repeated attribute are
///   added.
/// - `#` is an ordinary character: there are no comments. Spaces are part of names. Empty fields are skipped.
/// This reader differs where CRFsuite silently accepts bad input:
/// - A value that is not a finite number (or is empty) is an error. CRFsuite reads it as 0 or 1.
/// - A second unescaped colon in one attribute is an error in both.
/// - A label is the whole first field, even with unescaped colons. CRFsuite drops the text after the first
///   colon.
/// - Instance weights (`@weight:2` as a first field) are not supported and are an error.
///
/// The registered format is crfsuite_format() in readers.h.

#include <string_view>

#include "experiments/base/line_reader.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {

/// Adds the attributes of a line to the current position: fields "attribute[:value]", each after a TAB.
void add_attributes(const LineReader& in, std::string_view fields, NamedSequences& out);

}  // namespace proxbench
