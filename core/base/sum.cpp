#include "core/base/sum.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/types.h"

namespace proxbench {

namespace {

constexpr auto kNone = static_cast<std::uint32_t>(-1);
/// A level above that of the root.
constexpr int kHighestLevel = 64;

/// Numbers of each part that one task adds up. This many numbers of all parts fit into a first-level cache.
constexpr std::size_t kNumbersPerTask = 64;

/// Returns the smallest set of nodes that make up the chunks [first, last).
std::vector<SumNode> nodes_of(std::size_t first, std::size_t last, std::size_t total) {
  std::vector<SumNode> out;
  while (first < last) {
    std::size_t size = 1;
    while (first % (2 * size) == 0 && std::min(first + 2 * size, total) <= last && first + size < total)
      size *= 2;
    out.push_back({first, size});
    first += size;
  }
  return out;
}

/// Sums over the node `node` of the tree from `nodes`, whose sums are in `values`. The result replaces the
/// value of the first of them.
double* fold(SumNode node, std::size_t total, const std::vector<SumNode>& nodes, std::size_t width,
             double* values) {
  const auto at = std::ranges::lower_bound(nodes, node.begin, {}, &SumNode::begin);
  double* const left = values + static_cast<std::size_t>(at - nodes.begin()) * width;
  if (std::min(at->begin + at->size, total) >= std::min(node.begin + node.size, total)) return left;
  const std::size_t half = node.size / 2;
  fold({node.begin, half}, total, nodes, width, values);
  if (node.begin + half < total) {
    const double* const right = fold({node.begin + half, half}, total, nodes, width, values);
    for (std::size_t i = 0; i < width; ++i) left[i] += right[i];
  }
  return left;
}

/// Sets out[0..width) to the sum of the chunks of all processes. The chunks of this process stand in `all`,
/// `stride` numbers apart. Overwrites `all`.
void sum_over_processes(const Processes& processes, std::size_t chunks, std::size_t width, std::size_t stride,
                        double* all, double* out) {
  const std::vector<double> counts = processes.gather(static_cast<double>(chunks));
  std::vector<std::size_t> begin{0};
  for (const double count : counts) begin.push_back(begin.back() + static_cast<std::size_t>(count));
  const std::size_t total = begin.back(), first = begin[static_cast<std::size_t>(processes.rank())];
  if (total == 0) {
    std::fill_n(out, width, 0.0);
    return;
  }
  std::vector<SumNode> own;
  for (std::size_t c = 0; c < chunks; ++c) own.push_back({first + c, 1});
  std::vector<double> mine, values;
  for (const SumNode& node : nodes_of(first, first + chunks, total)) {
    const double* const sum = fold(node, total, own, stride, all);
    mine.insert(mine.end(), sum, sum + width);
  }
  std::vector<SumNode> nodes;
  std::vector<std::size_t> sizes;
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const std::vector<SumNode> theirs = nodes_of(begin[r], begin[r + 1], total);
    nodes.insert(nodes.end(), theirs.begin(), theirs.end());
    sizes.push_back(theirs.size() * width);
  }
  values.resize(nodes.size() * width);
  processes.gather(mine, sizes, values);
  std::size_t root = 1;
  while (root < total) root *= 2;
  const double* const sum = fold({0, root}, total, nodes, width, values.data());
  std::copy(sum, sum + width, out);
}

}  // namespace

std::vector<Index> instance_chunks(std::span<const Index> begin) {
  return cut_evenly(begin.size() - 1, kChunkPositions,
                    [&](std::size_t i) { return begin[i + 1] - begin[i]; });
}

SumLeaves sum_leaves(std::span<const Index> begin, const Processes* processes) {
  const Parallel parallel(1, Backend::kOpenMP, processes);
  const std::size_t before = count_before(parallel, begin.back()),
                    total = whole_count(parallel, begin.back());
  const std::vector<Index> chunks = instance_chunks(begin);
  SumLeaves out;
  for (std::size_t c = 0; c + 1 < chunks.size(); ++c) {
    const auto number = static_cast<std::uint32_t>((before + begin[chunks[c]]) * kSumLeaves / total);
    if (out.number.empty() || out.number.back() != number) {
      out.number.push_back(number);
      out.begin.push_back(0);
    }
    out.begin.back() = begin[chunks[c + 1]];
  }
  return out;
}

LeafTree::LeafTree(std::span<const std::uint32_t> number, const Processes* processes)
    : processes_(processes), number_(number.begin(), number.end()) {
  std::vector<SumNode> own{{0, kSumLeaves}};
  if (processes != nullptr) {
    const auto count = static_cast<std::size_t>(processes->count()),
               rank = static_cast<std::size_t>(processes->rank());
    std::vector<std::size_t> begin;
    for (const double first : processes->gather(number_.empty() ? -1.0 : number_.front()))
      begin.push_back(first < 0.0 ? kSumLeaves : static_cast<std::size_t>(first));
    begin.front() = 0;
    begin.push_back(kSumLeaves);
    // A process with leaves also owns all missing leaves up to the first leaf of the next process.
    const bool apart = number_.empty() || number_.back() < begin[rank + 1];
    for (const double holds : processes->gather(apart ? 1.0 : 0.0))
      if (holds == 0.0)
        throw Error("processes share a leaf of the sums over positions: expected whole leaves on each");
    for (std::size_t r = 0; r < count; ++r) {
      const std::vector<SumNode> nodes = nodes_of(begin[r], begin[r + 1], kSumLeaves);
      all_nodes_.insert(all_nodes_.end(), nodes.begin(), nodes.end());
      nodes_of_process_.push_back(nodes.size());
      if (r == rank) own = nodes;
    }
  }
  node_leaf_.assign(own.size(), kNone);
  std::vector<std::uint32_t> waiting;
  const auto merge_below = [&](int level) {
    while (waiting.size() > 1 &&
           common_level(number_[waiting[waiting.size() - 2]], number_[waiting.back()]) < level) {
      merges_.push_back({waiting[waiting.size() - 2], waiting.back()});
      waiting.pop_back();
    }
  };
  for (std::uint32_t leaf = 0, node = 0; leaf < leaves(); ++leaf) {
    while (number_[leaf] >= own[node].begin + own[node].size) ++node;
    node_of_.push_back(node);
    if (node_leaf_[node] == kNone) {
      merge_below(kHighestLevel);
      waiting.clear();
      node_leaf_[node] = leaf;
    } else {
      merge_below(common_level(number_[waiting.back()], number_[leaf]));
    }
    waiting.push_back(leaf);
  }
  merge_below(kHighestLevel);
}

