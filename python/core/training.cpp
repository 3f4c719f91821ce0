/// Training, paths, selection and certificates.

#include <cmath>

#include "core/base/error.h"
#include "experiments/config/config_sections.h"
#include "experiments/config/ini_values.h"
#include "experiments/metrics/metrics.h"
#include "experiments/results/fields.h"
#include "experiments/run/path.h"
#include "experiments/run/selection.h"
#include "experiments/run/tighten.h"
#include "experiments/run/worker.h"
#include "oracles/oracles.h"
#include "python/core/module.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench::python {
namespace {

/// The keys of [experiment] that a single training takes.
const std::vector<std::string> kSettings{"lambda",
                                         "mu",
                                         "loss",
                                         "cost",
                                         "tol",
                                         "gap",
                                         "seed",
                                         "time_limit",
                                         "threads",
                                         "max_iterations",
                                         "profile",
                                         "sample_kkt",
                                         "sampling_budget",
                                         "decoding",
                                         "warm_up"};

/// The columns of records, each a list.
template <class Record>
py::dict columns_of(const Schema<Record>& schema, const std::vector<Record>& records) {
  py::dict out;
  for (const Row<Record>& row : schema) {
    py::list column;
    for (const Record& record : records) column.append(object_of(row.get(record)));
    out[py::str(row.spec.name)] = column;
  }
  return out;
}

template <class Record>
py::dict dict_of(const Schema<Record>& schema, const Record& record) {
  py::dict out;
  for (const Row<Record>& row : schema) out[py::str(row.spec.name)] = object_of(row.get(record));
  return out;
}

/// The result of a training.
struct Trained {
  Data data;
  RunOutcome outcome;
};

/// Calls a function of Python from the threads that train. An exception of it, or False, stops the training.
/// After a stop it is not called again.
class Callback {
 public:
  Callback(py::object function, std::atomic<bool>& interrupt)
      : function_(std::move(function)), interrupt_(interrupt) {}

  template <class... Arguments>
  void operator()(const Arguments&... make_arguments) {
    const py::gil_scoped_acquire held;
    if (interrupt_ || function_.is_none()) return;
    try {
      if (function_(make_arguments()...).is(py::bool_(false))) interrupt_ = true;
    } catch (const py::error_already_set& error) {
      failure_.emplace(error);
      interrupt_ = true;
    }
  }
  bool given() const { return !function_.is_none(); }
  /// Throws what the function threw. Needs the GIL.
  void rethrow() const {
    if (failure_) throw py::error_already_set(*failure_);
  }

