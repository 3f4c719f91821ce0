#include "experiments/results/tables/paper_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/numbers.h"

namespace proxbench {
namespace {

/// Returns the paper's number for lambda from one of its lists.
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

/// Adds the mean of the rows that are optima and, if there are two or more, their standard deviation.
void add_statistics(std::vector<PaperRow>& rows) {
  std::vector<PaperRow> optima;
  std::ranges::copy_if(rows, std::back_inserter(optima), &PaperRow::optimal);
  if (rows.size() < 2 || optima.empty()) return;
  PaperRow mean = rows.front();
  mean.kind = kMeanRow;
  mean.label = mean.status = "";
  mean.optimal = true;
  mean.used = optima.size();
  mean.total = rows.size();
  mean.relative_kkt = 0.0;
  for (const PaperRow& row : optima) mean.relative_kkt = std::fmax(mean.relative_kkt, row.relative_kkt);
  PaperRow deviation = mean;
  deviation.kind = kDeviationRow;
  deviation.paper_nnz = deviation.paper_accuracy = deviation.relative_kkt = kNaN;
  const auto used = static_cast<double>(optima.size());
  for (double PaperRow::*number : {&PaperRow::nnz, &PaperRow::accuracy}) {
    double sum = 0.0, squares = 0.0;
    for (const PaperRow& row : optima) sum += row.*number;
    mean.*number = sum / used;
    for (const PaperRow& row : optima) squares += std::pow(row.*number - mean.*number, 2);
    deviation.*number = std::sqrt(squares / (used - 1.0));
  }
  rows.push_back(mean);
  if (optima.size() > 1) rows.push_back(deviation);
}

std::string name_cell(const PaperRow& row) {
  if (row.kind == kRunRow) return row.dataset;
  return fmt::format("{} of {}{}", row.kind == kMeanRow ? "mean" : "standard deviation",
                     row.used == row.total ? "" : fmt::format("{} of ", row.used), row.total);
}

}  // namespace

std::vector<PaperRow> compare_with_paper(const std::vector<Run>& runs, const Presentation& presentation) {
  const auto source_of = [&](const Run& run) {
    const auto known = presentation.sources.find(dataset_of(run));
    return known == presentation.sources.end() ? dataset_of(run) : known->second;
  };
  const auto distance = [](const Run* run) {
    const double kkt = run->result.relative_kkt();
    return std::isnan(kkt) ? kInfinity : kkt;
  };
  std::vector<PaperRow> out;
  for (const auto& [source, family] : grouped(runs, source_of)) {
    std::map<std::pair<double, double>, Runs> penalties;
    for (const Run* run : family) penalties[{run->parameters.lambda, run->parameters.mu}].push_back(run);
    for (const auto& [penalty, of_penalty] : penalties) {
      std::vector<PaperRow> rows;
      for (const auto& [dataset, some] : grouped(of_penalty, dataset_of))
        rows.push_back(row_of(**std::ranges::min_element(some, {}, distance), presentation.paper));
      add_statistics(rows);
      out.insert(out.end(), rows.begin(), rows.end());
    }
  }
  return out;
}

TableSet paper_table(const std::vector<Run>& runs, const Presentation& presentation) {
  TableSet out{"paper", presentation.title, {{}}, {}};
  TextTable& table = out.tables.front();
  table.caption = presentation.paper.item + " of the paper, and ours";
  table.head = {"data", "status",     "nnz: paper",  "ours", "difference", "accuracy: paper",
                "ours", "difference", "relative kkt"};
  table.text_columns = 2;
  bool all_optimal = true;
  for (const PaperRow& row : compare_with_paper(runs, presentation)) {
    const auto ours = [&](const std::string& cell) {
      return row.optimal || cell == "-" ? cell : fmt::format("({})", cell);
    };
    all_optimal = all_optimal && row.optimal;
    const std::string status = row.label.empty() ? "" : fmt::format("{}: {}", row.label, row.status);
    table.rows.push_back(
        {fmt::format("{}, {}", name_cell(row), Penalty{row.lambda, row.mu}.text()),
         row.optimal ? status : status + ", NOT AN OPTIMUM", count_cell(row.paper_nnz),
         ours(count_cell(row.nnz)), ours(formatted_cell(100.0 * row.nnz_difference(), "{:+.1f} %")),
         fixed_cell(row.paper_accuracy, 6), ours(fixed_cell(row.accuracy, 6)),
         ours(formatted_cell(row.accuracy_difference(), "{:+.4f}")), scientific_cell(row.relative_kkt)});
    out.records.push_back({{"kind", row.kind},
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
