#include "experiments/base/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "experiments/base/byte_source.h"
#include "experiments/base/test_file.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

std::vector<std::string> lines_of(const std::string& path) {
  LineReader in(path);
  std::vector<std::string> lines;
  std::string_view line;
  while (in.next(line)) {
    lines.emplace_back(line);
    EXPECT_EQ(in.line(), lines.size());
  }
  EXPECT_FALSE(in.next(line)) << "stays at the end";
  return lines;
}

std::vector<std::string> lines_in(const std::string& content) {
  return lines_of(TempFile(content).path());
}

TEST(LineReader, ReadsTextUnderAName) {
  LineReader in("a\r\n\nb", "a text");
  std::string_view line;
  ASSERT_TRUE(in.next(line));
  EXPECT_EQ(line, "a");
  ASSERT_TRUE(in.next(line) && in.next(line));
  EXPECT_EQ(line, "b");
  EXPECT_EQ(error_of([&] { in.fail("this", "that"); }), "a text:3: found this, expected that");
  EXPECT_FALSE(in.next(line));
}

TEST(LineReader, SplitsLinesWithAnyLineEnd) {
  EXPECT_THAT(lines_in("a\nb\n"), ElementsAre("a", "b"));
  EXPECT_THAT(lines_in("a\nb"), ElementsAre("a", "b")) << "the last line may lack its end";
  EXPECT_THAT(lines_in("a\r\n\r\nb\r\n"), ElementsAre("a", "", "b"));
  EXPECT_THAT(lines_in("\n\n"), ElementsAre("", ""));
  EXPECT_THAT(lines_in("\xEF\xBB\xBFx\ny\n"), ElementsAre("x", "y")) << "byte order mark";
  EXPECT_THAT(lines_in(""), IsEmpty());
}

TEST(LineReader, ReadsLinesLongerThanItsBlocks) {
  std::vector<std::string> want;
  std::string content;
  for (std::size_t length : {10u, 1000000u, 0u, 262144u, 262143u, 3u}) {
    want.emplace_back(length, static_cast<char>('a' + want.size()));
    content += want.back() + "\n";
  }
  EXPECT_EQ(lines_in(content), want);
  EXPECT_EQ(lines_in(gzipped(content)), want);
}

TEST(LineReader, StatesGzipFromContentNotFromName) {
  EXPECT_THAT(lines_of(TempFile(gzipped("a\nb\n"), "x.txt").path()), ElementsAre("a", "b"));
  EXPECT_THAT(lines_of(TempFile("a\nb\n", "x.gz").path()), ElementsAre("a", "b"));
  EXPECT_THAT(lines_in(gzipped("a\n") + gzipped("b\n")), ElementsAre("a", "b")) << "several members";
}

TEST(LineReader, RefusesAGzipStreamCutShortAtAnyPoint) {
  std::string content;
  for (int i = 0; i < 500; ++i) content += std::to_string(i * i) + "\n";
  const std::string whole = gzipped(content);
  for (std::size_t size : {std::size_t{12}, whole.size() / 2, whole.size() - 9, whole.size() - 1}) {
    const TempFile file(whole.substr(0, size), "x.gz");
    LineReader in(file.path());
    std::string_view line;
    std::uint64_t complete = 0;
    const std::string message = error_of([&] {
      while (in.next(line)) {
        EXPECT_EQ(line, std::to_string(complete * complete)) << "no incomplete line is handed out";
        ++complete;
      }
    });
    EXPECT_EQ(message, file.path() + ":" + std::to_string(complete + 1) +
                           ": found a gzip stream cut short, expected a complete gzip file")
        << "cut to " << size << " bytes";
  }
}

/// A pipe under the name that the kernel gives it.
struct Pipe {
  Pipe() { EXPECT_EQ(::pipe(ends), 0); }
  ~Pipe() { ::close(ends[0]); }
  void write(const std::string& text) const {
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void close() const { ::close(ends[1]); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends[0]); }
  int ends[2];
};

TEST(LineReader, HandsOutTheLinesOfAPipeAsTheyCome) {
  const Pipe pipe;
  pipe.write("a\nb\n\nc\n");
  LineReader in(pipe.path());
  std::string_view line;
  // Reading on would wait for ever.
  for (const auto& [expected, record] : {std::pair("a", true), {"b", true}, {"", false}, {"c", false}}) {
    ASSERT_TRUE(in.next(line));
    EXPECT_EQ(line, expected);
    EXPECT_EQ(in.has_record(), record) << expected;
  }
  pipe.write("d\r\n\r\n");
  ASSERT_TRUE(in.next(line));
  EXPECT_EQ(line, "d");
  pipe.close();
  ASSERT_TRUE(in.next(line));
  EXPECT_FALSE(in.next(line));
}

