/// Models: predictions, marginals, N best structures and files.

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/tagger.h"
#include "oracles/oracles.h"
#include "python/core/module.h"

namespace proxbench::python {
namespace {

using Outputs = py::array_t<std::int64_t>;

/// A model applied to one data set, the training or the test part of Data.
class Applied {
 public:
  Applied(const Model& model, const Data& data, bool test, int threads)
      : parallel_(resolved_threads(threads)) {
    const Dataset& set = data.part(test);
    if (set.instances() == 0) throw Error::usage("data: found no test set, expected one");
    batch_.oracle = data.pair->oracle;
    batch_.data = with_labels(set, model.labels);
    const OracleInfo& info = oracle_registry().find(batch_.oracle);
    if (model.at("oracle") != batch_.oracle)
      throw Error::usage("data: found those of oracle '", batch_.oracle, "', expected '", model.at("oracle"),
                         "', as in training");
    tagged_.oracle = make_oracle(info, batch_.data);
    const SparseVector w = model_weights(model, batch_.data, tagged_.oracle->extra_weights(), info.extra,
                                         UnknownFeatures::kDrop);
    const LinearMap map(batch_.data.x, *tagged_.oracle, parallel_);
    tagged_.scores = map.make_scores();
    map.apply(w, tagged_.scores);
    tagged_.outputs.resize(batch_.data.prediction_size());
    tagged_.oracle->decode(tagged_.scores, Decoding::kStructure, tagged_.outputs, parallel_);
  }

  Outputs outputs() const { return array_of(tagged_.outputs); }

  /// Probabilities: one for each output at each position.
  py::array_t<double> marginals() const {
    const Index positions = batch_.data.x.positions(), outputs = batch_.data.outputs();
    py::array_t<double> out({static_cast<py::ssize_t>(positions), static_cast<py::ssize_t>(outputs)});
    double* const to = out.mutable_data();
    const py::gil_scoped_release released;
    const Marginals marginals(batch_, tagged_, parallel_);
    for (Index p = 0; p < positions; ++p)
      for (Index k = 0; k < outputs; ++k) to[std::size_t{p} * outputs + k] = marginals.at(p, k);
    return out;
  }

  /// For each instance a list of (score, outputs), best first.
  py::list nbest(std::size_t n) const {
    const NbestOracle* const oracle = tagged_.oracle->nbest();
    if (oracle == nullptr)
      throw Error::usage("nbest: oracle '", batch_.oracle, "' has none, expected chain, tree or candidates");
    if (n == 0) throw Error::usage("n: found 0, expected a number of structures above 0");
    py::list out;
    for (Index i = 0; i < batch_.data.instances(); ++i) {
      NbestOracle::List found;
      oracle->nbest(tagged_.scores, i, n, found);
      py::list all;
      const std::size_t size = found.outputs.size() / std::max<std::size_t>(found.score.size(), 1);
      for (std::size_t s = 0; s < found.score.size(); ++s)
        all.append(py::make_tuple(found.score[s],
                                  array_of(std::span<const Index>(found.outputs).subspan(s * size, size))));
      out.append(all);
    }
    return out;
  }

  std::map<std::string, double> metrics() const { return metrics_of(batch_.data, tagged_.outputs); }

 private:
  Parallel parallel_;
  DataBatch batch_;
  Tagged tagged_;
};

std::unique_ptr<Applied> apply(const Model& model, const Data& data, bool test, int threads) {
  std::unique_ptr<Applied> out;
  stop_on_signals("the model was applied",
                  [&](const Interrupt&) { out = std::make_unique<Applied>(model, data, test, threads); });
  return out;
}

/// The model's weights in the coordinates of the data, as (coordinates, values).
Sparse weights_for(const Model& model, const Data& data) {
  const Dataset& train = data.pair->train;
  const OracleInfo& info = oracle_registry().find(data.pair->oracle);
  return pair_of(model_weights(model, train, make_oracle(info, train)->extra_weights(), info.extra,
                               UnknownFeatures::kReject));
}

/// The nonzero unary weights: names of features, offsets of rows, outputs, values.
py::tuple unary_of(const Model& model) {
  py::list names;
  std::vector<std::size_t> begin{0};
  std::vector<Index> outputs;
  std::vector<double> values;
  model.unary.for_each([&](Index, const WeightTable::Row& row) {
    names.append(py::str(row.name.data(), row.name.size()));
    row.for_each([&](Index k, double weight) {
      outputs.push_back(k);
      values.push_back(weight);
    });
    begin.push_back(values.size());
  });
  return py::make_tuple(names, array_of(begin), array_of(outputs), array_of(values));
}

py::list extra_of(const Model& model) {
  py::list out;
  for (const Model::ExtraWeight& one : model.extra)
    out.append(py::make_tuple(one.word, one.names, one.weight));
  return out;
}

Model model_of_bytes(const py::bytes& bytes) {
  return parse_model(std::string_view(bytes), "a model in memory");
}

}  // namespace

void add_models(py::module_& module) {
  py::class_<Applied>(module, "Applied")
      .def("outputs", &Applied::outputs)
      .def("marginals", &Applied::marginals)
      .def("nbest", &Applied::nbest, py::arg("n"))
      .def("metrics", &Applied::metrics);
  py::class_<Model>(module, "Model")
      .def_readonly("header", &Model::header)
      .def_readonly("labels", &Model::labels)
      .def_readonly("outputs", &Model::outputs)
      .def("unary", &unary_of)
      .def("extra", &extra_of)
      .def("apply", &apply, py::arg("data"), py::arg("test"), py::arg("threads"))
      .def("weights_for", &weights_for, py::arg("data"))
      .def("save",
           [](const Model& model, const std::string& file) {
             write_file_atomically(file, names_binary_model(file) ? model_bytes(model) : model_text(model));
           })
      .def(py::pickle([](const Model& model) { return py::bytes(model_bytes(model)); }, &model_of_bytes));
  add_function(module, "parse_model", &model_of_bytes, "text");
  module.def(
      "load_model", [](const std::string& file) { return read_model(file); }, py::arg("file"));
}

}  // namespace proxbench::python
