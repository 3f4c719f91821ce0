#include "experiments/base/byte_source.h"

#include <bzlib.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/paths.h"
#include "experiments/base/text.h"

namespace proxbench {
namespace {

constexpr std::size_t kBlock = 1 << 18;

/// Makes a decoder of zlib, libbz2 or liblzma, whose streams are alike. `done` is the status at the end of a
/// member, and `wait` the one when no byte can be moved.
template <class Stream, class Begin, class Step, class End>
Decoder decoder(const char* name, const Begin& begin, const Step& step, const End& end, int done, int wait) {
  const std::shared_ptr<Stream> stream(new Stream{}, [end](Stream* ended) {
    end(ended);
    delete ended;
  });
  if (begin(stream.get()) != 0) throw std::bad_alloc();
  return [=](std::string_view& in, std::span<char>& out) {
    Stream& s = *stream;
    s.next_in = reinterpret_cast<decltype(s.next_in)>(const_cast<char*>(in.data()));
    s.avail_in = static_cast<decltype(s.avail_in)>(in.size());
    s.next_out = reinterpret_cast<decltype(s.next_out)>(out.data());
    s.avail_out = static_cast<decltype(s.avail_out)>(out.size());
    const int status = step(&s);
    in.remove_prefix(in.size() - s.avail_in);
    out = out.last(s.avail_out);
    if constexpr (std::is_same_v<Stream, z_stream>)
      if (s.msg != nullptr) throw std::string(s.msg);
    if (status != 0 && status != done && status != wait) throw fmt::format("{} error {}", name, status);
    return status == done;
  };
}

Decoder gzip() {
  return decoder<z_stream>(
      "gzip", [](z_stream* s) { return inflateInit2(s, 16 + MAX_WBITS); },
      [](z_stream* s) { return inflate(s, Z_NO_FLUSH); }, inflateEnd, Z_STREAM_END, Z_BUF_ERROR);
}

Decoder bzip2() {
  return decoder<bz_stream>(
      "bzip2", [](bz_stream* s) { return BZ2_bzDecompressInit(s, 0, 0); }, BZ2_bzDecompress,
      BZ2_bzDecompressEnd, BZ_STREAM_END, BZ_OK);
}

Decoder xz() {
  return decoder<lzma_stream>(
      "xz", [](lzma_stream* s) { return lzma_stream_decoder(s, UINT64_MAX, 0); },
      [](lzma_stream* s) { return lzma_code(s, LZMA_RUN); }, lzma_end, LZMA_STREAM_END, LZMA_BUF_ERROR);
}

Decoder zstd() {
  const std::shared_ptr<ZSTD_DStream> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  return [stream](std::string_view& in, std::span<char>& out) {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t left = ZSTD_decompressStream(stream.get(), &to, &from);
    if (ZSTD_isError(left)) throw std::string(ZSTD_getErrorName(left));
    in.remove_prefix(from.pos);
    out = out.subspan(to.pos);
    return left == 0;
  };
}

struct Packing {
  const char* name;
  std::string_view begin;       ///< the first bytes of a file; '?' is any byte
  Decoder (*make)() = nullptr;  ///< null: cannot be unpacked
};

using namespace std::string_view_literals;
constexpr Packing kPackings[] = {
    {"gzip", "\x1f\x8b"sv, gzip},
    {"bzip2", "BZh?1AY&SY"sv, bzip2},
    {"bzip2", "BZh?\x17\x72\x45\x38\x50\x90"sv, bzip2},  // of an empty file
    {"xz", "\xfd\x37zXZ\0"sv, xz},
    {"zstd", "\x28\xb5\x2f\xfd"sv, zstd},
    {"zstd", "\x50\x2a\x4d\x18"sv, zstd},  // a skippable frame, which pzstd writes
    {"zip", "PK\x03\x04"sv},
    {"zip", "PK\x05\x06"sv},  // an empty one
    {"7z", "7z\xbc\xaf\x27\x1c"sv},
    {"rar", "Rar!\x1a\x07"sv},
    {"compress (.Z)", "\x1f\x9d"sv},
    {"lz4", "\x04\x22\x4d\x18"sv},
    {"lzma", "\x5d\0\0"sv},
};

/// Whether the bytes agree with the beginning of a packed file, as far as both go.
bool agree(std::string_view bytes, std::string_view begin) {
  return std::equal(bytes.begin(),
                    bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), begin.size())),
                    begin.begin(), [](char a, char b) { return a == b || b == '?'; });
}

const Packing* packing_of(std::string_view bytes) {
  const auto* const found = std::ranges::find_if(kPackings, [&](const Packing& one) {
    return bytes.size() >= one.begin.size() && agree(bytes, one.begin);
  });
  return found == std::end(kPackings) ? nullptr : found;
}

}  // namespace

