/// Generated rows of real values with a class each: no value is zero, and most weights of a model are needed.
///
/// Values are standard normal. A class k has weights from a normal distribution of deviation kDeviation. The
/// class of a row x is the k with the largest w_k x + noise * G_k, where the G_k are standard Gumbel numbers.
/// So the classes follow a logistic model with the weights w / noise.
#include <fmt/format.h>

#include <cmath>

#include "core/base/random.h"
#include "experiments/data/synthetic/synthetic.h"

namespace proxbench {
namespace {

constexpr double kDeviation = 0.3;

DataPair read_synthetic_classes(const DataFiles&, const Options& options) {
  const Index classes = count_of(options, "classes"), features = count_of(options, "features");
  const double noise = options.real("noise");
  const std::uint64_t seed = seed_of(options);
  Vocabulary names;
  add_names(names.features, "x", 0, features - 1);
  add_names(names.outputs, "c", 0, classes - 1);
  const auto vocabulary = std::make_shared<const Vocabulary>(std::move(names));

  Random of_weights(seed);
  std::vector<double> weights(std::size_t{classes} * features);
  for (double& w : weights) w = kDeviation * of_weights.normal();
  // Training and test set have separate random streams, so neither depends on the size of the other.
  const auto draw = [&](Index rows, std::uint64_t stream) {
    Random random(stream);
    Dataset out;
    DesignMatrix::Builder x;
    std::vector<double> row(features);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < features; ++j) x.add(j, row[j] = random.normal());
      x.end_position();
      double best = -kInfinity;
      out.gold.push_back(0);
      for (Index k = 0; k < classes; ++k) {
        double score = -noise * std::log(-std::log(1.0 - random.uniform()));
        for (Index j = 0; j < features; ++j) score += weights[std::size_t{k} * features + j] * row[j];
        if (!(score > best)) continue;
        best = score;
        out.gold.back() = k;
      }
      out.begin.push_back(static_cast<Index>(out.gold.size()));
    }
    out.description =
        fmt::format("synthetic classes: {} rows of {} real values, {} classes, noise {}, seed {}", rows,
                    features, classes, noise, seed);
    set_rows(out, std::move(x), vocabulary);
    return out;
  };
  return {draw(count_of(options, "rows"), 2 * seed + 1), draw(count_of(options, "test_rows"), 2 * seed + 2),
          "tree"};
}

}  // namespace

DataFormatInfo synthetic_classes_format() {
  return with_reader(
      {.name = "synthetic-classes",
       .help = "generated rows of real values with a class each, without zeros; needs no files",
       .source = "generated from a logistic model",
       .needs_files = false,
       .options = {{"classes", OptionType::kInt, "20", "classes", 2, 1e5},
                   {"rows", OptionType::kInt, "5000", "training rows", 1, 1e7},
                   {"test_rows", OptionType::kInt, "1000", "test rows", 0, 1e7},
                   {"features", OptionType::kInt, "300", "values of a row", 1, 1e6},
                   {"noise", OptionType::kReal, "3", "scale of the noise in the scores of the classes", 0,
                    1e6},
                   {"seed", OptionType::kInt, "1", "seed of weights and rows", 0, 1e15}},
       .oracle = "tree"},
      read_synthetic_classes);
}

}  // namespace proxbench
