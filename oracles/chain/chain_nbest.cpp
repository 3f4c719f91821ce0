/// The N best label sequences of a chain: lazy k-best parsing (Huang and Chiang, Better k-best parsing, IWPT
/// 2005, Algorithm 3) on the trellis. A vertex is a label at a position. Its derivations are the label
/// sequences that end there. Each derivation extends one of a vertex at the previous position by one label.
/// The r-th best derivation of a vertex is computed only when a later vertex asks for it.

#include <algorithm>

#include "core/kernels/kernel_table.h"
#include "oracles/chain/chain.h"
#include "oracles/chain/chain_kernels.h"

namespace proxbench {

namespace {

constexpr Index kNone = static_cast<Index>(-1);

/// Searches one sequence at a time. Position T has a single vertex, which follows all last labels.
class LazyKBest {
 public:
  /// Runs Viterbi's forward pass over positions [first, first + length) of the scores.
  void begin(const Scores& scores, std::size_t labels, std::size_t first, std::size_t length);
  /// Finds the n best sequences, in the order of their scores.
  void search(std::size_t n, NbestOracle::List& out);

 private:
  /// The `rank`-th best derivation of the vertex `label` one position earlier, extended by one label.
  struct Derivation {
    double score;
    Index label, rank;
  };
  /// A vertex whose best derivations were asked for.
  struct Vertex {
    std::vector<Derivation> found;  ///< the best so far, in order
    bool exhausted;                 ///< there are no more
  };

  std::size_t vertex(std::size_t t, std::size_t label) const { return t * labels_ + label; }
  /// The score of a label at a position; 0 at the vertex that follows the last labels.
  double score(std::size_t t, std::size_t label) const { return t == length_ ? 0.0 : row(t)[label]; }
  const double* row(std::size_t t) const { return rows_.data() + (offset_ + t) * width_; }
  double transition(std::size_t t, Index before, std::size_t label) const {
    return t == length_ ? 0.0 : from_[before * width_ + label];
  }
  Vertex& open(std::size_t t, std::size_t label);
  Vertex& opened(std::size_t t, std::size_t label) { return vertices_[slot_[vertex(t, label)]]; }
  void extract(std::size_t t, std::size_t label);
  void renew(std::size_t t, std::size_t label);
  void find_next(std::size_t t, std::size_t label);

