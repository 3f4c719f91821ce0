#include "experiments/base/line_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "experiments/base/test_file.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
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
  EXPECT_THAT(lines_in("a\rb\n"), ElementsAre("a\rb")) << "a CR alone ends no line";
  EXPECT_THAT(lines_in("\n\n"), ElementsAre("", ""));
  EXPECT_THAT(lines_in("\xEF\xBB\xBFx\n\xEF\xBB\xBFy\n"), ElementsAre("x", "\xEF\xBB\xBFy"))
      << "byte order mark";
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

TEST(LineReader, TellsGzipFromContentNotFromName) {
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
  pipe.write(gzipped("a\n") + gzipped("b\n") + "what follows is ignored");
  pipe.close();
  EXPECT_THAT(lines_of(pipe.path()), ElementsAre("a", "b"));
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
