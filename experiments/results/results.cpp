#include "experiments/results/results.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "core/base/error.h"
#include "core/base/options.h"
#include "experiments/base/numbers.h"
#include "experiments/config/ini.h"
#include "experiments/results/field_csv.h"

namespace proxbench {
namespace fs = std::filesystem;
namespace {

/// Takes f* from OUT/references where it is there.
void use_stored_reference(const fs::path& out, Run& run) {
  fs::path file = run.folder / "manifest.json";
  try {
    if (!run.path.empty()) return;
    // A run that never came to its data has none.
    if (!run.summary.contains("data_digest") || run.summary["data_digest"].is_null()) return;
    file = reference_file(out, run.summary["data_digest"].get<std::string>(), run.lambda, run.mu, run.loss);
    if (std::error_code ignored; !fs::exists(file, ignored)) return;
    const nlohmann::json reference = read_json(file, kStoredResult);
    run.reference_objective = reference.at("objective").get<double>();
    run.reference_kkt = number_at(reference, "/relative_kkt");  // none of a hinge loss
    run.reference_gap = reference.value("relative_gap", kNaN);  // older references have none
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file(file.string(), 0, error.what(), "the keys of a stored run or reference");
  }
}

/// Position of each data set and solver label in the config that stands beside the runs.
struct ConfigOrder {
  std::map<std::string, std::size_t> datasets, labels;
  explicit ConfigOrder(const fs::path& config) {
    std::error_code ignored;  // without a config the names decide
    if (!fs::is_regular_file(config, ignored)) return;
    Problems not_ours;
    for (const IniSection& section :
         parse_ini(read_file(config, kStoredResult), config.string(), not_ours).sections) {
      if (section.name.starts_with("data.")) datasets.emplace(section.name.substr(5), datasets.size());
      if (section.name.starts_with("solver.")) labels.emplace(section.name.substr(7), labels.size());
    }
  }
  static std::size_t of(const std::map<std::string, std::size_t>& order, const std::string& name) {
    const auto found = order.find(name);
    return found == order.end() ? order.size() : found->second;
  }
  static bool lacks(const std::map<std::string, std::size_t>& order, const std::string& name) {
    return !order.empty() && !order.contains(name);
  }
  auto key(const Run& run) const {
    return std::make_tuple(of(datasets, run.dataset), run.dataset, run.path,
                           std::isnan(run.lambda) ? 0.0 : run.lambda, run.path_of_mu() ? 0.0 : run.mu,
                           run.loss.text(), of(labels, run.label), run.label, run.repetition);
  }
};

/// `text` is what stands in `file`.
std::vector<Sample> parse_trace(const std::string& text, const fs::path& file) {
  std::istringstream in(text);
  std::string line;
  std::uint64_t number = 1;
  std::getline(in, line);
  const auto columns = fields_of_header(
      trace_columns(), {"updates", "gap", "dual_gap", "estimated_gap", "infeasibility", "test_metrics"}, line,
      file);
  std::vector<Sample> trace;
  while (std::getline(in, line)) trace.push_back(record_of(columns, line, file, ++number));
  return trace;
}

/// As far as the process came that failed.
std::vector<Sample> read_trace_of_failure(const fs::path& file) {
  if (std::error_code ignored; !fs::exists(file, ignored)) return {};
  std::string text = read_file(file, kStoredResult);
  text.resize(text.rfind('\n') + 1);  // npos + 1 is 0
  return text.empty() ? std::vector<Sample>{} : parse_trace(text, file);
}

}  // namespace

bool failed_status(std::string_view status) {
  const std::string_view word = status.substr(0, status.find('('));
  return word == "out-of-memory" || word == "crashed" || word == "failed" || word == "skipped" ||
         word == "interrupted";
}

fs::path reference_file(const fs::path& out, const std::string& data_digest, double lambda, double mu,
                        const Loss& loss) {
  std::string key = fmt::format("{} {} {}", data_digest, lambda, mu);
  if (loss.hinge()) key += " " + loss.text();
  return out / "references" / fmt::format("{:016x}.json", XXH3_64bits(key.data(), key.size()));
}

bool same_problem(const Run& a, const Run& b) {
  return a.dataset == b.dataset && a.lambda == b.lambda && a.mu == b.mu && a.loss == b.loss;
}

std::string problem_text(const Penalty& penalty, const Loss& loss) {
  return loss.hinge() ? loss.text() + ", " + penalty.text() : penalty.text();
}

std::string penalty_text(const Run& run) {
  if (run.path.empty()) return problem_text({run.lambda, run.mu}, run.loss);
  const double fixed = run.path_of_mu() ? run.lambda : run.mu;
  const char* over = run.path_of_mu() ? "mu" : "lambda";
  if (fixed == 0.0) return fmt::format("{} = {}", over, run.path);
  return run.path_of_mu() ? fmt::format("lambda = {}, mu = {}", fixed, run.path)
                          : fmt::format("lambda = {}, mu = {}", run.path, fixed);
}

std::string run_name(const Run& run) {
  if (run.folder.has_filename()) return run.folder.filename().string();
  return fmt::format("{}-lambda{}-{}-rep{}", run.dataset, run.lambda, run.label, run.repetition);
}

bool several_machines(const std::vector<Run>& runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const Run& run) { return run.machine != runs.front().machine; });
}

