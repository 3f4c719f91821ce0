#include "experiments/results/fields.h"

#include <algorithm>
#include <array>

#include "experiments/base/table_text.h"
#include "experiments/results/field_values.h"

namespace proxbench {
namespace {

using namespace fields;

template <class Record, auto... members>
Field<Record> column(const char* name, const char* unit, const char* help) {
  return member<Record, members...>("", name, unit, FieldUse::kColumn, help);
}

Json::json_pointer place_of(const Field<Run>& field) {
  std::string text = "/" + (field.section.empty() ? "" : field.section + "/") + field.name;
  std::replace(text.begin(), text.end(), '.', '/');
  return Json::json_pointer(text);
}

/// The name of each FieldType.
constexpr std::array<const char*, 5> kTypeNames = {"text", "integer", "real", "bool", "JSON"};

/// `section_is` says whether fields of this section belong to the block.
template <class Record, class Belongs>
DocBlock block_of(const std::string& name, const std::vector<Field<Record>>& fields,
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
      column<S, &S::seconds>("seconds", "s", "wall time on the clock"),
      column<S, &S::cpu_seconds>("cpu_seconds", "s", "CPU time on the clock"),
      column<S, &S::iteration>("iteration", "", "iterations so far"),
      column<S, &S::passes>("passes", "", "oracle calls over training instances so far"),
      column<S, &S::updates>("updates", "", "parameter updates over training instances so far"),
      column<S, &S::objective>("objective", "", "F at the iterate"),
      column<S, &S::loss>("loss", "", "loss at the iterate"),
      column<S, &S::nnz>("nnz", "", "nonzero weights"),
      column<S, &S::working_set>("working_set", "", "weights that the solver works on"),
      column<S, &S::kkt>("kkt", "", "max norm of the minimum-norm subgradient; of some samples"),
      column<S, &S::gap>("gap", "", "F - best lower bound on min F so far; of some samples"),
      column<S, &S::dual_gap>("dual_gap", "",
                              "F - the value of the solver's own dual point; of some samples"),
      column<S, &S::estimated_gap>("estimated_gap", "",
                                   "what the solver takes dual_gap for; of some samples"),
      column<S, &S::infeasibility>(
          "infeasibility", "",
          "how far a solver's own dual variables are from distributions; of some samples"),
      column<S, &S::test_accuracy>("test_accuracy", "", "share of right positions; of some samples"),
      column<S, &S::test_metrics>("test_metrics", "",
                                  "the other metrics of the same samples, NAME=VALUE each"),
  };
  return all;
}

const std::vector<Field<PathPoint>>& path_columns() {
  using P = PathPoint;
  using C = Certificate;
  static const std::vector<Field<P>> all = {
      column<P, &P::number>("point", "", "its number, from 1"),
      column<P, &P::lambda>("lambda", "", "weight of ||w||_1 in F"),
      column<P, &P::mu>("mu", "", "weight of ||w||^2 / 2 in F"),
      column<P, &P::certificate, &C::objective>("objective", "", "F"),
      column<P, &P::certificate, &C::loss>("loss", "", "sum over the training instances"),
      column<P, &P::certificate, &C::l1>("l1", "", "||w||_1"),
      column<P, &P::certificate, &C::nnz>("nnz", "", "nonzero weights"),
      column<P, &P::certificate, &C::kkt>("kkt", "", "max norm of the minimum-norm subgradient"),
      column<P, &P::kkt_target>("kkt_target", "", "what kkt was to come down to"),
      column<P, &P::certificate, &C::dual>("dual", "", "best lower bound on min F"),
      field<P>("", "gap", "", FieldUse::kColumn, "objective - dual",
               [](const P& point) { return point.certificate.gap(); }),
      column<P, &P::seconds>("seconds", "s", "on the clock, since the path began"),
      column<P, &P::cpu_seconds>("cpu_seconds", "s", "the same, CPU time"),
      column<P, &P::iterations>("iterations", "", "since the path began"),
      column<P, &P::passes>("passes", "", "since the path began"),
      column<P, &P::updates>("updates", "", "since the path began"),
      column<P, &P::candidates>("candidates", "", "weights that the solver saw last"),
      column<P, &P::violations>("violations", "", "weights that the strong rule wrongly left out"),
      column<P, &P::rounds>("rounds", "", "solves; 0: w = 0 needed none"),
      column<P, &P::test_accuracy>("test_accuracy", "", "share of right positions"),
      column<P, &P::test_metrics>("test_metrics", "", "the other metrics, NAME=VALUE each"),
      column<P, &P::status>("status", "", "how the last solve ended"),
  };
  return all;
}

namespace {
constexpr int kRecordVersion = 3;
constexpr const char* kRecordExpected =
    "the record of a run, version 3; delete it, and `proxbench run` makes the run again";
}  // namespace

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
  if (!json.is_object()) throw error("no JSON object");
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

std::vector<DocBlock> field_blocks() {
  const auto of_parameters = [](const std::string& section) { return section.starts_with("run"); };
  const auto others = [&](const std::string& section) { return !of_parameters(section); };
  const auto all = [](const std::string&) { return true; };
  return {block_of("fields:parameters", run_fields(), of_parameters),
          block_of("fields:figures", run_fields(), others), block_of("fields:trace", trace_columns(), all),
          block_of("fields:path", path_columns(), all)};
}

}  // namespace proxbench
