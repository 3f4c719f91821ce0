#include "core/certificates/rounding.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/sum.h"

namespace proxbench {

namespace {

/// Roundings of a term of a sum, and of the last additions of a penalty.
constexpr double kOfTerm = 2.0;
constexpr std::size_t kPositionsPerTask = 512;
/// Coordinates in a task of compensated sums, and instances whose terms are computed before they are added.
constexpr std::size_t kSharpChunk = 16, kInstancesAtOnce = 256;
/// The square root of the smallest normal number. The square of a smaller number may vanish.
constexpr double kSmallest = 0x1p-511;
/// The sums within a bound add fewer than 2^32 numbers that are not below 0. This factor covers their
/// rounding.
constexpr double kOfBounds = 1.0 + 0x1p-20;
/// A number of the residual is between -1 and 1, so two of a row of outputs differ by at most this in norm.
constexpr double kMostDifferent = 2.0;

std::size_t longest_path(const Objective& objective) {
  std::size_t longest = 1;
  for (Index p = 0; p < objective.oracle().positions(); ++p)
    longest = std::max(longest, objective.oracle().gold_outputs(p).size());
  return static_cast<std::size_t>(whole_max(objective.parallel(), static_cast<double>(longest)));
}

/// Roundings of sum_chunks(): one of each process's compensated sum, whose second order is below another, and
/// the additions over processes. A compensated sum of n < 2^24 chunks has (n * 2^-53)^2 < 2^-53 / 32.
double roundings_of_chunks(const Objective& objective) {
  return 2.0 + static_cast<double>(whole_count(objective.parallel(), 1));
}

/// How exact inference is on an instance: what the oracle states, else plain_rounding().
InferenceRounding inference_rounding(const Objective& objective, Index instance) {
  const Oracle& oracle = objective.oracle();
  const auto stated =
      objective.loss().hinge() ? objective.max()->max_rounding() : oracle.sum()->sum_rounding(instance);
  return stated ? *stated : plain_rounding(oracle.length(instance), oracle.outputs());
}

/// SumOracle::spread_drift() for each extra weight; zeros for a hinge loss, whose residuals have no drift.
std::vector<double> drift_of_extra(const Objective& objective, std::span<const double> by_output) {
  std::vector<double> out(objective.oracle().extra_weights(), 0.0);
  if (!objective.loss().hinge() && !out.empty()) objective.oracle().sum()->spread_drift(by_output, out);
  return out;
}

/// The largest number of a kind that any instance of any process has.
double largest_of(const Objective& objective, double InferenceRounding::*number) {
  double largest = 0.0;
  for (Index i = 0; i < objective.oracle().instances(); ++i)
    largest = std::max(largest, inference_rounding(objective, i).*number);
  return whole_max(objective.parallel(), largest);
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

PointRounding point_rounding(const Objective& objective, const SparseVector& w, double loss,
                             const Scores* scores, const Residual* residual) {
  const DesignMatrix& x = objective.map().x();
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
  const bool independent = objective.oracle().positions() == objective.oracle().instances();
  if (independent) extra = all_extra;
  const auto path = static_cast<double>(longest_path(objective));
  const std::vector<double> score_sizes = sizes_by_position(scores, largest_at);
  const std::vector<double> residual_sizes = sizes_by_position(residual, sum_at);
  const std::span<const Index> chunks = objective.map().instance_chunks();
  PointRounding out;
  out.divergence.resize(objective.oracle().instances());
  const double of_losses = sum_chunks(objective.parallel(), chunks.size() - 1, [&](std::size_t chunk) {
    double sum = 0.0;
    for (std::size_t i = chunks[chunk]; i < chunks[chunk + 1]; ++i) {
      const InferenceRounding of = inference_rounding(objective, static_cast<Index>(i));
      double first_order = 0.0, of_scores = 0.0, of_inference = 0.0;
      for (const Index p : objective.oracle().positions_of(i)) {
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
        of_inference += of.of_scores * score + of.of_positions;
      }
      const double all = kUnitRoundoff * kOfBounds * (of_scores + of_inference);
      out.divergence[i] = all;
      // The squares are the second order of the loss, and the divergence.
      sum += kUnitRoundoff * (first_order + of_inference) + std::min(2.0 * all, all * all);
    }
    return sum;
  });
  const double penalty = objective.penalty().l1(w.value) + objective.penalty().l2(w.value);
  const double of_penalty = static_cast<double>(kBlockOfNorms) +
                            static_cast<double>(w.nnz()) / static_cast<double>(kBlockOfNorms) + kOfTerm;
  const double of_sums =
      largest_of(objective, &InferenceRounding::of_losses) + roundings_of_chunks(objective);
  out.objective = kOfBounds * (of_losses + kUnitRoundoff * (of_sums * std::abs(loss) + of_penalty * penalty +
                                                            4.0 * (std::abs(loss) + penalty)));
  return out;
}

ResidualErrors residual_errors(const Objective& objective) {
  ResidualErrors out;
  out.marginal.resize(objective.oracle().positions());
  out.drift.resize(out.marginal.size());
  for (Index i = 0; i < objective.oracle().instances(); ++i) {
    const InferenceRounding of = inference_rounding(objective, i);
    for (const Index p : objective.oracle().positions_of(i)) {
      out.marginal[p] = of.of_marginals;
      out.drift[p] = of.drift;
    }
  }
  return out;
}

namespace {

/// A compensated sum, the sum of the sizes of its terms, and what it would gain if each number of R were off
/// by its ResidualErrors.
struct SharpSum {
  CompensatedSum sum;
  double sizes = 0.0, errors = 0.0;

  void add(double term) {
    sum.add(term);
    sizes += std::abs(term);
  }
  void add(double value, double number, double marginal, double drift) {
    sum.add_product(value, number);
    sizes += std::abs(value * number);
    // A residual above 0 is a marginal, and one below 0 is the marginal of a gold output minus 1.
    errors +=
        std::abs(value) * (drift * std::abs(number) + marginal * (number > 0.0 ? number : 1.0 + number));
  }
  void add(const SharpSum& other) {
    sum.add(other.sum);
    sizes += other.sizes;
    errors += other.errors;
  }
  /// The sum of `terms` terms. `off` bounds the error of the terms themselves, in addition to `errors`.
  SharpGradient gradient(std::size_t terms, double off) const {
    const double left = kUnitRoundoff * 2.0 * static_cast<double>(terms + 1), value = sum.value();
    return {value, kUnitRoundoff * (off + kOfBounds * errors + 2.0 * std::abs(value)) + left * left * sizes +
                       static_cast<double>(terms) * kSmallest};
  }
};
static_assert(sizeof(SharpSum) == 4 * sizeof(double));

/// Replaces sums by those over all processes.
void add_processes(const Parallel& parallel, std::vector<SharpSum>& sums) {
  const std::size_t numbers = 4 * sums.size();
  std::vector<double> own(numbers);
  std::memcpy(own.data(), sums.data(), numbers * sizeof(double));
  const std::vector<double> all = whole_list(parallel, std::move(own));
  std::memcpy(static_cast<void*>(sums.data()), all.data(), numbers * sizeof(double));
  for (std::size_t first = numbers; first < all.size(); first += numbers)
    for (std::size_t i = 0; i < sums.size(); ++i) {
      SharpSum theirs;
      std::memcpy(static_cast<void*>(&theirs), &all[first + 4 * i], sizeof theirs);
      sums[i].add(theirs);
    }
}

}  // namespace

std::vector<SharpGradient> sharp_gradients(const LinearMap& map, const Residual& residual,
                                           std::span<const Coord> index, const ResidualErrors& of) {
  const DesignMatrix& x = map.x();
  const auto feature = [&](std::size_t i) { return map.feature_of(index[i]); };
  std::vector<SharpSum> sums(index.size());
  const Chunks chunks{index.size(), kSharpChunk};
  map.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
    for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      const double* const column = residual.column(index[i] % map.outputs());
      x.for_each_in_column(feature(i), [&](std::size_t p, double value) {
        sums[i].add(value, column[p], of.marginal[p], of.drift[p]);
      });
    }
  });
  add_processes(map.parallel(), sums);
  std::vector<SharpGradient> out;
  for (std::size_t i = 0; i < index.size(); ++i)
    out.push_back(sums[i].gradient(x.whole_column_size(feature(i)), 0.0));
  return out;
}

