/// The problem as an oracle for code in Python, and solvers that are written in Python.
#include <algorithm>
#include <mutex>

#include "core/base/error.h"
#include "core/certificates/certificate.h"
#include "core/curvature.h"
#include "core/instance_inference.h"
#include "experiments/conformance/conformance.h"
#include "experiments/run/python_plugin.h"
#include "oracles/oracles.h"
#include "python/core/module.h"
#include "solvers/solvers.h"

namespace proxbench::python {
namespace {

/// An array that is used in place: contiguous, and of doubles.
using Dense = py::array_t<double, py::array::c_style>;

bool same(const SparseVector& a, const SparseVector& b) {
  return a.index == b.index && a.value == b.value;
}

/// Calls body() without the GIL. If that throws, keeps the exception, since Python forgets its type.
void without_gil(std::exception_ptr& failure, const std::function<void()>& body) {
  const py::gil_scoped_release released;
  try {
    body();
  } catch (...) {
    failure = std::current_exception();
    throw;
  }
}

/// F of one data set. Within a solver it borrows the solver's objective until close(); otherwise it has one
/// of its own. One thread of Python at a time may use it.
class Problem {
 public:
  Problem(const Data& data, const Texts& settings) {
    const ExperimentConfig config = config_of(settings);
    const Penalty penalty = single_penalty(config);
    stop_on_signals("the problem was made", [&](const Interrupt&) {
      loaded_ = std::make_unique<LoadedData>(data.pair, Parallel(resolved_threads(config.threads)));
      own_ = std::make_unique<Objective>(loaded_->train().x, loaded_->oracle(), penalty, loaded_->parallel(),
                                         config.loss);
    });
    f_ = own_.get();
  }
  explicit Problem(Objective& objective) : f_(&objective) {}

  /// Ends the use by a solver. Later calls throw Error.
  void close() {
    point_ = {};
    curved_.reset();
    curvature_.reset();
    f_ = nullptr;
  }
  Objective& objective() const {
    if (f_ == nullptr)
      throw Error::usage("problem: found a call after its run, expected none: it belongs to one run");
    return *f_;
  }
  Coord dimension() const { return objective().dimension(); }
  /// The exception that ended the last call within a solver.
  std::exception_ptr failure() const { return failure_; }

  double loss(const Sparse& w) {
    const SparseVector at = vector_of(w);
    double out = 0.0;
    work([&] { out = infer(at, false); });
    return out;
  }

  using Coordinates = std::optional<Integers>;

  /// The gradient of the loss, without the penalties, at all coordinates or at ascending ones.
  std::pair<double, py::array_t<double>> loss_and_gradient(const Sparse& w, const Coordinates& coordinates) {
    const SparseVector at = vector_of(w);
    const std::vector<Coord> set = coordinates ? list_of<Coord>(*coordinates) : std::vector<Coord>();
    py::array_t<double> gradient(static_cast<py::ssize_t>(coordinates ? set.size() : dimension()));
    const std::span<double> to(gradient.mutable_data(), static_cast<std::size_t>(gradient.size()));
    double out = 0.0;
    work([&] {
      out = infer(at, true);
      // The objective adds mu * w of the weights that it is given.
      const std::vector<double> none(to.size(), 0.0);
      if (coordinates)
        objective().partial_gradient(point_.residual, set, none, to);
      else
        objective().gradient(point_.residual, none, to);
    });
    return {out, gradient};
  }

  /// The Hessian of the loss at w, without mu, times v. Both have entries at all coordinates, or v at
  /// ascending ones, and is 0 elsewhere.
  py::array_t<double> hessian_product(const Sparse& w, const Reals& v, const Coordinates& coordinates) {
    if (objective().oracle().derivatives() == nullptr || objective().loss().hinge())
      throw Error::usage("hessian_product: this loss or oracle has no second derivatives");
    const SparseVector at = vector_of(w);
    const std::vector<Coord> set = coordinates ? list_of<Coord>(*coordinates) : std::vector<Coord>();
    py::array_t<double> out(v.size());
    const std::span<const double> from(v.data(), static_cast<std::size_t>(v.size()));
    const std::span<double> to(out.mutable_data(), from.size());
    work([&] {
      if (!curvature_) curvature_ = std::make_unique<Curvature>(objective());
      if (!curved_ || !same(*curved_, at)) {
        make_buffers();
        objective().scores(at, point_.scores);
        point_.loss = curvature_->infer({point_.scores}, point_.residual);
        point_.w = at;
        point_.has_residual = point_.known = true;
        curved_ = at;
      }
      if (coordinates)
        curvature_->product(set, from, to);
      else
        curvature_->product(from, to);
      for (std::size_t i = 0; i < to.size(); ++i) to[i] -= objective().mu() * from[i];
    });
    return out;
  }

  py::dict certificate(const Sparse& w) {
    const SparseVector at = vector_of(w);
    Certificate found;
    work([&] { found = certify(objective(), at); });
    return dict_of(found);
  }

