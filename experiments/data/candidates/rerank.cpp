/// Candidates in groups, for re-ranking: one candidate per line,
///
///     quality TAB attribute[:value] TAB attribute[:value] ...
///
/// and an empty line after each group (optional after the last one). Attributes are written as in the format
/// `crfsuite`, including `\:` and `\\` in names. A quality is a finite number (higher is better), or
/// `correct/gold/guessed`. These count items (chunks, brackets): those that the candidate shares with the
/// gold structure, those of the gold structure, and those of the candidate. The quality is then the
/// candidate's F1, and the sums of the counts give the corpus F1. All candidates of all files have the same
/// kind of quality.
///
/// The gold candidate of a group is the first one with the highest quality. With gold = perfect, this quality
/// must be 1.
///
/// With base_column = true, the second field is the base model's score, a number. It becomes the feature
/// `base`. Without base_column, an attribute `base:-3.5` means the same.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "experiments/data/sequences/named_sequences.h"

namespace proxbench {
namespace {

constexpr const char* kCandidateLine = "quality TAB attribute[:value] TAB ...";
constexpr const char *kOutput = "best", *kBase = "base";

class RerankReader {
 public:
  explicit RerankReader(const Options& options)
      : base_column_(options.boolean("base_column")), perfect_(options.string("gold") == "perfect") {}

  void read(const FilePart& part, NamedSequences& out) {
    LineReader in(part);
    const std::size_t before = out.data.positions();
    std::uint64_t first = 0;  // line of the group's first candidate; 0: none yet
    for (std::string_view line; in.next(line);) {
      if (!line.empty()) {
        add_candidate(in, line, out);
        if (first == 0) first = in.line();
      } else if (first != 0) {
        end_group(in.path(), std::exchange(first, 0), out);
      } else {
        in.fail("an empty group", fmt::format("a candidate, '{}', before the empty line", kCandidateLine));
      }
    }
    if (first != 0) end_group(in.path(), first, out);
    if (out.data.positions() == before) in.fail_empty(kCandidateLine);
  }

 private:
  static MatchCounts read_counts(const LineReader& in, std::string_view field) {
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

  void add_quality(const LineReader& in, std::string_view field, Dataset& data) {
    const bool counts = field.find('/') != std::string_view::npos;
    if (counted_.value_or(counts) != counts)
      in.fail(fmt::format("quality {}, {}", in_quotes(field), counts ? "counts" : "not counts"),
              fmt::format("{} as before it", counts ? "a number" : "correct/gold/guessed"));
    counted_ = counts;
    double quality = 0.0;
    if (counts) {
      const MatchCounts& found = data.counts.emplace_back(read_counts(in, field));
      quality = f1_of(found.correct, found.gold, found.guessed);
    } else if (!parse_real(field, quality)) {
      in.fail("quality " + in_quotes(field), "a finite number, or correct/gold/guessed");
    }
    data.quality.push_back(quality);
  }

  void add_candidate(const LineReader& in, std::string_view line, NamedSequences& out) {
    std::size_t at = std::min(line.find('\t'), line.size());
    add_quality(in, line.substr(0, at), out.data);
    if (base_column_) {
      if (at == line.size()) in.fail("no second field", "the base model's score (base_column = true)");
      const std::size_t begin = at + 1;
      at = std::min(line.find('\t', begin), line.size());
      double score = 0.0;
      if (!parse_real(line.substr(begin, at - begin), score))
        in.fail("base score " + in_quotes(line.substr(begin, at - begin)), "a finite number");
      out.add(kBase, score);
    }
    add_attributes(in, line.substr(at), out);
    out.end_position(in, kOutput);
  }

  /// Ends the group whose first candidate is on line `line`.
  void end_group(const std::string& path, std::uint64_t line, NamedSequences& out) const {
    Dataset& data = out.data;
    const auto begin = data.quality.begin() + data.begin.back();
    const auto best = std::max_element(begin, data.quality.end());
    if (perfect_ && *best != 1.0)
      throw Error::in_file(path, line, fmt::format("a group whose highest quality is {}", *best),
                           "a candidate of quality 1 (gold = perfect)");
    for (auto other = begin; other != data.quality.end(); ++other)
      if (other != best) data.gold[static_cast<std::size_t>(other - data.quality.begin())] = kNoOutput;
    out.end_sequence();
  }

  bool base_column_, perfect_;
  std::optional<bool> counted_;  ///< whether qualities are counts; empty before the first one
};

DataPair read_rerank(const DataFiles& files, const Options& options) {
  RerankReader reader(options);
  return read_sequences(
      files, options, nullptr, NamedSequences({kOutput}),
      {.read = [&](const FilePart& part, NamedSequences& out) { reader.read(part, out); },
       .oracle = "candidates",
       .instances = "groups",
       .describe = [](const Dataset& set) { return fmt::format("{} candidates", set.positions()); }});
}

}  // namespace

DataFormatInfo rerank_format() {
  return with_reader(
      {.name = "rerank",
       .help = "quality TAB attribute[:value] TAB ..., one candidate a line, an empty line after each group",
       .source = "this project; the task of Collins 2000 and of Andrew and Gao 2007",
       .options =
           {{.name = "gold",
             .default_value = "highest",
             .help = "the gold candidate of a group: the first of the highest quality; perfect: and that "
                     "must be 1",
             .choices = {"highest", "perfect"}},
            {"base_column", OptionType::kBool, "false",
             "true: the second field of a line is the base model's score, and becomes the feature base"}},
       .oracle = "candidates"},
      read_rerank);
}

}  // namespace proxbench