namespace {

/// Returns for each extra weight the sum of its expected count and its gold count. The gradient is their
/// difference, and the numbers that are rounded on the way to it are at most this large.
std::vector<double> extra_sizes(const Objective& objective, std::span<const double> gradient) {
  std::vector<double> sizes = objective.oracle().gold_extra(objective.parallel());
  for (std::size_t e = 0; e < sizes.size(); ++e) sizes[e] += std::abs(gradient[e] + sizes[e]);
  return sizes;
}

}  // namespace

std::vector<SharpGradient> sharp_extra_gradients(const Objective& objective, const Scores& scores,
                                                 std::span<const double> drift) {
  const std::size_t width = padded(objective.outputs()), weights = scores.extra.size(),
                    instances = objective.oracle().instances();
  std::vector<SharpSum> sums(weights);
  std::vector<double> part(kInstancesAtOnce * weights);
  for (std::size_t first = 0; first < instances; first += kInstancesAtOnce) {
    const std::size_t count = std::min(kInstancesAtOnce, instances - first);
    objective.parallel().for_each(count, [&](std::size_t i) {
      const auto instance = static_cast<Index>(first + i);
      const std::size_t origin = objective.oracle().begin()[instance],
                        length = objective.oracle().length(instance);
      AlignedVector<double> rows(length * width), residual(length * width);
      scores.get_rows(origin, length, rows.data());
      objective.oracle().instance()->infer_instance(instance, rows.data(), scores.extra, residual.data(),
                                                    std::span(part).subspan(i * weights, weights));
    });
    const Chunks chunks{weights, kSharpChunk};
    objective.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
      for (std::size_t i = 0; i < count; ++i)
        for (std::size_t e = chunks.begin(chunk); e < chunks.end(chunk); ++e)
          sums[e].add(part[i * weights + e]);
    });
  }
  add_processes(objective.parallel(), sums);
  std::vector<double> gradient;
  for (const SharpSum& sum : sums) gradient.push_back(sum.sum.value());
  const std::vector<double> sizes = extra_sizes(objective, gradient);
  const double roundings = largest_of(objective, &InferenceRounding::of_extra);
  std::vector<SharpGradient> out;
  for (std::size_t e = 0; e < weights; ++e)
    out.push_back(sums[e].gradient(objective.instances(), roundings * sizes[e] + drift[e]));
  return out;
}

