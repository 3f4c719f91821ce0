#include "experiments/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <span>

#include "experiments/config/config_keys.h"
#include "experiments/config/config_rules.h"
#include "experiments/config/data_files.h"
#include "experiments/config/ini.h"
#include "experiments/config/trainers.h"
#include "oracles/oracles.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

std::string head(const IniSection& section) {
  return section.name.substr(0, section.name.find('.'));
}
std::string tail(const IniSection& section) {
  const std::size_t dot = section.name.find('.');
  return dot == std::string::npos ? "" : section.name.substr(dot + 1);
}
std::string title(const IniSection& section) {
  return fmt::format("[{}]", shown(section.name));
}

class ConfigReader {
 public:
  ConfigReader(const Ini& ini, Problems& problems) : ini_(ini), problems_(problems), text_(ini, problems) {}

  ExperimentConfig read() {
    for (const IniSection& section : ini_.sections) check_section_name(section);
    check_key_names<ExperimentConfig>("experiment");
    check_key_names<PlotConfig>("plot");
    check_key_names<PaperConfig>("paper");
    check_key_names<SlurmConfig>("slurm");
    bool complete = read_presentation();
    complete = read_section("slurm", config_.slurm) && complete;
    bool data = false, solver = false;
    for (const IniSection& section : ini_.sections) {
      data = data || head(section) == "data";
      solver = solver || head(section) == "solver";
      if (head(section) == "data") read_data(section);
      if (head(section) == "solver" && section.name != "solver") read_solver(section);
    }
    if (!data) problems_.add({ini_.source, 0}, "no data, expected [data] or [data.NAME]");
    if (!solver)
      problems_.add({ini_.source, 0}, "no solver, expected [solver.LABEL] with LABEL a solver: " +
                                          joined(solver_registry().names()));
    if (complete) check_rules(config_, text_);
    return std::move(config_);
  }

  /// The values of [experiment], [plot] and [paper], and what Presentation has of the other sections. False
  /// where a value is wrong or missing.
  bool read_presentation() {
    bool complete = ini_.find("experiment") != nullptr;
    if (!complete)
      problems_.add({ini_.source, 0}, "no section [experiment], expected it with at least name and lambda");
    complete = read_section<ExperimentConfig>("experiment", config_) && complete;
    complete = read_section("plot", config_.plot) && complete;
    complete = read_section("paper", config_.paper) && complete;
    fill_defaults();
    for (const IniSection& section : ini_.sections) {
      if (head(section) == "solver") config_.labels.push_back(tail(section));
      if (head(section) != "data") continue;
      const std::string name = section.name == "data" ? text_.value("data", "format") : tail(section);
      config_.datasets.push_back(name);
      std::string& source = config_.sources[name];
      for (const IniEntry& entry : section.entries)
        if (entry.key != "seed") source += entry.key + "=" + entry.value + "\n";
    }
    return complete;
  }

  Presentation presentation() { return std::move(config_); }

 private:
  void check_section_name(const IniSection& section) {
    std::vector<std::string> names;
    for (const ConfigSectionInfo& known : config_sections()) names.push_back(known.name);
    const std::string kind = head(section);
    const bool dotted = section.name.find('.') != std::string::npos;
    std::string problem;
    if (!contains(names, kind))
      problem = fmt::format(
          "found section {}, expected [experiment], [data], [data.NAME], [solver.LABEL], [plot], [paper] or "
          "[slurm]{}",
          title(section), did_you_mean(kind, names));
    else if (kind != "data" && kind != "solver" && dotted)
      problem = fmt::format("found section {}, expected [{}]", title(section), kind);
    else if (kind == "solver" && !dotted)
      problem = "found section [solver], expected [solver.LABEL], e.g. [solver.prox-newton]";
    else if (std::string name = name_problem(tail(section)); dotted && !name.empty())
      problem = "found name " + name.substr(std::string_view("found ").size());
    if (!problem.empty()) problems_.add(section.where, problem);
  }

