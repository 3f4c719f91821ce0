/// Messages on collapsed trees, compiled for one instruction set (core/kernels/kernels.h).
#include "core/kernels/kernels.h"
#include "oracles/tree_kernels.h"

namespace proxbench::PROXBENCH_SIMD {

namespace {

using namespace kernels;

constexpr Index kNone = static_cast<Index>(-1);

void set_zero(double* x, std::size_t n) {
  for (std::size_t l = 0; l < n; l += kLanes) store(x + l, Vec{});
}

void walk_down(const TreeNodes& tree, const TreeDocuments& d) {
  set_zero(d.path, d.lanes);
  for (std::size_t l = 0; l < d.lanes; l += kLanes)
    store(d.best + l, splat(tree.node[0].rest > 0 ? 0.0 : -__builtin_inf()));
  for (std::size_t i = 1; i < tree.size; ++i) {
    const TreeNode& node = tree.node[i];
    const double* above = d.path + node.parent * kTreeLanes;
    double* here = d.path + i * kTreeLanes;
    for (std::size_t l = 0; l < d.lanes; l += kLanes) {
      Vec s = load(above + l);
      if (node.base != nullptr) s += load(node.base + d.first + l);
      if (node.change != nullptr) s += tree.alpha * load(node.change + d.first + l);
      store(here + l, s);
      if (node.rest > 0) store(d.best + l, larger(s, load(d.best + l)));
    }
  }
}

void weigh(const TreeNodes& tree, const TreeDocuments& d, bool upwards) {
  set_zero(d.partition, d.lanes);
  Vec part[kTreeLanes / kLanes] = {};
  for (std::size_t i = 0; i < tree.size; ++i) {
    const TreeNode& node = tree.node[i];
    if (i % kTreePart == 0 && i > 0)
      for (std::size_t l = 0; l < d.lanes; l += kLanes) {
        store(d.partition + l, load(d.partition + l) + part[l / kLanes]);
        part[l / kLanes] = Vec{};
      }
    double *path = d.path + i * kTreeLanes, *leaf = d.leaf + i * kTreeLanes;
    if (!(node.rest > 0)) {
      const double* above = d.leaf + node.parent * kTreeLanes;
      for (std::size_t l = 0; l < d.lanes; l += kLanes) store(leaf + l, i == 0 ? Vec{} : load(above + l));
      if (upwards) set_zero(path, d.lanes);
      continue;
    }
    for (std::size_t l = 0; l < d.lanes; l += kLanes) {
      const Vec weight = exp(load(path + l) - load(d.best + l)), all = node.rest * weight;
      store(leaf + l, weight);
      part[l / kLanes] += all;
      if (upwards) store(path + l, all);
    }
  }
  for (std::size_t l = 0; l < d.lanes; l += kLanes)
    store(d.partition + l, load(d.partition + l) + part[l / kLanes]);
}

void walk_up(const TreeNodes& tree, const TreeDocuments& d, double* const* own, double* const* shared) {
  Vec inverse[kTreeLanes / kLanes];
  for (std::size_t l = 0; l < d.lanes; l += kLanes) inverse[l / kLanes] = 1.0 / load(d.partition + l);
  for (std::size_t i = tree.size; i-- > 0;) {
    const double* leaf = d.leaf + i * kTreeLanes;
    if (shared[i] != nullptr)
      for (std::size_t l = 0; l < d.lanes; l += kLanes)
        store(shared[i] + d.first + l, load(leaf + l) * inverse[l / kLanes]);
    if (i == 0) break;
    const double* here = d.path + i * kTreeLanes;
    double* above = d.path + tree.node[i].parent * kTreeLanes;
    for (std::size_t l = 0; l < d.lanes; l += kLanes) {
      const Vec mine = load(here + l);
      store(above + l, load(above + l) + mine);
      store(own[i] + d.first + l, mine * inverse[l / kLanes]);
    }
  }
}

void keep(const TreeNodes& tree, const TreeDocuments& d, double* const* kept) {
  Vec inverse[kTreeLanes / kLanes];
  for (std::size_t l = 0; l < d.lanes; l += kLanes) inverse[l / kLanes] = 1.0 / load(d.partition + l);
  for (std::size_t i = 0; i < tree.size; ++i)
    if (kept[i] != nullptr)
      for (std::size_t l = 0; l < d.lanes; l += kLanes)
        store(kept[i] + d.first + l, load(d.leaf + i * kTreeLanes + l) * inverse[l / kLanes]);
}

/// d p(leaf) = p(leaf) * (ds(path) - sum over leaves of p * ds(path)). The first pass downwards finds
/// ds(path) and its mean, the second the changes of leaves. The pass upwards sums the changes of marginals.
void derivative(const TreeNodes& tree, const TreeDocuments& d, const double* const* leaf, double* const* own,
                double* const* shared) {
  Vec mean[kTreeLanes / kLanes] = {};
  for (std::size_t i = 0; i < tree.size; ++i) {
    const TreeNode& node = tree.node[i];
    double* here = d.path + i * kTreeLanes;
    for (std::size_t l = 0; l < d.lanes; l += kLanes) {
      Vec s = i == 0 ? Vec{} : load(d.path + node.parent * kTreeLanes + l);
      if (node.base != nullptr) s += load(node.base + d.first + l);
      store(here + l, s);
      if (leaf[i] != nullptr) mean[l / kLanes] += node.rest * load(leaf[i] + d.first + l) * s;
    }
  }
  for (std::size_t i = 0; i < tree.size; ++i) {
    const TreeNode& node = tree.node[i];
    double *path = d.path + i * kTreeLanes, *change = d.leaf + i * kTreeLanes;
    const double* above = d.leaf + node.parent * kTreeLanes;
    for (std::size_t l = 0; l < d.lanes; l += kLanes) {
      const Vec x = leaf[i] != nullptr ? load(leaf[i] + d.first + l) * (load(path + l) - mean[l / kLanes])
                    : i == 0           ? Vec{}
                                       : load(above + l);
      store(change + l, x);
      if (shared[i] != nullptr) store(shared[i] + d.first + l, x);
      store(path + l, leaf[i] != nullptr ? node.rest * x : Vec{});
    }
  }
  for (std::size_t i = tree.size; i-- > 1;) {
    const double* here = d.path + i * kTreeLanes;
    double* above = d.path + tree.node[i].parent * kTreeLanes;
    for (std::size_t l = 0; l < d.lanes; l += kLanes) {
      const Vec mine = load(here + l);
      store(above + l, load(above + l) + mine);
      store(own[i] + d.first + l, mine);
    }
  }
}

void expand(const Index* parent, Index n, const Index* inner, std::size_t inner_size, double* rows) {
  const auto add = [rows](std::size_t to, std::size_t from) {
    for (std::size_t l = 0; l < kPad; l += kLanes)
      store(rows + to * kPad + l, load(rows + to * kPad + l) + load(rows + from * kPad + l));
  };
  for (Index k = 0; k < n; ++k) add(k, parent[k] == kNone ? n : parent[k]);
  for (std::size_t i = 0; i < inner_size; ++i) set_zero(rows + inner[i] * kPad, kPad);
  for (Index k = n; k-- > 0;)
    if (parent[k] != kNone) add(parent[k], k);
}

}  // namespace

extern const TreeKernels tree_kernels;
const TreeKernels tree_kernels{.walk_down = walk_down,
                               .weigh = weigh,
                               .walk_up = walk_up,
                               .keep = keep,
                               .derivative = derivative,
                               .expand = expand};

}  // namespace proxbench::PROXBENCH_SIMD