GradientRounding::GradientRounding(const Objective& objective, const Residual& residual,
                                   std::span<const double> divergence)
    : unary_(objective.unary_weights()), outputs_(objective.outputs()), errors_(residual_errors(objective)) {
  const bool collapsed = !residual.one_each();
  const Rows rows = rows_of(objective, residual, divergence);
  add_features(objective, rows, collapsed ? objective.map().collapsed()->expand_additions() : 0.0);
  const std::vector<double> sizes = extra_sizes(objective, residual.extra);
  if (!collapsed) add_outputs(objective, residual, divergence);
  // A pair's drift is at most that of its own count.
  const double drift = largest_of(objective, &InferenceRounding::drift);
  for (std::size_t e = 0; e < extra_drift_.size(); ++e)
    extra_drift_[e] = std::min(extra_drift_[e], drift * sizes[e]);
  add_extra(sizes, largest_of(objective, &InferenceRounding::of_extra) + 2.0 * kChunkPositions +
                       roundings_of_chunks(objective));
}

GradientRounding::GradientRounding(const Objective& objective, const RowResidual& residual)
    : unary_(objective.unary_weights()), outputs_(objective.outputs()) {
  Rows rows;
  for (std::size_t p = 0; p < residual.squares.size(); ++p) {
    rows.size.push_back(std::sqrt(residual.squares[p]));
    // The norm of the marginals is at most that of their difference from gold plus that of gold.
    const std::size_t gold = objective.oracle().gold_outputs(static_cast<Index>(p)).size();
    rows.error.push_back(residual.of_marginals * (rows.size[p] + std::sqrt(static_cast<double>(gold))));
  }
  add_features(objective, rows, 0.0);
  add_extra(residual.extra_sizes, residual.of_extra + roundings_of_chunks(objective));
}