ByteSource::ByteSource(const std::string& path) : name_(shown_name(path)) {
  std::error_code ignored;
  if (path != kStandardStream && fs::is_directory(path, ignored))
    throw Error::in_file(name_, 0, "a directory", "a file");
  errno = 0;
  descriptor_ = path == kStandardStream ? ::dup(STDIN_FILENO) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int why = errno;
  if (descriptor_ < 0)
    fail(why == ENOENT ? "no such file" : "an unreadable file (" + std::generic_category().message(why) + ")",
         "a readable file");
}

ByteSource::~ByteSource() {
  ::close(descriptor_);
}

bool ByteSource::seek(std::uint64_t at) {
  detected_ = true;
  return ::lseek(descriptor_, static_cast<off_t>(at), SEEK_SET) >= 0;
}

std::size_t ByteSource::read(char* to, std::size_t size, std::uint64_t line) {
  line_ = line;
  if (!detected_) detect();
  if (decoder_ != nullptr) return unpack(to, size);
  if (unused_.empty()) return read_raw(to, size);
  const std::size_t taken = unused_.copy(to, size);
  unused_.remove_prefix(taken);
  return taken;
}

void ByteSource::fail(const std::string& found, const std::string& expected) const {
  throw Error::in_file(name_, line_, found, expected);
}

std::size_t ByteSource::read_raw(char* to, std::size_t size) const {
  for (;;) {
    const ssize_t got = ::read(descriptor_, to, size);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR)
      fail("a read error (" + std::generic_category().message(errno) + ")", "a readable file");
  }
}

bool ByteSource::refill() {
  if (input_.empty()) input_.resize(kBlock);
  const std::size_t had = unused_.size();
  if (had > 0) std::memmove(input_.data(), unused_.data(), had);
  const std::size_t got = read_raw(input_.data() + had, input_.size() - had);
  unused_ = {input_.data(), had + got};
  return got > 0;
}

void ByteSource::detect() {
  detected_ = true;
  const auto undecided = [&] {
    return std::ranges::any_of(kPackings, [&](const Packing& one) {
      return unused_.size() < one.begin.size() && agree(unused_, one.begin);
    });
  };
  while (undecided() && refill()) {
  }
  const Packing* packing = packing_of(unused_);
  if (packing == nullptr) return;
  packing_ = packing->name;
  if (packing->make == nullptr)
    fail(fmt::format("data packed by {}", packing_), "text, or text packed by gzip, bzip2, xz or zstd");
  decoder_ = packing->make();
}

std::size_t ByteSource::unpack(char* to, std::size_t size) {
  std::span<char> out(to, size);
  while (out.size() == size && !ended_) {
    try {
      // Decode even without new bytes: the decoder may hold text that did not fit into the buffer.
      if (decoder_(unused_, out)) end_member();
    } catch (const std::string& reason) {
      fail(fmt::format("a damaged {} stream ({})", packing_, reason),
           fmt::format("an intact {} file", packing_));
    }
    if (out.size() == size && unused_.empty() && !ended_ && !refill())
      fail(fmt::format("a {} stream cut short", packing_), fmt::format("a complete {} file", packing_));
  }
  const std::size_t got = size - out.size();
  if (const Packing* inner = packing_of({to, got}); inner != nullptr && got > 0 && !began_)
    fail(fmt::format("{} data within {} data", inner->name, packing_), "text that is packed once");
  began_ = began_ || got > 0;
  return got;
}

void ByteSource::end_member() {
  // Zeros may fill the last block of a tape or disk.
  const auto skip_zeros = [&] {
    unused_.remove_prefix(std::min(unused_.find_first_not_of('\0'), unused_.size()));
  };
  const Packing* next = nullptr;
  for (skip_zeros(); (next = packing_of(unused_)) == nullptr && refill();) skip_zeros();
  ended_ = unused_.empty();
  if (ended_) return;
  if (next == nullptr || next->name != std::string_view(packing_))
    fail(fmt::format("{} behind the {} data", in_quotes(unused_), packing_),
         fmt::format("only {} data, or none of them packed", packing_));
  decoder_ = next->make();
}

bool is_compressed(std::string_view bytes) {
  return packing_of(bytes) != nullptr;
}

bool is_compressed_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char bytes[16];
  in.read(bytes, sizeof bytes);
  return is_compressed({bytes, static_cast<std::size_t>(in.gcount())});
}

std::string read_unpacked(const std::string& path, const std::string& expected) {
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  if (path != kStandardStream && (folder || !std::ifstream(path)))
    throw Error::in_file(path, 0, folder ? "a directory" : "no readable file", expected);
  ByteSource in(path);
  std::string out;
  for (std::size_t size = 0, got = 1; got > 0; out.resize(size += got)) {
    out.resize(size + kBlock);
    got = in.read(out.data() + size, kBlock, 0);
  }
  return out;
}

}  // namespace proxbench
