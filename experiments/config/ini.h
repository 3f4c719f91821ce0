#pragma once
/// INI files that keep the location of every text, so that errors can name the line.
///
///     # a comment; also with ';', on a line of its own or after white space
///     [section] or [section.name]
///     key = value
///     list = a, b, c
///
/// If a line ends with a backslash, it continues in the next line, after one space. Values are text; the
/// reader of the config interprets them.
///
/// Before its first section a file may include others, relative to its own folder:
///
///     include = common/solvers.ini, common/ocr.ini
///
/// Sections and keys of included files come first, in this order. A key in a later file overrides the same
/// key of an earlier one, and the including file comes last. A file that is included twice counts only at its
/// first place.

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "experiments/base/paths.h"
#include "experiments/base/text.h"

namespace proxbench {

/// A location: in a line of a file, in a whole file (line 0), or in a --set of the command line (line 0,
/// kNoFile).
struct Location {
  static constexpr std::size_t kNoFile = std::numeric_limits<std::size_t>::max();

  std::string source;
  std::size_t line = 0;    ///< from 1
  std::size_t column = 0;  ///< from 1, in bytes; 0: not known
  std::size_t file = 0;    ///< of Ini::files

  /// Returns "source", "source:line" or "source:line:column".
  std::string text() const;
};

/// Collects errors, so that all are reported at once.
class Problems {
 public:
  void add(const Location& where, const std::string& what) { found_.push_back({where, what}); }
  bool empty() const { return found_.empty(); }
  /// Returns one "file:line:column: what" per problem, sorted by file in reading order, then by line and
  /// column. Problems without a line come last in their file, and problems of --set come last of all.
  std::vector<std::string> lines() const;
  /// Throws Error (kUsage) with a headline that names `subject` and counts the problems, followed by their
  /// lines. It shows the first 20 of each kind, and the number of others. Does nothing if there are no
  /// problems.
  void throw_if_any(const std::string& subject) const;

 private:
  struct Problem {
    Location where;
    std::string what;
  };
  std::vector<Problem> sorted() const;
  std::vector<Problem> found_;
};

/// Says that the text of a value from `offset` on is at this line and column. A value that continues in the
/// next line has several pieces.
struct TextPiece {
  std::size_t offset, line, column;
};

struct IniEntry {
  std::string key, value;
  Location where;                      ///< of the key
  std::vector<TextPiece> pieces = {};  ///< pieces of its line; none for --set
  std::size_t begin = 0;               ///< offset of the value in its line
  /// Returns the location of this byte of the value. For an empty value, this is where the value would be.
  Location at(std::size_t offset = 0) const;
};

/// A list of items that can be found by name.
template <class Item, std::string Item::*kName>
class Named {
 public:
  /// Returns null if there is none.
  const Item* find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? nullptr : &items_[found->second];
  }
  /// Returns the item of the same name, and adds it if there is none.
  Item& get(const Item& item) {
    const auto [at, added] = numbers_.try_emplace(item.*kName, items_.size());
    if (added) items_.push_back(item);
    return items_[at->second];
  }
  auto begin() const { return items_.begin(); }
  auto end() const { return items_.end(); }
  std::size_t size() const { return items_.size(); }

 private:
  std::vector<Item> items_;  ///< in the order of their first mention
  std::map<std::string, std::size_t, std::less<>> numbers_;
};

struct IniSection {
  std::string name;
  Location where;  ///< of the name
  Named<IniEntry, &IniEntry::key> entries = {};
  /// Returns "[NAME]".
  std::string title() const { return "[" + printable(name) + "]"; }
  /// The name is "KIND" or "KIND.LABEL".
  std::string kind() const { return name.substr(0, name.find('.')); }
  std::string label() const { return name.size() == kind().size() ? "" : name.substr(kind().size() + 1); }
};

struct IniFile {
  std::string name;       ///< for messages
  fs::path folder;        ///< empty: includes are not allowed
  bool includes = false;  ///< whether it has a line "include = ..."
};

struct Ini {
  Named<IniSection, &IniSection::name> sections = {};
  std::vector<IniFile> files = {};  ///< this file and all files it includes, in the order of reading

  /// Returns null if there is none.
  const IniEntry* find(std::string_view section, std::string_view key) const {
    const IniSection* found = sections.find(section);
    return found ? found->entries.find(key) : nullptr;
  }
  /// Returns the folder of the file at this location. For --set, it is the folder of the file itself.
  fs::path folder_of(const Location& where) const {
    if (files.empty()) return {};
    return files[where.file < files.size() ? where.file : 0].folder;
  }
};

/// Parses the text, which messages call `source`, and reads all files that it includes, directly or
/// indirectly. `folder` is the folder of the text; if it is empty, includes are not allowed. Errors are added
/// to `problems`, and the rest is in the result. Errors are: lines that are no section, no key and no
/// comment; keys outside a section; sections or keys given twice in a file; and included files that cannot be
/// read or that include themselves, with the chain of includes.
Ini parse_ini(std::string_view text, const std::string& source, const fs::path& folder, Problems& problems);

/// Parses a file and the files that it includes. Throws Error (kUsage) if the file itself cannot be read.
Ini read_ini(const fs::path& file, Problems& problems);

/// Applies "section.key=value": replaces the value, or adds the key and, if necessary, the section. The
/// section is the text up to the last dot before '='.
void apply_override(Ini& ini, const std::string& assignment, Problems& problems);

/// Splits at commas outside parentheses, and trims white space around the parts. An empty text has no parts.
std::vector<std::string> split_list(std::string_view text);

struct ListPart {
  std::string text;
  std::size_t offset;  ///< of its first byte, or of the comma after it if it is empty
};
/// Returns the same parts with their offsets in the text.
std::vector<ListPart> list_parts(std::string_view text);

}  // namespace proxbench
