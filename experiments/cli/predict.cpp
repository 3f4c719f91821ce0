/// `predict`: labels data with a stored model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "experiments/base/files.h"
#include "experiments/cli/cli.h"
#include "experiments/metrics/chunks.h"
#include "experiments/metrics/evaluation.h"
#include "experiments/metrics/metrics.h"
#include "experiments/run/tagger.h"
#include "experiments/run/training.h"

namespace proxbench {
namespace {

/// The number of instances in a task.
constexpr std::size_t kInstancesPerTask = 32;

/// Writes the N best structures of each instance, followed by an empty line. The lines are
/// - `rank TAB score TAB output TAB output ...`, with ranks from 1 and an output for each position (for
///   groups of candidates: the number of the chosen one, from 1); or
/// - with `rerank`, candidates in the format rerank. If the outputs are labels of chunks
///   (experiments/metrics/chunks.h), a line is `correct/gold/guessed TAB base:DIFFERENCE` with counts of
///   chunks. For groups of candidates, the first field is the quality of the chosen candidate, or its counts.
///   Otherwise the first field is the number of correct positions. DIFFERENCE is the structure's score minus
///   the best one's. It differs from the log-probability by a constant of the group, which re-ranking
///   ignores.
struct NbestWriter {
  const Dataset& data;
  bool rerank;
  std::optional<ChunkGrader> chunks = {};  ///< of labels of chunks

  void write(Index instance, const NbestOracle::List& list, std::string& out) const {
    const std::size_t begin = data.begin[instance], length = data.begin[instance + std::size_t{1}] - begin;
    const auto to = std::back_inserter(out);
    for (std::size_t r = 0; r < list.score.size(); ++r) {
      const std::span<const Index> outputs(list.outputs.data() + r * length, length);
      if (rerank) {
        fmt::format_to(to, "{}\tbase:{}", quality(instance, outputs), list.score[r] - list.score[0]);
      } else {
        fmt::format_to(to, "{}\t{}", r + 1, list.score[r]);
        if (groups())
          fmt::format_to(to, "\t{}", chosen(outputs) + 1);
        else
          for (const Index k : outputs) (out += '\t') += data.vocabulary->outputs[k];
      }
      out += '\n';
    }
    out += '\n';
  }

  /// Whether structures are candidates chosen from groups.
  bool groups() const { return !data.quality.empty(); }
  static std::size_t chosen(std::span<const Index> outputs) {
    return static_cast<std::size_t>(std::ranges::find(outputs, Index{0}) - outputs.begin());
  }
  static std::string text_of(const MatchCounts& counts) {
    return fmt::format("{}/{}/{}", counts.correct, counts.gold, counts.guessed);
  }

  std::string quality(Index instance, std::span<const Index> outputs) const {
    if (groups()) {
      const std::size_t p = data.begin[instance] + chosen(outputs);
      return data.counts.empty() ? fmt::format("{}", data.quality[p]) : text_of(data.counts[p]);
    }
    if (chunks) return text_of(chunks->count(instance, outputs));
    return std::to_string(std::inner_product(outputs.begin(), outputs.end(),
                                             data.gold.begin() + data.begin[instance], std::size_t{0},
                                             std::plus(), std::equal_to()));
  }
};

/// Returns the lists of a batch. Throws Error (kUsage) if the oracle cannot find the n best.
std::string nbest_text(const DataBatch& batch, const Tagged& tagged, std::size_t n, bool rerank,
                       const Parallel& parallel) {
  const NbestOracle* nbest = tagged.oracle->nbest();
  if (nbest == nullptr)
    throw Error::usage("--nbest: the oracle of these data has no 'n best' (chain, tree and candidates have)");
  NbestWriter writer{batch.data, rerank};
  if (const ChunkScheme* scheme = chunk_scheme_of(batch.data.vocabulary->outputs).scheme)
    writer.chunks.emplace(batch.data, *scheme);
  const Chunks chunks{batch.data.instances(), kInstancesPerTask};
  std::vector<std::string> part(chunks.count());
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    NbestOracle::List list;
    for (std::size_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      nbest->nbest(tagged.scores, static_cast<Index>(i), n, list);
      writer.write(static_cast<Index>(i), list, part[chunk]);
    }
  });
  return joined(part, "");
}

/// Returns one line for each position: the labels that are on, separated by TAB.
std::string sets_text(const Dataset& data, const std::vector<Index>& outputs) {
  std::string out;
  const std::size_t width = data.prediction_width();
  for (std::size_t p = 0; p < data.positions(); ++p) {
    std::vector<std::string> on;
    for (std::size_t k = 0; k < width; ++k)
      if (outputs[p * width + k] == 1) on.push_back(data.vocabulary->outputs[k]);
    out += joined(on, "\t") + "\n";
  }
  return out;
}

