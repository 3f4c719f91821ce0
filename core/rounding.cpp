#include "core/rounding.h"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "core/base/sum.h"
#include "core/kernels/kernel_table.h"

namespace proxbench {

namespace {

/// The roundings of a score in inference, apart from those of its sum: products, exponentials and logarithms
/// of 2 ulp each, normalisation.
constexpr double kRoundingsOfAScore = 16.0;
/// The relative error of a normalised marginal, in units of 2^-53.
constexpr double kRoundingsOfAMarginal = 4.0;
/// Additions on the longest path through a tree, beyond those within a leaf or a chunk, plus the rounding of
/// a term.
constexpr double kLevelsOfLeaves = 8.0, kLevelsOfChunks = 24.0;
constexpr std::size_t kPositionsPerTask = 512;
/// Coordinates in a task of compensated sums, and instances whose terms are computed before they are added.
constexpr std::size_t kSharpChunk = 16, kInstancesAtOnce = 256;
/// The square root of the smallest normal number. The square of a smaller number may vanish.
constexpr double kSmallest = 0x1p-511;

/// A bound on the size of a row of a residual if outputs collapse. The leaves of a position share
/// probabilities that sum to 1, along paths of `path` nodes. The size is the sum of the sizes that
/// LinearMap::for_each_row() adds up, which is at least the norm of the row.
double collapsed_size(std::size_t path) {
  const double nodes = static_cast<double>(path) + 1.0;
  return 2.0 * nodes * nodes;
}

std::size_t longest_path(const Objective& objective) {
  std::size_t longest = 1;
  for (Index p = 0; p < objective.structure().positions(); ++p)
    longest = std::max(longest, objective.structure().gold_outputs(p).size());
  return static_cast<std::size_t>(whole_max(objective.parallel(), static_cast<double>(longest)));
}

void largest_at(double& size, double number) {
  size = std::max(size, std::abs(number));
}
void sum_at(double& size, double number) {
  size += std::abs(number);
}

/// Reduces the numbers of all outputs at a position to one number. Returns an empty vector if no numbers are
/// known or if some outputs have no column of their own.
std::vector<double> sizes_by_position(const OutputColumns* numbers,
                                      void (*add)(double& size, double number)) {
  if (numbers == nullptr || !numbers->one_each()) return {};
  std::vector<double> sizes(numbers->stride, 0.0);
  for (Index k = 0; k < numbers->columns; ++k)
    for (std::size_t p = 0; p < sizes.size(); ++p) add(sizes[p], numbers->column(k)[p]);
  return sizes;
}

}  // namespace

double objective_rounding(const Objective& objective, const SparseVector& w, const KnownPoint& known) {
  const DesignMatrix& x = objective.x();
  // By feature, the largest |w|. A score adds up the weights on the path to its output.
  std::vector<double> largest(x.features(), 0.0);
  double extra = 0.0, all_extra = 0.0;
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    const double size = std::abs(w.value[i]);
    if (w.index[i] < objective.unary_weights()) {
      double& to = largest[w.index[i] / objective.outputs()];
      to = std::max(to, size);
    } else {
      extra = std::max(extra, size);
      all_extra += size;
    }
  }
  // A chain has one transition at a position. A label set has any number of pairs.
  const bool independent = objective.structure().positions() == objective.structure().instances();
  if (independent) extra = all_extra;
  const auto path = static_cast<double>(longest_path(objective));
  const double outputs = static_cast<double>(objective.outputs()) / static_cast<double>(kPad);
  const std::vector<double> score_sizes = sizes_by_position(known.scores, largest_at);
  const std::vector<double> residual_sizes = sizes_by_position(known.residual, sum_at);
  const auto begin = objective.structure().begin();
  const std::span<const Index> chunks = objective.map().instance_chunks();
  const double of_losses = sum_chunks(objective.parallel(), chunks.size() - 1, [&](std::size_t chunk) {
    double sum = 0.0;
    for (std::size_t i = chunks[chunk]; i < chunks[chunk + 1]; ++i) {
      double first_order = 0.0, of_scores = 0.0, of_inference = 0.0;
      for (Index p = begin[i]; p < begin[i + 1]; ++p) {
        double size = extra, terms = 1.0;
        x.for_each_entry(p, [&](Index j, double value) {
          if (largest[j] == 0.0) return;
          size += path * std::abs(value) * largest[j];
          terms += path;
        });
        const double error = terms * size;
        first_order += error * (residual_sizes.empty() ? 2.0 : residual_sizes[p]);
        of_scores += error;
        const double score = score_sizes.empty() ? size : std::min(score_sizes[p] + extra, size);
        of_inference += kRoundingsOfAScore * score + outputs + kRoundingsOfAScore;
      }
      // Errors of the loss, and the divergence between the distributions of the exact and the rounded scores.
      const double all = kUnitRoundoff * (of_scores + of_inference);
      sum += kUnitRoundoff * (first_order + of_inference) + std::min(2.0 * all, all * all);
    }
    return sum;
  });
  const double penalty = objective.l1(w.value) + objective.l2(w.value);
  const double additions = static_cast<double>(kBlockOfNorms) +
                           static_cast<double>(w.nnz()) / static_cast<double>(kBlockOfNorms) +
                           kLevelsOfLeaves;
  return of_losses + kUnitRoundoff * additions * penalty;
}

