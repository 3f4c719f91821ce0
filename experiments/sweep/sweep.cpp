#include "experiments/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/base/error.h"
#include "core/base/random.h"
#include "experiments/base/files.h"
#include "experiments/base/numbers.h"
#include "experiments/results/reference.h"
#include "experiments/results/results.h"
#include "experiments/results/store.h"
#include "experiments/run/job.h"
#include "experiments/run/provenance.h"
#include "experiments/run/trainer.h"
#include "experiments/sweep/job_process.h"
#include "experiments/sweep/out_folder.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

/// Relative differences of F this small are rounding of its sums.
constexpr double kRounding = 1e-10;

std::string duration_text(double seconds) {
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5400) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

class Sweep {
 public:
  Sweep(const ExperimentConfig& config, const fs::path& out, const SweepOptions& options,
        const SweepHooks& hooks)
      : config_(config),
        out_(out),
        options_(options),
        hooks_(hooks),
        lock_(out),
        digests_(config),
        provenance_(provenance()),
        cpus_(usable_cpus()),
        threads_(resolved_threads(config.threads)) {}

  SweepResult run() {
    recover(out_);
    const std::vector<PlannedRun> plan = plan_runs(config_);
    for (const PlannedRun& cell : plan)
      states_.push_back(inspect_cell(config_, out_, cell, options_, digests_));
    write_file_atomically(out_ / "config.ini", config_.to_ini());
    for (const CellState& state : states_) ++(state.stored ? result_.cached : total_);
    announce();
    for (std::size_t begin = 0; begin < states_.size() && !stop();) {
      std::size_t end = begin;
      while (end < states_.size() && states_[end].cell.data == states_[begin].cell.data) ++end;
      run_data_set(begin, end);
      begin = end;
    }
    if (references_made_ || !index_agrees(out_)) rebuild_index(out_);
    for (const CellState& state : states_)
      if (fs::exists(out_ / "runs" / state.cell.name() / "manifest.json"))
        result_.folders.push_back(out_ / "runs" / state.cell.name());
    result_.interrupted = stop();
    return result_;
  }

 private:
  bool stop() const { return hooks_.interrupt && hooks_.interrupt->load(); }
  void message(const std::string& text) const {
    if (hooks_.message) hooks_.message(text);
  }
  void detail(const std::string& text) const {
    if (hooks_.detail) hooks_.detail(text);
  }
  void warning(const std::string& text) const {
    if (hooks_.warning) hooks_.warning(text);
  }

  void announce() const {
    if (result_.cached > 0)
      message(fmt::format("{} of {} runs are stored already", result_.cached, states_.size()));
    for (const CellState& state : states_) {
      if (state.stored) continue;
      const std::string why = fmt::format("{}: {}", state.cell.name(), fmt::join(state.why, "; "));
      state.begins_anew ? message(why) : detail(why);
    }
    if (total_ == 0) return;
    for (const std::string& hazard : timing_hazards(threads_, options_.jobs)) warning("timings: " + hazard);
    if (config_.pin && threads_ * options_.jobs > static_cast<int>(cpus_.size()))
      warning(fmt::format("{} runs of {} threads cannot be bound to {} CPUs, so they are not", options_.jobs,
                          threads_, cpus_.size()));
  }

  /// All cells of one data set, [begin, end) of states_.
  void run_data_set(std::size_t begin, std::size_t end) {
    const DataConfig& data = *states_[begin].cell.data;
    data_ = nullptr;
    for (std::size_t from = begin, to = begin; from < end && !stop(); from = to) {
      while (to < end && states_[to].cell.same_problem(states_[from].cell)) ++to;
      const double lambda = states_[from].cell.lambda;
      const bool path = states_[from].cell.path != nullptr;  // there is no f* of one
      const std::vector<const CellState*> missing = missing_in_order(from, to);
      if (missing.empty() && (path || has_reference(states_[from].cell))) continue;
      if (data_.is_null()) describe(data);
      if (stop()) return;
      if (data_.contains("reason")) {
        const bool misfit = data_.value("oracle_misfit", false);
        skip(missing, misfit ? "skipped(the oracle does not fit the data)" : "skipped(the data cannot be read)",
             data_["reason"].get<std::string>());
        continue;
      }
      if (path)
        reference_.reset();
      else
        set_reference(data, lambda);
      if (stop()) return;
      if (!reference_ && config_.stop_at > 0)
        skip(missing, "skipped(no f* to stop at)", "the reference run failed");
      else
        run_cells(fitting(missing));
    }
  }