std::string machine_name(const Run& run) {
  return run.machine.empty() ? "unknown machine" : run.machine;
}

std::string series_name(const Run& run, bool among_several_machines) {
  if (!among_several_machines) return run.label;
  const std::string machine = fmt::format(" @ {}", machine_name(run));
  return run.label.ends_with(machine) ? run.label : run.label + machine;
}

void require_comparable(const std::vector<Run>& runs, const std::string& instead) {
  std::vector<std::string> names;
  for (const Run& run : runs)
    if (!run.comparable) names.push_back(run_name(run));
  if (names.empty()) return;
  throw Error::usage(fmt::format("the timings of {} of {} runs are not comparable: {}; expected {}",
                                 names.size(), runs.size(), fmt::join(names, ", "), instead));
}

std::vector<Run> runs_of_solvers(const std::vector<Run>& runs,
                                       const std::vector<std::string>& labels) {
  std::vector<std::string> known;
  for (const Run& run : runs)
    if (std::find(known.begin(), known.end(), run.label) == known.end()) known.push_back(run.label);
  for (const std::string& label : labels)
    if (std::find(known.begin(), known.end(), label) == known.end())
      throw Error::usage(fmt::format("solvers: found '{}', expected labels of the results: {}{}", label,
                                     fmt::join(known, ", "), did_you_mean(label, known)));
  std::vector<Run> chosen;
  for (const Run& run : runs)
    if (std::find(labels.begin(), labels.end(), run.label) != labels.end()) chosen.push_back(run);
  return chosen;
}

Run read_run(const fs::path& out, const fs::path& folder) {
  const fs::path file = folder / "manifest.json";
  Run run;
  run.folder = folder;
  run.summary = read_json(file, kStoredResult);
  try {
    const nlohmann::json& about = run.summary.at("run");
    run.experiment = about.at("experiment").get<std::string>();
    run.dataset = about.at("dataset").get<std::string>();
    run.description = about.at("description").get<std::string>();
    run.solver = about.at("solver").get<std::string>();
    run.label = about.at("label").get<std::string>();
    const auto read_penalty = [&](const nlohmann::json& value) {
      if (!value.is_string()) return value.get<double>();
      run.path = value.get<std::string>();
      return kNaN;
    };
    run.lambda = read_penalty(about.at("lambda"));
    const nlohmann::json& told = about.contains("mu") ? about : run.summary;
    run.mu = told.contains("mu") && !told["mu"].is_null() ? read_penalty(told["mu"]) : 0.0;
    if (about.contains("loss_function")) {
      const bool hinge = about["loss_function"] == loss_name(Loss::Kind::kHinge);
      run.loss = parse_loss(about["loss_function"], hinge ? about.at("cost") : cost_name({}));
    }
    run.repetition = about.at("repetition").get<int>();
    const auto real = [&](const char* key) {
      return about.at(key).is_null() ? kNaN : about.at(key).get<double>();
    };
    if (about.contains("reference_gap")) run.reference_gap = real("reference_gap");
    run.status = run.summary.at("status").get<std::string>();
    if (const auto timing = run.summary.find("timing"); timing != run.summary.end())
      run.comparable = timing->value("comparable", true);
    if (const auto made = run.summary.find("provenance");
        made != run.summary.end() && made->contains("machine"))
      run.machine = made->at("machine").at("name").get<std::string>();
    run.reference_objective = real("reference_objective");
    run.reference_kkt = real("reference_kkt");
  } catch (const nlohmann::json::exception& error) {
    throw Error::in_file(file.string(), 0, error.what(), "the keys of a run's summary");
  }
  const fs::path trace = folder / "trace.csv";
  run.trace = failed_status(run.status) ? read_trace_of_failure(trace) : read_trace(trace);
  use_stored_reference(out, run);
  return run;
}

