#pragma once
/// The texts of values in configs and on the command line: reads and writes them by the rows of a table
/// (core/base/schema.h).

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/base/options.h"

namespace proxbench {

/// Returns the file that a name in a value stands for. Throws Error if there is none.
using FindFile = std::function<std::string(const std::string& name)>;

/// A wrong value: "found X, expected Y", and the offset of X in the text of the value, in bytes.
struct ValueError : Error {
  explicit ValueError(const std::string& what, std::size_t at = 0, ErrorKind kind = ErrorKind::kUsage)
      : Error(what, kind), offset(at) {}
  std::size_t offset;
};

/// The text of a value: "auto" for NaN; lists are separated by commas.
std::string ini_text(const Value& value);

/// Reads the text as the value of a row. The names of files are replaced by the files that are found. Returns
/// the errors of all its parts; without errors, sets `out`.
std::vector<ValueError> read_ini_value(const OptionSpec& spec, const std::string& text, const FindFile& find,
                                       Value& out);

/// Sets the option; the name of a file is replaced by the file that is found. Throws ValueError if the text
/// is no value of it, Error (kUsage) that names the options if there is no such option, and what `find`
/// throws.
void set_option(Options& options, const std::string& name, const std::string& text, const FindFile& find);

}  // namespace proxbench