  /// Those of the cells whose solver can run; the others are stored as skipped.
  std::vector<const CellState*> fitting(const std::vector<const CellState*>& cells) {
    const OracleInfo& oracle = oracle_registry().find(data_.at("oracle").get<std::string>());
    std::vector<const CellState*> out;
    for (const CellState* state : cells) {
      const std::string unmet = state->cell.unmet_needs(&oracle);
      if (unmet.empty())
        out.push_back(state);
      else
        skip({state}, kDoesNotFit, unmet);
    }
    return out;
  }

  /// Reads the data once in a process of its own, to learn what they are: data_, with "reason" where they
  /// cannot be read, or not be served by their oracle.
  void describe(const DataConfig& data) {
    message("reading data set " + data.name);
    const fs::path folder = start_folder(out_ / "runs" / ("data-" + data.name));
    JobProcess child(data_job(config_, data), folder, process_settings(0), {0.0, config_.kill_grace});
    while (!child.watch(kSlice, stop())) {
    }
    data_ = child.result();
    if (data_["reason"].is_null()) data_.erase("reason");
    const std::string log = text_of(folder / "log.txt");
    fs::remove_all(folder);
    if (data_.contains("reason")) return;
    message(data_.at("description").get<std::string>());
    for (const char* set : {"train", "test"})
      for (const auto& [what, count] : data_.at("notes").at(set).items())
        message(fmt::format("{} data: {}: {}", set[1] == 'r' ? "training" : "test", what,
                            count.get<std::uint64_t>()));
  }

  // ---- f*

  bool serves(const Reference& reference) const {
    return reference.serves({config_.reference_tol, config_.reference_gap, config_.reference_time_limit});
  }

  /// Whether a reference that serves is stored for a stored run, whose manifest knows its data.
  bool has_reference(const PlannedRun& stored) const {
    const Json manifest = json_of(out_ / "runs" / stored.name() / "manifest.json");
    const fs::path file =
        reference_file(out_, manifest.value("data_digest", ""), stored.lambda, config_.mu, config_.loss);
    std::error_code ignored;
    return fs::exists(file, ignored) && serves(read_reference(file));
  }

  /// reference_: a stored one that serves, or a new one; none where that fails.
  void set_reference(const DataConfig& data, double lambda) {
    reference_.reset();
    const fs::path file =
        reference_file(out_, data_.at("data_digest").get<std::string>(), lambda, config_.mu, config_.loss);
    if (std::error_code ignored; !options_.force && fs::exists(file, ignored)) {
      const Reference stored = read_reference(file);
      if (serves(stored)) {
        message(fmt::format("reusing f* = {} from {}", stored.objective, file.string()));
        reference_ = stored;
        warn_if_loose(data, lambda);
        return;
      }
    }
    make_reference(data, lambda, file);
  }

  void make_reference(const DataConfig& data, double lambda, const fs::path& file) {
    const RunParameters job = reference_job(config_, data, lambda);
    message(fmt::format("{}: {} to {}", job.name, job.solver,
                        job.gap_target > 0.0 ? fmt::format("a relative gap of {:g}", job.gap_target)
                                             : fmt::format("kkt <= {:g} of its start", job.tol)));
    const fs::path folder = start_folder(out_ / "runs" / ("reference-" + data.name));
    JobProcess child(job, folder, process_settings(0), limits(job.time_limit));
    while (!child.watch(kSlice, stop())) report_samples(child, job.name);
    Json json = child.result();
    fs::remove_all(folder);
    if (json.value("status", "") == "interrupted") return;
    if (!json["reason"].is_null() || json.value("status", "") == "diverged" ||
        !json["objective"].is_number()) {
      warning(fmt::format("{}: {}: {}; there is no f* to compare with", job.name,
                          json.value("status", "failed"),
                          json["reason"].is_string() ? json["reason"].get<std::string>() : "no optimum"));
      return;
    }
    json.erase("reason");
    json["time_limit"] = job.time_limit;
    json["reference_gap"] = config_.reference_gap;
    json["dataset"] = data.name;
    json["source_digest"] = digests_.source(data);
    json["program_digest"] = digests_.program();
    json["provenance"] = full_provenance();
    write_json(file, json);
    references_made_ = true;
    reference_ = Reference::from(json);
    message(fmt::format("{}: f* = {}, proven to {:.1e} (relative), nnz {}, {} after {:.1f} s", job.name,
                        reference_->objective, reference_->slack(lambda) / reference_->objective,
                        json["nnz"].get<std::uint64_t>(), reference_->status, json["seconds"].get<double>()));
    warn_if_loose(data, lambda);
  }

