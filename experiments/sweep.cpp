#include "experiments/sweep.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <set>

#include "core/error.h"
#include "experiments/model.h"
#include "experiments/results.h"
#include "experiments/trainer.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Relative differences of F this small are rounding of its sums.
constexpr double kRounding = 1e-10;

/// As the system gives it; empty where it does not.
std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "";
}

/// f* of one (data, lambda, mu), as it is stored.
struct Reference {
  double objective, kkt, kkt_at_zero, relative_kkt, l1, tol, time_limit;
  std::string status;

  /// A bound on objective - min F: F is convex, so F(w) - F(w*) <= kkt * ||w - w*||_1, and lambda*||w*||_1 <=
  /// F(w).
  double slack(double lambda) const { return kkt * (l1 + objective / lambda); }

  /// Good enough for a config that asks for these, or as good as it would get again.
  bool serves(double wanted_tol, double wanted_time_limit) const {
    if (relative_kkt <= wanted_tol) return true;
    if (tol > wanted_tol) return false;
    const bool as_long = time_limit == 0 || (wanted_time_limit > 0 && wanted_time_limit <= time_limit);
    return status == "stalled" || (status == "time-limit" && as_long);
  }
};

Reference parse_reference(const nlohmann::json& json) {
  const auto real = [&](const char* key) { return json.at(key).get<double>(); };
  return {real("objective"), real("kkt"), real("kkt_at_zero"), real("relative_kkt"),
          real("l1"),        real("tol"), real("time_limit"),  json.at("status").get<std::string>()};
}

class Sweep {
 public:
  Sweep(const ExperimentConfig& config, const fs::path& out, const SweepHooks& hooks)
      : config_(config),
        out_(out),
        hooks_(hooks),
        parallel_(resolved_threads(config.threads), config.backend) {}

  SweepResult run() {
    const std::vector<PlannedRun> plan = plan_runs(config_);
    write_file_atomically(out_ / "config.ini", config_.to_ini());
    std::size_t number = 0;
    for (const PlannedRun& cell : plan) {
      if (stop()) break;
      if (!data_ || cell.data != data_config_) load(*cell.data);
      if (stop()) break;
      if (!reference_ready_ || cell.lambda != reference_lambda_) find_reference(cell.lambda);
      if (stop()) break;
      message(fmt::format("[{}/{}] {}", ++number, plan.size(), cell.name()));
      run_cell(cell);
    }
    result_.interrupted = stop();
    return result_;
  }

 private:
  bool stop() const { return hooks_.interrupt && hooks_.interrupt->load(); }
  void message(const std::string& text) const {
    if (hooks_.message) hooks_.message(text);
  }
  void warning(const std::string& text) const {
    if (hooks_.warning) hooks_.warning(text);
  }

  void load(const DataConfig& data) {
    message(fmt::format("reading data set {}", data.name));
    data_.reset();  // two data sets need not fit into memory together
    data_ = std::make_unique<LoadedData>(
        data_format_registry().find(data.format).read(data.files, data.options), parallel_,
        config_.decoding == "positions" ? Decoding::kPositions : Decoding::kStructure);
    data_config_ = &data;
    reference_ready_ = false;
    message(data_->train().description);
    for (const auto& [what, count] : data_->train().notes)
      message(fmt::format("training data: {}: {}", what, count));
    for (const auto& [what, count] : data_->test().notes)
      message(fmt::format("test data: {}: {}", what, count));
  }

  RunHooks run_hooks(const std::string& name, std::ofstream* trace) const {
    RunHooks hooks;
    hooks.interrupt = hooks_.interrupt;
    hooks.on_sample = [this, name, trace](const Sample& sample) {
      if (trace)
        *trace << trace_line(sample) << std::endl;  // flushed, so that a kill loses at most this line
      if (hooks_.on_sample) hooks_.on_sample(name, sample);
    };
    return hooks;
  }

  void find_reference(double lambda) {
    const fs::path file = reference_file(out_, digest_text(data_->train().digest), lambda, config_.mu);
    if (std::error_code ignored; fs::exists(file, ignored)) {
      reference_ = read_reference(file);
      if (reference_.serves(config_.reference_tol, config_.reference_time_limit)) {
        message(fmt::format("reusing f* = {} from {}", reference_.objective, file.string()));
        reference_ready_ = true;
        reference_lambda_ = lambda;
        warn_if_loose(lambda);
        return;
      }
    }
    make_reference(lambda, file);
  }

