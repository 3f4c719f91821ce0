#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "experiments/data/sequences/letters.h"
#include "experiments/data/test_files.h"

namespace proxbench {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;

/// One line of letter.data as fields, which tests damage.
struct Line {
  std::vector<std::string> fields;

  Line(int id, char letter, int next_id, int word_id, int position, int fold, std::vector<int> on = {})
      : fields(6 + 128, "0") {
    fields[0] = std::to_string(id);
    fields[1] = letter;
    fields[2] = std::to_string(next_id);
    fields[3] = std::to_string(word_id);
    fields[4] = std::to_string(position);
    fields[5] = std::to_string(fold);
    for (int pixel : on) fields[static_cast<std::size_t>(5 + pixel)][0] = '1';
  }
  std::string text() const {
    std::string out;
    for (const std::string& field : fields) out += field + "\t";  // letter.data also has a tab at the end
    return out + "\n";
  }
};

/// Word 1 "on" in fold 0, word 2 "a" in fold 3, word 3 "no" in fold 1.
std::vector<Line> good_lines() {
  return {Line(1, 'o', 2, 1, 1, 0, {5, 9}), Line(2, 'n', -1, 1, 2, 0, {128}), Line(3, 'a', -1, 2, 1, 3),
          Line(4, 'n', 5, 3, 1, 1, {1}), Line(5, 'o', -1, 3, 2, 1)};
}

std::string text_of(const std::vector<Line>& lines) {
  std::string out;
  for (const Line& line : lines) out += line.text();
  return out;
}

/// Returns the error from reading the damaged lines, without the file's path.
template <class Spoil>
std::string error_after(Spoil&& spoil) {
  std::vector<Line> lines = good_lines();
  spoil(lines);
  const TempFile file(text_of(lines), "letter.data");
  const std::string message = error_of([&] {
    Words words;
    read_letter_data(file.path(), words);
  });
  EXPECT_TRUE(message.starts_with(file.path() + ":")) << message;
  return message.substr(std::min(message.size(), file.path().size() + 1));
}

TEST(LetterData, ReadsWordsFoldsLettersAndPixels) {
  for (const std::string& content : {text_of(good_lines()), gzipped(text_of(good_lines()))}) {
    const TempFile file(content);
    Words words;
    read_letter_data(file.path(), words);
    EXPECT_THAT(words.begin, ElementsAre(0, 2, 3, 5));
    EXPECT_THAT(words.fold, ElementsAre(0, 3, 1));
    EXPECT_THAT(words.letter, ElementsAre('o', 'n', 'a', 'n', 'o'));
    EXPECT_TRUE(words.glyph[0][5] && words.glyph[0][9]);
    EXPECT_EQ(words.glyph[0].count(), 2u);
    EXPECT_TRUE(words.glyph[1][128]);
    EXPECT_EQ(words.glyph[2].count(), 0u);
  }
}

TEST(LetterData, TheTrailingTabMayBeMissingAndLinesMayEndInCrLf) {
  std::string text;
  for (const Line& line : good_lines()) {
    std::string one = line.text();
    one.resize(one.size() - 2);
    text += one + "\r\n";
  }
  const TempFile file(text);
  Words words;
  read_letter_data(file.path(), words);
  EXPECT_EQ(words.size(), 3u);
}

TEST(LetterData, MalformedFieldsAreNamed) {
  EXPECT_EQ(error_after([](auto& l) { l[1].fields[6 + 4] = "2"; }),
            "2: found pixel 5 = '2', expected 0 or 1");
  EXPECT_EQ(error_after([](auto& l) { l[3].fields.erase(l[3].fields.begin() + 10); }),
            "4: found 133 fields, expected 134 tab-separated ones: id, letter, next_id, word_id, position, "
            "fold, 128 "
            "pixels");
  EXPECT_EQ(error_after([](auto& l) { l[0].fields.pop_back(); }),
            "1: found 133 fields, expected 134 tab-separated ones: id, letter, next_id, word_id, position, "
            "fold, 128 "
            "pixels");
  EXPECT_THAT(error_after([](auto& l) { l[0].fields.push_back("0"); }),
              HasSubstr("1: found 135 fields, expected 134"));
  EXPECT_THAT(error_after([](auto& l) { l[2].fields = {"hello"}; }),
              HasSubstr("3: found 1 fields, expected 134"));
  EXPECT_EQ(error_after([](auto& l) { l[2].fields[1] = "A"; }),
            "3: found letter 'A', expected one lower-case letter a to z");
  EXPECT_EQ(error_after([](auto& l) { l[2].fields[1] = "ab"; }),
            "3: found letter 'ab', expected one lower-case letter a to z");
  EXPECT_EQ(error_after([](auto& l) { l[2].fields[0] = "3x"; }),
            "3: found id '3x', expected an integer of at least 0");
  EXPECT_EQ(error_after([](auto& l) { l[2].fields[2] = "-2"; }),
            "3: found next_id '-2', expected an integer of at least -1");
  EXPECT_EQ(error_after([](auto& l) { l[2].fields[3] = ""; }),
            "3: found word_id '', expected an integer of at least 0");
  EXPECT_EQ(error_after([](auto& l) { l[2].fields[4] = "1.0"; }),
            "3: found position '1.0', expected an integer of at least 1");
  EXPECT_EQ(error_after([](auto& l) { l[2].fields[5] = "nan"; }),
            "3: found fold 'nan', expected an integer of at least 0");
}

TEST(LetterData, LettersMustChainToWords) {
  EXPECT_EQ(error_after([](auto& l) { l[1].fields[0] = "7"; }),
            "2: found id 7, expected 2 (next_id of the line before)");
  EXPECT_EQ(error_after([](auto& l) { l[1].fields[3] = "2"; }),
            "2: found word_id 2, expected 1 (the word goes on: next_id of the line before is not -1)");
  EXPECT_EQ(error_after([](auto& l) { l[4].fields[4] = "3"; }),
            "5: found position 3, expected 2 (one more than on the line before)");
  EXPECT_EQ(error_after([](auto& l) { l[4].fields[5] = "9"; }),
            "5: found fold 9, expected 1 (all letters of a word lie in one fold)");
  EXPECT_EQ(error_after([](auto& l) { l[2].fields[4] = "2"; }),
            "3: found position 2, expected 1 (the first letter of a word)");
  EXPECT_EQ(error_after([](auto& l) { l.pop_back(); }),
            "4: found the end of the file, expected the letter with id 5, next_id of this line");
}

TEST(LetterData, EmptyAndCutFilesAreErrors) {
  Words words;
  const TempFile empty("");
  EXPECT_EQ(error_of([&] { read_letter_data(empty.path(), words); }),
            empty.path() + ": found an empty file, expected one letter a line");
  std::string bytes = gzipped(text_of(good_lines()));
  const TempFile cut(bytes.substr(0, bytes.size() - 6), "letter.data.gz");
  EXPECT_THAT(error_of([&] { read_letter_data(cut.path(), words); }),
              HasSubstr("found a gzip stream cut short, expected a complete gzip file"));
}

TEST(Ocr, SplitNoneTrainsOnEverything) {
  const TempFile file(text_of(good_lines()));
  const DataPair data =
      read_data("ocr", {{file.path()}, {}, ""}, {{"split", "none"}, {"features", "pixels"}});
  EXPECT_EQ(data.oracle, "chain");
  EXPECT_EQ(data.train.instances(), 3u);
  EXPECT_EQ(data.test.instances(), 0u);
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("a", "n", "o"));
  EXPECT_THAT(data.train.gold, ElementsAre(2, 1, 0, 1, 2));
  EXPECT_THAT(data.train.x.row(0), ElementsAre(0, 5, 9));
  EXPECT_EQ(data.train.description, std::filesystem::path(file.path()).filename().string() +
                                        ": 3 of 3 words, pixels features, not split");
}

