#include "experiments/results/fields.h"

#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/base/table_text.h"

namespace proxbench {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
struct ValueType {
  using type = T;
};
template <class T>
struct ValueType<std::optional<T>> {
  using type = T;
};

template <class T>
constexpr FieldType type_of() {
  if (std::is_same_v<T, std::string> || std::is_same_v<T, const char*> || std::is_same_v<T, Status>)
    return FieldType::kText;
  if (std::is_same_v<T, bool>) return FieldType::kTruth;
  if (std::is_integral_v<T>) return FieldType::kCount;
  return std::is_floating_point_v<T> ? FieldType::kReal : FieldType::kJson;
}

Json value_json(double value) {
  return number_json(value);
}
/// Null where there is none.
Json value_json(const std::map<std::string, double>& values) {
  Json out;
  for (const auto& [name, value] : values) out[name] = number_json(value);
  return out;
}
Json value_json(Status value) {
  return status_name(value);
}
template <class T>
Json value_json(const T& value) {
  return value;
}
template <class T>
Json value_json(const std::optional<T>& value) {
  return value ? value_json(*value) : Json();
}

void set_value(Status& out, const nlohmann::json& value) {
  const auto name = value.get<std::string>();
  for (int i = 0; i <= static_cast<int>(Status::kDiverged); ++i)
    if (name == status_name(static_cast<Status>(i))) {
      out = static_cast<Status>(i);
      return;
    }
  throw Error(fmt::format("found status '{}', expected one of a solver", name), ErrorKind::kInput);
}
template <class T>
void set_value(T& out, const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, double>)
    out = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
  else
    value.get_to(out);
}
/// Null: none.
void set_value(std::map<std::string, double>& out, const nlohmann::json& values) {
  for (const auto& [name, value] : values.items()) set_value(out[name], value);
}

/// `access`: gives the value of a record, by reference where it is read back.
template <class Record, class Access>
Field<Record> field(std::string section, std::string name, std::string unit, FieldUse use, std::string help,
                    Access) {
  using Value = std::remove_cvref_t<std::invoke_result_t<Access, const Record&>>;
  Field<Record> out{std::move(section),
                    std::move(name),
                    std::move(unit),
                    type_of<typename ValueType<Value>::type>(),
                    use,
                    std::move(help),
                    [](const Record& record) { return value_json(Access{}(record)); },
                    nullptr};
  if constexpr (!std::is_same_v<Record, RunFigures> &&
                std::is_lvalue_reference_v<std::invoke_result_t<Access, Record&>>)
    out.set = [](Record& record, const nlohmann::json& value) { set_value(Access{}(record), value); };
  return out;
}

template <auto member, class Record>
Field<Record> member_field(const char* section, const char* name, const char* unit, FieldUse use,
                           const char* help) {
  return field<Record>(
      section, name, unit, use, help, [](auto& record) -> auto& { return record.*member; });
}
template <auto member>
Field<RunParameters> parameter(const char* name, const char* unit, FieldUse use, const char* help) {
  return member_field<member, RunParameters>("", name, unit, use, help);
}
template <auto member>
Field<RunFigures> figure(const char* name, const char* unit, const char* help) {
  return member_field<member, RunFigures>("", name, unit, FieldUse::kColumn, help);
}
template <auto member>
Field<RunFigures> timing(const char* name, const char* help) {
  return member_field<member, RunFigures>("timing", name, "s", FieldUse::kColumn, help);
}
template <auto member, class Record = RunFigures>
Field<Record> certified(const char* name, const char* help) {
  return field<Record>(
      "", name, "", FieldUse::kColumn, help,
      [](auto& record) -> auto& { return record.certificate.*member; });
}
template <auto member, class Record = Sample>
Field<Record> column(const char* name, const char* unit, const char* help) {
  return member_field<member, Record>("", name, unit, FieldUse::kColumn, help);
}

template <class Record>
Json& slot(Json& json, const Field<Record>& field) {
  return field.section.empty() ? json[field.name] : json[field.section][field.name];
}

