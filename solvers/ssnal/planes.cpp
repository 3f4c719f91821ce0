#include "solvers/ssnal/planes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/sum.h"

namespace proxbench::ssnal {

namespace {

/// Sums over atoms are made in so many chunks.
constexpr std::size_t kChunks = 8;
constexpr Index kNone = std::numeric_limits<Index>::max();

/// The cells of a position are visited in pairs, which share a walk over its features: calls visit(c, d) for
/// a pair, and visit(c, c) for a cell that is left over.
template <class Cells, class Visit>
void for_each_pair(const Cells& cells, std::size_t first, std::size_t last, const Visit& visit) {
  for (std::size_t c = first; c < last; ++c) {
    const bool pair = c + 1 < last && cells[c].position == cells[c + 1].position;
    visit(c, c + pair);
    c += pair;
  }
}

/// Calls visit(lane, feature, value) for the entries of a position, with lanes 0 and 1 in turn.
template <class Visit>
void for_each_entry(const DesignMatrix& x, Index position, std::vector<double>& scratch, const Visit& visit) {
  const std::span<const Index> index = x.row(position);
  const std::span<const double> values = x.row_values(position, scratch);
  const auto visit_all = [&](const auto& value) {
    std::size_t e = 0;
    for (; e + 2 <= index.size(); e += 2) {
      visit(0, index[e], value(e));
      visit(1, index[e + 1], value(e + 1));
    }
    if (e < index.size()) visit(0, index[e], value(e));
  };
  if (x.binary())
    visit_all([](std::size_t) { return 1.0; });
  else
    visit_all([&](std::size_t e) { return values[e]; });
}

/// The values of a position's features if it has all features, else nothing.
std::span<const double> dense_row(const DesignMatrix& x, Index position, std::vector<double>& scratch) {
  if (x.binary() || x.row(position).size() != x.features()) return {};
  return x.row_values(position, scratch);
}

}  // namespace

Planes::Planes(const Objective& objective, MixtureStore& mixtures) : objective_(&objective) {
  const InstanceMaxOracle& oracle = *objective.oracle().instance_max();
  std::vector<Index> gold;
  std::vector<Index> number;
  std::vector<std::size_t> on;
  std::vector<double> count(objective.map().extra_weights(), 0.0);
  std::vector<std::size_t> gold_on;
  for (Index i = 0; i < objective.instances(); ++i) {
    const Index first = objective.oracle().begin()[i];
    gold.resize(objective.oracle().length(i));
    oracle.gold_structure(i, gold);
    oracle.extra_on(gold, gold_on);
    number.assign(gold.size() * objective.outputs(), kNone);
    const auto add_parts = [&](std::size_t t, Index label, double value) {
      for (const Index k : oracle.outputs_on(label)) {
        const std::size_t cell = t * objective.outputs() + k;
        number[cell] = 0;
        parts_.push_back({static_cast<Index>(cell), static_cast<float>(value)});
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
          extras_.push_back({static_cast<Index>(e), 0.0F});
        }
      };
      add_extras(on, 1.0);
      add_extras(gold_on, -1.0);
      // Each extra weight once, without those that cancel.
      const auto begin = extras_.begin() + static_cast<std::ptrdiff_t>(extra_begin_.back());
      for (auto at = begin; at != extras_.end(); ++at)
        at->value = static_cast<float>(std::exchange(count[at->of], 0.0));
      extras_.erase(std::remove_if(begin, extras_.end(), [](const Part& p) { return p.value == 0.0F; }),
                    extras_.end());
      extra_begin_.push_back(extras_.size());
    }
    end_instance(
        0, number.size(),
        [&](std::size_t cell) {
          return Cell{first + static_cast<Index>(cell / objective.outputs()),
                      static_cast<Index>(cell % objective.outputs())};
        },
        number);
  }
}

Planes::Planes(const Planes& all, const std::vector<bool>& wanted)
    : objective_(all.objective_), balanced_(all.balanced_) {
  std::vector<Index> number(all.cells_.size(), kNone);
  std::vector<double> sum(all.cells_.size(), 0.0);
  for (std::size_t i = 0; i + 1 < all.begin_.size(); ++i) {
    double rows = 0.0;
    for (std::size_t y = all.begin_[i]; y < all.begin_[i + 1]; ++y) {
      if (!wanted[y]) continue;
      rows += 1.0;
      for (const Part& part : all.parts(y)) sum[part.of] += part.value;
    }
    for (std::size_t y = all.begin_[i]; y < all.begin_[i + 1]; ++y) {
      if (!wanted[y]) continue;
      for (const Part& part : all.parts(y)) {
        if (std::abs(sum[part.of]) == rows) continue;
        number[part.of] = 0;
        parts_.push_back(part);
      }
      cell_begin_.push_back(parts_.size());
      extras_.insert(extras_.end(), all.extras(y).begin(), all.extras(y).end());
      extra_begin_.push_back(extras_.size());
    }
    end_instance(
        all.first_cell_[i], all.first_cell_[i + 1], [&](std::size_t c) { return all.cells_[c]; }, number);
  }
}

