#include <cmath>

#include "experiments/results/field_values.h"

namespace proxbench {
namespace {

using namespace fields;

template <auto... members>
Field<Run> parameter(const char* name, const char* unit, FieldUse use, const char* help) {
  return member<Run, &Run::parameters, members...>("run", name, unit, use, help);
}
template <auto... members>
Field<Run> of_data(const char* name, const char* help) {
  return member<Run, &Run::parameters, members...>("run.data", name, "", FieldUse::kRecord, help);
}
template <auto one>
Field<Run> key(const char* name, const char* help) {
  return member<Run, &Run::key, one>("key", name, "", FieldUse::kColumn, help);
}
template <auto... members>
Field<Run> figure(const char* name, const char* unit, const char* help, FieldUse use = FieldUse::kModel) {
  return member<Run, &Run::result, members...>("", name, unit, use, help);
}
template <auto one>
Field<Run> seconds_of(const char* name, const char* help) {
  return member<Run, &Run::result, one>("timing", name, "s", FieldUse::kModel, help);
}
template <auto one>
Field<Run> timing(const char* name, const char* help, FieldUse use = FieldUse::kColumn) {
  return member<Run, &Run::timing, one>("timing", name, "", use, help);
}
template <auto one>
Field<Run> best(const char* name, const char* help) {
  return member<Run, &Run::best, one>("reference", name, "", FieldUse::kColumn, help);
}
template <auto one>
Field<Run> of_program(const char* name, const char* help) {
  return member<Run, &Run::provenance, one>("provenance.program", name, "", FieldUse::kColumn, help);
}
template <auto one>
Field<Run> of_machine(const char* name, const char* unit, const char* help) {
  return member<Run, &Run::provenance, one>("provenance.machine", name, unit, FieldUse::kColumn, help);
}
template <auto one>
Field<Run> made(const char* name, const char* help, FieldUse use = FieldUse::kColumn) {
  return member<Run, &Run::provenance, one>("provenance", name, "", use, help);
}
/// Makes a text field that is null if the text is empty.
template <auto... members>
Field<Run> text(const char* section, const char* name, const char* help) {
  Field<Run> out = member<Run, members...>(section, name, "", FieldUse::kColumn, help);
  out.get = [](const Run& run) {
    const std::string& value = (run.*....*members);
    return value.empty() ? Json() : Json(value);
  };
  out.set = [](Run& run, const nlohmann::json& value) {
    (run.*....*members) = value.is_null() ? "" : value.get<std::string>();
  };
  return out;
}

}  // namespace

const std::vector<Field<Run>>& run_fields() {
  using P = RunParameters;
  using F = RunFigures;
  using V = Provenance;
  using enum FieldUse;
  static const std::vector<Field<Run>> all = {
      parameter<&P::name>("name", "", kRecord, "the run in messages"),
      parameter<&P::experiment>("experiment", "", kColumn, "name of the experiment"),
      parameter<&P::dataset>("dataset", "", kColumn, "name of the data set in the config"),
      parameter<&P::label>("label", "", kColumn, "name of the solver in the config"),
      parameter<&P::repetition>("repetition", "", kColumn, "from 1"),
      of_data<&P::format>("format", "data format"),
      of_data<&P::files, &DataFiles::train>("train", "training files"),
      of_data<&P::files, &DataFiles::test>("test", "test files"),
      of_data<&P::files, &DataFiles::hierarchy>("hierarchy", "file of the hierarchy"),
      of_data<&P::oracle>("oracle", "in place of the format's; empty: that"),
      of_data<&P::decoding>("decoding", "of the test set"),
      of_data<&P::data_options>("options", "of the data format"),
      parameter<&P::solver>("solver", "", kSummary, "registered name"),
      parameter<&P::solver_options>("options", "", kSummary, "of the solver"),
      parameter<&P::start>("start", "", kSummary, "model file that the solver starts from; empty: w = 0"),
      {"run", "lambda", "", FieldType::kReal, kModel, "weight of ||w||_1 in F; path(...) for a path",
       [](const Run& run) {
         const P& p = run.parameters;
         return p.path.empty() || p.path_of_mu ? number_json(p.lambda) : Json(p.path);
       },
       [](Run& run, const nlohmann::json& value) {
         P& p = run.parameters;
         value.is_string() ? set_value(p.path, value) : set_value(p.lambda, value);
       }},
      {"run", "mu", "", FieldType::kReal, kModel, "weight of ||w||^2 / 2 in F; path(...) for a path",
       [](const Run& run) {
         return run.parameters.path_of_mu ? Json(run.parameters.path) : number_json(run.parameters.mu);
       },
       [](Run& run, const nlohmann::json& value) {
         P& p = run.parameters;
         p.path_of_mu = value.is_string();
         p.path_of_mu ? set_value(p.path, value) : set_value(p.mu, value);
       }},
      {"run", "loss_function", "", FieldType::kText, kModel, "log or hinge",
       [](const Run& run) { return Json(loss_name(run.parameters.loss.kind)); },
       [](Run& run, const nlohmann::json& value) {
         run.parameters.loss = parse_loss(value.get<std::string>(), cost_name(run.parameters.loss.cost));
       }},
      {"run", "cost", "", FieldType::kText, kModel, "of the hinge loss: hamming or hamming-mean; else none",
       [](const Run& run) {
         return run.parameters.loss.hinge() ? Json(cost_name(run.parameters.loss.cost)) : Json();
       },
       [](Run& run, const nlohmann::json& value) {
         Loss& loss = run.parameters.loss;
         if (!value.is_null()) loss = parse_loss(loss_name(loss.kind), value.get<std::string>());
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
      {"run", "objective_target", "", FieldType::kReal, kColumn, "stop when F <= this",
       [](const Run& run) { return number_json(run.parameters.objective_target); },
       [](Run& run, const nlohmann::json& value) {
         if (!value.is_null()) set_value(run.parameters.objective_target, value);
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
      key<&RunKey::digest>("digest", "of all that decides the result"),
      key<&RunKey::data>("data", "digest of the files of the data set"),
      key<&RunKey::program>(
          "program", "digest of the sources that decide results, the compiler, its flags and the plug-ins"),
      key<&RunKey::start>("start", "digest of the model to start from; empty: none"),
      key<&RunKey::instruction_set>("instruction_set", "of the hot loops"),
      key<&RunKey::stop_at>("stop_at", "relative difference to f* to stop at; 0: none"),
      {"", "status", "", FieldType::kText, kModel, "how the run ended",
       [](const Run& run) {
         const std::string status = run.status();
         return status.empty() ? Json() : Json(status);
       },
       [](Run& run, const nlohmann::json& value) {
         run.set_status(value.is_null() ? "" : value.get<std::string>());
       }},
      text<&Run::result, &F::reason>("", "reason", "why it failed or was stopped"),
      figure<&F::d>("d", "", "number of weights"),
      figure<&F::instances>("instances", "", "of the training set"),
      figure<&F::positions>("positions", "", "of the training set"),
      figure<&F::outputs>("outputs", "", "columns of W: labels, or nodes of a tree"),
      figure<&F::certificate, &Certificate::objective>("objective", "", "F at the end"),
      figure<&F::certificate, &Certificate::loss>("loss", "", "sum over the training instances"),
      figure<&F::certificate, &Certificate::l1>("l1", "", "||w||_1"),
      {"", "nnz", "", FieldType::kCount, kModel, "nonzero weights",
       [](const Run& run) {
         const Certificate& c = run.result.certificate;
         return std::isnan(c.objective) ? Json() : Json(c.nnz);
       },
       [](Run& run, const nlohmann::json& value) {
         if (!value.is_null()) set_value(run.result.certificate.nnz, value);
       }},
      figure<&F::certificate, &Certificate::kkt>(
          "kkt", "", "max norm of the minimum-norm subgradient; none of the hinge loss"),
      field<Run>("", "relative_kkt", "", kModel, "kkt / (kkt at w = 0)",
                 [](const Run& run) { return run.result.relative_kkt(); }),
      figure<&F::certificate, &Certificate::dual>("dual", "",
                                                  "best lower bound on min F, rounding taken off"),
      figure<&F::certificate, &Certificate::rounding>("rounding", "",
                                                      "by how much rounding may have changed the objective"),
      field<Run>("", "gap", "", kModel, "objective - dual, at least rounding",
                 [](const Run& run) { return run.result.certificate.gap(); }),
      field<Run>("", "relative_gap", "", kModel, "gap / objective",
                 [](const Run& run) { return run.result.certificate.relative_gap(); }),
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
      {"", "audits", "", FieldType::kCount, kModel, "losses of the solver that were checked",
       [](const Run& run) { return run.result.audits ? Json(run.result.audits->count) : Json(); },
       [](Run& run, const nlohmann::json& value) {
         if (!value.is_null()) set_value(run.result.audits.emplace().count, value);
       }},
      {"", "audit_max_difference", "", FieldType::kReal, kModel, "the largest relative difference in audits",
       [](const Run& run) {
         const std::optional<Audits>& audits = run.result.audits;
         return number_json(audits && audits->count > 0 ? audits->largest : kNaN);
       },
       [](Run& run, const nlohmann::json& value) {
         if (!value.is_null() && run.result.audits) set_value(run.result.audits->largest, value);
       }},
      figure<&F::notes>("notes", "", "what the solver tells; of a path, by its last solve"),
      figure<&F::phases>("phases", "", "of a profiled run: how its time was spent", kRecord),
      figure<&F::tighten>("tighten", "", "the search for a better bound after the run"),
      figure<&F::lambda_max>("lambda_max", "", "of a path: smallest lambda at which w = 0 is optimal"),
      figure<&F::points_done>("points", "", "of a path: lambdas that were done"),
      figure<&F::points_asked>("points_asked", "", "of a path: lambdas"),
      figure<&F::violations>("violations", "", "of a path: weights that the strong rule wrongly left out"),
      figure<&F::rounds>("rounds", "", "of a path: solves"),
      figure<&F::data_digest>("data_digest", "", "of the training set"),
      figure<&F::description>("description", "", "the data in one line"),
      figure<&F::oracle>("oracle", "", "registered name of the oracle"),
      text<&Run::result, &F::trainer>("", "trainer",
                                      "the program of its own that made the run, with its version"),
      figure<&F::warnings>("warnings", "", "of such a run: what does not fit what the program says of it",
                           kRecord),
      seconds_of<&F::load_seconds>("load_seconds", "reading the data"),
      seconds_of<&F::setup_seconds>("setup_seconds", "feature reduction, buffers and kkt at w = 0"),
      seconds_of<&F::warm_up_seconds>("warm_up_seconds", "inference before the clock started"),
      seconds_of<&F::sampling_seconds>("sampling_seconds", "samples of the monitor"),
      seconds_of<&F::gap_seconds>("gap_seconds", "bounds that the gap target asked for"),
      seconds_of<&F::certify_seconds>("certify_seconds", "certificate at the end"),
      seconds_of<&F::wall_seconds>("wall_seconds", "the process of the run"),
      timing<&Timing::comparable>("comparable", "with other runs on the same machine"),
      text<&Run::timing, &Timing::not_comparable_because>("timing", "not_comparable_because",
                                                          "why the timing is not comparable"),
      timing<&Timing::cpus>("cpus", "CPUs that the process may run on", kRecord),
      timing<&Timing::memory_nodes>("memory_nodes", "NUMA nodes that its memory is spread over", kRecord),
      timing<&Timing::environment>("environment", "NAME=VALUE, set for the process", kRecord),
      best<&BestKnown::objective>("objective", "f*: F of the reference run"),
      best<&BestKnown::relative_kkt>("relative_kkt", "of the reference run"),
      best<&BestKnown::relative_gap>("relative_gap", "of the reference run"),
      best<&BestKnown::kkt_at_zero>("kkt_at_zero", "of the reference run"),
      of_program<&V::version>("version", "of proxbench"),
      of_program<&V::git_revision>("git_revision", "of its sources"),
      of_program<&V::git_dirty>("git_dirty", "whether the sources differed from it"),
      of_program<&V::compiler>("compiler", "its name and version"),
      of_program<&V::flags>("flags", "of the compiler"),
      of_program<&V::build_type>("build_type", "of CMake"),
      of_program<&V::instruction_set>("instruction_set", "of the hot loops"),
      of_machine<&V::machine>("name", "", "of the machine"),
      of_machine<&V::cpu>("cpu", "", "its model"),
      of_machine<&V::cores>("cores", "", "usable by the launcher"),
      of_machine<&V::caches>("caches", "", "of the first CPU"),
      of_machine<&V::memory_bytes>("memory_bytes", "bytes", "of the machine"),
      of_machine<&V::id>("id", "", "a hash that tells this machine from others"),
      of_machine<&V::kernel>("kernel", "", "its name and release"),
      of_machine<&V::os>("os", "", "name of the operating system"),
      made<&V::libraries>("libraries", "versions", kRecord),
      made<&V::settings>("settings", "environment variables that concern threads and memory", kRecord),
      made<&V::command>("command", "command line of the launcher", kRecord),
      made<&V::time>("time", "when the run started, UTC"),
      made<&V::load>("load", "averages over 1, 5 and 15 minutes", kRecord),
      made<&V::governor>("governor", "of the CPUs' clock frequency", kRecord),
      made<&V::affinity>("affinity", "CPUs that the launcher may run on", kRecord),
      made<&V::slurm>("slurm", "the job of a cluster", kRecord),
  };
  return all;
}

}  // namespace proxbench