  std::size_t labels_ = 0, width_ = 0, length_ = 0, offset_ = 0;
  AlignedVector<double> rows_;       ///< scores by position, starting `offset_` rows before the first
  AlignedVector<double> from_;       ///< transitions, rows of width_ by the earlier label
  AlignedVector<double> into_;       ///< the transpose
  AlignedVector<double> best_;       ///< rows by position: score of each vertex's best derivation
  std::vector<Index> slot_;          ///< slot of each vertex if opened, else kNone
  std::vector<std::size_t> used_;    ///< the opened vertices
  std::vector<Vertex> vertices_;     ///< by slot; their memory is reused
  AlignedVector<double> candidate_;  ///< by slot, rows by the previous label: score of the next derivation
                                     ///< through it, without this vertex's own score
  std::vector<Index> next_rank_;     ///< by slot and previous label: rank of that derivation there
  std::vector<std::size_t>
      waiting_;  ///< labels of the vertices that wait for one another, the first request first
};

void LazyKBest::begin(const Scores& scores, std::size_t labels, std::size_t first, std::size_t length) {
  if (width_ != padded(labels)) *this = {};  // of another oracle
  for (const std::size_t v : used_) slot_[v] = kNone;
  used_.clear();
  labels_ = labels;
  width_ = padded(labels);
  length_ = length;
  // Columns are converted to rows in whole cache lines.
  const std::size_t origin = first / kPad * kPad;
  offset_ = first - origin;
  rows_.resize(padded(offset_ + length) * width_);
  scores.get_rows(origin, offset_ + length, rows_.data());
  from_.assign(width_ * width_, 0.0);
  into_.assign(width_ * width_, 0.0);
  for (std::size_t j = 0; j < labels; ++j)
    for (std::size_t k = 0; k < labels; ++k)
      from_[j * width_ + k] = into_[k * width_ + j] = scores.extra[j * labels + k];
  if (slot_.size() < length * labels + 1) slot_.resize(length * labels + 1, kNone);

  best_.resize(length * width_);
  std::copy(row(0), row(0) + width_, best_.begin());
  for (std::size_t t = 1; t < length; ++t) {
    double* const here = best_.data() + t * width_;
    chain_kernels().row_times_matrix(here - width_, labels, from_.data(), width_, here);
    kernels_in_use().add_scaled(here, 1.0, row(t), width_);
  }
}

/// Returns the vertex, with at least its best derivation.
LazyKBest::Vertex& LazyKBest::open(std::size_t t, std::size_t label) {
  Index& slot = slot_[vertex(t, label)];
  if (slot != kNone) return vertices_[slot];
  slot = static_cast<Index>(used_.size());
  used_.push_back(vertex(t, label));
  if (used_.size() > vertices_.size()) {
    vertices_.emplace_back();
    candidate_.resize(used_.size() * width_);
    next_rank_.resize(used_.size() * width_);
  }
  Vertex& out = vertices_[slot];
  out.found.clear();
  out.exhausted = t == 0;
  if (t == 0) {
    out.found.push_back({best_[label], kNone, 0});
    return out;
  }
  double* const candidate = candidate_.data() + slot * width_;
  const double *before = best_.data() + (t - 1) * width_, *into = into_.data() + label * width_;
  for (std::size_t j = 0; j < labels_; ++j) candidate[j] = t == length_ ? before[j] : before[j] + into[j];
  std::fill_n(next_rank_.begin() + static_cast<std::ptrdiff_t>(slot * width_), labels_, Index{0});
  extract(t, label);
  return out;
}

/// Makes the best candidate the vertex's next derivation. Among equal ones, the smaller label wins.
void LazyKBest::extract(std::size_t t, std::size_t label) {
  const std::size_t slot = slot_[vertex(t, label)];
  double* const candidate = candidate_.data() + slot * width_;
  Index best = 0;
  for (Index j = 1; j < labels_; ++j)
    if (candidate[j] > candidate[best]) best = j;
  Vertex& at = vertices_[slot];
  at.exhausted = candidate[best] == -kInfinity && !at.found.empty();
  if (!at.exhausted)
    at.found.push_back({candidate[best] + score(t, label), best, next_rank_[slot * width_ + best]});
}

/// Replaces the last extracted candidate by the next derivation of the same earlier vertex, which find_next()
/// has looked for. Then extracts again.
void LazyKBest::renew(std::size_t t, std::size_t label) {
  const std::size_t slot = slot_[vertex(t, label)];
  const Derivation last = vertices_[slot].found.back();
  const Vertex& tail = opened(t - 1, last.label);
  const bool more = last.rank + 1 < tail.found.size();
  candidate_[slot * width_ + last.label] =
      more ? tail.found[last.rank + std::size_t{1}].score + transition(t, last.label, label) : -kInfinity;
  next_rank_[slot * width_ + last.label] = last.rank + 1;
  extract(t, label);
}

/// Appends the next derivation of an opened vertex, or finds that there is none. Goes back as far as vertices
/// need each other's next derivations, then forward again.
void LazyKBest::find_next(std::size_t t, std::size_t label) {
  waiting_.assign(1, label);
  std::size_t at = t;
  while (true) {
    const Vertex& here = opened(at, waiting_.back());
    if (here.exhausted) break;
    const Derivation last = here.found.back();
    const Vertex& tail = open(at - 1, last.label);
    if (tail.exhausted || last.rank + 1 < tail.found.size()) {
      renew(at, waiting_.back());
      break;
    }
    waiting_.push_back(last.label);
    --at;
  }
  for (waiting_.pop_back(); !waiting_.empty(); waiting_.pop_back()) renew(++at, waiting_.back());
}

void LazyKBest::search(std::size_t n, NbestOracle::List& out) {
  out.outputs.clear();
  out.score.clear();
  open(length_, 0);
  while (opened(length_, 0).found.size() < n && !opened(length_, 0).exhausted) find_next(length_, 0);
  const std::size_t count = opened(length_, 0).found.size();
  out.outputs.resize(count * length_);
  for (std::size_t r = 0; r < count; ++r) {
    Derivation at = opened(length_, 0).found[r];
    out.score.push_back(at.score);
    for (std::size_t t = length_; t-- > 0;) {
      out.outputs[r * length_ + t] = at.label;
      at = open(t, at.label).found[at.rank];  // no vertex may have asked for its best derivation
    }
  }
}

}  // namespace

void ChainOracle::nbest(const Scores& scores, Index instance, std::size_t n, List& out) const {
  static thread_local LazyKBest search;
  search.begin(scores, outputs_, begin_[instance], length(instance));
  search.search(n, out);
}

}  // namespace proxbench
