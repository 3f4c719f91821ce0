/// Data sets from files, from matrices, and from lists of dicts.
#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "experiments/config/format_registry.h"
#include "experiments/config/ini_values.h"
#include "experiments/data/check_data.h"
#include "experiments/data/files.h"
#include "experiments/data/sequences/named_sequences.h"
#include "experiments/run/job.h"
#include "oracles/oracles.h"
#include "python/core/module.h"

namespace proxbench::python {
namespace {

/// Squares of values up to here have finite sums over positions, as for files.
constexpr double kLargestValue = 1e150;

/// The rows of X before they are a matrix. A test set numbers features as its training set does.
struct Rows {
  DesignMatrix::Builder rows;
  std::vector<Index> begin{0};       ///< by sequence
  std::shared_ptr<NameIndex> names;  ///< of the features
  bool is_test = false;
  std::uint64_t unknown = 0;  ///< entries of a test set whose feature is unknown
};

/// Encodes the items of python-crfsuite: an item is the attributes of one position. It is a dict, whose
/// values are numbers, bools, strings, lists or sets of strings, or dicts of such, or it is a list of
/// strings. The attribute of a string is "KEY:STRING" with the value 1, that of a nested value "KEY:" and its
/// own name.
class ItemReader {
 public:
  ItemReader(Rows& out, const std::string& name) : out_(out), name_(name) {}

  void read(const py::list& items) {
    for (const py::handle item : items) {
      prefix_.clear();
      add_item(item.ptr());
      end_position();
      if (++position_ % kItemsPerCheck == 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
  }

 private:
  static constexpr std::size_t kItemsPerCheck = 16384;

  static bool is_text(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object); }
  [[noreturn]] void fail(const std::string& found, const char* expected) const {
    const auto next = std::ranges::upper_bound(out_.begin, position_);
    throw Error::usage(fmt::format("{}[{}][{}]: found {}, expected {}", name_, next - out_.begin.begin() - 1,
                                   position_ - next[-1], found, expected));
  }
  std::string_view text_of(PyObject* object) const {
    Py_ssize_t size = 0;
    if (PyBytes_Check(object))
      return {PyBytes_AS_STRING(object), static_cast<std::size_t>(PyBytes_GET_SIZE(object))};
    if (!PyUnicode_Check(object))
      fail(fmt::format("a name of the type {}", Py_TYPE(object)->tp_name), "attributes named by strings");
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    if (text == nullptr) {
      PyErr_Clear();
      fail("a name with a lone surrogate", "names that UTF-8 can write");
    }
    return {text, static_cast<std::size_t>(size)};
  }
  void add(std::string_view name, double value) {
    if (!std::isfinite(value) || std::abs(value) > kLargestValue)
      fail(fmt::format("the value {:g} of '{}{}'", value, prefix_, name), "finite values up to 1e150");
    row_.text += prefix_;
    row_.add(name, value);
  }
  /// The items of a list, tuple or set of names.
  void add_names(PyObject* names) {
    const auto iterator = py::reinterpret_steal<py::object>(PyObject_GetIter(names));
    while (const auto one = py::reinterpret_steal<py::object>(PyIter_Next(iterator.ptr())))
      add(text_of(one.ptr()), 1.0);
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  }
  void add_value(std::string_view key, PyObject* value) {
    if (PyFloat_CheckExact(value)) return add(key, PyFloat_AS_DOUBLE(value));
    const std::size_t outer = prefix_.size();
    if (is_text(value)) {
      (prefix_ += key) += ':';
      add(text_of(value), 1.0);
    } else if (PyDict_Check(value) || is_list(value)) {
      (prefix_ += key) += ':';
      add_item(value);
    } else {
      const double number = PyFloat_AsDouble(value);
      if (number == -1.0 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        fail(fmt::format("a value of the type {} for '{}{}'", Py_TYPE(value)->tp_name, prefix_, key),
             "a number, bool, string, list of strings or dict");
      }
      add(key, number);
    }
    prefix_.resize(outer);
  }
  static bool is_list(PyObject* object) {
    return PyList_Check(object) || PyTuple_Check(object) || PyAnySet_Check(object);
  }
  void add_item(PyObject* item) {
    if (is_list(item)) return add_names(item);
    if (!PyDict_Check(item))
      fail(fmt::format("an item of the type {}", Py_TYPE(item)->tp_name), "a dict or a list of strings");
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t at = 0; PyDict_Next(item, &at, &key, &value);) add_value(text_of(key), value);
  }
  void end_position() {
    if (out_.is_test) {
      for (std::size_t e = 0; e < row_.value.size(); ++e)
        if (const auto known = out_.names->find(row_.name(e)))
          out_.rows.add(*known, row_.value[e]);
        else
          ++out_.unknown;
    } else {
      out_.names->intern(row_, numbers_);
      for (std::size_t e = 0; e < numbers_.size(); ++e) out_.rows.add(numbers_[e], row_.value[e]);
    }
    out_.rows.end_position();
    row_.text.clear();
    row_.text_end.clear();
    row_.value.clear();
  }