void LeafTree::add_leaves(double* sums, double* out, std::size_t stride) const {
  for (const Merge& merge : merges_) sums[merge.to] += sums[merge.from];
  for (std::size_t node = 0; node < nodes(); ++node)
    out[node * stride] = node_leaf_[node] == kNone ? 0.0 : sums[node_leaf_[node]];
}

void LeafTree::add_nodes(std::span<const double> own, std::span<double> out) const {
  if (processes_ == nullptr) {
    std::ranges::copy(own, out.begin());
    return;
  }
  std::vector<std::size_t> sizes;
  for (const std::size_t nodes : nodes_of_process_) sizes.push_back(nodes * out.size());
  std::vector<double> values(all_nodes_.size() * out.size());
  processes_->gather(own, sizes, values);
  add_all(values, out);
}

void LeafTree::add_nodes(std::span<const double> own, std::span<const std::size_t> sizes,
                         std::span<double> out) const {
  std::vector<std::size_t> sent, received;
  for (const std::size_t size : sizes) sent.push_back(nodes() * size);
  for (const std::size_t nodes : nodes_of_process_) received.push_back(nodes * out.size());
  std::vector<double> values(all_nodes_.size() * out.size());
  processes_->exchange(own, sent, received, values);
  add_all(values, out);
}

/// Adds up values[node * out.size() + i] over all_nodes_. Overwrites `values`.
void LeafTree::add_all(std::span<double> values, std::span<double> out) const {
  const double* const root = fold({0, kSumLeaves}, kSumLeaves, all_nodes_, out.size(), values.data());
  std::copy_n(root, out.size(), out.begin());
}

void add_exact(const Parallel& parallel, std::span<double> numbers) {
  if (parallel.processes() != nullptr) parallel.processes()->sum(numbers);
}

double whole_max(const Parallel& parallel, double own) {
  if (parallel.processes() == nullptr) return own;
  double largest = -kInfinity;
  for (const double theirs : parallel.processes()->gather(own)) {
    if (std::isnan(theirs)) return theirs;
    largest = std::max(largest, theirs);
  }
  return largest;
}

std::size_t whole_count(const Parallel& parallel, std::size_t own) {
  auto count = static_cast<double>(own);
  add_exact(parallel, std::span(&count, 1));
  return static_cast<std::size_t>(count);
}

std::size_t count_before(const Parallel& parallel, std::size_t own) {
  if (parallel.processes() == nullptr) return 0;
  const std::vector<double> counts = parallel.processes()->gather(static_cast<double>(own));
  double before = 0.0;
  for (int r = 0; r < parallel.processes()->rank(); ++r) before += counts[static_cast<std::size_t>(r)];
  return static_cast<std::size_t>(before);
}

void sum_chunks(const Parallel& parallel, std::size_t chunks, std::size_t width, double* out,
                const std::function<void(std::size_t chunk, double* part)>& add) {
  parallel.count_sum(width);
  if (chunks == 0 && parallel.processes() == nullptr) {
    std::fill_n(out, width, 0.0);
    return;
  }
  // Each thread keeps this memory for its next call. It is moved out of `pages`, because add() may itself
  // call sum_chunks().
  static thread_local AlignedVector<double> pages;
  AlignedVector<double> parts = std::move(pages);
  const std::size_t stride = padded(width);
  parts.resize(chunks * stride);
  double* const all = parts.data();
  parallel.for_each(chunks, [&](std::size_t chunk) {
    std::fill_n(all + chunk * stride, width, 0.0);
    add(chunk, all + chunk * stride);
  });
  if (parallel.processes() != nullptr) {
    sum_over_processes(*parallel.processes(), chunks, width, stride, all, out);
    pages = std::move(parts);
    return;
  }
  // Adds part 1 to part 0, part 3 to part 2, ... Then adds part 2 to part 0, part 6 to part 4, ...
  const Chunks numbers{width, kNumbersPerTask};
  parallel.for_each(numbers.count(), [&](std::size_t task) {
    const std::size_t first = numbers.begin(task), last = numbers.end(task);
    for (std::size_t apart = 1; apart < chunks; apart *= 2)
      for (std::size_t chunk = 0; chunk + apart < chunks; chunk += 2 * apart) {
        double* const to = all + chunk * stride;
        const double* const from = all + (chunk + apart) * stride;
        for (std::size_t i = first; i < last; ++i) to[i] += from[i];
      }
    std::copy(all + first, all + last, out + first);
  });
  pages = std::move(parts);
}

double sum_chunks(const Parallel& parallel, std::size_t chunks,
                  const std::function<double(std::size_t chunk)>& part) {
  double sum = 0.0;
  sum_chunks(parallel, chunks, 1, &sum, [&](std::size_t chunk, double* out) { *out = part(chunk); });
  return sum;
}

}  // namespace proxbench
