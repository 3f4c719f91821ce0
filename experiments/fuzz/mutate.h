#pragma once
/// Mutations of a valid text, as made by typing errors, broken transfers and hostile writers.

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/random.h"

namespace proxbench {

/// Applies one to four mutations to one of the valid texts: changes a byte; inserts, deletes or repeats
/// bytes; replaces a number by an extreme one; swaps or removes lines; cuts off the end; inserts a piece of
/// another text. The result depends only on the arguments. `texts` must not be empty.
std::string mutate(const std::vector<std::string>& texts, Random& random);

/// Repeats one line of a valid text until the text has about `bytes` characters, and inserts a different
/// number at the same place of each copy. This makes many different names, entries or labels, and reveals
/// quadratic time or memory.
std::string grow(const std::vector<std::string>& texts, std::size_t bytes, Random& random);

}  // namespace proxbench
