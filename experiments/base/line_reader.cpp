#include "experiments/base/line_reader.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "core/base/error.h"
#include "core/base/stop_token.h"
#include "experiments/base/byte_source.h"
#include "experiments/base/files.h"

namespace proxbench {
namespace {

constexpr std::size_t kBlock = 1 << 18;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(kBlanks) == std::string_view::npos;
}

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

LineReader::LineReader(FilePart part)
    : path_(shown_name(part.path)),
      source_(std::make_unique<ByteSource>(part.path)),
      end_of_part_(part.end),
      records_(part.records) {
  if (part.begin == 0) return;
  if (!source_->seek(part.begin - 1)) fail("an unreadable part", "a plain file");
  offset_ = first_ = part.begin - 1;
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
    if (at == 0 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    return true;
  }
}

bool LineReader::fill() {
  if (ended_) return false;
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (buffer_.size() < end_ + kBlock) buffer_.resize(2 * end_ + kBlock);
  stop_point();
  const std::size_t got = source_->read(buffer_.data() + end_, kBlock, line_ + 1);
  end_ += got;
  ended_ = got == 0;
  check(end_ - got);
  return !ended_;
}

void LineReader::check(std::size_t fresh) const {
  using namespace std::string_view_literals;
  const std::string_view text(buffer_.data(), end_);
  const auto refuse = [&](std::size_t at, const char* found, const char* expected) {
    const auto lines = static_cast<std::uint64_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
    throw Error::in_file(path_, lines_before() + line_ + 1 + lines, found, expected);
  };
  if (offset_ == 0 && fresh == 0) {
    constexpr std::size_t kTarMark = 257;
    if (text.starts_with("\xFF\xFE"sv) || text.starts_with("\xFE\xFF"sv))
      refuse(0, "text in UTF-16", "UTF-8 (iconv -f UTF-16 -t UTF-8 FILE)");
    if (text.substr(std::min(kTarMark, end_)).starts_with("ustar"))
      refuse(0, "a tar archive", "one of the files in it");
  }
  if (const std::size_t at = text.find('\0', fresh); at != text.npos)
    refuse(at, "a NUL byte", "text; if this is UTF-16, iconv -f UTF-16 -t UTF-8 FILE");
  // A mark, or a CR and LF, may begin in the block before.
  const std::size_t split = std::max(fresh, kByteOrderMark.size() - 1) - (kByteOrderMark.size() - 1);
  for (std::size_t at = split; (at = text.find('\r', at)) < end_ && ++at < end_;)
    if (text[at] != '\n')
      refuse(at - 1, "a carriage return (CR) inside the line", "lines that end in LF or CRLF");
  for (std::size_t at = split; (at = text.find(kByteOrderMark[0], at)) != text.npos; ++at)
    if (text.substr(at).starts_with(kByteOrderMark) && offset_ + at > 0)
      refuse(at, "a byte order mark (U+FEFF) inside the text",
             "one only at the start (sed 's/\\xEF\\xBB\\xBF//g' FILE removes them)");
}

void LineReader::fail(const std::string& found, const std::string& expected) const {
  throw Error::in_file(path_, lines_before() + line_, found, expected);
}

void LineReader::fail_empty(const std::string& expected) const {
  throw Error::in_file(path_, line_, line_ == 0 ? "an empty file" : "only empty lines", expected);
}

}  // namespace proxbench
