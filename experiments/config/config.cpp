#include "experiments/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "experiments/config/data_files.h"
#include "experiments/config/ini.h"
#include "oracles/oracles.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

constexpr double kMaxSeed = 9007199254740991.0;  // 2^53 - 1, so that every seed is exact in JSON

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string joined(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Names become parts of file names, so they keep to characters that are safe there.
bool safe_name(std::string_view name) {
  const auto safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._+-").find(c) != std::string_view::npos;
  };
  return !name.empty() && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), safe);
}

OptionSpec run_option(std::string_view name) {
  for (const OptionSpec& spec : run_options())
    if (spec.name == name) return spec;
  throw Error("no run option '" + std::string(name) + "'");
}

/// "" where the text is a value of the option, else "found 'TEXT', expected CONSTRAINT".
std::string value_problem(const OptionSpec& spec, const std::string& text) {
  try {
    Options({spec}).set(spec.name, text);
    return "";
  } catch (const Error&) {
    std::string expected = spec.constraint();
    if (spec.type == OptionType::kInt) expected = "an integer, " + expected;
    if (spec.type == OptionType::kReal) expected = "a finite real, " + expected;
    return fmt::format("found '{}', expected {}{}", text, expected, did_you_mean(text, spec.choices));
  }
}

PathOf path_of(std::string_view key) {
  return key == "mu" ? PathOf::kMu : PathOf::kLambda;
}

/// The values of one section: what its table says, overridden by what the file says.
class Values {
 public:
  /// `keys`: the section's own and those of the solver or format. Null section: defaults only.
  Values(const ConfigSectionInfo& info, const IniSection* section, const std::string& title,
         Problems& problems)
      : info_(info), section_(section) {
    for (const OptionSpec& spec : info.keys) {
      const IniEntry* entry = section ? section->find(spec.name) : nullptr;
      if (!entry && contains(info.required, spec.name)) {
        if (section)
          problems.add(section->where,
                       fmt::format("{} has no key '{}', expected {} = ...", title, spec.name, spec.name));
        complete_ = false;
        continue;
      }
      text_[spec.name] = entry ? entry->value : spec.default_value;
      if (!entry) continue;
      for (const auto& [offset, problem] : problems_of(spec, entry->value)) {
        problems.add(entry->at(offset), fmt::format("{} {}: {}", title, spec.name, problem));
        text_[spec.name] = spec.default_value;
        complete_ = false;
      }
    }
  }

  /// All required keys are there and all values are valid.
  bool complete() const { return complete_; }
  const std::string& text(std::string_view key) const { return text_.find(key)->second; }
  std::vector<std::string> list(std::string_view key) const {
    std::vector<std::string> out;
    for (ListPart& part : parts(key)) out.push_back(std::move(part.text));
    return out;
  }
  /// NaN for "auto".
  double real(std::string_view key) const {
    double value = 0;
    if (text(key) == "auto") return std::numeric_limits<double>::quiet_NaN();
    parse_real(text(key), value);
    return value;
  }
  std::vector<double> reals(std::string_view key) const {
    std::vector<double> values;
    for (const std::string& part : list(key))
      if (!looks_like_path(part)) parse_real(part, values.emplace_back());
    return values;
  }
  std::vector<PathGrid> paths(std::string_view key) const {
    std::vector<PathGrid> values;
    for (const std::string& part : list(key))
      if (looks_like_path(part)) values.push_back(parse_path(part, path_of(key), std::string(key)));
    return values;
  }
  std::int64_t integer(std::string_view key) const {
    std::int64_t value = 0;
    parse_integer(text(key), value);
    return value;
  }
  bool boolean(std::string_view key) const {
    for (const OptionSpec& spec : info_.keys) {
      if (spec.name != key) continue;
      Options options({spec});
      options.set(key, text(key));
      return options.boolean(key);
    }
    return false;
  }
  /// Where the value stands, from a byte of it on; the section where it does not.
  Location where(std::string_view key, std::size_t offset = 0) const {
    if (!section_) return {};
    const IniEntry* entry = section_->find(key);
    return entry ? entry->at(offset) : section_->where;
  }
  bool given(std::string_view key) const { return section_ && section_->find(key); }

 private:
  struct ValueProblem {
    std::size_t offset;  ///< of what is wrong in the value
    std::string text;
  };

