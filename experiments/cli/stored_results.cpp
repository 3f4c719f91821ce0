#include "experiments/cli/stored_results.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/base/error.h"
#include "experiments/config/config_keys.h"
#include "experiments/config/ini.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

/// The config's choices, overridden by the flags.
Presentation presentation_of(const fs::path& folder, const ReadFlags& flags) {
  Presentation presentation = load_presentation(folder / "config.ini");
  flags.plot.read(presentation.plot);
  presentation.plot.with_start = presentation.plot.with_start || flags.with_start;
  if (flags.plot.given("x")) presentation.plot.x_max.clear();  // the config's limits hold for its own axes
  if (flags.experiment.given("targets")) presentation.targets = config_of(flags.experiment).targets;
  return presentation;
}

}  // namespace

void ReadFlags::add_to(CLI::App& command) {
  add_results(command, folders);
  command
      .add_option("--out", out,
                  "folder for the results over all DIRs; with several DIRs, tables and figures of one DIR "
                  "stay in it [DIR if there is one]")
      ->type_name("OUT");
  experiment.add(command, "targets");
  plot.add(command, "x");
  command.add_flag("--with-start", with_start, "seconds count reading the data and set-up, too");
  command.add_option("--solvers", solvers, "labels of the solvers to show, separated by commas [all]")
      ->type_name("NAMES");
  command.add_flag("--allow-not-comparable", allow_not_comparable,
                   "also show timings that are not comparable");
}

fs::path ReadFlags::out_folder() const {
  if (!out.empty()) return out;
  if (folders.size() == 1) return folders.front();
  throw Error::usage("--out: found none, expected a folder for the results over all DIRs");
}

std::vector<Source> ReadFlags::read() const {
  std::vector<Source> sources;
  for (const std::string& folder : folders) {
    for (const Source& other : sources)
      if (std::error_code ignored; fs::equivalent(other.folder, folder, ignored))
        throw Error::usage(fmt::format("{}: found again, expected each folder once", folder));
    Source source{folder, presentation_of(folder, *this), {}, {}};
    source.runs = read_all_runs(folder, source.presentation);
    if (const std::string left_out = leave_out_strangers(folder, source.presentation, source.runs);
        !left_out.empty())
      spdlog::warn("{}", left_out);
    source.paths = take_paths(source.runs);
    sources.push_back(std::move(source));
  }
  if (solvers.empty()) return sources;
  // A label need not occur in every folder.
  const std::vector<std::string> labels = split_list(solvers);
  std::vector<Run> all = all_runs(sources);
  for (const Source& source : sources) all.insert(all.end(), source.paths.begin(), source.paths.end());
  require_labels(all, labels);
  const auto unknown = [&](const Run& run) { return !contains(labels, run.parameters.label); };
  for (Source& source : sources) {
    std::erase_if(source.runs, unknown);
    std::erase_if(source.paths, unknown);
  }
  std::erase_if(sources, [](const Source& source) { return source.runs.empty() && source.paths.empty(); });
  return sources;
}

void require_runs(const std::vector<Source>& sources) {
  for (const Source& source : sources) require_single_penalties(source.runs, source.folder);
}

std::vector<Run> all_runs(const std::vector<Source>& sources) {
  std::vector<Run> all;
  for (const Source& source : sources) all.insert(all.end(), source.runs.begin(), source.runs.end());
  return all;
}

}  // namespace proxbench
