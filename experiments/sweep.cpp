#include "experiments/sweep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/random.h"
#include "experiments/job.h"
#include "experiments/process.h"
#include "experiments/provenance.h"
#include "experiments/results.h"
#include "experiments/store.h"
#include "experiments/trainer.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

/// Relative differences of F this small are rounding of its sums.
constexpr double kRounding = 1e-10;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// ---- files

/// Empty where the file cannot be read.
std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

/// Null where the file is missing or is no JSON.
Json json_of(const fs::path& file) {
  return Json::parse(text_of(file), nullptr, /*allow_exceptions=*/false).is_discarded()
             ? Json()
             : Json::parse(text_of(file));
}

void write_json(const fs::path& file, const Json& json) {
  write_file_atomically(file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

/// The last line that says something.
std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return "";
  const std::size_t before = text.find_last_of('\n', end);
  return text.substr(before == std::string::npos ? 0 : before + 1,
                     end - (before == std::string::npos ? 0 : before + 1) + 1);
}

/// `proxbench-worker` stands beside the program that is running.
fs::path worker_program() {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  const fs::path worker = self.parent_path() / "proxbench-worker";
  if (failure || ::access(worker.c_str(), X_OK) != 0)
    throw Error(worker.string() + ": not there or not a program; it is built and installed with proxbench");
  return worker;
}

/// OUT is one sweep's at a time. The lock goes with the process, however that ends.
class Lock {
 public:
  explicit Lock(const fs::path& out)
      : descriptor_(::open((out / ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0) throw Error((out / ".lock").string() + ": cannot be opened");
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      ::close(descriptor_);
      throw Error(out.string() + ": another `proxbench run` works in this folder");
    }
  }
  ~Lock() { ::close(descriptor_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

// Names of what is on its way, in OUT/runs: ".NAME.PID.new" until a run is complete, ".NAME.PID.old" while a
// complete one takes its place.
constexpr const char* kNew = ".new";
constexpr const char* kOld = ".old";

fs::path hidden(const fs::path& folder, const char* suffix) {
  return folder.parent_path() / fmt::format(".{}.{}{}", folder.filename().string(), getpid(), suffix);
}

/// "NAME" of ".NAME.PID.SUFFIX"; empty where it is no such name.
std::string hidden_name(const std::string& file) {
  if (!file.starts_with('.') || !(file.ends_with(kNew) || file.ends_with(kOld))) return "";
  const std::string middle = file.substr(1, file.size() - 5);
  const std::size_t dot = middle.find_last_of('.');
  return dot == std::string::npos ? "" : middle.substr(0, dot);
}

/// By rename, so that a run is there as a whole or not at all.
void publish(const fs::path& complete, const fs::path& folder) {
  const fs::path old = hidden(folder, kOld);
  fs::remove_all(old);
  if (fs::exists(folder)) fs::rename(folder, old);
  fs::rename(complete, folder);
  fs::remove_all(old);
}

/// Removes what write_file_atomically() had begun when its process was killed.
void remove_temporary_files(const fs::path& out) {
  for (const fs::path& folder : {out, out / "references", out / "figures", out / "tables"})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && name.starts_with('.') && name.find(".tmp-") != std::string::npos)
        fs::remove(entry.path());
    }
}

/// Ends what a sweep that was killed had begun: a run that was complete takes its place, an old one whose
/// successor never came gets it back, the rest is removed.
void recover(const fs::path& out) {
  remove_temporary_files(out);
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(out / "runs"))
    if (!hidden_name(entry.path().filename().string()).empty()) left.push_back(entry.path());
  std::sort(left.begin(), left.end());  // .new before .old of the same run
  for (const fs::path& path : left) {
    const fs::path folder = path.parent_path() / hidden_name(path.filename().string());
    const bool complete = fs::exists(path / "manifest.json");
    if (complete && (path.extension() == kNew || !fs::exists(folder)))
      publish(path, folder);
    else
      fs::remove_all(path);
  }
}

// ---- keys

int threads_of(const ExperimentConfig& config) {
  return resolved_threads(config.threads);
}

std::map<std::string, std::string> option_texts(const Options& options) {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : options.items()) out[key] = value;
  return out;
}