  /// What is wrong with the text of a path; none: nothing.
  static std::optional<ValueProblem> path_problem(const OptionSpec& spec, std::string_view text) {
    PathProblem problem;
    if (parse_path(text, path_of(spec.name), problem)) return std::nullopt;
    return ValueProblem{problem.offset, problem.text};
  }

  std::vector<ListPart> parts(std::string_view key) const {
    return contains(info_.paths, key) ? path_list_parts(text(key)) : list_parts(text(key));
  }

  std::vector<ValueProblem> problems_of(const OptionSpec& spec, const std::string& value) const {
    std::vector<ValueProblem> problems;
    const bool required = contains(info_.required, spec.name);
    if (contains(info_.lists, spec.name)) {
      problems = list_problems(spec, value);
    } else if (required && value.empty()) {
      problems.push_back({0, "found nothing, expected " + spec.help});
    } else if (contains(info_.paths, spec.name) && looks_like_path(value)) {
      if (const auto problem = path_problem(spec, value)) problems.push_back(*problem);
    } else if (std::string problem = value_problem(spec, value); !problem.empty()) {
      problems.push_back({0, std::move(problem)});
    }
    return problems;
  }

  std::vector<ValueProblem> list_problems(const OptionSpec& spec, const std::string& value) const {
    std::vector<ValueProblem> problems;
    OptionSpec element = spec;
    const std::vector<std::string> defaults = split_list(spec.default_value);
    element.default_value = defaults.empty() ? "" : defaults.front();
    const bool may_be_path = contains(info_.paths, spec.name);
    const std::vector<ListPart> parts = may_be_path ? path_list_parts(value) : list_parts(value);
    if (parts.empty() && (spec.type != OptionType::kString || contains(info_.required, spec.name)))
      problems.push_back({0, "found nothing, expected a list"});
    std::set<std::string> seen;
    for (const auto& [part, offset] : parts) {
      if (part.empty())
        problems.push_back({offset, "found nothing between commas, expected a value"});
      else if (may_be_path && looks_like_path(part)) {
        if (const auto problem = path_problem(spec, part))
          problems.push_back({offset + problem->offset, problem->text});
        else if (!seen.insert(parse_path(part, path_of(spec.name), spec.name).text()).second)
          problems.push_back({offset, fmt::format("found '{}' again, expected each value once", part)});
        continue;
      } else if (std::string problem = value_problem(element, part); !problem.empty())
        problems.push_back({offset, problem + (may_be_path ? ", or path(START, END, COUNT)" : "")});
      // 10 and 1e1 are the same value.
      double number = 0;
      const bool numeric = spec.type != OptionType::kString && parse_real(part, number);
      const bool again = !seen.insert(numeric ? fmt::format("{}", number) : part).second;
      if (again && !contains(info_.repeating, spec.name))
        problems.push_back({offset, fmt::format("found '{}' again, expected each value once", part)});
    }
    return problems;
  }

  const ConfigSectionInfo& info_;
  const IniSection* section_;
  std::map<std::string, std::string, std::less<>> text_;
  bool complete_ = true;
};

class ConfigReader {
 public:
  ConfigReader(const Ini& ini, Problems& problems) : ini_(ini), problems_(problems) {}

  ExperimentConfig read() {
    for (const IniSection& section : ini_.sections) check_section_name(section);
    read_experiment();
    read_plot();
    read_paper();
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
    return {config_.name, config_.title, config_.targets, config_.plot, config_.paper, sources()};
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
          fmt::format(
              "found section {}, expected [experiment], [data], [data.NAME], [solver.LABEL], [plot] or "
              "[paper]{}",
              title(section), did_you_mean(kind, names)));
    } else if ((kind == "experiment" || kind == "plot" || kind == "paper") && dotted) {
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
    config_.backend = parse_backend(values.text("backend"));
    config_.repetitions = static_cast<int>(values.integer("repetitions"));
    config_.seed = static_cast<std::uint64_t>(values.integer("seed"));
    config_.sample_kkt = values.boolean("sample_kkt");
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
                     .data = values.boolean("data")};
    for (const char* key : {"nnz", "accuracy"}) check_length(values, "[paper]", key, "lambda");
    check_paper_lambdas(values);
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

