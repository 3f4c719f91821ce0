#include "experiments/config/config.h"

#include <fmt/format.h>

#include "experiments/base/files.h"
#include "experiments/config/config_rules.h"
#include "experiments/config/config_sections.h"
#include "experiments/config/ini.h"
#include "experiments/config/ini_values.h"
#include "experiments/config/trainers.h"
#include "oracles/oracles.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

class ConfigReader {
 public:
  /// With `find_files` false, data files keep the names in the text.
  ConfigReader(const Ini& ini, Problems& problems, const LoadPlugin& load, bool find_files)
      : ini_(ini), problems_(problems), text_(ini, problems), load_(load), find_files_(find_files) {}

  ExperimentConfig read() {
    for (const IniSection& section : ini_.sections) check_section_name(section);
    bool complete = ini_.sections.find("experiment") != nullptr;
    if (!complete)
      text_.reject("experiment", "no section [experiment], expected it with at least name and lambda");
    Options none;
    complete = read_section<ExperimentConfig>("experiment", config_, &none) && complete;
    load_plugins();
    complete = read_section("plot", config_.plot, &none) && complete;
    complete = read_section("paper", config_.paper, &none) && complete;
    complete = read_section("slurm", config_.slurm, &none) && complete;
    fill_defaults();
    for (const IniSection& section : ini_.sections) {
      if (section.kind() == "data") read_data(section);
      if (section.kind() == "solver" && section.name != "solver") read_solver(section);
    }
    if (!has_any("data")) text_.reject("data", "no data, expected [data] or [data.NAME]");
    if (!has_any("solver"))
      text_.reject("solver", "no solver, expected [solver.LABEL] with LABEL a solver: " +
                                 joined(solver_registry().names()));
    check_files(text_);
    if (complete) check_rules(config_, text_);
    config_.missing_files = missing_.lines();
    return std::move(config_);
  }

 private:
  void load_plugins() {
    for (const std::string& file : config_.plugins) try {
        if (load_) load_(file);
      } catch (const Error& error) {
        text_.reject("experiment", "plugin", error.what());
      }
  }

  bool has_any(const char* kind) const {
    for (const IniSection& section : ini_.sections)
      if (section.kind() == kind) return true;
    return false;
  }

  void check_section_name(const IniSection& section) {
    std::vector<std::string> names;
    for (const ConfigSectionInfo& known : config_sections()) names.push_back(known.name);
    const std::string kind = section.kind();
    const bool dotted = section.name != kind, known = contains(names, kind);
    if (!known || (dotted ? kind != "data" && kind != "solver" : kind == "solver"))
      text_.reject(section.name, fmt::format("found section {}, expected [experiment], [data], [data.NAME], "
                                             "[solver.LABEL], [plot], [paper] or [slurm]{}",
                                             section.title(), known ? "" : did_you_mean(kind, names)));
    else if (const std::string wrong = name_problem(section.label()); dotted && !wrong.empty())
      text_.reject(section.name, "found name " + wrong);
  }

  /// Reads the section's keys into `out`, and the options of its solver or format into `own`. If `own` is
  /// null, ignores unknown keys. Returns false if the value of a key is wrong or a required key is missing.
  template <class Section>
  bool read_section(const std::string& name, Section& out, Options* own) {
    const IniSection* section = ini_.sections.find(name);
    if (!section) return true;
    bool complete = true;
    for (const IniEntry& entry : section->entries) {
      const Row<Section>* key = keys_of<Section>().find(entry.key);
      const OptionSpec* spec = key ? &key->spec : own ? find_option(*own, entry.key) : nullptr;
      if (!spec) {
        if (own) reject_key<Section>(*section, entry, *own);
        continue;
      }
      Value value;
      const auto read = [&](const FindFile& find) { return read_ini_value(*spec, entry.value, find, value); };
      std::vector<ValueError> errors =
          read([&](const std::string& file) { return found_file(file, entry.where); });
      const auto is_missing = [](const ValueError& error) { return error.kind() == ErrorKind::kInput; };
      if (!find_files_ && std::ranges::any_of(errors, is_missing)) {
        for (const ValueError& error : errors)
          if (is_missing(error)) missing_text_.reject(name, entry.key, error.what(), error.offset);
        errors = read([](const std::string& file) { return file; });
      }
      for (const ValueError& error : errors) text_.reject(name, entry.key, error.what(), error.offset);
      if (key) complete = complete && errors.empty();
      if (!errors.empty()) continue;
      if (key)
        key->set(out, value);
      else
        own->set(spec->name, spec->file ? value.as<std::string>() : entry.value);
    }
    for (const OptionSpec& spec : table_of<Section>(own)) {
      if (!spec.required || section->entries.find(spec.name)) continue;
      text_.reject(name,
                   fmt::format("{0} has no key '{1}', expected {1} = ...", section->title(), spec.name));
      complete = false;
    }
    return complete;
  }

