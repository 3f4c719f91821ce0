/// The tables of config keys: the options of a run, and the sections with their keys.

#include "core/base/error.h"
#include "experiments/config/config_row.h"
#include "experiments/config/config_rules.h"
#include "solvers/best_solver.h"

namespace proxbench {

void set_option(Options& options, const std::string& name, const std::string& text, const FindFile& find) {
  const OptionSpec& spec = options.spec(name);
  try {
    options.set(name, text);
  } catch (const Error&) {
    std::string expected = spec.constraint();
    if (spec.type == OptionType::kInt) expected = "an integer, " + expected;
    if (spec.type == OptionType::kReal) expected = "a finite real, " + expected;
    throw ValueError(
        fmt::format("found '{}', expected {}{}", text, expected, did_you_mean(text, spec.choices)));
  }
  if (spec.names_file(text)) options.set(name, find(text));
}

namespace {

void add_rows(Rows<ExperimentConfig>& row) {
  using Config = ExperimentConfig;
  row(&Config::name, "name", "name of the experiment; results go to results/NAME", {.required = true});
  row(&Config::title, "title", "one line for people, above the tables; default: the name");
  row(&Config::lambdas, "lambda",
      "list of weights of ||w||_1 in F; path(START, END, COUNT) is one run for COUNT lambdas, e.g. "
      "path(max, 0.01*max, 50)",
      {.min = 0, .required = true});
  row(&Config::mus, "mu",
      "list of weights of ||w||_2^2 / 2 in F, each with every lambda; path(START, END, COUNT) is one run for "
      "COUNT values, or with a path of lambda COUNT runs",
      {.min = 0});
  each_stop_rule(row);
  each_run_setting(row);
  row(&Config::repetitions, "repetitions", "runs of each solver", {.min = 1, .max = 10000});
  row(&Config::reference, "reference", "where f* comes from: a run for each data set and penalty, or nowhere",
      {.choices = {"run", "none"}});
  row(&Config::reference_solver, "reference_solver",
      fmt::format("the solver that gives f*, with its defaults; not given: bcfw with loss = hinge, lbfgs "
                  "where all lambdas are 0, else {}",
                  kBestForL1));
  row(&Config::reference_tol, "reference_tol", "tol of the run that gives f*", {.min = 0, .max = 1});
  row(&Config::reference_gap, "reference_gap",
      "once reference_tol is met, the reference goes on until f* is proven to this relative gap; 0: it "
      "ends at reference_tol",
      {.min = 0, .max = 1});
  row(&Config::reference_time_limit, "reference_time_limit",
      "seconds on the clock for the reference; 0: no limit", {.min = 0});
  row(&Config::stop_at, "stop_at",
      "stop a run at this relative difference to f*, with status target-reached; 0: go on",
      {.min = 0, .max = 1});
  row(&Config::wall_limit, "wall_limit",
      "seconds after which a run's process is asked to stop (SIGTERM); auto: 60 + 3 * time_limit, none "
      "without a time limit; 0: none",
      {.min = 0, .automatic = true});
  row(&Config::kill_grace, "kill_grace",
      "seconds after which a process that was asked to stop is killed (SIGKILL)", {.min = 0});
  row(&Config::memory_limit, "memory_limit", "MiB of memory that a run's process may take; 0: no limit",
      {.min = 0});
  row(&Config::pin, "pin", "bind each run to as many CPUs as it has threads, and each thread to one of them");
  row(&Config::order, "order",
      "order of the runs on a problem. interleaved: repetition by repetition, solvers in an order drawn "
      "from the seed; grid: as the config lists them",
      {.choices = {"interleaved", "grid"}});
  row(&Config::targets, "targets", "list of relative differences to f* whose times the tables show",
      {.min = 0, .min_open = true});
}

void add_rows(Rows<DataConfig>& row) {
  each_data_setting(row);
}

void add_rows(Rows<SolverConfig>& row) {
  row(&SolverConfig::solver, "solver", "a solver; default: the LABEL");
  each_stop_rule(row);
  for (std::size_t i = 1; i < row.keys.size(); ++i) {
    OptionSpec& spec = row.keys[i].spec;
    spec.help = "default: that of [experiment]";
    spec.default_value.clear();
  }
}

void add_rows(Rows<PlotConfig>& row) {
  row(&PlotConfig::kinds, "kinds",
      "list of the kinds of figures; not given: curves where there are single penalties, path where there "
      "are paths",
      {.choices = {"curves", "profile", "data-profile", "ecdf", "quality", "path", "grid", "theory"}});
  row(&PlotConfig::x, "x",
      "list of the horizontal axes of curves, and of the costs that profiles, ecdf and means compare",
      {.choices = {"seconds", "passes", "updates", "iterations"}});
  row(&PlotConfig::x_max, "x_max", "list of where the axes of x end; 0 or not given: where the runs end",
      {.min = 0, .repeats = true});
  row(&PlotConfig::quantities, "quantities",
      "list of what the curves show; empty: no curves. Not given, with reference = none: nnz, accuracy",
      {.choices = {"objective", "suboptimality", "nnz", "accuracy", "error", "structure-error", "chunk-f1",
                   "gap", "dual", "mean-gap", "gap-estimate", "gap-infeasibility"}});
  row(&PlotConfig::log_seconds, "log_seconds", "seconds on a log axis");
  row(&PlotConfig::repetitions, "repetitions",
      "as their median with a band from the 25 % to the 75 % quantile, or as a line each",
      {.choices = {"band", "lines"}});
  row(&PlotConfig::shift, "shift",
      "shift of the geometric means over problems, in seconds (passes, updates, iterations)",
      {.min = 0, .min_open = true});
  row(&PlotConfig::par, "par", "PAR-k: in these means a failed run costs so many times its limit",
      {.min = 1});
}

void add_rows(Rows<PaperConfig>& row) {
  row(&PaperConfig::item, "item", "its name in the paper, e.g. Figure 1", {.required = true});
  row(&PaperConfig::caption, "caption", "what it shows, in one's own words");
  row(&PaperConfig::reports, "reports", "what the paper reports");
  row(&PaperConfig::differs, "differs", "what differs here, and why");
  row(&PaperConfig::lambdas, "lambda",
      "list of lambdas for which the paper prints numbers; tables/paper.* then shows them beside ours",
      {.min = 0, .min_open = true});
  row(&PaperConfig::nnz, "nnz", "list of nonzeros at the paper's optimum, one for each lambda",
      {.min = 0, .repeats = true});
  row(&PaperConfig::accuracy, "accuracy", "list of the paper's test accuracies, one for each lambda",
      {.min = 0, .max = 1, .repeats = true});
  row(&PaperConfig::data, "data", "tables/data.* and the page show the sizes of the data sets");
  row(&PaperConfig::costs, "costs",
      "tables/costs.* and the page show the passes and seconds to each target, and how profiled runs "
      "spent their time");
}

void add_rows(Rows<SlurmConfig>& row) {
  row(&SlurmConfig::partition, "partition", "a partition; default: the cluster's");
  row(&SlurmConfig::account, "account", "the account that is charged; default: the user's");
  row(&SlurmConfig::time, "time",
      "limit of each job, e.g. 90 (minutes), 1:30:00 or 2-12; auto: the sum over its runs, else the "
      "partition's");
  row(&SlurmConfig::cpus, "cpus",
      "CPUs of each job, and threads of a run where threads = 0; 0: as many as all threads of a run",
      {.min = 0, .max = 1024});
  row(&SlurmConfig::constraint, "constraint", "features of the nodes, e.g. skylake");
  row(&SlurmConfig::exclusive, "exclusive", "a whole node for each job; auto: if figures are against seconds",
      {.choices = {"auto", "true", "false"}});
}

template <class Section>
ConfigSectionInfo info_of(std::string name, std::string help) {
  return {std::move(name), std::move(help), table_of<Section>()};
}

}  // namespace

template <class Section>
const std::vector<ConfigKey<Section>>& keys_of() {
  static const auto keys = [] {
    Rows<Section> row;
    add_rows(row);
    return row.keys;
  }();
  return keys;
}
template const std::vector<ConfigKey<ExperimentConfig>>& keys_of();
template const std::vector<ConfigKey<DataConfig>>& keys_of();
template const std::vector<ConfigKey<SolverConfig>>& keys_of();
template const std::vector<ConfigKey<PlotConfig>>& keys_of();
template const std::vector<ConfigKey<PaperConfig>>& keys_of();
template const std::vector<ConfigKey<SlurmConfig>>& keys_of();

const std::vector<ConfigSectionInfo>& config_sections() {
  static const std::vector<ConfigSectionInfo> sections{
      info_of<ExperimentConfig>("experiment", "what is run: every data set x lambda x solver x repetition"),
      info_of<DataConfig>("data", "[data] or [data.NAME]: a data set; also takes the options of its format"),
      info_of<SolverConfig>("solver", "[solver.LABEL]: a solver; also takes the solver's own options"),
      info_of<PlotConfig>("plot", "which figures are drawn, and how"),
      info_of<PaperConfig>("paper",
                           "what a paper says about the figure or table that the config makes; for `report`"),
      info_of<SlurmConfig>("slurm", "what the jobs of `run --launcher slurm` ask for"),
  };
  return sections;
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
  for (const ConfigKey<Section>& key : keys_of<Section>()) {
    const std::string text = key.write(section);
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

}  // namespace proxbench
