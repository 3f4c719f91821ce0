/// `evaluate`: measures how well each label and each chunk type is predicted.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.h"
#include "experiments/base/table_text.h"
#include "experiments/cli/cli.h"
#include "experiments/data/label_columns.h"
#include "experiments/metrics/evaluation.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/tagger.h"
#include "experiments/run/training.h"

namespace proxbench {
namespace {

/// The number of confusions that the table shows.
constexpr std::size_t kConfusions = 10;

Json quality_json(const Quality& quality, std::size_t support) {
  return {
      {"precision", quality.precision}, {"recall", quality.recall}, {"f1", quality.f1}, {"support", support}};
}

Json counts_json(const CountsByName& counts) {
  Json names = Json::object();
  for (const auto& [name, one] : counts) names[std::string(name)] = quality_json(quality_of(one), one.gold);
  const std::size_t all = sum_of(counts).gold;
  return {{"by_name", names},
          {"micro", quality_json(micro_of(counts), all)},
          {"macro", quality_json(macro_of(counts), all)}};
}

/// Makes a table from the result of counts_json().
TextTable counts_table(const std::string& caption, const Json& counts) {
  TextTable table;
  table.caption = caption;
  table.head = {"", "precision", "recall", "f1", "support"};
  table.text_columns = 1;
  const auto add = [&](const std::string& name, const Json& quality) {
    std::vector<std::string>& row = table.rows.emplace_back(std::vector{name});
    for (const char* figure : {"precision", "recall", "f1"})
      row.push_back(fixed_cell(quality[figure].get<double>(), 4));
    row.push_back(quality["support"].dump());
  };
  for (const auto& [name, quality] : counts["by_name"].items()) add(name.empty() ? "-" : name, quality);
  add("micro average", counts["micro"]);
  add("macro average", counts["macro"]);
  return table;
}

/// The most frequent confusions come first. Each is a gold label, a predicted label and their count.
auto sorted_confusions(const Evaluation& evaluation) {
  std::vector<std::pair<std::pair<std::string, std::string>, std::uint64_t>> out(
      evaluation.confusions.begin(), evaluation.confusions.end());
  std::ranges::stable_sort(out, std::greater(), [](const auto& one) { return one.second; });
  return out;
}

/// Whether no label is both gold and predicted. The two columns are then probably not gold and prediction.
bool share_no_label(const CountsByName& labels) {
  return std::ranges::none_of(labels,
                              [](const auto& one) { return one.second.gold > 0 && one.second.guessed > 0; });
}

struct EvaluateCommand : ModelFlags {
  std::string columns, scheme;

  void add_to(CLI::App& command) {
    command
        .add_option("file", columns,
                    "file with gold and predicted labels as its last two columns, an empty line between "
                    "sequences; '-' for standard input")
        ->type_name("FILE");
    command.add_option("--chunks", scheme, "the notation of chunks [found from the labels]")
        ->check(CLI::IsMember(chunk_scheme_names()));
    ModelFlags::add_to(command);
  }

  Predictions predictions() const {
    if (columns.empty() == model.empty())
      throw Error::usage(
          "evaluate: expected either FILE with gold and predicted labels, or --model M.tsv --test FILE");
    if (model.empty()) {
      LabelColumns read = read_label_columns(input_file(columns));
      for (const std::string& note : read.notes) ProgressPrinter(quiet).message(note);
      ProgressPrinter(quiet).warning(read.warning);
      return {std::move(read.data), std::move(read.predicted)};
    }
    const Model stored = read_model(input_file(model));
    Tagger tagger = ModelFlags::tagger(stored, TestLabels::kIfAny);
    Predictions out;
    tagger.run([&](const DataBatch& batch, const Tagged& tagged) { out.add(batch, tagged); });
    for (const std::string& warning : tagger.warnings()) ProgressPrinter(quiet).warning(warning);
    if (tagger.fit().unlabelled > 0)
      throw Error::usage("evaluate: the text has no labels to compare with, expected labelled text");
    ProgressPrinter(quiet).warning(tagger.fit().warning(stored));
    return out;
  }

  void execute() const {
    const Predictions predicted = predictions();
    const Evaluation found = evaluate(predicted.data, predicted.outputs, scheme);
    ProgressPrinter(quiet).warning(found.warning);
    if (!columns.empty() && share_no_label(found.labels))
      ProgressPrinter(quiet).warning(
          "no gold label is ever predicted: the last two columns of each line must be the gold and the "
          "predicted label, as `predict --with-gold` writes them");
    const double accuracy = metrics_of(predicted.data, predicted.outputs).at(trace_metric().name);
    const auto confusions = sorted_confusions(found);
    Json result{{"instances", predicted.data.instances()},
                {"positions", predicted.data.positions()},
                {"accuracy", accuracy},
                {"labels", counts_json(found.labels)},
                {"chunks", found.chunks.empty() ? Json() : counts_json(found.chunks)},
                {"chunk_scheme", found.scheme.empty() ? Json() : Json(found.scheme)},
                {"confusions", Json::array()}};
    for (const auto& [labels, count] : confusions)
      result["confusions"].push_back(
          {{"gold", labels.first}, {"predicted", labels.second}, {"count", count}});
    json.write(result);
    if (!prints()) return;
    std::vector<TextTable> tables{counts_table("Labels", result["labels"])};
    if (!found.chunks.empty()) tables.push_back(counts_table("Chunks in " + found.scheme, result["chunks"]));
    TextTable wrong;
    wrong.caption = fmt::format("Most frequent confusions, of {}", confusions.size());
    wrong.head = {"gold", "predicted", "count"};
    wrong.text_columns = 2;
    for (const auto& [labels, count] : confusions)
      if (wrong.rows.size() < kConfusions)
        wrong.rows.push_back({labels.first, labels.second, std::to_string(count)});
    if (!confusions.empty()) tables.push_back(wrong);
    fmt::print("accuracy {:.4f} of {} in {} instances\n\n{}", accuracy, graded_text(predicted.data),
               predicted.data.instances(), markdown_document(tables));
  }
};

}  // namespace

void add_evaluate_command(CLI::App& app) {
  add_command<EvaluateCommand>(
      app, "evaluate",
      "Precision, recall and F1 of each label and type of chunks, and confusions: of a "
      "model on --test, or of a file of gold and predicted labels");
}

}  // namespace proxbench
