#pragma once
/// A judge of claims about F, for tests. It shares no code with what it judges: from a data set it computes
/// F, its gradient and a nearly optimal w by itself. Scores and sums have 128 bits and are relative to those
/// of the gold structure. Exponentials and logarithms are taken in long double. So the relative error of F is
/// about 1e-18, whatever the scale of the data.
///
/// It supports the oracles `chain`, `tree` (leaves of a hierarchy, or flat) and `candidates`. It is slow and
/// meant for small problems.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/types.h"
#include "core/data/dataset.h"
#include "core/hessian.h"
#include "core/loss.h"
#include "core/penalty.h"

namespace proxbench::test {

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 Quad;
#else
using Quad = long double;
#endif

class Judge {
 public:
  using Weights = std::vector<long double>;  ///< all d weights

  /// Borrows the data set. Throws Error for any other oracle.
  Judge(const Dataset& data, const std::string& oracle, const Penalty& penalty, const Loss& loss = {})
      : data_(data),
        chain_(oracle == "chain"),
        candidates_(oracle == "candidates"),
        penalty_(penalty),
        loss_(loss),
        outputs_(data.outputs()) {
    if (!chain_ && !candidates_ && oracle != "tree") throw Error("the judge knows no oracle " + oracle);
    for (Index p = 0; p < data.x.positions(); ++p) {
      const auto features = data.x.row(p);
      const std::vector<double> values = data.x.row_values(p);
      for (std::size_t i = 0; i < features.size(); ++i)
        entries_.push_back({features[i], values.empty() ? 1.0 : values[i]});
      row_begin_.push_back(entries_.size());
    }
    for (Index k = 0; k < outputs_; ++k) {
      if (data.hierarchy && !data.hierarchy->leaf(k)) continue;
      leaves_.push_back(k);
      paths_.push_back({k});
      if (data.hierarchy)
        for (Index a = data.hierarchy->parent(k); a != Hierarchy::kNone; a = data.hierarchy->parent(a))
          paths_.back().push_back(a);
    }
  }

  std::size_t unary_weights() const { return std::size_t{data_.x.features()} * outputs_; }
  std::size_t dimension() const {
    return unary_weights() + (chain_ ? std::size_t{outputs_} * outputs_ : std::size_t{0});
  }

  Weights dense(const SparseVector& w) const {
    Weights out(dimension(), 0.0L);
    for (std::size_t i = 0; i < w.nnz(); ++i) out.at(w.index[i]) = w.value[i];
    return out;
  }

  long double loss(const Weights& w) const { return evaluate(w, nullptr); }
  long double objective(const Weights& w) const { return loss(w) + penalty(w); }
  long double objective(const SparseVector& w) const { return objective(dense(w)); }

  long double penalty(const Weights& w) const {
    Quad sum = 0;
    for (const Quad x : w) sum += Quad(penalty_.lambda) * (x < 0 ? -x : x) + Quad(penalty_.mu) / 2 * x * x;
    return static_cast<long double>(sum);
  }

  /// The gradient of the loss without penalty. Only for the log loss.
  Weights gradient(const Weights& w) const {
    std::vector<Quad> g(dimension(), Quad(0));
    evaluate(w, &g);
    return Weights(g.begin(), g.end());
  }

  /// Max norm of the minimum-norm subgradient of F.
  long double kkt(const Weights& w) const {
    const Weights g = gradient(w);
    const long double lambda = penalty_.lambda;
    long double out = 0.0L;
    for (std::size_t c = 0; c < w.size(); ++c) {
      const long double smooth = g[c] + penalty_.mu * w[c];
      const long double size = w[c] > 0.0L   ? std::fabs(smooth + lambda)
                               : w[c] < 0.0L ? std::fabs(smooth - lambda)
                                             : std::max(std::fabs(smooth) - lambda, 0.0L);
      out = std::max(out, size);
    }
    return out;
  }

  /// Bounds how far F may be from objective() if it is computed in double precision with plain sums in any
  /// order. The n terms of a score round relative to their own sizes, by n units. Later sums round relative
  /// to the structure's score. The bound is several times as large as the errors seen.
  long double rounding(const Weights& w) const { return rounding(w, objective(w)); }
  /// The same for a caller who already has objective(w).
  long double rounding(const Weights& w, long double objective) const {
    constexpr long double kUnit = 0x1p-53L;
    long double out = 0.0L;
    for (std::size_t i = 0; i < data_.instances(); ++i) out += score_rounding(w, i);
    return out + 64.0L * kUnit * std::fabs(objective) +
           static_cast<long double>(w.size()) * kUnit * std::fabs(penalty(w));
  }