TEST(LineReader, UnpacksWhatComesThroughAPipe) {
  const Pipe pipe;
  pipe.write(gzipped("a\n") + gzipped("b\n") + std::string(300, '\0'));
  pipe.close();
  EXPECT_THAT(lines_of(pipe.path()), ElementsAre("a", "b")) << "zeros may fill a block";
}

using namespace std::string_literals;

/// "1 1:1\n2 2:1\n" as the programs bzip2, xz and zstd pack it.
const std::string kBzip2 =
    "BZh91AY&SYn\xf6?$\0\0\x03X\0\0\x10@\0"
    "0\x10 \0"
    "0\xcd\0\xc4\xf2\x9d"
    "F\x0e\xc3\xe2\xeeH\xa7\x0a\x12"
    "\x0d\xde\xc7\xe4\x80"s;
const std::string kXz =
    "\xfd"
    "7zXZ\0\0\x01i\"\xde"
    "6\x02\0!\x01\x0c\0\0\0\x8f\x98"
    "A\x9c\x01\0\x0b"
    "1 1:1\n2 2:1\n\0V\xab\xd9~\0"
    "\x01 \x0c\xa2\xdd\xb4\xbc\x90"
    "B\x99\x0d\x01\0\0\0\0\x01YZ"s;
const std::string kZstd =
    "(\xb5/\xfd\x04Xa\0\0"
    "1 1:1\n2 2:1\n\x15H\x03\x0f"s;

TEST(LineReader, UnpacksBzip2XzAndZstd) {
  for (const std::string& bytes : {kBzip2, kXz, kZstd}) {
    EXPECT_THAT(lines_in(bytes), ElementsAre("1 1:1", "2 2:1"));
    EXPECT_THAT(lines_in(bytes + bytes), ElementsAre("1 1:1", "2 2:1", "1 1:1", "2 2:1")) << "two members";
    EXPECT_THAT(error_of([&] { lines_in(bytes.substr(0, bytes.size() - 1)); }), HasSubstr("cut short"));
    std::string damaged = bytes;
    damaged[bytes.size() / 2] ^= 1;
    EXPECT_THAT(error_of([&] { lines_in(damaged); }), HasSubstr(" stream ("));
    const TempFile file(bytes);
    EXPECT_EQ(read_unpacked(file.path(), "a text"), "1 1:1\n2 2:1\n");
  }
}

TEST(LineReader, SkipsFramesOfZstdWithoutText) {
  const std::string empty = "\x50\x2a\x4d\x18\x03\0\0\0abc"s;
  EXPECT_THAT(lines_in(empty + kZstd + empty), ElementsAre("1 1:1", "2 2:1"));
}

/// The message for a file with this content, without its path.
std::string error_for(const std::string& content) {
  const TempFile file(content);
  return error_of([&] { lines_of(file.path()); }).erase(0, file.path().size());
}

TEST(LineReader, RefusesWhatIsNotPackedOnceAsAWhole) {
  EXPECT_THAT(
      error_for(gzipped("a\nb\n") + "c\n"),
      MatchesRegex(":[0-9]+: found 'c\\\\x0a' behind the gzip data, expected only gzip data, or none of "
                   "them packed"));
  EXPECT_THAT(error_for(gzipped("a\n") + kZstd), HasSubstr(" behind the gzip data"));
  EXPECT_EQ(error_for(gzipped(gzipped("a\n"))),
            ":1: found gzip data within gzip data, expected text that is packed once");
  EXPECT_THAT(error_for(gzipped(kXz)), HasSubstr("found xz data within gzip data"));
  for (const auto& [begin, name] : {std::pair("PK\x03\x04"s, "zip"),
                                    {"PK\x05\x06"s, "zip"},
                                    {"7z\xbc\xaf\x27\x1c"s, "7z"},
                                    {"\x1f\x9d"s, "compress (.Z)"}})
    EXPECT_EQ(error_for(begin + "..."), ":1: found data packed by "s + name +
                                            ", expected text, or text packed by gzip, bzip2, xz or zstd");
  EXPECT_THAT(error_for(std::string(257, 'x') + "ustar"), HasSubstr(":1: found a tar archive"));
  EXPECT_THAT(lines_in("BZh, PK and 7z\n"), ElementsAre("BZh, PK and 7z")) << "a text that begins like them";
}

