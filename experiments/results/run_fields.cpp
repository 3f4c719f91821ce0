#include <algorithm>
#include <cmath>

#include "experiments/config/config_row.h"
#include "experiments/results/field_values.h"

namespace proxbench {
namespace {

using namespace fields;

/// Returns a function that makes the rows of one part of a run.
template <class Part>
auto section(const char* name, Part Run::*part, FieldUse use = FieldUse::kColumn) {
  return [=](const char* field, const char* help, auto... members) {
    return member<Run>(name, field, help, part, members...).used(use);
  };
}

/// Writes null for an empty text, and for a value that is not `known`. A null in a record sets nothing.
Field<Run> or_null(Field<Run> field, bool (*known)(const Run&) = nullptr) {
  field.get = [get = field.get, known](const Run& run) {
    const Json value = get(run);
    return value == "" || (known != nullptr && !known(run)) ? Json() : value;
  };
  field.set = [set = field.set](Run& run, const nlohmann::json& value) {
    if (!value.is_null()) set(run, value);
  };
  return field;
}

/// Returns the field of lambda or mu. Its value is a number, or the text of a path over it.
Field<Run> penalty(const char* name, const char* help, double RunParameters::*part, bool is_mu) {
  return {"run",
          name,
          help,
          FieldType::kReal,
          [=](const Run& run) {
            const RunParameters& p = run.parameters;
            return p.path.empty() || p.path_of_mu != is_mu ? number_json(p.*part) : Json(p.path);
          },
          [=](Run& run, const nlohmann::json& value) {
            if (!value.is_string()) return set_value(run.parameters.*part, value);
            set_value(run.parameters.path, value);
            run.parameters.path_of_mu = is_mu;
          },
          FieldUse::kModel};
}

/// Adds the settings that are also keys of a config, behind the other parameters of a run.
std::vector<Field<Run>> with_settings(std::vector<Field<Run>> all) {
  auto at = std::ranges::find(all, "key", &Field<Run>::section);
  const auto add = [&](auto setting, const char* key, const char* help, const OptionSpec& = {},
                       const Stored& as = {}) {
    const auto access = [=](auto& run) -> auto& {
      return std::invoke(setting, run.parameters);
    };
    const char* name = *as.name ? as.name : key;
    Field<Run> one = field<Run>(as.section, name, help, access).used(as.use).in(as.unit);
    if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(access(std::declval<Run&>()))>>) {
      one.type = FieldType::kText;
      one.get = [=](const Run& run) { return Json(value_text(access(run))); };
      one.set = [=](Run& run, const nlohmann::json& value) { read_choice(value, access(run)); };
    }
    if (key == std::string_view("cost"))
      one = or_null(one, [](const Run& run) { return run.parameters.loss.hinge(); });
    at = all.insert(at, one) + 1;
  };
  each_data_setting(add);
  each_stop_rule(add);
  each_run_setting(add);
  return all;
}

}  // namespace