/// All of a job but what it does with the data.
Job data_job(const ExperimentConfig& config, const DataConfig& data) {
  Job job;
  job.name = data.name;
  job.format = data.format;
  job.decoding = config.decoding;
  job.data_options = option_texts(data.options);
  const auto absolute = [](const std::string& file) {
    return fs::absolute(file).lexically_normal().string();
  };
  for (const std::string& file : data.files.train) job.files.train.push_back(absolute(file));
  for (const std::string& file : data.files.test) job.files.test.push_back(absolute(file));
  if (!data.files.hierarchy.empty()) job.files.hierarchy = absolute(data.files.hierarchy);
  job.threads = threads_of(config);
  job.backend = backend_name(config.backend);
  job.mu = config.mu;
  job.sampling_budget = config.sampling_budget;
  job.warm_up = config.warm_up;
  return job;
}

Job run_job(const ExperimentConfig& config, const PlannedRun& cell) {
  Job job = data_job(config, *cell.data);
  job.name = cell.name();
  job.solver = cell.solver->solver;
  job.solver_options = option_texts(cell.solver->options);
  job.lambda = cell.lambda;
  job.tol = cell.solver->tol;
  job.time_limit = cell.solver->time_limit;
  job.max_iterations = cell.solver->max_iterations;
  job.sample_kkt = config.sample_kkt;
  job.seed = config.seed + static_cast<std::uint64_t>(cell.repetition) - 1;
  return job;
}

Job reference_job(const ExperimentConfig& config, const DataConfig& data, double lambda) {
  Job job = data_job(config, data);
  job.name = fmt::format("reference {}-lambda{}", data.name, lambda);
  const SolverInfo& solver = solver_registry().find("prox-qn");
  Options options(solver.options);
  options.set("memory", std::to_string(config.reference_memory));
  options.set("max_inner", std::to_string(config.reference_max_inner));
  job.solver = solver.name;
  job.solver_options = option_texts(options);
  job.lambda = lambda;
  job.tol = config.reference_tol;
  job.time_limit = config.reference_time_limit;
  job.seed = config.seed;
  job.warm_up = 0.0;
  return job;
}

double wall_limit_of(const ExperimentConfig& config, double time_limit) {
  if (!std::isnan(config.wall_limit)) return config.wall_limit;
  return time_limit > 0 ? 60.0 + 3.0 * time_limit : 0.0;
}

/// Digests of the files of data sets, each read once.
class Digests {
 public:
  explicit Digests(const ExperimentConfig& config)
      : program_(program_digest(worker_program(), data_job(config, config.data.front()).plugins)) {}
  const std::string& program() const { return program_; }
  const std::string& source(const ExperimentConfig& config, const DataConfig& data) {
    std::string& known = sources_[data.name];
    if (known.empty()) {
      const Job job = data_job(config, data);
      known = source_digest(job.format, job.files, job.data_options);
    }
    return known;
  }

 private:
  std::string program_;
  std::map<std::string, std::string> sources_;
};

/// What the manifest of a stored run says of whether it is the one that is asked for.
std::vector<std::string> reasons_to_run(const Json& manifest, const RunKey& key) {
  if (!manifest.is_object()) return {"missing"};
  const std::string status = manifest.value("status", "");
  std::vector<std::string> why;
  const auto text_at = [&](const char* name) {
    return manifest.contains(name) && manifest[name].is_string() ? manifest[name].get<std::string>() : "";
  };
  if (failed_status(status))
    why.push_back(fmt::format("failed before: {}", status));
  else if (const std::string reason = text_at("reason"); !reason.empty())
    why.push_back(fmt::format("not complete: {}", reason));
  const Json stored = manifest.value("key", Json());
  if (stored.is_object() && stored.value("digest", "") == key.digest()) return why;
  for (std::string& change : key.changes_from(stored)) why.push_back(std::move(change));
  return why;
}

double number_at(const Json& json, const char* outer, const char* key) {
  if (!json.is_object() || !json.contains(outer) || !json[outer].is_object()) return kNaN;
  const auto found = json[outer].find(key);
  return found != json[outer].end() && found->is_number() ? found->get<double>() : kNaN;
}