std::vector<Run> read_results(const fs::path& out) {
  std::vector<Run> runs = read_all_runs(out);
  std::erase_if(runs, [](const Run& run) { return !run.path.empty(); });
  if (runs.empty())
    throw Error::in_file((out / "runs").string(), 0, "paths alone",
                         "runs of single penalties; paths have kinds of their own: --kind path");
  return runs;
}

std::vector<Run> read_all_runs(const fs::path& out) {
  const fs::path runs_folder = out / "runs";
  std::vector<Run> runs;
  std::error_code failure;
  for (fs::directory_iterator entry(runs_folder, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (entry->is_directory() && !entry->path().filename().string().starts_with('.'))
      runs.push_back(read_run(out, entry->path()));
  if (runs.empty()) throw Error::in_file(runs_folder.string(), 0, "no run", "the results of `proxbench run`");
  const ConfigOrder order(out / "config.ini");
  std::sort(runs.begin(), runs.end(),
            [&](const Run& a, const Run& b) { return order.key(a) < order.key(b); });
  return runs;
}

std::string leave_out_strangers(const fs::path& out, std::vector<Run>& runs) {
  const ConfigOrder config(out / "config.ini");
  std::set<std::string> named;
  const std::size_t all = runs.size();
  const std::size_t left_out = std::erase_if(runs, [&](const Run& run) {
    const bool data = ConfigOrder::lacks(config.datasets, run.dataset);
    const bool solver = ConfigOrder::lacks(config.labels, run.label);
    if (data) named.insert("data set " + run.dataset);
    if (solver) named.insert("solver " + run.label);
    return data || solver;
  });
  if (left_out == 0) return "";
  const std::string config_file = (out / "config.ini").string();
  if (runs.empty())
    throw Error::in_file((out / "runs").string(), 0, fmt::format("only runs of {}", fmt::join(named, ", ")),
                         "runs that " + config_file + " asks for");
  return fmt::format("left out {} of {} stored runs: {} has no {}", left_out, all, config_file,
                     fmt::join(named, ", "));
}

std::string trace_header() {
  return csv_header(trace_columns());
}

std::string trace_line(const Sample& sample) {
  return csv_line(trace_columns(), sample);
}

Sample parse_trace_line(const std::string& line, const fs::path& file, std::uint64_t number) {
  return record_of(trace_columns(), line, file, number);
}

std::vector<Sample> read_trace(const fs::path& file) {
  return parse_trace(read_file(file, kStoredResult), file);
}

double relative_difference(double objective, double reference) {
  return (objective - reference) / std::abs(reference);
}

double reference_bound(const Run& run) {
  constexpr double kRounding = 1e-15;  // relative, of F
  const double by_kkt = 2.0 * run.reference_kkt * number_at(run.summary, "/run/kkt_at_zero") / run.lambda;
  const double bound = std::fmin(by_kkt, run.reference_gap);
  return std::isnan(bound) ? bound : std::max(bound, kRounding);
}

bool is_wide(const CostRange& range) {
  constexpr double kWide = 0.1;
  return range.to - range.from > kWide * range.to;
}

CostRange cost_to_target(const Run& run, double target, double (*cost)(const Sample&)) {
  if (std::isnan(run.reference_objective)) return {kNaN, kNaN};
  for (std::size_t i = 0; i < run.trace.size(); ++i)
    if (relative_difference(run.trace[i].objective, run.reference_objective) <= target)
      return {cost(run.trace[i == 0 ? 0 : i - 1]), cost(run.trace[i])};
  return {kInfinity, kInfinity};
}

double sample_seconds(const Sample& sample) {
  return sample.seconds;
}

}  // namespace proxbench
