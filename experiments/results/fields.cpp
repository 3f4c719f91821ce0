#include "experiments/results/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/base/profile.h"
#include "experiments/base/table_text.h"
#include "experiments/results/field_values.h"

namespace proxbench {
namespace {

using namespace fields;

template <class Record, class Value, class... Members>
Field<Record> column(const char* name, const char* help, Value Record::*first, Members... others) {
  return member<Record>("", name, help, first, others...);
}

Json::json_pointer place_of(const Field<Run>& field) {
  std::string text = "/" + (field.section.empty() ? "" : field.section + "/") + field.name;
  std::replace(text.begin(), text.end(), '.', '/');
  return Json::json_pointer(text);
}

/// The name of each FieldType.
constexpr std::array<const char*, 6> kTypeNames = {"text", "integer", "real", "bool", "numbers", "JSON"};
/// The name of each FieldUse.
constexpr std::array<const char*, 4> kUseNames = {"record", "column", "summary", "model"};

/// `section_is` says whether fields of this section belong to the block.
template <class Record, class Belongs>
std::string block_of(const std::string& name, const std::vector<Field<Record>>& fields,
                     const Belongs& section_is) {
  TextTable grid;
  grid.head = {"field", "type", "unit", "what"};
  grid.text_columns = grid.head.size();
  for (const Field<Record>& field : fields)
    if (section_is(field.section))
      grid.rows.push_back(
          {fmt::format("`{}{}{}`", field.section, field.section.empty() ? "" : ".", field.name),
           kTypeNames.at(static_cast<std::size_t>(field.type)), field.unit, markdown_literal(field.help)});
  return doc_block(name, "\n" + markdown_grid(grid));
}

}  // namespace

const std::vector<Field<Sample>>& trace_columns() {
  using S = Sample;
  static const std::vector<Field<S>> all = {
      column("seconds", "wall time on the clock", &S::seconds).in("s"),
      column("cpu_seconds", "CPU time on the clock", &S::cpu_seconds).in("s"),
      column("iteration", "iterations so far", &S::iteration),
      column("passes", "oracle calls over training instances so far", &S::passes),
      column("updates", "parameter updates over training instances so far", &S::updates),
      column("objective", "F at the iterate", &S::objective),
      column("loss", "loss at the iterate", &S::loss),
      column("nnz", "nonzero weights", &S::nnz),
      column("working_set", "weights that the solver works on", &S::working_set),
      column("kkt", "max norm of the minimum-norm subgradient; of some samples", &S::kkt),
      column("gap", "F - best lower bound on min F so far; of some samples", &S::gap),
      column("dual_gap", "F - the value of the solver's own dual point; of some samples", &S::dual_gap),
      column("estimated_gap", "the solver's own estimate of dual_gap; of some samples", &S::estimated_gap),
      column("infeasibility", "how far a solver's own dual variables are from distributions; of some samples",
             &S::infeasibility),
      column("test_accuracy", "share of right positions; of some samples", &S::test_accuracy),
      column("test_metrics", "the other metrics of the same samples, NAME=VALUE each", &S::test_metrics),
  };
  return all;
}

const std::vector<Field<PathPoint>>& path_columns() {
  using P = PathPoint;
  using C = Certificate;
  static const std::vector<Field<P>> all = {
      column("point", "its number, from 1", &P::number),
      column("lambda", "weight of ||w||_1 in F", &P::lambda),
      column("mu", "weight of ||w||^2 / 2 in F", &P::mu),
      column("objective", "F", &P::certificate, &C::objective),
      column("loss", "sum over the training instances", &P::certificate, &C::loss),
      column("l1", "||w||_1", &P::certificate, &C::l1),
      column("nnz", "nonzero weights", &P::certificate, &C::nnz),
      column("kkt", "max norm of the minimum-norm subgradient", &P::certificate, &C::kkt),
      column("kkt_target", "kkt at which the point is solved", &P::kkt_target),
      column("dual", "best lower bound on min F", &P::certificate, &C::dual),
      field<P>("", "gap", "objective - dual", [](const P& point) { return point.certificate.gap(); }),
      column("seconds", "on the clock, since the path began", &P::seconds).in("s"),
      column("cpu_seconds", "the same, CPU time", &P::cpu_seconds).in("s"),
      column("iterations", "since the path began", &P::iterations),
      column("passes", "since the path began", &P::passes),
      column("updates", "since the path began", &P::updates),
      column("candidates", "weights in the last solve", &P::candidates),
      column("violations", "weights that the strong rule wrongly left out", &P::violations),
      column("rounds", "solves; 0: w = 0 needed none", &P::rounds),
      column("test_accuracy", "share of right positions", &P::test_accuracy),
      column("test_metrics", "the other metrics, NAME=VALUE each", &P::test_metrics),
      column("status", "how the last solve ended", &P::status),
  };
  return all;
}

namespace {
std::optional<Status> status_of(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Status::kDiverged); ++i)
    if (name == status_name(static_cast<Status>(i))) return static_cast<Status>(i);
  return std::nullopt;
}