  static Reference read_reference(const fs::path& file) {
    std::ifstream in(file);
    try {
      return parse_reference(nlohmann::json::parse(in));
    } catch (const nlohmann::json::exception& error) {
      throw Error::in_file(file.string(), 0, error.what(),
                           "a stored reference (delete the file to make it again)");
    }
  }

  void make_reference(double lambda, const fs::path& file) {
    const SolverInfo& solver = solver_registry().find("prox-qn");
    RunSettings settings{
        .solver = solver.name, .options = Options(solver.options), .lambda = lambda, .mu = config_.mu};
    settings.options.set("memory", std::to_string(config_.reference_memory));
    settings.options.set("max_inner", std::to_string(config_.reference_max_inner));
    settings.tol = config_.reference_tol;
    settings.time_limit = config_.reference_time_limit;
    settings.seed = config_.seed;
    const std::string name = fmt::format("reference {}-lambda{}", data_config_->name, lambda);
    message(fmt::format("{}: prox-qn to kkt <= {:g} of its start", name, settings.tol));
    const RunOutcome outcome = train(*data_, settings, run_hooks(name, nullptr));
    if (outcome.status == Status::kInterrupted) return;
    if (outcome.status == Status::kDiverged || !std::isfinite(outcome.certificate.objective))
      throw Error(name + ": the reference run diverged, so there is no f* to compare with");

    nlohmann::ordered_json json = outcome.summary;
    json["time_limit"] = settings.time_limit;
    json["dataset"] = data_config_->name;
    write_file_atomically(file, json.dump(2) + "\n");
    reference_ = parse_reference(json);
    reference_ready_ = true;
    reference_lambda_ = lambda;
    message(fmt::format("{}: f* = {}, nnz {}, {} after {:.1f} s", name, reference_.objective,
                        outcome.certificate.nnz, reference_.status,
                        outcome.summary["seconds"].get<double>()));
    warn_if_loose(lambda);
  }

  void warn_if_loose(double lambda) const {
    if (reference_.relative_kkt > config_.reference_tol)
      warning(fmt::format(
          "reference of {} at lambda = {}: kkt is {:.1e} of its start, asked for {:g} ({}); f* may be up "
          "to {:.1e} (relative) too high",
          data_config_->name, lambda, reference_.relative_kkt, config_.reference_tol, reference_.status,
          reference_.slack(lambda) / reference_.objective));
  }

  void run_cell(const PlannedRun& cell) {
    const std::string name = cell.name();
    const fs::path folder = out_ / "runs" / name, temporary = out_ / "runs" / ("." + name + ".tmp");
    fs::remove_all(temporary);  // of a runner that was killed
    make_folder(temporary);
    const RunSettings settings = settings_of(cell);
    RunOutcome outcome;
    try {
      outcome = run_solver(name, settings, temporary / "trace.csv");
    } catch (const std::exception& error) {  // costs this run, not the others
      fs::remove_all(temporary);
      ++result_.failed;
      warning(fmt::format("{}: failed, not stored: {}", name, error.what()));
      return;
    }
    store(cell, settings, outcome, temporary);
    warn_about(cell, outcome);
    publish(temporary, folder);
    result_.folders.push_back(folder);
  }

  RunSettings settings_of(const PlannedRun& cell) const {
    return {.solver = cell.solver->solver,
            .options = cell.solver->options,
            .lambda = cell.lambda,
            .mu = config_.mu,
            .tol = cell.solver->tol,
            .time_limit = cell.solver->time_limit,
            .max_iterations = cell.solver->max_iterations,
            .seed = config_.seed + static_cast<std::uint64_t>(cell.repetition) - 1,
            .sample_kkt = config_.sample_kkt};
  }

  RunOutcome run_solver(const std::string& name, const RunSettings& settings,
                        const fs::path& trace_file) const {
    std::ofstream trace(trace_file);
    trace << trace_header() << std::endl;
    RunOutcome outcome = train(*data_, settings, run_hooks(name, &trace));
    trace.close();
    if (!trace) throw Error(trace_file.string() + ": cannot be written");
    return outcome;
  }

