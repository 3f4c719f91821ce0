/// `status`: what became of the runs of a folder, and what its jobs do.
#include <fmt/format.h>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/cli/cli.h"
#include "experiments/results/results.h"
#include "experiments/sweep/provenance.h"
#include "experiments/sweep/slurm/slurm_jobs.h"
#include "experiments/sweep/sweep.h"

namespace proxbench {
namespace {

struct StatusCommand {
  std::string out;
  bool all = false;
  JsonFlag json;
};

/// A run or reference, stored or in a queue.
struct StatusRow {
  std::string state, name, job, node, reason, log;

  nlohmann::ordered_json to_json() const {
    return {{"name", name}, {"state", state}, {"job", job}, {"node", node}, {"reason", reason}, {"log", log}};
  }
};

/// The last lines of a log.
std::string end_of(const std::filesystem::path& log) {
  constexpr int kLines = 3;
  const std::string text = text_of(log);
  std::size_t end = text.find_last_not_of('\n'), begin = end;
  if (end == std::string::npos) return "";
  for (int line = 0; line < kLines && begin != std::string::npos && begin > 0; ++line)
    begin = text.find_last_of('\n', begin - 1);
  begin = begin == std::string::npos || begin == 0 ? 0 : begin + 1;
  return text.substr(begin, end - begin + 1);
}

/// `others` gets the run if another revision of proxbench made it.
StatusRow stored_row(const std::filesystem::path& folder, const std::string& revision,
                     std::vector<std::string>& others) {
  StatusRow row{"failed", folder.filename().string(), "", "", "", ""};
  if (const std::optional<Run> run = find_record(folder / kManifestFile, row.reason)) {
    row.node = run->provenance.machine;
    row.reason = run->result.reason.empty() ? run->status() : run->status() + ": " + run->result.reason;
    if (run->provenance.git_revision != revision) others.push_back(row.name);
    if (!run->failed()) return {"done", row.name, "", row.node, "", ""};
    if (!failed_run(*run)) row.state = "skipped";
  }
  row.log = end_of(folder / "log.txt");
  return row;
}

std::map<std::string, StatusRow> status_rows(const std::filesystem::path& out, const SubmittedJobs& jobs,
                                             const std::string& revision, std::vector<std::string>& others) {
  std::map<std::string, StatusRow> rows;
  for (const std::filesystem::path& folder : run_folders(out))
    rows.insert_or_assign(folder.filename().string(), stored_row(folder, revision, others));
  for (const auto& [name, run] : open_runs(out, jobs))
    rows.insert_or_assign(
        name, StatusRow{run.state, name, run.job, run.node, run.reason, run.live() ? "" : end_of(run.log)});
  return rows;
}

void status(const StatusCommand& command) {
  const std::filesystem::path out = command.out;
  if (!std::filesystem::is_directory(out / "runs"))
    throw Error(command.out + ": found no folder 'runs', expected the results of `proxbench run`");
  command.json.check();
  ProgressPrinter progress(false);
  const SubmittedJobs jobs = submitted_jobs(out);
  if (!jobs.queue)
    progress.warning(
        fmt::format("Slurm does not answer ({}): what follows is from stored runs alone", jobs.no_answer));
  std::map<std::string, std::size_t> counts;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  const std::string revision = provenance().git_revision;
  std::vector<std::string> others;
  for (const auto& [name, row] : status_rows(out, jobs, revision, others)) {
    ++counts[row.state];
    json.push_back(row.to_json());
    if (row.state == "done" && !command.all) continue;
    text += fmt::format("{:8}{}", row.state, name);
    if (!row.job.empty()) text += "  job " + row.job;
    if (!row.node.empty()) text += "  on " + row.node;
    if (!row.reason.empty()) text += "  " + row.reason;
    text += '\n';
    std::istringstream lines(row.log);
    for (std::string line; std::getline(lines, line);) text += "          | " + line + '\n';
  }
  if (!others.empty())
    text += fmt::format("of another revision of proxbench than {}: {}\n", revision, fmt::join(others, ", "));
  if (!command.json.to_stdout())
    fmt::print("{}{} queued, {} running, {} done, {} failed{}\n", text, counts["queued"], counts["running"],
               counts["done"], counts["failed"],
               counts["skipped"] > 0 ? fmt::format(", {} skipped", counts["skipped"]) : "");
  command.json.write(
      {{"out", command.out},
       {"slurm", jobs.queue ? nlohmann::ordered_json() : nlohmann::ordered_json(jobs.no_answer)},
       {"queued", counts["queued"]},
       {"running", counts["running"]},
       {"done", counts["done"]},
       {"skipped", counts["skipped"]},
       {"failed", counts["failed"]},
       {"other_revision", others},
       {"tasks", json}});
}

}  // namespace

void add_status_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("status", "Show which runs wait, run, are done and failed, and why");
  auto command = std::make_shared<StatusCommand>();
  sub->add_option("dir", command->out, "results of `proxbench run`")->required()->type_name("DIR");
  sub->add_flag("--all", command->all, "show what is done, too");
  command->json.add_to(*sub);
  sub->callback([command] { status(*command); });
}

}  // namespace proxbench