  Rows& out_;
  const std::string& name_;
  std::size_t position_ = 0;
  std::string prefix_;
  NamedRows row_;
  std::vector<Index> numbers_;
};

Rows new_rows(const Integers& begin, const Rows* train) {
  return {.rows = {},
          .begin = list_of<Index>(begin),
          .names = train != nullptr ? train->names : std::make_shared<NameIndex>(),
          .is_test = train != nullptr};
}

Rows rows_of_items(const py::list& items, const Integers& begin, const Rows* train, const std::string& name) {
  Rows out = new_rows(begin, train);
  ItemReader(out, name).read(items);
  return out;
}

/// Entries of a row may come in any order; repeated ones are added. `names` are those of the columns of a
/// training set.
Rows rows_of_csr(const Integers& indptr, const Integers& indices, const Reals& values, const Integers& begin,
                 const std::vector<std::string>& names, const Rows* train) {
  Rows out = new_rows(begin, train);
  if (train == nullptr)
    for (const std::string& name : names) out.names->intern(name);
  for (py::ssize_t p = 0; p + 1 < indptr.size(); ++p) {
    for (std::int64_t e = indptr.data()[p]; e < indptr.data()[p + 1]; ++e)
      out.rows.add(static_cast<Index>(indices.data()[e]), values.data()[e]);
    out.rows.end_position();
  }
  return out;
}

/// What is known of the instances beside X: gold outputs (-1: unknown, -2: none), qualities, and label sets.
using Truth = std::tuple<Integers, std::vector<double>, std::vector<std::size_t>, Integers>;

Dataset dataset_of(Rows&& rows, const Truth& truth, std::shared_ptr<const Vocabulary> vocabulary,
                   std::shared_ptr<const Hierarchy> hierarchy, std::string description) {
  Dataset out;
  out.begin = std::move(rows.begin);
  const auto& [gold, quality, label_begin, label] = truth;
  out.gold = list_of<Index>(gold);
  out.quality = quality;
  out.on = {label_begin, list_of<Index>(label)};
  if (rows.unknown > 0) out.notes["unknown attributes"] = rows.unknown;
  out.x = std::move(rows.rows).build(static_cast<Index>(vocabulary->features.size()));
  out.vocabulary = std::move(vocabulary);
  out.hierarchy = std::move(hierarchy);
  out.description = std::move(description);
  out.digest = digest_of(out);
  return out;
}

Data make_data(Rows& rows, const Truth& truth, const std::vector<std::string>& outputs,
               const std::optional<std::vector<Index>>& parents, const std::string& description,
               const std::string& oracle, const std::string& format, const Texts& options, Rows* test_rows,
               const std::optional<Truth>& test_truth) {
  const auto hierarchy = parents ? std::make_shared<const Hierarchy>(*parents) : nullptr;
  auto pair = std::make_shared<DataPair>();
  Data out{nullptr, format, options_from(data_format_registry().find(format).options, options)};
  stop_on_signals("the data were read", [&](const Interrupt&) {
    const auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary{rows.names->names(), outputs});
    pair->oracle = oracle;
    pair->train = dataset_of(std::move(rows), truth, vocabulary, hierarchy, description);
    if (test_rows != nullptr)
      pair->test =
          dataset_of(std::move(*test_rows), *test_truth, vocabulary, hierarchy, description + ", test");
    for (Dataset* set : {&pair->train, &pair->test})
      if (set->positions() > 0) make_oracle(oracle_registry().find(oracle), *set);
    if (std::string warning = label_warning(pair->train); !warning.empty())
      pair->train.warnings.push_back(std::move(warning));
  });
  out.pair = std::move(pair);
  return out;
}

Data read(const std::string& format, const std::vector<std::string>& train,
          const std::vector<std::string>& test, const std::string& hierarchy, const std::string& oracle,
          const Texts& options) {
  const DataFormatInfo& info = data_format_registry().find(format);
  const auto found = [](const std::string& name) {
    return name.empty() ? name : find_data_file(name, "").string();
  };
  Data out{nullptr, format, Options(info.options)};
  for (const auto& [key, value] : options) set_option(out.options, key, value, found);
  DataFiles files;
  for (const std::string& name : train) files.train.push_back(found(name));
  for (const std::string& name : test) files.test.push_back(found(name));
  files.hierarchy = found(hierarchy);
  if (info.needs_files && files.train.empty())
    throw Error::usage("train: found no file, expected those of format ", format);
  stop_on_signals("the data were read", [&](const Interrupt&) {
    out.pair = std::make_shared<const DataPair>(read_data(info, files, out.options, oracle));
  });
  return out;
}

/// The facts of a data set.
py::dict facts_of(const Dataset& set) {
  py::dict out;
  out["instances"] = set.instances();
  out["positions"] = set.positions();
  out["nonzeros"] = set.x.nonzeros();
  out["description"] = set.description;
  out["digest"] = digest_text(set.digest);
  out["notes"] = set.notes;
  out["warnings"] = set.warnings;
  return out;
}

/// X as (indptr, indices, values).
py::tuple csr_of(const Dataset& set) {
  std::vector<std::int64_t> indptr{0};
  std::vector<Index> indices;
  std::vector<double> values;
  for (Index p = 0; p < set.x.positions(); ++p) {
    set.x.for_each_entry(p, [&](Index j, double value) {
      indices.push_back(j);
      values.push_back(value);
    });
    indptr.push_back(std::ssize(indices));
  }
  return py::make_tuple(array_of(indptr), array_of(indices), array_of(values));
}

}  // namespace

