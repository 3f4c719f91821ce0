#include "experiments/run/external.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>

#include "core/base/numbers.h"
#include "experiments/base/files.h"
#include "experiments/base/process.h"
#include "experiments/base/text.h"
#include "experiments/data/convert.h"
#include "experiments/data/model_weights.h"
#include "experiments/run/adapter.h"

namespace proxbench {
namespace {

/// Differences between the seconds of two processes below this are noise.
constexpr double kFinest = 1e-3;
/// A certified relative gap above this means that the point is no optimum of F, whatever a trainer says.
constexpr double kNoOptimum = 1e-3;
/// Rounding errors exceed stopping tolerances below this.
constexpr double kLeastTolerance = 1e-15;

/// One run of the trainer.
struct TrainerRun {
  double wall_seconds = 0.0;
  ProcessEnd end;
  std::uint64_t peak_rss_bytes = 0;
  bool out_of_time = false, interrupted = false;
};

/// Returns a number that an adapter reports about a model. NaN: it does not report it.
double fact_of(const Model& model, const char* key) {
  const auto found = model.header.find(key);
  double value = kNaN;
  return found != model.header.end() && parse_real(found->second, value) ? value : kNaN;
}

class ExternalTraining {
 public:
  ExternalTraining(const LoadedData& data, const RunParameters& job, const fs::path& folder,
                   const RunHooks& hooks)
      : data_(data),
        job_(job),
        hooks_(hooks),
        trainer_(find_trainer(job.solver_options)),
        scratch_(fs::absolute(folder) / "trainer"),
        evaluator_(data.objective(job.penalty, job.loss)) {
    if (!trainer_.missing.empty()) throw TrainerMismatch(trainer_.missing);
    algorithm_ = algorithm_of(trainer_, job);
    begin_counting(outcome_);
    outcome_.parameters = job;
    outcome_.trainer = trainer_title(job);
    if (trainer_.algorithms.size() > 1) outcome_.trainer += ", " + algorithm_;
  }

  RunOutcome run() {
    outcome_.kkt_at_zero = kkt_at_zero(evaluator_);
    convert_data();
    double stop = limited(trainer_.start_stop);
    if (goes_on(train(stop))) {  // the first run only fills the page cache
      for (bool more = true; more; stop = next(stop)) more = make_point(stop);
    }
    finish();
    return std::move(outcome_);
  }

 private:
  // ---- data

  void convert_data() {
    const double began = wall_seconds();
    const Dataset& train = data_.train();
    std::string structure = data_.oracle_name();
    if (structure == "tree" && train.hierarchy == nullptr)
      structure = train.outputs() == 2 ? "binary" : "multiclass";
    if (!contains(trainer_.structures, structure))
      throw TrainerMismatch(fmt::format("{}: found data for '{}', expected: {}", trainer_.name, structure,
                                        fmt::join(trainer_.structures, ", ")));
    std::string why;
    for (const std::string& format : trainer_.formats) {
      try {
        files_ = convert(train, format, scratch_.path / ("data." + format));
        format_ = format;
        outcome_.notes["convert_seconds"] = wall_seconds() - began;
        return;
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::kRun) throw;
        why += (why.empty() ? "" : "; ") + std::string(error.what());
      }
    }
    throw TrainerMismatch(why);
  }

  // ---- stops

  double limited(double stop) const {
    const bool capped = trainer_.by_iterations && job_.max_iterations > 0;
    return capped ? std::min(stop, static_cast<double>(job_.max_iterations)) : stop;
  }

  double next(double stop) const {
    if (stop == trainer_.start_stop) return limited(trainer_.first_stop);
    if (!trainer_.by_iterations) return stop * trainer_.growth;
    return limited(std::max(std::ceil(stop * trainer_.growth), stop + 1.0));
  }

  // ---- one run of the trainer

  /// Seconds after which the trainer's process is stopped; 0: never. The time limit excludes the time until
  /// the first iteration, which is unknown before the run with the smallest stop.
  double process_limit() const {
    if (job_.time_limit == 0.0) return 0.0;
    return std::isnan(start_seconds_) ? 60.0 + 3.0 * job_.time_limit : start_seconds_ + job_.time_limit;
  }

  void write_job(double stop) const {
    nlohmann::ordered_json job{{"program", trainer_.program.string()},
                               {"algorithm", algorithm_},
                               {"format", format_},
                               {"train", files_.data.string()},
                               {"names", files_.names.string()},
                               {"template", files_.template_file.string()},
                               {"model", model_file().string()},
                               {"log", log_file().string()},
                               {"lambda", job_.penalty.lambda},
                               {"mu", job_.penalty.mu},
                               {"loss", loss_name(job_.loss.kind)},
                               {"threads", job_.threads},
                               {"seed", job_.seed}};
    if (trainer_.by_iterations)
      job["stop"] = static_cast<std::int64_t>(stop);
    else
      job["stop"] = stop;
    write_json(job_file(), job);
  }

