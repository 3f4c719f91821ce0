#pragma once
/// CRFsuite's data format (http://www.chokkan.org/software/crfsuite/manual.html): one position a line,
///
///     label TAB attribute[:value] TAB attribute[:value] ...
///
/// and an empty line after each sequence (after the last one it may be missing). Read as CRFsuite's own
/// reader (frontend/iwa.c and reader.c) does:
/// - In names `\:` stands for a colon and `\\` for a backslash; any other backslash stands for itself.
/// - A colon that is not escaped starts the value; the value is 1 where there is none. A repeated attribute
/// is summed.
/// - `#` is an ordinary character: there are no comments. Spaces are part of names. Empty fields are skipped.
/// Where CRFsuite takes bad input silently, this reader differs:
/// - A value that is not a finite number (an empty one included) is an error; CRFsuite reads it as 0 or 1.
/// - A second unescaped colon in one attribute is an error in both.
/// - A label is the whole first field, even with unescaped colons; CRFsuite drops what follows a label's
/// first colon.
/// - Instance weights (`@weight:2` as a first field) are not supported and are an error.
///
/// The registered format is crfsuite_format() in readers.h.

#include <string_view>

#include "experiments/base/line_reader.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {

/// Adds the attributes of a line to the current position: fields of "attribute[:value]", each after a TAB.
void add_attributes(const LineReader& in, std::string_view fields, NamedSequences& out);

}  // namespace proxbench