Coord Data::dimension() const {
  const Dataset& train = pair->train;
  return static_cast<Coord>(train.x.features()) * train.outputs() +
         make_oracle(oracle_registry().find(pair->oracle), train)->extra_weights();
}

std::unique_ptr<LoadedData> Data::with_threads(int threads) const {
  return std::make_unique<LoadedData>(pair, Parallel(resolved_threads(threads)));
}

void add_data(py::module_& module) {
  py::class_<Rows>(module, "Rows").def_property_readonly("features", [](const Rows& rows) {
    return rows.names->names().size();
  });
  add_function(module, "rows_of_items", &rows_of_items, "items", "begin", "train", "name");
  add_function(module, "rows_of_csr", &rows_of_csr, "indptr", "indices", "values", "begin", "names", "train");
  add_function(module, "make_data", &make_data, "rows", "truth", "outputs", "parents", "description",
               "oracle", "format", "options", "test_rows", "test_truth");
  add_function(module, "read", &read, "format", "train", "test", "hierarchy", "oracle", "options");
  py::class_<Data>(module, "Data")
      .def_property_readonly("oracle", [](const Data& data) { return data.pair->oracle; })
      .def_readonly("format", &Data::format)
      .def_property_readonly("dimension", &Data::dimension)
      .def_property_readonly("features",
                             [](const Data& data) { return data.pair->train.vocabulary->features; })
      .def_property_readonly("outputs", [](const Data& data) { return data.pair->train.vocabulary->outputs; })
      .def("facts", [](const Data& data, bool test) { return facts_of(data.part(test)); })
      .def("begin", [](const Data& data, bool test) { return data.part(test).begin; })
      .def("gold", [](const Data& data, bool test) { return array_of(data.part(test).gold); })
      .def("csr", [](const Data& data, bool test) { return csr_of(data.part(test)); });
}

}  // namespace proxbench::python
