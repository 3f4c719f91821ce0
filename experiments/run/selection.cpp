#include "experiments/run/selection.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/data/files.h"

namespace proxbench {

/// The results of a path on one split, by point, and the weights and the lambda of its last point.
struct Measured {
  std::vector<HeldOut::Value> values;
  std::vector<double> nnz;
  std::vector<bool> unsolved;
  std::vector<Coord> index;
  std::vector<double> weight;
  double lambda = 0.0;

  static const Schema<Measured>& schema() {
    static const Schema<Measured> rows({row(&Measured::values, "values"), row(&Measured::nnz, "nnz"),
                                        row(&Measured::unsolved, "unsolved"), row(&Measured::index, "index"),
                                        row(&Measured::weight, "weight"), row(&Measured::lambda, "lambda")});
    return rows;
  }
};

namespace {

bool higher_is_better(SelectionMeasure measure) {
  return measure != nullptr && measure->better == MetricInfo::Better::kHigher;
}
bool better(double a, double b, SelectionMeasure measure) {
  return higher_is_better(measure) ? a > b : a < b;
}

/// One training set, and the instances on which its models are measured.
struct Split {
  std::string name;
  std::vector<Index> held_out;  ///< instances of the training set, ascending; empty: the test set is held out
};

// ---- the results of an interrupted select_model(), in a file of the working folder

using Json = nlohmann::ordered_json;

/// Returns a name like "select-0123456789abcdef.json". It is a hash of everything that decides the results:
/// the data, the solver's settings, the penalties and the held-out instances. The number of additional points
/// and the rule of choice have no influence.
fs::path selection_file(const LoadedData& data, const RunParameters& settings, const PenaltyPaths& paths,
                        const SelectionSettings& selection) {
  Json key{{"settings", parameters_json(settings)},
           {"data", {data.train().digest, data.test().digest, data.oracle_name()}},
           {"folds", selection.folds},
           {"held_out", selection.held_out.value_or(0.0)},
           {"measure", selection.measure == nullptr ? "" : selection.measure->name}};
  for (const std::vector<Penalty>& path : paths) {
    Json& penalties = key["paths"].emplace_back();
    for (const Penalty& penalty : path) penalties.push_back({penalty.lambda, penalty.mu});
  }
  const std::string text = key.dump();
  return fmt::format("select-{:016x}.json", XXH3_64bits(text.data(), text.size()));
}

/// The results by path and split.
using MeasuredPaths = std::vector<std::vector<Measured>>;

/// Returns the results that the file holds, or none if there is no file. Throws Error (kInput) if the file is
/// damaged. All processes get what the first one reads.
MeasuredPaths read_selection(const fs::path& file, const Processes* processes) {
  std::string text = text_of(file);
  share(processes, 0, text);
  if (text.empty()) return {};
  try {
    return Json::parse(text).get<MeasuredPaths>();
  } catch (const std::exception& error) {
    throw Error::in_file(
        file.string(), 0, error.what(),
        "what an interrupted `proxbench select` wrote; remove the file, and the same command "
        "starts again from the first fold");
  }
}

class Selector {
 public:
  Selector(const LoadedData& data, const RunParameters& settings, const PenaltyPaths& paths,
           const SelectionSettings& selection, const Progress& progress)
      : data_(data),
        settings_(settings),
        paths_(paths),
        selection_(selection),
        progress_(progress),
        file_(selection_file(data, settings, paths, selection)) {
    for (const std::vector<Penalty>& path : paths_)
      most_.push_back(path.size() + static_cast<std::size_t>(selection.more_points));
  }

  ModelSelection run() {
    const std::vector<Split> all = splits();
    go_on(all.size());
    try {
      if (!search(all)) return stopped();
    } catch (const Error& error) {
      const fs::path kept = stopped().kept_in;
      if (kept.empty()) throw;
      throw Error(
          fmt::format("{}; what was measured before is kept in {}: the same command goes on from there",
                      error.what(), kept.string()),
          error.kind());
    }
    std::error_code ignored;  // usually there is no file
    if (writes_files()) fs::remove(file_, ignored);
    return std::move(out_);
  }

 private:
  /// Measures all points, chooses one, and trains its model. Returns false if the user interrupts.
  bool search(const std::vector<Split>& all) {
    for (;;) {
      for (std::size_t p = 0; p < paths_.size(); ++p) {
        out_.held_out_instances = out_.skipped = 0;
        for (std::size_t i = 0; i < all.size(); ++i) {
          measure(all[i], p, measured_[p][i]);
          if (interrupted_) return false;
        }
      }
      summarize();
      std::vector<Penalty>& path = paths_[best_path_];
      if (out_.best + 1 < out_.end || path.size() >= most_[best_path_]) break;
      path.push_back(next_penalty(path));
      progress_.inform(fmt::format("the best is the last so far; on to {}", path.back().text()));
    }
    const auto down_to = std::span(std::as_const(paths_[best_path_])).first(out_.chosen - out_.begin + 1);
    progress_.inform(fmt::format("all training instances, down to {}", down_to.back().text()));
    out_.refit = path({}, down_to, "all training instances", {}, {});
    return !interrupted_;
  }