TEST(LineReader, NamesTheLineOfBytesThatNoTextHas) {
  for (const std::string& long_text : {""s, std::string(400000, 'x')})
    for (const std::string& end : {"\n"s, "\r\n"s}) {
      const std::string before = "a" + end + long_text + end;
      EXPECT_EQ(error_for(before + "b\0c\n"s),
                ":3: found a NUL byte, expected text; if this is UTF-16, iconv -f UTF-16 -t UTF-8 FILE");
      EXPECT_EQ(error_for(before + "b\rc\r\n"),
                ":3: found a carriage return (CR) inside the line, expected lines that end in LF or CRLF");
      EXPECT_THAT(error_for(before + "\xEF\xBB\xBF"
                                     "b\n"),
                  HasSubstr(":3: found a byte order mark"));
      EXPECT_THAT(error_for(gzipped(before + "b\r\r\n")), HasSubstr(":3: found a carriage return"));
    }
  EXPECT_THAT(error_for("a\rb\rc\r"), HasSubstr(":1: found a carriage return")) << "lines that end in CR";
  EXPECT_THAT(error_for("\xFF\xFE"
                        "a\0\n\0"s),
              HasSubstr(":1: found text in UTF-16, expected UTF-8"));
  EXPECT_THAT(error_for("\xFE\xFF\0a\0\n"s), HasSubstr(":1: found text in UTF-16"));
  EXPECT_THAT(error_for("a\0\n\0"s), HasSubstr(":1: found a NUL byte"));
  EXPECT_THAT(lines_in("\xEF\xBC\x8C\xEF\xBB\n"), ElementsAre("\xEF\xBC\x8C\xEF\xBB")) << "other characters";
}

/// A block ends at each byte of the text once.
TEST(LineReader, NamesThemAcrossBlocks) {
  constexpr std::size_t kBlock = 1 << 18;
  for (std::size_t shift = 0; shift < 4; ++shift) {
    const std::string before(kBlock - shift, 'x');
    EXPECT_THAT(error_for(before + "\xEF\xBB\xBF\n"), HasSubstr(":1: found a byte order mark"));
    EXPECT_THAT(error_for(before + "\rb\n"), HasSubstr(":1: found a carriage return"));
    EXPECT_THAT(lines_in(before + "\r\nb\r\n"), ElementsAre(before, "b"));
    EXPECT_THAT(lines_in(before + "\r"), ElementsAre(before)) << "the last line may lack its end";
  }
}

TEST(LineReader, AnswersAShortRecordOfAPipeThatBeginsLikeAPackedFile) {
  const Pipe pipe;
  pipe.write("B\n\n");
  LineReader in(pipe.path());
  std::string_view line;
  ASSERT_TRUE(in.next(line));
  EXPECT_EQ(line, "B");
  pipe.close();
}

TEST(LineReader, RefusesAWrongChecksum) {
  std::string bytes = gzipped("a\nb\n");
  bytes[bytes.size() - 8] = static_cast<char>(bytes[bytes.size() - 8] ^ 1);  // first byte of the CRC
  const TempFile file(bytes, "x.gz");
  // The checksum comes at the end, so the line number depends on how much zlib decodes at once.
  EXPECT_THAT(
      error_of([&] { lines_of(file.path()); }),
      MatchesRegex(
          ".*x.gz:[0-9]+: found a damaged gzip stream .incorrect data check., expected an intact gzip file"));
}

TEST(LineReader, RefusesMissingFilesAndFolders) {
  EXPECT_EQ(error_of([] { LineReader("/nowhere/letter.data"); }),
            "/nowhere/letter.data: found no such file, expected a readable file");
  EXPECT_EQ(error_of([] { LineReader("/tmp"); }), "/tmp: found a directory, expected a file");
}

TEST(LineReader, FailsAtItsLine) {
  const TempFile file("a\nb\n");
  LineReader in(file.path());
  std::string_view line;
  in.next(line);
  in.next(line);
  EXPECT_EQ(error_of([&] { in.fail("x", "y"); }), file.path() + ":2: found x, expected y");
}

TEST(InQuotes, ShowsControlCharactersAndCutsLongText) {
  EXPECT_EQ(in_quotes("a b"), "'a b'");
  EXPECT_EQ(in_quotes(std::string_view("\x01\0\x7f", 3)), "'\\x01\\x00\\x7f'");
  EXPECT_EQ(in_quotes("\xC3\xA9"), "'\xC3\xA9'") << "UTF-8 stays";
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
}

}  // namespace
}  // namespace proxbench
