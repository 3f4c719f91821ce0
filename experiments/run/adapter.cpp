#include "experiments/run/adapter.h"

#include <fmt/format.h>

#include <cstdlib>

#include "experiments/base/files.h"
#include "experiments/base/process.h"
#include "experiments/base/text.h"

namespace proxbench {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of algorithms

/// The folders of adapters: beside an installed program, and in the sources.
std::vector<fs::path> adapter_folders() {
  return {program_folder() / "../share/proxbench/trainers", PROXBENCH_TRAINERS};
}

/// Returns the adapter's file; empty if there is none.
fs::path adapter_named(const std::string& name) {
  if (name.find('/') != name.npos) return fs::exists(name) ? fs::absolute(name) : fs::path();
  for (const fs::path& folder : adapter_folders())
    if (fs::is_regular_file(folder / name)) return fs::weakly_canonical(folder / name);
  return {};
}

/// Puts proxbench itself at the end of PATH, where adapters find it, and keeps Python from writing compiled
/// scripts.
void prepare_environment() {
  const std::string path = environment_text("PATH");
  setenv("PATH",
         fmt::format("{}:{}", path.empty() ? "/usr/bin:/bin" : path, program_folder().string()).c_str(), 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
}

void read_description(const Json& said, Trainer& out) {
  said.at("name").get_to(out.name);
  said.at("version").get_to(out.version);
  out.program = said.at("program").get<std::string>();
  said.at("losses").get_to(out.losses);
  said.at("structures").get_to(out.structures);
  said.at("formats").get_to(out.formats);
  for (const auto& [algorithm, penalties] : said.at("algorithms").items())
    out.algorithms.emplace_back(algorithm, penalties.get<std::vector<std::string>>());
  const Json& stop = said.at("stop");
  out.by_iterations = stop.at("by") == "iterations";
  stop.at("start").get_to(out.start_stop);
  stop.at("first").get_to(out.first_stop);
  stop.at("growth").get_to(out.growth);
  said.at("objective").get_to(out.prints_objective);
  said.at("threads").get_to(out.has_threads);
  const bool grows = out.by_iterations ? out.growth > 1.0 && out.start_stop >= 1.0
                                       : out.growth > 0.0 && out.growth < 1.0 && out.start_stop > 0.0;
  if (!grows || out.formats.empty() || out.algorithms.empty())
    throw Error("found stops that do not go on, or no format or algorithm");
}

Trainer ask_adapter(const std::string& name, const std::string& program) {
  Trainer out;
  out.adapter = adapter_named(name);
  if (out.adapter.empty()) {
    out.missing = fmt::format("no adapter '{}' in {}", name, PROXBENCH_TRAINERS);
    return out;
  }
  prepare_environment();
  constexpr std::chrono::seconds kTimeout{90};
  try {
    const ProgramOutput answer = run_program({out.adapter.string(), "describe", program}, kTimeout);
    if (answer.end.exit_status != 0)
      throw Error(answer.given_up ? "it gave no answer" : end_of_log(answer.out + answer.err));
    const Json said = Json::parse(answer.out);
    out.missing = said.value("missing", "");
    if (out.missing.empty()) read_description(said, out);
  } catch (const std::exception& error) {
    out.missing = fmt::format("adapter {} describe: {}", name, error.what());
  }
  return out;
}

}  // namespace

const Trainer& find_trainer(const std::map<std::string, std::string>& options) {
  static std::map<std::pair<std::string, std::string>, Trainer> known;
  const std::pair<std::string, std::string> asked{options.at("adapter"), options.at("program")};
  const auto found = known.find(asked);
  return found != known.end() ? found->second
                              : known.emplace(asked, ask_adapter(asked.first, asked.second)).first->second;
}

std::vector<std::string> files_of(const Trainer& trainer) {
  std::vector<std::string> out;
  for (const fs::path& file :
       {trainer.adapter, trainer.adapter.parent_path() / "adapter.py", trainer.program})
    if (fs::is_regular_file(file)) out.push_back(file.string());
  return out;
}

std::string algorithm_of(const Trainer& trainer, const RunParameters& job) {
  const Penalty given = job.penalty;
  const std::string penalty = given.lambda == 0.0 ? "l2" : given.mu == 0.0 ? "l1" : "both";
  const std::string& asked = job.solver_options.at("algorithm");
  std::vector<std::string> fitting;
  for (const auto& [name, penalties] : trainer.algorithms)
    if (contains(penalties, penalty)) fitting.push_back(name);
  if (asked.empty() ? !fitting.empty() : contains(fitting, asked))
    return asked.empty() ? fitting.front() : asked;
  throw TrainerMismatch(fmt::format("{}: found algorithm '{}' with {}, expected one of: {}", trainer.name,
                                    asked, given.text(), fitting.empty() ? "none" : joined(fitting)));
}

std::string trainer_title(const RunParameters& job) {
  const Trainer& trainer = find_trainer(job.solver_options);
  if (trainer.name.empty()) return "";
  const bool one_thread = !trainer.has_threads && job.threads > 1;
  return fmt::format("{} {}{}", trainer.name, trainer.version, one_thread ? ", one thread" : "");
}

std::string unmet_trainer(const RunParameters& job, const OracleInfo* oracle) {
  if (job.path) return "a program of its own solves one penalty at a time: found a path";
  if (job.processes > 1) return fmt::format("a program of its own is one process: found {}", job.processes);
  const Trainer& trainer = find_trainer(job.solver_options);
  if (!trainer.missing.empty()) return trainer.missing;
  if (!contains(trainer.losses, loss_name(job.loss.kind)))
    return fmt::format("{} has no {} loss", trainer.name, loss_name(job.loss.kind));
  const bool flat = contains(trainer.structures, "binary") || contains(trainer.structures, "multiclass");
  if (oracle != nullptr && !contains(trainer.structures, oracle->name) && !(oracle->name == "tree" && flat))
    return fmt::format("{} has no oracle '{}', but {}", trainer.name, oracle->name,
                       fmt::join(trainer.structures, ", "));
  try {
    algorithm_of(trainer, job);
  } catch (const TrainerMismatch& mismatch) {
    return mismatch.what();
  }
  return "";
}

std::string end_of_log(const std::string& text) {
  constexpr std::size_t kLines = 3, kLongest = 160;
  std::vector<std::string> lines = last_lines(text, kLines);
  for (std::string& line : lines) line.resize(std::min(line.size(), kLongest));
  return lines.empty() ? "(nothing)" : joined(lines, " | ");
}

}  // namespace proxbench