TEST(Ocr, SplitFoldTakesOneFoldAsTest) {
  const TempFile file(text_of(good_lines()));
  const DataPair data = read_data("ocr", {{file.path()}, {}, ""}, {{"split", "fold"}, {"test_fold", "3"}});
  EXPECT_THAT(data.train.begin, ElementsAre(0, 2, 4));
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("n", "o"));
  EXPECT_THAT(data.test.gold, ElementsAre(kUnknownOutput)) << "'a' is not among the training letters";
  EXPECT_EQ(data.test.notes.at("unknown labels"), 1u);
}

TEST(Ocr, SplitRandomFollowsTheSeedAndKeepsFileOrder) {
  std::vector<Line> lines;  // 200 one-letter words; the pixels are the bits of the word's number
  for (int w = 0; w < 200; ++w) {
    std::vector<int> on;
    for (int bit = 0; bit < 8; ++bit)
      if ((w >> bit & 1) != 0) on.push_back(bit + 1);
    lines.emplace_back(w, 'x', -1, w, 1, 0, on);
  }
  const TempFile file(text_of(lines));
  const auto numbers = [](const Dataset& data) {
    std::vector<int> out;
    for (Index p = 0; p < data.positions(); ++p) {
      int w = 0;
      for (Index j : data.x.row(p))
        if (j > 0) w |= 1 << (j - 1);
      out.push_back(w);
    }
    return out;
  };
  const auto split = [&](const std::string& seed) {
    return read_data("ocr", {{file.path()}, {}, ""},
                     {{"train_words", "150"}, {"seed", seed}, {"features", "pixels"}});
  };
  const DataPair data = split("1");
  std::vector<int> train = numbers(data.train), test = numbers(data.test);
  EXPECT_EQ(train.size(), 150u);
  EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
  EXPECT_TRUE(std::is_sorted(test.begin(), test.end()));
  std::vector<int> all = train;
  all.insert(all.end(), test.begin(), test.end());
  std::sort(all.begin(), all.end());
  for (int w = 0; w < 200; ++w)
    ASSERT_EQ(all[static_cast<std::size_t>(w)], w) << "each word lies on one side";
  EXPECT_EQ(split("1").train.digest, data.train.digest);
  EXPECT_NE(split("2").train.digest, data.train.digest);
  EXPECT_NE(train.back(), 149) << "not simply the first ones";
}

