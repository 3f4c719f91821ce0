#include "experiments/data/file_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/base/random.h"
#include "core/base/sum.h"
#include "core/base/test_process_team.h"
#include "experiments/base/test_file.h"
#include "experiments/config/format_registry.h"
#include "experiments/data/files.h"

namespace proxbench {
namespace {

using testing::HasSubstr;

/// Sequences of a crfsuite or conll file; some have values, and some lines end as in DOS.
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

/// Documents of an lshtc or libsvm file with the labels 3, 5, 6 and 7. There are empty lines, line ends of
/// DOS, values of zero, and documents with no other values.
std::string documents(std::size_t count, bool ids, std::uint64_t seed = 1) {
  Random random(seed);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += std::to_string(std::array{7, 3, 6, 5}[random.below(i < 20 ? 2 : 4)]);
    if (ids) text += " 0:" + std::to_string(random.below(1000));
    std::size_t feature = 0;
    for (std::size_t left = random.below(9); left > 0; --left)
      text += " " + std::to_string(feature += 1 + random.below(20 + i / 4)) + ":" +
              std::to_string(left == 1 ? 0.0 : 0.3 * static_cast<double>(random.below(5)));
    text += random.below(3) == 0 ? "\r\n" : "\n";
    if (random.below(10) == 0) text += "\n";
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
  for (const FileRecords records : {FileRecords::kUpToBlankLine, FileRecords::kLine})
    for (std::uint64_t cut = 1; cut < text.size(); ++cut) {
      std::vector<std::string> both = lines({file.path(), 0, cut, records});
      const std::vector<std::string> second = lines({file.path(), cut, FilePart{}.end, records});
      both.insert(both.end(), second.begin(), second.end());
      ASSERT_EQ(both, all) << "cut at byte " << cut;
    }
}
TEST(FileParts, OfLinesBeginAndEndAtTheirBytes) {
  const TempFile file("ab\n\ncd\nef");
  const auto text = [&](std::uint64_t begin, std::uint64_t end) {
    std::string out;
    LineReader in(FilePart{file.path(), begin, end, FileRecords::kLine});
    for (std::string_view line; in.next(line);) (out += line) += '|';
    return out;
  };
  EXPECT_EQ(text(0, 1), "ab|");
  EXPECT_EQ(text(1, 3), "");
  EXPECT_EQ(text(3, 4), "|");
  EXPECT_EQ(text(1, 5), "|cd|");
  EXPECT_EQ(text(5, 7), "");
  EXPECT_EQ(text(7, 9), "ef|");
}

TEST(FileParts, StatesErrorsByTheLinesOfTheWholeFile) {
  const TempFile file("a\n\nb\n\nc\n\nd\n");
  LineReader in(FilePart{file.path(), 4});
  std::string_view line;
  ASSERT_TRUE(in.next(line));
  EXPECT_EQ(line, "c");
  EXPECT_THAT(error_of([&] { in.fail("c", "d"); }), HasSubstr(":5: found c"));
}

std::vector<std::pair<Index, double>> entries(const DesignMatrix& x, Index position) {
  std::vector<std::pair<Index, double>> out;
  x.for_each_entry(position, [&](Index j, double value) { out.emplace_back(j, value); });
  return out;
}

/// Checks that the parts of all processes form the training set that one process reads as a whole.
void expect_shares(const std::string& format, const std::vector<std::string>& contents,
                   const std::map<std::string, std::string>& values = {}, const std::string& hierarchy = "") {
  std::vector<std::unique_ptr<TempFile>> files;
  DataFiles paths;
  for (const std::string& content : contents) {
    files.push_back(std::make_unique<TempFile>(content));
    paths.train.push_back(files.back()->path());
  }
  paths.test = {paths.train.back()};
  paths.hierarchy = hierarchy;
  const DataFormatInfo& info = data_format_registry().find(format);
  Options options(info.options);
  for (const auto& [name, text] : values) options.set(name, text);
  const DataPair whole = info.read(paths, options);
  for (const int count : {1, 2, 3, 5})
    run_process_team(count, [&](const Processes& processes) {
      const DataPair part = info.read_share(paths, options, processes);
      const Dataset &expected = whole.train, &found = part.train;
      // A compressed file is read whole by all.
      const Parallel all(1, Backend::kOpenMP, found.x.shared() ? &processes : nullptr);
      const std::size_t first = count_before(all, found.instances()), positions = expected.begin[first];
      ASSERT_EQ(whole_count(all, found.instances()), expected.instances());
      for (Index i = 0; i <= found.instances(); ++i)
        ASSERT_EQ(found.begin[i] + positions, expected.begin[first + i]);
      EXPECT_TRUE(
          std::ranges::equal(found.gold, std::span(expected.gold).subspan(positions, found.positions())));
      EXPECT_EQ(found.vocabulary->features, whole.train.vocabulary->features);
      EXPECT_EQ(found.vocabulary->outputs, whole.train.vocabulary->outputs);
      EXPECT_EQ(found.digest, whole.train.digest);
      EXPECT_EQ(found.description, whole.train.description);
      EXPECT_EQ(found.notes, whole.train.notes);
      EXPECT_EQ(part.test.digest, whole.test.digest);
      EXPECT_EQ(found.x.whole_nonzeros(), whole.train.x.nonzeros());
      for (Index p = 0; p < found.x.positions(); ++p) {
        const auto of_whole = static_cast<Index>(positions + p);
        EXPECT_EQ(entries(found.x, p), entries(expected.x, of_whole)) << p;
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

TEST(FileParts, MakeTheSharesOfCrfsparseFiles) {
  std::string text = documents(3000, false);
  expect_shares("crfsparse", {text, documents(400, false, 2)});
  const TempFile labels("label: 7 6 5 3\nunigram:\n");
  expect_shares("crfsparse", {text}, {{"template", labels.path()}});
  const TempFile tree("1 2 3\n1 2 5\n1 4 6\n1 4 7\n");
  expect_shares("crfsparse", {text}, {}, tree.path());
}
TEST(FileParts, MakeTheSharesOfLibsvmFiles) {
  const std::string text = documents(2000, false), more = documents(200, false, 2);
  expect_shares("libsvm", {text});
  expect_shares("libsvm", {text}, {{"scale", "max"}, {"bias", "0.5"}});
  expect_shares("libsvm", {more, text, "3.0 900000:1\nnew 1:-9\n"}, {{"scale", "max"}});
  expect_shares("libsvm", {gzipped(text), more, gzipped(more)}, {{"scale", "max"}});
}
TEST(FileParts, MakeTheSharesOfLshtcFiles) {
  const TempFile tree("1 2 3\n1 2 5\n1 4 6\n1 4 7\n");
  const std::string text = documents(2000, true), more = documents(200, true, 2);
  expect_shares("lshtc", {text}, {}, tree.path());
  expect_shares("lshtc", {text}, {{"scale", "none"}, {"keep_doc_id", "true"}}, tree.path());
  expect_shares("lshtc", {more, gzipped(text), more}, {{"keep_doc_id", "true"}}, tree.path());
}

/// Returns the error of two processes if the second one finds `other` instead of `mine`.
std::string error_where_files_differ(const DataFiles& mine, const DataFiles& other,
                                     const Options& options = {}, const Options& other_options = {}) {
  return error_of([&] {
    run_process_team(2, [&](const Processes& processes) {
      own_parts(processes.first() ? mine : other, processes.first() ? options : other_options, &processes);
    });
  });
}

TEST(FileParts, AreRefusedWhereFilesDiffer) {
  const std::string text = sequences(500, false);
  std::string changed = text;
  changed[changed.size() / 4] = changed[changed.size() / 4] == 'x' ? 'y' : 'x';
  const TempFile one(text), two(changed), longer(text + "y1\tf1\n");
  const auto refused = HasSubstr("found different content, expected the same data on all");
  EXPECT_THAT(error_where_files_differ({{one.path()}, {}, ""}, {{two.path()}, {}, ""}), refused);
  EXPECT_THAT(error_where_files_differ({{one.path()}, {}, ""}, {{longer.path()}, {}, ""}), refused);
  EXPECT_THAT(error_where_files_differ({{one.path()}, {one.path()}, ""}, {{one.path()}, {two.path()}, ""}),
              refused);
  EXPECT_THAT(error_where_files_differ({{one.path()}, {}, one.path()}, {{one.path()}, {}, two.path()}),
              refused);
  const DataFormatInfo& conll = data_format_registry().find("conll");
  Options mine(conll.options), others(conll.options);
  mine.set("template", one.path());
  others.set("template", two.path());
  EXPECT_THAT(error_where_files_differ({{one.path()}, {}, ""}, {{one.path()}, {}, ""}, mine, others),
              refused);
}

/// Inserts the line `bad` after `behind` in the last quarter of the text. Expects an error with the right
/// line number and the text `found`.
void expect_line_told(const std::string& format, std::string text, const std::string& behind,
                      const std::string& bad, const std::string& found) {
  const std::size_t at = text.find(behind, 3 * text.size() / 4) + behind.size();
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  text.insert(at, bad + "\n");
  const TempFile file(text);
  const DataFormatInfo& info = data_format_registry().find(format);
  EXPECT_THAT(error_of([&] {
                run_process_team(2, [&](const Processes& processes) {
                  info.read_share({.train = {file.path()}, .test = {}, .hierarchy = ""},
                                  Options(info.options), processes);
                });
              }),
              HasSubstr(":" + std::to_string(line) + ": found " + found));
}

TEST(FileParts, ABadLineIsToldByItsNumber) {
  expect_line_told("crfsuite", sequences(500, false), "\n\n", "y1\tf1:much", "value 'much'");
  expect_line_told("libsvm", documents(500, false), "\n", "3 1:much", "value 'much'");
}

TEST(FileParts, WithoutDataAreRefused) {
  const TempFile featureless("3\n5\n6\n"), empty(""), good(documents(2000, false));
  const DataFormatInfo& info = data_format_registry().find("libsvm");
  const auto error = [&](const std::vector<std::string>& files) {
    return error_of([&] {
      run_process_team(2, [&](const Processes& processes) {
        info.read_share({files, {}, ""}, Options(info.options), processes);
      });
    });
  };
  EXPECT_THAT(error({featureless.path()}), HasSubstr("no feature in any training document"));
  EXPECT_THAT(error({empty.path()}), HasSubstr("found an empty file"));
  EXPECT_THAT(error({empty.path(), good.path()}), HasSubstr("found an empty file"));
  EXPECT_THAT(error({good.path(), empty.path(), good.path()}), HasSubstr("found an empty file"));
  EXPECT_THAT(error({good.path(), empty.path()}), HasSubstr("found an empty file"));
}

}  // namespace
}  // namespace proxbench