  /// Takes the results of an interrupted search. Its path may have become longer than this one.
  void go_on(std::size_t splits) {
    measured_ = read_selection(file_, selection_.processes);
    measured_.resize(paths_.size());
    std::size_t known = 0;
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      measured_[p].resize(splits);
      for (const Measured& one : measured_[p]) {
        known += one.values.size();
        while (paths_[p].size() < one.values.size()) paths_[p].push_back(next_penalty(paths_[p]));
      }
    }
    if (known > 0)
      progress_.inform(fmt::format("going on from {}: {} models are measured", file_.string(), known));
  }

  /// Continues the path: the ratio to the last penalty is that of the last two penalties.
  static Penalty next_penalty(const std::vector<Penalty>& path) {
    const Penalty &last = path.back(), &before = path[path.size() - 2];
    const auto next = [](double a, double b) { return a == b ? b : b * b / a; };
    return {next(before.lambda, last.lambda), next(before.mu, last.mu)};
  }

  /// Stores the results so far, if there are any.
  ModelSelection stopped() {
    out_.interrupted = true;
    summarize();
    if (!out_.points.empty() && writes_files()) {
      write_file_atomically(file_, Json(measured_).dump() + "\n");
      out_.kept_in = file_;
    }
    return std::move(out_);
  }

  std::vector<Split> splits() const {
    const std::size_t instances = data_.train().instances();
    if (selection_.held_out)
      return {{"training without what is held out",
               draw_held_out(instances, *selection_.held_out, settings_.seed)}};
    if (selection_.folds == 0) return {{"training", {}}};
    std::vector<Split> out;
    for (std::vector<Index>& fold : draw_folds(instances, selection_.folds, settings_.seed))
      out.push_back({fmt::format("fold {} of {}", out.size() + 1, selection_.folds), std::move(fold)});
    return out;
  }

  /// Adds the points that are not measured yet.
  void measure(const Split& split, std::size_t path_number, Measured& out) {
    const bool by_test = split.held_out.empty();
    Dataset held_out = by_test ? select_instances(data_.test(), first_indices(data_.test().instances()))
                               : select_instances(data_.train(), split.held_out);
    out_.held_out_instances += held_out.instances();
    const HeldOut judge(std::move(held_out), data_.oracle_name(), data_.parallel(), selection_.measure,
                        settings_.loss);
    out_.skipped += judge.skipped();
    const std::span<const Penalty> left =
        std::span(std::as_const(paths_[path_number])).subspan(out.values.size());
    if (left.empty()) return;
    const std::string name =
        paths_.size() == 1 ? split.name
                           : fmt::format("path {} of {}, {}", path_number + 1, paths_.size(), split.name);
    progress_.inform(name);
    const PathStart start{{out.index, out.weight}, out.lambda};
    RunHooks hooks;
    hooks.on_point = [&](const PathPoint& point, const SparseVector& w) {
      out.values.push_back(judge.measure(w));
      out.nnz.push_back(static_cast<double>(point.certificate.nnz));
      out.unsolved.push_back(is_unsolved(point));
      out.index = w.index;
      out.weight = w.value;
      out.lambda = point.lambda;
    };
    path(split.held_out, left, name, hooks, start);
  }

  /// Trains on all training instances except `without`.
  RunOutcome path(const std::vector<Index>& without, std::span<const Penalty> penalties,
                  const std::string& name, RunHooks hooks, const PathStart& start) {
    hooks.stop = progress_.stop;
    if (progress_.on_sample)
      hooks.on_sample = [&](const Sample& sample) { progress_.on_sample(name, sample); };
    const auto on = [&](const LoadedData& data) {
      return train_path(data, settings_, penalties, hooks, start);
    };
    std::vector<Index> rest;
    std::ranges::set_difference(first_indices(data_.train().instances()), without, std::back_inserter(rest));
    const bool whole = without.empty() && selection_.processes == nullptr;
    RunOutcome outcome = whole ? on(data_) : on(part(rest));
    interrupted_ = outcome.status == Status::kInterrupted;
    if (!interrupted_ && outcome.points.size() < penalties.size())
      throw Error(fmt::format("{}: {} after {} of {} points, expected all of them", name,
                              status_name(*outcome.status), outcome.points.size(), penalties.size()));
    return outcome;
  }