  TrainerRun train(double stop) {
    std::error_code ignored;
    for (const fs::path& file : {model_file(), log_file()}) fs::remove(file, ignored);
    write_job(stop);
    TrainerRun run;
    const double began = wall_seconds(), limit = process_limit();
    Process process({.command = {trainer_.adapter.string(), "train", job_file().string()},
                     .folder = scratch_.path,
                     .log = log_file()});
    bool stops = false;
    for (std::chrono::milliseconds slice{5}; !process.wait_for(slice);
         slice = std::chrono::milliseconds(50)) {
      if (const std::uint64_t peak = process.peak_rss_bytes(); peak > 0) run.peak_rss_bytes = peak;
      run.interrupted = run.interrupted || hooks_.stop();
      run.out_of_time = run.out_of_time || (limit > 0.0 && wall_seconds() - began > limit);
      stops = run.interrupted || run.out_of_time;
      constexpr double kGrace = 2.0;
      if (stops) process.stop(kGrace, true);
    }
    run.wall_seconds = wall_seconds() - began;
    if (stops) process.kill_group();  // its remaining children
    run.end = process.end();
    return run;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(fmt::format("{}: {}; the end of its log: {}", outcome_.trainer, what,
                            end_of_log(text_of(log_file()))));
  }

  /// Returns false if the trainer was stopped. Throws Error if it failed.
  bool goes_on(const TrainerRun& run) {
    if (run.interrupted || run.out_of_time) {
      outcome_.status = run.interrupted ? Status::kInterrupted : Status::kTimeLimit;
      if (outcome_.trace.empty() && run.out_of_time)
        outcome_.reason = fmt::format("no model after {:.3g} s; the end of its log: {}", run.wall_seconds,
                                      end_of_log(text_of(log_file())));
      return false;
    }
    if (run.end.signal != 0) fail("crashed with " + signal_name(run.end.signal));
    if (run.end.exit_status != 0) fail(fmt::format("exit status {}", run.end.exit_status));
    if (!fs::exists(model_file())) fail("wrote no model");
    return true;
  }

  // ---- its model

  Model read_its_model() const {
    const std::vector<std::string> command{trainer_.adapter.string(), "model", job_file().string()};
    constexpr std::chrono::seconds kTimeout{600};
    const ProgramOutput answer = run_program(command, kTimeout);
    if (answer.end.exit_status != 0)
      fail("its model cannot be read: " + (answer.given_up ? "no answer" : end_of_log(answer.err)));
    return parse_model(answer.out, outcome_.trainer);
  }

  /// Runs the trainer to this stop and samples its model. Returns false if that was the last one.
  bool make_point(double stop) {
    const TrainerRun run = train(stop);
    if (!goes_on(run)) return false;
    const double read = wall_seconds();
    const Model model = read_its_model();
    SparseVector w = model_weights(model, data_.train(), data_.oracle().extra_weights(), data_.extra_names(),
                                   UnknownFeatures::kReject);
    const double evaluated = wall_seconds();
    outcome_.notes["model_seconds"] = evaluated - read;
    if (const double fit = fact_of(model, "fit_seconds"); !std::isnan(fit))
      outcome_.notes["fit_seconds"] = fit;
    const bool same = !outcome_.trace.empty() && w.index == outcome_.w.index && w.value == outcome_.w.value;
    outcome_.w = std::move(w);
    take_sample(stop, run, model);
    outcome_.certify_seconds += wall_seconds() - evaluated;
    return !ended(stop, fact_of(model, "iterations"), same);
  }