namespace {

/// A compensated sum. `lost` is what its additions rounded away. `sizes` adds up |term|, and `marginals` adds
/// up |x| times the marginal. Processes pass it on as plain numbers.
struct SharpSum {
  double sum = 0.0, lost = 0.0, sizes = 0.0, marginals = 0.0;

  void add(double term) {
    const double next = sum + term;
    lost += std::abs(sum) >= std::abs(term) ? (sum - next) + term : (term - next) + sum;
    sum = next;
    sizes += std::abs(term);
  }
  void add(double value, double number) {
    const double term = value * number;
    add(term);
    lost += std::fma(value, number, -term);
    // A residual above 0 is a marginal, and one below 0 is the marginal of a gold output minus 1.
    marginals += std::abs(value * (number > 0.0 ? number : 1.0 + number));
  }
  /// The sum of `terms` terms. `off` bounds the error of the terms themselves.
  SharpGradient gradient(std::size_t terms, double off) const {
    const double left = kUnitRoundoff * 2.0 * static_cast<double>(terms + 1), value = sum + lost;
    return {value, off + kUnitRoundoff * 2.0 * std::abs(value) + left * left * sizes +
                       static_cast<double>(terms) * kSmallest};
  }
};

}  // namespace

std::vector<SharpGradient> sharp_gradients(const LinearMap& map, const Residual& residual,
                                           std::span<const Coord> index) {
  const DesignMatrix& x = map.x();
  const auto feature = [&](std::size_t i) { return map.feature_of(index[i]); };
  std::vector<SharpSum> sums(index.size());
  add_in_order(map.parallel(), sums, [&] {
    const Chunks chunks{index.size(), kSharpChunk};
    map.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
      for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
        const double* const column = residual.column(index[i] % map.outputs());
        x.for_each_in_column(feature(i), [&](std::size_t p, double value) { sums[i].add(value, column[p]); });
      }
    });
  });
  std::vector<SharpGradient> out;
  for (std::size_t i = 0; i < index.size(); ++i)
    out.push_back(sums[i].gradient(x.whole_column_size(feature(i)),
                                   kUnitRoundoff * kRoundingsOfAMarginal * sums[i].marginals));
  return out;
}

