#include "experiments/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "experiments/config/config_values.h"
#include "experiments/config/data_files.h"
#include "experiments/config/ini.h"
#include "experiments/config/slurm_time.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// Names become parts of file names, so they keep to characters that are safe there.
bool safe_name(std::string_view name) {
  const auto safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+-").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), safe);
}

class ConfigReader {
 public:
  ConfigReader(const Ini& ini, Problems& problems) : ini_(ini), problems_(problems) {}

  ExperimentConfig read() {
    for (const IniSection& section : ini_.sections) check_section_name(section);
    read_experiment();
    read_plot();
    read_paper();
    read_slurm();
    for (const IniSection& section : ini_.sections) {
      if (head(section) == "data") read_data(section);
      if (head(section) == "solver" && section.name != "solver") read_solver(section);
    }
    if (config_.data.empty() && !seen_data_)
      problems_.add({ini_.source, 0}, "no data, expected [data] or [data.NAME]");
    if (config_.solvers.empty() && !seen_solver_)
      problems_.add({ini_.source, 0}, "no solver, expected [solver.LABEL] with LABEL a solver: " +
                                          joined(solver_registry().names()));
    check_paths();
    return std::move(config_);
  }

  Presentation read_presentation() {
    read_experiment();
    read_plot();
    read_paper();
    Presentation out{config_.name, config_.title, config_.targets, config_.plot, config_.paper, sources(), {}, {}};
    for (const IniSection& section : ini_.sections) {
      if (section.name.starts_with("data.")) out.datasets.push_back(tail(section));
      if (section.name.starts_with("solver.")) out.labels.push_back(tail(section));
    }
    return out;
  }

 private:
  static std::string head(const IniSection& section) {
    return section.name.substr(0, section.name.find('.'));
  }
  static std::string tail(const IniSection& section) {
    const std::size_t dot = section.name.find('.');
    return dot == std::string::npos ? "" : section.name.substr(dot + 1);
  }
  static const ConfigSectionInfo& info(std::string_view name) {
    for (const ConfigSectionInfo& section : config_sections())
      if (section.name == name) return section;
    throw Error("no config section '" + std::string(name) + "'");
  }
  static std::string title(const IniSection& section) { return fmt::format("[{}]", shown(section.name)); }

  void check_section_name(const IniSection& section) {
    std::vector<std::string> names;
    for (const ConfigSectionInfo& known : config_sections()) names.push_back(known.name);
    const std::string kind = head(section);
    const bool dotted = section.name.find('.') != std::string::npos;
    if (!contains(names, kind)) {
      problems_.add(
          section.where,
          fmt::format("found section {}, expected [experiment], [data], [data.NAME], [solver.LABEL], [plot], "
                      "[paper] or [slurm]{}",
                      title(section), did_you_mean(kind, names)));
    } else if (kind != "data" && kind != "solver" && dotted) {
      problems_.add(section.where, fmt::format("found section {}, expected [{}]", title(section), kind));
    } else if (kind == "solver" && !dotted) {
      problems_.add(section.where, "found section [solver], expected [solver.LABEL], e.g. [solver.prox-qn]");
      seen_solver_ = true;
    } else if (dotted && !safe_name(tail(section))) {
      problems_.add(section.where,
                    fmt::format("found name '{}', expected letters, digits, '_', '+', '-' and '.', with a "
                                "letter, digit, '_' or '+' first",
                                tail(section)));
    }
  }

  /// `more`: options that the chosen solver or format adds to the section's own keys.
  void check_keys(const IniSection& section, const ConfigSectionInfo& known, const OptionTable& more) {
    std::vector<std::string> names;
    for (const OptionSpec& spec : known.keys) names.push_back(spec.name);
    for (const OptionSpec& spec : more) names.push_back(spec.name);
    for (const IniEntry& entry : section.entries)
      if (!contains(names, entry.key))
        problems_.add(entry.where,
                      fmt::format("found key '{}' in {}{}, expected one of {}", entry.key, title(section),
                                  did_you_mean(entry.key, names), joined(names)));
  }

  /// The options that stand in the section beside its own keys.
  Options read_options(const IniSection& section, const OptionTable& table) {
    Options options(table);
    for (const OptionSpec& spec : table) {
      const IniEntry* entry = section.find(spec.name);
      if (!entry) continue;
      if (const std::string problem = value_problem(spec, entry->value); !problem.empty())
        problems_.add(entry->at(), fmt::format("{} {}: {}", title(section), spec.name, problem));
      else
        set_option(options, spec, *entry);
    }
    return options;
  }

