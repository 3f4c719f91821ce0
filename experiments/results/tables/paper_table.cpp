#include "experiments/results/tables/paper_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "experiments/base/numbers.h"

namespace proxbench {
namespace {

/// The paper's number for lambda in one of its lists.
double printed(const PaperConfig& paper, const std::vector<double>& numbers, double lambda) {
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (paper.lambdas[i] == lambda) return numbers[i];
  return kNaN;
}

PaperRow row_of(const Run& run, const PaperConfig& paper) {
  const RunParameters& p = run.parameters;
  const Certificate& end = run.result.certificate;
  PaperRow row{};
  row.dataset = p.dataset;
  row.lambda = p.lambda;
  row.mu = p.mu;
  row.label = p.label;
  row.status = run.status();
  row.relative_kkt = run.result.relative_kkt();
  row.optimal = row.relative_kkt <= p.tol || (p.gap_target > 0.0 && end.relative_gap() <= p.gap_target);
  row.paper_nnz = printed(paper, paper.nnz, p.lambda);
  row.paper_accuracy = printed(paper, paper.accuracy, p.lambda);
  row.nnz = run.result.nonzeros_found();
  row.accuracy = run.result.test_accuracy;
  return row;
}

/// Mean and, where there are two, standard deviation of the rows that are optima.
std::vector<PaperRow> statistics(const std::vector<PaperRow>& rows) {
  PaperRow mean = rows.front();
  mean.kind = PaperRowKind::kMean;
  mean.label = mean.status = "";
  mean.optimal = true;
  mean.used = 0;
  mean.total = rows.size();
  mean.relative_kkt = mean.nnz = mean.accuracy = 0.0;
  for (const PaperRow& row : rows) {
    if (!row.optimal) continue;
    ++mean.used;
    mean.nnz += row.nnz;
    mean.accuracy += row.accuracy;
    mean.relative_kkt = std::fmax(mean.relative_kkt, row.relative_kkt);
  }
  if (mean.used == 0) return {};
  const auto used = static_cast<double>(mean.used);
  mean.nnz /= used;
  mean.accuracy /= used;
  if (mean.used < 2) return {mean};
  PaperRow deviation = mean;
  deviation.kind = PaperRowKind::kDeviation;
  deviation.paper_nnz = deviation.paper_accuracy = deviation.relative_kkt = kNaN;
  for (double PaperRow::*number : {&PaperRow::nnz, &PaperRow::accuracy}) {
    double squares = 0.0;
    for (const PaperRow& row : rows)
      if (row.optimal) squares += std::pow(row.*number - mean.*number, 2);
    deviation.*number = std::sqrt(squares / (used - 1.0));
  }
  return {mean, deviation};
}

std::string difference_cell(double share) {
  return std::isnan(share) ? "-" : fmt::format("{:+.1f} %", 100.0 * share);
}
std::string signed_cell(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:+.4f}", value);
}

std::string name_cell(const PaperRow& row) {
  if (row.kind == PaperRowKind::kRun) return row.dataset;
  return fmt::format(
      "{} of {}", row.kind == PaperRowKind::kMean ? "mean" : "standard deviation",
      row.used == row.total ? fmt::format("{}", row.total) : fmt::format("{} of {}", row.used, row.total));
}

const char* kind_name(PaperRowKind kind) {
  return kind == PaperRowKind::kRun ? "run" : kind == PaperRowKind::kMean ? "mean" : "deviation";
}

}  // namespace

std::vector<PaperRow> compare_with_paper(const std::vector<Run>& runs, const Presentation& presentation) {
  const auto nearer = [](const PaperRow& a, const PaperRow& b) {
    return a.relative_kkt < b.relative_kkt || (std::isnan(b.relative_kkt) && !std::isnan(a.relative_kkt));
  };
  // source -> (lambda, mu) -> one row a data set; sources in the order in which they first occur
  std::vector<std::pair<std::string, std::map<std::pair<double, double>, std::vector<PaperRow>>>> families;
  for (const Run& run : runs) {
    const auto known = presentation.sources.find(run.parameters.dataset);
    const std::string source = known == presentation.sources.end() ? run.parameters.dataset : known->second;
    auto family = std::find_if(families.begin(), families.end(),
                               [&](const auto& candidate) { return candidate.first == source; });
    if (family == families.end()) family = families.insert(family, {source, {}});
    std::vector<PaperRow>& rows = family->second[{run.parameters.lambda, run.parameters.mu}];
    const PaperRow row = row_of(run, presentation.paper);
    if (rows.empty() || rows.back().dataset != run.parameters.dataset)
      rows.push_back(row);
    else if (nearer(row, rows.back()))
      rows.back() = row;
  }

  std::vector<PaperRow> out;
  for (const auto& [source, by_penalty] : families)
    for (const auto& [penalty, rows] : by_penalty) {
      out.insert(out.end(), rows.begin(), rows.end());
      if (rows.size() < 2) continue;
      for (const PaperRow& row : statistics(rows)) out.push_back(row);
    }
  return out;
}

TableSet paper_table(const std::vector<Run>& runs, const Presentation& presentation) {
  TableSet out{"paper", presentation.title, {{}}, {}};
  TextTable& table = out.tables.front();
  table.caption = presentation.paper.item + " of the paper, and ours";
  table.head = {"data",       "status",          "penalty", "nnz: paper", "ours",
                "difference", "accuracy: paper", "ours",    "difference", "relative kkt"};
  table.text_columns = 2;
  bool all_optimal = true;
  for (const PaperRow& row : compare_with_paper(runs, presentation)) {
    const auto ours = [&](const std::string& cell) {
      return row.optimal || cell == "-" ? cell : fmt::format("({})", cell);
    };
    all_optimal = all_optimal && row.optimal;
    const std::string status = row.label.empty() ? "" : fmt::format("{}: {}", row.label, row.status);
    table.rows.push_back({name_cell(row), row.optimal ? status : status + ", NOT AN OPTIMUM",
                          Penalty{row.lambda, row.mu}.text(), count_cell(row.paper_nnz),
                          ours(count_cell(row.nnz)), ours(difference_cell(row.nnz_difference())),
                          fixed_cell(row.paper_accuracy, 6), ours(fixed_cell(row.accuracy, 6)),
                          ours(signed_cell(row.accuracy_difference())), scientific_cell(row.relative_kkt)});
    out.records.push_back({{"kind", kind_name(row.kind)},
                           {"dataset", row.dataset},
                           {"lambda", row.lambda},
                           {"mu", row.mu},
                           {"solver", row.label},
                           {"status", row.status},
                           {"optimal", row.optimal},
                           {"datasets_used", row.used},
                           {"datasets", row.total},
                           {"paper_nnz", row.paper_nnz},
                           {"nnz", row.nnz},
                           {"nnz_relative_difference", row.nnz_difference()},
                           {"paper_accuracy", row.paper_accuracy},
                           {"accuracy", row.accuracy},
                           {"accuracy_difference", row.accuracy_difference()},
                           {"relative_kkt", row.relative_kkt}});
  }
  if (!all_optimal)
    table.notes.push_back(
        "In parentheses: NOT AN OPTIMUM. The run ended before kkt <= tol * (kkt at w = 0) or the gap asked "
        "for; such rows are in no mean.");
  return out;
}

}  // namespace proxbench