TEST(Ocr, TestFilesTakeThePlaceOfASplit) {
  const TempFile train(text_of(good_lines()));
  const TempFile test(Line(9, 'z', -1, 4, 1, 0).text() + Line(10, 'o', -1, 5, 1, 0).text());
  const DataPair data = read_data("ocr", {{train.path()}, {test.path()}, ""});
  EXPECT_EQ(data.train.instances(), 3u);
  EXPECT_THAT(data.test.gold, ElementsAre(kUnknownOutput, 2));
}

TEST(Ocr, WordsLimitsTheTrainingFiles) {
  const TempFile file(text_of(good_lines()));
  const DataPair data =
      read_data("ocr", {{file.path(), file.path()}, {}, ""}, {{"words", "4"}, {"split", "none"}});
  EXPECT_THAT(data.train.begin, ElementsAre(0, 2, 3, 5, 7));
}

TEST(Ocr, SplitOneFoldTrainsOnIt) {
  const TempFile file(text_of(good_lines()));
  const DataPair data =
      read_data("ocr", {{file.path()}, {}, ""}, {{"split", "one-fold"}, {"test_fold", "3"}});
  EXPECT_THAT(data.train.begin, ElementsAre(0, 1));
  EXPECT_THAT(data.train.vocabulary->outputs, ElementsAre("a"));
  EXPECT_THAT(data.test.begin, ElementsAre(0, 2, 4));
}

TEST(Ocr, SplitsThatLeaveASideEmptyAreUsageErrors) {
  const TempFile file(text_of(good_lines()));
  const DataFiles files{{file.path()}, {}, ""};
  EXPECT_EQ(error_of([&] { read_data("ocr", files); }, ErrorKind::kUsage),
            "option train_words = 6216: violated constraint train_words < 3, the number of words (or choose "
            "split = "
            "none)");
  EXPECT_EQ(error_of(
                [&] {
                  read_data("ocr", files, {{"split", "fold"}, {"test_fold", "2"}});
                },
                ErrorKind::kUsage),
            "option test_fold = 2: 0 of 3 words lie in this fold (folds 0 to 3 are present)");
  EXPECT_EQ(error_of([&] { read_data("ocr", {}); }, ErrorKind::kUsage), "format ocr: no training file given");
  EXPECT_EQ(error_of(
                [&] {
                  read_data("ocr", {{file.path()}, {}, "cat_hier.txt"});
                },
                ErrorKind::kUsage),
            "format ocr: takes no hierarchy, found 'cat_hier.txt'");
}

