#include "solvers/ssnal/planes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/base/sum.h"

namespace proxbench::ssnal {

namespace {

/// Sums over atoms are made in so many chunks.
constexpr std::size_t kChunks = 8;

/// Returns the sum of v[j], in four partial sums.
double sum_at(const double* v, std::span<const Index> index) {
  std::array<double, 4> sum{};
  std::size_t e = 0;
  for (; e + 4 <= index.size(); e += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) sum[lane] += v[index[e + lane]];
  for (; e < index.size(); ++e) sum[0] += v[index[e]];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

Planes::Planes(const Objective& objective, MixtureStore& mixtures) : objective_(&objective) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  const InstanceMaxOracle& oracle = *objective.oracle().instance_max();
  std::vector<Index> gold;
  std::vector<std::size_t> cell_of, on;
  std::vector<double> count(objective.map().extra_weights(), 0.0);
  std::vector<std::size_t> gold_on;
  for (Index i = 0; i < objective.instances(); ++i) {
    const Index first = objective.oracle().begin()[i];
    gold.resize(objective.oracle().length(i));
    oracle.gold_structure(i, gold);
    oracle.extra_on(gold, gold_on);
    cell_of.assign(gold.size() * objective.outputs(), kNone);
    const auto add_parts = [&](std::size_t t, Index label, double value) {
      for (const Index k : oracle.outputs_on(label)) {
        std::size_t& cell = cell_of[t * objective.outputs() + k];
        if (cell == kNone) {
          cell = cells_.size();
          cells_.push_back({first + static_cast<Index>(t), k});
        }
        parts_.push_back({cell, value});
      }
    };
    const Atoms& atoms = mixtures[i];
    for (std::size_t a = 0; a < atoms.atoms(); ++a) {
      const std::span<const Index> y = atoms.structure(a);
      for (std::size_t t = 0; t < y.size(); ++t) {
        if (y[t] == gold[t]) continue;
        add_parts(t, y[t], 1.0);
        add_parts(t, gold[t], -1.0);
        balanced_ = balanced_ && oracle.outputs_on(y[t]).size() == oracle.outputs_on(gold[t]).size();
      }
      cell_begin_.push_back(parts_.size());
      oracle.extra_on(y, on);
      const auto add_extras = [&](std::span<const std::size_t> of, double value) {
        for (const std::size_t e : of) {
          count[e] += value;
          extras_.push_back({e, 0.0});
        }
      };
      add_extras(on, 1.0);
      add_extras(gold_on, -1.0);
      // Each extra weight once, without those that cancel.
      const auto begin = extras_.begin() + static_cast<std::ptrdiff_t>(extra_begin_.back());
      for (auto at = begin; at != extras_.end(); ++at) at->value = std::exchange(count[at->of], 0.0);
      extras_.erase(std::remove_if(begin, extras_.end(), [](const Part& p) { return p.value == 0.0; }),
                    extras_.end());
      extra_begin_.push_back(extras_.size());
    }
    begin_.push_back(size());
    first_cell_.push_back(cells_.size());
  }
}

Planes::Planes(const Planes& all, const std::vector<bool>& wanted)
    : objective_(all.objective_), balanced_(all.balanced_) {
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> cell_of(all.cells_.size(), kNone);
  for (std::size_t i = 0; i + 1 < all.begin_.size(); ++i) {
    for (std::size_t y = all.begin_[i]; y < all.begin_[i + 1]; ++y) {
      if (!wanted[y]) continue;
      for (const Part& part : all.parts(y)) {
        std::size_t& cell = cell_of[part.of];
        if (cell == kNone) {
          cell = cells_.size();
          cells_.push_back(all.cells_[part.of]);
        }
        parts_.push_back({cell, part.value});
      }
      cell_begin_.push_back(parts_.size());
      extras_.insert(extras_.end(), all.extras(y).begin(), all.extras(y).end());
      extra_begin_.push_back(extras_.size());
    }
    begin_.push_back(size());
    first_cell_.push_back(cells_.size());
  }
}

void Planes::values(std::span<const double> v, std::vector<double>& out) const {
  const DesignMatrix& x = objective_->map().x();
  const std::size_t features = x.features();
  const std::span<const double> extra = v.subspan(features * objective_->outputs());
  out.resize(size());
  const Chunks chunks{begin_.size() - 1, (begin_.size() - 2) / kChunks + 1};
  objective_->parallel().for_each(chunks.count(), [&](std::size_t chunk) {
    const std::size_t first = chunks.begin(chunk), last = chunks.end(chunk), origin = first_cell_[first];
    std::vector<double> score(first_cell_[last] - origin);
    for (std::size_t c = 0; c < score.size(); ++c) {
      const Cell& cell = cells_[origin + c];
      const double* const row = v.data() + cell.output * features;
      double sum = 0.0;
      if (x.binary())
        sum = sum_at(row, x.row(cell.position));
      else
        x.for_each_entry(cell.position, [&](Index j, double value) { sum += value * row[j]; });
      score[c] = sum;
    }
    for (std::size_t y = begin_[first]; y < begin_[last]; ++y) {
      double sum = 0.0;
      for (const Part& part : parts(y)) sum += part.value * score[part.of - origin];
      for (const Part& part : extras(y)) sum += part.value * extra[part.of];
      out[y] = sum;
    }
  });
}

void Planes::features(std::span<const double> weight, std::vector<double>& out) const {
  const DesignMatrix& x = objective_->map().x();
  const std::size_t features = x.features();
  out.resize(objective_->dimension());
  const Chunks chunks{begin_.size() - 1, (begin_.size() - 2) / kChunks + 1};
  sum_chunks(
      objective_->parallel(), chunks.count(), out.size(), out.data(), [&](std::size_t chunk, double* part) {
        const std::size_t first = chunks.begin(chunk), last = chunks.end(chunk), origin = first_cell_[first];
        double* const extra = part + features * objective_->outputs();
        std::vector<double> of_cell(first_cell_[last] - origin, 0.0);
        for (std::size_t y = begin_[first]; y < begin_[last]; ++y) {
          if (weight[y] == 0.0) continue;
          for (const Part& one : parts(y)) of_cell[one.of - origin] += one.value * weight[y];
          for (const Part& one : extras(y)) extra[one.of] += one.value * weight[y];
        }
        for (std::size_t c = 0; c < of_cell.size(); ++c) {
          if (of_cell[c] == 0.0) continue;
          double* const row = part + cells_[origin + c].output * features;
          if (x.binary())
            for (const Index j : x.row(cells_[origin + c].position)) row[j] += of_cell[c];
          else
            x.for_each_entry(cells_[origin + c].position,
                             [&](Index j, double value) { row[j] += of_cell[c] * value; });
        }
      });
}

Planes::Spread Planes::spread(double scale) const {
  Spread out{.unary = std::vector(objective_->outputs(),
                                  std::vector<double>(objective_->map().x().positions(), 0.0)),
             .extra = std::vector<double>(objective_->map().extra_weights(), 0.0)};
  std::vector<double> sum, square, extra_sum(out.extra.size(), 0.0);
  for (std::size_t i = 0; i + 1 < begin_.size(); ++i) {
    const std::size_t origin = first_cell_[i], cells = first_cell_[i + 1] - origin;
    const auto rows = static_cast<double>(begin_[i + 1] - begin_[i]);
    sum.assign(cells, 0.0);
    square.assign(cells, 0.0);
    for (std::size_t y = begin_[i]; y < begin_[i + 1]; ++y) {
      for (const Part& part : parts(y)) {
        sum[part.of - origin] += part.value;
        square[part.of - origin] += part.value * part.value;
      }
      for (const Part& part : extras(y)) {
        extra_sum[part.of] += part.value;
        out.extra[part.of] += scale * part.value * part.value;
      }
    }
    for (std::size_t c = 0; c < cells; ++c)
      out.unary[cells_[origin + c].output][cells_[origin + c].position] =
          scale * std::max(square[c] - sum[c] * sum[c] / rows, 0.0);
    for (std::size_t y = begin_[i]; y < begin_[i + 1]; ++y)
      for (const Part& part : extras(y)) {
        const double of_extra = std::exchange(extra_sum[part.of], 0.0);
        out.extra[part.of] -= scale * of_extra * of_extra / rows;
      }
  }
  for (double& x : out.extra) x = std::max(x, 0.0);
  return out;
}

}  // namespace proxbench::ssnal
