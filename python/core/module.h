#pragma once
/// The module proxbench._core: what the package in Python needs of the program. It is thin: names, defaults
/// and documentation for users are in python/proxbench. Arrays are not copied if they have the right type and
/// are contiguous. Everything that works for long releases the GIL.

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/value.h"
#include "core/data/data_format.h"
#include "experiments/config/config.h"
#include "experiments/data/model.h"
#include "experiments/run/training.h"

namespace proxbench::python {

namespace py = pybind11;

using Reals = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Integers = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;
using Texts = std::map<std::string, std::string>;

/// Calls work() on a thread of its own, without the GIL, and waits for it. This thread looks for signals
/// meanwhile. The first one that raises an exception, such as Ctrl-C, sets `interrupt`; the exception is
/// thrown once work() has ended. No OpenMP loop ever runs on a thread of Python, so a process may fork
/// afterwards.
void in_background(std::atomic<bool>& interrupt, const std::function<void()>& work);

/// Arrays of one's own type, copied only if the type or layout differs. Throw Error for other things than
/// integers or real numbers; a float is no integer. `name` is used in messages.
Integers integers_of(const py::object& given, const char* name);
Reals reals_of(const py::object& given, const char* name);
/// Takes a dense vector of `dimension` numbers, or a pair (coordinates, values). Throws Error for another
/// shape and for numbers that are not finite. `name` is used in messages.
SparseVector vector_of(const py::object& given, Coord dimension, const char* name = "w");
/// Throws Error unless the array has this size.
void require_size(const py::array& given, std::size_t size, const char* name);
py::array_t<double> array_of(std::span<const double> numbers);
/// (coordinates, values) as arrays of NumPy.
py::tuple pair_of(const SparseVector& w);
py::object object_of(const Value& value);
/// objective, loss, nnz, kkt, lower_bound, gap and relative_gap.
py::dict dict_of(const Certificate& found);

/// Data sets of one problem.
struct Data {
  std::shared_ptr<const DataPair> pair;
  std::string format;  ///< whose files have the same names of features and labels
  Options options;     ///< of the format

  /// Of w.
  Coord dimension() const;
  /// Call it in the background.
  std::unique_ptr<LoadedData> with_threads(int threads) const;
};

/// Returns the settings, by the keys of [experiment]. Throws Error (kUsage) for unknown keys and wrong
/// values.
ExperimentConfig config_of(const Texts& settings);
/// Returns lambda and mu. Throws Error (kUsage) if they are not single numbers, or if neither is above 0.
Penalty single_penalty(const ExperimentConfig& config);
/// Returns the parameters of a run on these data. An empty solver is the best one known.
RunParameters parameters_of(const ExperimentConfig& config, const Texts& settings, const Data& data,
                            const std::string& solver, const Texts& options);

void add_data(py::module_& module);
void add_training(py::module_& module);
void add_problem(py::module_& module);
void add_models(py::module_& module);

}  // namespace proxbench::python