  /// The same bound for kkt(). A residual errs by the rounding of its instance's scores, at most 1. A
  /// coordinate's sum of n terms errs by 4*n units of the sum of their sizes.
  long double kkt_rounding(const Weights& w) const {
    constexpr long double kUnit = 0x1p-53L;
    std::vector<long double> column(data_.x.features(), 0.0L);
    long double extra = 0.0L;
    for (std::size_t i = 0; i < data_.instances(); ++i) {
      const auto positions = static_cast<long double>(data_.begin[i + 1] - data_.begin[i]);
      const long double off =
          std::min(score_rounding(w, i), 1.0L) + 4.0L * kUnit * static_cast<long double>(data_.positions());
      extra += off * positions;
      for (Index p = data_.begin[i]; p < data_.begin[i + 1]; ++p)
        for (std::size_t e = row_begin_[p]; e < row_begin_[p + std::size_t{1}]; ++e)
          column[entries_[e].feature] += off * std::fabs(static_cast<long double>(entries_[e].value));
    }
    long double out = chain_ ? extra : 0.0L;
    for (const long double x : column) out = std::max(out, x);
    long double largest = penalty_.lambda;
    for (const long double x : w) largest = std::max(largest, penalty_.mu * std::fabs(x));
    return out + 8.0L * kUnit * largest;
  }

  /// Descends from w until F falls no more, by Newton steps with a finite-difference Hessian and coordinate
  /// descent on the l1 term. For the log loss and up to a hundred weights. F there is at least min F. So a
  /// lower bound above it is false, however close to the optimum the point is.
  Weights descend(Weights w) const {
    long double value = objective(w);
    for (int iteration = 0; iteration < 60; ++iteration) {
      const Weights step = newton_step(w);
      bool moved = false;
      for (long double t = 1.0L; t > 1e-6L && !moved; t /= 2) {
        Weights next = w;
        for (std::size_t c = 0; c < w.size(); ++c) next[c] += t * step[c];
        const long double found = objective(next);
        if (!(found < value)) continue;
        w = std::move(next);
        value = found;
        moved = true;
      }
      if (!moved) break;
    }
    return w;
  }

 private:
  struct Entry {
    Index feature;
    double value;
  };

