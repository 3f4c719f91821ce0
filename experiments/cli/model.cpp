/// `predict` and `certify`: what a stored model says about data, and how good it is.
#include "experiments/data/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "core/base/error.h"
#include "core/linear_map.h"
#include "experiments/cli/cli.h"
#include "experiments/metrics/chunks.h"
#include "experiments/metrics/metrics.h"
#include "experiments/results/results.h"
#include "experiments/run/launch.h"
#include "experiments/run/tighten.h"
#include "experiments/run/trainer.h"
#include "oracles/oracles.h"
#include "solvers/best_solver.h"

namespace proxbench {
namespace {

struct ModelCommand : OutputFlags {
  DataFlags data;
  RunFlags run;
  std::string model;

  void add_to(CLI::App& command) {
    command
        .add_option("--model", model,
                    "model from `train` or `run`; its header gives format, data options, lambda, mu, loss "
                    "and cost unless flags do")
        ->required()
        ->type_name("M.tsv");
    data.add_to(command);
    OutputFlags::add_to(command);
    for (const char* key : {"threads", "backend"}) run.add(command, key);
  }
};

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
Prediction test_part(const Model& model, const DataConfig& config) {
  DataPair pair = read_data(config, launched_processes());
  if (pair.test.positions() == 0)
    throw Error::usage("no test instances, expected --test FILE (or data options that split off a test set)");
  return with_oracle(std::move(pair.test), pair.oracle, model, UnknownFeatures::kReject);
}

/// A file by itself: read as its own training set, so that the format needs no vocabulary, and matched by
/// name.
Prediction by_name(const Model& model, DataConfig config) {
  const DataFormatInfo& format = data_format_registry().find(config.format);
  if (config.files.test.empty())
    throw Error::usage("no data, expected --test FILE (with or without --train FILE)");
  if (model.labels.empty())
    throw Error::in_file(model.source, 0, "no line '# labels=...'",
                         "it in the header, or --train FILE to say what the labels are");
  if (format.fitted && format.fitted(config.options))
    throw Error::usage("values of format " + format.name +
                       " are scaled over the training set, expected --train FILE with what the model was "
                       "trained on");
  config.files.train = config.files.test;
  for (const auto& [name, value] : format.every_feature) config.options.set(name, value);
  DataPair pair = read_data(config, launched_processes());
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

/// Instances that share a workspace.
constexpr std::size_t kInstancesPerTask = 32;

/// Writes lists of the N best structures, an empty line after those of each instance:
/// - `rank TAB score TAB output TAB output ...`, rank from 1, an output for each position; or
/// - with `rerank` a candidate of the format rerank, `correct/gold/guessed TAB base:DIFFERENCE`, counts of
///   chunks where the outputs are labels of chunks (experiments/metrics/chunks.h), else
///   `RIGHT TAB base:DIFFERENCE`, RIGHT the number of positions that are right. DIFFERENCE is the structure's
///   score less the best one's: beside its log-probability a constant of the group, which re-ranking does not
///   see.
class NbestWriter {
 public:
  NbestWriter(const Dataset& data, bool rerank)
      : data_(data), names_(data.vocabulary->outputs), rerank_(rerank) {
    if (are_chunk_labels(names_)) chunks_.emplace(data);
  }

  void write(Index instance, const NbestOracle::List& list, std::string& out) const {
    const std::size_t begin = data_.begin[instance], length = data_.begin[instance + std::size_t{1}] - begin;
    for (std::size_t r = 0; r < list.score.size(); ++r) {
      const std::span<const Index> outputs(list.outputs.data() + r * length, length);
      if (rerank_) {
        fmt::format_to(std::back_inserter(out), "{}\tbase:{}\n", quality(instance, outputs),
                       list.score[r] - list.score[0]);
        continue;
      }
      fmt::format_to(std::back_inserter(out), "{}\t{}", r + 1, list.score[r]);
      if (groups()) {
        fmt::format_to(std::back_inserter(out), "\t{}\n", chosen(outputs) + 1);
        continue;
      }
      for (const Index k : outputs) (out += '\t') += names_[k];
      out += '\n';
    }
    out += '\n';
  }

 private:
  /// Whether structures are candidates chosen from groups.
  bool groups() const { return !data_.quality.empty(); }
  static std::size_t chosen(std::span<const Index> outputs) {
    return static_cast<std::size_t>(std::find(outputs.begin(), outputs.end(), Index{0}) - outputs.begin());
  }
  static std::string text_of(const MatchCounts& counts) {
    return fmt::format("{}/{}/{}", counts.correct, counts.gold, counts.guessed);
  }

  std::string quality(Index instance, std::span<const Index> outputs) const {
    if (groups()) {
      const std::size_t p = data_.begin[instance] + chosen(outputs);
      return data_.counts.empty() ? fmt::format("{}", data_.quality[p]) : text_of(data_.counts[p]);
    }
    if (!chunks_) {
      std::size_t right = 0;
      for (std::size_t t = 0; t < outputs.size(); ++t)
        right += outputs[t] == data_.gold[data_.begin[instance] + t];
      return std::to_string(right);
    }
    return text_of(chunks_->count(instance, outputs));
  }

  const Dataset& data_;
  const std::vector<std::string>& names_;
  bool rerank_;
  std::optional<ChunkGrader> chunks_;  ///< where the outputs are labels of chunks
};

/// The lists of all instances. Throws Error (kUsage) where the oracle has no n best.
std::string nbest_text(const Prediction& prediction, std::size_t n, bool rerank, const Parallel& parallel) {
  const Dataset& data = prediction.data;
  const NbestOracle* nbest = prediction.oracle->nbest();
  if (nbest == nullptr)
    throw Error::usage("--nbest: the oracle of these data has no 'n best' (chain, tree and candidates have)");
  const LinearMap map(data.x, *prediction.oracle, parallel);
  Scores scores = map.make_scores();
  map.apply(prediction.w, scores);
  const NbestWriter writer(data, rerank);
  const Chunks chunks{data.instances(), kInstancesPerTask};
  std::vector<std::string> part(chunks.count());
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    const auto work = nbest->make_workspace();
    NbestOracle::List list;
    for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      nbest->nbest(scores, static_cast<Index>(i), n, list, *work);
      writer.write(static_cast<Index>(i), list, part[chunk]);
    }
  });
  return fmt::format("{}", fmt::join(part, ""));
}

