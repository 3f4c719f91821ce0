#include "experiments/results/scaling_record.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "experiments/base/files.h"

namespace proxbench {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
namespace {

constexpr const char* kExpected = "what `proxbench scale` stores";

/// One for each element of a list, from what `convert` makes of it.
template <class List, class Convert>
Json list_json(const List& list, const Convert& convert) {
  Json out = Json::array();
  for (const auto& one : list) out.push_back(convert(one));
  return out;
}
template <class Convert>
auto list_of(const Json& json, const Convert& convert) {
  std::vector<decltype(convert(json))> out;
  for (const Json& one : json) out.push_back(convert(one));
  return out;
}

Json run_json(const ScalingRun& run) {
  return {{"backend", run.backend},       {"threads", run.threads},
          {"repetition", run.repetition}, {"pinned", run.pinned},
          {"seconds", run.seconds},       {"phases", list_json(run.phases, phase_cost_json)}};
}

ScalingRun run_of(const Json& json) {
  ScalingRun run;
  json.at("backend").get_to(run.backend);
  json.at("threads").get_to(run.threads);
  json.at("repetition").get_to(run.repetition);
  json.at("pinned").get_to(run.pinned);
  json.at("seconds").get_to(run.seconds);
  run.phases = list_of(json.at("phases"), phase_cost_from_json);
  return run;
}

Json problem_json(const ScalingProblem& problem) {
  return {{"dataset", problem.dataset},
          {"description", problem.description},
          {"lambda", problem.lambda},
          {"label", problem.label},
          {"iterations", problem.iterations},
          {"status", problem.status},
          {"nnz", problem.nnz},
          {"weights", problem.weights},
          {"runs", list_json(problem.runs, run_json)}};
}

ScalingProblem problem_of(const Json& json) {
  ScalingProblem problem;
  json.at("dataset").get_to(problem.dataset);
  json.at("description").get_to(problem.description);
  json.at("lambda").get_to(problem.lambda);
  json.at("label").get_to(problem.label);
  json.at("iterations").get_to(problem.iterations);
  json.at("status").get_to(problem.status);
  json.at("nnz").get_to(problem.nnz);
  json.at("weights").get_to(problem.weights);
  problem.runs = list_of(json.at("runs"), run_of);
  return problem;
}

Json speed_json(const TeamSpeed& speed) {
  return {{"threads", speed.threads}, {"bandwidth", speed.bandwidth}, {"loop_seconds", speed.loop_seconds}};
}

TeamSpeed speed_of(const Json& json) {
  TeamSpeed speed;
  json.at("threads").get_to(speed.threads);
  json.at("bandwidth").get_to(speed.bandwidth);
  json.at("loop_seconds").get_to(speed.loop_seconds);
  return speed;
}

}  // namespace

Json phase_cost_json(const PhaseCost& phase) {
  return {{"phase", phase.phase},          {"calls", phase.calls},
          {"seconds", phase.seconds},      {"loop_seconds", phase.loop_seconds},
          {"flops", phase.flops},          {"bytes", phase.bytes},
          {"loops", phase.loops},          {"sums", phase.sums},
          {"sum_bytes", phase.sum_bytes},  {"tree_sums", phase.tree_sums},
          {"tree_bytes", phase.tree_bytes}};
}

PhaseCost phase_cost_from_json(const Json& json) {
  PhaseCost phase;
  json.at("phase").get_to(phase.phase);
  json.at("calls").get_to(phase.calls);
  json.at("seconds").get_to(phase.seconds);
  json.at("loop_seconds").get_to(phase.loop_seconds);
  json.at("flops").get_to(phase.flops);
  json.at("bytes").get_to(phase.bytes);
  json.at("loops").get_to(phase.loops);
  json.at("sums").get_to(phase.sums);
  json.at("sum_bytes").get_to(phase.sum_bytes);
  json.at("tree_sums").get_to(phase.tree_sums);
  json.at("tree_bytes").get_to(phase.tree_bytes);
  return phase;
}

std::string ScalingProblem::name() const {
  return fmt::format("{}-lambda{}-{}", dataset, lambda, label);
}

Json scaling_to_json(const Scaling& scaling) {
  return {{"experiment", scaling.name},
          {"title", scaling.title},
          {"threads", scaling.threads},
          {"backends", scaling.backends},
          {"cpus", scaling.cpus},
          {"speeds", list_json(scaling.speeds, speed_json)},
          {"problems", list_json(scaling.problems, problem_json)},
          {"provenance", scaling.provenance}};
}

Scaling read_scaling(const fs::path& file) {
  const Json json = read_json(file, kExpected);
  try {
    Scaling out;
    json.at("experiment").get_to(out.name);
    json.at("title").get_to(out.title);
    json.at("threads").get_to(out.threads);
    json.at("backends").get_to(out.backends);
    json.at("cpus").get_to(out.cpus);
    out.provenance = json.at("provenance");
    out.speeds = list_of(json.at("speeds"), speed_of);
    out.problems = list_of(json.at("problems"), problem_of);
    if (out.threads.empty() || out.problems.empty() || out.backends.empty())
      throw Error::in_file(file.string(), 0, "no threads, back ends or problems", kExpected);
    return out;
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file(file.string(), 0, error.what(), kExpected);
  }
}

}  // namespace proxbench
