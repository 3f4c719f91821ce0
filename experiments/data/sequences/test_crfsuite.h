#pragma once
/// For tests: a chain data set as text that the format crfsuite reads back to the last bit.

#include <string>

#include "core/base/options.h"
#include "core/data/dataset.h"

namespace proxbench {

inline std::string crfsuite_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

inline std::string crfsuite_text(const Dataset& data) {
  std::string text;
  for (std::size_t i = 0; i < data.instances(); ++i) {
    for (Index p = data.begin[i]; p < data.begin[i + 1]; ++p) {
      text += crfsuite_name(data.vocabulary->outputs[data.gold[p]]);
      const auto row = data.x.row(p);
      const auto values = data.x.row_values(p);
      for (std::size_t e = 0; e < row.size(); ++e) {
        text += "\t" + crfsuite_name(data.vocabulary->features[row[e]]);
        if (!values.empty() && values[e] != 1.0) text += ":" + shortest_text(values[e]);
      }
      text += '\n';
    }
    text += '\n';
  }
  return text;
}

}  // namespace proxbench