GradientRounding::Rows GradientRounding::rows_of(const Objective& objective, const Residual& residual,
                                                 std::span<const double> divergence) {
  const std::size_t positions = objective.map().x().positions();
  const bool collapsed = !residual.one_each();
  Rows rows;
  rows.size.resize(positions);
  rows.error.resize(positions);
  if (collapsed) {
    objective.map().collapsed()->row_sizes(residual, rows.size, objective.parallel());
  } else {
    const Chunks chunks{positions, kPositionsPerTask};
    objective.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
      for (Index k = 0; k < outputs_; ++k) {
        const double* const column = residual.column(k);
        for (std::size_t p = chunks.begin(chunk); p < chunks.end(chunk); ++p)
          rows.size[p] += column[p] * column[p];
      }
      for (std::size_t p = chunks.begin(chunk); p < chunks.end(chunk); ++p)
        rows.size[p] = std::sqrt(rows.size[p]);
    });
  }
  // The norm of marginals that exclude each other is at most 1. Collapsed rows have sizes of their own.
  for (std::size_t p = 0; p < positions; ++p)
    rows.error[p] = errors_.drift[p] * rows.size[p] + errors_.marginal[p] * (collapsed ? rows.size[p] : 1.0);
  if (divergence.empty()) return rows;
  // If log probabilities change by at most d, a marginal p changes by at most 2 d p (1 - p), to first order.
  rows.difference = rows.error;
  for (std::size_t i = 0; i < divergence.size(); ++i)
    for (const Index p : objective.oracle().positions_of(i))
      rows.difference[p] =
          std::min(rows.error[p] + 2.0 * divergence[i] / kUnitRoundoff * (collapsed ? 1.0 : rows.size[p]),
                   (collapsed ? std::max(rows.size[p], kMostDifferent) : kMostDifferent) / kUnitRoundoff);
  return rows;
}

void GradientRounding::add_features(const Objective& objective, const Rows& rows, double additions) {
  const DesignMatrix& x = objective.map().x();
  AlignedVector<double> numbers(rows.size.size() * kPad, 0.0);
  const auto square = [](double v) { return v * v; };
  for (std::size_t p = 0; p < rows.size.size(); ++p) {
    numbers[p * kPad] = square(rows.size[p]);
    numbers[p * kPad + 1] = square(rows.error[p]);
    if (!rows.difference.empty()) numbers[p * kPad + 2] = square(rows.difference[p]);
  }
  feature_.assign(x.features(), 0.0);
  std::vector<double> difference(x.features(), 0.0);
  objective.map().sum_rows(numbers.data(), kPad, true, [&](Index j, const double* sums) {
    const auto n = static_cast<double>(x.whole_column_size(j));
    const double of_sum = (x.additions(j) + kOfTerm + additions) * std::sqrt(n * sums[0]);
    const auto bound = [&](double of_terms) {
      return kUnitRoundoff * kOfBounds * (of_sum + std::sqrt(n * of_terms)) + n * kSmallest;
    };
    feature_[j] = bound(sums[1]);
    difference[j] = bound(sums[2]);
  });
  objective.map().share(feature_);
  objective.map().share(difference);
  double sum = 0.0;
  for (const double size : feature_) {
    largest_ = std::max(largest_, size);
    sum += size * size;
  }
  for (const double size : difference)
    from_gradient_ = std::isnan(size) ? size : std::max(from_gradient_, size);
  norm_ = std::sqrt(kOfBounds * sum);
  if (!std::isfinite(norm_)) largest_ = kInfinity;
}

