#pragma once
/// The module proxbench._core: what the package in Python needs of the program. It is thin: names, defaults
/// and documentation for users are in python/proxbench. Arrays are not copied if they have the right type and
/// are contiguous. Everything that works for long releases the GIL.

#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
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

/// Does the same for work that stops at the next stop_point() then; `what` is its name in the error.
void stop_on_signals(const char* what, const std::function<void(const Interrupt&)>& work);

/// Weights: ascending coordinates, and their values, none of which is zero. python/proxbench/arrays.py makes
/// and checks them, and all other arrays that users give.
using Sparse = std::pair<Integers, Reals>;
SparseVector vector_of(const Sparse& w);
Sparse pair_of(const SparseVector& w);
/// The numbers of an array as another type, such as an unsigned one.
template <class T>
std::vector<T> list_of(const Integers& given) {
  return {given.data(), given.data() + given.size()};
}
/// Numbers as an array. kUnknownOutput and kNoOutput become -1 and -2.
template <class Range>
auto array_of(const Range& numbers) {
  constexpr bool reals = std::is_same_v<std::ranges::range_value_t<Range>, double>;
  py::array_t<std::conditional_t<reals, double, std::int64_t>> out(std::ssize(numbers));
  std::ranges::transform(numbers, out.mutable_data(), [](auto number) {
    if constexpr (std::is_same_v<decltype(number), Index>)
      return static_cast<std::int32_t>(number);
    else
      return number;
  });
  return out;
}
py::object object_of(const Value& value);
/// objective, loss, nnz, kkt, lower_bound, gap and relative_gap.
py::dict dict_of(const Certificate& found);

/// Data sets of one problem.
struct Data {
  std::shared_ptr<const DataPair> pair;
  std::string format;  ///< whose files have the same names of features and labels
  Options options;     ///< of the format

  const Dataset& part(bool test) const { return test ? pair->test : pair->train; }
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

/// Binds a function with the names of its arguments.
template <class Function, class... Names>
void add_function(py::module_& module, const char* name, const Function& function, Names... arguments) {
  module.def(name, function, py::arg(arguments)...);
}

void add_data(py::module_& module);
void add_training(py::module_& module);
void add_problem(py::module_& module);
void add_models(py::module_& module);

}  // namespace proxbench::python
