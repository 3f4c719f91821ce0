#pragma once
/// INI files that remember where everything stood, so that whoever reads the values can name the line.
///
///     # a comment; also with ';', on a line of its own or after white space
///     [section] or [section.name]
///     key = value
///     list = a, b, c
///
/// A line that ends with a backslash goes on in the next one, after one space.
/// Values are text; what they mean is for the reader of the config to say.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace proxbench {

/// Where something was found: a line of a file, a --set of the command line, or a file as a whole (line 0).
struct Location {
  std::string source;
  std::size_t line = 0;
  std::string text() const { return line > 0 ? source + ":" + std::to_string(line) : source; }
};

/// Collects what is wrong, so that everything is reported at once.
class Problems {
 public:
  void add(const Location& where, const std::string& what);
  bool empty() const { return found_.empty(); }
  /// One "file:line: what" each, in the order of their lines; those without a line come last.
  std::vector<std::string> lines() const;
  /// Throws Error (kUsage) with a headline that names `subject` and then all lines; nothing where there are
  /// none.
  void throw_if_any(const std::string& subject) const;

 private:
  struct Problem {
    std::size_t line;
    std::string text;
  };
  std::vector<Problem> found_;
};

struct IniEntry {
  std::string key, value;
  Location where;
};

struct IniSection {
  std::string name;
  Location where;
  std::vector<IniEntry> entries;
  /// Null where there is none.
  const IniEntry* find(std::string_view key) const;
  IniEntry* find(std::string_view key);
};

struct Ini {
  std::string source;  ///< name of the file, for messages
  std::vector<IniSection> sections;
  const IniSection* find(std::string_view name) const;
  IniSection* find(std::string_view name);
};

/// Parses the whole text. Lines that are no section, no key and no comment, keys outside a section, and
/// sections or keys given twice are added to `problems`; everything else is in the result.
Ini parse_ini(std::string_view text, const std::string& source, Problems& problems);

/// Applies "section.key=value" (the section is all before the last dot in front of '='): replaces the value,
/// or adds the key and, where needed, the section.
void apply_override(Ini& ini, const std::string& assignment, Problems& problems);

/// The parts between commas, without surrounding white space; an empty text has no parts.
std::vector<std::string> split_list(std::string_view text);

/// The text without white space at both ends.
std::string_view trim(std::string_view text);

/// The text as a message shows it: cut where it is long, control characters as '?'. What may stand in many
/// messages must go through it: a long name times many messages would be more than memory holds.
std::string shown(std::string_view text);

}  // namespace proxbench
