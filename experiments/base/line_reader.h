#pragma once
/// Lines of a text file, plain or compressed, with the numbers that error messages need.

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

/// How records of a file are separated: a record ends at a blank line, or each line is a record.
enum class FileRecords { kUpToBlankLine, kLine };

/// Some of the records of a file. Consecutive parts contain each record exactly once. If blank lines end
/// records, the part begins with the first record after the first blank line at or after byte `begin` (or
/// with the file if `begin` is 0), and it ends at the first blank line at or after byte `end`. If each line
/// is a record, the part holds the lines that begin at or after byte `begin` and before byte `end`. A
/// compressed file has one part.
struct FilePart {
  std::string path;
  std::uint64_t begin = 0, end = std::numeric_limits<std::uint64_t>::max();
  FileRecords records = FileRecords::kUpToBlankLine;
  bool whole() const { return begin == 0 && end == std::numeric_limits<std::uint64_t>::max(); }
};

/// Reads a file once from start to end; "-" is standard input. Unpacks a compressed file (ByteSource). Lines
/// end with LF or CRLF, and the last line may lack its end. A UTF-8 byte order mark at the start is skipped.
/// Lines of a pipe are returned as they arrive.
class LineReader {
 public:
  /// Throws Error (kInput) if the file is missing, unreadable or a directory.
  explicit LineReader(std::string path) : LineReader(FilePart{std::move(path)}) {}
  explicit LineReader(FilePart part);
  /// Reads the lines of `text`, which is not compressed. Errors call it `name`.
  LineReader(std::string_view text, std::string name);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// Moves to the next line; returns false after the last one. `line` has no line end and is valid until the
  /// next call. Passes stop_point() before each block of the file. Throws Error (kInput) on a read error, on
  /// a truncated compressed file (before the incomplete last line is returned), on a wrong checksum, and on
  /// text that is UTF-16 or has a NUL, a CR inside a line or a byte order mark inside.
  bool next(std::string_view& line);

  /// Whether the rest of a record has arrived, so that next() need not wait for the writer of the file.
  bool has_record() const;

  /// Number of the line that next() last returned. Counts from 1 at the start of the part; 0 before the first
  /// line.
  std::uint64_t line() const { return line_; }
  const std::string& path() const { return path_; }

  /// Throws Error::in_file for the line that next() last returned.
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;
  /// Does the same for a file that ended without a single record.
  [[noreturn]] void fail_empty(const std::string& expected) const;

 private:
  /// Appends the next block of decoded text to the unread text. Returns false at the end of the file.
  bool fill();
  /// Throws Error (kInput) if the unread text has bytes from place `fresh` on that no text file should have.
  void check(std::size_t fresh) const;
  /// Moves to the first record of a part that does not start at the beginning of the file.
  void find_first();
  /// Counts the lines before the part.
  std::uint64_t lines_before() const;

  std::string path_;
  std::unique_ptr<ByteSource> source_;  ///< null: of a text
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< the unread text is buffer_[begin_, end_)
  std::uint64_t line_ = 0;
  std::uint64_t offset_ = 0;  ///< of the next line, in bytes from the start of the file
  std::uint64_t first_ = 0;   ///< offset of the part's first line
  std::uint64_t end_of_part_ = std::numeric_limits<std::uint64_t>::max();
  FileRecords records_ = FileRecords::kUpToBlankLine;
  bool ended_ = false, part_ended_ = false;
};

}  // namespace proxbench
