#pragma once
/// For tests: writes a chain data set as text that the format crfsuite reads back exactly.

#include <string>

#include "experiments/base/test_folder.h"
#include "experiments/data/convert.h"

namespace proxbench {

inline std::string crfsuite_text(const Dataset& data) {
  const TestFolder folder;
  return read_text(convert(data, "crfsuite", folder / "data").data);
}

}  // namespace proxbench
