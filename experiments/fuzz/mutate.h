#pragma once
/// Mutations of text: what slips of the hand, broken transfers and hostile writers make of a valid file.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"

namespace proxbench {

/// A valid text with one to four of: a byte changed, bytes inserted, deleted or repeated, a number replaced
/// by an extreme one, lines swapped or removed, the end cut off, a piece of another text put in. The same for
/// the same random numbers. `texts` must not be empty.
std::string mutate(const std::vector<std::string>& texts, Random& random);

/// A valid text in which one line stands so often that the text has `bytes` characters, each time with
/// another number at the same place of it: many different names, entries, labels. What takes quadratic time
/// or memory shows there.
std::string grow(const std::vector<std::string>& texts, std::size_t bytes, Random& random);

}  // namespace proxbench