const char* type_name(FieldType type) {
  switch (type) {
    case FieldType::kText:
      return "text";
    case FieldType::kCount:
      return "integer";
    case FieldType::kReal:
      return "real";
    case FieldType::kTruth:
      return "bool";
    default:
      return "JSON";
  }
}

template <class Record>
DocBlock block_of(const std::string& name, const std::vector<Field<Record>>& fields) {
  TextTable grid;
  grid.head = {"field", "type", "unit", "what"};
  grid.text_columns = grid.head.size();
  for (const Field<Record>& field : fields)
    grid.rows.push_back({fmt::format("`{}{}{}`", field.section, field.section.empty() ? "" : ".", field.name),
                         type_name(field.type), field.unit, markdown_literal(field.help)});
  return {name, fmt::format("<!-- {} -->\n\n{}\n<!-- end -->\n", name, markdown_grid(grid))};
}

}  // namespace

const std::vector<Field<RunParameters>>& run_parameters() {
  using P = RunParameters;
  using enum FieldUse;
  static const std::vector<Field<P>> all = {
      parameter<&P::name>("name", "", kRecord, "the run in messages"),
      parameter<&P::experiment>("experiment", "", kColumn, "name of the experiment"),
      parameter<&P::dataset>("dataset", "", kColumn, "name of the data set in the config"),
      parameter<&P::label>("label", "", kColumn, "name of the solver in the config"),
      parameter<&P::repetition>("repetition", "", kColumn, "from 1"),
      member_field<&P::format, P>("data", "format", "", kRecord, "data format"),
      field<P>(
          "data", "train", "", kRecord, "training files", [](auto& p) -> auto& { return p.files.train; }),
      field<P>(
          "data", "test", "", kRecord, "test files", [](auto& p) -> auto& { return p.files.test; }),
      field<P>(
          "data", "hierarchy", "", kRecord, "file of the hierarchy",
          [](auto& p) -> auto& { return p.files.hierarchy; }),
      member_field<&P::oracle, P>("data", "oracle", "", kRecord, "in place of the format's; empty: that"),
      member_field<&P::decoding, P>("data", "decoding", "", kRecord, "of the test set"),
      member_field<&P::data_options, P>("data", "options", "", kRecord, "of the data format"),
      parameter<&P::solver>("solver", "", kSummary, "registered name"),
      parameter<&P::solver_options>("options", "", kSummary, "of the solver"),
      parameter<&P::start>("start", "", kSummary, "model file that the solver starts from; empty: w = 0"),
      {"", "lambda", "", FieldType::kReal, kModel, "weight of ||w||_1 in F; path(...) for a path",
       [](const P& p) { return p.path.empty() || p.path_of_mu ? number_json(p.lambda) : Json(p.path); },
       [](P& p, const nlohmann::json& value) {
         value.is_string() ? set_value(p.path, value) : set_value(p.lambda, value);
       }},
      {"", "mu", "", FieldType::kReal, kModel, "weight of ||w||^2 / 2 in F; path(...) for a path",
       [](const P& p) { return p.path_of_mu ? Json(p.path) : number_json(p.mu); },
       [](P& p, const nlohmann::json& value) {
         p.path_of_mu = value.is_string();
         p.path_of_mu ? set_value(p.path, value) : set_value(p.mu, value);
       }},
      {"", "loss_function", "", FieldType::kText, kModel, "log or hinge",
       [](const P& p) { return Json(loss_name(p.loss.kind)); },
       [](P& p, const nlohmann::json& value) {
         p.loss = parse_loss(value.get<std::string>(), cost_name(p.loss.cost));
       }},
      {"", "cost", "", FieldType::kText, kModel, "of the hinge loss: hamming or hamming-mean; else none",
       [](const P& p) { return p.loss.hinge() ? Json(cost_name(p.loss.cost)) : Json(); },
       [](P& p, const nlohmann::json& value) {
         if (!value.is_null()) p.loss = parse_loss(loss_name(p.loss.kind), value.get<std::string>());
       }},
      parameter<&P::tol>(
          "tol", "", kSummary,
          "stop when kkt <= tol * (kkt at w = 0); hinge loss: when the solver finds a relative gap <= tol"),
      parameter<&P::gap_target>("gap_target", "", kSummary,
                                "stop when this relative gap is proven; 0: do not"),
      parameter<&P::gap_by_count>("gap_by_count", "", kRecord,
                                  "look for that proof at counts of iterations, as references do"),
      parameter<&P::tighten>("tighten", "", kRecord, "relative gap to go on for after the run; 0: do not"),
      parameter<&P::time_limit>("time_limit", "s", kColumn, "on the clock; 0: none"),
      parameter<&P::max_iterations>("max_iterations", "", kColumn, "0: no limit"),
      {"", "objective_target", "", FieldType::kReal, kColumn, "stop when F <= this",
       [](const P& p) { return number_json(p.objective_target); },
       [](P& p, const nlohmann::json& value) {
         if (!value.is_null()) set_value(p.objective_target, value);
       }},
      parameter<&P::sample_kkt>("sample_kkt", "", kColumn, "kkt and gap in every sample"),
      parameter<&P::profile>("profile", "", kRecord, "tell how the time was spent"),
      parameter<&P::sampling_budget>(
          "sampling_budget", "", kColumn,
          "share of the clock that samples may take beside those that are always taken"),
      parameter<&P::warm_up>("warm_up", "s", kColumn, "inference before the clock starts"),
      parameter<&P::drop_features>("drop_features", "", kRecord, "features that can never enter"),
      parameter<&P::seed>("seed", "", kSummary, "of all that is drawn"),
      parameter<&P::threads>("threads", "", kModel, "of each process"),
      parameter<&P::processes>("processes", "", kModel, "that share the training instances"),
      parameter<&P::backend>("backend", "", kModel, "parallel back end"),
      parameter<&P::plugins>("plugins", "", kRecord, "shared libraries to load"),
  };
  return all;
}

