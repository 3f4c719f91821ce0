/// A config written out as an INI file, with all values that it took from defaults.

#include <fmt/format.h>

#include "experiments/config/config.h"
#include "experiments/config/config_values.h"

namespace proxbench {
namespace {

template <class Value>
void add_line(std::string& out, std::string_view key, const Value& value) {
  out += fmt::format("{} = {}\n", key, value);
  // A backslash at the end would join the next line: another one, and an empty line to join.
  if (out.ends_with("\\\n")) out.insert(out.size() - 1, "\\\n");
}

std::string paper_ini(const PaperConfig& paper) {
  if (paper.item.empty()) return "";
  std::string out = "\n[paper]\n";
  const auto line = [&](std::string_view key, const auto& value) { add_line(out, key, value); };
  line("item", paper.item);
  line("caption", paper.caption);
  line("reports", paper.reports);
  line("differs", paper.differs);
  if (!paper.lambdas.empty()) line("lambda", fmt::format("{}", fmt::join(paper.lambdas, ", ")));
  if (!paper.nnz.empty()) line("nnz", fmt::format("{}", fmt::join(paper.nnz, ", ")));
  if (!paper.accuracy.empty()) line("accuracy", fmt::format("{}", fmt::join(paper.accuracy, ", ")));
  if (paper.data) line("data", paper.data);
  if (paper.costs) line("costs", paper.costs);
  return out;
}

}  // namespace

std::string ExperimentConfig::to_ini() const {
  std::string out = "[experiment]\n";
  const auto line = [&](std::string_view key, const auto& value) { add_line(out, key, value); };
  line("name", name);
  line("title", title);
  std::vector<std::string> all_lambdas;
  for (const double one : lambdas) all_lambdas.push_back(fmt::format("{}", one));
  for (const PathGrid& path : paths) all_lambdas.push_back(path.text());
  const bool has_reference = has_singles();  // only then do its keys mean anything
  line("lambda", joined(all_lambdas));
  line("mu", mu_path ? mu_path->text() : fmt::format("{}", mu));
  line("loss", loss_name(loss.kind));
  if (loss.hinge()) line("cost", cost_name(loss.cost));
  line("threads", threads);
  if (processes > 1) line("processes", processes);
  line("backend", backend_name(backend));
  line("repetitions", repetitions);
  line("seed", seed);
  if (has_reference) {
    line("reference_solver", reference_solver);
    line("reference_tol", reference_tol);
    line("reference_gap", reference_gap);
    line("reference_time_limit", reference_time_limit);
  }
  line("sample_kkt", sample_kkt);
  line("profile", profile);
  line("sampling_budget", sampling_budget);
  line("warm_up", warm_up);
  line("stop_at", stop_at);
  line("wall_limit", std::isnan(wall_limit) ? "auto" : fmt::format("{}", wall_limit));
  line("kill_grace", kill_grace);
  line("memory_limit", memory_limit);
  line("pin", pin);
  line("order", order);
  line("decoding", decoding);
  if (has_reference) line("targets", fmt::format("{}", fmt::join(targets, ", ")));
  for (const DataConfig& one : data) {
    out += fmt::format("\n[data.{}]\n", one.name);
    line("format", one.format);
    if (!one.files.train.empty()) line("train", joined(one.files.train));
    if (!one.files.test.empty()) line("test", joined(one.files.test));
    if (!one.files.hierarchy.empty()) line("hierarchy", one.files.hierarchy);
    if (!one.oracle.empty()) line("oracle", one.oracle);
    if (!one.start.empty()) line("start", one.start);
    for (const auto& [key, value] : one.options.items()) line(key, value);
  }
  for (const SolverConfig& one : solvers) {
    out += fmt::format("\n[solver.{}]\n", one.label);
    line("solver", one.solver);
    line("tol", one.tol);
    line("gap", one.gap);
    line("time_limit", one.time_limit);
    line("max_iterations", one.max_iterations);
    for (const auto& [key, value] : one.options.items()) line(key, value);
  }
  out += "\n[slurm]\n";
  line("partition", slurm.partition);
  line("time", slurm.time);
  line("cpus", slurm.cpus);
  line("constraint", slurm.constraint);
  line("exclusive", slurm.exclusive);
  line("split", slurm.split);
  out += "\n[plot]\n";
  line("kinds", joined(plot.kinds));
  if (!has_reference) return out + paper_ini(paper);
  line("x", joined(plot.x));
  if (!plot.x_max.empty()) line("x_max", fmt::format("{}", fmt::join(plot.x_max, ", ")));
  line("quantities", joined(plot.quantities));
  line("log_seconds", plot.log_seconds);
  line("floor", plot.floor);
  line("repetitions", plot.repetitions);
  line("shift", plot.shift);
  line("par", plot.par);
  return out + paper_ini(paper);
}

}  // namespace proxbench
