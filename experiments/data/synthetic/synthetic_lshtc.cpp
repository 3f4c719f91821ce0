/// Generated documents similar to the hierarchical task of Zhong et al. 2014, section 6.2 (LSHTC1 dry-run,
/// Task 1), for tests and benchmarks without its training file. By default there are 4,463 documents, 51,033
/// features that all occur, and K = 2,388 nodes, 1,139 of them leaves: d = J*K = 121,866,804.
///
/// The tree has one root, which counts among the nodes and corresponds to the root that read_hierarchy()
/// adds. Below it, a path has at most five nodes. The levels have the proportions of the real hierarchy (10,
/// 158, 522, 846 and 851 nodes), with leaves on the lower three.
///
/// Every leaf has a document if there are enough documents; the rest follow a power law over leaves. A word
/// of a document comes from a background distribution or from the topic of a node on the path to its leaf. So
/// nodes at all levels get weights. Word frequencies follow a power law that gets steeper with the rank, as
/// in real text. Values are term frequencies divided by their maximum, as with `lshtc`.
///
/// Equal options give equal data on every platform with IEEE arithmetic and the same mathematical library.
/// The training set does not depend on test_documents. It is an error if the training documents hold fewer
/// words than there are features.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "experiments/data/documents/documents.h"
#include "experiments/data/synthetic/synthetic.h"

namespace proxbench {
namespace {

/// Levels below the root.
constexpr std::size_t kLevels = 5;
/// Inner nodes and leaves of each level below the root, in cat_hier.txt of the LSHTC1 dry-run.
using PerLevel = std::array<Index, kLevels>;
constexpr PerLevel kRealInner{10, 158, 480, 600, 0};
constexpr PerLevel kRealLeaves{0, 0, 42, 246, 851};

/// The constants below were fitted by eye to the Task 1 validation file (1,860 documents). The exponent for
/// leaves was fitted to the counts of the 4,463 documents of Task 2, which are also the documents of Task 1.
constexpr double kLeafExponent = 0.8;  ///< for the documents of a leaf after its first
/// Frequency of the word of rank r: (1 + r/kHeadRank)^-kHeadExponent * (1 + r/(J*kTailRank))^-kTailExponent.
constexpr double kHeadRank = 2, kHeadExponent = 0.6, kTailRank = 0.09, kTailExponent = 1.45;
constexpr double kLengthSpread = 0.75;  ///< standard deviation of the log of a document's number of words
constexpr double kValueExponent = 2.2;  ///< a term frequency v has probability ~ v^-2.2
constexpr std::size_t kLargestValue = 1500;
/// A term frequency is at most this share of the document's number of words, or at most 2 if that is more. So
/// a short document has no frequent word.
constexpr double kLargestShare = 0.15;
/// Shares of the words that come from the topics of a path's nodes, from the top down. The rest are
/// background. A leaf also gets the shares of the levels below it.
constexpr std::array<double, kLevels> kTopicShare{0.08, 0.05, 0.05, 0.06, 0.06};
/// The number of words in a topic by level, and the exponent of the power law by which they are drawn.
constexpr PerLevel kTopicWords{400, 150, 80, 60, 60};
constexpr double kTopicExponent = 0.7;
/// A topic has no words that are more common than this rank.
constexpr Index kFirstTopicRank = 50;

Draw power_law(std::size_t count, double exponent) {
  std::vector<double> weights(count);
  for (std::size_t r = 0; r < count; ++r) weights[r] = std::pow(static_cast<double>(r + 1), -exponent);
  return Draw(std::move(weights));
}

/// Splits `total` in proportion to the weights, by largest remainders.
PerLevel apportion(Index total, const PerLevel& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  PerLevel out{};
  std::array<double, kLevels> rest{};
  Index left = total;
  for (std::size_t i = 0; i < kLevels; ++i) {
    const double quota = total * (weights[i] / sum);
    out[i] = std::min(left, static_cast<Index>(quota + 1e-9));
    rest[i] = quota - out[i];
    left -= out[i];
  }
  for (; left > 0; --left) {
    const auto most = static_cast<std::size_t>(std::max_element(rest.begin(), rest.end()) - rest.begin());
    ++out[most];
    rest[most] -= 1.0;
  }
  return out;
}

/// The numbers of inner nodes and leaves on each level below the root.
struct Levels {
  PerLevel inner{}, leaves{};

