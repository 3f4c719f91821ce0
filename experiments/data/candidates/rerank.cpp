#include "experiments/data/candidates/rerank.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/line_reader.h"
#include "experiments/data/files.h"
#include "experiments/data/readers.h"
#include "experiments/data/sequences/crfsuite.h"
#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

constexpr const char* kCandidateLine = "quality TAB attribute[:value] TAB ...";
constexpr const char *kOutput = "best", *kBase = "base";

/// How one data set is read, and what it holds beside features.
class RerankReader {
 public:
  RerankReader(NamedSequences& out, const Options& options)
      : out_(out),
        base_column_(options.boolean("base_column")),
        perfect_(options.string("gold") == "perfect") {}

  void read(const std::string& path);
  Dataset build(std::shared_ptr<const Vocabulary> vocabulary) &&;
  /// Whether qualities are counts; unset before the first.
  std::optional<bool> counted;

 private:
  void add_candidate(const LineReader& in, std::string_view line);
  double read_quality(const LineReader& in, std::string_view field);
  MatchCounts read_counts(const LineReader& in, std::string_view field) const;
  void end_group(const std::string& path, std::uint64_t line);

  NamedSequences& out_;
  bool base_column_, perfect_;
  std::vector<double> quality_;
  std::vector<MatchCounts> counts_;
  std::vector<Index> gold_;
  std::string scratch_;
};

MatchCounts RerankReader::read_counts(const LineReader& in, std::string_view field) const {
  MatchCounts counts;
  const char *at = field.data(), *const end = at + field.size();
  for (std::uint32_t* number : {&counts.correct, &counts.gold, &counts.guessed}) {
    const auto [rest, error] = std::from_chars(at, end, *number);
    const bool last = number == &counts.guessed;
    if (error != std::errc() || (last ? rest != end : rest == end || *rest != '/'))
      in.fail("quality " + in_quotes(field), "correct/gold/guessed, three integers from 0 to 4294967295");
    at = rest + 1;
  }
  for (const auto& [name, bound] : {std::pair("gold", counts.gold), std::pair("guessed", counts.guessed)})
    if (counts.correct > bound)
      in.fail(fmt::format("quality '{}' with correct > {}", field, name),
              "no more correct items than gold ones, and than guessed ones");
  return counts;
}

double RerankReader::read_quality(const LineReader& in, std::string_view field) {
  const bool counts = field.find('/') != std::string_view::npos;
  if (counted.value_or(counts) != counts)
    in.fail(fmt::format("quality {}, {}", in_quotes(field), counts ? "counts" : "not counts"),
            fmt::format("{} as before it", counts ? "a number" : "correct/gold/guessed"));
  counted = counts;
  if (counts) {
    counts_.push_back(read_counts(in, field));
    return f1_of(counts_.back().correct, counts_.back().gold, counts_.back().guessed);
  }
  double quality = 0.0;
  if (!parse_real(field, quality))
    in.fail("quality " + in_quotes(field), "a finite number, or correct/gold/guessed");
  return quality;
}

void RerankReader::add_candidate(const LineReader& in, std::string_view line) {
  std::size_t at = std::min(line.find('\t'), line.size());
  quality_.push_back(read_quality(in, line.substr(0, at)));
  if (base_column_) {
    if (at == line.size()) in.fail("no second field", "the base model's score (base_column = true)");
    const std::size_t begin = at + 1;
    at = std::min(line.find('\t', begin), line.size());
    double score = 0.0;
    if (!parse_real(line.substr(begin, at - begin), score))
      in.fail("base score " + in_quotes(line.substr(begin, at - begin)), "a finite number");
    out_.add(kBase, score);
  }
  add_attributes(in, line.substr(at), out_, scratch_);
  out_.end_position(in, kOutput);
}

/// The group whose first candidate stands at `line`.
void RerankReader::end_group(const std::string& path, std::uint64_t line) {
  const auto begin = quality_.begin() + static_cast<std::ptrdiff_t>(gold_.size());
  const auto best = std::max_element(begin, quality_.end());
  if (perfect_ && *best != 1.0)
    throw Error::in_file(path, line, fmt::format("a group whose highest quality is {}", *best),
                         "a candidate of quality 1 (gold = perfect)");
  gold_.resize(quality_.size(), kNoOutput);
  gold_[static_cast<std::size_t>(best - quality_.begin())] = 0;
  out_.end_sequence();
}

void RerankReader::read(const std::string& path) {
  LineReader in(path);
  const std::size_t before = quality_.size();
  std::string_view line;
  std::uint64_t first = 0;  // line of the group's first candidate; 0: none yet
  while (in.next(line)) {
    if (!line.empty()) {
      add_candidate(in, line);
      if (first == 0) first = in.line();
      continue;
    }
    if (first == 0)
      in.fail("an empty group", fmt::format("a candidate, '{}', before the empty line", kCandidateLine));
    end_group(path, std::exchange(first, 0));
  }
  if (first != 0) end_group(path, first);
  if (quality_.size() == before) in.fail_empty(kCandidateLine);
}

Dataset RerankReader::build(std::shared_ptr<const Vocabulary> vocabulary) && {
  Dataset data = std::move(out_).build(std::move(vocabulary));
  data.gold = std::move(gold_);
  data.quality = std::move(quality_);
  data.counts = std::move(counts_);
  data.digest = digest_of(data);
  return data;
}

DataPair read_rerank(const DataFiles& files, const Options& options) {
  require_training_files(files, "rerank");
  NamedSequences train({kOutput});
  RerankReader train_reader(train, options);
  for (const std::string& path : files.train) train_reader.read(path);
  NamedSequences test = NamedSequences::test_for(train);
  RerankReader test_reader(test, options);
  test_reader.counted = train_reader.counted;
  for (const std::string& path : files.test) test_reader.read(path);
  const auto vocabulary = train.make_vocabulary();
  DataPair out;
  out.oracle = "candidates";
  out.test = std::move(test_reader).build(vocabulary);  // first: it looks names up in the training set
  out.train = std::move(train_reader).build(vocabulary);
  describe(files, out, [](const Dataset& data) {
    return fmt::format("{} groups, {} candidates", data.instances(), data.positions());
  });
  return out;
}

}  // namespace

DataFormatInfo rerank_format() {
  DataFormatInfo info;
  info.name = "rerank";
  info.help = "quality TAB attribute[:value] TAB ..., one candidate a line, an empty line after each group";
  info.source = "this project; the task of Collins 2000 and of Andrew and Gao 2007";
  info.options = {
      {.name = "gold",
       .default_value = "highest",
       .help = "the gold candidate of a group: the first of the highest quality; perfect: and that must be 1",
       .choices = {"highest", "perfect"}},
      {.name = "base_column",
       .type = OptionType::kBool,
       .default_value = "false",
       .help = "true: the second field of a line is the base model's score, and becomes the feature base"},
  };
  info.read = read_rerank;
  return info;
}

}  // namespace proxbench
