#pragma once
/// Lines of a text file, plain or gzipped, with the numbers that error messages need.

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "experiments/base/text.h"

namespace proxbench {

class ByteSource;

/// What a record of a file is.
enum class FileRecords { kUpToBlankLine, kLine };

/// Some of the records of a file, so that parts that follow each other have each record once. Of records that
/// blank lines end: those that begin behind the first blank line at or after byte `begin`, or at the start of
/// the file, and not behind the first one at or after byte `end`. Of lines: those that begin at or after byte
/// `begin` and before byte `end`. A gzipped file has one part.
struct FilePart {
  std::string path;
  std::uint64_t begin = 0, end = std::numeric_limits<std::uint64_t>::max();
  FileRecords records = FileRecords::kUpToBlankLine;
  bool whole() const { return begin == 0 && end == std::numeric_limits<std::uint64_t>::max(); }
};

/// Reads a file once from start to end; "-" is standard input. Whether it is gzipped is told from its
/// content, not its name. Line ends are LF or CRLF; the last line may lack one; a UTF-8 byte order mark is
/// skipped. Lines of a pipe are handed out as they come.
class LineReader {
 public:
  /// Throws Error (kInput) where the file is missing, unreadable or a directory.
  explicit LineReader(std::string path) : LineReader(FilePart{std::move(path)}) {}
  explicit LineReader(FilePart part);
  /// The lines of `text`, not gzipped; errors name it `name`.
  LineReader(std::string_view text, std::string name);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// Moves to the next line; false after the last one. `line` has no line end and is valid until the next
  /// call. Throws Error (kInput) on a read error, on a gzip stream that is cut short (before its incomplete
  /// last line is handed out) and on one whose checksum is wrong.
  bool next(std::string_view& line);

  /// Whether the rest of a record is there already, so that next() need not wait for whoever writes the file.
  bool has_record() const;

  /// Number of the line that next() gave last, from 1 where the part begins; 0 before the first.
  std::uint64_t line() const { return line_; }
  const std::string& path() const { return path_; }

  /// Throws Error::in_file at the line that next() gave last.
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;
  /// The same, for a file that ended without a single record.
  [[noreturn]] void fail_empty(const std::string& expected) const;

 private:
  /// Appends the next block of decoded text to the unread rest; false at the end of the file.
  bool fill();
  /// Moves to the first record of a part that does not begin with the file.
  void find_first();
  /// Lines before the part.
  std::uint64_t lines_before() const;

  std::string path_;
  std::unique_ptr<ByteSource> source_;  ///< null: of a text
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< the unread text is buffer_[begin_, end_)
  std::uint64_t line_ = 0;
  std::uint64_t offset_ = 0;  ///< of the next line in the file
  std::uint64_t first_ = 0;   ///< of the part's first line
  std::uint64_t end_of_part_ = std::numeric_limits<std::uint64_t>::max();
  FileRecords records_ = FileRecords::kUpToBlankLine;
  bool ended_ = false, part_ended_ = false;
};

}  // namespace proxbench