 private:
  py::object function_;
  std::atomic<bool>& interrupt_;
  std::optional<py::error_already_set> failure_;
};

/// Runs work(hooks, call) in the background. It may call the callback. Rethrows what that threw.
void run(const py::object& callback, const std::function<void(RunHooks&, Callback&)>& work) {
  std::atomic<bool> interrupt = false;
  Callback call(callback, interrupt);
  RunHooks hooks;
  hooks.stop = &interrupt;
  try {
    in_background(interrupt, [&] { work(hooks, call); });
  } catch (const Error&) {
    call.rethrow();
    throw;
  }
  call.rethrow();
}

Trained train_once(const Data& data, const Texts& settings, const std::string& solver, const Texts& options,
                   const std::optional<Sparse>& start, const py::object& callback) {
  const ExperimentConfig config = config_of(settings);
  Trained out{data, {}};
  single_penalty(config);
  const RunParameters parameters = parameters_of(config, settings, data, solver, options);
  const SolverInfo& info = solver_registry().find(parameters.solver);
  if (start && !info.starts_anywhere) throw Error::usage(unmet_start(info, "given"));
  const SparseVector from = start ? vector_of(*start) : SparseVector();
  run(callback, [&](RunHooks& hooks, Callback& call) {
    if (call.given())
      hooks.on_sample = [&](const Sample& sample) { call([&] { return dict_of(trace_columns(), sample); }); };
    out.outcome = train_from(*data.with_threads(config.threads), parameters, from, hooks);
  });
  return out;
}

/// Trains all penalties of a path. Calls on_point(point, (coordinates, values)) after each.
Trained train_along(const Data& data, const Texts& settings, const std::string& solver, const Texts& options,
                    const py::object& on_point) {
  const ExperimentConfig config = config_of(settings);
  Trained out{data, {}};
  const RunParameters parameters = parameters_of(config, settings, data, solver, options);
  run(on_point, [&](RunHooks& hooks, Callback& call) {
    hooks.on_point = [&](const PathPoint& point, const SparseVector& w) {
      call([&] { return dict_of(path_columns(), point); }, [&] { return pair_of(w); });
    };
    const auto loaded = data.with_threads(config.threads);
    const PenaltyPaths paths = config.paths(lambda_max(*loaded, config.loss));
    if (paths.size() != 1)
      throw Error::usage(
          "lambda_ and mu: found several values of both, expected one number, and a list or path");
    out.outcome = train_path(*loaded, parameters, paths.front(), hooks);
  });
  return out;
}

py::dict certificate_of(const Data& data, const Sparse& w, const Texts& settings, double tighten_seconds) {
  const ExperimentConfig config = config_of(settings);
  RunOutcome outcome;
  outcome.parameters.loss = config.loss;
  const Penalty penalty = outcome.parameters.penalty = single_penalty(config);
  const SparseVector at = vector_of(w);
  stop_on_signals("the model was certified", [&](const Interrupt& interrupt) {
    const auto loaded = data.with_threads(config.threads);
    Objective objective = loaded->objective(penalty, config.loss);
    outcome.kkt_at_zero = kkt_at_zero(objective);
    outcome.certificate = certify(objective, at);
    if (tighten_seconds > 0.0) {
      RunParameters search = outcome.parameters;
      search.tighten = 1e-9;
      search.time_limit = tighten_seconds;
      const RunOutcome better = tighten(*loaded, at, search, interrupt);
      outcome.certificate.dual = std::fmax(outcome.certificate.dual, better.certificate.dual);
    }
    set_facts(*loaded, outcome);
  });
  const Certificate& found = outcome.certificate;
  py::dict out = python::dict_of(found);
  out["l1"] = found.l1;
  out["relative_kkt"] = outcome.relative_kkt();
  out["rounding"] = found.rounding;
  return out;
}

py::tuple select(const Data& data, const Texts& settings, const std::string& solver, const Texts& options,
                 const std::string& measure, std::int64_t folds, std::optional<double> held_out, bool one_se,
                 int more_points) {
  const ExperimentConfig config = config_of(settings);
  Trained out{data, {}};
  RunParameters parameters = parameters_of(config, settings, data, solver, options);
  const SelectionSettings how{.folds = folds,
                              .held_out = held_out,
                              .measure = measure == "loss" ? nullptr : &metric_registry().find(measure),
                              .one_standard_error = one_se,
                              .more_points = more_points};
  std::atomic<bool> interrupt = false;
  Progress hooks;
  hooks.stop = &interrupt;
  ModelSelection selected;
  in_background(interrupt, [&] {
    const auto loaded = data.with_threads(config.threads);
    selected = select_model(*loaded, parameters, config.paths(lambda_max(*loaded, config.loss)), how, hooks);
  });
  if (selected.interrupted) throw Error("interrupted; nothing is chosen yet");
  out.outcome = std::move(selected.refit);
  const SelectionPoint& chosen = selected.points[selected.chosen];
  out.outcome.parameters.penalty = Penalty{chosen.lambda, chosen.mu};
  const Schema<SelectionPoint> schema(
      {row(&SelectionPoint::lambda, "lambda"), row(&SelectionPoint::mu, "mu"),
       row(&SelectionPoint::mean, "mean"), row(&SelectionPoint::standard_error, "standard_error"),
       row(&SelectionPoint::nnz, "nnz"), row(&SelectionPoint::unsolved, "unsolved")});
  return py::make_tuple(out, columns_of(schema, selected.points), selected.chosen, selected.best);
}

/// The names of solvers, their help, options and needs.
py::list solvers() {
  py::list out;
  for (const SolverInfo& info : solver_registry().items()) {
    py::dict one;
    one["name"] = info.name;
    one["help"] = info.help;
    one["paper"] = info.paper;
    py::dict options;
    for (const OptionSpec& spec : info.options) {
      py::dict option;
      option["type"] = spec.type_name();
      option["default"] = spec.default_value;
      option["constraint"] = spec.constraint();
      option["help"] = spec.help;
      options[py::str(spec.name)] = option;
    }
    one["options"] = options;
    out.append(one);
  }
  return out;
}

int work(const std::vector<std::string>& arguments) {
  std::vector<std::string> texts{"proxbench-worker"};
  texts.insert(texts.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& text : texts) argv.push_back(text.data());
  const py::gil_scoped_release released;
  return worker_main(static_cast<int>(argv.size()), argv.data());
}

}  // namespace

