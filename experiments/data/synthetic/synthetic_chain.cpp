/// Generated sequences with many labels, similar to ChineseOCR (Yen et al. 2016): 86 binary features
/// including the bias, 14 tokens per sequence, K in the thousands.
///
/// Labels follow Zipf's law, P(k) ~ 1/(k + 1). Each label has a few successors, drawn once by the same
/// law. The next label is one of them, the i-th with weight 1/(i + 1), so transitions are sparse. Each label
/// is a random set of features. A token of the label shows each feature of this set, and hides each other
/// one, with probability 1 - noise.
#include <fmt/format.h>

#include "experiments/data/synthetic/synthetic.h"

namespace proxbench {
namespace {

/// A label shows this share of the features on average.
constexpr double kShown = 0.25;

/// Returns the distribution of i in 0..n-1 with P(i) ~ 1/(i + 1).
Draw zipf_law(Index n) {
  std::vector<double> weights;
  for (Index i = 0; i < n; ++i) weights.push_back(1.0 / (i + 1.0));
  return Draw(std::move(weights));
}

class ChainModel {
 public:
  explicit ChainModel(const SyntheticChain& shape)
      : shape_(shape), label_(zipf_law(shape.labels)), successor_(zipf_law(shape.successors)) {
    Random random(shape.seed);
    for (Index k = 0; k < shape.labels; ++k) {
      std::vector<bool> shows;
      for (Index j = 0; j + 1 < shape.features; ++j) shows.push_back(random.uniform() < kShown);
      shows_.push_back(std::move(shows));
      std::vector<Index> next;
      for (Index i = 0; i < shape.successors; ++i) next.push_back(label_(random));
      next_.push_back(std::move(next));
    }
  }

  Dataset draw(Index sequences, std::uint64_t seed, std::shared_ptr<const Vocabulary> vocabulary) const {
    Random random(seed);
    Dataset out;
    DesignMatrix::Builder x;
    for (Index s = 0; s < sequences; ++s) {
      Index label = 0;
      for (Index t = 0; t < shape_.tokens; ++t) {
        label = t == 0 ? label_(random) : next_[label][successor_(random)];
        x.add(0, 1.0);
        for (Index j = 1; j < shape_.features; ++j)
          if (shows_[label][j - 1] != (random.uniform() < shape_.noise)) x.add(j, 1.0);
        x.end_position();
        out.gold.push_back(label);
      }
      out.begin.push_back(static_cast<Index>(out.gold.size()));
    }
    out.description = fmt::format(
        "synthetic chain: {} sequences of {} tokens, {} labels, {} features, {} successors, noise {}, seed "
        "{}",
        sequences, shape_.tokens, shape_.labels, shape_.features, shape_.successors, shape_.noise,
        shape_.seed);
    set_rows(out, std::move(x), std::move(vocabulary));
    return out;
  }

 private:
  const SyntheticChain& shape_;
  Draw label_, successor_;
  std::vector<std::vector<bool>> shows_;  ///< by label and feature, without the bias
  std::vector<std::vector<Index>> next_;
};

DataPair read_synthetic_chain(const DataFiles&, const Options& options) {
  return make_synthetic_chain({.labels = count_of(options, "labels"),
                               .features = count_of(options, "features"),
                               .seed = seed_of(options)},
                              count_of(options, "sequences"), count_of(options, "test_sequences"));
}

}  // namespace

DataPair make_synthetic_chain(const SyntheticChain& shape, Index sequences, Index test_sequences) {
  const ChainModel model(shape);
  Vocabulary names;
  names.features.push_back("bias");
  add_names(names.features, "f", 1, shape.features - 1);
  add_names(names.outputs, "l", 0, shape.labels - 1);
  const auto vocabulary = std::make_shared<const Vocabulary>(std::move(names));
  // Training and test set have separate random streams, so the test set does not depend on the number of
  // training sequences.
  return {model.draw(sequences, 2 * shape.seed + 1, vocabulary),
          model.draw(test_sequences, 2 * shape.seed + 2, vocabulary), "chain"};
}

DataFormatInfo synthetic_chain_format() {
  return with_reader(
      {.name = "synthetic-chain",
       .help = "generated sequences with many labels, in the shape of ChineseOCR; needs no files",
       .source = "generated; sizes as Yen et al. 2016 give for ChineseOCR",
       .needs_files = false,
       .options = {{"labels", OptionType::kInt, "1000", "labels", 2, 1e5},
                   {"sequences", OptionType::kInt, "2000", "training sequences", 1, 1e7},
                   {"test_sequences", OptionType::kInt, "500", "test sequences", 0, 1e7},
                   {"features", OptionType::kInt, "86", "features, the bias among them", 2, 1e6},
                   {"seed", OptionType::kInt, "1", "seed of labels, transitions and sequences", 0, 1e15}},
       .oracle = "chain"},
      read_synthetic_chain);
}

}  // namespace proxbench