CellState inspect(const ExperimentConfig& config, const fs::path& out, const PlannedRun& cell,
                  const SweepOptions& options, Digests& digests) {
  const Job job = run_job(config, cell);
  CellState state{cell,
                  key_of(job, config.stop_at, digests.source(config, *cell.data), digests.program()),
                  false,
                  {},
                  kNaN};
  const Json manifest = json_of(out / "runs" / cell.name() / "manifest.json");
  state.why = reasons_to_run(manifest, state.key);
  if (state.why.empty() && options.force) state.why.emplace_back("forced");
  state.stored = state.why.empty();
  state.wall_seconds = number_at(manifest, "timing", "wall_seconds");
  if (std::isnan(state.wall_seconds) && job.time_limit > 0) state.wall_seconds = job.time_limit;
  return state;
}

// ---- references

/// f* of one (data, lambda, mu), as it is stored.
struct Reference {
  double objective, kkt, kkt_at_zero, relative_kkt, l1, tol, time_limit;
  std::string status;

  static Reference from(const Json& json) {
    const auto real = [&](const char* key) { return json.at(key).get<double>(); };
    return {real("objective"), real("kkt"), real("kkt_at_zero"), real("relative_kkt"),
            real("l1"),        real("tol"), real("time_limit"),  json.at("status").get<std::string>()};
  }
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

Reference read_reference(const fs::path& file) {
  try {
    return Reference::from(Json::parse(text_of(file)));
  } catch (const Json::exception& error) {
    throw Error::in_file(file.string(), 0, error.what(),
                         "a stored reference (delete the file to make it again)");
  }
}

// ---- one process

using Clock = std::chrono::steady_clock;  // of processes; what solvers are timed by is the monitor's

/// How often the kernel has killed a process for want of memory.
long oom_kills() {
  std::ifstream in("/proc/vmstat");
  std::string key;
  for (long value = 0; in >> key >> value;)
    if (key == "oom_kill") return value;
  return 0;
}

struct ChildLimits {
  double wall = 0.0, grace = 10.0;  ///< seconds
};

/// A job in a process of its own, working in a folder.
class Child {
 public:
  Child(const Job& job, const fs::path& folder, ProcessSettings settings, const ChildLimits& limits)
      : folder_(folder), limits_(limits), oom_kills_(oom_kills()), start_(Clock::now()) {
    write_json(folder / kJobFile, job.to_json());
    settings.command = {worker_program().string(), (folder / kJobFile).string(), folder.string()};
    settings.log = folder / "log.txt";
    process_ = std::make_unique<Process>(settings);
  }

  /// Watches it for so long at most; true once it has ended. Asks it to stop where `interrupt` is set or its
  /// wall time is over, and kills it where it does not within the grace.
  bool watch(std::chrono::milliseconds slice, bool interrupt) {
    if (process_->wait_for(slice)) return true;
    if (!asked_ && interrupt) ask_to_stop(Asked::kByUser);
    if (!asked_ && limits_.wall > 0 && seconds() >= limits_.wall) ask_to_stop(Asked::kByLimit);
    if (asked_ && !killed_ && seconds() - asked_at_ >= limits_.grace) {
      process_->send(SIGKILL);
      killed_ = true;
    }
    return false;
  }