const OptionTable& run_options() {
  static const OptionTable table = {
      {.name = "lambda",
       .type = OptionType::kReal,
       .default_value = "1",
       .help = "weight of ||w||_1 in F; 0 where mu > 0",
       .min = 0},
      {.name = "mu",
       .type = OptionType::kReal,
       .default_value = "0",
       .help = "weight of ||w||_2^2 / 2 in F",
       .min = 0},
      {.name = "loss",
       .type = OptionType::kString,
       .default_value = "log",
       .help = "what F sums over training instances: negative log-likelihood, or margin-rescaled hinge",
       .choices = {"log", "hinge"}},
      {.name = "cost",
       .type = OptionType::kString,
       .default_value = "hamming",
       .help = "of loss = hinge: wrong positions of an instance, or their share",
       .choices = {"hamming", "hamming-mean"}},
      {.name = "tol",
       .type = OptionType::kReal,
       .default_value = "1e-6",
       .help = "stop when kkt <= tol * (kkt at w = 0); with loss = hinge, when the solver finds a relative "
               "gap <= tol",
       .min = 0,
       .max = 1},
      {.name = "gap",
       .type = OptionType::kReal,
       .default_value = "0",
       .help =
           "stop, with status gap-reached, when F is proven to be within this relative gap of its minimum; "
           "looking for proofs is off the clock, whatever the sampling budget; where it is given and tol is "
           "not, tol is 0; 0: do not look",
       .min = 0,
       .max = 1},
      {.name = "max_iterations",
       .type = OptionType::kInt,
       .default_value = "0",
       .help = "stop after so many iterations; 0: no limit",
       .min = 0},
      {.name = "time_limit",
       .type = OptionType::kReal,
       .default_value = "0",
       .help = "stop after so many seconds on the clock; 0: no limit",
       .min = 0},
      {.name = "threads",
       .type = OptionType::kInt,
       .default_value = "0",
       .help = "number of threads; 0: all cores",
       .min = 0,
       .max = 1024},
      {.name = "backend",
       .type = OptionType::kString,
       .default_value = "openmp",
       .help = "parallel back end",
       .choices = {"openmp", "tbb"}},
      {.name = "seed",
       .type = OptionType::kInt,
       .default_value = "1",
       .help = "seed of the solver's random choices",
       .min = 0,
       .max = kMaxSeed},
  };
  return table;
}

