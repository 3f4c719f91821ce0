#pragma once
/// Lines of a text file, plain or gzipped, with the numbers that error messages need.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

struct gzFile_s;

namespace proxbench {

/// Reads a file once from start to end. Whether it is gzipped is told from its content, not its name. Line
/// ends are LF or CRLF; the last line may lack one; a UTF-8 byte order mark is skipped.
class LineReader {
 public:
  /// Throws Error (kInput) where the file is missing, unreadable or a directory.
  explicit LineReader(std::string path);
  /// The lines of `text`, not gzipped; errors name it `name`.
  LineReader(std::string_view text, std::string name);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  /// Moves to the next line; false after the last one. `line` has no line end and is valid until the next
  /// call. Throws Error (kInput) on a read error, on a gzip stream that is cut short (before its incomplete
  /// last line is handed out) and on one whose checksum is wrong.
  bool next(std::string_view& line);

  /// Number of the line that next() gave last, from 1; 0 before the first.
  std::uint64_t line() const { return line_; }
  const std::string& path() const { return path_; }

  /// Throws Error::in_file at the line that next() gave last.
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;
  /// The same, for a file that ended without a single record.
  [[noreturn]] void fail_empty(const std::string& expected) const;

 private:
  /// Appends the next block of decoded text to the unread rest; false at the end of the file.
  bool fill();

  std::string path_;
  gzFile_s* file_ = nullptr;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  ///< the unread text is buffer_[begin_, end_)
  std::uint64_t line_ = 0;
  bool ended_ = false;
};

/// Text as an error message shows it: in single quotes, control characters as \xNN, long text cut with "...".
std::string in_quotes(std::string_view text);

}  // namespace proxbench