  void set_option(Options& options, const OptionSpec& spec, const IniEntry& entry) {
    try {
      options.set(spec.name, find_option_file(spec, entry.value, ini_.folder_of(entry.at())));
    } catch (const Error& error) {
      problems_.add(entry.at(), fmt::format("{}: {}", spec.name, error.what()));
    }
  }

  void read_experiment() {
    const ConfigSectionInfo& known = info("experiment");
    const IniSection* section = ini_.find("experiment");
    if (!section)
      problems_.add({ini_.source, 0}, "no section [experiment], expected it with at least name and lambda");
    else
      check_keys(*section, known, {});
    const Values values(known, section, "[experiment]", problems_);
    if (!values.complete()) return;
    config_.name = values.text("name");
    if (!safe_name(config_.name))
      problems_.add(values.where("name"),
                    fmt::format("[experiment] name: found '{}', expected letters, digits, '_', '+', "
                                "'-' and '.', with a letter, digit, '_' or '+' first",
                                config_.name));
    config_.title = values.given("title") ? values.text("title") : config_.name;
    config_.lambdas = values.reals("lambda");
    config_.paths = values.paths("lambda");
    config_.mu = looks_like_path(values.text("mu")) ? 0.0 : values.real("mu");
    for (const PathGrid& path : values.paths("mu")) config_.mu_path = path;
    check_penalties(values);
    config_.loss = parse_loss(values.text("loss"), values.text("cost"));
    if (values.given("cost") && !config_.loss.hinge())
      problems_.add(values.where("cost"),
                    fmt::format("[experiment] cost: found '{}' with loss = log, expected loss = hinge",
                                values.text("cost")));
    config_.threads = static_cast<int>(values.integer("threads"));
    config_.processes = static_cast<int>(values.integer("processes"));
    config_.backend = parse_backend(values.text("backend"));
    config_.repetitions = static_cast<int>(values.integer("repetitions"));
    config_.seed = static_cast<std::uint64_t>(values.integer("seed"));
    config_.sample_kkt = values.boolean("sample_kkt");
    config_.profile = values.boolean("profile");
    config_.sampling_budget = values.real("sampling_budget");
    config_.warm_up = values.real("warm_up");
    config_.stop_at = values.real("stop_at");
    config_.wall_limit = values.real("wall_limit");
    config_.kill_grace = values.real("kill_grace");
    config_.memory_limit = values.real("memory_limit");
    config_.pin = values.boolean("pin");
    config_.order = values.text("order");
    config_.decoding = values.text("decoding");
    config_.reference_solver =
        values.given("reference_solver") || !config_.loss.hinge() ? values.text("reference_solver") : "bcfw";
    if (const std::vector<std::string> solvers = solver_registry().names();
        !contains(solvers, config_.reference_solver))
      problems_.add(values.where("reference_solver"),
                    fmt::format("[experiment] reference_solver: found '{}'{}, expected one of {}",
                                config_.reference_solver, did_you_mean(config_.reference_solver, solvers),
                                joined(solvers)));
    config_.reference_tol = values.real("reference_tol");
    config_.reference_gap = values.real("reference_gap");
    config_.reference_time_limit = values.real("reference_time_limit");
    config_.targets = values.reals("targets");
    tol_ = values.real("tol");
    tol_given_ = values.given("tol");
    gap_ = values.real("gap");
    time_limit_ = values.real("time_limit");
    max_iterations_ = values.integer("max_iterations");
  }

  /// lambda + mu > 0, and one of them at most goes over a path.
  void check_penalties(const Values& values) {
    if (config_.mu_path && !config_.paths.empty())
      problems_.add(
          values.where("mu"),
          fmt::format("[experiment] mu: found '{}' beside lambda = {}, expected one of them to be a "
                      "path",
                      config_.mu_path->text(), config_.paths.front().text()));
    if (config_.mu_path || config_.mu > 0.0) return;
    for (const ListPart& part : path_list_parts(values.text("lambda"))) {
      double lambda = 1.0;
      if (parse_real(part.text, lambda) && lambda == 0.0)
        problems_.add(
            values.where("lambda", part.offset),
            fmt::format("[experiment] lambda: found '{}' with mu = 0, expected lambda + mu > 0", part.text));
    }
  }