  /// Each inner node needs a child on the next level.
  bool possible() const {
    for (std::size_t l = 0; l + 1 < kLevels; ++l)
      if (inner[l] > inner[l + 1] + leaves[l + 1]) return false;
    return true;
  }
};

Levels make_levels(Index inner, Index leaves) {
  Levels out;
  const std::size_t deep = std::min<std::size_t>(kLevels - 1, inner);  // levels with inner nodes
  PerLevel weights{};
  for (std::size_t l = 0; l < deep; ++l) weights[l] = kRealInner[l] - 1;
  if (deep > 0) out.inner = apportion(inner - static_cast<Index>(deep), weights);
  Index excess = 0;  // inner nodes that move up: no level may have more of them than there are leaves
  for (std::size_t l = deep; l-- > 0;) {
    out.inner[l] += 1 + excess;
    excess = out.inner[l] - std::min(out.inner[l], leaves);
    out.inner[l] -= excess;
  }
  if (deep == kLevels - 1) out.leaves = apportion(leaves, kRealLeaves);
  if (deep < kLevels - 1 || !out.possible()) {
    out.leaves = {};
    out.leaves[deep] = leaves;
  }
  return out;
}

/// Gives each inner node of a level one child. The other children go to nodes with probability ~ their number
/// of children. This yields a few large families and many single children, as in the real tree.
void attach(std::vector<std::vector<std::size_t>>& children, const std::vector<std::size_t>& above,
            std::vector<std::size_t> below, Random& random) {
  random.shuffle(std::span(below));
  std::vector<std::size_t> family;  // the parent of each child so far
  for (std::size_t i = 0; i < below.size(); ++i) {
    const std::size_t parent = i < above.size() ? above[i] : family[random.below(family.size())];
    children[parent].push_back(below[i]);
    family.push_back(parent);
  }
}

}  // namespace

Hierarchy make_synthetic_tree(Index node_count, Index leaf_count, Random& random) {
  if (leaf_count >= node_count || node_count > (kLevels * std::uint64_t{leaf_count}) + 1)
    throw Error::usage(fmt::format(
        "option nodes = {}: violated constraint leaves < nodes <= {} * leaves + 1, with leaves = {}",
        node_count, kLevels, leaf_count));
  const Levels levels = make_levels(node_count - 1 - leaf_count, leaf_count);
  std::vector<std::vector<std::size_t>> children(1);  // of each node; the root is the first
  std::vector<std::size_t> above{0};
  for (std::size_t l = 0; l < kLevels; ++l) {
    std::vector<std::size_t> inner(levels.inner[l]), all(levels.inner[l] + levels.leaves[l]);
    std::iota(all.begin(), all.end(), children.size());
    std::copy_n(all.begin(), inner.size(), inner.begin());
    children.resize(children.size() + all.size());
    attach(children, above, all, random);
    above = std::move(inner);
  }
  std::vector<Index> parent;
  std::vector<std::pair<std::size_t, Index>> todo{
      {0, Hierarchy::kNone}};  // a node here, and its parent's number in preorder
  while (!todo.empty()) {
    const auto [node, parent_there] = todo.back();
    todo.pop_back();
    const auto here = static_cast<Index>(parent.size());
    parent.push_back(parent_there);
    for (const std::size_t child : children[node]) todo.emplace_back(child, here);
  }
  return Hierarchy(std::move(parent));
}

namespace {

/// A word, given by its rank (0 is the most common one), and its term frequency.
struct Entry {
  Index word;
  double frequency;
};

/// Documents one after the other. No word occurs twice in one document.
struct Documents {
  std::vector<Entry> entries;
  std::vector<std::size_t> end;  ///< the end of each document's entries
  std::vector<Index> gold;
};

/// The distributions from which the words of documents are drawn.
class Language {
 public:
  Language(const Hierarchy& tree, Index features, Random& random)
      : tree_(tree), features_(features), background_(background(features)) {
    for (std::size_t l = 0; l < kLevels; ++l)
      word_of_topic_.push_back(power_law(kTopicWords[l], kTopicExponent));
    value_ = power_law(kLargestValue, kValueExponent);
    level_.resize(tree.nodes());
    topic_.resize(tree.nodes());
    for (Index k = 1; k < tree.nodes(); ++k) {
      level_[k] = tree.parent(k) == 0 ? 0 : level_[tree.parent(k)] + 1;
      for (Index i = 0; i < kTopicWords[level_[k]]; ++i) topic_[k].push_back(topic_word(random));
    }
  }