/// Returns the lines of the batch's files. Lines of positions end with a TAB and the label, or the gold
/// label, a TAB and the label.
std::string columns_text(const DataBatch& batch, const Tagged& tagged, bool with_gold) {
  std::string out;
  Index p = 0;
  for (const TextLine& line : batch.lines) {
    out += line.text;
    if (line.position) {
      if (with_gold) (out += '\t') += gold_name(batch.data, p);
      (out += '\t') += batch.data.vocabulary->outputs[tagged.outputs[p++]];
    }
    out += '\n';
  }
  return out;
}

/// Writes one line for each position, or for each group the number of the chosen candidate, from 1:
///
///     [GOLD TAB] LABEL[:P TAB LABEL:P TAB LABEL:P ...]
///
/// With marginals, a line has the label and its probability, then all labels with their probabilities. A line
/// `@probability TAB P` before each instance then has the probability of its structure, as with CRFsuite's
/// `tag -p -i -l`. Empty lines separate sequences. If a reader may be waiting, an empty line follows each
/// sequence.
struct LabelWriter {
  bool with_gold, with_marginals, awaited;
  Parallel parallel;
  bool begun = false;

  std::string text(const DataBatch& batch, const Tagged& tagged) {
    const Dataset& data = batch.data;
    std::optional<Marginals> marginals;
    if (with_marginals) marginals.emplace(batch, tagged, parallel);
    if (with_gold && !data.on.empty())
      throw Error::usage("--with-gold: found sets of labels, expected data of one label a position");
    if (!data.on.empty()) return sets_text(data, tagged.outputs);
    // Instances of a chain are sequences, even if each has one position.
    const bool sequences =
        data.quality.empty() && (batch.oracle == "chain" || data.positions() > data.instances());
    std::string out;
    for (std::size_t i = 0; i < data.instances(); ++i) {
      if (sequences && !awaited && std::exchange(begun, true)) out += '\n';
      if (marginals)
        fmt::format_to(std::back_inserter(out), "@probability\t{:.6g}\n", marginals->structure(i));
      for (Index p = data.begin[i]; p < data.begin[i + 1]; ++p)
        if (tagged.outputs[p] != kNoOutput) add_line(data, i, p, tagged.outputs[p], marginals, out);
      if (sequences && awaited) out += '\n';
    }
    return out;
  }

  void add_line(const Dataset& data, std::size_t instance, Index position, Index output,
                const std::optional<Marginals>& marginals, std::string& out) const {
    const bool group = !data.quality.empty();
    const Index first = data.begin[instance],
                choices = group ? data.begin[instance + 1] - first : data.outputs();
    const auto name = [&](Index choice) {
      return group ? std::to_string(choice + 1) : data.vocabulary->outputs[choice];
    };
    const auto add = [&](Index choice) {
      out += name(choice);
      if (marginals)
        fmt::format_to(std::back_inserter(out), ":{:.6g}",
                       group ? marginals->at(first + choice, 0) : marginals->at(position, choice));
    };
    if (with_gold) {
      const auto gold =
          std::find_if(data.gold.begin() + first, data.gold.end(), [](Index k) { return k != kNoOutput; });
      out += group ? name(static_cast<Index>(gold - data.gold.begin()) - first)
                   : std::string(gold_name(data, position));
      out += '\t';
    }
    add(group ? position - first : output);
    for (Index choice = 0; marginals && choice < choices; ++choice) {
      out += '\t';
      add(choice);
    }
    out += '\n';
  }
};

struct PredictCommand : ModelFlags {
  std::string output, nbest_format = "text";
  std::optional<std::size_t> nbest;
  bool unlabelled = false, columns = false, with_gold = false, marginals = false;