  /// Samples that have been added to its trace since the last call.
  std::vector<Sample> new_samples() {
    std::vector<Sample> out;
    std::ifstream in(folder_ / "trace.csv", std::ios::binary);
    in.seekg(read_);
    for (std::string line; std::getline(in, line) && !in.eof();) {
      read_ += static_cast<std::streamoff>(line.size()) + 1;
      if (trace_lines_++ > 0) out.push_back(parse_trace_line(line, folder_ / "trace.csv", trace_lines_));
    }
    return out;
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  /// After its end: result.json, with "status", "reason" and "peak_rss_bytes" whatever became of it.
  Json result() const {
    Json json = json_of(folder_ / kResultFile);
    if (!json.is_object()) json = Json::object();
    const ProcessEnd& end = process_->end();
    json["reason"] = nullptr;
    if (end.signal != 0)
      set_killed(json);
    else if (end.exit_status == kOutOfMemoryStatus)
      set(json, "out-of-memory", "memory ran out");
    else if (end.exit_status != 0)
      set(json, "failed", failure());
    else if (asked_ == Asked::kByLimit && json.value("status", "") == "interrupted")
      set(json, "time-limit", fmt::format("asked to stop after {:g} s of wall time", limits_.wall));
    if (!json.contains("peak_rss_bytes") || json["peak_rss_bytes"].is_null())
      json["peak_rss_bytes"] = end.peak_rss_bytes;
    return json;
  }

 private:
  enum class Asked { kByUser, kByLimit };

  void ask_to_stop(Asked by) {
    process_->send(SIGTERM);
    asked_ = by;
    asked_at_ = seconds();
  }
  static void set(Json& json, const std::string& status, const std::string& reason) {
    json["status"] = status;
    json["reason"] = reason;
  }
  void set_killed(Json& json) const {
    const int signal = process_->end().signal;
    if (asked_ == Asked::kByLimit && (killed_ || signal == SIGTERM))
      set(json, "time-limit",
          fmt::format("killed: did not stop within {:g} s of being asked to, after {:g} s of wall time",
                      limits_.grace, limits_.wall));
    else if (asked_ == Asked::kByUser && (killed_ || signal == SIGTERM))
      set(json, "interrupted", "killed: did not stop when asked to");
    else if (signal == SIGKILL && oom_kills() > oom_kills_)
      set(json, "out-of-memory", "killed by the kernel for want of memory");
    else
      set(json, fmt::format("crashed({})", signal_name(signal)), last_line(text_of(folder_ / "log.txt")));
    if (json["reason"] == "") json["reason"] = "ended by " + signal_name(signal);
  }
  std::string failure() const {
    const Json json = json_of(folder_ / kResultFile);
    if (json.is_object() && json.contains("reason") && json["reason"].is_string())
      return json["reason"].get<std::string>();
    const std::string line = last_line(text_of(folder_ / "log.txt"));
    return line.empty() ? fmt::format("exit status {}", process_->end().exit_status) : line;
  }

  fs::path folder_;
  ChildLimits limits_;
  long oom_kills_;
  Clock::time_point start_;
  std::unique_ptr<Process> process_;
  std::optional<Asked> asked_;
  double asked_at_ = 0.0;
  bool killed_ = false;
  std::streamoff read_ = 0;
  std::uint64_t trace_lines_ = 0;
};

/// Ends the trace of a killed run after its last whole line, and gives it a header where it has none.
void repair_trace(const fs::path& file) {
  std::string text = text_of(file);
  const std::size_t end = text.find_last_of('\n');
  const std::string whole = end == std::string::npos ? trace_header() + "\n" : text.substr(0, end + 1);
  if (whole != text) write_file_atomically(file, whole);
}

/// What the last sample says, under the keys of DESIGN section 5, where a run has no result of its own.
void add_last_sample(Json& manifest, const fs::path& trace_file) {
  static constexpr const char* kKeys[] = {
      "objective",   "loss",          "l1",           "nnz",        "kkt",       "relative_kkt",
      "dual",        "gap",           "relative_gap", "iterations", "passes",    "seconds",
      "cpu_seconds", "test_accuracy", "data_digest",  "d",          "instances", "positions"};
  for (const char* key : kKeys)
    if (!manifest.contains(key)) manifest[key] = nullptr;
  const std::vector<Sample> trace = read_trace(trace_file);
  if (trace.empty()) return;
  const Sample& last = trace.back();
  manifest["objective"] = last.objective;
  manifest["loss"] = last.loss;
  manifest["nnz"] = last.nnz;
  manifest["iterations"] = last.iteration;
  manifest["passes"] = last.passes;
  manifest["seconds"] = last.seconds;
  manifest["cpu_seconds"] = last.cpu_seconds;
}

// ---- the sweep

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
        cpus_(usable_cpus()) {}

