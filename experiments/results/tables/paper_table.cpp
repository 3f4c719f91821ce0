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

double mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
  const double centre = mean(values);
  double sum = 0.0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

/// Mean and, where there are two, standard deviation of the rows that are optima.
std::vector<PaperRow> statistics(const std::vector<PaperRow>& rows) {
  std::vector<double> nnz, accuracy;
  PaperRow average = rows.front();
  average.kind = PaperRowKind::kMean;
  average.label.clear();
  average.status.clear();
  average.relative_kkt = 0.0;
  average.optimal = true;
  for (const PaperRow& row : rows) {
    if (!row.optimal) continue;
    nnz.push_back(row.nnz);
    accuracy.push_back(row.accuracy);
    average.relative_kkt = std::fmax(average.relative_kkt, row.relative_kkt);
  }
  if (nnz.empty()) return {};
  average.used = nnz.size();
  average.total = rows.size();
  average.nnz = mean(nnz);
  average.accuracy = mean(accuracy);
  if (nnz.size() < 2) return {average};
  PaperRow spread = average;
  spread.kind = PaperRowKind::kDeviation;
  spread.nnz = deviation(nnz);
  spread.accuracy = deviation(accuracy);
  spread.paper_nnz = spread.paper_accuracy = spread.relative_kkt = kNaN;
  return {average, spread};
}

std::string share_cell(double share) {
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

TextTable paper_table(const std::vector<PaperRow>& rows, const Presentation& presentation) {
  TextTable table;
  table.caption = presentation.paper.item + " of the paper, and ours";
  table.head = {"data",       "status",          "penalty", "nnz: paper", "ours",
                "difference", "accuracy: paper", "ours",    "difference", "relative kkt"};
  table.text_columns = 2;
  bool all_optimal = true;
  for (const PaperRow& row : rows) {
    const auto ours = [&](const std::string& cell) {
      return row.optimal || cell == "-" ? cell : fmt::format("({})", cell);
    };
    all_optimal = all_optimal && row.optimal;
    const std::string status = row.label.empty() ? "" : fmt::format("{}: {}", row.label, row.status);
    table.rows.push_back({name_cell(row), row.optimal ? status : status + ", NOT AN OPTIMUM",
                          Penalty{row.lambda, row.mu}.text(), count_cell(row.paper_nnz),
                          ours(count_cell(row.nnz)), ours(share_cell(row.nnz_difference())),
                          fixed_cell(row.paper_accuracy, 6), ours(fixed_cell(row.accuracy, 6)),
                          ours(signed_cell(row.accuracy_difference())), scientific_cell(row.relative_kkt)});
  }
  if (!all_optimal)
    table.notes.push_back(
        "In parentheses: NOT AN OPTIMUM. The run ended before kkt <= tol * (kkt at w = 0) or the gap asked "
        "for; such rows are in "
        "no "
        "mean.");
  return table;
}

std::string csv_paper_table(const std::vector<PaperRow>& rows) {
  std::string out =
      "kind,dataset,lambda,mu,solver,status,optimal,datasets_used,datasets,paper_nnz,nnz,nnz_relative_"
      "difference,"
      "paper_accuracy,accuracy,accuracy_difference,relative_kkt\n";
  for (const PaperRow& row : rows) {
    out += fmt::format("{},{},{},{},{},{},{},{},{}", kind_name(row.kind), csv_field(row.dataset), row.lambda,
                       row.mu, csv_field(row.label), csv_field(row.status), row.optimal, row.used, row.total);
    for (const double value : {row.paper_nnz, row.nnz, row.nnz_difference(), row.paper_accuracy, row.accuracy,
                               row.accuracy_difference(), row.relative_kkt})
      out += fmt::format(",{}", number_text(value));
    out += "\n";
  }
  return out;
}

std::vector<std::filesystem::path> write_paper_table(const std::vector<Run>& runs,
                                                     const std::filesystem::path& folder,
                                                     const Presentation& presentation) {
  if (presentation.paper.lambdas.empty()) return {};
  const std::vector<PaperRow> rows = compare_with_paper(runs, presentation);
  const std::vector<TextTable> tables{paper_table(rows, presentation)};
  return write_tables(folder, "paper", presentation.title, tables, csv_paper_table(rows));
}

}  // namespace proxbench