struct PredictCommand : ModelCommand {
  std::string output, nbest_format = "text";
  std::optional<std::int64_t> nbest;

  void add_to(CLI::App& command) {
    ModelCommand::add_to(command);
    add_output(command, "--output", output,
               "write one label per line, a blank line between sequences; of groups of candidates the number "
               "of the chosen one, from 1",
               "FILE");
    command.add_option("--nbest", nbest, "write the N best structures of each instance to --output")
        ->type_name("N");
    command
        .add_option("--nbest-format", nbest_format,
                    "text: rank TAB score TAB labels, or the number of the candidate; rerank: candidates "
                    "with the feature base, for --format rerank [text]")
        ->check(CLI::IsMember({"text", "rerank"}));
  }

  void check() const {
    constexpr std::int64_t kMost = 1'000'000;  // lists are kept until they are written
    if (nbest && (*nbest < 1 || *nbest > kMost))
      throw Error::usage(fmt::format("--nbest {}: violated constraint 1 <= nbest <= {}", *nbest, kMost));
    if (nbest && output.empty())
      throw Error::usage("--nbest without --output, expected --output FILE for the lists");
  }

  std::string text(const Prediction& prediction, const std::vector<Index>& outputs,
                   const Parallel& parallel) const {
    if (!nbest) return labels_text(prediction, outputs);
    return nbest_text(prediction, static_cast<std::size_t>(*nbest), nbest_format == "rerank", parallel);
  }

  void execute() const {
    check();
    const Parallel parallel = make_parallel(config_of(run));
    const Model stored = read_model(model);
    const DataConfig config = data.read(stored.header);
    const bool alone = config.files.train.empty() && data_format_registry().find(config.format).needs_files;
    const Prediction prediction = alone ? by_name(stored, config) : test_part(stored, config);
    const Dataset& set = prediction.data;
    const std::vector<Index> outputs = TestSet(set, *prediction.oracle, parallel, {}).decode(prediction.w);
    const std::map<std::string, double> metrics = metrics_of(set, outputs);
    const double accuracy = metrics.at(trace_metric().name);
    const auto right = std::llround(accuracy * static_cast<double>(set.graded()));
    if (!output.empty()) write_file_atomically(output, text(prediction, outputs, parallel));
    json.write({{"model", model},
                {"instances", set.instances()},
                {"positions", set.positions()},
                {"correct", right},
                {"test_accuracy", accuracy},
                {"test_metrics", metrics}});
    if (!prints()) return;
    fmt::print("test accuracy {:.4f}: {} of {} in {} instances\n", accuracy, right, graded_text(set),
               set.instances());
    print_other_metrics(metrics);
  }
};

