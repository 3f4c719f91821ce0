#include "experiments/results/fields.h"

#include <fmt/format.h>

#include <array>

#include "core/base/error.h"
#include "core/base/profile.h"
#include "experiments/base/table_text.h"
#include "experiments/results/results.h"

namespace proxbench {

using Json = nlohmann::ordered_json;
using enum FieldUse;

namespace {

/// All statuses with their names.
std::vector<std::pair<std::string, Status>> statuses() {
  std::vector<std::pair<std::string, Status>> out;
  for (int i = 0; i <= static_cast<int>(Status::kSkipped); ++i)
    out.emplace_back(status_name(static_cast<Status>(i)), static_cast<Status>(i));
  return out;
}

// ---- the record of a run

/// The field has null where its value is not `known`.
Schema<Run> if_known(const Schema<Run>& field, bool (*known)(const Run&)) {
  return field.with([&](Row<Run>& row) {
    row.spec.nullable = true;
    row.get = [get = row.get, known](const Run& run) { return known(run) ? get(run) : Value{}; };
  });
}

Schema<Run> parameter_fields() {
  using P = RunParameters;
  const Schema<Penalty> numbers(
      {row(&Penalty::lambda, "lambda", "weight of ||w||_1 in F; none: it has a path"),
       row(&Penalty::mu, "mu", "weight of ||w||^2 / 2 in F; none: it has a path")});
  const Schema<RunPenalty> penalty({part(&RunPenalty::penalty, numbers).in("run", kModel),
                                    row(&RunPenalty::path, "path", "of lambda or mu", {.nullable = true})});
  const Schema<P> rows({
      row(&P::name, "name", "the run in messages", {.use = kRecord}),
      row(&P::experiment, "experiment", "name of the experiment"),
      row(&P::dataset, "dataset", "name of the data set in the config"),
      row(&P::label, "label", "name of the solver in the config"),
      row(&P::repetition, "repetition", "from 1"),
      row(&P::data_options, "options", "of the data format", {.section = "run.data", .use = kRecord}),
      row(&P::solver, "solver", "registered name", {.use = kSummary}),
      row(&P::solver_options, "options", "of the solver", {.use = kSummary}),
      base_rows<P>(penalty),
      row(&P::tighten, "tighten", "relative gap to go on for after the run; 0: do not", {.use = kRecord}),
      row(&P::objective_target, "objective_target", "stop when F <= this", {.nullable = true}),
      row(&P::drop_features, "drop_features", "features that no minimiser needs", {.use = kRecord}),
      row(&P::plugins, "plugins", "files of plug-ins", {.use = kRecord}),
      base_rows<P>(RunData::schema()),
      base_rows<P>(RunSettings::schema()),
  });
  const Schema<Run> fields = part(&Run::parameters, rows).in("run", kColumn);
  return fields.with([](Row<Run>& row) {
    if (row.spec.name == "cost")
      row = *if_known(Schema<Run>(row), [](const Run& run) { return run.parameters.loss.hinge(); }).begin();
  });
}

Schema<Run> key_fields() {
  using K = RunKey;
  return part(&Run::key,
              Schema<K>({
                  row(&K::digest, "digest", "of all that decides the result"),
                  row(&K::data, "data", "digest of the files of the data set"),
                  row(&K::program, "program",
                      "digest of the sources that decide results, the compiler, its flags and the plug-ins"),
                  row(&K::start, "start", "digest of the model to start from; empty: none"),
                  row(&K::instruction_set, "instruction_set", "of the hot loops"),
                  row(&K::stop_at, "stop_at", "relative difference to f* to stop at; 0: none"),
              }))
      .in("key", kColumn);
}

/// The rows of members of a certificate.
template <class T>
Schema<T> certified(Certificate T::*certificate, const std::vector<Schema<Certificate>>& rows) {
  return part(certificate, Schema<Certificate>(rows));
}

Schema<Run> figure_fields() {
  using F = RunFigures;
  using C = Certificate;
  const Schema<Run> status(
      Row<Run>{{.name = "status", .help = "how the run ended", .nullable = true},
               [](const Run& run) -> Value { return {run.status()}; },
               [](Run& run, const Value& value) { run.set_status(value.as<std::string>()); }});
  const Schema<F> size({
      row(&F::reason, "reason", "why it failed or was stopped", {.use = kColumn, .nullable = true}),
      row(&F::d, "d", "number of weights"),
      row(&F::instances, "instances", "of the training set"),
      row(&F::positions, "positions", "of the training set"),
      row(&F::outputs, "outputs", "columns of W: labels, or nodes of a tree"),
      certified(&F::certificate,
                {row(&C::objective, "objective", "F at the end"),
                 row(&C::loss, "loss", "sum over the training instances"), row(&C::l1, "l1", "||w||_1")}),
  });
  const Schema<F> nnz = certified(&F::certificate, {row(&C::nnz, "nnz", "nonzero weights")});
  const Schema<F> end({
      certified(&F::certificate,
                {row(&C::kkt, "kkt", "max norm of the minimum-norm subgradient; none of the hinge loss")}),
      computed<F>(&F::relative_kkt, "relative_kkt", "kkt / (kkt at w = 0)"),
      certified(
          &F::certificate,
          {row(&C::dual, "dual", "best lower bound on min F, rounding taken off"),
           row(&C::rounding, "rounding", "by how much rounding may have changed the objective"),
           row(&C::kkt_rounding, "kkt_rounding", "by how much rounding may have changed kkt"),
           computed<C>([](const C& c) { return c.gap(); }, "gap", "objective - dual, at least rounding"),
           computed<C>([](const C& c) { return c.relative_gap(); }, "relative_gap", "gap / objective")}),
      row(&F::kkt_at_zero, "kkt_at_zero", "kkt at w = 0"),
      row(&F::iterations, "iterations", "of the solver"),
      row(&F::passes, "passes", "oracle calls of the solver over training instances"),
      row(&F::updates, "updates", "parameter updates over training instances"),
      row(&F::seconds, "seconds", "wall time on the clock", {.unit = "s"}),
      row(&F::cpu_seconds, "cpu_seconds", "CPU time on the clock", {.unit = "s"}),
      row(&F::peak_rss_bytes, "peak_rss_bytes", "most memory that the process held", {.unit = "bytes"}),
      row(&F::test_accuracy, "test_accuracy", "share of right positions"),
      row(&F::test_metrics, "test_metrics", "metrics of the test set, by name", {.nullable = true}),
      row(&F::features, "features", "of the training set"),
      row(&F::features_kept, "features_kept", "those that the solver saw"),
      row(&F::nonzeros, "nonzeros", "entries of the training set's design matrix"),
      row(&F::matrix_bytes, "matrix_bytes", "that this matrix takes, by row and by column",
          {.unit = "bytes"}),
      row(&F::audits, "audits", "losses of the solver that were checked"),
      row(&F::audit_max_difference, "audit_max_difference", "the largest relative difference in audits"),
      row(&F::notes, "notes", "what the solver tells; of a path, by its last solve", {.nullable = true}),
      row(&F::phases, "phases", "of a profiled run: how its time was spent",
          {.use = kRecord, .nullable = true}),
      row(&F::tighten, "tighten", "the search for a better bound after the run"),
      row(&F::lambda_max, "lambda_max", "of a path: smallest lambda at which w = 0 is optimal"),
      row(&F::points_done, "points", "of a path: lambdas that were done"),
      row(&F::points_asked, "points_asked", "of a path: lambdas"),
      row(&F::violations, "violations", "of a path: weights that the strong rule wrongly left out"),
      row(&F::rounds, "rounds", "of a path: solves"),
      row(&F::data_digest, "data_digest", "of the training set"),
      row(&F::description, "description", "the data in one line"),
      row(&F::oracle, "oracle", "registered name of the oracle"),
      row(&F::trainer, "trainer", "the external trainer that made the run, with its version",
          {.use = kColumn, .nullable = true}),
      row(&F::warnings, "warnings", "of an external trainer: where it reports other values than we measure",
          {.use = kRecord}),
  });
  const Schema<F> seconds({
      row(&F::load_seconds, "load_seconds", "reading the data"),
      row(&F::setup_seconds, "setup_seconds", "feature reduction, buffers and kkt at w = 0"),
      row(&F::warm_up_seconds, "warm_up_seconds", "inference before the clock started"),
      row(&F::sampling_seconds, "sampling_seconds", "samples of the monitor"),
      row(&F::gap_seconds, "gap_seconds", "bounds that the gap target asked for"),
      row(&F::certify_seconds, "certify_seconds", "certificate at the end"),
      row(&F::wall_seconds, "wall_seconds", "the process of the run"),
  });
  const Schema<F> timed = seconds.in("timing", kModel).with([](Row<F>& row) { row.spec.unit = "s"; });
  const Schema<Run> bound =
      computed<Run>(&relative_bound, "relative_bound",
                    "what the gap, or kkt and lambda, prove: (F - min F) / F is at most this",
                    {.use = kColumn, .nullable = true});
  const auto weights_known = [](const Run& run) { return !std::isnan(run.result.certificate.objective); };
  return Schema<Run>({status, part(&Run::result, size), if_known(part(&Run::result, nnz), weights_known),
                      part(&Run::result, end), bound, part(&Run::result, timed)})
      .in("", kModel);
}

/// What the launcher knows: timing, f*, program and machine.
Schema<Run> launcher_fields() {
  using T = Timing;
  using B = BestKnown;
  using V = Provenance;
  const Schema<T> timing({
      row(&T::comparable, "comparable", "with other runs on the same machine"),
      row(&T::not_comparable_because, "not_comparable_because", "why the timing is not comparable",
          {.nullable = true}),
      row(&T::cpus, "cpus", "CPUs that the process may run on", {.use = kRecord}),
      row(&T::memory_nodes, "memory_nodes", "NUMA nodes that its memory is spread over", {.use = kRecord}),
      row(&T::environment, "environment", "NAME=VALUE, set for the process", {.use = kRecord}),
  });
  const Schema<B> best({
      row(&B::objective, "objective", "f*: F of the reference run"),
      row(&B::relative_kkt, "relative_kkt", "of the reference run"),
      row(&B::relative_gap, "relative_gap", "of the reference run"),
      row(&B::kkt_at_zero, "kkt_at_zero", "of the reference run"),
      row(&B::relative_bound, "relative_bound", "of the reference run", {.nullable = true}),
  });
  const Schema<V> program({
      row(&V::version, "version", "of proxbench"),
      row(&V::git_revision, "git_revision", "of its sources"),
      row(&V::git_dirty, "git_dirty", "whether the sources differed from it"),
      row(&V::compiler, "compiler", "its name and version"),
      row(&V::flags, "flags", "of the compiler"),
      row(&V::build_type, "build_type", "of CMake"),
      row(&V::instruction_set, "instruction_set", "of the hot loops"),
  });
  const Schema<V> machine({
      row(&V::machine, "name", "of the machine"),
      row(&V::cpu, "cpu", "its model"),
      row(&V::cores, "cores", "usable by the launcher"),
      row(&V::caches, "caches", "of the first CPU"),
      row(&V::memory_bytes, "memory_bytes", "of the machine", {.unit = "bytes"}),
      row(&V::id, "id", "a hash that tells this machine from others"),
      row(&V::kernel, "kernel", "its name and release"),
      row(&V::os, "os", "name of the operating system"),
  });
  const Schema<V> made({
      row(&V::libraries, "libraries", "versions, and the digests of plug-ins", {.use = kRecord}),
      row(&V::settings, "settings", "environment variables that concern threads and memory",
          {.use = kRecord}),
      row(&V::command, "command", "command line of the launcher", {.use = kRecord}),
      row(&V::time, "time", "when the run started, UTC"),
      row(&V::load, "load", "averages over 1, 5 and 15 minutes", {.use = kRecord}),
      row(&V::governor, "governor", "of the CPUs' clock frequency", {.use = kRecord}),
      row(&V::affinity, "affinity", "CPUs that the launcher may run on", {.use = kRecord}),
      row(&V::slurm, "slurm", "the job of a cluster", {.use = kRecord}),
  });
  const Schema<V> provenance({program.in("provenance.program", kColumn),
                              machine.in("provenance.machine", kColumn), made.in("provenance", kColumn)});
  return Schema<Run>({part(&Run::timing, timing).in("timing", kColumn),
                      part(&Run::best, best).in("reference", kColumn), part(&Run::provenance, provenance)});
}

}  // namespace

const Schema<Run>& run_fields() {
  static const Schema<Run> all({parameter_fields(), key_fields(), figure_fields(), launcher_fields()});
  return all;
}

const Schema<PhaseCost>& PhaseCost::schema() {
  using P = PhaseCost;
  static const Schema<P> rows({row(&P::phase, "phase"), row(&P::calls, "calls"), row(&P::seconds, "seconds"),
                               row(&P::loop_seconds, "loop_seconds"), row(&P::flops, "flops"),
                               row(&P::bytes, "bytes"), row(&P::sums, "sums"),
                               row(&P::sum_bytes, "sum_bytes")});
  return rows;
}

const Schema<TightenEnd>& TightenEnd::schema() {
  using T = TightenEnd;
  static const Schema<T> rows({choice(&T::status, {.name = "status"}, statuses()),
                               row(&T::gap_target, "gap_target"), row(&T::iterations, "iterations"),
                               row(&T::seconds, "seconds")});
  return rows;
}

// ---- columns of CSV files

const Schema<Sample>& trace_columns() {
  using S = Sample;
  static const Schema<S> all({
      row(&S::seconds, "seconds", "wall time on the clock", {.unit = "s"}),
      row(&S::cpu_seconds, "cpu_seconds", "CPU time on the clock", {.unit = "s"}),
      row(&S::iteration, "iteration", "iterations so far"),
      row(&S::passes, "passes", "oracle calls over training instances so far"),
      row(&S::updates, "updates", "parameter updates over training instances so far"),
      row(&S::objective, "objective", "F at the iterate"),
      row(&S::loss, "loss", "loss at the iterate"),
      row(&S::nnz, "nnz", "nonzero weights"),
      row(&S::working_set, "working_set", "weights that the solver works on"),
      row(&S::kkt, "kkt", "max norm of the minimum-norm subgradient; of some samples"),
      row(&S::gap, "gap", "F - best lower bound on min F so far; of some samples"),
      row(&S::dual_gap, "dual_gap", "F - the value of the solver's own dual point; of some samples"),
      row(&S::estimated_gap, "estimated_gap", "the solver's own estimate of dual_gap; of some samples"),
      row(&S::infeasibility, "infeasibility",
          "how far a solver's own dual variables are from distributions; of some samples"),
      row(&S::test_accuracy, "test_accuracy", "share of right positions; of some samples"),
      row(&S::test_metrics, "test_metrics", "the other metrics of the same samples, NAME=VALUE each"),
  });
  return all;
}

const Schema<PathPoint>& path_columns() {
  using P = PathPoint;
  using C = Certificate;
  static const Schema<P> all({
      row(&P::number, "point", "its number, from 1"),
      row(&P::lambda, "lambda", "weight of ||w||_1 in F"),
      row(&P::mu, "mu", "weight of ||w||^2 / 2 in F"),
      certified(&P::certificate, {row(&C::objective, "objective", "F"),
                                  row(&C::loss, "loss", "sum over the training instances"),
                                  row(&C::l1, "l1", "||w||_1"), row(&C::nnz, "nnz", "nonzero weights"),
                                  row(&C::kkt, "kkt", "max norm of the minimum-norm subgradient")}),
      row(&P::kkt_target, "kkt_target", "kkt at which the point is solved"),
      certified(&P::certificate,
                {row(&C::dual, "dual", "best lower bound on min F"),
                 computed<C>([](const C& c) { return c.gap(); }, "gap", "objective - dual")}),
      row(&P::seconds, "seconds", "on the clock, since the path began", {.unit = "s"}),
      row(&P::cpu_seconds, "cpu_seconds", "the same, CPU time", {.unit = "s"}),
      row(&P::iterations, "iterations", "since the path began"),
      row(&P::passes, "passes", "since the path began"),
      row(&P::updates, "updates", "since the path began"),
      row(&P::candidates, "candidates", "weights in the last solve"),
      row(&P::violations, "violations", "weights that the strong rule wrongly left out"),
      row(&P::rounds, "rounds", "solves; 0: w = 0 needed none"),
      row(&P::test_accuracy, "test_accuracy", "share of right positions"),
      row(&P::test_metrics, "test_metrics", "the other metrics, NAME=VALUE each"),
      choice(&P::status, {.name = "status", .help = "how the last solve ended"}, statuses()),
  });
  return all;
}

// ---- forms of the record

namespace {

constexpr int kRecordVersion = 3;
constexpr const char* kRecordExpected =
    "the record of a run, version 3; delete it, and `proxbench run` makes the run again";

Json::json_pointer place_of(const OptionSpec& field) {
  std::string text = "/" + (field.section.empty() ? "" : field.section + "/") + field.field_name();
  std::ranges::replace(text, '.', '/');
  return Json::json_pointer(text);
}

Json field_json(const Row<Run>& field, const Run& run) {
  const Json json = json_of(field.get(run));
  return field.spec.nullable && (json == "" || json.empty()) ? Json() : json;
}

}  // namespace

std::string Run::status() const {
  const std::string& detail = result.status_detail;
  return result.status ? status_name(*result.status) + (detail.empty() ? "" : "(" + detail + ")") : "";
}

void Run::set_status(const std::string& text) {
  const std::size_t open = std::min(text.find('('), text.size());
  const auto all = statuses();
  const auto found = std::ranges::find(all, text.substr(0, open), [](const auto& one) { return one.first; });
  if (found == all.end()) throw Error("found '", text, "', expected a status");
  result.status = found->second;
  result.status_detail = open < text.size() ? text.substr(open + 1, text.size() - open - 2) : "";
}

bool Run::failed() const {
  return result.status == Status::kInterrupted || result.status >= Status::kDiverged;
}

Json run_json(const Run& run) {
  Json json{{"record_version", kRecordVersion}};
  for (const Row<Run>& field : run_fields()) json[place_of(field.spec)] = field_json(field, run);
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
  for (const auto& [spec, get, set] : run_fields()) {
    const nlohmann::json::json_pointer place(place_of(spec).to_string());
    if (!json.contains(place)) {
      if (spec.nullable) continue;
      throw error("no key " + place.to_string());
    }
    const nlohmann::json& value = json.at(place);
    if (!set || (spec.nullable && value.is_null())) continue;
    try {
      set(run, value_of_json(value));
    } catch (const std::exception&) {
      throw error(fmt::format("{} = {}", place.to_string(), value.dump()));
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
  for (const Row<Run>& field : run_fields())
    if (const FieldUse use = field.spec.field_use(); use >= kSummary)
      json[field.spec.field_name()] =
          use == kSummary && parameters.solver.empty() ? Json() : field_json(field, run);
  return json;
}

std::string column_name(const OptionSpec& field) {
  const bool plain = field.section.empty() || field.section == "run" || field.section == "timing" ||
                     field.section == "provenance";
  return plain ? field.field_name()
               : field.section.substr(field.section.find('.') + 1) + "_" + field.field_name();
}

// ---- documentation

namespace {

/// The name of each FieldUse.
constexpr std::array<const char*, 4> kUseNames = {"record", "column", "summary", "model"};

std::string type_of(const OptionSpec& field) {
  if (field.list) return "JSON";
  return field.type == OptionType::kString ? "text" : field.type_name();
}

Json rows_json(const OptionTable& fields, bool of_run) {
  Json out = Json::array();
  for (const OptionSpec& field : fields) {
    Json& row = out.emplace_back(Json{{"section", field.section}, {"name", field.field_name()}});
    if (of_run) {
      row["column"] = column_name(field);
      row["use"] = kUseNames.at(static_cast<std::size_t>(field.field_use()));
      row["nullable"] = field.nullable;
    }
    row["type"] = type_of(field);
    row["unit"] = field.unit;
    row["help"] = field.help;
  }
  return out;
}

}  // namespace

Json fields_json() {
  Json names = Json::array(), phases = Json::array();
  for (const auto& [name, status] : statuses()) {
    Run run;
    run.result.status = status;
    if (!run.failed()) names.push_back(name);
  }
  for (std::size_t i = 0; i < kPhases; ++i) phases.push_back(phase_name(static_cast<Phase>(i)));
  return {{"record_version", kRecordVersion},
          {"statuses", names},
          {"phases", phases},
          {"run", rows_json(run_fields().specs(), true)},
          {"trace", rows_json(trace_columns().specs(), false)},
          {"path", rows_json(path_columns().specs(), false)}};
}

}  // namespace proxbench
