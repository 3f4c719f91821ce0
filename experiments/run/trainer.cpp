#include "experiments/run/trainer.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <thread>

#include "core/data/reduction.h"
#include "experiments/data/model.h"
#include "experiments/metrics/metrics.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// The most memory this process has held so far.
std::uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

double ratio_to_start(double kkt, double kkt_at_zero) {
  return kkt == 0.0 ? 0.0 : kkt / kkt_at_zero;
}

}  // namespace

std::unique_ptr<Oracle> make_oracle(const OracleInfo& info, const Dataset& data) {
  const auto misfit = [&](const std::string& why, ErrorKind kind) {
    return OracleMisfit(fmt::format("oracle {} cannot serve these data: {}", info.name, why), kind);
  };
  try {
    std::unique_ptr<Oracle> oracle = info.make(data);
    if (oracle->extra_weights() > 0 && !info.extra.names)
      throw Error(fmt::format("found {} extra weights without names for models, expected OracleInfo::extra",
                              oracle->extra_weights()));
    return oracle;
  } catch (const Error& error) {
    throw misfit(error.what(), error.kind());
  }
}

LoadedData::LoadedData(DataPair data, const Parallel& parallel, Decoding decoding)
    : data_(std::move(data)), parallel_(parallel), decoding_(decoding) {
  if (data_.train.instances() == 0 || data_.train.positions() == 0)
    throw Error("no training instances in " + data_.train.description, ErrorKind::kInput);
  const OracleInfo& oracle = oracle_registry().find(data_.oracle);
  extra_names_ = &oracle.extra;
  oracle_ = make_oracle(oracle, data_.train);
  check_capabilities(oracle, *oracle_);
  if (data_.test.positions() == 0) return;
  test_oracle_ = make_oracle(oracle, data_.test);
  test_set_ = std::make_unique<TestSet>(data_.test, *test_oracle_, parallel_, trace_metric(), decoding);
}

const LoadedData::Reduced& LoadedData::reduced(double lambda) const {
  if (reduced_ && reduced_->lambda == lambda) return *reduced_;
  reduced_.reset();  // two need not fit into memory together
  auto out = std::make_unique<Reduced>();
  out->lambda = lambda;
  out->kept = features_that_can_enter(data_.train.x, lambda);
  out->all = out->kept.size() == data_.train.x.features();
  if (!out->all) {
    out->x = data_.train.x.select_features(out->kept);
    if (test_set_) {
      out->test.x = data_.test.x.select_features(out->kept);
      out->test.begin = data_.test.begin;
      out->test.gold = data_.test.gold;
      out->test.vocabulary = data_.test.vocabulary;
      out->test.hierarchy = data_.test.hierarchy;
      out->test_set =
          std::make_unique<TestSet>(out->test, *test_oracle_, parallel_, trace_metric(), decoding_);
    }
  }
  reduced_ = std::move(out);
  return *reduced_;
}

void require_needs(const LoadedData& data, const RunSettings& settings, const Penalty& penalty) {
  const std::string unmet = unmet_needs(solver_registry().find(settings.solver), settings.options, penalty,
                                        oracle_registry().find(data.oracle_name()));
  if (!unmet.empty()) throw Error::usage(unmet);
}

