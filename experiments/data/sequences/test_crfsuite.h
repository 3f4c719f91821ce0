#pragma once
/// For tests: a chain data set as text that the format crfsuite reads back to the last bit.

#include <string>

#include "experiments/base/test_folder.h"
#include "experiments/data/convert.h"

namespace proxbench {

inline std::string crfsuite_text(const Dataset& data) {
  const TestFolder folder;
  return read_text(convert(data, "crfsuite", folder / "data").data);
}

}  // namespace proxbench