template <class CellAt>
void Planes::end_instance(std::size_t first, std::size_t last, const CellAt& cell_at,
                          std::vector<Index>& number) {
  for (std::size_t c = first; c < last; ++c) {
    if (number[c] == kNone) continue;
    number[c] = static_cast<Index>(cells_.size());
    cells_.push_back(cell_at(c));
  }
  for (std::size_t part = cell_begin_[begin_.back()]; part < parts_.size(); ++part)
    parts_[part].of = number[parts_[part].of];
  begin_.push_back(size());
  first_cell_.push_back(cells_.size());
}

void Planes::values(std::span<const double> v, std::vector<double>& out) const {
  const DesignMatrix& x = objective_->map().x();
  const KernelTable& kernels = kernels_in_use();
  const std::size_t features = x.features();
  const std::span<const double> extra = v.subspan(features * objective_->outputs());
  out.resize(size());
  const Chunks chunks{begin_.size() - 1, (begin_.size() - 2) / kChunks + 1};
  objective_->parallel().for_each(chunks.count(), [&](std::size_t chunk) {
    const std::size_t first = chunks.begin(chunk), last = chunks.end(chunk), origin = first_cell_[first];
    std::vector<double> score(first_cell_[last] - origin), scratch;
    for_each_pair(cells_, origin, first_cell_[last], [&](std::size_t c, std::size_t d) {
      const double *const a = v.data() + cells_[c].output * features, *const b = v.data() +
                                                                                 cells_[d].output * features;
      if (const auto dense = dense_row(x, cells_[c].position, scratch); !dense.empty()) {
        score[c - origin] = kernels.dot(dense.data(), a, dense.size());
        if (d != c) score[d - origin] = kernels.dot(dense.data(), b, dense.size());
        return;
      }
      std::array<double, 2> of_a{}, of_b{};
      for_each_entry(x, cells_[c].position, scratch, [&](std::size_t lane, Index j, double value) {
        of_a[lane] += value * a[j];
        of_b[lane] += value * b[j];
      });
      score[c - origin] = of_a[0] + of_a[1];
      score[d - origin] = of_b[0] + of_b[1];
    });
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
  const KernelTable& kernels = kernels_in_use();
  const std::size_t features = x.features();
  out.resize(objective_->dimension());
  const Chunks chunks{begin_.size() - 1, (begin_.size() - 2) / kChunks + 1};
  sum_chunks(
      objective_->parallel(), chunks.count(), out.size(), out.data(), [&](std::size_t chunk, double* part) {
        const std::size_t first = chunks.begin(chunk), last = chunks.end(chunk), origin = first_cell_[first];
        double* const extra = part + features * objective_->outputs();
        std::vector<double> of_cell(first_cell_[last] - origin, 0.0), scratch;
        for (std::size_t y = begin_[first]; y < begin_[last]; ++y) {
          if (weight[y] == 0.0) continue;
          for (const Part& one : parts(y)) of_cell[one.of - origin] += one.value * weight[y];
          for (const Part& one : extras(y)) extra[one.of] += one.value * weight[y];
        }
        for_each_pair(cells_, origin, first_cell_[last], [&](std::size_t c, std::size_t d) {
          const double of_c = of_cell[c - origin], of_d = d == c ? 0.0 : of_cell[d - origin];
          if (of_c == 0.0 && of_d == 0.0) return;
          double *const a = part + cells_[c].output * features, *const b = part + cells_[d].output * features;
          if (const auto dense = dense_row(x, cells_[c].position, scratch); !dense.empty()) {
            kernels.add_scaled(a, of_c, dense.data(), dense.size());
            kernels.add_scaled(b, of_d, dense.data(), dense.size());
            return;
          }
          for_each_entry(x, cells_[c].position, scratch, [&](std::size_t, Index j, double value) {
            a[j] += value * of_c;
            b[j] += value * of_d;
          });
        });
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
