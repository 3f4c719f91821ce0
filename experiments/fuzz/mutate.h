#pragma once
/// Mutations of text: what slips of the hand, broken transfers and hostile writers make of a valid file.

#include <string>
#include <string_view>
#include <vector>

#include "core/random.h"

namespace proxbench {

/// A valid text with one to four of: a byte changed, bytes inserted, deleted or repeated, a number replaced
/// by an extreme one, lines swapped or removed, the end cut off, a piece of another text put in. The same for
/// the same random numbers. `texts` must not be empty.
std::string mutate(const std::vector<std::string>& texts, Random& random);

}  // namespace proxbench
