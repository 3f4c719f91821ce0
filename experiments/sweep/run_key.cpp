#include "experiments/sweep/run_key.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <fstream>
#include <memory>
#include <set>

#include "core/base/error.h"
#include "core/kernels/instruction_set.h"
#include "experiments/base/text.h"
#include "experiments/config/format_registry.h"
#include "experiments/results/csv.h"
#include "experiments/run/plugins.h"
#include "experiments/sweep/provenance.h"

namespace proxbench {
namespace {

/// An xxh3 digest of a sequence of pieces. Each piece is followed by its length, so that different sequences
/// do not look the same.
class Digest {
 public:
  Digest() : state_(XXH3_createState(), XXH3_freeState) { XXH3_128bits_reset(state_.get()); }

  void text(const std::string& piece) {
    bytes(piece.data(), piece.size());
    length(piece.size());
  }
  void file(const std::string& name) {
    std::ifstream in(name, std::ios::binary);
    if (!in) throw Error::in_file(name, 0, "no readable file", "a file of the data or program");
    std::vector<char> buffer(1 << 20);
    std::uint64_t total = 0;
    for (;;) {
      in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
      const auto got = static_cast<std::size_t>(in.gcount());
      if (got == 0) break;
      bytes(buffer.data(), got);
      total += got;
    }
    if (in.bad()) throw Error(name + ": cannot be read");
    length(total);
  }
  std::string value() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

 private:
  void bytes(const void* data, std::size_t size) { XXH3_128bits_update(state_.get(), data, size); }
  void length(std::uint64_t size) { bytes(&size, sizeof size); }
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
};

/// Adds one text for each value in which two JSON values differ.
void add_changes(const std::string& where, const nlohmann::json& from, const nlohmann::json& to,
                 std::vector<std::string>& out) {
  const nlohmann::json before = from.flatten(), after = to.flatten();
  nlohmann::json all = before;
  all.update(after);
  const auto text = [](const nlohmann::json& flat, const std::string& key) {
    const nlohmann::json value = flat.value(key, nlohmann::json());
    return value.is_null() ? "(none)" : csv_text(value_of_json(value));
  };
  for (const auto& [key, value] : all.items())
    if (const std::string was = text(before, key), is = text(after, key); was != is)
      out.push_back(fmt::format("{}{}: {} -> {}", where, replaced(key, {{'/', " "}}), was, is));
}

/// Returns the options of the data that name files: the content of these files counts, not their location.
std::set<std::string> file_options(const RunParameters& job) {
  std::set<std::string> out;
  for (const OptionSpec& spec : data_format_registry().find(job.format).options)
    if (const auto set = job.data_options.find(spec.name);
        set != job.data_options.end() && spec.names_file(set->second))
      out.insert(spec.name);
  return out;
}

/// Returns the parameters that decide the result, without threads and seed, which have messages of their own.
/// Files are left out because the key holds digests of their bytes.
nlohmann::json deciding(const RunParameters& job) {
  nlohmann::json json = parameters_json(job);
  for (const char* elsewhere : {"name", "experiment", "dataset", "label", "repetition", "threads", "seed",
                                "plugins", "objective_target", "start"})
    json.erase(elsewhere);
  for (const char* file : {"train", "test", "hierarchy"}) json["data"].erase(file);
  for (const std::string& file : file_options(job)) json["data"]["options"].erase(file);
  return json;
}

}  // namespace

RunKey key_of(const RunParameters& job, double stop_at, const std::string& source_digest,
              const std::string& program_digest) {
  RunKey key{.digest = "",
             .data = source_digest,
             .program = program_digest,
             .start = job.start.empty() ? "" : file_digest(job.start),
             .instruction_set = std::string(instruction_set_name(instruction_set())),
             .stop_at = stop_at};
  Digest digest;
  digest.text(deciding(job).dump());
  for (const std::string& part : {key.data, key.program, key.start, key.instruction_set}) digest.text(part);
  digest.text(fmt::format("{} {} {}", stop_at, job.threads, job.seed));
  key.digest = digest.value();
  return key;
}

std::string key_of(const SweepProblem& problem) {
  Digest config, data, build;
  const auto add = [&](const Run& run) {
    config.text(deciding(run.parameters).dump());
    config.text(fmt::format("{} {} {} {} {}", run.parameters.name, run.key.stop_at, run.parameters.threads,
                            run.parameters.seed, run.key.start));
    data.text(run.key.data);
    build.text(run.key.program + run.key.instruction_set);
  };
  for (const Cell& cell : problem.cells) add(cell.run);
  if (problem.reference) add(*problem.reference);
  return fmt::format("{:.8}-{:.8}-{:.8}", config.value(), data.value(), build.value());
}

void require_key(const SweepProblem& problem, const std::string& expected) {
  const std::string found = key_of(problem);
  std::vector<std::string> changed;
  for (const auto& [at, part] : {std::pair(std::size_t{0}, "the config"),
                                 {9, "the data"},
                                 {18, "the build, a plug-in or the instruction set"}})
    if (expected.size() != found.size() || found.compare(at, 8, expected, at, 8) != 0)
      changed.emplace_back(part);
  if (!changed.empty())
    throw Error(
        fmt::format("{}: found key {}, expected {}: {} changed or are not the same on this machine ({}); "
                    "nothing was stored",
                    problem.name, found, expected, joined(changed), provenance().machine));
}

std::vector<std::string> changes_from(const Run& stored, const Run& asked) {
  std::vector<std::string> out;
  const RunKey &was = stored.key, &is = asked.key;
  add_changes("config", deciding(stored.parameters), deciding(asked.parameters), out);
  add_changes("config start", was.start, is.start, out);
  add_changes("config stop_at", was.stop_at, is.stop_at, out);
  if (was.data != is.data) out.emplace_back("data: other bytes in the files");
  if (was.program != is.program) out.emplace_back("program: another build or other plug-ins");
  add_changes("instruction set", was.instruction_set, is.instruction_set, out);
  add_changes("threads", stored.parameters.threads, asked.parameters.threads, out);
  add_changes("seed", stored.parameters.seed, asked.parameters.seed, out);
  return out;
}

std::string source_digest(const RunParameters& job) {
  Digest digest;
  digest.text(job.format);
  digest.text(job.oracle);
  const std::set<std::string> of_files = file_options(job);
  for (const auto& [key, value] : job.data_options) {
    digest.text(of_files.contains(key) ? key : key + "=" + value);
    if (of_files.contains(key)) digest.file(value);
  }
  const auto add = [&](const char* role, const std::string& name) {
    digest.text(role);
    digest.file(name);
  };
  for (const std::string& name : job.files.train) add("train", name);
  for (const std::string& name : job.files.test) add("test", name);
  if (!job.files.hierarchy.empty()) add("hierarchy", job.files.hierarchy);
  return digest.value();
}

std::string file_digest(const fs::path& file) {
  Digest digest;
  digest.file(file.string());
  return digest.value();
}

std::string program_digest(const std::vector<std::string>& files) {
  Digest digest;
  digest.text(deciding_code());
  for (const LoadedPlugin& plugin : loaded_plugins()) digest.text(std::to_string(plugin.digest));
  for (const std::string& file : files) digest.file(file);
  return digest.value();
}

}  // namespace proxbench
