/// `predict` and `certify`: what a stored model says about data, and how good it is.
#include "experiments/data/model.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <optional>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/cli/nbest.h"
#include "experiments/metrics/metrics.h"
#include "experiments/results/results.h"
#include "experiments/run/launch.h"
#include "experiments/run/read_data.h"
#include "experiments/run/tighten.h"
#include "experiments/run/trainer.h"
#include "oracles/oracles.h"
#include "solvers/best_solver.h"

namespace proxbench {
namespace {

struct ModelCommand {
  DataFlags data;
  RunFlags run;
  std::string model, output;
  bool quiet = false;
  JsonFlag json;
};

/// What the flags leave open comes from the header of the model.
const DataFormatInfo& format_of(const ModelCommand& command, const Model& model) {
  return data_format_registry().find(command.data.format.empty() ? model.at("format") : command.data.format);
}

bool made_with(const Model& model, const DataFormatInfo& format) {
  const auto name = model.header.find("format");
  return name != model.header.end() && name->second == format.name;
}

/// Reads for the oracle that the model was trained with, where it was trained on this format.
DataPair read_for(const ModelCommand& command, const Model& model, const DataFormatInfo& format,
                  const DataFiles& files, const Options& options) {
  std::string oracle = command.data.oracle;
  if (oracle.empty() && made_with(model, format) && model.header.contains("oracle"))
    oracle = model.at("oracle");
  return read_data(format, files, options, oracle, launched_processes());
}

Options data_options_of(const ModelCommand& command, const Model& model, const DataFormatInfo& format) {
  constexpr std::string_view kPrefix = "data-option.";
  Options options(format.options);
  if (made_with(model, format))
    for (const auto& [key, value] : model.header)
      if (key.starts_with(kPrefix)) options.set(key.substr(kPrefix.size()), value);
  set_options(options, command.data.options, "--data-option");
  return options;
}

/// Instances to label, and the model in their coordinates.
struct Prediction {
  Dataset data;
  std::unique_ptr<Oracle> oracle;
  SparseVector w;
  bool sequences;  ///< instances are sequences, also where each has one position
};

Prediction with_oracle(Dataset data, const std::string& oracle_name, const Model& model,
                       UnknownFeatures unknown) {
  const bool sequences = oracle_name == "chain" || data.positions() > data.instances();
  Prediction out{std::move(data), nullptr, {}, sequences};
  const OracleInfo& info = oracle_registry().find(oracle_name);
  out.oracle = make_oracle(info, out.data);
  out.w = model_weights(model, out.data, out.oracle->extra_weights(), info.extra, unknown);
  return out;
}

/// The test set of the data that the model was trained on.
Prediction test_part(DataPair pair, const Model& model) {
  if (pair.test.positions() == 0)
    throw Error::usage("no test instances, expected --test FILE (or data options that split off a test set)");
  return with_oracle(std::move(pair.test), pair.oracle, model, UnknownFeatures::kReject);
}

/// A file by itself: read as its own training set, so that the format needs no vocabulary, and matched by
/// name.
Prediction by_name(const ModelCommand& command, const DataFormatInfo& format, DataFiles files,
                   Options options, const Model& model) {
  if (files.test.empty()) throw Error::usage("no data, expected --test FILE (with or without --train FILE)");
  if (model.labels.empty())
    throw Error::in_file(model.source, 0, "no line '# labels=...'",
                         "it in the header, or --train FILE to say what the "
                         "labels are");
  if (format.fitted && format.fitted(options))
    throw Error::usage("values of format " + format.name +
                       " are scaled over the training set, expected --train FILE with what the model was "
                       "trained on");
  files.train = files.test;
  for (const auto& [name, value] : format.every_feature) options.set(name, value);
  DataPair pair = read_for(command, model, format, files, options);
  if (pair.train.positions() != pair.test.positions())
    throw Error::usage(
        fmt::format("the data options take {} of {} positions as training set; expected --data-option "
                    "values that read the file as a whole",
                    pair.train.positions(), pair.test.positions()));
  return with_oracle(with_labels(std::move(pair.test), model.labels), pair.oracle, model,
                     UnknownFeatures::kDrop);
}

/// The number of the chosen candidate of each group, from 1.
std::string choices_text(const Dataset& data, const std::vector<Index>& outputs) {
  std::string out;
  for (std::size_t i = 0; i < data.instances(); ++i)
    for (Index p = data.begin[i]; p < data.begin[i + 1]; ++p)
      if (outputs[p] != kNoOutput) out += fmt::format("{}\n", p - data.begin[i] + 1);
  return out;
}

/// The labels that are on, separated by TAB, a line for each position.
std::string sets_text(const Dataset& data, const std::vector<Index>& outputs) {
  std::string out;
  const std::size_t width = data.prediction_width();
  for (std::size_t p = 0; p < data.positions(); ++p) {
    std::vector<std::string> on;
    for (std::size_t k = 0; k < width; ++k)
      if (outputs[p * width + k] == 1) on.push_back(data.vocabulary->outputs[k]);
    out += fmt::format("{}\n", fmt::join(on, "\t"));
  }
  return out;
}

std::string labels_text(const Prediction& prediction, const std::vector<Index>& outputs) {
  const Dataset& data = prediction.data;
  if (!data.quality.empty()) return choices_text(data, outputs);
  if (!data.on.empty()) return sets_text(data, outputs);
  std::string out;
  for (std::size_t i = 0; i < data.instances(); ++i) {
    if (i > 0 && prediction.sequences) out += '\n';
    for (Index p = data.begin[i]; p < data.begin[i + 1]; ++p)
      out += data.vocabulary->outputs[outputs[p]] + "\n";
  }
  return out;
}

/// Of `predict`.
struct PredictCommand : ModelCommand {
  std::optional<std::int64_t> nbest;
  std::string nbest_format = "text";

