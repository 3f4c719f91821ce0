#pragma once
/// The columns of stored runs: what the SQLite index and the CSV export say of a run.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/results/results.h"

namespace proxbench {

struct RunColumn {
  std::string name;
  FieldType type;
  std::function<nlohmann::ordered_json(const Run&)> get;  ///< null: nothing is known
};

/// What a run is told by, its parameters and its figures (fields.h), its f* and where it was made.
const std::vector<RunColumn>& run_columns();

/// The value at a JSON pointer of the manifest; null where there is none.
nlohmann::ordered_json stored_value(const Run& run, const std::string& pointer);

}  // namespace proxbench