const std::vector<Field<RunFigures>>& run_figures() {
  using F = RunFigures;
  using enum FieldUse;
  static const std::vector<Field<F>> all = {
      figure<&F::status>("status", "", "how the run ended"),
      figure<&F::d>("d", "", "number of weights"),
      figure<&F::instances>("instances", "", "of the training set"),
      figure<&F::positions>("positions", "", "of the training set"),
      figure<&F::outputs>("outputs", "", "columns of W: labels, or nodes of a tree"),
      certified<&Certificate::objective>("objective", "F at the end"),
      certified<&Certificate::loss>("loss", "sum over the training instances"),
      certified<&Certificate::l1>("l1", "||w||_1"),
      field<F>("", "nnz", "", kColumn, "nonzero weights",
               [](const F& f) {
                 return std::isnan(f.certificate.objective) ? std::optional<std::uint64_t>()
                                                            : f.certificate.nnz;
               }),
      certified<&Certificate::kkt>("kkt", "max norm of the minimum-norm subgradient; none of the hinge loss"),
      field<F>("", "relative_kkt", "", kColumn, "kkt / (kkt at w = 0)",
               [](const F& f) { return f.relative_kkt(); }),
      certified<&Certificate::dual>("dual", "best lower bound on min F, rounding taken off"),
      certified<&Certificate::rounding>("rounding", "by how much rounding may have changed the objective"),
      field<F>("", "gap", "", kColumn, "objective - dual, at least rounding",
               [](const F& f) { return f.certificate.gap(); }),
      field<F>("", "relative_gap", "", kColumn, "gap / objective",
               [](const F& f) { return f.certificate.relative_gap(); }),
      figure<&F::kkt_at_zero>("kkt_at_zero", "", "kkt at w = 0"),
      figure<&F::iterations>("iterations", "", "of the solver"),
      figure<&F::passes>("passes", "", "oracle calls of the solver over training instances"),
      figure<&F::updates>("updates", "", "parameter updates over training instances"),
      figure<&F::seconds>("seconds", "s", "wall time on the clock"),
      figure<&F::cpu_seconds>("cpu_seconds", "s", "CPU time on the clock"),
      figure<&F::peak_rss_bytes>("peak_rss_bytes", "bytes", "most memory that the process held"),
      figure<&F::test_accuracy>("test_accuracy", "", "share of right positions"),
      figure<&F::test_metrics>("test_metrics", "", "metrics of the test set, by name"),
      figure<&F::features>("features", "", "of the training set"),
      figure<&F::features_kept>("features_kept", "", "those that can enter at this lambda"),
      figure<&F::nonzeros>("nonzeros", "", "entries of the training set's design matrix"),
      figure<&F::matrix_bytes>("matrix_bytes", "bytes", "that this matrix takes, by row and by column"),
      field<F>("", "audits", "", kColumn, "losses of the solver that were checked",
               [](const F& f) { return f.audits ? std::optional(f.audits->count) : std::nullopt; }),
      field<F>("", "audit_max_difference", "", kColumn, "the largest relative difference in audits",
               [](const F& f) { return f.audits && f.audits->count > 0 ? f.audits->largest : F::kNone; }),
      figure<&F::notes>("notes", "", "what the solver tells; of a path, by its last solve"),
      member_field<&F::phases, F>("", "phases", "", kRecord, "of a profiled run: how its time was spent"),
      member_field<&F::tighten, F>("", "tighten", "", kRecord, "the search for a better bound after the run"),
      figure<&F::lambda_max>("lambda_max", "", "of a path: smallest lambda at which w = 0 is optimal"),
      figure<&F::points_done>("points", "", "of a path: lambdas that were done"),
      figure<&F::points_asked>("points_asked", "", "of a path: lambdas"),
      figure<&F::violations>("violations", "", "of a path: weights that the strong rule wrongly left out"),
      figure<&F::rounds>("rounds", "", "of a path: solves"),
      figure<&F::data_digest>("data_digest", "", "of the training set"),
      figure<&F::description>("description", "", "the data in one line"),
      figure<&F::oracle>("oracle", "", "registered name of the oracle"),
      timing<&F::load_seconds>("load_seconds", "reading the data"),
      timing<&F::setup_seconds>("setup_seconds", "feature reduction, buffers and kkt at w = 0"),
      timing<&F::warm_up_seconds>("warm_up_seconds", "inference before the clock started"),
      timing<&F::sampling_seconds>("sampling_seconds", "samples of the monitor"),
      timing<&F::gap_seconds>("gap_seconds", "bounds that the gap target asked for"),
      timing<&F::certify_seconds>("certify_seconds", "certificate at the end"),
      timing<&F::wall_seconds>("wall_seconds", "the process of the run"),
  };
  return all;
}

