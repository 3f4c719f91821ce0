/// The OCR task: handwritten words that Rob Kassel collected and Ben Taskar prepared as letter.data
/// (http://ai.stanford.edu/~btaskar/ocr/). It is the sequence labelling problem of Zhong et al. 2014, section
/// 6.1.
///
/// One letter per line. The fields are separated by tabs: id, letter, next_id (-1 ends a word), word_id,
/// position (from 1), fold, and 128 pixels 0 or 1, row by row. A tab may follow the last pixel.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/random.h"
#include "experiments/data/sequences/letters.h"

namespace proxbench {
namespace {

/// The split of Zhong et al. 2014, section 6.1: of 6,877 words, 6,216 train and 661 test.
constexpr const char* kPaperTrainWords = "6216";

enum Field : std::size_t { kId, kLetter, kNextId, kWordId, kPosition, kFold, kFirstPixel };
constexpr std::size_t kFields = kFirstPixel + kGridPixels;
constexpr std::int64_t kLastLetter = -1;  ///< next_id of a word's last letter

/// One line, checked without its neighbours.
struct LetterLine {
  std::int64_t id, next_id, word_id, position, fold;
  char letter;
  Glyph glyph;
};

LetterLine parse_line(const LineReader& in, std::string_view text) {
  if (text.ends_with('\t')) text.remove_suffix(1);
  std::array<std::string_view, kFields> fields;
  std::size_t count = 0;
  for_each_part(text, '\t', [&](std::string_view field) { fields[std::min(count++, kFields - 1)] = field; });
  if (count != kFields)
    in.fail(fmt::format("{} fields", text.empty() ? 0 : count),
            fmt::format("{} tab-separated ones: id, letter, next_id, word_id, position, fold, {} pixels",
                        kFields, kGridPixels));
  const auto integer = [&](std::string_view name, Field field, std::int64_t min) {
    std::int64_t value = 0;
    if (!parse_integer(fields[field], value) || value < min)
      in.fail(fmt::format("{} {}", name, in_quotes(fields[field])),
              fmt::format("an integer of at least {}", min));
    return value;
  };
  LetterLine out{};
  out.id = integer("id", kId, 0);
  const std::string_view letter = fields[kLetter];
  if (letter.size() != 1 || letter[0] < 'a' || letter[0] > 'z')
    in.fail("letter " + in_quotes(letter), "one lower-case letter a to z");
  out.letter = letter[0];
  out.next_id = integer("next_id", kNextId, kLastLetter);
  out.word_id = integer("word_id", kWordId, 0);
  out.position = integer("position", kPosition, 1);
  out.fold = integer("fold", kFold, 0);
  for (Index pixel = 1; pixel <= kGridPixels; ++pixel) {
    const std::string_view field = fields[kFirstPixel + pixel - 1];
    if (field != "0" && field != "1")
      in.fail(fmt::format("pixel {} = {}", pixel, in_quotes(field)), "0 or 1");
    out.glyph[pixel] = field == "1";
  }
  return out;
}

/// Checks that `now` continues the word of the previous line.
void check_continues(const LineReader& in, const LetterLine& before, const LetterLine& now) {
  const auto require = [&](std::string_view name, std::int64_t found, std::int64_t expected,
                           std::string_view why) {
    if (found != expected) in.fail(fmt::format("{} {}", name, found), fmt::format("{} ({})", expected, why));
  };
  require("id", now.id, before.next_id, "next_id of the line before");
  require("word_id", now.word_id, before.word_id, "the word goes on: next_id of the line before is not -1");
  require("position", now.position, before.position + 1, "one more than on the line before");
  require("fold", now.fold, before.fold, "all letters of a word lie in one fold");
}

/// The words to train on and those to test on.
struct Split {
  std::vector<Index> train, test;
};

/// Splits the words by the option `split`.
Split split_of(const Words& words, const Options& options) {
  const std::string& split = options.string("split");
  std::vector<Index> all = first_indices(words.size());
  if (split == "none") return {all, {}};
  if (split == "random") {
    const std::int64_t count = options.integer("train_words");
    if (count >= words.size())
      throw Error::usage(fmt::format(
          "option train_words = {}: violated constraint train_words < {}, the number of words (or "
          "choose split = none)",
          count, words.size()));
    Random(static_cast<std::uint64_t>(options.integer("seed"))).shuffle(std::span(all));
    std::sort(all.begin(), all.begin() + count);
    std::sort(all.begin() + count, all.end());
    return {{all.begin(), all.begin() + count}, {all.begin() + count, all.end()}};
  }
  Split out;
  const std::int64_t fold = options.integer("test_fold");
  for (const Index w : all)
    ((words.fold[w] == fold) == (split == "one-fold") ? out.train : out.test).push_back(w);
  if (out.train.empty() || out.test.empty()) {
    const auto [low, high] = std::ranges::minmax(words.fold);
    throw Error::usage(
        fmt::format("option test_fold = {}: {} of {} words lie in this fold (folds {} to {} are present)",
                    fold, std::ranges::count(words.fold, fold), words.size(), low, high));
  }
  return out;
}

std::string split_text(const Options& options) {
  const std::string& split = options.string("split");
  if (split == "none") return "not split";
  if (split == "random") return fmt::format("random split, seed {}", options.integer("seed"));
  return fmt::format("fold {} {}", options.integer("test_fold"), split == "fold" ? "is test" : "trains");
}

Words read_words(const std::vector<std::string>& files, std::int64_t limit) {
  Words words;
  for (const std::string& file : files) read_letter_data(file, words);
  if (limit > 0 && limit < words.size()) {
    words.begin.resize(static_cast<std::size_t>(limit) + 1);
    words.fold.resize(static_cast<std::size_t>(limit));
    words.letter.resize(words.begin.back());
    words.glyph.resize(words.begin.back());
  }
  return words;
}

DataPair read_ocr(const DataFiles& files, const Options& options) {
  const bool own_test = files.test.empty();
  const LetterMap map{
      .degree2 = degree2(options), .ends = options.boolean("ends"), .bias = options.boolean("bias")};
  const Words words = read_words(files.train, options.integer("words"));
  const Split split = own_test ? split_of(words, options) : Split{first_indices(words.size()), {}};
  const auto vocabulary = letter_vocabulary(letters_of(words, split.train), map);
  const auto make = [&](const std::vector<std::string>& from, const Words& of,
                        const std::vector<Index>& chosen) {
    return letter_dataset(
        of, chosen, map, vocabulary,
        fmt::format("{}: {} of {} words, {} features{}{}, {}", file_names(from), chosen.size(), of.size(),
                    options.string("features"), map.bias ? "" : " without bias", map.ends ? " and ends" : "",
                    own_test ? split_text(options) : "not split"));
  };
  DataPair out;
  out.train = make(files.train, words, split.train);
  if (own_test) {
    out.test = make(files.train, words, split.test);
  } else {
    const Words test_words = read_words(files.test, 0);
    out.test = make(files.test, test_words, first_indices(test_words.size()));
  }
  return out;
}

}  // namespace

void read_letter_data(const std::string& path, Words& words) {
  LineReader in(path);
  std::string_view text;
  LetterLine before{};
  bool in_word = false;
  while (in.next(text)) {
    const LetterLine now = parse_line(in, text);
    if (in_word) {
      check_continues(in, before, now);
    } else {
      if (now.position != 1)
        in.fail(fmt::format("position {}", now.position), "1 (the first letter of a word)");
      words.fold.push_back(now.fold);
    }
    words.letter.push_back(now.letter);
    words.glyph.push_back(now.glyph);
    in_word = now.next_id != kLastLetter;
    if (!in_word) words.begin.push_back(static_cast<Index>(words.letter.size()));
    before = now;
  }
  if (in.line() == 0) in.fail_empty("one letter a line");
  if (in_word)
    in.fail("the end of the file",
            fmt::format("the letter with id {}, next_id of this line", before.next_id));
}

DataFormatInfo ocr_format() {
  return with_reader(
      {.name = "ocr",
       .help = "handwritten words, letter.data or letter.data.gz; splits itself into training and test words",
       .source = "Kassel's handwritten words prepared by Taskar, ai.stanford.edu/~btaskar/ocr/letter.data.gz",
       .options = {letter_features_option(),
                   {"bias", OptionType::kBool, "true",
                    "false: feature 0, the bias, keeps its place and is never on, as in the data that the "
                    "authors of "
                    "Prox-QN published"},
                   {"ends", OptionType::kBool, "false",
                    "true: two more features, first and last, of the first letter of a word and of the last"},
                   {.name = "split",
                    .default_value = "random",
                    .help = "random: train_words shuffled words train, the rest test; fold: test_fold is "
                            "test; one-fold: it trains, the others are test (Taskar et al. 2003); none: no "
                            "test set. Not used where test files are given",
                    .choices = {"random", "fold", "one-fold", "none"}},
                   {"seed", OptionType::kInt, "1", "seed of the random split", 0},
                   {"train_words", OptionType::kInt, kPaperTrainWords, "training words of the random split",
                    1},
                   {"test_fold", OptionType::kInt, "0",
                    "the fold that is test with split = fold, and trains with split = one-fold", 0},
                   {"words", OptionType::kInt, "0",
                    "take only the first so many words of the training files; 0: all", 0}},
       .oracle = "chain"},
      read_ocr);
}

}  // namespace proxbench
