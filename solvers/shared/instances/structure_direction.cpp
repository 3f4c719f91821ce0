#include "solvers/shared/instances/structure_direction.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/stop_token.h"
#include "solvers/shared/instances/passes.h"

namespace proxbench {

PositionGrams::PositionGrams(const Objective& objective, double limit_gigabytes) : begin_{0} {
  const auto begin = objective.oracle().begin();
  for (Index i = 0; i < objective.instances(); ++i) {
    const std::size_t length = objective.oracle().length(i);
    begin_.push_back(begin_.back() + length * (length + 1) / 2);
  }
  require_memory(
      static_cast<double>(begin_.back()) * sizeof(double), limit_gigabytes,
      "the inner products of the positions of " + std::to_string(objective.instances()) + " instances");
  value_ = std::make_unique_for_overwrite<double[]>(begin_.back());  // zeroing gigabytes takes long
  const DesignMatrix& x = objective.map().x();
  const Chunks chunks{objective.instances(), 64};
  objective.parallel().for_each(chunks.count(), [&](std::size_t chunk) {
    std::vector<double> row(objective.map().features(), 0.0);
    for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      double* out = value_.get() + begin_[i];
      for (Index t = begin[i]; t < begin[i + 1]; ++t) {
        stop_point();
        x.for_each_entry(t, [&](Index j, double value) { row[j] = value; });
        for (Index u = begin[i]; u <= t; ++u) {
          double sum = 0.0;
          x.for_each_entry(u, [&](Index j, double value) { sum += row[j] * value; });
          *out++ = sum;
        }
        for (const Index j : x.row(t)) row[j] = 0.0;
      }
    }
  });
}

void StructureDirection::form(const Objective& objective, Index instance, std::span<const Term> terms) {
  const InstanceMaxOracle& oracle = *objective.oracle().instance_max();
  x_ = &objective.map().x();
  instance_ = instance;
  begin_ = objective.oracle().begin()[instance];
  positions_.clear();
  outputs_.clear();
  extra_.clear();
  by_output_.resize(objective.outputs(), 0.0);
  by_extra_.resize(objective.map().extra_weights(), 0.0);
  for (Index t = 0; t < terms.front().structure.size(); ++t) {
    touched_.clear();
    for (const Term& term : terms)
      for (const Index k : oracle.outputs_on(term.structure[t])) {
        by_output_[k] += term.weight;
        touched_.push_back(k);
      }
    const std::size_t begin = outputs_.size();
    for (const std::size_t k : touched_) {
      if (std::abs(by_output_[k]) > kRounding) outputs_.push_back({static_cast<Index>(k), by_output_[k]});
      by_output_[k] = 0.0;
    }
    if (outputs_.size() > begin) positions_.push_back({t, begin, outputs_.size()});
  }
  if (by_extra_.empty()) return;
  touched_.clear();
  for (const Term& term : terms) {
    oracle.extra_on(term.structure, on_);
    for (const std::size_t e : on_) by_extra_[e] += term.weight;
    touched_.insert(touched_.end(), on_.begin(), on_.end());
  }
  for (const std::size_t e : touched_) {
    if (std::abs(by_extra_[e]) > kRounding) extra_.push_back({e, by_extra_[e]});
    by_extra_[e] = 0.0;
  }
}

double StructureDirection::squared_norm(const PositionGrams& grams) const {
  double sum = 0.0;
  for (std::size_t a = 0; a < positions_.size(); ++a) {
    stop_point();
    const Position& t = positions_[a];
    for (std::size_t e = t.begin; e < t.end; ++e) by_output_[outputs_[e].output] = outputs_[e].value;
    for (std::size_t b = 0; b <= a; ++b) {
      const Position& u = positions_[b];
      double product = 0.0;
      for (std::size_t e = u.begin; e < u.end; ++e)
        product += by_output_[outputs_[e].output] * outputs_[e].value;
      if (product != 0.0) sum += (a == b ? 1.0 : 2.0) * product * grams.at(instance_, t.position, u.position);
    }
    for (std::size_t e = t.begin; e < t.end; ++e) by_output_[outputs_[e].output] = 0.0;
  }
  for (const Extra& e : extra_) sum += e.value * e.value;
  return sum;
}

double StructureDirection::dot(const WeightRows& w) const {
  double sum = 0.0;
  for (const Position& t : positions_)
    x_->for_each_entry(begin_ + t.position, [&](Index j, double value) {
      const double* const row = w.row(j);
      double product = 0.0;
      for (std::size_t e = t.begin; e < t.end; ++e) product += outputs_[e].value * row[outputs_[e].output];
      sum += value * product;
    });
  for (const Extra& e : extra_) sum += e.value * w.extra()[e.weight];
  return sum;
}

void StructureDirection::add_to(WeightRows& w, double step) const {
  for (const Position& t : positions_)
    x_->for_each_entry(begin_ + t.position, [&](Index j, double value) {
      double* const row = w.row(j);
      const double scaled = step * value;
      for (std::size_t e = t.begin; e < t.end; ++e) row[outputs_[e].output] += scaled * outputs_[e].value;
    });
  for (const Extra& e : extra_) w.extra_row()[e.weight] += step * e.value;
}

void StructureDirection::scores(const PositionGrams& grams, std::size_t width, std::span<double> rows) const {
  std::ranges::fill(rows, 0.0);
  for (const Position& u : positions_) {
    stop_point();
    for (std::size_t t = 0; t * width < rows.size(); ++t) {
      const double product = grams.at(instance_, t, u.position);
      if (product == 0.0) continue;
      for (std::size_t e = u.begin; e < u.end; ++e)
        rows[t * width + outputs_[e].output] += product * outputs_[e].value;
    }
  }
}

}  // namespace proxbench
