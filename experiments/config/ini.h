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
#include <functional>
#include <limits>
#include <map>
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
    Location where;
    std::string what;
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
  std::vector<TextPiece> pieces = {};  ///< of its line; none for --set
  std::size_t begin = 0;               ///< of the value in its line
  /// Where this byte of the value stands; of an empty value, where it would stand.
  Location at(std::size_t offset = 0) const;
};

/// Things with names, each found by it.
template <class Item, std::string Item::*kName>
class Named {
 public:
  /// Null where there is none.
  const Item* find(std::string_view name) const {
    const auto found = numbers_.find(name);
    return found == numbers_.end() ? nullptr : &items_[found->second];
  }
  /// The one of the same name, which is added where there is none.
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
};

struct IniFile {
  std::string name;              ///< for messages
  std::filesystem::path folder;  ///< empty: it may include nothing
  bool includes = false;         ///< it has a line "include = ..."
};

struct Ini {
  Named<IniSection, &IniSection::name> sections = {};
  std::vector<IniFile> files = {};  ///< this file and all files it includes, in the order of reading

  /// Null where there is none.
  const IniEntry* find(std::string_view section, std::string_view key) const;
  /// The folder of the file in which something stands; that of the file itself for --set.
  std::filesystem::path folder_of(const Location& where) const;
};

/// Parses the text, which messages call `source`, and reads what it includes, directly or not; `folder` is
/// that of the text, and an empty one allows no includes. What is wrong is added to `problems`, everything
/// else is in the result: lines that are no section, no key and no comment, keys outside a section, sections
/// or keys given twice in a file; included files that cannot be read or include themselves, with the chain of
/// includes that leads to them.
Ini parse_ini(std::string_view text, const std::string& source, const std::filesystem::path& folder,
              Problems& problems);

/// Parses a file with all that it includes. Throws Error (kUsage) where the file itself cannot be read.
Ini read_ini(const std::filesystem::path& file, Problems& problems);

/// Applies "section.key=value" (the section is all before the last dot in front of '='): replaces the value,
/// or adds the key and, where needed, the section.
void apply_override(Ini& ini, const std::string& assignment, Problems& problems);

/// The parts between commas that stand in no parentheses, without surrounding white space; an empty text has
/// no parts.
std::vector<std::string> split_list(std::string_view text);

struct ListPart {
  std::string text;
  std::size_t offset;  ///< of its first byte, or of the comma behind it where it is empty
};
/// The same parts, with where they stand in the text.
std::vector<ListPart> list_parts(std::string_view text);

}  // namespace proxbench