  void check() const {
    check_writable(output);
    if (!nbest) return;
    constexpr std::int64_t kMost = 1'000'000;  // lists are kept until they are written
    if (*nbest < 1 || *nbest > kMost)
      throw Error::usage(fmt::format("--nbest {}: violated constraint 1 <= nbest <= {}", *nbest, kMost));
    if (output.empty()) throw Error::usage("--nbest without --output, expected --output FILE for the lists");
  }
  std::string text(const Prediction& prediction, const std::vector<Index>& outputs,
                   const Parallel& parallel) const {
    if (!nbest) return labels_text(prediction, outputs);
    return nbest_text(prediction.data, *prediction.oracle, prediction.w, static_cast<std::size_t>(*nbest),
                      nbest_format == "rerank" ? NbestFormat::kRerank : NbestFormat::kText, parallel);
  }
};

void predict(const PredictCommand& command) {
  command.check();
  command.json.check();
  const Options run = command.run.parse();
  const Model model = read_model(command.model);
  const DataFormatInfo& format = format_of(command, model);
  const Options options = data_options_of(command, model, format);
  const DataFiles files = command.data.find();
  const Prediction prediction = files.train.empty() && format.needs_files
                                    ? by_name(command, format, files, options, model)
                                    : test_part(read_for(command, model, format, files, options), model);
  const Dataset& data = prediction.data;
  const Parallel parallel = make_parallel(run);
  const std::vector<Index> outputs = TestSet(data, *prediction.oracle, parallel, {}).decode(prediction.w);
  const std::map<std::string, double> metrics = metrics_of(data, outputs);
  const double accuracy = metrics.at(trace_metric().name);
  const auto right = std::llround(accuracy * static_cast<double>(data.graded()));

  if (!command.output.empty())
    write_file_atomically(command.output, command.text(prediction, outputs, parallel));
  command.json.write({{"model", command.model},
                      {"instances", data.instances()},
                      {"positions", data.positions()},
                      {"correct", right},
                      {"test_accuracy", accuracy},
                      {"test_metrics", metrics}});
  if (command.quiet || command.json.to_stdout()) return;
  fmt::print("test accuracy {:.4f}: {} of {} in {} instances\n", accuracy, right, graded_text(data),
             data.instances());
  print_other_metrics(metrics);
}

/// Of `certify`.
struct CertifyCommand : ModelCommand {
  double tighten = 0.0;  ///< seconds; 0: do not
};

nlohmann::ordered_json tightened_summary(const RunOutcome& better, const Certificate& c) {
  return {{"dual", c.dual},
          {"gap", c.gap()},
          {"relative_gap", c.relative_gap()},
          {"status", status_name(*better.status)},
          {"iterations", *better.iterations},
          {"seconds", better.wall_seconds}};
}

void certify_model(const CertifyCommand& command) {
  if (!(command.tighten >= 0.0) || !std::isfinite(command.tighten))
    throw Error::usage(
        fmt::format("--tighten {}: violated constraint 0 <= tighten < infinity", command.tighten));
  command.json.check();
  const Model model = read_model(command.model);
  Options run = command.run.parse();
  for (const char* key : {"lambda", "mu"}) {
    if (command.run.given(key)) continue;
    try {
      run.set(key, model.at(key));
    } catch (const Error& error) {
      throw Error::usage(fmt::format("--{} is not given, and the model does not say: {}", key, error.what()));
    }
  }
  // Of a model without a header that names it, the log loss.
  for (const char* key : {"loss", "cost"})
    if (!command.run.given(key) && model.header.contains(key) && !command.run.given("loss"))
      run.set(key, model.at(key));
  const Loss loss = loss_of(command.run, run);
  if (loss.hinge() && command.tighten > 0.0)
    throw Error::usage(
        fmt::format("--tighten: solver '{}' minimises the log loss: found loss = hinge", kBestForL1));
  const double lambda = run.real("lambda"), mu = run.real("mu");
  Penalty{lambda, mu}.check();
  const DataFormatInfo& format = format_of(command, model);
  const LoadedData data(
      read_for(command, model, format, command.data.find(), data_options_of(command, model, format)),
      make_parallel(run));
  const SparseVector w = model_weights(model, data.train(), data.oracle().extra_weights(), data.extra_names(),
                                       UnknownFeatures::kReject);
  Objective objective = data.objective(lambda, mu, loss);
  RunOutcome outcome;
  outcome.parameters.lambda = lambda;
  outcome.parameters.mu = mu;
  outcome.parameters.loss = loss;
  outcome.kkt_at_zero = certify(objective, {}).kkt;
  outcome.certificate = certify(objective, w);
  if (data.test_set()) {
    outcome.test_metrics = metrics_of(data.test(), data.test_set()->decode(w));
    outcome.test_accuracy = outcome.test_metrics.at(trace_metric().name);
  }
  set_facts(data, outcome);
  nlohmann::ordered_json summary = outcome.summary();
  Certificate better = outcome.certificate;
  summary["tightened"] = nullptr;
  if (command.tighten > 0.0) {
    stop_cleanly_on_interrupt();
    RunParameters search = outcome.parameters;
    search.tighten = 1e-9;
    search.time_limit = command.tighten;
    const RunOutcome found = tighten(data, w, search, &interrupted);
    better.dual = std::fmax(better.dual, found.certificate.dual);
    summary["tightened"] = tightened_summary(found, better);
  }
  command.json.write(summary);
  if (command.quiet || command.json.to_stdout()) return;
  print_certificate(outcome);
  if (loss.hinge())
    fmt::print(
        "the bound is that of one structure an instance; a solver's dual point, which no model holds, proves "
        "more\n");
  if (command.tighten > 0.0)
    fmt::print("tightened: min F >= {:.10g}, a relative gap of {:.3g}\n", better.dual, better.relative_gap());
  print_test_metrics(outcome, data);
}

CLI::App* add_model_command(CLI::App& app, const std::string& name, const std::string& help,
                            ModelCommand& command) {
  CLI::App* sub = app.add_subcommand(name, help);
  sub->add_option("--model", command.model,
                  "model from `train` or `run`; its header gives format, data options, lambda, mu, loss and "
                  "cost unless flags do")
      ->required()
      ->type_name("M.tsv");
  command.data.add_to(*sub);
  command.json.add_to(*sub);
  sub->add_flag("--quiet", command.quiet, "print warnings and errors only");
  return sub;
}

}  // namespace

void add_predict_command(CLI::App& app) {
  auto command = std::make_shared<PredictCommand>();
  CLI::App* sub = add_model_command(
      app, "predict", "Label data with a model: the files of --test, or the test set that --train splits off",
      *command);
  command->run.add_to(*sub, {"threads", "backend"});
  sub->add_option(
         "--output", command->output,
         "write one label per line, a blank line between sequences; of groups of candidates the number of "
         "the chosen one, from 1")
      ->type_name("FILE");
  sub->add_option("--nbest", command->nbest, "write the N best structures of each instance to --output")
      ->type_name("N");
  sub->add_option("--nbest-format", command->nbest_format,
                  "text: rank TAB score TAB labels, or the number of the candidate; rerank: candidates with "
                  "the feature base, for --format rerank "
                  "[text]")
      ->check(CLI::IsMember({"text", "rerank"}));
  sub->callback([command] { predict(*command); });
}

void add_certify_command(CLI::App& app) {
  auto command = std::make_shared<CertifyCommand>();
  CLI::App* sub =
      add_model_command(app, "certify",
                        "Compute objective, loss, nonzeros, kkt and the certified duality gap of a "
                        "model on its training data",
                        *command);
  command->run.add_to(*sub, {"lambda", "mu", "loss", "cost", "threads", "backend"});
  sub->add_option("--tighten", command->tighten,
                  fmt::format("search this many seconds for a better lower bound: {} continues from the "
                              "model; 0: do not search [0]",
                              kBestForL1))
      ->type_name("SECONDS");
  sub->callback([command] { certify_model(*command); });
}

}  // namespace proxbench
