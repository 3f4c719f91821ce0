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
  std::size_t positions = 0;
};

/// Encodes the items of python-crfsuite: an item is the attributes of one position. It is a dict, whose
/// values are numbers, bools, strings, lists or sets of strings, or dicts of such, or it is a list of
/// strings. The attribute of a string is "KEY:STRING" with the value 1, that of a nested value "KEY:" and its
/// own name.
class ItemReader {
 public:
  ItemReader(Rows& out, const char* name) : out_(out), name_(name) {}

  void read(const py::object& sequences) {
    std::size_t i = 0;
    if (PySequence_Check(sequences.ptr()) == 0)
      throw Error::usage(fmt::format("{}: found a {}, expected a list of sequences", name_,
                                     Py_TYPE(sequences.ptr())->tp_name));
    for (const py::handle sequence : py::iter(sequences)) {
      std::size_t t = 0;
      if (PyDict_Check(sequence.ptr()) || is_text(sequence.ptr()) || PySequence_Check(sequence.ptr()) == 0)
        throw Error::usage(fmt::format("{}[{}]: found a {}, expected a list of items, one a position", name_,
                                       i, Py_TYPE(sequence.ptr())->tp_name));
      for (const py::handle item : py::iter(sequence)) {
        where_ = {i, t};
        prefix_.clear();
        add_item(item.ptr());
        end_position();
        ++t;
      }
      if (t == 0)
        throw Error::usage(fmt::format("{}[{}]: found an empty sequence, expected positions", name_, i));
      out_.begin.push_back(static_cast<Index>(out_.positions));
      ++i;
      if (i % kSequencesPerCheck == 0 && PyErr_CheckSignals() != 0) throw py::error_already_set();
    }
  }

 private:
  static constexpr std::size_t kSequencesPerCheck = 1024;

  static bool is_text(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object); }
  [[noreturn]] void fail(const std::string& found, const char* expected) const {
    throw Error::usage(fmt::format("{}[{}][{}]: found {}, expected {}", name_, where_.first, where_.second,
                                   found, expected));
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
    ++out_.positions;
    row_.text.clear();
    row_.text_end.clear();
    row_.value.clear();
  }

  Rows& out_;
  const char* name_;
  std::pair<std::size_t, std::size_t> where_;
  std::string prefix_;
  NamedRows row_;
  std::vector<Index> numbers_;
};

Rows new_rows(const Rows* train) {
  Rows out;
  out.is_test = train != nullptr;
  out.names = train != nullptr ? train->names : std::make_shared<NameIndex>();
  return out;
}

Rows rows_of_items(const py::object& x, const Rows* train, const char* name) {
  Rows out = new_rows(train);
  ItemReader(out, name).read(x);
  return out;
}

/// Entries of a row may come in any order; repeated ones are added.
Rows rows_of_csr(const Integers& indptr, const Integers& indices, const Reals& values, std::int64_t columns,
                 const Integers& begin, const std::vector<std::string>& names, const Rows* train,
                 const char* name) {
  Rows out = new_rows(train);
  const std::int64_t entries = indices.size();
  require_size(values, static_cast<std::size_t>(entries), "the matrix's data");
  if (train == nullptr) {
    for (std::int64_t j = 0; j < columns; ++j)
      if (out.names->intern(names.empty() ? std::to_string(j) : names.at(static_cast<std::size_t>(j))) != j)
        throw Error::usage("feature names: found '", names.at(static_cast<std::size_t>(j)),
                           "' twice, expected distinct ones");
  } else if (static_cast<std::size_t>(columns) != out.names->names().size()) {
    throw Error::usage(name, ": found ", columns, " columns, expected ", out.names->names().size(),
                       ", as in training");
  }
  for (py::ssize_t p = 0; p + 1 < indptr.size(); ++p) {
    const std::int64_t first = indptr.data()[p], last = indptr.data()[p + 1];
    if (first < 0 || last < first || last > entries)
      throw Error::usage(name, ": found indptr[", p + 1, "] = ", last, ", expected ascending offsets up to ",
                         entries);
    for (std::int64_t e = first; e < last; ++e) {
      const std::int64_t j = indices.data()[e];
      const double value = values.data()[e];
      if (j < 0 || j >= columns)
        throw Error::usage(name, ", row ", p, ": found column ", j, ", expected one below ", columns);
      if (!std::isfinite(value) || std::abs(value) > kLargestValue)
        throw Error::usage(fmt::format("{}, row {}, column {}: found {}, expected finite values up to 1e150",
                                       name, p, j, std::isnan(value) ? "NaN" : fmt::format("{:g}", value)));
      out.rows.add(static_cast<Index>(j), value);
    }
    out.rows.end_position();
    ++out.positions;
  }
  for (py::ssize_t i = 1; i < begin.size(); ++i) out.begin.push_back(static_cast<Index>(begin.data()[i]));
  return out;
}

std::vector<Index> indices_of(const Integers& given) {
  return {given.data(), given.data() + given.size()};
}

/// What is known of the instances beside X.
struct Truth {
  Integers gold;  ///< -1: unknown, -2: none
  std::vector<double> quality;
  std::vector<std::size_t> label_begin;  ///< of sets of labels; empty: there are none
  std::vector<Index> label;
};