RunOutcome train(const LoadedData& data, const RunSettings& settings, const RunHooks& hooks) {
  const double began = wall_seconds();
  const Penalty penalty{settings.lambda, settings.mu};
  penalty.check();
  require_needs(data, settings, penalty);
  const std::unique_ptr<Solver> solver = solver_registry().find(settings.solver).make(settings.options);
  // Certified where it was trained: kkt over the features kept is kkt over all.
  const LoadedData::Reduced* reduced = settings.drop_features ? &data.reduced(settings.lambda) : nullptr;
  const auto make_objective = [&] {
    return reduced != nullptr ? data.objective(*reduced, settings.mu)
                              : data.objective(settings.lambda, settings.mu);
  };
  Objective objective = make_objective();
  Objective evaluator = make_objective();
  Profile profile;
  if (settings.profile) objective.time_phases(&profile);
  const SparseVector start;

  RunOutcome outcome;
  outcome.kkt_at_zero = certify(evaluator, start).kkt;

  Monitor monitor(evaluator, objective, monitor_options(settings),
                  reduced ? data.test_set(*reduced) : data.test_set());
  monitor.on_sample = hooks.on_sample;
  monitor.interrupt = hooks.interrupt;
  outcome.setup_seconds = wall_seconds() - began;
  outcome.warm_up_seconds = warm_up(evaluator, start, settings.warm_up, hooks.interrupt);

  SolveResult result =
      solver->solve({objective, monitor, start, settings.tol, outcome.kkt_at_zero, settings.seed});
  monitor.finish(result.iterations, result.w, result.working_set);

  const double ended = wall_seconds();
  outcome.status = result.status;
  outcome.trace = monitor.trace();
  outcome.certificate = certify(evaluator, result.w);
  outcome.certificate.dual = std::fmax(outcome.certificate.dual, monitor.lower_bound());
  // What ended for lack of digits may have been proven by its last point, where nobody had looked.
  if (outcome.status == Status::kStalled && outcome.certificate.relative_gap() <= settings.gap_target)
    outcome.status = Status::kGapReached;
  outcome.certify_seconds = wall_seconds() - ended;
  outcome.w = reduced != nullptr ? expand_features(result.w, reduced->kept, data.train().x.features(),
                                                   data.train().outputs())
                                 : std::move(result.w);
  outcome.relative_kkt = ratio_to_start(outcome.certificate.kkt, outcome.kkt_at_zero);

  nlohmann::ordered_json& summary = outcome.summary;
  summary = certificate_summary(data, settings.lambda, settings.mu, outcome.certificate, outcome.kkt_at_zero,
                                outcome.trace.back().test_accuracy);
  summary["features"] = data.train().x.features();
  summary["features_kept"] = objective.features();
  summary["solver"] = settings.solver;
  summary["status"] = status_name(outcome.status);
  summary["iterations"] = result.iterations;
  summary["passes"] = objective.passes();
  summary["seconds"] = monitor.seconds();
  summary["cpu_seconds"] = monitor.cpu_seconds();
  summary["setup_seconds"] = outcome.setup_seconds;
  summary["warm_up_seconds"] = outcome.warm_up_seconds;
  summary["sampling_seconds"] = monitor.sampling_seconds();
  summary["gap_seconds"] = monitor.gap_seconds();
  summary["certify_seconds"] = outcome.certify_seconds;
  const Audits& audits = monitor.audits();
  summary["audits"] = audits.count;
  summary["audit_max_difference"] = nullptr;
  if (audits.count > 0) summary["audit_max_difference"] = audits.largest;
  summary["tol"] = settings.tol;
  summary["gap_target"] = settings.gap_target;
  summary["seed"] = settings.seed;
  summary["options"] = options_json(settings.options);
  summary["notes"] = result.notes;
  if (settings.profile) summary["phases"] = phases_json(profile, monitor.seconds());
  return outcome;
}

void set_certificate(nlohmann::ordered_json& summary, const Certificate& c, double kkt_at_zero) {
  summary["objective"] = c.objective;
  summary["loss"] = c.loss;
  summary["l1"] = c.l1;
  summary["nnz"] = c.nnz;
  summary["kkt"] = c.kkt;
  summary["relative_kkt"] = ratio_to_start(c.kkt, kkt_at_zero);
  summary["dual"] = c.dual;
  summary["gap"] = c.gap();
  summary["relative_gap"] = c.relative_gap();
}

