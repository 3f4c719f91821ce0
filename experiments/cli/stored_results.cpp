#include "experiments/cli/stored_results.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/base/error.h"
#include "experiments/config/ini.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

std::vector<double> parse_targets(const std::string& text) {
  std::vector<double> targets;
  for (const std::string& part : split_list(text))
    if (!parse_real(part, targets.emplace_back()) || !(targets.back() > 0))
      throw Error::usage(
          fmt::format("--targets: found '{}', expected reals above 0, separated by commas", part));
  return targets;
}

/// The config's choices, overridden by the flags.
Presentation presentation_of(const fs::path& folder, const ReadFlags& flags) {
  Presentation presentation = load_presentation(folder / "config.ini");
  if (!flags.targets.empty()) presentation.targets = parse_targets(flags.targets);
  presentation.plot.with_start = presentation.plot.with_start || flags.with_start;
  if (!flags.x.empty()) {
    presentation.plot.x = split_list(flags.x);
    presentation.plot.x_max.clear();  // the config's are for its own axes
  }
  return presentation;
}

}  // namespace

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
  // A label need not be in every folder.
  std::vector<Run> all;
  for (const Source& source : sources) {
    all.insert(all.end(), source.runs.begin(), source.runs.end());
    for (const Run& path : source.paths) all.push_back(path);
  }
  const std::vector<std::string> labels = split_list(solvers);
  require_labels(all, labels);
  const auto unknown = [&](const Run& run) {
    return std::find(labels.begin(), labels.end(), run.parameters.label) == labels.end();
  };
  for (Source& source : sources) {
    std::erase_if(source.runs, unknown);
    std::erase_if(source.paths, [&](const Run& path) { return unknown(path); });
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