  void add_to(CLI::App& command) {
    ModelFlags::add_to(command)->required();
    CLI::Option* const to_output = add_output(
        command, "--output", output,
        "write one label per line, a blank line between sequences; of groups of candidates the number "
        "of the chosen one, from 1; '-' for standard output. Text that comes through a pipe (--test -) "
        "is labelled as it comes",
        "FILE");
    command
        .add_flag("--unlabelled", unlabelled,
                  "the text has no column or field of labels [default: found from its lines]")
        ->needs(to_output);
    CLI::Option* const gold =
        command.add_flag("--with-gold", with_gold, "write the gold label and a TAB before each label")
            ->needs(to_output);
    CLI::Option* const probabilities =
        command
            .add_flag("--marginals", marginals,
                      "write LABEL:P and behind it P of each label, and a line @probability TAB P before "
                      "each sequence")
            ->needs(to_output);
    CLI::Option* const lines =
        command
            .add_flag("--columns", columns,
                      "write the lines of the text, with a TAB and the label behind each position, like "
                      "CRF++'s crf_test; for formats of sequences")
            ->needs(to_output)
            ->excludes(probabilities);
    constexpr int kMost = 1'000'000;  // lists stay in memory until they are written
    command.add_option("--nbest", nbest, "write the N best structures of each instance to --output")
        ->check(CLI::Range(1, kMost))
        ->type_name("N")
        ->needs(to_output)
        ->excludes(gold)
        ->excludes(lines)
        ->excludes(probabilities);
    command
        .add_option("--nbest-format", nbest_format,
                    "text: rank TAB score TAB labels, or the number of the candidate; rerank: candidates "
                    "with the feature base, for --format rerank [text]")
        ->check(CLI::IsMember({"text", "rerank"}));
  }

  void require_use(const Fit& fit) const {
    if (fit.unlabelled == 0) return;
    if (output.empty())
      throw Error::usage(
          "the text has no labels to compare with, expected --output FILE for those of the "
          "model, or --output - for standard output");
    if (with_gold || (nbest && nbest_format == "rerank"))
      throw Error::usage("the text has no labels, expected some for --with-gold and --nbest-format rerank");
  }

  void check_interrupt() const {
    if (interrupted) throw Error("interrupted: " + output + " is not written");
  }

  void report(const Fit& fit, const Predictions& labelled, std::size_t instances) const {
    Json result{{"model", model},
                {"instances", instances},
                {"positions", fit.positions},
                {"unlabelled", fit.unlabelled},
                {"unknown_labels", fit.unknown_labels},
                {"attributes", fit.attributes},
                {"unknown_attributes", fit.unknown_attributes},
                {"correct", nullptr},
                {"test_accuracy", nullptr},
                {"test_metrics", Json::object()}};
    if (!fit.graded()) {
      json.write(result);
      if (prints()) fmt::print("labelled {} positions in {} instances\n", fit.positions, instances);
      return;
    }
    const std::map<std::string, double> metrics = metrics_of(labelled.data, labelled.outputs);
    const double accuracy = metrics.at(trace_metric().name);
    const auto right = std::llround(accuracy * static_cast<double>(labelled.data.graded()));
    result["correct"] = right;
    result["test_accuracy"] = accuracy;
    result["test_metrics"] = metrics;
    json.write(result);
    if (!prints()) return;
    fmt::print("test accuracy {:.4f}: {} of {} in {} instances\n", accuracy, right,
               graded_text(labelled.data), instances);
    print_other_metrics(metrics);
  }

  void execute() const {
    const Model stored = read_model(input_file(model));
    Tagger tagger = ModelFlags::tagger(stored, unlabelled ? TestLabels::kNone : TestLabels::kIfAny);
    if (columns) tagger.keep_lines();
    const Parallel parallel = make_parallel(config_of(run));
    std::optional<FileWriter> file;
    if (!output.empty()) file.emplace(output);
    if (file && !file->awaited()) stop_cleanly_on_interrupt();
    LabelWriter writer{with_gold, marginals, file && file->awaited(), parallel};
    Predictions labelled;
    std::size_t instances = 0;
    tagger.run([&](const DataBatch& batch, const Tagged& tagged) {
      require_use(tagger.fit());
      check_interrupt();
      instances += batch.data.instances();
      if (tagger.fit().unlabelled == 0) labelled.add(batch, tagged);
      if (file)
        file->write(nbest     ? nbest_text(batch, tagged, *nbest, nbest_format == "rerank", parallel)
                    : columns ? columns_text(batch, tagged, with_gold)
                              : writer.text(batch, tagged));
    });
    for (const std::string& warning : tagger.warnings()) ProgressPrinter(quiet).warning(warning);
    check_interrupt();
    if (file) file->finish();
    ProgressPrinter(quiet).warning(tagger.fit().warning(stored));
    report(tagger.fit(), labelled, instances);
  }
};

}  // namespace

Tagger ModelFlags::tagger(const Model& stored, TestLabels labels) const {
  DataConfig config = data.read(stored.header);
  config.files.labels = labels;
  return {stored, std::move(config), make_parallel(config_of(run))};
}

void add_predict_command(CLI::App& app) {
  add_command<PredictCommand>(
      app, "predict",
      "Label data with a model: the files of --test, or the test set that --train splits off");
}

}  // namespace proxbench