Dataset dataset_of(Rows&& rows, const Truth& truth, std::shared_ptr<const Vocabulary> vocabulary,
                   std::shared_ptr<const Hierarchy> hierarchy, std::string description) {
  Dataset out;
  out.begin = std::move(rows.begin);
  for (py::ssize_t p = 0; p < truth.gold.size(); ++p)
    out.gold.push_back(static_cast<Index>(static_cast<std::int32_t>(truth.gold.data()[p])));
  out.quality = truth.quality;
  out.on = {truth.label_begin, truth.label};
  if (rows.unknown > 0) out.notes["unknown attributes"] = rows.unknown;
  out.x = std::move(rows.rows).build(static_cast<Index>(vocabulary->features.size()));
  out.vocabulary = std::move(vocabulary);
  out.hierarchy = std::move(hierarchy);
  out.description = std::move(description);
  out.digest = digest_of(out);
  return out;
}

Data make_data(Rows& rows, const Truth& truth, const std::vector<std::string>& outputs,
               const std::optional<std::vector<std::int64_t>>& parents, const std::string& description,
               const std::string& oracle, const std::string& format, const Texts& options, Rows* test_rows,
               const Truth* test_truth) {
  std::shared_ptr<const Hierarchy> hierarchy;
  if (parents)
    hierarchy = std::make_shared<const Hierarchy>(std::vector<Index>(parents->begin(), parents->end()));
  auto pair = std::make_shared<DataPair>();
  Data out{nullptr, format, options_from(data_format_registry().find(format).options, options)};
  std::atomic<bool> interrupt = false;
  in_background(interrupt, [&] {
    const StopScope scope(StopToken(Interrupt(&interrupt)), "the data were read");
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
  std::atomic<bool> interrupt = false;
  in_background(interrupt, [&] {
    const StopScope scope(StopToken(Interrupt(&interrupt)), "the data were read");
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
  const Index positions = set.x.positions();
  py::array_t<std::int64_t> indptr(positions + py::ssize_t{1}),
      indices(static_cast<py::ssize_t>(set.x.nonzeros()));
  py::array_t<double> values(static_cast<py::ssize_t>(set.x.nonzeros()));
  std::int64_t at = 0;
  indptr.mutable_data()[0] = 0;
  for (Index p = 0; p < positions; ++p) {
    set.x.for_each_entry(p, [&](Index j, double value) {
      indices.mutable_data()[at] = j;
      values.mutable_data()[at++] = value;
    });
    indptr.mutable_data()[p + 1] = at;
  }
  return py::make_tuple(indptr, indices, values);
}

/// Gold outputs, -1 where unknown and -2 where there is none.
py::array_t<std::int64_t> gold_of(const Dataset& set) {
  py::array_t<std::int64_t> out(static_cast<py::ssize_t>(set.gold.size()));
  for (std::size_t p = 0; p < set.gold.size(); ++p)
    out.mutable_data()[p] = static_cast<std::int32_t>(set.gold[p]);
  return out;
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
  py::class_<Rows>(module, "Rows")
      .def_readonly("positions", &Rows::positions)
      .def_readonly("unknown", &Rows::unknown);
  py::class_<Truth>(module, "Truth")
      .def(py::init([](Integers gold, std::vector<double> quality, std::vector<std::size_t> label_begin,
                       const Integers& label) {
             return Truth{std::move(gold), std::move(quality), std::move(label_begin), indices_of(label)};
           }),
           py::arg("gold"), py::arg("quality") = std::vector<double>(),
           py::arg("label_begin") = std::vector<std::size_t>(), py::arg("label") = Integers());
  module.def("rows_of_items", &rows_of_items, py::arg("x"), py::arg("train").none(true) = nullptr,
             py::arg("name") = "X");
  module.def("rows_of_csr", &rows_of_csr, py::arg("indptr"), py::arg("indices"), py::arg("values"),
             py::arg("columns"), py::arg("begin"), py::arg("names"), py::arg("train").none(true) = nullptr,
             py::arg("name") = "X");
  module.def("make_data", &make_data, py::arg("rows"), py::arg("truth"), py::arg("outputs"),
             py::arg("parents"), py::arg("description"), py::arg("oracle"), py::arg("format"),
             py::arg("options"), py::arg("test_rows").none(true) = nullptr,
             py::arg("test_truth").none(true) = nullptr);
  module.def("read", &read, py::arg("format"), py::arg("train"), py::arg("test"), py::arg("hierarchy"),
             py::arg("oracle"), py::arg("options"));
  py::class_<Data>(module, "Data")
      .def_property_readonly("oracle", [](const Data& data) { return data.pair->oracle; })
      .def_readonly("format", &Data::format)
      .def_property_readonly("features",
                             [](const Data& data) { return data.pair->train.vocabulary->features; })
      .def_property_readonly("outputs", [](const Data& data) { return data.pair->train.vocabulary->outputs; })
      .def("facts",
           [](const Data& data, bool test) { return facts_of(test ? data.pair->test : data.pair->train); })
      .def("begin",
           [](const Data& data, bool test) { return (test ? data.pair->test : data.pair->train).begin; })
      .def("gold",
           [](const Data& data, bool test) { return gold_of(test ? data.pair->test : data.pair->train); })
      .def("csr",
           [](const Data& data, bool test) { return csr_of(test ? data.pair->test : data.pair->train); });
}

}  // namespace proxbench::python