Penalty single_penalty(const ExperimentConfig& config) {
  const PenaltyGrid& search = config;
  if (search.several())
    throw Error::usage(
        "lambda_ and mu: found a list or path, expected a number each (path() and select() take several)");
  search.largest().check();
  return search.largest();
}

ExperimentConfig config_of(const Texts& settings) {
  ExperimentConfig out;
  for (const auto& [key, text] : settings) {
    if (std::ranges::find(kSettings, key) == kSettings.end())
      throw Error::usage("found an unknown argument '", key, "'", did_you_mean(key, kSettings),
                         ", expected one of ", joined(kSettings));
    const Row<ExperimentConfig>& row = *keys_of<ExperimentConfig>().find(key);
    Value value;
    for (const ValueError& error : read_ini_value(
             row.spec, text, [](const std::string& name) { return name; }, value))
      throw Error::usage(key, ": ", error.what());
    row.set(out, value);
  }
  if (!settings.contains("warm_up")) out.warm_up = 0.0;
  return out;
}

RunParameters parameters_of(const ExperimentConfig& config, const Texts& settings, const Data& data,
                            const std::string& solver, const Texts& options) {
  RunParameters out;
  static_cast<RunSettings&>(out) = config;
  out.prefer_gap(settings.contains("tol"));
  const PenaltyGrid& searched = config;
  const Penalty penalty = searched.largest();
  penalty.check();
  if (!searched.several()) out.penalty = penalty;
  out.format = data.format;
  out.solver = solver_or_best(solver, penalty, config.loss, oracle_registry().find(data.pair->oracle),
                              data.pair->train);
  out.solver_options = option_texts(options_from(solver_registry().find(out.solver).options, options));
  return out;
}

void add_training(py::module_& module) {
  py::class_<Trained>(module, "Trained")
      .def("summary", [](const Trained& all) { return all.outcome.summary().dump(); })
      .def("trace", [](const Trained& all) { return columns_of(trace_columns(), all.outcome.trace); })
      .def("points", [](const Trained& all) { return columns_of(path_columns(), all.outcome.points); })
      .def("w", [](const Trained& all) { return pair_of(all.outcome.w); })
      .def("dimension", [](const Trained& all) { return *all.outcome.d; })
      .def("model_text", [](const Trained& all) {
        const auto loaded = all.data.with_threads(1);
        return py::bytes(
            model_of(*loaded, all.data.format, all.data.options, all.outcome.parameters, all.outcome.w));
      });
  add_function(module, "train", &train_once, "data", "settings", "solver", "options", "start", "callback");
  add_function(module, "train_path", &train_along, "data", "settings", "solver", "options", "on_point");
  add_function(module, "certify", &certificate_of, "data", "w", "settings", "tighten");
  add_function(module, "select", &select, "data", "settings", "solver", "options", "measure", "folds",
               "held_out", "one_se", "more_points");
  module.def("solvers", &solvers);
  add_function(module, "work", &work, "arguments");
  module.attr("SETTINGS") = kSettings;
}

}  // namespace proxbench::python
