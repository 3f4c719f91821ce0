#include "experiments/base/line_reader.h"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/files.h"

namespace proxbench {
namespace {

constexpr std::size_t kBlock = 1 << 18;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(kBlanks) == std::string_view::npos;
}

}  // namespace

/// Reads the bytes of a file as they arrive, and unpacks a gzipped file. Throws Error (kInput).
class ByteSource {
 public:
  ByteSource(const std::string& path, const std::string& name) : name_(name) {
    errno = 0;
    descriptor_ = path == kStandardStream ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const int why = errno;
    if (descriptor_ < 0)
      fail(why == ENOENT ? "no such file"
                         : "an unreadable file (" + std::generic_category().message(why) + ")",
           "a readable file");
  }
  ~ByteSource() {
    inflateEnd(&stream_);
    ::close(descriptor_);
  }
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Moves to a byte of a plain file before anything is read. Returns false if this is impossible.
  bool seek(std::uint64_t at) {
    kind_ = Kind::kPlain;
    return ::lseek(descriptor_, static_cast<off_t>(at), SEEK_SET) >= 0;
  }

  /// Writes up to `size` bytes to `to`, and waits only for the first of them. Returns their number, which is
  /// 0 at the end. Errors name `line`.
  std::size_t read(char* to, std::size_t size, std::uint64_t line) {
    line_ = line;
    if (kind_ == Kind::kUnknown) {
      kind_ = begins_member() ? Kind::kGzipped : Kind::kPlain;
      if (kind_ == Kind::kGzipped && inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
    }
    if (kind_ == Kind::kGzipped) return unpack(to, size);
    if (stream_.avail_in == 0) return read_raw(to, size);
    const std::size_t taken = std::min<std::size_t>(size, stream_.avail_in);
    std::memcpy(to, stream_.next_in, taken);
    stream_.next_in += taken;
    stream_.avail_in -= static_cast<uInt>(taken);
    return taken;
  }

 private:
  enum class Kind { kUnknown, kPlain, kGzipped };

  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw Error::in_file(name_, line_, found, expected);
  }

  std::size_t read_raw(char* to, std::size_t size) const {
    for (;;) {
      const ssize_t got = ::read(descriptor_, to, size);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR)
        fail("a read error (" + std::generic_category().message(errno) + ")", "a readable file");
    }
  }

  /// Appends to the input that is not unpacked yet. Returns false at the end.
  bool refill() {
    if (input_.empty()) input_.resize(kBlock);
    if (stream_.avail_in > 0) std::memmove(input_.data(), stream_.next_in, stream_.avail_in);
    const std::size_t got = read_raw(input_.data() + stream_.avail_in, input_.size() - stream_.avail_in);
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in += static_cast<uInt>(got);
    return got > 0;
  }

  bool begins_member() {
    while (stream_.avail_in < 2 && refill()) {
    }
    return stream_.avail_in >= 2 && stream_.next_in[0] == 0x1f && stream_.next_in[1] == 0x8b;
  }

  std::size_t unpack(char* to, std::size_t size) {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(size);
    while (stream_.avail_out == size && !ended_) {
      if (stream_.avail_in == 0 && !refill()) fail("a gzip stream cut short", "a complete gzip file");
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {
        // Another member may follow. Like gzip, this ignores anything else after a member.
        ended_ = !begins_member();
        inflateReset(&stream_);
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        fail(std::string("a damaged gzip stream (") +
                 (stream_.msg != nullptr ? stream_.msg : zError(status)) + ")",
             "an intact gzip file");
      }
    }
    return size - stream_.avail_out;
  }

  std::string name_;
  std::uint64_t line_ = 0;
  int descriptor_;
  Kind kind_ = Kind::kUnknown;
  bool ended_ = false;  ///< the last member is unpacked
  z_stream stream_{};   ///< its input also holds the first bytes of a plain file, read to detect the kind
  std::vector<char> input_;
};

LineReader::LineReader(FilePart part)
    : path_(shown_name(part.path)), end_of_part_(part.end), records_(part.records) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) throw Error::in_file(path_, 0, "a directory", "a file");
  source_ = std::make_unique<ByteSource>(part.path, path_);
  if (part.begin == 0) return;
  if (!source_->seek(part.begin - 1)) fail("an unreadable part", "a plain file");
  offset_ = part.begin - 1;
  find_first();
}

void LineReader::find_first() {
  std::string_view line;
  next(line);  // the rest of the line before the part
  bool found = records_ == FileRecords::kLine;
  while (!found && !part_ended_ && next(line)) found = is_blank(line);
  line_ = 0;
  first_ = offset_;
  part_ended_ = part_ended_ || !found;
}

std::uint64_t LineReader::lines_before() const {
  if (first_ == 0) return 0;
  std::ifstream in(path_, std::ios::binary);
  std::uint64_t lines = 0, left = first_;
  for (std::vector<char> block(kBlock);
       left > 0 && in.read(block.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(left, kBlock)));
       left -= static_cast<std::uint64_t>(in.gcount()))
    lines += static_cast<std::uint64_t>(std::count(block.begin(), block.begin() + in.gcount(), '\n'));
  return lines;
}

LineReader::LineReader(std::string_view text, std::string name)
    : path_(std::move(name)), buffer_(text.begin(), text.end()), end_(text.size()), ended_(true) {}

LineReader::~LineReader() = default;

bool LineReader::has_record() const {
  const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
  if (records_ == FileRecords::kLine) return rest.find('\n') != rest.npos;
  return rest.starts_with('\n') || rest.starts_with("\r\n") || rest.find("\n\n") != rest.npos ||
         rest.find("\n\r\n") != rest.npos;
}

bool LineReader::next(std::string_view& line) {
  if (part_ended_) return false;
  std::size_t searched = begin_;
  for (;;) {
    const void* found =
        end_ > searched ? std::memchr(buffer_.data() + searched, '\n', end_ - searched) : nullptr;
    if (found == nullptr) {
      const std::size_t unread = end_ - begin_;
      if (fill()) {
        searched = begin_ + unread;
        continue;
      }
      if (unread == 0) return false;
    }
    ++line_;
    const char* start = buffer_.data() + begin_;
    const char* stop = found != nullptr ? static_cast<const char*>(found) : buffer_.data() + end_;
    begin_ = found != nullptr ? static_cast<std::size_t>(stop - buffer_.data()) + 1 : end_;
    const std::uint64_t at =
        std::exchange(offset_, offset_ + static_cast<std::uint64_t>(buffer_.data() + begin_ - start));
    if (stop > start && stop[-1] == '\r') --stop;
    line = {start, static_cast<std::size_t>(stop - start)};
    part_ended_ =
        records_ == FileRecords::kLine ? offset_ >= end_of_part_ : at >= end_of_part_ && is_blank(line);
    if (at == 0 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    return true;
  }
}

bool LineReader::fill() {
  if (ended_) return false;
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() < end_ + kBlock) buffer_.resize(2 * end_ + kBlock);
  const std::size_t got = source_->read(buffer_.data() + end_, kBlock, line_ + 1);
  end_ += got;
  ended_ = got == 0;
  return !ended_;
}

void LineReader::fail(const std::string& found, const std::string& expected) const {
  throw Error::in_file(path_, lines_before() + line_, found, expected);
}

void LineReader::fail_empty(const std::string& expected) const {
  throw Error::in_file(path_, line_, line_ == 0 ? "an empty file" : "only empty lines", expected);
}

}  // namespace proxbench
