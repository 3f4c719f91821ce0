#include "solvers/gdmm/away_steps.h"

#include <algorithm>

#include "core/base/sum.h"

namespace proxbench {
namespace {

constexpr std::size_t kFactorsPerChunk = 256;
/// Weights up to here are none.
constexpr double kNoWeight = 1e-12;

}  // namespace

AwaySteps::AwaySteps(Factors& factors, const Parallel& parallel) : factors_(factors), parallel_(parallel) {
  corners_.push_back({{}, 1.0});
  extend();
}

void AwaySteps::extend() {
  for (Corner& corner : corners_)
    for (std::size_t f = corner.value.size(); f < factors_.size(); ++f)
      corner.value.push_back(factors_.gold(f));
}

double AwaySteps::slope(const std::vector<Factors::Value>& corner) const {
  const Chunks chunks{corner.size(), kFactorsPerChunk};
  return sum_chunks(parallel_, chunks.count(), [&](std::size_t chunk) {
    double sum = 0.0;
    for (std::size_t f = chunks.begin(chunk); f < chunks.end(chunk); ++f)
      sum += factors_.gradient(f, corner[f]);
    return sum;
  });
}

double AwaySteps::slope_here() const {
  const Chunks chunks{factors_.size(), kFactorsPerChunk};
  return sum_chunks(parallel_, chunks.count(), [&](std::size_t chunk) {
    double sum = 0.0;
    for (std::size_t f = chunks.begin(chunk); f < chunks.end(chunk); ++f)
      for (const Factors::Atom& atom : factors_.active(f))
        sum += atom.weight * factors_.gradient(f, atom.value);
    return sum;
  });
}

void AwaySteps::move(double share, const std::vector<Factors::Value>& corner) {
  std::vector<Factors::Atom> before;
  for (std::size_t f = 0; f < corner.size(); ++f) {
    const auto active = factors_.active(f);
    if (active.size() == 1 && active[0].value == corner[f]) continue;
    before.assign(active.begin(), active.end());
    for (const Factors::Atom& atom : before)
      if (atom.value != corner[f]) factors_.shift(f, atom.value, -share * atom.weight);
    double others = 0.0;
    for (const Factors::Atom& atom : factors_.active(f))
      others += atom.value != corner[f] ? atom.weight : 0.0;
    double own = 0.0;
    for (const Factors::Atom& atom : before) own += atom.value == corner[f] ? atom.weight : 0.0;
    const double left = 1.0 - others;
    factors_.shift(f, corner[f], (left <= kNoWeight ? 0.0 : left) - own);
    factors_.drop(f);
  }
}

void AwaySteps::step(Monitor& monitor) {
  extend();
  std::vector<Factors::Value> greedy(factors_.size());
  const Chunks chunks{factors_.size(), kFactorsPerChunk};
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    Factors::Work work = factors_.make_work();
    for (std::size_t f = chunks.begin(chunk); f < chunks.end(chunk) && !monitor.out_of_time(); ++f)
      greedy[f] = factors_.search(f, work).value;
  });
  if (monitor.out_of_time()) return;

  std::size_t worst = 0;
  double largest = 0.0;
  for (std::size_t c = 0; c < corners_.size(); ++c)
    if (const double at = slope(corners_[c].value); c == 0 || at > largest) {
      worst = c;
      largest = at;
    }
  const double here = slope_here(), towards = here - slope(greedy), from = largest - here;
  const bool away = from > towards && corners_.size() > 1;
  const double gain = away ? from : towards;
  if (!(gain > 0.0)) return;
  const std::vector<Factors::Value> corner = away ? corners_[worst].value : greedy;
  const double limit = away ? corners_[worst].weight / (1.0 - corners_[worst].weight) : 1.0;

  // Half of the way, where the slope along the direction shows the curvature; then on or back to the minimum.
  const double half = 0.5 * limit, left = away ? 1.0 + half : 1.0 - half;
  move(away ? -half : half, corner);
  const double slope_there = (away ? 1.0 : -1.0) * (slope_here() - slope(corner)) / left;
  const double curvature = (slope_there + gain) / half;
  const double gamma = curvature * limit > gain ? gain / curvature : limit;
  move((away ? half - gamma : gamma - half) / left, corner);

  for (Corner& one : corners_) one.weight *= away ? 1.0 + gamma : 1.0 - gamma;
  if (away)
    corners_[worst].weight -= gamma;
  else
    corners_.push_back({corner, gamma});
  std::erase_if(corners_, [](const Corner& one) { return one.weight <= kNoWeight; });
}

}  // namespace proxbench