  void read_plot() {
    const IniSection* section = ini_.find("plot");
    if (section) check_keys(*section, info("plot"), {});
    const Values values(info("plot"), section, "[plot]", problems_);
    config_.plot = {.kinds = values.list("kinds"),
                    .x = values.list("x"),
                    .quantities = values.list("quantities"),
                    .x_max = values.reals("x_max"),
                    .log_seconds = values.boolean("log_seconds"),
                    .floor = values.real("floor"),
                    .repetitions = values.text("repetitions"),
                    .shift = values.real("shift"),
                    .par = values.real("par")};
    if (!values.given("kinds") && config_.has_paths()) {
      if (!config_.has_singles()) config_.plot.kinds.clear();
      config_.plot.kinds.emplace_back("path");
    }
    check_length(values, "[plot]", "x_max", "x");
  }

  /// The keys that a section of this name has, whatever their values are.
  std::vector<const IniEntry*> given(const char* section_name,
                                     std::initializer_list<const char*> keys) const {
    std::vector<const IniEntry*> out;
    const IniSection* section = ini_.find(section_name);
    if (!section) return out;
    for (const char* key : keys)
      if (const IniEntry* entry = section->find(key)) out.push_back(entry);
    return out;
  }

  /// What says something about f* or about curves of single runs means nothing to a path, and is not
  /// ignored.
  void check_paths() {
    const std::vector<std::string> kinds = config_.plot.kinds;
    const auto reject = [&](const IniEntry* entry, const char* section, const std::string& why) {
      problems_.add(entry->where,
                    fmt::format("[{}] {}: found '{}', but {}", section, entry->key, entry->value, why));
    };
    if (!config_.has_paths()) {
      if (contains(kinds, "path") && !config_.name.empty())
        for (const IniEntry* entry : given("plot", {"kinds"}))
          reject(entry, "plot",
                 "neither lambda nor mu of [experiment] has a path(...), expected one to draw");
      return;
    }
    const std::string axis = config_.mu_path ? "mu" : "lambda";
    if (config_.stop_at > 0)
      for (const IniEntry* entry : given("experiment", {"stop_at"}))
        reject(entry, "experiment",
               "[experiment] " + axis + " has a path(...), which has no f* to stop at, expected 0");
    if (config_.has_singles()) return;
    const std::string path_alone = "[experiment] " + axis + " has nothing but a path(...), ";
    const std::string no_curves = path_alone + "expected kinds = path alone";
    const std::string no_reference = path_alone + "which has no f*, expected no such key";
    for (const IniEntry* entry : given("experiment", {"reference_solver", "reference_tol", "reference_gap",
                                                      "reference_time_limit", "targets"}))
      reject(entry, "experiment", no_reference);
    for (const IniEntry* entry : given("plot", {"kinds"}))
      if (kinds != std::vector<std::string>{"path"}) reject(entry, "plot", no_curves);
    for (const IniEntry* entry :
         given("plot", {"x", "x_max", "quantities", "log_seconds", "floor", "repetitions", "shift", "par"}))
      reject(entry, "plot", no_reference);
  }

  void read_paper() {
    const IniSection* section = ini_.find("paper");
    if (!section) return;
    check_keys(*section, info("paper"), {});
    const Values values(info("paper"), section, "[paper]", problems_);
    if (!values.complete()) return;
    config_.paper = {.item = values.text("item"),
                     .caption = values.text("caption"),
                     .reports = values.text("reports"),
                     .differs = values.text("differs"),
                     .lambdas = values.reals("lambda"),
                     .nnz = values.reals("nnz"),
                     .accuracy = values.reals("accuracy"),
                     .data = values.boolean("data"),
                     .costs = values.boolean("costs")};
    for (const char* key : {"nnz", "accuracy"}) check_length(values, "[paper]", key, "lambda");
    check_paper_lambdas(values);
  }

