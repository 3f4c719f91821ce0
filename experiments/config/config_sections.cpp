#include "experiments/config/config_sections.h"

#include <fmt/format.h>

#include "experiments/config/ini_values.h"
#include "solvers/best_solver.h"

namespace proxbench {
namespace {

/// The rows with the defaults of a section's members.
template <class Section>
Schema<Section> with_defaults(const Schema<Section>& rows) {
  const Section defaults{};
  return rows.with([&](Row<Section>& row) { row.spec.default_value = ini_text(row.get(defaults)); });
}

template <class Section>
Schema<Section> section_rows();

template <>
Schema<ExperimentConfig> section_rows() {
  using Config = ExperimentConfig;
  const Schema<PenaltyGrid> penalties({
      row(&PenaltyGrid::lambdas, "lambda",
          "list of weights of ||w||_1 in F; path(START, END, COUNT) is one run for COUNT lambdas, e.g. "
          "path(max, 0.01*max, 50)",
          {.min = 0, .list = true, .required = true, .path = true}),
      row(&PenaltyGrid::mus, "mu",
          "list of weights of ||w||_2^2 / 2 in F, each with every lambda; path(START, END, COUNT) is one run "
          "for COUNT values, or with a path of lambda COUNT runs",
          {.min = 0, .list = true, .path = true}),
  });
  return Schema<Config>({
      row(&Config::name, "name", "name of the experiment; results go to results/NAME", {.required = true}),
      row(&Config::title, "title", "one line for people, above the tables; default: the name"),
      base_rows<Config>(penalties),
      base_rows<Config>(RunSettings::schema()),
      row(&Config::plugins, "plugin",
          "list of plug-ins to load: shared libraries, and files of Python that register solvers",
          {.file = true}),
      row(&Config::repetitions, "repetitions", "runs of each solver", {.min = 1, .max = 10000}),
      row(&Config::reference, "reference",
          "where f* comes from: a run for each data set and penalty, or nowhere",
          {.choices = {"run", "none"}}),
      row(&Config::reference_solver, "reference_solver",
          fmt::format("the solver that gives f*, with its defaults; not given: bcfw with loss = hinge, lbfgs "
                      "where all lambdas are 0, else {}",
                      kBestForL1)),
      row(&Config::reference_tol, "reference_tol", "tol of the run that gives f*", {.min = 0, .max = 1}),
      row(&Config::reference_gap, "reference_gap",
          "once reference_tol is met, the reference goes on until f* is proven to this relative gap; 0: it "
          "ends at reference_tol",
          {.min = 0, .max = 1}),
      row(&Config::reference_time_limit, "reference_time_limit",
          "seconds on the clock for the reference; 0: no limit", {.min = 0}),
      row(&Config::stop_at, "stop_at",
          "stop a run at this relative difference to f*, with status target-reached; 0: go on",
          {.min = 0, .max = 1}),
      row(&Config::wall_limit, "wall_limit",
          "seconds after which a run's process is asked to stop (SIGTERM); auto: 60 + 3 * time_limit, none "
          "without a time limit; 0: none",
          {.min = 0, .automatic = true}),
      row(&Config::kill_grace, "kill_grace",
          "seconds after which a process that was asked to stop is killed (SIGKILL)", {.min = 0}),
      row(&Config::memory_limit, "memory_limit", "MiB of memory that a run's process may take; 0: no limit",
          {.min = 0}),
      row(&Config::pin, "pin",
          "bind each run to as many CPUs as it has threads, and each thread to one of them"),
      row(&Config::order, "order",
          "order of the runs on a problem. interleaved: repetition by repetition, solvers in an order drawn "
          "from the seed; grid: as the config lists them",
          {.choices = {"interleaved", "grid"}}),
      row(&Config::targets, "targets", "list of relative differences to f* whose times the tables show",
          {.min = 0, .min_open = true}),
  });
}

template <>
Schema<DataConfig> section_rows() {
  return base_rows<DataConfig>(RunData::schema());
}

template <>
Schema<SolverConfig> section_rows() {
  const Schema<SolverConfig> stop_rules = base_rows<SolverConfig>(StopRules::schema());
  return Schema<SolverConfig>({
      row(&SolverConfig::solver, "solver", "a solver; default: the LABEL"),
      stop_rules.with([](Row<SolverConfig>& row) { row.spec.help = "default: that of [experiment]"; }),
  });
}

template <>
Schema<PlotConfig> section_rows() {
  return Schema<PlotConfig>({
      row(&PlotConfig::kinds, "kinds",
          "list of the kinds of figures; not given: curves where there are single penalties, path where "
          "there "
          "are paths",
          {.choices = {"curves", "profile", "data-profile", "ecdf", "quality", "path", "grid", "theory"}}),
      row(&PlotConfig::x, "x",
          "list of the horizontal axes of curves, and of the costs that profiles, ecdf and means compare",
          {.choices = {"seconds", "passes", "updates", "iterations"}}),
      row(&PlotConfig::x_max, "x_max", "list of where the axes of x end; 0 or not given: where the runs end",
          {.min = 0, .repeats = true}),
      row(&PlotConfig::quantities, "quantities",
          "list of what the curves show; empty: no curves. Not given, with reference = none: nnz, accuracy",
          {.choices = {"objective", "suboptimality", "nnz", "accuracy", "error", "structure-error",
                       "chunk-f1", "gap", "dual", "mean-gap", "gap-estimate", "gap-infeasibility"}}),
      row(&PlotConfig::log_seconds, "log_seconds", "seconds on a log axis"),
      row(&PlotConfig::repetitions, "repetitions",
          "as their median with a band from the 25 % to the 75 % quantile, or as a line each",
          {.choices = {"band", "lines"}}),
      row(&PlotConfig::shift, "shift",
          "shift of the geometric means over problems, in seconds (passes, updates, iterations)",
          {.min = 0, .min_open = true}),
      row(&PlotConfig::par, "par", "PAR-k: in these means a failed run costs so many times its limit",
          {.min = 1}),
  });
}

template <>
Schema<PaperConfig> section_rows() {
  return Schema<PaperConfig>({
      row(&PaperConfig::item, "item", "its name in the paper, e.g. Figure 1", {.required = true}),
      row(&PaperConfig::caption, "caption", "what it shows, in one's own words"),
      row(&PaperConfig::reports, "reports", "what the paper reports"),
      row(&PaperConfig::differs, "differs", "what differs here, and why"),
      row(&PaperConfig::lambdas, "lambda",
          "list of lambdas for which the paper prints numbers; tables/paper.* then shows them beside ours",
          {.min = 0, .min_open = true}),
      row(&PaperConfig::nnz, "nnz", "list of nonzeros at the paper's optimum, one for each lambda",
          {.min = 0, .repeats = true}),
      row(&PaperConfig::accuracy, "accuracy", "list of the paper's test accuracies, one for each lambda",
          {.min = 0, .max = 1, .repeats = true}),
      row(&PaperConfig::data, "data", "tables/data.* and the page show the sizes of the data sets"),
      row(&PaperConfig::costs, "costs",
          "tables/costs.* and the page show the passes and seconds to each target, and how profiled runs "
          "spent their time"),
  });
}

template <>
Schema<SlurmConfig> section_rows() {
  return Schema<SlurmConfig>({
      row(&SlurmConfig::partition, "partition", "a partition; default: the cluster's"),
      row(&SlurmConfig::account, "account", "the account that is charged; default: the user's"),
      row(&SlurmConfig::time, "time",
          "limit of each job, e.g. 90 (minutes), 1:30:00 or 2-12; auto: the sum over its runs, else the "
          "partition's"),
      row(&SlurmConfig::cpus, "cpus",
          "CPUs of each job, and threads of a run where threads = 0; 0: as many as all threads of a run",
          {.min = 0, .max = 1024}),
      row(&SlurmConfig::constraint, "constraint", "features of the nodes, e.g. skylake"),
      row(&SlurmConfig::exclusive, "exclusive",
          "a whole node for each job; auto: if figures are against seconds",
          {.choices = {"auto", "true", "false"}}),
  });
}

template <class Section>
ConfigSectionInfo info_of(std::string name, std::string help) {
  return {std::move(name), std::move(help), table_of<Section>()};
}

}  // namespace

template <class Section>
const Schema<Section>& keys_of() {
  // The defaults of a solver are the values of [experiment], which its rows say.
  static const Schema<Section> keys =
      std::same_as<Section, SolverConfig> ? section_rows<Section>() : with_defaults(section_rows<Section>());
  return keys;
}
template const Schema<ExperimentConfig>& keys_of();
template const Schema<DataConfig>& keys_of();
template const Schema<SolverConfig>& keys_of();
template const Schema<PlotConfig>& keys_of();
template const Schema<PaperConfig>& keys_of();
template const Schema<SlurmConfig>& keys_of();

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

}  // namespace proxbench
