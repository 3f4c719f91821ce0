#pragma once
/// Copies the beginning of a text that can be read only once, and leaves it to its reader.

#include <string>

namespace proxbench {

/// Copies the text that waits in a pipe or in standard input, and leaves it there. As long as the object
/// exists, it holds the pipe open. So its writer is not ended by a signal before the reader opens the pipe.
class WaitingText {
 public:
  /// Waits until a pipe has text or its writer ends. "-" is standard input, which may also be a file. The
  /// text is empty for files that can be read again, and for devices such as terminals.
  explicit WaitingText(const std::string& path);
  ~WaitingText();
  WaitingText(const WaitingText&) = delete;
  WaitingText& operator=(const WaitingText&) = delete;

  /// Whole lines of the first 64 KB at most. A slow writer may have written only one of them.
  const std::string& text() const { return text_; }

 private:
  int descriptor_;
  std::string text_;
};

}  // namespace proxbench
