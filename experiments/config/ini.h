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
///
/// In front of the first section a file may include others, relative to its own folder:
///
///     include = common/solvers.ini, common/ocr.ini
///
/// Their sections and keys come first, in this order, and what a later file says of a key overrides what an
/// earlier one says; the including file comes last. A file that is included twice counts once, where it came
/// first.

#include <cstddef>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "experiments/base/text.h"

namespace proxbench {

/// Where something was found: in a line of a file, in a file as a whole (line 0), or in a --set of the
/// command line (line 0, kNoFile).
struct Location {
  static constexpr std::size_t kNoFile = std::numeric_limits<std::size_t>::max();

  std::string source;
  std::size_t line = 0;    ///< from 1
  std::size_t column = 0;  ///< from 1, in bytes; 0: not known
  std::size_t file = 0;    ///< of Ini::files

  /// "source", "source:line" or "source:line:column".
  std::string text() const;
};

/// Collects what is wrong, so that everything is reported at once.
class Problems {
 public:
  void add(const Location& where, const std::string& what);
  bool empty() const { return found_.empty(); }
  /// One "file:line:column: what" each, sorted by file in the order of reading, then by line and column. In a
  /// file those without a line come last, and last of all those of --set.
  std::vector<std::string> lines() const;
  /// Throws Error (kUsage) with a headline that names `subject` and counts the problems, and then the lines,
  /// of each kind the first 20 and how many more there are. Does nothing where there are no problems.
  void throw_if_any(const std::string& subject) const;

 private:
  struct Problem {
    std::size_t file, line, column;
    std::string text;
    std::string kind;  ///< what all problems of a kind begin with
  };
  std::vector<Problem> sorted() const;
  std::vector<Problem> found_;
};

/// The text from `offset` on stands at this line and column: a value that goes on in the next line has
/// several.
struct TextPiece {
  std::size_t offset, line, column;
};

struct IniEntry {
  std::string key, value;
  Location where;                      ///< of the key
  std::vector<TextPiece> pieces = {};  ///< of the value; none for --set
  /// Where this byte of the value stands; of an empty value, where it would stand.
  Location at(std::size_t offset = 0) const;
};

struct IniSection {
  std::string name;
  Location where;  ///< of the name
  std::vector<IniEntry> entries;
  /// Null where there is none.
  const IniEntry* find(std::string_view key) const;
};

struct IniFile {
  std::string name;  ///< for messages
  std::filesystem::path folder;
};

/// A file that another one includes, as it is written there.
struct IniInclude {
  std::string file;
  Location where;
};

struct Ini {
  std::string source;  ///< name of the file, for messages
  std::vector<IniSection> sections;
  std::vector<IniInclude> includes = {};  ///< of the file itself
  std::vector<IniFile> files = {};        ///< itself and all that was included, in the order of reading
  const IniSection* find(std::string_view name) const;
  /// The folder of the file in which something stands; that of the file itself for --set.
  std::filesystem::path folder_of(const Location& where) const;
};

/// Parses the whole text, and reads no file: includes are only noted. Lines that are no section, no key and
/// no comment, keys outside a section, and sections or keys given twice are added to `problems`; everything
/// else is in the result.
Ini parse_ini(std::string_view text, const std::string& source, Problems& problems);

/// Reads what the parsed text includes, directly or not, and puts it below its own sections. `folder` is that
/// of the text. Adds to `problems` files that cannot be read and those that include themselves, with the
/// chain of includes that leads to them, and whatever is wrong in them.
void read_includes(Ini& ini, const std::filesystem::path& folder, Problems& problems);

/// Parses a file with all that it includes. Throws Error (kUsage) where the file itself cannot be read.
Ini read_ini(const std::filesystem::path& file, Problems& problems);

/// Applies "section.key=value" (the section is all before the last dot in front of '='): replaces the value,
/// or adds the key and, where needed, the section.
void apply_override(Ini& ini, const std::string& assignment, Problems& problems);

/// The parts between commas, without surrounding white space; an empty text has no parts.
std::vector<std::string> split_list(std::string_view text);

struct ListPart {
  std::string text;
  std::size_t offset;  ///< of its first byte, or of the comma behind it where it is empty
};
/// The same parts, with where they stand in the text.
std::vector<ListPart> list_parts(std::string_view text);

/// The text as a message shows it: cut where it is long, control characters as '?'. What may stand in many
/// messages must go through it: a long name times many messages would be more than memory holds.
std::string shown(std::string_view text);

}  // namespace proxbench