  /// Draws a document of a leaf: about `length` distinct words with their term frequencies.
  void sample(Index leaf, std::size_t length, Random& random, std::vector<Entry>& out) {
    std::vector<Index> path;  // top down, without the root
    for (Index k = leaf; k != 0; k = tree_.parent(k)) path.insert(path.begin(), k);
    seen_.assign(features_, false);
    constexpr std::size_t kTriesAWord = 50;  // a small vocabulary may run out of probable words
    std::size_t found = 0;
    for (std::size_t tries = length * kTriesAWord; found < length && tries > 0; --tries) {
      const Index word = draw_word(path, random);
      if (seen_[word]) continue;
      seen_[word] = true;
      ++found;
      out.push_back({word, draw_value(length, random)});
    }
  }

 private:
  static Draw background(Index features) {
    std::vector<double> weights(features);
    for (Index r = 0; r < features; ++r)
      weights[r] = std::pow(1 + r / kHeadRank, -kHeadExponent) *
                   std::pow(1 + r / (kTailRank * features), -kTailExponent);
    return Draw(std::move(weights));
  }
  Index topic_word(Random& random) const {
    const Index first = features_ > 2 * kFirstTopicRank ? kFirstTopicRank : 0;
    Index word = background_(random);
    while (word < first) word = background_(random);
    return word;
  }
  double draw_value(std::size_t length, Random& random) const {
    const double limit = std::max(2.0, kLargestShare * static_cast<double>(length));
    for (;;)
      if (const double value = 1.0 + value_(random); value <= limit) return value;
  }
  Index draw_word(const std::vector<Index>& path, Random& random) const {
    double at = random.uniform();
    for (std::size_t l = 0; l < kLevels; ++l) {
      if (at < kTopicShare[l]) {
        const Index node = path[std::min(l, path.size() - 1)];
        return topic_[node][word_of_topic_[level_[node]](random)];
      }
      at -= kTopicShare[l];
    }
    return background_(random);
  }