  /// Returns null if there is no such option.
  static const OptionSpec* find_option(const Options& options, const std::string& name) {
    const auto found = std::ranges::find(options.table(), name, &OptionSpec::name);
    return found == options.table().end() ? nullptr : &*found;
  }

  /// Rejects a key that is neither in the table of the section nor an option of its solver or format.
  template <class Section>
  void reject_key(const IniSection& section, const IniEntry& entry, const Options& own) {
    std::vector<std::string> names;
    for (const OptionSpec& one : table_of<Section>(&own)) names.push_back(one.name);
    problems_.add(entry.where, fmt::format("found key '{}' in {}{}, expected one of {}", entry.key,
                                           section.title(), did_you_mean(entry.key, names), joined(names)));
  }

  /// Sets the defaults that depend on other keys.
  void fill_defaults() {
    if (config_.title.empty()) config_.title = config_.name;
    if (!text_.given("experiment", "reference_solver"))
      config_.reference_solver = best_solver(config_.largest(), config_.loss.kind);
    if (config_.has_paths() && !text_.given("plot", "kinds")) {
      if (!config_.has_singles()) config_.plot.kinds.clear();
      config_.plot.kinds.emplace_back("path");
    }
    if (config_.reference != "none") return;
    config_.targets.clear();
    if (!text_.given("plot", "quantities")) config_.plot.quantities = {"nnz", "accuracy"};
  }

  std::string found_file(const std::string& name, const Location& where) const {
    if (name == kStandardStream)
      throw Error("found '-', expected a file: each run reads it, and standard input can be read once only");
    return find_data_file(name, ini_.folder_of(where)).string();
  }

  void read_data(const IniSection& section) {
    DataConfig data;
    const std::string name = text_.value(section.name, "format");
    const bool known = data_format_registry().contains(name);
    if (known) data.options = Options(data_format_registry().find(name).options);
    read_section(section.name, data, known ? &data.options : nullptr);
    if (!known) {
      if (!name.empty()) text_.check_name(section.name, "format", name, data_format_registry().names());
      return;
    }
    data.name = section.label().empty() ? data.format : section.label();
    if (section.entries.find("oracle") &&
        !text_.check_name(section.name, "oracle", data.oracle, oracle_registry().names()))
      data.oracle.clear();
    if (std::ranges::find(config_.data, data.name, &DataConfig::name) != config_.data.end())
      text_.reject(section.name, fmt::format("found a second data set named '{}', expected each name once",
                                             printable(data.name)));
    config_.data.push_back(std::move(data));
  }

  void read_solver(const IniSection& section) {
    SolverConfig solver{config_, section.label(), section.label(), {}};
    const bool named = section.entries.find("solver") != nullptr;
    if (named) solver.solver = text_.value(section.name, "solver");
    const bool known = text_.check_name(section.name, named ? "solver" : "label without a key 'solver'",
                                        solver.solver, solver_and_trainer_names());
    if (known) solver.options = Options(solver_or_trainer(solver.solver).options);
    read_section(section.name, solver, known ? &solver.options : nullptr);
    if (!known) return;
    solver.prefer_gap(section.entries.find("tol") != nullptr || text_.given("experiment", "tol"));
    config_.solvers.push_back(std::move(solver));
  }

  const Ini& ini_;
  Problems& problems_;
  const ConfigText text_;
  const LoadPlugin& load_;
  const bool find_files_;
  Problems missing_;
  const ConfigText missing_text_{ini_, missing_};  ///< rejects files that are missing
  ExperimentConfig config_;
};

ExperimentConfig read_config(Ini& ini, const std::vector<std::string>& overrides, Problems& problems,
                             const LoadPlugin& load, bool find_files = true) {
  if (ini.sections.size() == 0 && !ini.files.front().includes && !problems.empty())
    throw Error::usage(problems.lines().front() + ": the file has no [section], expected a config");
  for (const std::string& assignment : overrides) apply_override(ini, assignment, problems);
  ExperimentConfig config = ConfigReader(ini, problems, load, find_files).read();
  problems.throw_if_any(ini.files.front().name);
  for (std::size_t i = 1; i < ini.files.size(); ++i) config.includes.push_back(ini.files[i].name);
  return config;
}

}  // namespace