  SweepResult run() {
    recover(out_);
    const std::vector<PlannedRun> plan = plan_runs(config_);
    for (const PlannedRun& cell : plan) states_.push_back(inspect(config_, out_, cell, options_, digests_));
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
    for (const CellState& state : states_)
      if (!state.stored) detail(fmt::format("{}: {}", state.cell.name(), fmt::join(state.why, "; ")));
    if (total_ == 0) return;
    for (const std::string& hazard : timing_hazards(threads_of(config_), options_.jobs))
      warning("timings: " + hazard);
    if (config_.pin && threads_of(config_) * options_.jobs > static_cast<int>(cpus_.size()))
      warning(fmt::format("{} runs of {} threads cannot be bound to {} CPUs, so they are not", options_.jobs,
                          threads_of(config_), cpus_.size()));
  }

  /// All cells of one data set, [begin, end) of states_.
  void run_data_set(std::size_t begin, std::size_t end) {
    const DataConfig& data = *states_[begin].cell.data;
    data_ = nullptr;
    for (std::size_t from = begin, to = begin; from < end && !stop(); from = to) {
      while (to < end && states_[to].cell.lambda == states_[from].cell.lambda) ++to;
      const double lambda = states_[from].cell.lambda;
      std::vector<const CellState*> missing;
      for (std::size_t i = from; i < to; ++i)
        if (!states_[i].stored) missing.push_back(&states_[i]);
      const bool has_reference = !options_.force && find_reference(data, lambda);
      if (missing.empty() && has_reference) continue;
      if (data_.is_null()) describe(data);
      if (stop()) return;
      if (data_.contains("reason")) {
        skip(missing, "the data cannot be read", data_["reason"].get<std::string>());
        continue;
      }
      set_reference(data, lambda);
      if (stop()) return;
      if (!reference_ && config_.stop_at > 0)
        skip(missing, "no f* to stop at", "the reference run failed");
      else
        run_cells(ordered(missing));
    }
  }