  /// `more`: options that the chosen solver or format adds to the section's own keys. `hint`: what is known of
  /// another key.
  template <class Section>
  void check_key_names(
      const std::string& name, const OptionTable& more = {},
      const std::function<std::string(const std::string&)>& hint = [](const std::string&) { return ""; }) {
    const IniSection* section = ini_.find(name);
    if (!section) return;
    std::vector<std::string> names;
    for (const ConfigKey<Section>& key : keys_of<Section>()) names.push_back(key.spec.name);
    for (const OptionSpec& spec : more) names.push_back(spec.name);
    for (const IniEntry& entry : section->entries) {
      if (contains(names, entry.key)) continue;
      const std::string known = hint(entry.key);
      problems_.add(entry.where, fmt::format("found key '{}' in {}{}, expected one of {}", entry.key, title(*section),
                                             known.empty() ? did_you_mean(entry.key, names) : " (" + known + ")",
                                             joined(names)));
    }
  }

  /// Takes the values by the rows of the keys. False where one is wrong, or a required one is missing.
  template <class Section>
  bool read_section(const std::string& name, Section& out) {
    const IniSection* section = ini_.find(name);
    if (!section) return true;
    bool complete = true;
    for (const ConfigKey<Section>& key : keys_of<Section>()) {
      const IniEntry* entry = section->find(key.spec.name);
      if (entry) {
        for (const auto& [offset, problem] : key.read(out, entry->value)) {
          text_.reject(name, key.spec.name, problem, offset);
          complete = false;
        }
      } else if (key.rules.required) {
        problems_.add(section->where, fmt::format("{} has no key '{}', expected {} = ...", title(*section),
                                                  key.spec.name, key.spec.name));
        complete = false;
      }
    }
    return complete;
  }

  /// Defaults that depend on other keys.
  void fill_defaults() {
    if (config_.title.empty()) config_.title = config_.name;
    if (!text_.given("experiment", "reference_solver")) {
      const auto& lambdas = config_.lambdas;
      const double largest = lambdas.empty() ? 0.0 : *std::ranges::max_element(lambdas);
      config_.reference_solver = best_solver({largest, config_.mu}, config_.loss.kind);
    }
    if (config_.has_paths() && !text_.given("plot", "kinds")) {
      if (!config_.has_singles()) config_.plot.kinds.clear();
      config_.plot.kinds.emplace_back("path");
    }
    if (config_.reference != "none") return;
    config_.targets.clear();
    if (!text_.given("plot", "quantities")) config_.plot.quantities = {"nnz", "accuracy"};
  }

  /// The options that stand in the section beside its own keys.
  Options read_options(const IniSection& section, const OptionTable& table) {
    Options options(table);
    for (const OptionSpec& spec : table) {
      const IniEntry* entry = section.find(spec.name);
      if (!entry) continue;
      if (const std::string problem = set_option(options, spec, entry->value); !problem.empty())
        text_.reject(section.name, spec.name, problem);
      else if (spec.names_file(entry->value))
        find_file(entry->at(), spec.name, [&](const std::filesystem::path& folder) {
          options.set(spec.name, find_option_file(spec, entry->value, folder));
        });
    }
    return options;
  }

  /// Calls `find` with the folder of the file in which the name stands. Adds what it throws.
  template <class Find>
  void find_file(const Location& where, const std::string& key, Find find) {
    try {
      find(ini_.folder_of(where));
    } catch (const Error& error) {
      problems_.add(where, fmt::format("{}: {}", key, error.what()));
    }
  }

  /// Replaces names of files by the files that are found.
  void find_files(const IniSection& section, const char* key, std::span<std::string> files) {
    const IniEntry* entry = section.find(key);
    const std::vector<ListPart> parts = list_parts(entry ? entry->value : "");
    if (parts.size() > files.size())
      return text_.reject(section.name, key, fmt::format("found {} files, expected one", parts.size()));
    for (std::size_t i = 0; i < parts.size(); ++i)
      find_file(entry->at(parts[i].offset), key, [&](const std::filesystem::path& folder) {
        files[i] = find_data_file(parts[i].text, folder).string();
      });
  }

