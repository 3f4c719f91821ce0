#include "experiments/results/run_columns.h"

#include <set>

namespace proxbench {
namespace {

std::vector<RunColumn> make_columns() {
  using enum FieldType;
  using Stored = const Run&;
  const auto stored = [](const std::string& name, FieldType type, const std::string& pointer) {
    return RunColumn{name, type, [pointer](Stored run) { return stored_value(run, pointer); }};
  };
  std::vector<RunColumn> all = {
      {"name", kText, run_name},
      stored("key", kText, "/key/digest"),
      {"experiment", kText, [](Stored run) { return run.experiment; }},
      {"dataset", kText, [](Stored run) { return run.dataset; }},
      {"description", kText, [](Stored run) { return run.description; }},
      {"lambda", kReal, [](Stored run) { return number_json(run.lambda); }},
      {"path", kText, [](Stored run) { return run.path; }},
      {"solver", kText, [](Stored run) { return run.solver; }},
      {"label", kText, [](Stored run) { return run.label; }},
      {"repetition", kCount, [](Stored run) { return run.repetition; }},
      {"status", kText, [](Stored run) { return run.status; }},
      stored("reason", kText, "/reason"),
      {"reference_objective", kReal, [](Stored run) { return number_json(run.reference_objective); }},
      {"reference_relative_kkt", kReal, [](Stored run) { return number_json(run.reference_kkt); }},
      {"reference_relative_gap", kReal, [](Stored run) { return number_json(run.reference_gap); }},
      {"relative_difference", kReal,
       [](Stored run) {
         return number_json(
             relative_difference(number_at(run.summary, "/objective"), run.reference_objective));
       }},
      {"comparable", kTruth, [](Stored run) { return run.comparable; }},
      stored("not_comparable_because", kText, "/timing/not_comparable_because"),
      {"machine", kText, [](Stored run) { return run.machine; }},
      stored("machine_id", kText, "/provenance/machine/id"),
      stored("time", kText, "/provenance/time"),
  };
  std::set<std::string> known;
  for (const RunColumn& column : all) known.insert(column.name);
  const auto add = [&](const auto& field, const RunColumn& column) {
    if (field.use != FieldUse::kRecord && known.insert(field.name).second) all.push_back(column);
  };
  for (const auto& field : run_parameters())
    add(field, {field.name, field.type, [at = "/" + field.name](Stored run) {
                  nlohmann::ordered_json value = stored_value(run, "/run" + at);
                  return value.is_null() ? stored_value(run, at) : value;
                }});
  for (const auto& field : run_figures())
    add(field, stored(field.name, field.type,
                      (field.section.empty() ? "/" : "/" + field.section + "/") + field.name));
  return all;
}

}  // namespace

const std::vector<RunColumn>& run_columns() {
  static const std::vector<RunColumn> all = make_columns();
  return all;
}

nlohmann::ordered_json stored_value(const Run& run, const std::string& pointer) {
  const nlohmann::json::json_pointer at(pointer);
  return run.summary.contains(at) ? nlohmann::ordered_json(run.summary.at(at)) : nlohmann::ordered_json();
}

}  // namespace proxbench