namespace {

/// Returns for each extra weight the sum of its expected count and its gold count. The gradient is their
/// difference, and the numbers that are rounded on the way to it are at most this large.
std::vector<double> extra_sizes(const Objective& objective, std::span<const double> gradient) {
  std::vector<double> sizes = objective.structure().gold_extra(objective.parallel());
  for (std::size_t e = 0; e < sizes.size(); ++e) sizes[e] += std::abs(gradient[e] + sizes[e]);
  return sizes;
}

/// The most positions in a range of instances. Range c holds the instances [bounds[c], bounds[c + 1]).
template <class Bounds>
double most_positions(const Objective& objective, const Bounds& bounds) {
  const auto begin = objective.structure().begin();
  Index most = 0;
  for (std::size_t c = 0; c + 1 < bounds.size(); ++c)
    most = std::max(most, begin[bounds[c + 1]] - begin[bounds[c]]);
  return whole_max(objective.parallel(), most);
}

}  // namespace

std::vector<SharpGradient> sharp_extra_gradients(const Objective& objective, const Scores& scores) {
  const auto begin = objective.structure().begin();
  const std::size_t width = padded(objective.outputs()), weights = scores.extra.size(),
                    instances = objective.structure().instances();
  std::vector<SharpSum> sums(weights);
  std::vector<double> part(kInstancesAtOnce * weights);
  add_in_order(objective.parallel(), sums, [&] {
    for (std::size_t first = 0; first < instances; first += kInstancesAtOnce) {
      const std::size_t count = std::min(kInstancesAtOnce, instances - first);
      objective.parallel().for_each(count, [&](std::size_t i) {
        InstanceOracle::Workspace work;
        const auto instance = static_cast<Index>(first + i);
        const std::size_t origin = begin[instance], length = begin[instance + 1] - origin;
        AlignedVector<double> rows(length * width), residual(length * width);
        kernels_in_use().columns_to_rows(scores.values.data(), scores.stride, objective.outputs(), origin,
                                         length, rows.data(), width);
        objective.single_instances()->infer_instance(instance, rows.data(), scores.extra, residual.data(),
                                                     std::span(part).subspan(i * weights, weights), work);
      });
      const Chunks chunks{weights, kSharpChunk};
      objective.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
        for (std::size_t i = 0; i < count; ++i)
          for (std::size_t e = chunks.begin(chunk); e < chunks.end(chunk); ++e)
            sums[e].add(part[i * weights + e]);
      });
    }
  });
  std::vector<double> gradient;
  for (const SharpSum& sum : sums) gradient.push_back(sum.sum);
  const std::vector<double> sizes = extra_sizes(objective, gradient);
  const auto each = std::views::iota(std::size_t{0}, instances + 1);
  const double additions = most_positions(objective, each) + kRoundingsOfAMarginal;
  std::vector<SharpGradient> out;
  for (std::size_t e = 0; e < weights; ++e)
    out.push_back(sums[e].gradient(objective.instances(), kUnitRoundoff * additions * sizes[e]));
  return out;
}

GradientRounding::GradientRounding(const Objective& objective, const Residual& residual)
    : unary_(objective.unary_weights()), outputs_(objective.outputs()) {
  const std::size_t positions = objective.x().positions();
  std::vector<double> squares(positions);
  if (residual.one_each()) {
    const Chunks chunks{positions, kPositionsPerTask};
    objective.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
      for (Index k = 0; k < outputs_; ++k) {
        const double* const column = residual.column(k);
        for (std::size_t p = chunks.begin(chunk); p < chunks.end(chunk); ++p)
          squares[p] += column[p] * column[p];
      }
    });
  } else {
    const double size = collapsed_size(longest_path(objective));
    std::ranges::fill(squares, size * size);
  }
  add_features(objective, squares);
  if (residual.one_each()) add_outputs(objective, residual);
  add_extra(objective, extra_sizes(objective, residual.extra));
}

GradientRounding::GradientRounding(const Objective& objective, std::span<const double> squares,
                                   std::span<const double> extra_sizes)
    : unary_(objective.unary_weights()), outputs_(objective.outputs()) {
  add_features(objective, squares);
  add_extra(objective, extra_sizes);
}