  LoadedData part(std::span<const Index> instances) const {
    return LoadedData(DataPair{select_instances(data_.train(), instances), {}, data_.oracle_name()},
                      Parallel(data_.parallel().threads(), data_.parallel().backend(), selection_.processes));
  }

  /// Averages each point over the splits that have it.
  void summarize() {
    out_.points.clear();
    std::vector<std::size_t> begin;  // of each path in out_.points
    for (std::size_t p = 0; p < paths_.size(); ++p) {
      begin.push_back(out_.points.size());
      for (std::size_t k = 0; k < paths_[p].size(); ++k) {
        std::vector<const Measured*> known;
        for (const Measured& one : measured_[p])
          if (k < one.values.size()) known.push_back(&one);
        if (known.empty()) break;
        out_.points.push_back(mean_of(paths_[p][k], known, k));
      }
    }
    if (out_.interrupted) return;
    out_.best = best_point(out_.points, selection_.measure);
    best_path_ = static_cast<std::size_t>(std::ranges::upper_bound(begin, out_.best) - begin.begin()) - 1;
    out_.begin = begin[best_path_];
    out_.end = out_.begin + paths_[best_path_].size();
    const auto first = out_.points.begin();
    out_.one_standard_error =
        out_.begin + one_standard_error_point({first + static_cast<std::ptrdiff_t>(out_.begin),
                                               first + static_cast<std::ptrdiff_t>(out_.end)},
                                              selection_.measure);
    out_.chosen = selection_.one_standard_error ? out_.one_standard_error : out_.best;
  }

  /// Returns point k of a path, averaged over these splits.
  static SelectionPoint mean_of(const Penalty& penalty, const std::vector<const Measured*>& known,
                                std::size_t k) {
    const auto folds = static_cast<double>(known.size());
    SelectionPoint point{.lambda = penalty.lambda, .mu = penalty.mu, .splits = known.size()};
    for (const Measured* one : known) {
      point.mean += one->values[k].value / folds;
      point.nnz += one->nnz[k] / folds;
      point.unsolved += one->unsolved[k] ? 1 : 0;
      for (const auto& [name, value] : one->values[k].others) point.others[name] += value / folds;
    }
    double squares = 0.0;
    for (const Measured* one : known) squares += std::pow(one->values[k].value - point.mean, 2);
    point.standard_error = known.size() == 1 ? known.front()->values[k].standard_error
                                             : std::sqrt(squares / (folds - 1.0) / folds);
    return point;
  }

  const LoadedData& data_;
  const RunParameters& settings_;
  PenaltyPaths paths_;
  std::vector<std::size_t> most_;  ///< points of each path
  std::size_t best_path_ = 0;
  const SelectionSettings& selection_;
  const Progress& progress_;
  fs::path file_;  ///< stores the results if the user interrupts
  MeasuredPaths measured_;
  bool interrupted_ = false;
  ModelSelection out_;
};

void check(const LoadedData& data, const SelectionSettings& selection) {
  if (selection.one_standard_error && selection.folds == 0 && selection.measure != nullptr &&
      selection.measure != &trace_metric())
    throw Error::usage(
        fmt::format("found {} with the rule of one standard error and one held-out set, expected folds: "
                    "the error of one set is known of accuracy and loss alone",
                    selection.measure->name));
  if (selection.folds == 0 && !selection.held_out && data.test().instances() == 0)
    throw Error::usage(
        "no instances to choose a penalty by: expected folds, a share to hold out, or a test set");
}

}  // namespace

bool is_unsolved(const PathPoint& point) {
  constexpr double kFar = 10.0;
  const bool reached = point.status == Status::kConverged || point.status == Status::kGapReached;
  return !reached && !(point.certificate.kkt <= kFar * point.kkt_target);
}

std::size_t best_point(const std::vector<SelectionPoint>& points, SelectionMeasure measure) {
  std::size_t best = 0;
  for (std::size_t k = 1; k < points.size(); ++k)
    if (better(points[k].mean, points[best].mean, measure)) best = k;
  return best;
}

std::size_t one_standard_error_point(const std::vector<SelectionPoint>& points, SelectionMeasure measure) {
  const SelectionPoint& best = points[best_point(points, measure)];
  const double error = std::isfinite(best.standard_error) ? best.standard_error : 0.0;
  const double worst = higher_is_better(measure) ? best.mean - error : best.mean + error;
  std::size_t k = 0;
  while (better(worst, points[k].mean, measure)) ++k;
  return k;
}

ModelSelection select_model(const LoadedData& data, const RunParameters& settings, const PenaltyPaths& paths,
                            const SelectionSettings& selection, const Progress& progress) {
  check(data, selection);
  return Selector(data, settings, paths, selection, progress).run();
}

}  // namespace proxbench
