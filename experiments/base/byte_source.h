#pragma once
/// The bytes of a file, unpacked if they are compressed.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace proxbench {

/// Unpacks one member of a compressed file: moves unpacked bytes to `out`, and removes what is used from the
/// front of both. Returns true at the end of the member. Throws the reason as a text if the bytes are
/// damaged.
using Decoder = std::function<bool(std::string_view& in, std::span<char>& out)>;

/// Reads the bytes of a file as they arrive. Detects gzip, bzip2, xz and zstd by content, not by name, and
/// unpacks them. All methods throw Error (kInput).
class ByteSource {
 public:
  /// Opens the file; "-" is standard input.
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Moves to a byte of a plain file before anything is read. Returns false if this is impossible.
  bool seek(std::uint64_t at);

  /// Writes up to `size` bytes to `to`, and waits only for the first of them. Returns their number, which is
  /// 0 at the end. Errors name `line`. Archives, and data that were compressed twice, are errors.
  std::size_t read(char* to, std::size_t size, std::uint64_t line);

 private:
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const;
  std::size_t read_raw(char* to, std::size_t size) const;
  /// Appends to the bytes that are not used yet. Returns false at the end.
  bool refill();
  /// Reads the first bytes until they identify the compression.
  void detect();
  std::size_t unpack(char* to, std::size_t size);
  /// Continues with the next member of the file, if there is one.
  void end_member();

  std::string name_;
  std::uint64_t line_ = 0;
  int descriptor_;
  bool detected_ = false, ended_ = false, began_ = false;
  Decoder decoder_;           ///< null: a plain file
  const char* packing_ = "";  ///< the name of the compression
  std::vector<char> input_;
  std::string_view unused_;  ///< the part of `input_` that is not used yet
};

/// Whether the bytes begin a compressed file, or an archive.
bool is_compressed(std::string_view bytes);
/// Whether the file is compressed. False if it cannot be read.
bool is_compressed_file(const std::string& path);

/// Returns all bytes of the file, unpacked. Throws Error (kInput). If the file cannot be read, the message
/// says that `expected` was expected.
std::string read_unpacked(const std::string& path, const std::string& expected);

}  // namespace proxbench