  void read_slurm() {
    const IniSection* section = ini_.find("slurm");
    if (section) check_keys(*section, info("slurm"), {});
    const Values values(info("slurm"), section, "[slurm]", problems_);
    const bool timed = config_.has_paths() || contains(config_.plot.x, "seconds");
    config_.slurm = {
        .partition = values.text("partition"),
        .time = values.text("time"),
        .cpus = static_cast<int>(values.integer("cpus")),
        .constraint = values.text("constraint"),
        .exclusive = values.text("exclusive") == "auto" ? timed : values.text("exclusive") == "true",
        .split = values.text("split")};
    if (config_.slurm.time != "auto" && !slurm_seconds(config_.slurm.time))
      problems_.add(values.where("time"),
                    fmt::format("[slurm] time: found '{}', expected auto, MINUTES, MINUTES:SECONDS, "
                                "HOURS:MINUTES:SECONDS, DAYS-HOURS or DAYS-HOURS:MINUTES:SECONDS",
                                config_.slurm.time));
    const int needed = config_.threads * config_.processes;
    if (config_.slurm.cpus > 0 && config_.slurm.cpus < needed)
      problems_.add(values.where("cpus"),
                    fmt::format("[slurm] cpus: found {}, expected at least the {} threads of a run",
                                config_.slurm.cpus, needed));
  }

  /// The numbers of a paper are for lambdas that are run.
  void check_paper_lambdas(const Values& values) {
    const std::set<double> known(config_.lambdas.begin(), config_.lambdas.end());
    const std::vector<ListPart> parts = list_parts(values.text("lambda"));
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!known.contains(config_.paper.lambdas[i])) unknown.push_back(i);
    if (unknown.empty()) return;
    std::vector<std::string> found;
    for (const std::size_t i : unknown) found.push_back(parts[i].text);
    problems_.add(values.where("lambda", parts[unknown.front()].offset),
                  fmt::format("[paper] lambda: found {}, expected one of [experiment] lambda = {}",
                              joined(found), fmt::join(config_.lambdas, ", ")));
  }

  /// See Presentation::sources.
  std::map<std::string, std::string> sources() const {
    std::map<std::string, std::string> out;
    for (const IniSection& section : ini_.sections) {
      if (head(section) != "data") continue;
      std::string& source = out[tail(section)];
      for (const IniEntry& entry : section.entries)
        if (entry.key != "seed") source += entry.key + "=" + entry.value + "\n";
    }
    return out;
  }

  /// A list that stands in the section has one value for each of another list.
  void check_length(const Values& values, const char* title, const char* key, const char* other) {
    const std::size_t found = values.list(key).size(), expected = values.list(other).size();
    if (values.given(key) && found != expected)
      problems_.add(values.where(key), fmt::format("{} {}: found {} values, expected {}: one for each of {}",
                                                   title, key, found, expected, other));
  }

  void read_data(const IniSection& section) {
    seen_data_ = true;
    const ConfigSectionInfo& known = info("data");
    const Values values(known, &section, title(section), problems_);
    if (!values.complete()) return;
    const std::vector<std::string> formats = data_format_registry().names();
    const std::string& name = values.text("format");
    if (!contains(formats, name)) {
      problems_.add(values.where("format"),
                    fmt::format("{} format: found '{}'{}, expected one of {}", title(section), name,
                                did_you_mean(name, formats), joined(formats)));
      return;
    }
    const DataFormatInfo& format = data_format_registry().find(name);
    check_keys(section, known, format.options);
    DataConfig data{
        tail(section).empty() ? name : tail(section), name, {}, read_options(section, format.options)};
    if (values.given("oracle")) {
      data.oracle = values.text("oracle");
      const std::vector<std::string> oracles = oracle_registry().names();
      if (!contains(oracles, data.oracle))
        problems_.add(values.where("oracle"),
                      fmt::format("{} oracle: found '{}'{}, expected one of {}", title(section), data.oracle,
                                  did_you_mean(data.oracle, oracles), joined(oracles)));
    }
    const std::vector<std::string> starts = find_files(values, "start");
    if (starts.size() > 1)
      problems_.add(values.where("start"),
                    fmt::format("{} start: found {} files, expected one", title(section), starts.size()));
    if (!starts.empty()) data.start = starts.front();
    if (config_.has_paths() && values.given("start"))
      problems_.add(
          values.where("start"),
          fmt::format("{} start: found '{}', but [experiment] has a path(...), which starts from w = 0, "
                      "expected no such key",
                      title(section), values.text("start")));
    if (!format.needs_files) {
      for (const char* key : {"train", "test", "hierarchy"})
        if (values.given(key))
          problems_.add(values.where(key),
                        fmt::format("{} {}: found '{}', expected no file: the data of format {} are "
                                    "generated",
                                    title(section), key, values.text(key), name));
    } else if (values.list("train").empty()) {
      problems_.add(values.where("train"), title(section) + " has no training file, expected train = FILE");
    } else {
      data.files.train = find_files(values, "train");
      data.files.test = find_files(values, "test");
      for (const std::string& file : find_files(values, "hierarchy")) data.files.hierarchy = file;
    }
    if (!data_names_.insert(data.name).second)
      problems_.add(section.where, fmt::format("found a second data set named '{}', expected each name once",
                                               shown(data.name)));
    config_.data.push_back(std::move(data));
  }

  std::vector<std::string> find_files(const Values& values, const char* key) {
    std::vector<std::string> found;
    for (const auto& [given, offset] : list_parts(values.text(key))) {
      const Location where = values.where(key, offset);
      try {
        found.push_back(find_data_file(given, ini_.folder_of(where)).string());
      } catch (const Error& error) {
        problems_.add(where, fmt::format("{}: {}", key, error.what()));
      }
    }
    return found;
  }

  void read_solver(const IniSection& section) {
    seen_solver_ = true;
    const ConfigSectionInfo& known = info("solver");
    const Values values(known, &section, title(section), problems_);
    const std::vector<std::string> solvers = solver_registry().names();
    const std::string name = values.given("solver") ? values.text("solver") : tail(section);
    if (!contains(solvers, name)) {
      problems_.add(values.where("solver"),
                    fmt::format("{} {}: found '{}'{}, expected one of {}", title(section),
                                values.given("solver") ? "solver" : "label without a key 'solver'", name,
                                did_you_mean(name, solvers), joined(solvers)));
      return;
    }
    const SolverInfo& solver = solver_registry().find(name);
    check_keys(section, known, solver.options);
    const double gap = values.given("gap") ? values.real("gap") : gap_;
    const double tol = values.given("tol")      ? values.real("tol")
                       : gap > 0 && !tol_given_ ? 0.0  // else it might end a run before its gap is reached
                                                : tol_;
    config_.solvers.push_back(
        {tail(section), name, read_options(section, solver.options), tol, gap,
         values.given("time_limit") ? values.real("time_limit") : time_limit_,
         values.given("max_iterations") ? values.integer("max_iterations") : max_iterations_});
  }

  const Ini& ini_;
  Problems& problems_;
  ExperimentConfig config_{};
  std::set<std::string> data_names_;
  double tol_ = 0, gap_ = 0, time_limit_ = 0;  // what a solver's section may override
  bool tol_given_ = false;
  std::int64_t max_iterations_ = 0;
  bool seen_data_ = false, seen_solver_ = false;
};

