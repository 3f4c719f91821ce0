#include "solvers/shared/instances/sampling.h"

#include <numeric>

namespace proxbench {

Sampler::Sampler(Scheme scheme, double share, std::vector<double> importance, std::size_t n, Random& random)
    : scheme_(scheme),
      share_(share),
      importance_(std::move(importance)),
      gap_(n, 100.0),
      out_(n, 0),
      scores_(n),
      random_(random) {
  for (Index i = 0; i < n; ++i) put_back(i);
}

double Sampler::score(Index instance) const {
  switch (scheme_) {
    case Scheme::kImportance:
      return importance_[instance];
    case Scheme::kGap:
      return gap_[instance];
    case Scheme::kGapImportance:
      return gap_[instance] * importance_[instance];
    default:
      return 1.0;
  }
}

Index Sampler::draw() {
  Index drawn;
  // If all gaps are zero within rounding, they cannot rank the instances, and the draw is uniform.
  if (scheme_ != Scheme::kUniform && random_.uniform() < share_ && scores_.total() > 0.0) {
    drawn = scheme_ == Scheme::kMax ? largest_.begin()->second
                                    : static_cast<Index>(scores_.find(random_.uniform() * scores_.total()));
  } else {
    do drawn = static_cast<Index>(random_.below(gap_.size()));
    while (out_[drawn]);
  }
  out_[drawn] = 1;
  scores_.set(drawn, 0.0);
  if (scheme_ == Scheme::kMax) largest_.erase({-gap_[drawn], drawn});
  return drawn;
}

void Sampler::record(Index instance, double gap) {
  if (scheme_ == Scheme::kMax && !out_[instance]) largest_.erase({-gap_[instance], instance});
  out_[instance] = 0;
  gap_[instance] = gap;
  scores_.set(instance, score(instance));
  if (scheme_ == Scheme::kMax) largest_.insert({-gap, instance});
}

double Sampler::total_gap() const {
  return std::accumulate(gap_.begin(), gap_.end(), 0.0);
}

}  // namespace proxbench
