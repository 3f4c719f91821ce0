#include "experiments/run/tagger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/error.h"
#include "core/data/sharing.h"
#include "experiments/base/files.h"
#include "experiments/data/sequences/named_sequences.h"
#include "experiments/run/launch.h"
#include "experiments/run/trainer.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace {

/// If a larger share of attributes or labels is unknown, the data do not fit the model.
constexpr double kMisfit = 0.5;
constexpr std::size_t kPositionsPerTask = 256;

/// The model's features and labels, in its order.
Vocabulary vocabulary_of(const Model& model) {
  NameIndex features;
  for (const Model::Weight& entry : model.unary) features.intern(entry.feature);
  return {features.names(), model.labels};
}

DataBatch batch_of(Dataset data, const std::string& oracle) {
  DataBatch batch{.data = std::move(data), .rows = {}, .oracle = oracle};
  DesignMatrix& x = batch.data.x;
  for (Index p = 0; p < x.positions(); ++p) {
    x.for_each_entry(p, [&](Index feature, double value) { batch.rows.add(feature, value); });
    batch.rows.end_position();
  }
  x = {};
  return batch;
}

std::uint64_t note(const Dataset& data, const char* name) {
  const auto found = data.notes.find(name);
  return found == data.notes.end() ? 0 : found->second;
}

}  // namespace

std::string Fit::warning(const Model& model) const {
  double expected = 1.0;
  if (const auto share = model.header.find(kKnownShare); share != model.header.end())
    parse_real(share->second, expected);
  std::string out;
  if (static_cast<double>(attributes - unknown_attributes) <
      (1.0 - kMisfit) * expected * static_cast<double>(attributes))
    out = fmt::format(
        "the model knows {} of {} attributes only: give data of the format, options and templates that it "
        "was "
        "trained with (its training data: {:.0f} %)",
        attributes - unknown_attributes, attributes, 100.0 * expected);
  const std::uint64_t labels = positions - unlabelled;
  if (static_cast<double>(unknown_labels) > kMisfit * static_cast<double>(labels))
    out += fmt::format(
        "{}{} of {} labels are none of the model's {}: check the column of the label, or give "
        "text without labels as --unlabelled",
        out.empty() ? "" : "; ", unknown_labels, labels, model.labels.size());
  return out;
}

Fit fit_of(const Dataset& data, const Model& model, const SparseVector& w) {
  const std::uint64_t dropped = note(data, "unknown attributes"), entries = data.x.whole_nonzeros();
  const auto known =
      static_cast<std::uint64_t>(std::llround(share_with_weight(data, w) * static_cast<double>(entries)));
  Fit fit{.attributes = entries + dropped, .unknown_attributes = entries - known + dropped};
  fit.positions = data.positions();
  const NameIndex labels(model.labels);
  for (const Index gold : data.gold)
    fit.unknown_labels += gold == kUnknownOutput || (gold != kNoOutput && !model.labels.empty() &&
                                                     !labels.find(data.vocabulary->outputs[gold]));
  return fit;
}

Tagger::Tagger(const Model& model, DataConfig config, const Parallel& parallel)
    : model_(model),
      config_(std::move(config)),
      format_(data_format_registry().find(config_.format)),
      parallel_(parallel) {
  const DataFiles& files = config_.files;
  if (files.labels == TestLabels::kNone && !format_.streams)
    throw Error::usage("--unlabelled: format " + format_.name +
                       " has no unlabelled text, expected it with labels");
  if (!files.train.empty() || !format_.needs_files) return;
  if (files.test.empty()) throw Error::usage("no data, expected --test FILE (with or without --train FILE)");
  if (model.labels.empty())
    throw Error::in_file(model.source, 0, "no line '# labels=...'",
                         "it in the header, or --train FILE to say what the labels are");
  if (format_.fitted && format_.fitted(config_.options))
    throw Error::usage("values of format " + format_.name +
                       " are scaled over the training set, expected --train FILE with what the model was "
                       "trained on");
  if (!format_.streams && std::ranges::count(files.test, kStandardStream) > 0)
    throw Error::usage("--test -: format " + format_.name + " is read twice, expected a file");
}

void Tagger::keep_lines() {
  if (!format_.streams || !config_.files.train.empty())
    throw Error::usage("--columns: found " + (format_.streams ? "--train" : "format " + format_.name) +
                       ", expected a model, --test FILE and a format that is read line by line");
  keeps_lines_ = true;
}

void Tagger::read(const std::function<void(DataBatch&&)>& use) {
  DataConfig config = config_;
  const bool alone = config.files.train.empty() && format_.needs_files;
  if (alone && format_.streams) {
    const DataStream stream{std::make_shared<const Vocabulary>(vocabulary_of(model_)),
                            [&](DataBatch&& batch) {
                              if (!config.oracle.empty()) batch.oracle = config.oracle;
                              if (keeps_lines_ && batch.lines.empty())
                                throw Error::usage("--columns: format " + format_.name +
                                                   " has no columns, expected one of sequences");
                              use(std::move(batch));
                            },
                            [&](const std::string& doubt) { doubts_.push_back(doubt); }, keeps_lines_};
    config.files.stream = &stream;
    format_.read(config.files, config.options);
    return;
  }
  // The test files are read as their own training set, so the format needs no vocabulary. Weights are then
  // matched by name.
  if (alone) config.files.train = config.files.test;
  DataPair pair = read_data(format_, config.files, config.options, config.oracle, launched_processes());
  doubts_ = pair.train.doubts;
  if (pair.test.positions() == 0)
    throw Error::usage("no test instances, expected --test FILE (or data options that split off a test set)");
  if (!alone) return use(batch_of(std::move(pair.test), pair.oracle));
  if (pair.train.positions() != pair.test.positions())
    throw Error::usage(
        fmt::format("the data options take {} of {} positions as training set; expected --data-option "
                    "values that read the file as a whole",
                    pair.train.positions(), pair.test.positions()));
  use(batch_of(with_labels(std::move(pair.test), model_.labels), pair.oracle));
}