  /// The total over structures: log-sum-exp for the log loss, the largest score for the hinge loss.
  Quad total(std::span<const Quad> scores) const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < scores.size(); ++i)
      if (scores[i] > scores[best]) best = i;
    if (loss_.hinge()) return scores[best];
    long double rest = 0.0L;
    for (std::size_t i = 0; i < scores.size(); ++i)
      if (i != best) rest += std::exp(static_cast<long double>(scores[i] - scores[best]));
    return scores[best] + Quad(std::log1p(rest));
  }

  Quad dot(const Weights& w, Index position, Index output) const {
    Quad sum = 0;
    for (std::size_t e = row_begin_[position]; e < row_begin_[position + std::size_t{1}]; ++e)
      sum += Quad(entries_[e].value) * Quad(w[std::size_t{entries_[e].feature} * outputs_ + output]);
    return sum;
  }

  void add_features(Index position, Index output, Quad amount, std::vector<Quad>& gradient) const {
    for (std::size_t e = row_begin_[position]; e < row_begin_[position + std::size_t{1}]; ++e)
      gradient[std::size_t{entries_[e].feature} * outputs_ + output] += amount * Quad(entries_[e].value);
  }

  long double evaluate(const Weights& w, std::vector<Quad>* gradient) const {
    if (gradient != nullptr && loss_.hinge()) throw Error("the judge has no gradient of a hinge loss");
    Quad sum = 0;
    for (std::size_t i = 0; i < data_.instances(); ++i)
      sum += chain_        ? chain(w, i, gradient)
             : candidates_ ? group(w, i, gradient)
                           : document(w, static_cast<Index>(i), gradient);
    return static_cast<long double>(sum);
  }

  /// Adds probability - gold to the gradient for an instance whose choices have these scores.
  template <class Add>
  void add_choices(std::span<const Quad> scores, std::size_t gold, Quad all, const Add& add) const {
    Quad others = 0;
    for (std::size_t c = 0; c < scores.size(); ++c)
      if (c != gold) {
        const Quad p = std::exp(static_cast<long double>(scores[c] - all));
        add(c, p);
        others += p;
      }
    add(gold, -others);
  }

  Quad document(const Weights& w, Index position, std::vector<Quad>* gradient) const {
    std::vector<Quad> node(outputs_), scores(leaves_.size(), Quad(0));
    for (Index k = 0; k < outputs_; ++k) node[k] = dot(w, position, k);
    std::size_t gold = leaves_.size();
    for (std::size_t a = 0; a < leaves_.size(); ++a) {
      for (const Index k : paths_[a]) scores[a] += node[k];
      if (leaves_[a] == data_.gold[position]) gold = a;
    }
    const Quad base = scores.at(gold);
    for (std::size_t a = 0; a < scores.size(); ++a) {
      scores[a] -= base;
      if (loss_.hinge() && a != gold) scores[a] += 1;
    }
    const Quad all = total(scores);
    if (gradient != nullptr)
      add_choices(scores, gold, all, [&](std::size_t a, Quad p) {
        for (const Index k : paths_[a]) add_features(position, k, p, *gradient);
      });
    return all;
  }

  Quad group(const Weights& w, std::size_t i, std::vector<Quad>* gradient) const {
    const Index begin = data_.begin[i], end = data_.begin[i + 1];
    std::vector<Quad> scores;
    std::size_t gold = 0;
    for (Index p = begin; p < end; ++p) {
      if (data_.gold[p] == 0) gold = p - begin;
      scores.push_back(dot(w, p, 0));
    }
    const Quad base = scores[gold];
    for (std::size_t c = 0; c < scores.size(); ++c) {
      scores[c] -= base;
      if (loss_.hinge() && c != gold) scores[c] += 1;
    }
    const Quad all = total(scores);
    if (gradient != nullptr)
      add_choices(scores, gold, all, [&](std::size_t c, Quad p) {
        add_features(begin + static_cast<Index>(c), 0, p, *gradient);
      });
    return all;
  }

  /// Forward and backward sums in the log domain.
  Quad chain(const Weights& w, std::size_t i, std::vector<Quad>* gradient) const {
    const Index begin = data_.begin[i];
    const std::size_t length = data_.begin[i + 1] - begin, K = outputs_, unary = unary_weights();
    const Quad cost = !loss_.hinge()                     ? Quad(0)
                      : loss_.cost == Cost::kHammingMean ? Quad(1) / Quad(length)
                                                         : Quad(1);
    const auto gold = [&](std::size_t t) { return std::size_t{data_.gold[begin + t]}; };
    std::vector<Quad> score(length * K);
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t k = 0; k < K; ++k)
        score[t * K + k] = dot(w, begin + static_cast<Index>(t), static_cast<Index>(k));
      const Quad base = score[t * K + gold(t)];
      for (std::size_t k = 0; k < K; ++k) {
        score[t * K + k] -= base;
        if (k != gold(t)) score[t * K + k] += cost;
      }
    }
    /// The score of the transition from label a at t - 1 to b at t.
    const auto pair = [&](std::size_t t, std::size_t a, std::size_t b) {
      return Quad(w[unary + a * K + b]) - Quad(w[unary + gold(t - 1) * K + gold(t)]);
    };
    std::vector<Quad> forward(length * K), terms(K);
    for (std::size_t b = 0; b < K; ++b) forward[b] = score[b];
    for (std::size_t t = 1; t < length; ++t)
      for (std::size_t b = 0; b < K; ++b) {
        for (std::size_t a = 0; a < K; ++a) terms[a] = forward[(t - 1) * K + a] + pair(t, a, b);
        forward[t * K + b] = total(terms) + score[t * K + b];
      }
    const Quad all = total(std::span(forward).last(K));
    if (gradient == nullptr) return all;
    std::vector<Quad> backward(length * K, Quad(0));
    for (std::size_t t = length - 1; t > 0; --t)
      for (std::size_t a = 0; a < K; ++a) {
        for (std::size_t b = 0; b < K; ++b) terms[b] = pair(t, a, b) + score[t * K + b] + backward[t * K + b];
        backward[(t - 1) * K + a] = total(terms);
      }
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t k = 0; k < K; ++k) terms[k] = forward[t * K + k] + backward[t * K + k];
      add_choices(terms, gold(t), all, [&](std::size_t k, Quad p) {
        add_features(begin + static_cast<Index>(t), static_cast<Index>(k), p, *gradient);
      });
      if (t == 0) continue;
      std::vector<Quad> pairs(K * K);
      for (std::size_t a = 0; a < K; ++a)
        for (std::size_t b = 0; b < K; ++b)
          pairs[a * K + b] =
              forward[(t - 1) * K + a] + pair(t, a, b) + score[t * K + b] + backward[t * K + b];
      add_choices(pairs, gold(t - 1) * K + gold(t), all,
                  [&](std::size_t ab, Quad p) { (*gradient)[unary + ab] += p; });
    }
    return all;
  }

  /// The rounding of the loss of one instance.
  long double score_rounding(const Weights& w, std::size_t i) const {
    constexpr long double kUnit = 0x1p-53L;
    const Index begin = data_.begin[i], end = data_.begin[i + 1];
    std::size_t terms = 0;
    long double sizes = 0.0L, largest_pair = 0.0L;
    for (Index p = begin; p < end; ++p) {
      terms = std::max(terms, row_begin_[p + std::size_t{1}] - row_begin_[p]);
      std::vector<long double> node(outputs_, 0.0L);
      long double largest = 0.0L;
      for (Index k = 0; k < outputs_; ++k)
        for (std::size_t e = row_begin_[p]; e < row_begin_[p + std::size_t{1}]; ++e)
          node[k] += std::fabs(entries_[e].value * w[std::size_t{entries_[e].feature} * outputs_ + k]);
      for (const std::vector<Index>& path : paths_) {
        long double sum = 0.0L;
        for (const Index k : path) sum += node[k];
        largest = std::max(largest, sum);
      }
      sizes += largest;
    }
    if (chain_)
      for (std::size_t c = unary_weights(); c < w.size(); ++c)
        largest_pair = std::max(largest_pair, std::fabs(w[c]));
    const auto length = static_cast<long double>(end - begin);
    sizes += length * largest_pair;
    return kUnit * (2.0L * sizes * (static_cast<long double>(terms) + length + 32.0L) +
                    length * (64.0L + static_cast<long double>(outputs_)));
  }

  Weights newton_step(const Weights& w) const {
    const std::size_t d = w.size();
    const long double lambda = penalty_.lambda, mu = penalty_.mu;
    std::vector<long double> size(d, 1.0L);  // of each coordinate's feature
    for (std::size_t c = 0; c < unary_weights(); ++c) size[c] = 0.0L;
    for (const Entry& entry : entries_)
      for (Index k = 0; k < outputs_; ++k) {
        long double& s = size[std::size_t{entry.feature} * outputs_ + k];
        s = std::max(s, std::fabs(static_cast<long double>(entry.value)));
      }
    const Weights at = gradient(w);
    std::vector<Weights> hessian(d);
    for (std::size_t c = 0; c < d; ++c) {
      if (size[c] == 0.0L) {
        hessian[c].assign(d, 0.0L);
        continue;
      }
      Weights moved = w;
      const long double h = 1e-8L / size[c];
      moved[c] += h;
      hessian[c] = gradient(moved);
      for (std::size_t b = 0; b < d; ++b) hessian[c][b] = (hessian[c][b] - at[b]) / h;
    }
    for (std::size_t c = 0; c < d; ++c) {
      for (std::size_t b = 0; b < c; ++b) {
        const long double mean = (hessian[c][b] + hessian[b][c]) / 2;
        hessian[c][b] = hessian[b][c] = mean;
      }
    }
    Weights step(d, 0.0L), slope = at;
    for (std::size_t c = 0; c < d; ++c) {
      slope[c] += mu * w[c];
      hessian[c][c] += mu;
      hessian[c][c] *= 1.0L + 1e-10L;  // flat directions
    }
    for (int sweep = 0; sweep < 2000; ++sweep) {
      long double change = 0.0L;
      for (std::size_t c = 0; c < d; ++c) {
        const long double a = hessian[c][c];
        if (!(a > 0.0L)) continue;
        const long double target = w[c] + step[c] - slope[c] / a, cut = lambda / a;
        const long double next = (target > cut ? target - cut : target < -cut ? target + cut : 0.0L) - w[c];
        const long double delta = next - step[c];
        if (delta == 0.0L) continue;
        step[c] = next;
        for (std::size_t b = 0; b < d; ++b) slope[b] += delta * hessian[c][b];
        change = std::max(change, a * delta * delta);
      }
      if (change < 1e-40L) break;
    }
    return step;
  }

  const Dataset& data_;
  bool chain_, candidates_;
  Penalty penalty_;
  Loss loss_;
  Index outputs_;
  std::vector<std::size_t> row_begin_{0};
  std::vector<Entry> entries_;
  std::vector<Index> leaves_;
  std::vector<std::vector<Index>> paths_;  ///< of each leaf
};

}  // namespace proxbench::test