constexpr int kRecordVersion = 3;
constexpr const char* kRecordExpected =
    "the record of a run, version 3; delete it, and `proxbench run` makes the run again";
}  // namespace

void to_json(Json& json, Status status) {
  json = status_name(status);
}
void from_json(const nlohmann::json& json, Status& status) {
  const auto name = json.get<std::string>();
  const std::optional<Status> found = status_of(name);
  if (!found)
    throw Error(fmt::format("found status '{}', expected one of a solver", name), ErrorKind::kInput);
  status = *found;
}

std::string Run::status() const {
  if (!result.failure.empty()) return result.failure;
  return result.status ? status_name(*result.status) : "";
}

void Run::set_status(const std::string& text) {
  result.status = status_of(text);
  result.failure = result.status ? "" : text;
}

bool Run::failed() const {
  return !result.failure.empty() || result.status == Status::kInterrupted;
}

Json run_json(const Run& run) {
  Json json{{"record_version", kRecordVersion}};
  for (const Field<Run>& field : run_fields()) json[place_of(field)] = field.get(run);
  return json;
}

Run run_from(const nlohmann::json& json, const std::string& source) {
  const auto error = [&](const std::string& found) {
    return Error::in_file(source, 0, found, kRecordExpected);
  };
  if (!json.is_object()) throw error("no complete JSON object");
  if (const nlohmann::json version = json.value("record_version", nlohmann::json(1));
      version != kRecordVersion)
    throw error("version " + version.dump());
  Run run;
  for (const Field<Run>& field : run_fields()) {
    const auto place = place_of(field);
    if (!json.contains(place)) throw error("no key " + place.to_string());
    if (field.set == nullptr) continue;
    try {
      field.set(run, json.at(place));
    } catch (const std::exception&) {
      throw error(fmt::format("{} = {}", place.to_string(), json.at(place).dump()));
    }
  }
  return run;
}

Json parameters_json(const RunParameters& parameters) {
  Run run;
  run.parameters = parameters;
  return run_json(run).at("run");
}

Json summary_json(const RunParameters& parameters, const RunFigures& figures) {
  Run run;
  run.parameters = parameters;
  run.result = figures;
  Json json;
  for (const Field<Run>& field : run_fields())
    if (field.use >= FieldUse::kSummary)
      json[field.name] =
          field.use == FieldUse::kSummary && parameters.solver.empty() ? Json() : field.get(run);
  return json;
}

std::string column_name(const Field<Run>& field) {
  const bool plain = field.section.empty() || field.section == "run" || field.section == "timing" ||
                     field.section == "provenance";
  return plain ? field.name : field.section.substr(field.section.find('.') + 1) + "_" + field.name;
}

namespace {
template <class Record>
Json rows_json(const std::vector<Field<Record>>& fields) {
  Json out = Json::array();
  for (const Field<Record>& field : fields) {
    Json& row = out.emplace_back(Json{{"section", field.section}, {"name", field.name}});
    if constexpr (std::is_same_v<Record, Run>) {
      row["column"] = column_name(field);
      row["use"] = kUseNames.at(static_cast<std::size_t>(field.use));
    }
    row["type"] = kTypeNames.at(static_cast<std::size_t>(field.type));
    row["unit"] = field.unit;
    row["help"] = field.help;
  }
  return out;
}
}  // namespace

Json fields_json() {
  Json statuses = Json::array(), phases = Json::array();
  for (int i = 0; i <= static_cast<int>(Status::kDiverged); ++i)
    statuses.push_back(status_name(static_cast<Status>(i)));
  for (std::size_t i = 0; i < kPhases; ++i) phases.push_back(phase_name(static_cast<Phase>(i)));
  return {{"record_version", kRecordVersion},
          {"statuses", statuses},
          {"phases", phases},
          {"run", rows_json(run_fields())},
          {"trace", rows_json(trace_columns())},
          {"path", rows_json(path_columns())}};
}

std::vector<std::string> field_blocks() {
  const auto of_parameters = [](const std::string& section) { return section.starts_with("run"); };
  const auto others = [&](const std::string& section) { return !of_parameters(section); };
  const auto all = [](const std::string&) { return true; };
  return {block_of("fields:parameters", run_fields(), of_parameters),
          block_of("fields:figures", run_fields(), others), block_of("fields:trace", trace_columns(), all),
          block_of("fields:path", path_columns(), all)};
}

}  // namespace proxbench