ExperimentConfig parse_config(std::string_view text, const std::string& source, const fs::path& folder,
                              const std::vector<std::string>& overrides, const LoadPlugin& load) {
  Problems problems;
  Ini ini = parse_ini(text, source, folder, problems);
  return read_config(ini, overrides, problems, load);
}

ExperimentConfig load_config(const fs::path& file, const std::vector<std::string>& overrides,
                             const LoadPlugin& load, bool find_data) {
  Problems problems;
  Ini ini = read_ini(file, problems);
  return read_config(ini, overrides, problems, load, find_data);
}

std::string stored_experiment(const fs::path& config_file) {
  if (std::error_code ignored; !fs::exists(config_file, ignored)) return "";
  Problems problems;
  const Ini ini = read_ini(config_file, problems);
  problems.throw_if_any(config_file.string());
  const IniEntry* name = ini.find("experiment", "name");
  return name == nullptr ? "" : name->value;
}

// ---- a config as an INI file, with all values that came from defaults

namespace {

std::string line_of(const std::string& key, const std::string& value) {
  std::string line = fmt::format("{} = {}\n", key, value);
  // A backslash at the end of a value would join the next line. A second backslash and an empty line prevent
  // this: the reader joins the empty line.
  if (line.ends_with("\\\n")) line.insert(line.size() - 1, "\\\n");
  return line;
}

/// Omits keys that have no effect in the config, and empty keys whose default is empty.
template <class Section>
std::string section_ini(const ExperimentConfig& config, const std::string& title, const Section& section) {
  std::string out = fmt::format("[{}]\n", title);
  for (const Row<Section>& key : keys_of<Section>()) {
    const std::string text = ini_text(key.get(section));
    if (conflict_of(config, title, key.spec.name).empty() &&
        !(text.empty() && key.spec.default_value.empty()))
      out += line_of(key.spec.name, text);
  }
  return out;
}

std::string options_ini(const Options& options) {
  std::string out;
  for (const auto& [key, value] : options.items()) out += line_of(key, value);
  return out;
}

}  // namespace

std::string ExperimentConfig::to_ini() const {
  std::string out = section_ini(*this, "experiment", *this);
  for (const DataConfig& one : data)
    out += "\n" + section_ini(*this, "data." + one.name, one) + options_ini(one.options);
  for (const SolverConfig& one : solvers)
    out += "\n" + section_ini(*this, "solver." + one.label, one) + options_ini(one.options);
  out += "\n" + section_ini(*this, "slurm", slurm) + "\n" + section_ini(*this, "plot", plot);
  return paper.item.empty() ? out : out + "\n" + section_ini(*this, "paper", paper);
}

// ---- data files

namespace {

bool is_file(const fs::path& path) {
  std::error_code ignored;  // an unreadable folder counts as empty
  return fs::exists(path, ignored) && !fs::is_directory(path, ignored);
}

/// Returns the folders that are searched for a relative path, in order.
std::vector<fs::path> data_folders(const fs::path& base) {
  std::vector<fs::path> folders{""};
  if (!base.empty() && base != ".") folders.push_back(base);
  if (const std::string data = environment_text("PROXBENCH_DATA"); !data.empty()) folders.emplace_back(data);
  folders.emplace_back("../shared/data");
  const std::string cache = environment_text("XDG_CACHE_HOME"), home = environment_text("HOME");
  if (!cache.empty())
    folders.push_back(fs::path(cache) / "proxbench" / "data");
  else if (!home.empty())
    folders.push_back(fs::path(home) / ".cache" / "proxbench" / "data");
  return folders;
}

}  // namespace

fs::path find_data_file(const std::string& given, const fs::path& base) {
  if (given == kStandardStream) return given;
  std::string tried;
  for (const fs::path& folder :
       fs::path(given).is_absolute() ? std::vector<fs::path>{""} : data_folders(base)) {
    const fs::path path = folder / given;
    if (is_file(path)) return path;
    if (std::error_code ignored; fs::is_directory(path, ignored))
      throw Error::in_file(path.string(), 0, "a directory", "a file");
    tried += (tried.empty() ? " " : ", ") + path.string();
  }
  throw Error("no file '" + given + "'; looked at" + tried, ErrorKind::kInput);
}

}  // namespace proxbench
