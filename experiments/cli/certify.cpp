/// `certify`: measures how good a stored model is.
#include <fmt/format.h>

#include <cmath>

#include "core/base/error.h"
#include "experiments/cli/cli.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/launch.h"
#include "experiments/run/tagger.h"
#include "experiments/run/tighten.h"
#include "experiments/run/training.h"
#include "solvers/best_solver.h"

namespace proxbench {
namespace {

struct CertifyCommand : ModelFlags {
  double seconds = 0.0;  ///< time limit of --tighten; 0: do not tighten

  void add_to(CLI::App& command) {
    ModelFlags::add_to(command)->required();
    run.take_no_paths();
    run.add(command, "lambda", "weight of ||w||_1 in F");
    run.add(command, "mu", "weight of ||w||_2^2 / 2 in F");
    run.add(command, "loss");
    run.add(command, "cost");
    command
        .add_option("--tighten", seconds,
                    fmt::format("search this many seconds for a better lower bound: {} continues from the "
                                "model; 0: do not search [0]",
                                kBestForL1))
        ->check(CLI::Range(0.0, 1e9))
        ->type_name("SECONDS");
  }

  /// Combines the flags with the model's header. The header supplies values that no flag gives.
  ExperimentConfig config(const Model& stored) const {
    for (const char* key : {"lambda", "mu"})
      if (!run.given(key) && !stored.header.contains(key))
        throw Error::usage(fmt::format("--{} is not given, and {} has no line '# {}=...'", key, model, key));
    // A model without a loss in its header was trained with the log loss, the default.
    return config_of(run, stored.header);
  }

  /// Warns if the data differ from the model's training data.
  void compare(const Model& stored, const LoadedData& loaded) const {
    const std::string digest = digest_text(loaded.train().digest);
    const auto own = stored.header.find("data_digest");
    if (own != stored.header.end() && own->second != digest)
      ProgressPrinter(quiet).warning(
          fmt::format("these data differ from the model's training data (digest {}, its header says {}): "
                      "objective, kkt and bound are those of these data",
                      digest, own->second));
  }

  void execute() const {
    const Model stored = read_model(input_file(model));
    const ExperimentConfig asked = config(stored);
    const Penalty penalty = penalty_of(asked);
    RunOutcome outcome;
    RunParameters& parameters = outcome.parameters;
    parameters.loss = asked.loss;
    if (parameters.loss.hinge() && seconds > 0.0)
      throw Error::usage(
          fmt::format("--tighten: solver '{}' minimises the log loss: found loss = hinge", kBestForL1));
    parameters.penalty = penalty;
    const StopScope scope = interruptible("the model was certified");
    const LoadedData loaded(read_data(data.read(stored.header), launched_processes()), make_parallel(asked));
    compare(stored, loaded);
    const SparseVector w = model_weights(stored, loaded.train(), loaded.oracle().extra_weights(),
                                         loaded.extra_names(), UnknownFeatures::kReject);
    for (const auto& [set, name] : {std::pair(&loaded.train(), "training"), {&loaded.test(), "test"}}) {
      if (set->positions() == 0) continue;
      if (const std::string mismatch = fit_of(*set, stored, w).warning(stored); !mismatch.empty())
        ProgressPrinter(quiet).warning(fmt::format("{} data: {}", name, mismatch));
    }
    Objective objective = loaded.objective(penalty, parameters.loss);
    outcome.kkt_at_zero = kkt_at_zero(objective);
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
          "the bound uses one structure per instance; the solver's dual point, which a model does not store, "
          "gives a better one\n");
    if (seconds > 0.0) fmt::print("tightened: {}\n", proof_text(better));
    print_test_metrics(outcome, loaded);
  }
};

}  // namespace

CLI::Option* ModelFlags::add_to(CLI::App& command) {
  CLI::Option* const option = command
                                  .add_option("--model", model,
                                              "model from `train` or `run`, text or binary; its header gives "
                                              "format, data options, lambda, mu, loss "
                                              "and cost unless flags do")
                                  ->type_name("M.tsv");
  data.add_to(command);
  OutputFlags::add_to(command);
  for (const char* key : {"threads", "backend"}) run.add(command, key);
  return option;
}

void add_certify_command(CLI::App& app) {
  add_command<CertifyCommand>(
      app, "certify",
      "Compute objective, loss, nonzeros, kkt and the certified duality gap of a model on its training data");
}

}  // namespace proxbench