const std::vector<ConfigSectionInfo>& config_sections() {
  static const std::vector<ConfigSectionInfo> sections = [] {
    const auto shared = [](std::string_view name, const char* help = nullptr) {
      OptionSpec spec = run_option(name);
      if (help) spec.help = help;
      return spec;
    };
    const auto override_of = [](std::string_view name) {
      OptionSpec spec = run_option(name);
      spec.default_value.clear();
      spec.help = "default: that of [experiment]";
      return spec;
    };
    std::vector<ConfigSectionInfo> all;
    all.push_back(
        {"experiment",
         "what is run: every data set x lambda x solver x repetition",
         {
             {.name = "name",
              .default_value = "",
              .help = "name of the experiment; results go to results/NAME"},
             {.name = "title",
              .default_value = "",
              .help = "one line for people, above the tables; default: the name"},
             shared("lambda",
                    "list of weights of ||w||_1 in F; path(START, END, COUNT), with COUNT lambdas from START "
                    "down to END, is one run for all of them, each warm-started from the one before; START "
                    "and END: a real, max (the smallest lambda at which w = 0 is optimal), or R*max"),
             shared(
                 "mu",
                 "weight of ||w||_2^2 / 2 in F; path(START, END, COUNT), START and END reals, is one run for "
                 "COUNT values from START down to END, with each lambda"),
             shared("loss"),
             shared("cost"),
             shared("threads"),
             shared("backend"),
             shared("tol"),
             shared("gap"),
             shared("time_limit", "seconds on the clock for each run; 0: no limit"),
             shared("max_iterations"),
             {.name = "repetitions",
              .type = OptionType::kInt,
              .default_value = "1",
              .help = "runs of each solver",
              .min = 1,
              .max = 10000},
             shared("seed", "seed of the solvers' random choices; repetition r runs with seed + r - 1"),
             {.name = "reference_solver",
              .default_value = "prox-qn",
              .help =
                  "the solver that gives f*, with its defaults, and bcfw with gap sampling, pairwise steps "
                  "and no "
                  "averaging; default with loss = hinge: bcfw; another than prox-qn goes by reference_gap "
                  "alone, unless that is 0"},
             {.name = "reference_tol",
              .type = OptionType::kReal,
              .default_value = "1e-9",
              .help = "tol of the run that gives f*",
              .min = 0,
              .max = 1},
             {.name = "reference_gap",
              .type = OptionType::kReal,
              .default_value = "1e-9",
              .help = "once tol is met, it goes on within its time limit until f* is proven to this relative "
                      "gap; 0: it does not",
              .min = 0,
              .max = 1},
             {.name = "reference_time_limit",
              .type = OptionType::kReal,
              .default_value = "600",
              .help = "its time limit in seconds on the clock; 0: no limit",
              .min = 0},
             {.name = "sample_kkt",
              .type = OptionType::kBool,
              .default_value = "false",
              .help = "measure kkt at every sample of a trace, off the clock"},
             {.name = "sampling_budget",
              .type = OptionType::kReal,
              .default_value = "0.01",
              .help = "share of the clock's time that evaluating iterates off the clock may take; between, a "
                      "trace has the "
                      "solver's own audited loss; 1e6: no limit",
              .min = 0,
              .max = kNoSamplingBudget},
             {.name = "warm_up",
              .type = OptionType::kReal,
              .default_value = "0.2",
              .help = "seconds of inference at w = 0 before the clock starts",
              .min = 0,
              .max = 3600},
             {.name = "stop_at",
              .type = OptionType::kReal,
              .default_value = "0",
              .help = "stop a run at this relative difference to f*, with status target-reached; 0: go on",
              .min = 0,
              .max = 1},
             {.name = "wall_limit",
              .type = OptionType::kReal,
              .default_value = "auto",
              .help =
                  "seconds of wall time, with loading and sampling, after which a run's process is asked to "
                  "stop (SIGTERM); auto: 60 + 3 * time_limit, none without a time limit; 0: none",
              .min = 0,
              .automatic = true},
             {.name = "kill_grace",
              .type = OptionType::kReal,
              .default_value = "10",
              .help = "seconds after which a process that was asked to stop is killed (SIGKILL)",
              .min = 0},
             {.name = "memory_limit",
              .type = OptionType::kReal,
              .default_value = "0",
              .help = "MiB of memory that a run's process may take; 0: no limit",
              .min = 0},
             {.name = "pin",
              .type = OptionType::kBool,
              .default_value = "true",
              .help = "bind each run to as many CPUs as it has threads, and each thread to one of them"},
             {.name = "order",
              .type = OptionType::kString,
              .default_value = "interleaved",
              .help = "of the runs on one data set and lambda: one repetition of all solvers after the "
                      "other, each "
                      "in an order drawn from the seed; or as the config lists them",
              .choices = {"interleaved", "grid"}},
             {.name = "decoding",
              .type = OptionType::kString,
              .default_value = "structure",
              .help =
                  "test accuracy of the most probable structure (Viterbi), or of the most probable output at "
                  "each of its positions (from marginals)",
              .choices = {"structure", "positions"}},
             {.name = "targets",
              .type = OptionType::kReal,
              .default_value = "1e-2, 1e-4, 1e-6, 1e-8",
              .help = "list of relative differences to f* whose times the tables show",
              .min = 0,
              .min_open = true},
         },
         {"lambda", "targets"},
         {"name", "lambda"},
         {},
         {"lambda", "mu"}});
    all.push_back(
        {"data",
         "[data] or [data.NAME]: a data set; also takes the options of its format",
         {
             {.name = "format", .default_value = "", .help = "a data format"},
             {.name = "train", .default_value = "", .help = "list of training files"},
             {.name = "test", .default_value = "", .help = "list of test files"},
             {.name = "hierarchy", .default_value = "", .help = "file with the hierarchy of classes"},
             {.name = "oracle", .default_value = "", .help = "an oracle; default: that of the format"},
             {.name = "start",
              .default_value = "",
              .help = "model file that the runs start from, but that for f*; default: w = 0"},
         },
         {"train", "test"},
         {"format"}});
    all.push_back({"solver",
                   "[solver.LABEL]: a solver; also takes the solver's own options",
                   {
                       {.name = "solver", .default_value = "", .help = "a solver; default: the LABEL"},
                       override_of("tol"),
                       override_of("gap"),
                       override_of("time_limit"),
                       override_of("max_iterations"),
                   }});
    all.push_back(
        {"plot",
         "which figures are drawn, and how",
         {
             {.name = "kinds",
              .default_value = "curves",
              .help = "list of the kinds of figures: curves of each data set and lambda; over all "
                      "of them the performance profile of each target, and the distribution "
                      "(ecdf) of what it costs to reach the targets; path: nonzeros, objective, "
                      "test accuracy and seconds along each path. Not given: curves where there "
                      "are single lambdas, path where there are paths",
              .choices = {"curves", "profile", "ecdf", "path"}},
             {.name = "x",
              .default_value = "seconds",
              .help = "list of what the curves are drawn against, and of the costs that profiles, "
                      "ecdf and means compare; each in figures of its own",
              .choices = {"seconds", "passes", "updates", "iterations"}},
             {.name = "x_max",
              .type = OptionType::kReal,
              .default_value = "",
              .help = "list of where the axes of x end; 0 or not given: where the runs end",
              .min = 0},
             {.name = "quantities",
              .default_value = "objective, nnz, accuracy",
              .help = "list of what the curves show; empty: no curves",
              .choices = {"objective", "suboptimality", "nnz", "accuracy", "error", "structure-error",
                          "chunk-f1", "gap", "dual", "mean-gap", "gap-estimate", "gap-infeasibility"}},
             {.name = "log_seconds",
              .type = OptionType::kBool,
              .default_value = "false",
              .help = "seconds on a log axis"},
             {.name = "floor",
              .type = OptionType::kReal,
              .default_value = "1e-12",
              .help = "relative differences to f* at or below this are not drawn",
              .min = 0,
              .min_open = true},
             {.name = "repetitions",
              .default_value = "band",
              .help = "two or more repetitions as their median with a band from the 25 % to the "
                      "75 % quantile, or as a line each",
              .choices = {"band", "lines"}},
             {.name = "shift",
              .type = OptionType::kReal,
              .default_value = "1",
              .help = "shift of the geometric means over problems, in seconds (passes, updates, iterations)",
              .min = 0,
              .min_open = true},
             {.name = "par",
              .type = OptionType::kReal,
              .default_value = "10",
              .help = "in these means a failure costs so many times its limit (PAR-k)",
              .min = 1},
         },
         {"kinds", "x", "x_max", "quantities"},
         {},
         {"x_max"}});
    all.push_back({"paper",
                   "what a paper says about the figure or table that the config makes; for `report`",
                   {
                       {.name = "item", .default_value = "", .help = "its name in the paper, e.g. Figure 1"},
                       {.name = "caption", .default_value = "", .help = "what it shows, in one's own words"},
                       {.name = "reports", .default_value = "", .help = "what the paper reports"},
                       {.name = "differs", .default_value = "", .help = "what differs here, and why"},
                       {.name = "lambda",
                        .type = OptionType::kReal,
                        .default_value = "",
                        .help = "list of lambdas for which the paper prints numbers; tables/paper.* then "
                                "shows them beside ours",
                        .min = 0,
                        .min_open = true},
                       {.name = "nnz",
                        .type = OptionType::kReal,
                        .default_value = "",
                        .help = "list of nonzeros at the paper's optimum, one for each lambda",
                        .min = 0},
                       {.name = "accuracy",
                        .type = OptionType::kReal,
                        .default_value = "",
                        .help = "list of the paper's test accuracies, one for each lambda",
                        .min = 0,
                        .max = 1},
                       {.name = "data",
                        .type = OptionType::kBool,
                        .default_value = "false",
                        .help = "tables/data.* and the page show the sizes of the data sets"},
                   },
                   {"lambda", "nnz", "accuracy"},
                   {"item"},
                   {"nnz", "accuracy"}});
    return all;
  }();
  return sections;
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
  return out;
}

}  // namespace

const std::vector<double>& default_targets() {
  static const std::vector<double> all = [] {
    Problems none;
    return Values(config_sections().front(), nullptr, "", none).reals("targets");
  }();
  return all;
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