  /// Adds scale * (gradient of the loss of some instances) to `out`, which may be w, and returns their loss
  /// at w. Instances follow one another: a change of w by one is seen by the next.
  double add_instance_gradients(const Integers& instances, const Dense& w, Dense& out, double scale) {
    const InstanceOracle* const oracle = objective().oracle().instance();
    if (oracle == nullptr || objective().loss().hinge())
      throw Error::usage("add_instance_gradients: this loss or oracle has no gradients of single instances");
    const double* const from = w.data();
    double* const to = out.mutable_data();
    double loss = 0.0;
    without_gil(failure_, [&] {
      const std::lock_guard lock(mutex_);
      for (const Index instance : list_of<Index>(instances)) loss += add_one(instance, from, to, scale);
    });
    return loss;
  }

 private:
  struct Point {
    SparseVector w;
    Scores scores;
    Residual residual;
    double loss = 0.0;
    bool known = false, has_residual = false;
  };

  /// Within a solver, this thread is in the background already.
  void work(const std::function<void()>& body) {
    objective();
    if (own_ == nullptr) return without_gil(failure_, body);
    stop_on_signals("the problem was evaluated", [&](const Interrupt&) {
      const std::lock_guard lock(mutex_);
      body();
    });
  }

  void make_buffers() {
    if (point_.scores.stride > 0) return;
    point_.scores = objective().make_scores();
    point_.residual = objective().make_residual();
  }

  /// The loss at w; nothing is computed again at the same w.
  double infer(const SparseVector& w, bool residual) {
    const bool known = point_.known && same(point_.w, w);
    if (known && (point_.has_residual || !residual)) return point_.loss;
    make_buffers();
    if (!known) objective().scores(w, point_.scores);
    point_.known = false;
    point_.loss = objective().infer({point_.scores}, residual ? &point_.residual : nullptr);
    point_.w = w;
    point_.known = true;
    point_.has_residual = residual;
    return point_.loss;
  }

  double add_one(Index instance, const double* w, double* out, double scale) {
    const DesignMatrix& x = objective().map().x();
    const auto begin = objective().oracle().begin();
    const Index first = begin[instance], last = begin[instance + 1], outputs = objective().outputs();
    const std::size_t width = padded(outputs), extras = objective().map().extra_weights();
    const Coord unary = objective().unary_weights();
    rows_.assign((last - first) * width, 0.0);
    residual_.assign(rows_.size(), 0.0);
    extra_residual_.resize(extras);
    for (Index p = first; p < last; ++p)
      x.for_each_entry(p, [&](Index j, double value) {
        double* const row = rows_.data() + (p - first) * width;
        for (Index k = 0; k < outputs; ++k) row[k] += value * w[std::size_t{j} * outputs + k];
      });
    const double loss = infer_instance(objective(), instance, rows_.data(), {w + unary, extras},
                                       residual_.data(), extra_residual_);
    for (Index p = first; p < last; ++p)
      x.for_each_entry(p, [&](Index j, double value) {
        const double* const row = residual_.data() + (p - first) * width;
        for (Index k = 0; k < outputs; ++k) out[std::size_t{j} * outputs + k] += scale * value * row[k];
      });
    for (std::size_t e = 0; e < extras; ++e) out[unary + e] += scale * extra_residual_[e];
    return loss;
  }

  std::unique_ptr<LoadedData> loaded_;
  std::unique_ptr<Objective> own_;
  Objective* f_;
  Point point_;
  std::unique_ptr<Curvature> curvature_;
  std::optional<SparseVector> curved_;  ///< where the curvature was computed
  AlignedVector<double> rows_, residual_;
  std::vector<double> extra_residual_;
  std::exception_ptr failure_;
  std::mutex mutex_;
};

/// What a solver in Python sees of its monitor.
class Clock {
 public:
  explicit Clock(Monitor& monitor) : monitor_(&monitor) {}
  void close() { monitor_ = nullptr; }

  /// Returns whether to go on.
  bool step(const Sparse& w, double loss, std::uint64_t working_set) {
    if (stopped_)
      throw Error::usage(
          "monitor.step: found a call after it had returned False, expected the solver to return");
    last_ = vector_of(w);
    Monitor& monitor = open();
    without_gil(failure_, [&] { stopped_ = !monitor.step(last_, loss, working_set); });
    return !stopped_;
  }
  bool out_of_time() { return open().out_of_time(); }
  double seconds() const { return open().seconds(); }

  bool stopped() const { return stopped_; }
  const SparseVector& last() const { return last_; }
  std::exception_ptr failure() const { return failure_; }

 private:
  Monitor& open() const {
    if (monitor_ == nullptr) throw Error::usage("monitor: found a call after its run, expected none");
    return *monitor_;
  }

