#include "experiments/results/merge.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/base/numbers.h"
#include "experiments/results/results.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

std::string manifest_text(const Run& run) {
  return read_file(run.folder / kManifestFile, kStoredResult);
}

/// Returns the name under which to store the run, or "" if an equal run is in `chosen`, which maps names to
/// runs. Throws Error if another run of the same name comes from the same machine.
std::string merged_name(const Run& run, const std::map<std::string, Run>& chosen) {
  const std::string own = run.folder.filename().string(), name = own.substr(0, own.find('@'));
  const Provenance& made = run.provenance;
  const std::string machine = made.machine.empty() ? "unknown" : file_name_part(made.machine);
  std::string candidate = name;
  for (int number = 1;; ++number) {
    const auto taken = chosen.find(candidate);
    if (taken == chosen.end()) return candidate;
    if (manifest_text(taken->second) == manifest_text(run)) return "";
    if (taken->second.provenance.id == made.id)
      throw Error::usage(fmt::format(
          "{} and {} are different results of the same run, {} on {}: expected only one of them (run the "
          "experiment with another seed or name to keep two)",
          taken->second.folder.string(), run.folder.string(), name,
          made.machine.empty() ? "one machine" : made.machine));
    candidate =
        number == 1 ? fmt::format("{}@{}", name, machine) : fmt::format("{}@{}-{}", name, machine, number);
  }
}

/// Returns relative gap and kkt of a stored reference. A reference without a gap counts as less exact than
/// any with one.
std::pair<double, double> uncertainty(const fs::path& reference) {
  const BestKnown best = best_of(read_record(reference));
  return {std::isnan(best.relative_gap) ? kInfinity : best.relative_gap,
          std::isnan(best.relative_kkt) ? 1.0 : best.relative_kkt};
}

/// Returns the better reference for each name.
std::map<std::string, fs::path> chosen_references(const std::vector<fs::path>& folders) {
  std::map<std::string, fs::path> out;
  for (const fs::path& folder : folders)
    for (const fs::path& file : entries_of(folder / "references")) {
      if (file.extension() != ".json") continue;
      fs::path& best = out[file.filename().string()];
      if (best.empty() || uncertainty(file) < uncertainty(best)) best = file;
    }
  return out;
}

}  // namespace

MergeResult merge_results(const std::vector<fs::path>& folders, const fs::path& out) {
  if (fs::exists(out) && !fs::is_empty(out))
    throw Error::usage(out.string() + ": found files, expected a folder that is new or empty");
  MergeResult result;
  std::map<std::string, Run> chosen;
  for (const fs::path& folder : folders)
    for (const Run& run : read_all_runs(folder)) {
      const std::string name = merged_name(run, chosen);
      if (name.empty())
        result.notes.push_back(run.folder.string() + ": the same run is there already, copied once");
      else
        chosen[name] = run;
    }
  const fs::path config = folders.front() / "config.ini";
  for (const fs::path& folder : folders)
    if (const fs::path other = folder / "config.ini";
        fs::exists(other) && fs::exists(config) && text_of(other) != text_of(config))
      result.notes.push_back(
          fmt::format("{} differs from {}, which is taken", other.string(), config.string()));
  const std::map<std::string, fs::path> references = chosen_references(folders);

  const fs::path target =
      out.lexically_normal().has_filename() ? out.lexically_normal() : out.lexically_normal().parent_path();
  const ScratchFolder scratch(temporary_name(target));
  for (const char* below : {"runs", "references", "figures", "tables"}) make_folder(scratch.path / below);
  if (fs::exists(config)) fs::copy(config, scratch.path / "config.ini");
  for (const auto& [name, run] : chosen) fs::copy(run.folder, scratch.path / "runs" / name);
  for (const auto& [name, from] : references) fs::copy(from, scratch.path / "references" / name);
  if (fs::exists(target)) fs::remove(target);  // an empty folder
  fs::rename(scratch.path, target);
  result.runs = chosen.size();
  result.references = references.size();
  return result;
}

}  // namespace proxbench
