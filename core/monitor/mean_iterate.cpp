#include "core/monitor/mean_iterate.h"

namespace proxbench {

namespace {

constexpr std::size_t kFewest = 4;
constexpr double kSlow = 0.25;

}  // namespace

void MeanIterate::add(const SparseVector& w, double objective) {
  SparseVector sum;
  std::size_t s = 0;
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    for (; s < sum_.nnz() && sum_.index[s] < w.index[i]; ++s) sum.push_back(sum_.index[s], sum_.value[s]);
    const bool both = s < sum_.nnz() && sum_.index[s] == w.index[i];
    sum.push_back(w.index[i], both ? sum_.value[s++] + w.value[i] : w.value[i]);
  }
  for (; s < sum_.nnz(); ++s) sum.push_back(sum_.index[s], sum_.value[s]);
  sum_ = std::move(sum);
  objectives_.push_back(objective);
}

bool MeanIterate::useful() const {
  const std::size_t n = objectives_.size(), half = n / 2;
  if (n < kFewest) return false;
  const double first = objectives_[0] - objectives_[half - 1],
               second = objectives_[n - half] - objectives_[n - 1];
  return second >= kSlow * first;
}

SparseVector MeanIterate::mean() const {
  SparseVector out;
  for (std::size_t i = 0; i < sum_.nnz(); ++i)
    if (sum_.value[i] != 0.0)
      out.push_back(sum_.index[i], sum_.value[i] / static_cast<double>(objectives_.size()));
  return out;
}

}  // namespace proxbench