  Monitor* monitor_;
  bool stopped_ = false;
  SparseVector last_;
  std::exception_ptr failure_;
};

/// The functions of the solvers by name. Never destroyed, since Python ends before static objects do.
std::map<std::string, py::object>& functions() {
  static auto* const all = new std::map<std::string, py::object>();
  return *all;
}

class PythonSolver final : public Solver {
 public:
  PythonSolver(std::string name, const Options& options) : name_(std::move(name)), options_(options) {}

  SolveResult solve(const SolveProblem& problem) override {
    if (!problem.monitor.start(problem.start)) return {problem.monitor.stop_status(), problem.start};
    const py::gil_scoped_acquire held;
    const auto view = std::make_shared<Problem>(problem.objective);
    const auto clock = std::make_shared<Clock>(problem.monitor);
    const Closer closer{*view, *clock};
    try {
      py::dict options, facts;
      for (const OptionSpec& spec : options_.table())
        options[py::str(spec.name)] = object_of(options_.value(spec.name));
      facts["start"] = pair_of(problem.start);
      facts["kkt_target"] = problem.kkt_target();
      facts["kkt_at_zero"] = problem.kkt_at_zero;
      facts["seed"] = problem.seed;
      const auto w = functions().at(name_)(view, clock, facts, options).cast<Sparse>();
      SolveResult out{clock->stopped() || problem.monitor.out_of_time() ? problem.monitor.stop_status()
                                                                        : Status::kConverged,
                      vector_of(w)};
      // A result that is not the last iterate is one more.
      if (!same(out.w, clock->last())) {
        const py::gil_scoped_release released;
        problem.monitor.step(out.w);
      }
      return out;
    } catch (py::error_already_set& error) {
      for (const std::exception_ptr& own : {view->failure(), clock->failure()})
        if (own) std::rethrow_exception(own);
      throw Error(all_parts("solver '", name_, "' raised ", error.what()));
    }
  }

 private:
  struct Closer {
    Problem& view;
    Clock& clock;
    ~Closer() {
      view.close();
      clock.close();
    }
  };
  std::string name_;
  Options options_;
};

/// `description` is JSON. A solver of the same name that Python registered before is replaced.
void register_solver(const std::string& description, py::object function) {
  SolverInfo info = described_solver(nlohmann::json::parse(description));
  const std::string name = info.name;
  info.make = [name](const Options& values) -> std::unique_ptr<Solver> {
    return std::make_unique<PythonSolver>(name, values);
  };
  if (functions().contains(name))
    replace_solver(std::move(info));
  else
    add_solver(std::move(info));
  functions()[name] = std::move(function);
}

/// Runs the checks of `check-solver`. Calls on_check(name, passed, found) after each.
void check(const std::string& name, const Texts& options, const std::string& only,
           const py::object& on_check) {
  const SolverInfo& info = solver_registry().find(name);
  const ConformanceSettings settings{.only = only, .on_check = [&](const ConformanceCheck& one) {
                                       const py::gil_scoped_acquire held;
                                       on_check(one.name, one.passed, one.found);
                                     }};
  stop_on_signals("the solver was checked", [&](const Interrupt&) {
    check_solver(info, options_from(info.options, options), settings);
  });
}

}  // namespace

void add_problem(py::module_& module) {
  py::class_<Problem, std::shared_ptr<Problem>>(module, "Problem")
      .def(py::init<const Data&, const Texts&>(), py::arg("data"), py::arg("settings"))
      .def_property_readonly("lambda_", [](const Problem& p) { return p.objective().lambda(); })
      .def_property_readonly("mu", [](const Problem& p) { return p.objective().mu(); })
      .def_property_readonly("dimension", &Problem::dimension)
      .def_property_readonly("features", [](const Problem& p) { return p.objective().map().features(); })
      .def_property_readonly("outputs", [](const Problem& p) { return p.objective().outputs(); })
      .def_property_readonly("instances", [](const Problem& p) { return p.objective().instances(); })
      .def_property_readonly("passes", [](const Problem& p) { return p.objective().counts().passes(); })
      .def("loss", &Problem::loss, py::arg("w"))
      .def("loss_and_gradient", &Problem::loss_and_gradient, py::arg("w"), py::arg("coordinates"))
      .def("hessian_product", &Problem::hessian_product, py::arg("w"), py::arg("v"), py::arg("coordinates"))
      .def("certificate", &Problem::certificate, py::arg("w"))
      .def("add_instance_gradients", &Problem::add_instance_gradients, py::arg("instances"),
           py::arg("w").noconvert(), py::arg("out").noconvert(), py::arg("scale"));
  py::class_<Clock, std::shared_ptr<Clock>>(module, "Monitor")
      .def("step", &Clock::step, py::arg("w"), py::arg("loss"), py::arg("working_set"))
      .def("out_of_time", &Clock::out_of_time)
      .def_property_readonly("seconds", &Clock::seconds);
  add_function(module, "register_solver", &register_solver, "description", "function");
  add_function(module, "check_solver", &check, "name", "options", "only", "on_check");
}

}  // namespace proxbench::python