  void warn_if_loose(const DataConfig& data, double lambda) const {
    if (std::isnan(reference_->relative_kkt) && reference_->relative_gap() > config_.reference_gap)
      warning(fmt::format("reference of {} at {}: proven to a relative gap of {:.1e}, asked for {:g} ({})",
                          data.name, Penalty{lambda, config_.mu}.text(), reference_->relative_gap(),
                          config_.reference_gap, reference_->status));
    if (reference_->relative_kkt > config_.reference_tol)
      warning(fmt::format(
          "reference of {} at {}: kkt is {:.1e} of its start, asked for {:g} ({}); f* may be up "
          "to {:.1e} (relative) too high",
          data.name, Penalty{lambda, config_.mu}.text(), reference_->relative_kkt, config_.reference_tol,
          reference_->status, reference_->slack(lambda) / reference_->objective));
  }

  // ---- runs

  /// The cells of a block, [from, to) of states_, that have to be run. Interleaved: one repetition after the
  /// other, the solvers of each in an order drawn from the seed, so that no solver is always first and a slow
  /// spell of the machine hits all alike. A resumed sweep keeps the order, since every cell is drawn for.
  std::vector<const CellState*> missing_in_order(std::size_t from, std::size_t to) const {
    Random random(config_.seed + from);
    std::map<std::tuple<int, std::uint64_t, std::size_t>, const CellState*> drawn;
    for (std::size_t i = from; i < to; ++i) {
      const bool grid = config_.order == "grid";
      const int round = grid ? 0 : states_[i].cell.repetition;
      const std::uint64_t place = grid ? i : random.next();
      if (!states_[i].stored) drawn.emplace(std::tuple{round, place, i}, &states_[i]);
    }
    std::vector<const CellState*> out;
    for (const auto& [place, cell] : drawn) out.push_back(cell);
    return out;
  }

  struct Active {
    const CellState* state;
    fs::path folder;
    std::size_t slot;
    std::unique_ptr<JobProcess> child;
    Json now;
  };

  void run_cells(const std::vector<const CellState*>& cells) {
    std::size_t next = 0;
    std::vector<Active> active;
    while (!active.empty() || (next < cells.size() && !stop())) {
      while (next < cells.size() && !stop() && static_cast<int>(active.size()) < options_.jobs)
        active.push_back(start(*cells[next++], active));
      for (auto run = active.begin(); run != active.end();) {
        const bool ended = run->child->watch(kSlice / static_cast<int>(active.size()), stop());
        report_samples(*run->child, progress_name(*run));
        if (!ended) {
          ++run;
          continue;
        }
        finish(*run);
        run = active.erase(run);
      }
    }
  }

  Active start(const CellState& state, const std::vector<Active>& active) {
    Active run{&state, start_folder(out_ / "runs" / state.cell.name()), 0, nullptr, provenance_now()};
    while (std::any_of(active.begin(), active.end(),
                       [&](const Active& other) { return other.slot == run.slot; }))
      ++run.slot;
    RunParameters job = run_job(config_, state.cell);
    if (config_.stop_at > 0)
      job.objective_target = reference_->objective + config_.stop_at * std::abs(reference_->objective);
    ++started_;
    message(fmt::format("[{}/{}{}] {}", started_, total_, time_left(0.0), state.cell.name()));
    run.child =
        std::make_unique<JobProcess>(job, run.folder, process_settings(run.slot), limits(job.time_limit));
    return run;
  }

  std::string progress_name(const Active& run) const {
    return fmt::format("[{}/{}{}] {}", started_, total_, time_left(run.child->seconds()),
                       run.state->cell.name());
  }