  const Hierarchy& tree_;
  Index features_;
  Draw background_, value_;
  std::vector<Draw> word_of_topic_;  ///< by level
  std::vector<std::size_t> level_;
  std::vector<std::vector<Index>> topic_;
  std::vector<bool> seen_;
};

/// The leaves of `count` documents in ascending order, as in the real files. If there are enough documents,
/// each leaf occurs once and the rest are drawn by weight.
std::vector<Index> draw_leaves(const std::vector<Index>& leaves, const Draw& leaf, Index count,
                               Random& random) {
  std::vector<Index> out;
  if (count >= leaves.size()) out = leaves;
  while (out.size() < count) out.push_back(leaves[leaf(random)]);
  std::sort(out.begin(), out.end());
  return out;
}

/// `nonzeros` is the average number of distinct words per document; there are `features` words in all.
Documents sample_documents(const std::vector<Index>& gold, Index features, double nonzeros,
                           Language& language, Random& random) {
  const double median = nonzeros * std::exp(-kLengthSpread * kLengthSpread / 2);
  const double longest = std::max(1.0, features / 2.0);
  Documents out;
  for (const Index leaf : gold) {
    const double length = std::clamp(median * std::exp(kLengthSpread * random.normal()), 1.0, longest);
    language.sample(leaf, static_cast<std::size_t>(std::lround(length)), random, out.entries);
    out.end.push_back(out.entries.size());
  }
  out.gold = gold;
  return out;
}

/// Replaces repeated occurrences of words by the words that no document has yet.
void use_every_word(Index features, Random& random, Documents& documents) {
  if (documents.entries.size() < features)
    throw Error::usage(fmt::format(
        "option features = {}: violated constraint features <= {}, the words of all training documents "
        "(more documents or nonzeros give more)",
        features, documents.entries.size()));
  std::vector<Index> frequency(features, 0);
  for (const Entry& entry : documents.entries) ++frequency[entry.word];
  std::vector<std::size_t> order(documents.entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  random.shuffle(std::span(order));
  auto next = order.begin();
  for (Index word = 0; word < features; ++word) {
    if (frequency[word] > 0) continue;
    next = std::find_if(next, order.end(),
                        [&](std::size_t e) { return frequency[documents.entries[e].word] > 1; });
    --frequency[std::exchange(documents.entries[*next].word, word)];
    ++frequency[word];
  }
}

/// `number` is the feature of each word, `largest` the divisor of its frequencies.
Dataset make_dataset(const Documents& documents, const std::vector<Index>& number,
                     const std::vector<double>& largest, std::shared_ptr<const Hierarchy> tree,
                     std::shared_ptr<const Vocabulary> vocabulary) {
  Dataset out;
  DesignMatrix::Builder rows;
  auto entry = documents.entries.begin();
  for (const std::size_t end : documents.end) {
    for (; entry != documents.entries.begin() + static_cast<std::ptrdiff_t>(end); ++entry)
      rows.add(number[entry->word], entry->frequency / largest[entry->word]);
    rows.end_position();
    out.begin.push_back(out.begin.back() + 1);
  }
  out.gold = documents.gold;
  out.hierarchy = std::move(tree);
  set_rows(out, std::move(rows), std::move(vocabulary));
  return out;
}

DataPair read_synthetic_lshtc(const DataFiles&, const Options& options) {
  const Index features = count_of(options, "features");
  Random random(seed_of(options));
  const auto tree = std::make_shared<const Hierarchy>(
      make_synthetic_tree(count_of(options, "nodes"), count_of(options, "leaves"), random));
  Language language(*tree, features, random);
  std::vector<Index> leaves, number = first_indices(features);
  for (Index k = 0; k < tree->nodes(); ++k)
    if (tree->leaf(k)) leaves.push_back(k);
  random.shuffle(std::span(leaves));  // the first gets the most documents
  random.shuffle(std::span(number));
  const Draw leaf = power_law(leaves.size(), kLeafExponent);

  const auto make = [&](const char* documents) {
    return sample_documents(draw_leaves(leaves, leaf, count_of(options, documents), random), features,
                            options.real("nonzeros"), language, random);
  };
  Documents train = make("documents");
  use_every_word(features, random, train);
  const Documents test = make("test_documents");

  Vocabulary names;
  add_names(names.features, "", 1, features);
  names.outputs.emplace_back(NamedHierarchy::kRoot);
  add_names(names.outputs, "", 1, tree->nodes() - 1);
  const auto vocabulary = std::make_shared<const Vocabulary>(std::move(names));
  std::vector<double> largest(features, 0.0);
  for (const Entry& entry : train.entries)
    largest[entry.word] = std::max(largest[entry.word], entry.frequency);
  DataPair out{make_dataset(train, number, largest, tree, vocabulary),
               make_dataset(test, number, largest, tree, vocabulary), "tree"};
  for (Dataset* data : {&out.train, &out.test})
    data->description =
        fmt::format("synthetic LSHTC: {} documents, {} features, {} nodes, {} leaves, seed {}",
                    data->instances(), features, tree->nodes(), leaves.size(), options.integer("seed"));
  return out;
}

}  // namespace

DataFormatInfo synthetic_lshtc_format() {
  return with_reader(
      {.name = "synthetic-lshtc",
       .help = "generated documents of the shape of the LSHTC1 dry-run (2,388 nodes); needs no files",
       .source = "generated; the shape of the hierarchical task of Zhong et al. 2014, section 6.2",
       .needs_files = false,
       .options = {{"documents", OptionType::kInt, "4463", "training documents", 1, 1e7},
                   {"test_documents", OptionType::kInt, "1858", "test documents", 0, 1e7},
                   {"features", OptionType::kInt, "51033", "features; each occurs in training", 1, 1e8},
                   {"nodes", OptionType::kInt, "2388",
                    "nodes of the tree, the root among them; leaves < nodes <= 5 * leaves + 1", 2, 1e7},
                   {"leaves", OptionType::kInt, "1139", "leaves of the tree", 1, 1e7},
                   {"nonzeros", OptionType::kReal, "145", "mean distinct features a document", 1, 1e6},
                   {"seed", OptionType::kInt, "1", "seed of tree, words and documents", 0}},
       .oracle = "tree"},
      read_synthetic_lshtc);
}

}  // namespace proxbench
