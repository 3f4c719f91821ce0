#pragma once
/// The projection onto the probability simplex.

#include <span>
#include <vector>

namespace proxbench {

/// Projects x onto the simplex in place (Duchi et al. 2008). `sorted` is a buffer.
void project_onto_simplex(std::span<double> x, std::vector<double>& sorted);

}  // namespace proxbench