  /// ", about 3 min left" once something is known of how long runs take; `elapsed`: of the run at hand.
  std::string time_left(double elapsed) const {
    double known = 0.0;
    std::size_t unknown = 0;
    for (const CellState& state : states_) {
      if (state.stored || finished_.contains(state.cell.name())) continue;
      if (std::isnan(state.wall_seconds))
        ++unknown;
      else
        known += state.wall_seconds;
    }
    if (unknown > 0 && finished_.empty()) return "";
    const double mean = finished_.empty()
                            ? 0.0
                            : std::accumulate(finished_.begin(), finished_.end(), 0.0,
                                              [](double sum, const auto& run) { return sum + run.second; }) /
                                  static_cast<double>(finished_.size());
    return fmt::format(
        ", about {} left",
        duration_text(std::max(0.0, known + mean * static_cast<double>(unknown) - elapsed) / options_.jobs));
  }

  void finish(Active& run) {
    const PlannedRun& cell = run.state->cell;
    const std::string name = cell.name();
    repair_trace(run.folder / "trace.csv");
    Json manifest = child_manifest(*run.state, run);
    const double wall = run.child->seconds();
    manifest["timing"]["wall_seconds"] = wall;
    finished_[name] = wall;
    if (manifest["status"] == "interrupted" && complete_run_stored(name)) {
      fs::remove_all(run.folder);  // what is there says more
      return;
    }
    store(run.folder, name, manifest);
    warn_about(cell, manifest);
  }

  bool complete_run_stored(const std::string& name) const {
    const Json stored = json_of(out_ / "runs" / name / "manifest.json");
    return stored.is_object() && !failed_status(stored.value("status", "failed"));
  }

  Json child_manifest(const CellState& state, const Active& run) {
    Json result = run.child->result();
    Json timing = result.value("timing", Json::object());
    const bool comparable = options_.jobs == 1;
    timing["wall_seconds"] = nullptr;
    timing["comparable"] = comparable;
    timing["not_comparable_because"] = nullptr;
    if (!comparable)
      timing["not_comparable_because"] = fmt::format("{} runs were made at a time", options_.jobs);
    const ProcessSettings settings = process_settings(run.slot);
    timing["cpus"] = settings.cpus.empty() ? cpus_ : settings.cpus;
    timing["memory_nodes"] = settings.memory_nodes;
    timing["environment"] = settings.environment;
    result.erase("timing");
    Json manifest = base_manifest(state, result);
    add_missing(manifest, run.folder / "trace.csv");
    manifest["timing"] = timing;
    manifest["key"] = state.key.to_json();
    manifest["provenance"] = full_provenance(run.now);
    return manifest;
  }

  /// The result of a run, with what it was asked for under "run".
  Json base_manifest(const CellState& state, const Json& result) const {
    Json manifest = result;
    const PlannedRun& cell = state.cell;
    const RunParameters job = run_job(config_, cell);
    manifest.update(summary_parameters(job));
    Json& run = manifest["run"];
    run = parameters_json(job);
    run["data_digest"] = data_.value("data_digest", "");
    run["description"] = data_.value("description", "");
    for (const char* key : {"reference_objective", "reference_kkt", "reference_gap", "kkt_at_zero"})
      run[key] = nullptr;
    if (reference_) {
      run["reference_objective"] = reference_->objective;
      run["reference_kkt"] = number_json(reference_->relative_kkt);
      run["reference_gap"] = number_json(reference_->relative_gap());
      run["kkt_at_zero"] = number_json(reference_->kkt_at_zero);
    }
    return manifest;
  }

  /// What a run that failed cannot tell of itself: its data's facts, and where its trace ended.
  void add_missing(Json& manifest, const fs::path& trace) const {
    for (const char* key : {"data_digest", "d", "instances", "positions"})
      if (!manifest.contains(key) && data_.contains(key)) manifest[key] = data_[key];
    if (!manifest.contains("objective")) add_last_sample(manifest, trace);
  }