const std::vector<Field<Run>>& run_fields() {
  using P = RunParameters;
  using F = RunFigures;
  using V = Provenance;
  using enum FieldUse;
  const auto parameter = section("run", &Run::parameters);
  const auto key = section("key", &Run::key);
  const auto figure = section("", &Run::result, kModel);
  const auto seconds_of = section("timing", &Run::result, kModel);
  const auto timing = section("timing", &Run::timing);
  const auto best = section("reference", &Run::best);
  const auto of_program = section("provenance.program", &Run::provenance);
  const auto of_machine = section("provenance.machine", &Run::provenance);
  const auto made = section("provenance", &Run::provenance);
  static const std::vector<Field<Run>> all = with_settings({
      parameter("name", "the run in messages", &P::name).used(kRecord),
      parameter("experiment", "name of the experiment", &P::experiment),
      parameter("dataset", "name of the data set in the config", &P::dataset),
      parameter("label", "name of the solver in the config", &P::label),
      parameter("repetition", "from 1", &P::repetition),
      section("run.data", &Run::parameters, kRecord)("options", "of the data format", &P::data_options),
      parameter("solver", "registered name", &P::solver).used(kSummary),
      parameter("options", "of the solver", &P::solver_options).used(kSummary),
      penalty("lambda", "weight of ||w||_1 in F; path(...) for a path", &P::lambda, false),
      penalty("mu", "weight of ||w||^2 / 2 in F; path(...) for a path", &P::mu, true),
      parameter("tighten", "relative gap to go on for after the run; 0: do not", &P::tighten).used(kRecord),
      or_null(parameter("objective_target", "stop when F <= this", &P::objective_target)),
      parameter("drop_features", "features that can never enter", &P::drop_features).used(kRecord),
      parameter("plugins", "shared libraries to load", &P::plugins).used(kRecord),
      key("digest", "of all that decides the result", &RunKey::digest),
      key("data", "digest of the files of the data set", &RunKey::data),
      key("program", "digest of the sources that decide results, the compiler, its flags and the plug-ins",
          &RunKey::program),
      key("start", "digest of the model to start from; empty: none", &RunKey::start),
      key("instruction_set", "of the hot loops", &RunKey::instruction_set),
      key("stop_at", "relative difference to f* to stop at; 0: none", &RunKey::stop_at),
      or_null({"", "status", "how the run ended", FieldType::kText,
               [](const Run& run) { return Json(run.status()); },
               [](Run& run, const nlohmann::json& value) { run.set_status(value.get<std::string>()); },
               kModel}),
      or_null(figure("reason", "why it failed or was stopped", &F::reason).used(kColumn)),
      figure("d", "number of weights", &F::d),
      figure("instances", "of the training set", &F::instances),
      figure("positions", "of the training set", &F::positions),
      figure("outputs", "columns of W: labels, or nodes of a tree", &F::outputs),
      figure("objective", "F at the end", &F::certificate, &Certificate::objective),
      figure("loss", "sum over the training instances", &F::certificate, &Certificate::loss),
      figure("l1", "||w||_1", &F::certificate, &Certificate::l1),
      or_null(figure("nnz", "nonzero weights", &F::certificate, &Certificate::nnz),
              [](const Run& run) { return !std::isnan(run.result.certificate.objective); }),
      figure("kkt", "max norm of the minimum-norm subgradient; none of the hinge loss", &F::certificate,
             &Certificate::kkt),
      field<Run>("", "relative_kkt", "kkt / (kkt at w = 0)",
                 [](const Run& run) { return run.result.relative_kkt(); })
          .used(kModel),
      figure("dual", "best lower bound on min F, rounding taken off", &F::certificate, &Certificate::dual),
      figure("rounding", "by how much rounding may have changed the objective", &F::certificate,
             &Certificate::rounding),
      figure("kkt_rounding", "by how much rounding may have changed kkt", &F::certificate,
             &Certificate::kkt_rounding),
      field<Run>("", "gap", "objective - dual, at least rounding",
                 [](const Run& run) { return run.result.certificate.gap(); })
          .used(kModel),
      field<Run>("", "relative_gap", "gap / objective",
                 [](const Run& run) { return run.result.certificate.relative_gap(); })
          .used(kModel),
      figure("kkt_at_zero", "kkt at w = 0", &F::kkt_at_zero),
      figure("iterations", "of the solver", &F::iterations),
      figure("passes", "oracle calls of the solver over training instances", &F::passes),
      figure("updates", "parameter updates over training instances", &F::updates),
      figure("seconds", "wall time on the clock", &F::seconds).in("s"),
      figure("cpu_seconds", "CPU time on the clock", &F::cpu_seconds).in("s"),
      figure("peak_rss_bytes", "most memory that the process held", &F::peak_rss_bytes).in("bytes"),
      figure("test_accuracy", "share of right positions", &F::test_accuracy),
      figure("test_metrics", "metrics of the test set, by name", &F::test_metrics),
      figure("features", "of the training set", &F::features),
      figure("features_kept", "those that can enter at this lambda", &F::features_kept),
      figure("nonzeros", "entries of the training set's design matrix", &F::nonzeros),
      figure("matrix_bytes", "that this matrix takes, by row and by column", &F::matrix_bytes).in("bytes"),
      figure("audits", "losses of the solver that were checked", &F::audits),
      figure("audit_max_difference", "the largest relative difference in audits", &F::audit_max_difference),
      figure("notes", "what the solver tells; of a path, by its last solve", &F::notes),
      figure("phases", "of a profiled run: how its time was spent", &F::phases).used(kRecord),
      figure("tighten", "the search for a better bound after the run", &F::tighten),
      figure("lambda_max", "of a path: smallest lambda at which w = 0 is optimal", &F::lambda_max),
      figure("points", "of a path: lambdas that were done", &F::points_done),
      figure("points_asked", "of a path: lambdas", &F::points_asked),
      figure("violations", "of a path: weights that the strong rule wrongly left out", &F::violations),
      figure("rounds", "of a path: solves", &F::rounds),
      figure("data_digest", "of the training set", &F::data_digest),
      figure("description", "the data in one line", &F::description),
      figure("oracle", "registered name of the oracle", &F::oracle),
      or_null(figure("trainer", "the external trainer that made the run, with its version", &F::trainer)
                  .used(kColumn)),
      figure("warnings", "of an external trainer: where it reports other values than we measure",
             &F::warnings)
          .used(kRecord),
      seconds_of("load_seconds", "reading the data", &F::load_seconds).in("s"),
      seconds_of("setup_seconds", "feature reduction, buffers and kkt at w = 0", &F::setup_seconds).in("s"),
      seconds_of("warm_up_seconds", "inference before the clock started", &F::warm_up_seconds).in("s"),
      seconds_of("sampling_seconds", "samples of the monitor", &F::sampling_seconds).in("s"),
      seconds_of("gap_seconds", "bounds that the gap target asked for", &F::gap_seconds).in("s"),
      seconds_of("certify_seconds", "certificate at the end", &F::certify_seconds).in("s"),
      seconds_of("wall_seconds", "the process of the run", &F::wall_seconds).in("s"),
      timing("comparable", "with other runs on the same machine", &Timing::comparable),
      or_null(timing("not_comparable_because", "why the timing is not comparable",
                     &Timing::not_comparable_because)),
      timing("cpus", "CPUs that the process may run on", &Timing::cpus).used(kRecord),
      timing("memory_nodes", "NUMA nodes that its memory is spread over", &Timing::memory_nodes)
          .used(kRecord),
      timing("environment", "NAME=VALUE, set for the process", &Timing::environment).used(kRecord),
      best("objective", "f*: F of the reference run", &BestKnown::objective),
      best("relative_kkt", "of the reference run", &BestKnown::relative_kkt),
      best("relative_gap", "of the reference run", &BestKnown::relative_gap),
      best("kkt_at_zero", "of the reference run", &BestKnown::kkt_at_zero),
      of_program("version", "of proxbench", &V::version),
      of_program("git_revision", "of its sources", &V::git_revision),
      of_program("git_dirty", "whether the sources differed from it", &V::git_dirty),
      of_program("compiler", "its name and version", &V::compiler),
      of_program("flags", "of the compiler", &V::flags),
      of_program("build_type", "of CMake", &V::build_type),
      of_program("instruction_set", "of the hot loops", &V::instruction_set),
      of_machine("name", "of the machine", &V::machine),
      of_machine("cpu", "its model", &V::cpu),
      of_machine("cores", "usable by the launcher", &V::cores),
      of_machine("caches", "of the first CPU", &V::caches),
      of_machine("memory_bytes", "of the machine", &V::memory_bytes).in("bytes"),
      of_machine("id", "a hash that tells this machine from others", &V::id),
      of_machine("kernel", "its name and release", &V::kernel),
      of_machine("os", "name of the operating system", &V::os),
      made("libraries", "versions", &V::libraries).used(kRecord),
      made("settings", "environment variables that concern threads and memory", &V::settings).used(kRecord),
      made("command", "command line of the launcher", &V::command).used(kRecord),
      made("time", "when the run started, UTC", &V::time),
      made("load", "averages over 1, 5 and 15 minutes", &V::load).used(kRecord),
      made("governor", "of the CPUs' clock frequency", &V::governor).used(kRecord),
      made("affinity", "CPUs that the launcher may run on", &V::affinity).used(kRecord),
      made("slurm", "the job of a cluster", &V::slurm).used(kRecord),
  });
  return all;
}

}  // namespace proxbench