void Tagger::run(const std::function<void(const DataBatch&, const Tagged&)>& use) {
  read([&](DataBatch&& batch) {
    const OracleInfo& info = oracle_registry().find(batch.oracle);
    Tagged tagged{make_oracle(info, batch.data), {}, std::vector<Index>(batch.data.prediction_size())};
    if (begin_.empty()) index_weights(batch.data, *tagged.oracle, info);
    tagged.scores = scores(batch, *tagged.oracle);
    tagged.oracle->decode(tagged.scores, Decoding::kStructure, tagged.outputs, parallel_);
    fit_.positions += batch.data.positions();
    fit_.unlabelled += note(batch.data, kUnlabelled);
    if (note(batch.data, kUnlabelled) == 0)
      fit_.unknown_labels += static_cast<std::uint64_t>(std::ranges::count(batch.data.gold, kUnknownOutput));
    use(batch, tagged);
  });
}

void Tagger::index_weights(const Dataset& data, const Structure& structure, const OracleInfo& info) {
  const bool trained = !config_.files.train.empty() || !format_.needs_files;
  const SparseVector w = model_weights(model_, data, structure.extra_weights(), info.extra,
                                       trained ? UnknownFeatures::kReject : UnknownFeatures::kDrop);
  const std::size_t width = data.outputs(), unary = data.vocabulary->features.size() * width;
  std::vector<bool> used(width, false);
  extra_.assign(structure.extra_weights(), 0.0);
  begin_.assign(1, 0);
  for (std::size_t i = 0; i < w.nnz(); ++i) {
    const Coord c = w.index[i];
    if (c >= unary) {
      extra_[c - unary] = w.value[i];
      continue;
    }
    begin_.resize(std::max<std::size_t>(begin_.size(), c / width + 1), weight_.size());
    weight_.emplace_back(static_cast<Index>(c % width), w.value[i]);
    used[c % width] = true;
  }
  begin_.resize(data.vocabulary->features.size() + 1, weight_.size());
  for (Index k = 0; k < width; ++k)
    if (used[k]) outputs_.push_back(k);
}

Scores Tagger::scores(const DataBatch& batch, const Oracle& oracle) {
  const std::size_t positions = batch.data.positions();
  Scores out = oracle.collapsed() != nullptr
                   ? Scores::collapsed(oracle.outputs(), positions, oracle.extra_weights())
                   : Scores(oracle.outputs(), positions, oracle.extra_weights());
  if (!out.one_each())
    for (const Index k : outputs_) out.add_column(k);
  out.extra = extra_;
  const Chunks chunks{positions, kPositionsPerTask};
  std::vector<std::uint64_t> entries(chunks.count()), unknown(chunks.count());
  parallel_.for_each(chunks.count(), [&](std::size_t chunk) {
    for (std::size_t p = chunks.begin(chunk); p < chunks.end(chunk); ++p) {
      const std::span<const Index> row = batch.rows.row(p);
      entries[chunk] += row.size();
      for (std::size_t e = 0; e < row.size(); ++e) {
        const std::size_t first = begin_[row[e]], last = begin_[row[e] + std::size_t{1}];
        const double value = batch.rows.value(p, e);
        unknown[chunk] += first == last;
        for (std::size_t i = first; i < last; ++i)
          out.column(out.column_index(weight_[i].first))[p] += value * weight_[i].second;
      }
    }
  });
  const std::uint64_t dropped = note(batch.data, "unknown attributes");
  fit_.attributes += std::accumulate(entries.begin(), entries.end(), dropped);
  fit_.unknown_attributes += std::accumulate(unknown.begin(), unknown.end(), dropped);
  return out;
}

Marginals::Marginals(const DataBatch& batch, const Tagged& tagged, const Parallel& parallel) {
  Dataset predicted = batch.data;
  predicted.gold = tagged.outputs;
  const OracleInfo& info = oracle_registry().find(batch.oracle);
  if (tagged.oracle->sum() == nullptr)
    throw Error::usage("--marginals: oracle '" + info.name +
                       "' has no marginals (chain, tree and candidates have)");
  oracle_ = make_oracle(info, predicted);
  residual_ = tagged.scores;
  oracle_->sum()->infer({tagged.scores}, &residual_, parallel);
  std::vector<InstanceTerms> terms(predicted.instances());
  oracle_->sum()->instance_terms(tagged.scores, terms, parallel);
  for (const InstanceTerms& one : terms) structure_.push_back(std::exp(one.log_gold));
}

double Marginals::at(Index position, Index output) const {
  const double* column = residual_.find(output);
  const double value = column == nullptr ? 0.0 : column[position];
  if (!residual_.owns(output)) return residual_.share[output] * value;
  return value + static_cast<double>(std::ranges::count(oracle_->gold_outputs(position), output));
}

void Predictions::add(const DataBatch& batch, const Tagged& tagged) {
  for (Index i = 0; i < batch.data.instances(); ++i) add_instance(data, batch.data, i);
  outputs.insert(outputs.end(), tagged.outputs.begin(), tagged.outputs.end());
}

}  // namespace proxbench