/// By Cauchy-Schwarz, a feature with n entries has sum_p |x_p| r_p <= sqrt(n * sum_p x_p^2 r_p^2).
void GradientRounding::add_features(const Objective& objective, std::span<const double> squares) {
  const DesignMatrix& x = objective.x();
  AlignedVector<double> rows(squares.size() * kPad, 0.0);
  for (std::size_t p = 0; p < squares.size(); ++p) {
    rows[p * kPad] = squares[p];
    rows[p * kPad + 1] = 1.0;
  }
  feature_.assign(x.features(), 0.0);
  objective.map().sum_rows(rows.data(), kPad, true, [&](Index j, const double* sums) {
    const auto n = static_cast<double>(x.whole_column_size(j));
    const double additions = static_cast<double>(x.most_in_leaf(j)) + kLevelsOfLeaves;
    feature_[j] = kUnitRoundoff *
                      (additions * std::sqrt(n * sums[0]) + kRoundingsOfAMarginal * std::sqrt(n * sums[1])) +
                  n * kSmallest;
  });
  objective.map().share_features(feature_);
  double sum = 0.0;
  for (const double size : feature_) {
    largest_ = std::max(largest_, size);
    sum += size * size;
  }
  norm_ = std::sqrt(sum);
  if (!std::isfinite(norm_)) largest_ = kInfinity;
}

/// If all values of X are 1, each term of a gradient at output k is a number of the residual's column k.
void GradientRounding::add_outputs(const Objective& objective, const Residual& residual) {
  const DesignMatrix& x = objective.x();
  if (whole_max(objective.parallel(), x.binary() ? 0.0 : 1.0) > 0.0) return;
  output_.resize(outputs_);
  const auto begin = objective.structure().begin();
  const std::span<const Index> chunks = objective.map().instance_chunks();
  sum_chunks(objective.parallel(), chunks.size() - 1, outputs_, output_.data(),
             [&](std::size_t chunk, double* part) {
               for (Index k = 0; k < outputs_; ++k) {
                 const double* const column = residual.column(k);
                 for (Index p = begin[chunks[chunk]]; p < begin[chunks[chunk + 1]]; ++p)
                   part[k] += std::abs(column[p]);
               }
             });
  for (Index j = 0; j < x.features(); ++j) {
    const auto n = static_cast<double>(x.whole_column_size(j));
    of_terms_.push_back(kUnitRoundoff * (static_cast<double>(x.most_in_leaf(j)) + kLevelsOfLeaves));
    of_marginals_.push_back(kUnitRoundoff * kRoundingsOfAMarginal * n);
  }
}

void GradientRounding::add_extra(const Objective& objective, std::span<const double> sizes) {
  const double additions =
      most_positions(objective, objective.map().instance_chunks()) + kLevelsOfChunks + kRoundingsOfAMarginal;
  double sum = norm_ * norm_;
  for (const double size : sizes) {
    extra_.push_back(kUnitRoundoff * additions * size);
    largest_ = std::max(largest_, extra_.back());
    sum += extra_.back() * extra_.back();
  }
  norm_ = std::sqrt(sum);
}

double GradientRounding::at(Coord c) const {
  if (c >= unary_) return extra_[c - unary_];
  const Coord j = c / outputs_;
  if (output_.empty()) return feature_[j];
  return std::min(feature_[j], of_terms_[j] * output_[c % outputs_] + of_marginals_[j]);
}

double GradientRounding::weighted(std::span<const Coord> index, std::span<const double> v) const {
  double sum = 0.0;
  for (std::size_t i = 0; i < index.size();) {
    if (index[i] >= unary_) {
      sum += std::abs(v[i]) * extra_[index[i] - unary_];
      ++i;
      continue;
    }
    const Coord feature = index[i] / outputs_;
    double squares = 0.0;
    for (; i < index.size() && index[i] < unary_ && index[i] / outputs_ == feature; ++i)
      squares += v[i] * v[i];
    sum += std::sqrt(squares) * feature_[feature];
  }
  return sum;
}

}  // namespace proxbench