  void skip(const std::vector<const CellState*>& cells, const std::string& status,
            const std::string& reason) {
    for (const CellState* state : cells) {
      const std::string name = state->cell.name();
      ++started_;
      const fs::path folder = start_folder(out_ / "runs" / name);
      repair_trace(folder / "trace.csv");
      Json manifest = base_manifest(*state, {{"status", status}, {"reason", reason}});
      add_missing(manifest, folder / "trace.csv");
      manifest["timing"] = {
          {"wall_seconds", nullptr}, {"comparable", true}, {"not_comparable_because", nullptr}};
      manifest["key"] = state->key.to_json();
      manifest["provenance"] = full_provenance();
      finished_[name] = 0.0;
      store(folder, name, manifest);
      warn_about(state->cell, manifest);
    }
  }

  void store(const fs::path& folder, const std::string& name, const Json& manifest) {
    fs::remove(folder / kResultFile);
    if (text_of(folder / "log.txt").empty()) fs::remove(folder / "log.txt");
    write_json(folder / "manifest.json", manifest);
    publish(folder, out_ / "runs" / name);
    index_run(out_, out_ / "runs" / name);
    ++result_.done;
  }

  void warn_about(const PlannedRun& cell, const Json& manifest) {
    const std::string name = cell.name(), status = manifest.value("status", "failed");
    const std::string reason = manifest["reason"].is_string() ? manifest["reason"].get<std::string>() : "";
    if (failed_status(status) && status != kDoesNotFit) ++result_.failed;
    if (failed_status(status) || !reason.empty())
      warning(fmt::format("{}: {}{}{}", name, status, reason.empty() ? "" : ": ", reason));
    if (status == "diverged") warning(name + ": diverged, so no model is stored");
    if (!reference_ || !manifest["objective"].is_number()) return;
    const double below = reference_->objective - manifest["objective"].get<double>();
    if (!(below > kRounding * std::abs(reference_->objective))) return;
    const double slack = reference_->slack(cell.lambda);
    warning(fmt::format(
        "{}: ends {:.1e} (relative) below f* = {}, {}", name, below / reference_->objective,
        reference_->objective,
        below <= slack
            ? "within what is proven of f*: smaller reference_tol and reference_gap give a better f*"
            : "MORE than is proven of f*: one of both is wrong"));
  }

  // ---- processes

  JobLimits limits(double time_limit) const {
    const double automatic = time_limit > 0 ? 60.0 + 3.0 * time_limit : 0.0;
    return {std::isnan(config_.wall_limit) ? automatic : config_.wall_limit, config_.kill_grace};
  }

  /// `slot`: which of the runs that are made at a time.
  ProcessSettings process_settings(std::size_t slot) const {
    ProcessSettings settings;
    settings.memory_limit = static_cast<std::uint64_t>(config_.memory_limit * 1024 * 1024);
    const auto threads = static_cast<std::size_t>(threads_);
    if (config_.pin && threads * static_cast<std::size_t>(options_.jobs) <= cpus_.size())
      pin(settings, cpus_, slot * threads, threads, config_.backend);
    return settings;
  }

  void report_samples(JobProcess& child, const std::string& name) const {
    if (!hooks_.on_sample) return;
    const std::vector<Sample> samples = child.new_samples();
    if (!samples.empty()) hooks_.on_sample(name, samples.back());
  }

  Json full_provenance() const { return full_provenance(provenance_now()); }
  Json full_provenance(const Json& now) const {
    Json out = provenance_;
    out.update(now);
    return out;
  }

  /// How long a process is watched before its trace is looked at again.
  static constexpr std::chrono::milliseconds kSlice{500};

  const ExperimentConfig& config_;
  const fs::path& out_;
  const SweepOptions& options_;
  const SweepHooks& hooks_;
  OutLock lock_;
  Digests digests_;
  Json provenance_;
  std::vector<int> cpus_;
  int threads_;  ///< of a run
  std::vector<CellState> states_;
  Json data_;                           ///< what describe() found of the data set at hand
  std::optional<Reference> reference_;  ///< of the data set and lambda at hand
  bool references_made_ = false;
  std::size_t total_ = 0, started_ = 0;
  std::map<std::string, double> finished_;  ///< wall seconds of the runs of this sweep
  SweepResult result_;
};

}  // namespace

SweepResult run_sweep(const ExperimentConfig& config, const fs::path& out, const SweepOptions& options,
                      const SweepHooks& hooks) {
  prepare_out(out);
  return Sweep(config, out, options, hooks).run();
}

}  // namespace proxbench
