#include "python/core/module.h"

#include <pthread.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/base/error.h"

namespace proxbench::python {
namespace {

/// How often the waiting thread looks for signals.
constexpr std::chrono::milliseconds kPoll{50};
/// How many polls after a signal code in Python gets to end by itself, such as a solver by its next step.
constexpr int kPollsToEnd = 10;

/// How long the end of Python waits for work on threads that Python does not wait for.
constexpr std::chrono::seconds kEndPatience{10};

/// A thread that still works when Python has ended would end the process by an abort, since it cannot take
/// the GIL again. So work stops before.
std::atomic<bool> python_ends = false;
std::atomic<int> running = 0;

struct Running {
  Running() {
    if (python_ends) throw Error("found a call while Python ends, expected none");
    ++running;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { --running; }
};

void stop_all() {
  python_ends = true;
  const py::gil_scoped_release released;
  const auto until = std::chrono::steady_clock::now() + kEndPatience;
  while (running > 0 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(kPoll);
}

/// proxbench.errors has the classes; UsageError is for wrong arguments.
void raise_error(const Error& error) {
  const py::module_ errors = py::module_::import("proxbench.errors");
  const char* const name = error.kind() == ErrorKind::kUsage ? "UsageError" : "Error";
  PyErr_SetString(errors.attr(name).ptr(), error.what());
}

}  // namespace

void in_background(std::atomic<bool>& interrupt, const std::function<void()>& work) {
  const Running counted;
  std::exception_ptr failure;
  std::optional<py::error_already_set> signal;
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  int polls = 0;
  {
    const py::gil_scoped_release released;
    std::thread worker([&] {
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      done = true;
      ended.notify_one();
    });
    for (std::unique_lock lock(mutex); !ended.wait_for(lock, kPoll, [&] { return done; });) {
      lock.unlock();
      {
        const py::gil_scoped_acquire held;
        if (python_ends) interrupt = true;
        if (!signal && PyErr_CheckSignals() != 0) {
          signal.emplace();
          interrupt = true;
        } else if (signal && ++polls % kPollsToEnd == 0) {
          // Raises the exception in code in Python on that thread, if there is any.
          PyThreadState_SetAsyncExc(static_cast<unsigned long>(worker.native_handle()), signal->type().ptr());
        }
      }
      lock.lock();
    }
    worker.join();
  }
  if (signal) throw py::error_already_set(*signal);
  if (failure) std::rethrow_exception(failure);
}

void stop_on_signals(const char* what, const std::function<void(const Interrupt&)>& work) {
  std::atomic<bool> interrupt = false;
  in_background(interrupt, [&] {
    const StopScope scope(StopToken(Interrupt(&interrupt)), what);
    work(&interrupt);
  });
}

SparseVector vector_of(const Sparse& w) {
  return {list_of<Coord>(w.first), {w.second.data(), w.second.data() + w.second.size()}};
}

Sparse pair_of(const SparseVector& w) {
  return {array_of(w.index), array_of(w.value)};
}

py::dict dict_of(const Certificate& found) {
  py::dict out;
  out["objective"] = found.objective;
  out["loss"] = found.loss;
  out["nnz"] = found.nnz;
  out["kkt"] = found.kkt;
  out["lower_bound"] = found.dual;
  out["gap"] = found.gap();
  out["relative_gap"] = found.relative_gap();
  return out;
}

py::object object_of(const Value& value) {
  return std::visit(
      [](const auto& held) -> py::object {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return py::none();
        } else if constexpr (std::is_same_v<T, Value::List>) {
          py::list out;
          for (const Value& one : held) out.append(object_of(one));
          return out;
        } else if constexpr (std::is_same_v<T, Value::Map>) {
          py::dict out;
          for (const auto& [name, one] : held) out[py::str(name)] = object_of(one);
          return out;
        } else {
          return py::cast(held);
        }
      },
      value.held);
}

}  // namespace proxbench::python

PYBIND11_MODULE(_core, module) {
  namespace here = proxbench::python;
  module.doc() = "The compiled part of the package proxbench.";
  pybind11::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const proxbench::Error& error) {
      here::raise_error(error);
    }
  });
  // Other threads of the parent do not exist in a forked child.
  pthread_atfork(nullptr, nullptr, [] { here::running = 0; });
  pybind11::module_::import("atexit").attr("register")(pybind11::cpp_function(&here::stop_all));
  here::add_data(module);
  here::add_training(module);
  here::add_models(module);
  here::add_problem(module);
}