const std::vector<Field<Sample>>& trace_columns() {
  using S = Sample;
  static const std::vector<Field<S>> all = {
      column<&S::seconds>("seconds", "s", "wall time on the clock"),
      column<&S::cpu_seconds>("cpu_seconds", "s", "CPU time on the clock"),
      column<&S::iteration>("iteration", "", "iterations so far"),
      column<&S::passes>("passes", "", "oracle calls over training instances so far"),
      column<&S::updates>("updates", "", "parameter updates over training instances so far"),
      column<&S::objective>("objective", "", "F at the iterate"),
      column<&S::loss>("loss", "", "loss at the iterate"),
      column<&S::nnz>("nnz", "", "nonzero weights"),
      column<&S::working_set>("working_set", "", "weights that the solver works on"),
      column<&S::kkt>("kkt", "", "max norm of the minimum-norm subgradient; of some samples"),
      column<&S::gap>("gap", "", "F - best lower bound on min F so far; of some samples"),
      column<&S::dual_gap>("dual_gap", "", "F - the value of the solver's own dual point; of some samples"),
      column<&S::estimated_gap>("estimated_gap", "", "what the solver takes dual_gap for; of some samples"),
      column<&S::infeasibility>(
          "infeasibility", "",
          "how far a solver's own dual variables are from distributions; of some samples"),
      column<&S::test_accuracy>("test_accuracy", "", "share of right positions; of some samples"),
      column<&S::test_metrics>("test_metrics", "", "the other metrics of the same samples, NAME=VALUE each"),
  };
  return all;
}