struct CertifyCommand : ModelCommand {
  double seconds = 0.0;  ///< to tighten; 0: do not

  void add_to(CLI::App& command) {
    ModelCommand::add_to(command);
    run.add(command, "lambda", "weight of ||w||_1 in F");
    run.add(command, "mu", "weight of ||w||_2^2 / 2 in F");
    run.add(command, "loss");
    run.add(command, "cost");
    command
        .add_option("--tighten", seconds,
                    fmt::format("search this many seconds for a better lower bound: {} continues from the "
                                "model; 0: do not search [0]",
                                kBestForL1))
        ->type_name("SECONDS");
  }

  /// The flags, and what the header says in their place.
  ExperimentConfig config(const Model& stored) const {
    RunFlags all = run;
    for (const char* key : {"lambda", "mu"}) {
      if (run.given(key)) continue;
      try {
        all.set(key, stored.at(key));
      } catch (const Error& error) {
        throw Error::usage(
            fmt::format("--{} is not given, and the model does not say: {}", key, error.what()));
      }
    }
    // Of a model without a header that names it, the log loss.
    for (const char* key : {"loss", "cost"})
      if (!run.given(key) && stored.header.contains(key) && !run.given("loss"))
        all.set(key, stored.header.at(key));
    return config_of(all);
  }

  void execute() const;
};

void CertifyCommand::execute() const {
  if (!(seconds >= 0.0) || !std::isfinite(seconds))
    throw Error::usage(fmt::format("--tighten {}: violated constraint 0 <= tighten < infinity", seconds));
  const Model stored = read_model(model);
  const ExperimentConfig asked = config(stored);
  const Penalty penalty = penalty_of(asked);
  RunOutcome outcome;
  RunParameters& parameters = outcome.parameters;
  parameters.loss = asked.loss;
  if (parameters.loss.hinge() && seconds > 0.0)
    throw Error::usage(
        fmt::format("--tighten: solver '{}' minimises the log loss: found loss = hinge", kBestForL1));
  parameters.lambda = penalty.lambda;
  parameters.mu = penalty.mu;
  const LoadedData loaded(read_data(data.read(stored.header), launched_processes()), make_parallel(asked));
  const SparseVector w = model_weights(stored, loaded.train(), loaded.oracle().extra_weights(),
                                       loaded.extra_names(), UnknownFeatures::kReject);
  Objective objective = loaded.objective(parameters.lambda, parameters.mu, parameters.loss);
  outcome.kkt_at_zero = certify(objective, {}).kkt;
  outcome.certificate = certify(objective, w);
  if (loaded.test_set()) {
    outcome.test_metrics = metrics_of(loaded.test(), loaded.test_set()->decode(w));
    outcome.test_accuracy = outcome.test_metrics.at(trace_metric().name);
  }
  set_facts(loaded, outcome);
  Json summary = outcome.summary();
  Certificate better = outcome.certificate;
  summary["tightened"] = nullptr;
  if (seconds > 0.0) {
    stop_cleanly_on_interrupt();
    RunParameters search = parameters;
    search.tighten = 1e-9;
    search.time_limit = seconds;
    const RunOutcome tightened = tighten(loaded, w, search, &interrupted);
    better.dual = std::fmax(better.dual, tightened.certificate.dual);
    summary["tightened"] = {{"dual", better.dual},
                            {"gap", better.gap()},
                            {"relative_gap", better.relative_gap()},
                            {"status", status_name(*tightened.status)},
                            {"iterations", *tightened.iterations},
                            {"seconds", tightened.wall_seconds}};
  }
  json.write(summary);
  if (!prints()) return;
  print_certificate(outcome);
  if (parameters.loss.hinge())
    fmt::print(
        "the bound is that of one structure an instance; a solver's dual point, which no model holds, proves "
        "more\n");
  if (seconds > 0.0)
    fmt::print("tightened: min F >= {:.10g}, a relative gap of {:.3g}\n", better.dual, better.relative_gap());
  print_test_metrics(outcome, loaded);
}

}  // namespace

void add_model_commands(CLI::App& app) {
  add_command<PredictCommand>(
      app, "predict",
      "Label data with a model: the files of --test, or the test set that --train splits off");
  add_command<CertifyCommand>(
      app, "certify",
      "Compute objective, loss, nonzeros, kkt and the certified duality gap of a model on its training data");
}

}  // namespace proxbench