TEST(OcrRealData, HasTheNumbersOfThePaper) {
  PROXBENCH_NEED_DATA(path, "ocr/letter.data.gz");
  const DataPair data = read_data("ocr", {{path}, {}, ""});
  EXPECT_EQ(data.train.instances(), 6216u);
  EXPECT_EQ(data.test.instances(), 661u);
  EXPECT_EQ(data.train.positions() + data.test.positions(), 52152u);
  EXPECT_EQ(data.train.outputs(), 26u);
  EXPECT_EQ(data.train.x.features(), 8257u);
  EXPECT_EQ(data.train.vocabulary->features.size(), 8257u);
  EXPECT_TRUE(data.train.x.binary());
  EXPECT_EQ(data.train.x.column(0).size(), data.train.positions()) << "the bias is on everywhere";
  // Counted with awk: the sum of 1 + n + n(n-1)/2 over the letters, where n is the number of black pixels.
  EXPECT_EQ(data.train.x.nonzeros() + data.test.x.nonzeros(), 23364814u);
  EXPECT_LT(data.train.x.memory_bytes(), std::size_t{200} << 20);
}

TEST(Ocr, WithoutBiasItsFeatureKeepsItsPlace) {
  const TempFile file(text_of(good_lines()));
  const DataFiles files{{file.path()}, {}, ""};
  const DataPair with = read_data("ocr", files, {{"split", "none"}});
  const DataPair without = read_data("ocr", files, {{"split", "none"}, {"bias", "false"}});
  EXPECT_EQ(with.train.x.column_size(0), with.train.positions());
  EXPECT_EQ(without.train.x.column_size(0), 0u);
  EXPECT_EQ(without.train.x.features(), with.train.x.features());
  EXPECT_EQ(without.train.x.nonzeros(), with.train.x.nonzeros() - with.train.positions());
  EXPECT_NE(without.train.digest, with.train.digest);
}

TEST(Ocr, EndsAreFeaturesOfTheFirstAndTheLastLetter) {
  const TempFile file(text_of(good_lines()));
  const Settings options = {{"split", "none"}, {"features", "pixels"}, {"ends", "true"}};
  const Dataset data = read_data("ocr", {{file.path()}, {}, ""}, options).train;
  EXPECT_EQ(data.x.features(), 131u);
  EXPECT_EQ(data.vocabulary->features.at(129), "first");
  EXPECT_EQ(data.vocabulary->features.at(130), "last");
  EXPECT_THAT(data.x.row(0), ElementsAre(0, 5, 9, 129));
  EXPECT_THAT(data.x.row(1), ElementsAre(0, 128, 130));
  EXPECT_THAT(data.x.row(2), ElementsAre(0, 129, 130)) << "the only letter of its word";
  const LetterMap degree2{.ends = true};
  EXPECT_EQ(degree2.names().size(), degree2.size());
  EXPECT_EQ(degree2.names().at(8258), "last");
}

// n and d are from Table 1 of Le Priol et al. 2018. Their program leaves out fold 0.
TEST(OcrRealData, EndsAndAFoldGiveTheNumbersOfTheSdcaPaper) {
  PROXBENCH_NEED_DATA(path, "ocr/letter.data.gz");
  const auto read_fold = [&](const char* fold) {
    return read_data("ocr", {{path}, {}, ""},
                     {{"split", "fold"}, {"test_fold", fold}, {"features", "pixels"}, {"ends", "true"}});
  };
  const DataPair paper = read_fold("9");
  EXPECT_EQ(paper.train.instances(), 6202u);
  EXPECT_EQ(paper.test.instances(), 675u);
  const std::size_t labels = paper.train.outputs();
  EXPECT_EQ(labels * labels + labels * paper.train.x.features(), 4082u);
  EXPECT_EQ(paper.train.x.column_size(129), 6202u);
  EXPECT_EQ(paper.train.x.column_size(130), 6202u);
  EXPECT_EQ(read_fold("0").train.instances(), 6251u);
}

TEST(OcrRealData, FoldsCoverAllWords) {
  PROXBENCH_NEED_DATA(path, "ocr/letter.data.gz");
  const DataPair data =
      read_data("ocr", {{path}, {}, ""}, {{"split", "fold"}, {"test_fold", "9"}, {"features", "pixels"}});
  EXPECT_EQ(data.train.instances() + data.test.instances(), 6877u);
  EXPECT_THAT(data.test.instances(), Gt(500u));
  EXPECT_EQ(data.train.x.features(), 129u);
}

}  // namespace
}  // namespace proxbench
