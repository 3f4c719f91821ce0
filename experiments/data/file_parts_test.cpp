#include "experiments/data/file_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/process_team_test.h"
#include "core/base/random.h"
#include "core/data/sharing.h"
#include "experiments/base/test_file.h"
#include "experiments/config/data_format.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

/// Sequences of a crfsuite or conll file, some with values, some ends of lines of DOS.
std::string sequences(std::size_t count, bool values, std::uint64_t seed = 1) {
  Random random(seed);
  std::string text;
  for (std::size_t s = 0; s < count; ++s) {
    for (std::size_t left = 1 + random.below(9); left > 0; --left) {
      text += "y" + std::to_string(random.below(4));
      for (int e = 0; e < 3; ++e)
        text += "\tf" + std::to_string(random.below(40 + s)) + (values && random.below(5) == 0 ? ":0.5" : "");
      text += random.below(3) == 0 ? "\r\n" : "\n";
    }
    text += random.below(4) == 0 ? "\n\n" : "\n";
  }
  return text;
}

TEST(FileParts, HaveEachRecordOnceForAnyCut) {
  const std::string text = sequences(20, true);
  const TempFile file(text);
  const auto lines = [](const FilePart& part) {
    std::vector<std::string> out;
    LineReader in(part);
    for (std::string_view line; in.next(line);)
      if (!line.empty()) out.emplace_back(line);
    return out;
  };
  const std::vector<std::string> all = lines({file.path()});
  for (std::uint64_t cut = 1; cut < text.size(); ++cut) {
    std::vector<std::string> both = lines({file.path(), 0, cut});
    const std::vector<std::string> second = lines({file.path(), cut});
    both.insert(both.end(), second.begin(), second.end());
    ASSERT_EQ(both, all) << "cut at byte " << cut;
  }
}

TEST(FileParts, TellErrorsByTheLinesOfTheWholeFile) {
  const TempFile file("a\n\nb\n\nc\n\nd\n");
  LineReader in(FilePart{file.path(), 4});
  std::string_view line;
  ASSERT_TRUE(in.next(line));
  EXPECT_EQ(line, "c");
  EXPECT_THAT(error_of([&] { in.fail("c", "d"); }), HasSubstr(":5: found c"));
}

/// The parts of all processes are those of a training set that each of them reads as a whole.
void expect_shares(const std::string& format, const std::vector<std::string>& contents,
                   const std::map<std::string, std::string>& values = {}) {
  std::vector<std::unique_ptr<TempFile>> files;
  DataFiles paths;
  for (const std::string& content : contents) {
    files.push_back(std::make_unique<TempFile>(content));
    paths.train.push_back(files.back()->path());
  }
  paths.test = {paths.train.back()};
  const DataFormatInfo& info = data_format_registry().find(format);
  Options options(info.options);
  for (const auto& [name, text] : values) options.set(name, text);
  const DataPair whole = info.read(paths, options);
  for (const int count : {1, 2, 3, 5})
    run_process_team(count, [&](const Processes& processes) {
      const DataPair part = info.read_share(paths, options, processes);
      const Dataset expected = share_of(whole.train, processes), &found = part.train;
      EXPECT_EQ(found.begin, expected.begin);
      EXPECT_EQ(found.gold, expected.gold);
      EXPECT_EQ(found.vocabulary->features, whole.train.vocabulary->features);
      EXPECT_EQ(found.vocabulary->outputs, whole.train.vocabulary->outputs);
      EXPECT_EQ(found.digest, whole.train.digest);
      EXPECT_EQ(found.description, whole.train.description);
      EXPECT_EQ(found.notes, whole.train.notes);
      EXPECT_EQ(part.test.digest, whole.test.digest);
      EXPECT_EQ(found.x.whole_nonzeros(), whole.train.x.nonzeros());
      ASSERT_EQ(found.x.positions(), expected.x.positions());
      for (Index p = 0; p < found.x.positions(); ++p) {
        EXPECT_TRUE(std::ranges::equal(found.x.row(p), expected.x.row(p))) << p;
        EXPECT_EQ(found.x.row_values(p), expected.x.row_values(p)) << p;
      }
    });
}

TEST(FileParts, MakeTheSharesOfCrfsuiteFiles) {
  expect_shares("crfsuite", {sequences(500, false)});
  expect_shares("crfsuite", {sequences(500, true)});
  expect_shares("crfsuite", {sequences(300, false, 2), sequences(30, false, 3), sequences(300, true, 4)});
}
TEST(FileParts, MakeTheSharesOfGzippedFiles) {
  expect_shares("crfsuite", {gzipped(sequences(500, true))});
  expect_shares("crfsuite", {gzipped(sequences(200, true, 2)), sequences(100, true, 3),
                             gzipped(sequences(200, false, 4))});
}
TEST(FileParts, MakeTheSharesOfConllFiles) {
  const std::map<std::string, std::string> words{
      {"attributes", "words"}, {"label_column", "0"}, {"word_column", "1"}};
  expect_shares("conll", {sequences(500, false)}, words);
  std::map<std::string, std::string> frequent = words;
  frequent["min_count"] = "3";
  expect_shares("conll", {sequences(300, false), sequences(200, false, 2)}, frequent);
}

TEST(FileParts, AreRefusedWhereFilesDiffer) {
  const std::string text = sequences(500, false);
  std::string other = text;
  other[other.size() / 4] = other[other.size() / 4] == 'x' ? 'y' : 'x';
  const TempFile one(text), two(other);
  EXPECT_THAT(error_of([&] {
                run_process_team(2, [&](const Processes& processes) {
                  own_parts({processes.first() ? one.path() : two.path()}, &processes);
                });
              }),
              HasSubstr("expected the same data on all"));
}

TEST(FileParts, ABadLineIsToldByItsNumber) {
  std::string text = sequences(500, false);
  const std::size_t at = text.find("\n\n", 3 * text.size() / 4) + 2;
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  text.insert(at, "y1\tf1:much\n");
  const TempFile file(text);
  const DataFormatInfo& info = data_format_registry().find("crfsuite");
  EXPECT_THAT(error_of([&] {
                run_process_team(2, [&](const Processes& processes) {
                  info.read_share({.train = {file.path()}, .test = {}, .hierarchy = ""},
                                  Options(info.options), processes);
                });
              }),
              HasSubstr(":" + std::to_string(line) + ": found value 'much'"));
}

}  // namespace
}  // namespace proxbench