  /// Reads the data once in a process of its own, to learn what they are: data_, with "reason" where they
  /// cannot be read.
  void describe(const DataConfig& data) {
    message("reading data set " + data.name);
    const fs::path folder = start_folder(out_ / "runs" / ("data-" + data.name));
    Child child(data_job(config_, data), folder, process_settings(0), {0.0, config_.kill_grace});
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

  /// Whether a reference that serves is stored for these data files; found without reading them as data.
  bool find_reference(const DataConfig& data, double lambda) {
    for (const fs::directory_entry& entry : fs::directory_iterator(out_ / "references")) {
      if (entry.path().extension() != ".json" || entry.path().filename().string().starts_with('.')) continue;
      const Json json = json_of(entry.path());
      if (!json.is_object() || json.value("source_digest", "") != digests_.source(config_, data) ||
          json.value("program_digest", "") != digests_.program() || json.value("lambda", kNaN) != lambda ||
          json.value("mu", kNaN) != config_.mu)
        continue;
      return read_reference(entry.path()).serves(config_.reference_tol, config_.reference_time_limit);
    }
    return false;
  }

  /// reference_: a stored one that serves, or a new one; none where that fails.
  void set_reference(const DataConfig& data, double lambda) {
    reference_.reset();
    const fs::path file =
        reference_file(out_, data_.at("data_digest").get<std::string>(), lambda, config_.mu);
    if (std::error_code ignored; !options_.force && fs::exists(file, ignored)) {
      const Reference stored = read_reference(file);
      if (stored.serves(config_.reference_tol, config_.reference_time_limit)) {
        message(fmt::format("reusing f* = {} from {}", stored.objective, file.string()));
        reference_ = stored;
        warn_if_loose(data, lambda);
        return;
      }
    }
    make_reference(data, lambda, file);
  }

  void make_reference(const DataConfig& data, double lambda, const fs::path& file) {
    const Job job = reference_job(config_, data, lambda);
    message(fmt::format("{}: prox-qn to kkt <= {:g} of its start", job.name, job.tol));
    const fs::path folder = start_folder(out_ / "runs" / ("reference-" + data.name));
    Child child(job, folder, process_settings(0), limits(job.time_limit));
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
    json["dataset"] = data.name;
    json["source_digest"] = digests_.source(config_, data);
    json["program_digest"] = digests_.program();
    json["provenance"] = full_provenance();
    write_json(file, json);
    references_made_ = true;
    reference_ = Reference::from(json);
    message(fmt::format("{}: f* = {}, nnz {}, {} after {:.1f} s", job.name, reference_->objective,
                        json["nnz"].get<std::uint64_t>(), reference_->status, json["seconds"].get<double>()));
    warn_if_loose(data, lambda);
  }

  void warn_if_loose(const DataConfig& data, double lambda) const {
    if (reference_->relative_kkt > config_.reference_tol)
      warning(fmt::format(
          "reference of {} at lambda = {}: kkt is {:.1e} of its start, asked for {:g} ({}); f* may be up "
          "to {:.1e} (relative) too high",
          data.name, lambda, reference_->relative_kkt, config_.reference_tol, reference_->status,
          reference_->slack(lambda) / reference_->objective));
  }

  // ---- runs

  /// Interleaved: one repetition after the other, the solvers of each in an order drawn from the seed, so
  /// that no solver is always first and a slow spell of the machine hits all alike.
  std::vector<const CellState*> ordered(std::vector<const CellState*> cells) const {
    if (config_.order == "grid") return cells;
    Random random(config_.seed);
    std::map<std::pair<int, std::uint64_t>, const CellState*> drawn;
    // Drawn for the whole grid of the block, so that a resumed sweep keeps the order.
    for (const CellState* cell : cells) drawn.emplace(std::pair{cell->cell.repetition, random.next()}, cell);
    std::vector<const CellState*> out;
    for (const auto& [place, cell] : drawn) out.push_back(cell);
    return out;
  }

  struct Active {
    const CellState* state;
    fs::path folder;
    std::size_t slot;
    std::unique_ptr<Child> child;
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
    Job job = run_job(config_, state.cell);
    if (config_.stop_at > 0)
      job.objective_target = reference_->objective + config_.stop_at * std::abs(reference_->objective);
    ++started_;
    message(fmt::format("[{}/{}] {}{}", started_, total_, state.cell.name(), time_left()));
    run.child = std::make_unique<Child>(job, run.folder, process_settings(run.slot), limits(job.time_limit));
    return run;
  }

  std::string progress_name(const Active& run) const {
    return fmt::format("[{}/{}] {}", started_, total_, run.state->cell.name());
  }

  /// ", about 3 min left" once something is known of how long runs take.
  std::string time_left() const {
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
    return fmt::format(", about {} left",
                       duration_text((known + mean * static_cast<double>(unknown)) / options_.jobs));
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
    timing["cpus"] = result.contains("process") ? result["process"]["cpus"] : Json();
    timing["environment"] = process_settings(run.slot).environment;
    result.erase("process");
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
    const Job job = run_job(config_, cell);
    manifest["solver"] = job.solver;
    manifest["lambda"] = job.lambda;
    manifest["mu"] = job.mu;
    manifest["threads"] = job.threads;
    manifest["backend"] = job.backend;
    manifest["run"] = {{"experiment", config_.name},
                       {"dataset", cell.data->name},
                       {"lambda", cell.lambda},
                       {"solver", job.solver},
                       {"label", cell.solver->label},
                       {"repetition", cell.repetition},
                       {"seed", job.seed},
                       {"options", options_json(cell.solver->options)},
                       {"data_digest", data_.value("data_digest", "")},
                       {"description", data_.value("description", "")},
                       {"reference_objective", nullptr},
                       {"reference_kkt", nullptr},
                       {"kkt_at_zero", nullptr},
                       {"time_limit", job.time_limit},
                       {"max_iterations", job.max_iterations}};
    if (reference_) {
      manifest["run"]["reference_objective"] = reference_->objective;
      manifest["run"]["reference_kkt"] = reference_->relative_kkt;
      manifest["run"]["kkt_at_zero"] = reference_->kkt_at_zero;
    }
    return manifest;
  }

  /// What a run that failed cannot tell of itself: its data's facts, and where its trace ended.
  void add_missing(Json& manifest, const fs::path& trace) const {
    for (const char* key : {"data_digest", "d", "instances", "positions"})
      if (!manifest.contains(key) && data_.contains(key)) manifest[key] = data_[key];
    if (!manifest.contains("objective")) add_last_sample(manifest, trace);
  }

  void skip(const std::vector<const CellState*>& cells, const std::string& why, const std::string& reason) {
    for (const CellState* state : cells) {
      const std::string name = state->cell.name();
      ++started_;
      const fs::path folder = start_folder(out_ / "runs" / name);
      repair_trace(folder / "trace.csv");
      Json manifest =
          base_manifest(*state, {{"status", fmt::format("skipped({})", why)}, {"reason", reason}});
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
    if (failed_status(status)) ++result_.failed;
    if (failed_status(status) || !reason.empty()) warning(fmt::format("{}: {}: {}", name, status, reason));
    if (status == "diverged") warning(name + ": diverged, so no model is stored");
    if (!reference_ || !manifest["objective"].is_number()) return;
    const double below = reference_->objective - manifest["objective"].get<double>();
    if (!(below > kRounding * std::abs(reference_->objective))) return;
    const double slack = reference_->slack(cell.lambda);
    warning(fmt::format(
        "{}: ends {:.1e} (relative) below f* = {}, {}", name, below / reference_->objective,
        reference_->objective,
        below <= slack ? "within what the reference's kkt allows: a smaller reference_tol gives a better f*"
                       : "MORE than the reference's kkt allows: one of both is wrong"));
  }

  // ---- processes

  /// An empty folder on its way to be this one.
  static fs::path start_folder(const fs::path& folder) {
    const fs::path temporary = hidden(folder, kNew);
    fs::remove_all(temporary);
    make_folder(temporary);
    return temporary;
  }

  ChildLimits limits(double time_limit) const {
    return {wall_limit_of(config_, time_limit), config_.kill_grace};
  }

  /// `slot`: which of the runs that are made at a time.
  ProcessSettings process_settings(std::size_t slot) const {
    ProcessSettings settings;
    settings.memory_limit = static_cast<std::uint64_t>(config_.memory_limit * 1024 * 1024);
    const auto threads = static_cast<std::size_t>(threads_of(config_));
    if (config_.pin && threads * static_cast<std::size_t>(options_.jobs) <= cpus_.size()) {
      const auto first = cpus_.begin() + static_cast<std::ptrdiff_t>(slot * threads);
      settings.cpus.assign(first, first + static_cast<std::ptrdiff_t>(threads));
      settings.environment = {"OMP_PROC_BIND=true", "OMP_PLACES=threads"};
    }
    return settings;
  }

  void report_samples(Child& child, const std::string& name) const {
    if (!hooks_.on_sample) return;
    for (const Sample& sample : child.new_samples()) hooks_.on_sample(name, sample);
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
  Lock lock_;
  Digests digests_;
  Json provenance_;
  std::vector<int> cpus_;
  std::vector<CellState> states_;
  Json data_;                           ///< what describe() found of the data set at hand
  std::optional<Reference> reference_;  ///< of the data set and lambda at hand
  bool references_made_ = false;
  std::size_t total_ = 0, started_ = 0;
  std::map<std::string, double> finished_;  ///< wall seconds of the runs of this sweep
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

std::vector<CellState> inspect_cells(const ExperimentConfig& config, const fs::path& out,
                                     const SweepOptions& options) {
  Digests digests(config);
  std::vector<CellState> states;
  for (const PlannedRun& cell : plan_runs(config))
    states.push_back(inspect(config, out, cell, options, digests));
  return states;
}

void prepare_out(const fs::path& out) {
  for (const char* folder : {"runs", "references", "figures", "tables"}) {
    make_folder(out / folder);
    const fs::path probe = out / folder / ".probe";
    write_file_atomically(probe, "");
    fs::remove(probe);
  }
}

SweepResult run_sweep(const ExperimentConfig& config, const fs::path& out, const SweepOptions& options,
                      const SweepHooks& hooks) {
  prepare_out(out);
  return Sweep(config, out, options, hooks).run();
}

}  // namespace proxbench