/// If all values of X are 1, each term of a gradient at output k is a number of the residual's column k.
void GradientRounding::add_outputs(const Objective& objective, const Residual& residual,
                                   std::span<const double> divergence) {
  const DesignMatrix& x = objective.map().x();
  const std::span<const Index> chunks = objective.map().instance_chunks();
  // By output, the sums of |R|, of its drift, and of its difference from the residual at w.
  std::vector<double> sums(3 * std::size_t{outputs_});
  sum_chunks(objective.parallel(), chunks.size() - 1, sums.size(), sums.data(),
             [&](std::size_t chunk, double* part) {
               for (Index k = 0; k < outputs_; ++k) {
                 const double* const column = residual.column(k);
                 for (std::size_t i = chunks[chunk]; i < chunks[chunk + 1]; ++i) {
                   const double more = divergence.empty() ? 0.0 : 2.0 * divergence[i] / kUnitRoundoff;
                   for (const Index p : objective.oracle().positions_of(i)) {
                     const double size = std::abs(column[p]), drift = errors_.drift[p];
                     part[k] += size;
                     part[outputs_ + k] += drift * size;
                     part[2 * outputs_ + k] += (drift + more) * size;
                   }
                 }
               }
             });
  for (double& sum : sums) sum *= kOfBounds;
  const std::span<const double> all(sums), drift = all.subspan(outputs_, outputs_),
                                           difference = all.subspan(2 * std::size_t{outputs_});
  extra_drift_ = drift_of_extra(objective, drift);
  extra_difference_ = drift_of_extra(objective, difference);
  if (whole_max(objective.parallel(), x.binary() ? 0.0 : 1.0) > 0.0) return;
  output_.assign(all.begin(), all.begin() + outputs_);
  output_error_.assign(drift.begin(), drift.end());
  double marginal = 0.0;
  for (const double one : errors_.marginal) marginal = std::max(marginal, one);
  marginal = whole_max(objective.parallel(), marginal);
  for (Index j = 0; j < x.features(); ++j) {
    of_terms_.push_back(x.additions(j) + kOfTerm);
    of_marginals_.push_back(marginal * static_cast<double>(x.whole_column_size(j)));
  }
}

void GradientRounding::add_extra(std::span<const double> sizes, double roundings) {
  double sum = norm_ * norm_;
  for (std::size_t e = 0; e < sizes.size(); ++e) {
    const double own = roundings * sizes[e];
    extra_.push_back(kUnitRoundoff * kOfBounds * (own + (extra_drift_.empty() ? 0.0 : extra_drift_[e])));
    largest_ = std::max(largest_, extra_.back());
    sum += extra_.back() * extra_.back();
    if (!extra_difference_.empty())
      from_gradient_ = std::max(from_gradient_, kUnitRoundoff * kOfBounds * (own + extra_difference_[e]));
  }
  norm_ = std::sqrt(kOfBounds * sum);
}

double GradientRounding::at(Coord c) const {
  if (c >= unary_) return extra_[c - unary_];
  const Coord j = c / outputs_, k = c % outputs_;
  if (output_.empty()) return feature_[j];
  return std::min(feature_[j],
                  kUnitRoundoff * (of_terms_[j] * output_[k] + output_error_[k] + of_marginals_[j]));
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