  void store(const PlannedRun& cell, const RunSettings& settings, RunOutcome& outcome,
             const fs::path& folder) const {
    outcome.summary["run"] = about(cell, settings);
    write_file_atomically(folder / "manifest.json", outcome.summary.dump(2) + "\n");
    if (outcome.status == Status::kDiverged) return;  // no weights that a model could hold
    write_file_atomically(folder / "model.tsv",
                          model_text(model_header(*data_, cell.data->format, cell.data->options, settings),
                                     *data_->train().vocabulary, outcome.w, data_->oracle().extra_weights()));
  }

  nlohmann::ordered_json about(const PlannedRun& cell, const RunSettings& settings) const {
    return {{"experiment", config_.name},
            {"dataset", cell.data->name},
            {"lambda", cell.lambda},
            {"solver", cell.solver->solver},
            {"label", cell.solver->label},
            {"repetition", cell.repetition},
            {"seed", settings.seed},
            {"options", options_json(settings.options)},
            {"data_digest", digest_text(data_->train().digest)},
            {"description", data_->train().description},
            {"reference_objective", reference_.objective},
            {"reference_kkt", reference_.relative_kkt},
            {"kkt_at_zero", reference_.kkt_at_zero},
            {"time_limit", settings.time_limit},
            {"max_iterations", settings.max_iterations},
            {"cpu", processor_name()},
            {"cores", resolved_threads(0)}};
  }

  void warn_about(const PlannedRun& cell, const RunOutcome& outcome) const {
    if (outcome.status == Status::kDiverged) warning(cell.name() + ": diverged, so no model is stored");
    const double below = reference_.objective - outcome.certificate.objective;
    if (!(below > kRounding * std::abs(reference_.objective))) return;
    const double slack = reference_.slack(cell.lambda);
    warning(fmt::format(
        "{}: ends {:.1e} (relative) below f* = {}, {}", cell.name(), below / reference_.objective,
        reference_.objective,
        below <= slack ? "within what the reference's kkt allows: a smaller reference_tol gives a better f*"
                       : "MORE than the reference's kkt allows: one of both is wrong"));
  }

  /// By rename, so that a run is there as a whole or not at all.
  static void publish(const fs::path& temporary, const fs::path& folder) {
    const fs::path old = temporary.string() + "-replaced";
    fs::remove_all(old);
    if (fs::exists(folder)) fs::rename(folder, old);
    fs::rename(temporary, folder);
    fs::remove_all(old);
  }

  const ExperimentConfig& config_;
  const fs::path& out_;
  const SweepHooks& hooks_;
  Parallel parallel_;
  std::unique_ptr<LoadedData> data_;
  const DataConfig* data_config_ = nullptr;  ///< what data_ was read from
  Reference reference_{};
  bool reference_ready_ = false;  ///< for data_ and reference_lambda_
  double reference_lambda_ = std::numeric_limits<double>::quiet_NaN();
  SweepResult result_;
};

}  // namespace

std::string PlannedRun::name() const {
  return fmt::format("{}-lambda{}-{}-rep{}", data->name, lambda, solver->label, repetition);
}

std::vector<PlannedRun> plan_runs(const ExperimentConfig& config) {
  std::vector<PlannedRun> plan;
  std::set<std::string> names;
  for (const DataConfig& data : config.data)
    for (double lambda : config.lambdas)
      for (const SolverConfig& solver : config.solvers)
        for (int repetition = 1; repetition <= config.repetitions; ++repetition) {
          plan.push_back({&data, lambda, &solver, repetition});
          if (!names.insert(plan.back().name()).second)
            throw Error::usage("two runs would both be named " + plan.back().name() +
                               ": expected names of data and solvers that tell them apart");
        }
  return plan;
}

void prepare_out(const fs::path& out) {
  for (const char* folder : {"runs", "references", "figures", "tables"}) {
    make_folder(out / folder);
    const fs::path probe = out / folder / ".probe";
    write_file_atomically(probe, "");
    fs::remove(probe);
  }
}

SweepResult run_sweep(const ExperimentConfig& config, const fs::path& out, const SweepHooks& hooks) {
  prepare_out(out);
  return Sweep(config, out, hooks).run();
}

}  // namespace proxbench
