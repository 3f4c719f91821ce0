#include "experiments/data/synthetic/synthetic_lshtc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "experiments/data/documents/documents.h"
#include "experiments/data/files.h"
#include "experiments/data/readers.h"
#include "experiments/data/synthetic/draw.h"

namespace proxbench {
namespace {

/// Levels below the root.
constexpr std::size_t kLevels = 5;
/// Inner nodes and leaves a level in cat_hier.txt of the LSHTC1 dry-run, below the root.
constexpr std::array<Index, kLevels> kRealInner{10, 158, 480, 600, 0};
constexpr std::array<Index, kLevels> kRealLeaves{0, 0, 42, 246, 851};

/// What follows was fitted by eye to the Task 1 validation file (1,860 documents) and, for leaves, to the
/// counts of the 4,463 documents of Task 2, which are those of Task 1.
constexpr double kLeafExponent = 0.8;  ///< of the documents of a leaf beyond its first one
/// Frequency of the word of rank r: (1 + r/kHeadRank)^-kHeadExponent * (1 + r/(J*kTailRank))^-kTailExponent.
constexpr double kHeadRank = 2, kHeadExponent = 0.6, kTailRank = 0.09, kTailExponent = 1.45;
constexpr double kLengthSpread = 0.75;  ///< standard deviation of the log of a document's number of words
constexpr double kValueExponent = 2.2;  ///< a term frequency v has probability ~ v^-2.2
constexpr std::size_t kLargestValue = 1500;
/// In a short document no word is frequent: its values stay below this part of its number of words, or 2.
constexpr double kLargestShare = 0.15;
/// Shares of the words that come from the topics of a path's nodes, top down; the rest are background. What
/// the levels below a leaf would give goes to the leaf.
constexpr std::array<double, kLevels> kTopicShare{0.08, 0.05, 0.05, 0.06, 0.06};
/// Words of a topic, and how unevenly they come.
constexpr std::array<Index, kLevels> kTopicWords{400, 150, 80, 60, 60};
constexpr double kTopicExponent = 0.7;
/// A topic's words are no commoner than this rank.
constexpr Index kFirstTopicRank = 50;

Draw power_law(std::size_t count, double exponent) {
  std::vector<double> weights(count);
  for (std::size_t r = 0; r < count; ++r) weights[r] = std::pow(static_cast<double>(r + 1), -exponent);
  return Draw(std::move(weights));
}

template <class T>
void shuffle(std::vector<T>& items, Random& random) {
  random.shuffle(std::span<T>(items));
}

/// Shares `total` out in proportion to the weights, by largest remainders.
template <std::size_t N>
std::array<Index, N> apportion(Index total, const std::array<Index, N>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::array<Index, N> out{};
  std::array<double, N> rest{};
  Index left = total;
  for (std::size_t i = 0; i < N; ++i) {
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

/// How many nodes of each kind there are on each level below the root.
struct Levels {
  std::array<Index, kLevels> inner{}, leaves{};

  /// Each inner node needs a child on the next level.
  bool possible() const {
    for (std::size_t l = 0; l + 1 < kLevels; ++l)
      if (inner[l] > inner[l + 1] + leaves[l + 1]) return false;
    return true;
  }
};

Levels make_levels(Index inner, Index leaves) {
  Levels out;
  const std::size_t deep = std::min<std::size_t>(kLevels - 1, inner);  // levels that hold inner nodes
  std::array<Index, kLevels> weights{};
  for (std::size_t l = 0; l < deep; ++l) weights[l] = kRealInner[l] - 1;
  if (deep > 0) out.inner = apportion(inner - static_cast<Index>(deep), weights);
  Index excess = 0;  // no level holds more inner nodes than there are leaves; they move up
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

struct TreeNode {
  bool leaf;
  std::vector<std::size_t> children;
};

/// Gives each inner node of a level a child, and the children left over to nodes with probability ~ their
/// number of children, which yields few large families and many single children, as real ones are.
void attach(std::vector<TreeNode>& nodes, const std::vector<std::size_t>& above,
            std::vector<std::size_t> below, Random& random) {
  shuffle(below, random);
  std::vector<std::size_t> family;  // the parent of each child so far
  for (std::size_t i = 0; i < below.size(); ++i) {
    const std::size_t parent = i < above.size() ? above[i] : family[random.below(family.size())];
    nodes[parent].children.push_back(below[i]);
    family.push_back(parent);
  }
}

Hierarchy make_tree(Index node_count, Index leaf_count, Random& random) {
  if (leaf_count >= node_count || node_count > (kLevels * std::uint64_t{leaf_count}) + 1)
    throw Error::usage(fmt::format(
        "option nodes = {}: violated constraint leaves < nodes <= {} * leaves + 1, with leaves = {}",
        node_count, kLevels, leaf_count));
  const Levels levels = make_levels(node_count - 1 - leaf_count, leaf_count);
  std::vector<TreeNode> nodes{{false, {}}};
  std::vector<std::size_t> above{0};
  for (std::size_t l = 0; l < kLevels; ++l) {
    std::vector<std::size_t> inner(levels.inner[l]), all(levels.inner[l] + levels.leaves[l]);
    std::iota(all.begin(), all.end(), nodes.size());
    std::copy_n(all.begin(), inner.size(), inner.begin());
    for (std::size_t i = 0; i < all.size(); ++i) nodes.push_back({i >= inner.size(), {}});
    attach(nodes, above, all, random);
    above = std::move(inner);
  }
  std::vector<Index> parent;
  std::vector<std::pair<std::size_t, Index>> todo{
      {0, Hierarchy::kNone}};  // node here, its parent in preorder
  while (!todo.empty()) {
    const auto [node, parent_there] = todo.back();
    todo.pop_back();
    const auto here = static_cast<Index>(parent.size());
    parent.push_back(parent_there);
    for (const std::size_t child : nodes[node].children) todo.emplace_back(child, here);
  }
  return Hierarchy(std::move(parent));
}

/// What the words of documents are drawn from; words are ranks, 0 the commonest.
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

  /// A document of a leaf: about `length` distinct words with their term frequencies.
  void sample(Index leaf, std::size_t length, Random& random, std::vector<SparseEntry>& out) {
    std::vector<Index> path;  // top down, without the root
    for (Index k = leaf; k != 0; k = tree_.parent(k)) path.insert(path.begin(), k);
    seen_.assign(features_, false);
    constexpr std::size_t kTriesAWord = 50;  // a small vocabulary can run out of probable words
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

/// Leaves of `count` documents in ascending order, as in the real files: each once where there are enough
/// documents, the rest by weight.
std::vector<Index> draw_leaves(const std::vector<Index>& leaves, const Draw& leaf, Index count,
                               Random& random) {
  std::vector<Index> out;
  if (count >= leaves.size()) out = leaves;
  while (out.size() < count) out.push_back(leaves[leaf(random)]);
  std::sort(out.begin(), out.end());
  return out;
}

Documents sample_documents(const std::vector<Index>& gold, const SyntheticLshtc& shape, Language& language,
                           Random& random) {
  const double median = shape.nonzeros * std::exp(-kLengthSpread * kLengthSpread / 2);
  const double longest = std::max(1.0, shape.features / 2.0);
  Documents out;
  for (const Index leaf : gold) {
    const double length = std::clamp(median * std::exp(kLengthSpread * random.normal()), 1.0, longest);
    language.sample(leaf, static_cast<std::size_t>(std::lround(length)), random, out.entries);
    out.end_document(leaf);
  }
  return out;
}

/// Lets each word that no document holds take the place of one that several hold.
void use_every_word(const SyntheticLshtc& shape, Random& random, Documents& documents) {
  if (documents.entries.size() < shape.features)
    throw Error::usage(fmt::format(
        "option features = {}: violated constraint features <= {}, the words of all training documents "
        "(more documents or nonzeros give more)",
        shape.features, documents.entries.size()));
  std::vector<Index> frequency(shape.features, 0);
  for (const SparseEntry& entry : documents.entries) ++frequency[static_cast<std::size_t>(entry.feature)];
  std::vector<std::size_t> order(documents.entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  shuffle(order, random);
  auto next = order.begin();
  for (Index word = 0; word < shape.features; ++word) {
    if (frequency[word] > 0) continue;
    const auto common = [&](std::size_t e) {
      return frequency[static_cast<std::size_t>(documents.entries[e].feature)] > 1;
    };
    next = std::find_if(next, order.end(), common);
    --frequency[static_cast<std::size_t>(documents.entries[*next].feature)];
    documents.entries[*next].feature = word;
    ++frequency[word];
  }
}

/// Gives the words their numbers in place of their ranks.
void number_words(const std::vector<Index>& number, Documents& documents) {
  for (SparseEntry& entry : documents.entries)
    entry.feature = number[static_cast<std::size_t>(entry.feature)];
}

DataPair read_synthetic_lshtc(const DataFiles& files, const Options& options) {
  require_no_files(files, "synthetic-lshtc");
  const auto count = [&](const char* name) { return static_cast<Index>(options.integer(name)); };
  SyntheticLshtc shape;
  shape.documents = count("documents");
  shape.test_documents = count("test_documents");
  shape.features = count("features");
  shape.nodes = count("nodes");
  shape.leaves = count("leaves");
  shape.nonzeros = options.real("nonzeros");
  shape.seed = static_cast<std::uint64_t>(options.integer("seed"));
  return make_synthetic_lshtc(shape);
}

}  // namespace

Hierarchy make_synthetic_tree(Index nodes, Index leaves, std::uint64_t seed) {
  Random random(seed);
  return make_tree(nodes, leaves, random);
}

DataPair make_synthetic_lshtc(const SyntheticLshtc& shape) {
  Random random(shape.seed);
  const auto tree = std::make_shared<const Hierarchy>(make_tree(shape.nodes, shape.leaves, random));
  Language language(*tree, shape.features, random);
  std::vector<Index> leaves, number(shape.features);
  for (Index k = 0; k < tree->nodes(); ++k)
    if (tree->leaf(k)) leaves.push_back(k);
  shuffle(leaves, random);  // from the one with most documents on
  std::iota(number.begin(), number.end(), Index{1});
  shuffle(number, random);
  const Draw leaf = power_law(leaves.size(), kLeafExponent);

  const auto make = [&](Index count) {
    return sample_documents(draw_leaves(leaves, leaf, count, random), shape, language, random);
  };
  Documents train = make(shape.documents);
  use_every_word(shape, random, train);
  Documents test = make(shape.test_documents);
  for (Documents* documents : {&train, &test}) number_words(number, *documents);

  std::vector<std::string> names{NamedHierarchy::kRoot};
  for (Index k = 1; k < tree->nodes(); ++k) names.push_back(std::to_string(k));
  const FeatureTable features(train, ValueScale::kMax);
  DataPair out = document_data(std::move(train), std::move(test), features, {names, tree});
  for (Dataset* data : {&out.train, &out.test})
    data->description =
        fmt::format("synthetic LSHTC: {} documents, {} features, {} nodes, {} leaves, seed {}",
                    data->instances(), shape.features, shape.nodes, shape.leaves, shape.seed);
  return out;
}

DataFormatInfo synthetic_lshtc_format() {
  DataFormatInfo info;
  info.name = "synthetic-lshtc";
  info.help = "generated documents of the shape of the LSHTC1 dry-run (2,388 nodes); needs no files";
  info.source = "generated; the shape of the hierarchical task of Zhong et al. 2014, section 6.2";
  info.needs_files = false;
  const SyntheticLshtc shape;
  OptionSpec nonzeros{"nonzeros",
                      OptionType::kReal,
                      fmt::format("{}", shape.nonzeros),
                      "mean distinct features a document",
                      1,
                      1e6};
  info.options = {
      {"documents", OptionType::kInt, std::to_string(shape.documents), "training documents", 1, 1e7},
      {"test_documents", OptionType::kInt, std::to_string(shape.test_documents), "test documents", 0, 1e7},
      {"features", OptionType::kInt, std::to_string(shape.features), "features; each occurs in training", 1,
       1e8},
      {"nodes", OptionType::kInt, std::to_string(shape.nodes),
       "nodes of the tree, the root among them; leaves < nodes <= 5 * leaves + 1", 2, 1e7},
      {"leaves", OptionType::kInt, std::to_string(shape.leaves), "leaves of the tree", 1, 1e7},
      nonzeros,
      {"seed", OptionType::kInt, std::to_string(shape.seed), "seed of tree, words and documents", 0}};
  info.read = read_synthetic_lshtc;
  return info;
}

}  // namespace proxbench
