#pragma once
/// Whether a file is of another format than the one it was given for, by its first 100 lines. Nothing is told
/// of what can be read once only, such as a pipe.

#include <string>

namespace proxbench {

/// The format that the file looks like, where it lacks what the first lines of files of `format` have; else
/// "". Throws what LineReader throws.
std::string other_format(const std::string& format, const std::string& file);

/// Throws Error (kInput) where the file lacks what its format cannot do without, though its reader would take
/// it: a crfsuite file has a TAB, unless its lines are labels alone, without any blank.
void require_marks(const std::string& format, const std::string& file);

}  // namespace proxbench