ExperimentConfig read_config(Ini& ini, const std::vector<std::string>& overrides, Problems& problems) {
  for (const std::string& assignment : overrides) apply_override(ini, assignment, problems);
  ExperimentConfig config = ConfigReader(ini, problems).read();
  problems.throw_if_any(ini.source);
  for (std::size_t i = 1; i < ini.files.size(); ++i) config.includes.push_back(ini.files[i].name);
  return config;
}

}  // namespace

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

const std::vector<double>& default_targets() {
  static const std::vector<double> all = [] {
    Problems none;
    return Values(config_sections().front(), nullptr, "", none).reals("targets");
  }();
  return all;
}

Presentation presentation_of(const ExperimentConfig& config) {
  Presentation out{config.name, config.title, config.targets, config.plot, config.paper, {}, {}, {}};
  for (const DataConfig& data : config.data) {
    out.datasets.push_back(data.name);
    std::string& source = out.sources[data.name];
    source = fmt::format("{} {} {} {} {} {}", data.format, data.oracle, fmt::join(data.files.train, ","),
                         fmt::join(data.files.test, ","), data.files.hierarchy, data.start);
    for (const auto& [key, value] : data.options.items())
      if (key != "seed") source += fmt::format(" {}={}", key, value);
  }
  for (const SolverConfig& solver : config.solvers) out.labels.push_back(solver.label);
  return out;
}

Presentation load_presentation(const std::filesystem::path& config_file) {
  Problems problems;
  if (std::error_code ignored; !std::filesystem::exists(config_file, ignored)) {
    Presentation defaults;
    defaults.targets = default_targets();
    return defaults;
  }
  const Ini ini = read_ini(config_file, problems);
  Presentation presentation = ConfigReader(ini, problems).read_presentation();
  problems.throw_if_any(config_file.string());
  return presentation;
}

}  // namespace proxbench