const std::vector<Field<PathPoint>>& path_columns() {
  using P = PathPoint;
  using C = Certificate;
  static const std::vector<Field<P>> all = {
      column<&P::lambda, P>("lambda", "", "weight of ||w||_1 in F"),
      column<&P::mu, P>("mu", "", "weight of ||w||^2 / 2 in F"),
      certified<&C::objective, P>("objective", "F"),
      certified<&C::loss, P>("loss", "sum over the training instances"),
      certified<&C::l1, P>("l1", "||w||_1"),
      certified<&C::nnz, P>("nnz", "nonzero weights"),
      certified<&C::kkt, P>("kkt", "max norm of the minimum-norm subgradient"),
      column<&P::kkt_target, P>("kkt_target", "", "what kkt was to come down to"),
      certified<&C::dual, P>("dual", "best lower bound on min F"),
      field<P>("", "gap", "", FieldUse::kColumn, "objective - dual",
               [](const P& point) { return point.certificate.gap(); }),
      column<&P::seconds, P>("seconds", "s", "on the clock, since the path began"),
      column<&P::cpu_seconds, P>("cpu_seconds", "s", "the same, CPU time"),
      column<&P::iterations, P>("iterations", "", "since the path began"),
      column<&P::passes, P>("passes", "", "since the path began"),
      column<&P::updates, P>("updates", "", "since the path began"),
      column<&P::candidates, P>("candidates", "", "weights that the solver saw last"),
      column<&P::violations, P>("violations", "", "weights that the strong rule wrongly left out"),
      column<&P::rounds, P>("rounds", "", "solves; 0: w = 0 needed none"),
      column<&P::test_accuracy, P>("test_accuracy", "", "share of right positions"),
      column<&P::test_metrics, P>("test_metrics", "", "the other metrics, NAME=VALUE each"),
      column<&P::status, P>("status", "", "how the last solve ended"),
  };
  return all;
}

Json job_json(const RunParameters& parameters) {
  Json json;
  for (const auto& field : run_parameters()) slot(json, field) = field.get(parameters);
  return json;
}

RunParameters job_from(const nlohmann::json& json) {
  RunParameters out;
  for (const auto& field : run_parameters())
    field.set(out, (field.section.empty() ? json : json.at(field.section)).at(field.name));
  return out;
}

Json parameters_json(const RunParameters& parameters) {
  Json json;
  for (const auto& field : run_parameters())
    if (field.use != FieldUse::kRecord) json[field.name] = field.get(parameters);
  return json;
}

Json summary_parameters(const RunParameters& parameters) {
  Json json;
  for (const auto& field : run_parameters())
    if (field.use >= FieldUse::kSummary)
      json[field.name] =
          field.use == FieldUse::kSummary && parameters.solver.empty() ? Json() : field.get(parameters);
  return json;
}

Json result_json(const RunParameters& parameters, const RunFigures& figures) {
  Json json = summary_parameters(parameters);
  for (const auto& field : run_figures()) slot(json, field) = field.get(figures);
  return json;
}

Json summary_json(const RunParameters& parameters, const RunFigures& figures) {
  Json json = result_json(parameters, figures);
  const Json timing = json["timing"];
  json.erase("timing");
  json.update(timing);
  return json;
}

std::string field_text(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return number_text(value.get<double>());
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<DocBlock> field_blocks() {
  return {block_of("fields:parameters", run_parameters()), block_of("fields:figures", run_figures()),
          block_of("fields:trace", trace_columns()), block_of("fields:path", path_columns())};
}

}  // namespace proxbench
