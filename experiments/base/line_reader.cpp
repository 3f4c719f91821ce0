#include "experiments/base/line_reader.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/base/error.h"

namespace proxbench {
namespace {

constexpr std::size_t kBlock = 1 << 18;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(kBlanks) == std::string_view::npos;
}

}  // namespace

LineReader::LineReader(FilePart part)
    : path_(std::move(part.path)), end_of_part_(part.end), records_(part.records) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) throw Error::in_file(path_, 0, "a directory", "a file");
  errno = 0;
  file_ = gzopen(path_.c_str(), "rb");
  if (file_ == nullptr) {
    const int why = errno;
    throw Error::in_file(
        path_, 0,
        why == ENOENT ? "no such file" : "an unreadable file (" + std::generic_category().message(why) + ")",
        "a readable file");
  }
  gzbuffer(file_, kBlock);
  if (part.begin == 0) return;
  if (gzseek(file_, static_cast<z_off_t>(part.begin - 1), SEEK_SET) < 0)
    fail("an unreadable part", "a plain file");
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

LineReader::~LineReader() {
  if (file_ != nullptr) gzclose_r(file_);
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
  const int got = gzread(file_, buffer_.data() + end_, static_cast<unsigned>(kBlock));
  if (got > 0) {
    end_ += static_cast<std::size_t>(got);
    return true;
  }
  ended_ = true;
  int status = Z_OK;
  std::string why = gzerror(file_, &status);
  if (why.starts_with(path_ + ": ")) why.erase(0, path_.size() + 2);
  const std::uint64_t next_line = line_ + 1;
  if (status == Z_BUF_ERROR)
    throw Error::in_file(path_, next_line, "a gzip stream cut short", "a complete gzip file");
  if (status == Z_DATA_ERROR)
    throw Error::in_file(path_, next_line, "a damaged gzip stream (" + why + ")", "an intact gzip file");
  if (status != Z_OK && status != Z_STREAM_END)
    throw Error::in_file(path_, next_line, "a read error (" + why + ")", "a readable file");
  return false;
}

void LineReader::fail(const std::string& found, const std::string& expected) const {
  throw Error::in_file(path_, lines_before() + line_, found, expected);
}

void LineReader::fail_empty(const std::string& expected) const {
  throw Error::in_file(path_, line_, line_ == 0 ? "an empty file" : "only empty lines", expected);
}

}  // namespace proxbench