  void read_data(const IniSection& section) {
    DataConfig data;
    if (!read_section(section.name, data) ||
        !text_.check_name(section.name, "format", data.format, data_format_registry().names()))
      return;
    const DataFormatInfo& format = data_format_registry().find(data.format);
    check_key_names<DataConfig>(section.name, format.options);
    data.name = tail(section).empty() ? data.format : tail(section);
    data.options = read_options(section, format.options);
    if (section.find("oracle") &&
        !text_.check_name(section.name, "oracle", data.oracle, oracle_registry().names()))
      data.oracle.clear();
    if (config_.has_paths() && section.find("start"))
      text_.reject(
          section.name, "start",
          fmt::format("found '{}', but [experiment] has a path(...), which starts from w = 0, expected "
                      "no such key",
                      data.start));
    find_files(section, "start", {&data.start, 1});
    read_files(section, format, data.files);
    if (!data_names_.insert(data.name).second)
      problems_.add(section.where, fmt::format("found a second data set named '{}', expected each name once",
                                               shown(data.name)));
    config_.data.push_back(std::move(data));
  }

  void read_files(const IniSection& section, const DataFormatInfo& format, DataFiles& files) {
    if (format.needs_files && files.train.empty()) {
      const IniEntry* train = section.find("train");
      problems_.add(train ? train->at() : section.where,
                    title(section) + " has no training file, expected train = FILE");
    } else if (format.needs_files) {
      find_files(section, "train", files.train);
      find_files(section, "test", files.test);
      find_files(section, "hierarchy", {&files.hierarchy, 1});
    } else {
      for (const char* key : {"train", "test", "hierarchy"})
        if (section.find(key))
          text_.reject(section.name, key,
                       fmt::format("found '{}', expected no file: the data of format {} are generated",
                                   text_.value(section.name, key), format.name));
    }
  }

  void read_solver(const IniSection& section) {
    SolverConfig solver{config_, tail(section), tail(section), {}};
    if (!read_section(section.name, solver)) return;
    const std::string key = section.find("solver") ? "solver" : "label without a key 'solver'";
    if (!text_.check_name(section.name, key, solver.solver, solver_and_trainer_names())) return;
    const OptionTable& options = solver_or_trainer(solver.solver).options;
    check_key_names<SolverConfig>(section.name, options,
                                  [&](const std::string& name) { return former_option(solver.solver, name); });
    solver.options = read_options(section, options);
    if (solver.solver == kExternal && solver.options.string("adapter").empty())
      problems_.add(section.where, title(section) + " has no key 'adapter', expected adapter = NAME");
    // A tol that nobody gave might end a run before its gap is reached.
    if (solver.gap > 0 && !section.find("tol") && !text_.given("experiment", "tol")) solver.tol = 0.0;
    config_.solvers.push_back(std::move(solver));
  }

  const Ini& ini_;
  Problems& problems_;
  const ConfigText text_;
  ExperimentConfig config_;
  std::set<std::string> data_names_;
};

ExperimentConfig read_config(Ini& ini, const std::vector<std::string>& overrides, Problems& problems) {
  if (ini.sections.empty() && ini.includes.empty() && !problems.empty())
    throw Error::usage(problems.lines().front() + ": the file has no [section], expected a config");
  for (const std::string& assignment : overrides) apply_override(ini, assignment, problems);
  ExperimentConfig config = ConfigReader(ini, problems).read();
  problems.throw_if_any(ini.source);
  for (std::size_t i = 1; i < ini.files.size(); ++i) config.includes.push_back(ini.files[i].name);
  return config;
}

}  // namespace

bool ExperimentConfig::whole_nodes() const {
  return slurm.exclusive == "auto" ? has_paths() || contains(plot.x, "seconds") : slurm.exclusive == "true";
}

ExperimentConfig parse_config(std::string_view text, const std::string& source,
                              const std::filesystem::path& folder,
                              const std::vector<std::string>& overrides) {
  Problems problems;
  Ini ini = parse_ini(text, source, problems);
  read_includes(ini, folder, problems);
  return read_config(ini, overrides, problems);
}

ExperimentConfig load_config(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
  Problems problems;
  Ini ini = read_ini(file, problems);
  return read_config(ini, overrides, problems);
}

Presentation load_presentation(const std::filesystem::path& config_file) {
  if (std::error_code ignored; !std::filesystem::exists(config_file, ignored)) return {};
  Problems problems;
  const Ini ini = read_ini(config_file, problems);
  ConfigReader reader(ini, problems);
  reader.read_presentation();
  problems.throw_if_any(config_file.string());
  return reader.presentation();
}

}  // namespace proxbench