nlohmann::ordered_json certificate_summary(const LoadedData& data, double lambda, double mu,
                                           const Certificate& c, double kkt_at_zero, double test_accuracy) {
  nlohmann::ordered_json summary;
  summary["solver"] = nullptr;
  summary["status"] = nullptr;
  summary["lambda"] = lambda;
  summary["mu"] = mu;
  summary["d"] =
      static_cast<Coord>(data.train().x.features()) * data.train().outputs() + data.oracle().extra_weights();
  summary["instances"] = data.train().instances();
  summary["positions"] = data.train().positions();
  set_certificate(summary, c, kkt_at_zero);
  summary["kkt_at_zero"] = kkt_at_zero;
  for (const char* later : {"iterations", "passes", "seconds", "cpu_seconds"}) summary[later] = nullptr;
  summary["peak_rss_bytes"] = peak_rss_bytes();
  summary["threads"] = data.parallel().threads();
  summary["backend"] = backend_name(data.parallel().backend());
  summary["test_accuracy"] = nullptr;
  if (!std::isnan(test_accuracy)) summary["test_accuracy"] = test_accuracy;
  summary["data_digest"] = digest_text(data.train().digest);
  summary["description"] = data.train().description;
  return summary;
}

std::map<std::string, std::string> model_header(const LoadedData& data, const std::string& format,
                                                const Options& data_options, const RunSettings& settings) {
  std::map<std::string, std::string> header{{"format", format},
                                            {"oracle", data.oracle_name()},
                                            {"lambda", fmt::format("{}", settings.lambda)},
                                            {"mu", fmt::format("{}", settings.mu)},
                                            {"solver", settings.solver},
                                            {"seed", std::to_string(settings.seed)},
                                            {"data_digest", digest_text(data.train().digest)},
                                            {"description", data.train().description}};
  for (const auto& [key, value] : data_options.items()) header["data-option." + key] = value;
  return header;
}

std::string model_of(const LoadedData& data, const std::string& format, const Options& data_options,
                     const RunSettings& settings, const SparseVector& w) {
  return model_text(model_header(data, format, data_options, settings), data.train(), w,
                    data.oracle().extra_weights(), data.extra_names());
}

nlohmann::ordered_json metrics_json(const Dataset& data, std::span<const Index> prediction) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const MetricInfo& metric : metric_registry().items())
    if (!metric.applies || metric.applies(data)) out[metric.name] = metric.measure(data, prediction);
  return out;
}

nlohmann::ordered_json test_metrics(const LoadedData& data, const SparseVector& w) {
  if (data.test_set() == nullptr) return nullptr;
  return metrics_json(data.test(), data.test_set()->decode(w));
}

double warm_up(Objective& objective, const SparseVector& w, double seconds,
               const std::atomic<bool>* interrupt) {
  const double began = wall_seconds();
  double passed = 0.0;
  while (passed < seconds && !(interrupt != nullptr && interrupt->load())) {
    certify(objective, w);
    passed = wall_seconds() - began;
  }
  return passed;
}

MonitorOptions monitor_options(const RunSettings& settings) {
  MonitorOptions options;
  if (settings.time_limit > 0) options.time_limit = settings.time_limit;
  if (settings.max_iterations > 0) options.max_iterations = settings.max_iterations;
  options.sample_kkt = settings.sample_kkt;
  options.sampling_budget = settings.sampling_budget;
  options.objective_target = settings.objective_target;
  options.gap_target = settings.gap_target;
  return options;
}

nlohmann::ordered_json phases_json(const Profile& profile, double seconds) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < kPhases; ++i) {
    const Phase name = static_cast<Phase>(i);
    const PhaseProfile& phase = profile.of(name);
    const bool rest = name == Phase::kSolver;
    out.push_back({{"phase", phase_name(name)},
                   {"calls", phase.calls},
                   {"seconds", rest ? seconds - profile.accounted_seconds() : phase.seconds},
                   {"loop_seconds", phase.loop_seconds},
                   {"flops", phase.work.flops},
                   {"bytes", phase.work.bytes},
                   {"loops", phase.loops}});
  }
  return out;
}

std::string digest_text(std::uint64_t digest) {
  return fmt::format("{:016x}", digest);
}

nlohmann::ordered_json options_json(const Options& options) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [key, value] : options.items()) out[key] = value;
  return out;
}

int resolved_threads(int threads) {
  if (threads > 0) return threads;
  const unsigned cores = std::thread::hardware_concurrency();
  return cores > 0 ? static_cast<int>(cores) : 1;
}

}  // namespace proxbench
