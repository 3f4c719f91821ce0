#pragma once
/// What the first lines of a file say about its format.

#include <string>

namespace proxbench {

/// If the file lacks a mark of `format` in its first lines and looks like another format, says which, e.g.
/// "`--format conll`"; otherwise "", and for a file that can be read only once, such as a pipe. Throws Error
/// (kInput) if the file lacks something that its format needs, even though its reader would accept it: a
/// crfsuite file needs a TAB, unless its lines are only labels without blanks. Also throws what LineReader
/// throws.
std::string other_format(const std::string& format, const std::string& file);

}  // namespace proxbench