  void take_sample(double stop, const TrainerRun& run, const Model& model) {
    if (std::isnan(start_seconds_)) {
      start_seconds_ = run.wall_seconds;
      start_cpu_seconds_ = run.end.cpu_seconds;
    }
    Certificate& at = outcome_.certificate;
    at = certify(evaluator_, outcome_.w);
    if (!std::isfinite(at.objective)) fail("its weights have no finite objective");
    lower_bound_ = std::fmax(lower_bound_, at.dual);
    at.dual = lower_bound_;
    Sample sample;
    sample.seconds = std::max(run.wall_seconds - start_seconds_, kFinest);
    sample.cpu_seconds = std::max(run.end.cpu_seconds - start_cpu_seconds_, 0.0);
    const double reported = fact_of(model, "iterations"), counted = trainer_.by_iterations ? stop : 0.0;
    sample.iteration = static_cast<std::int64_t>(std::isnan(reported) ? counted : reported);
    sample.passes = kNaN;
    sample.objective = at.objective;
    sample.loss = at.loss;
    sample.nnz = at.nnz;
    sample.kkt = at.kkt;
    sample.gap = at.objective - lower_bound_;
    if (data_.test_set() != nullptr) data_.test_set()->measure(outcome_.w, sample);
    if (trainer_.prints_objective) compare_objective(stop, model, at);
    peak_rss_bytes_ = run.peak_rss_bytes > 0 ? run.peak_rss_bytes : run.end.peak_rss_bytes;
    outcome_.trace.push_back(sample);
    if (hooks_.on_sample) hooks_.on_sample(sample);
  }

  void compare_objective(double stop, const Model& model, const Certificate& at) {
    // The largest relative rounding error of the trainer's own sums.
    constexpr double kItsRounding = 1e-9;
    const double its = fact_of(model, "objective");
    const double allowed =
        fact_of(model, "objective_error") + at.rounding + kItsRounding * std::abs(at.objective);
    if (!(std::abs(its - at.objective) > allowed)) return;
    outcome_.warnings = {fmt::format("stopped at {:g} it prints the objective {}, its weights have {}", stop,
                                     its, at.objective)};
  }

  bool ended(double stop, double iterations, bool same) {
    const Certificate& at = outcome_.certificate;
    const bool by_itself =
        same || (trainer_.by_iterations ? iterations < stop : stop * trainer_.growth < kLeastTolerance);
    if (hooks_.stop())
      outcome_.status = Status::kInterrupted;
    else if (at.objective <= job_.objective_target)
      outcome_.status = Status::kTargetReached;
    else if (job_.gap_target > 0.0 && at.relative_gap() <= job_.gap_target)
      outcome_.status = Status::kGapReached;
    else if (job_.tol > 0.0 && at.kkt <= job_.tol * outcome_.kkt_at_zero)
      outcome_.status = Status::kConverged;
    else if (trainer_.by_iterations && job_.max_iterations > 0 &&
             stop >= static_cast<double>(job_.max_iterations))
      outcome_.status = Status::kMaxIterations;
    else if (by_itself)
      end_by_its_own_rule();
    return outcome_.status.has_value();
  }

  void end_by_its_own_rule() {
    outcome_.status = Status::kSmallChange;
    const double gap = outcome_.certificate.relative_gap();
    if (!(gap <= kNoOptimum))
      outcome_.warnings.push_back(
          fmt::format("it ended by its own rule at a certified relative gap of {:.1e}: another objective, or "
                      "not converged",
                      gap));
  }

  void finish() {
    set_facts(data_, outcome_);
    outcome_.features_kept = data_.train().x.features();
    outcome_.load_seconds = start_seconds_;
    outcome_.setup_seconds = 0.0;
    outcome_.passes = outcome_.updates = kNaN;
    outcome_.audits.reset();
    if (peak_rss_bytes_ > 0) outcome_.peak_rss_bytes = peak_rss_bytes_;
    if (outcome_.trace.empty()) {
      outcome_.iterations.reset();
      outcome_.seconds = outcome_.cpu_seconds = kNaN;
      return;
    }
    const Sample& last = outcome_.trace.back();
    outcome_.iterations = last.iteration;
    outcome_.seconds = last.seconds;
    outcome_.cpu_seconds = last.cpu_seconds;
    set_test_figures(last, outcome_);
  }

  fs::path job_file() const { return scratch_.path / "job.json"; }
  fs::path model_file() const { return scratch_.path / "model"; }
  fs::path log_file() const { return scratch_.path / "log.txt"; }

  const LoadedData& data_;
  const RunParameters& job_;
  const RunHooks& hooks_;
  const Trainer& trainer_;
  const ScratchFolder scratch_;
  Objective evaluator_;
  std::string algorithm_, format_;
  ConvertedFiles files_;
  RunOutcome outcome_;
  double start_seconds_ = kNaN, start_cpu_seconds_ = kNaN;  ///< of the run with the smallest stop
  double lower_bound_ = -kInfinity;
  std::uint64_t peak_rss_bytes_ = 0;  ///< of the last run with a model
};

}  // namespace

RunOutcome train_externally(const LoadedData& data, const RunParameters& job, const fs::path& folder,
                            const RunHooks& hooks) {
  return ExternalTraining(data, job, folder, hooks).run();
}

}  // namespace proxbench
