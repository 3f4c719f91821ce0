#include "experiments/run/tagger.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <future>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/data/sharing.h"
#include "experiments/base/files.h"
#include "experiments/base/paths.h"
#include "experiments/data/sequences/named_sequences.h"
#include "experiments/run/launch.h"
#include "experiments/run/training.h"
#include "oracles/oracles.h"

namespace proxbench {
namespace {

/// If a larger share of attributes or labels is unknown, the data do not fit the model.
constexpr double kMismatch = 0.5;
/// Positions whose rows of weights are loaded together.
constexpr std::size_t kPositionsPerTask = 64;

DataBatch batch_of(Dataset data, const std::string& oracle) {
  DataBatch batch{.data = std::move(data), .rows = {}, .named = {}, .oracle = oracle};
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

Fit& Fit::operator+=(const Fit& other) {
  attributes += other.attributes;
  unknown_attributes += other.unknown_attributes;
  positions += other.positions;
  unlabelled += other.unlabelled;
  unknown_labels += other.unknown_labels;
  return *this;
}

std::string Fit::warning(const Model& model) const {
  double expected = 1.0;
  if (const auto share = model.header.find(kKnownShare); share != model.header.end())
    parse_real(share->second, expected);
  std::string out;
  if (static_cast<double>(attributes - unknown_attributes) <
      (1.0 - kMismatch) * expected * static_cast<double>(attributes))
    out = fmt::format(
        "the model knows {} of {} attributes only: give data of the format, options and templates that it "
        "was "
        "trained with (its training data: {:.0f} %)",
        attributes - unknown_attributes, attributes, 100.0 * expected);
  const std::uint64_t labels = positions - unlabelled;
  if (static_cast<double>(unknown_labels) > kMismatch * static_cast<double>(labels))
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

bool Tagger::streams() const {
  return format_.streams && config_.files.train.empty() && format_.needs_files;
}

void Tagger::read(const std::function<void(DataBatch&&)>& use) {
  DataConfig config = config_;
  const bool alone = config.files.train.empty() && format_.needs_files;
  if (streams()) {
    const DataStream stream{std::make_shared<const Vocabulary>(Vocabulary{{}, model_.labels}),
                            [&](DataBatch&& batch) {
                              if (!config.oracle.empty()) batch.oracle = config.oracle;
                              if (keeps_lines_ && batch.lines.empty())
                                throw Error::usage("--columns: format " + format_.name +
                                                   " has no columns, expected one of sequences");
                              use(std::move(batch));
                            },
                            [&](const std::string& warning) { warnings_.push_back(warning); }, keeps_lines_};
    config.files.stream = &stream;
    format_.read(config.files, config.options);
    return;
  }
  // The test files are read as their own training set, so the format needs no vocabulary. Weights are then
  // matched by name.
  if (alone) config.files.train = config.files.test;
  DataPair pair = read_data(format_, config.files, config.options, config.oracle, launched_processes());
  warnings_ = pair.train.warnings;
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
  const bool ahead = reads_ahead();
  const std::size_t most = ahead ? static_cast<std::size_t>(parallel_.threads()) : 1;
  struct Pending {
    DataBatch batch;
    std::future<Tagged> tagged;
  };
  std::deque<Pending> pending;
  const auto finish_first = [&] {
    const Tagged tagged = pending.front().tagged.get();
    fit_ += tagged.fit;
    use(pending.front().batch, tagged);
    pending.pop_front();
  };
  read([&](DataBatch&& batch) {
    if (match_.output.empty()) index_weights(batch);
    Pending& one = pending.emplace_back(std::move(batch), std::future<Tagged>());
    one.tagged = std::async(ahead ? std::launch::async : std::launch::deferred,
                            [&] { return tag(one.batch, ahead ? Parallel() : parallel_); });
    while (pending.size() >= most) finish_first();
  });
  while (!pending.empty()) finish_first();
}

/// Whether this thread reads while others label earlier batches. Nobody may wait for the labels of a batch
/// before they write more text.
bool Tagger::reads_ahead() const {
  return parallel_.threads() > 1 && streams() &&
         std::ranges::all_of(config_.files.test, [](const auto& file) {
           std::error_code ignored;
           return fs::is_regular_file(file, ignored);
         });
}

Tagged Tagger::tag(const DataBatch& batch, const Parallel& parallel) const {
  const std::size_t positions = batch.data.positions();
  Tagged out{make_oracle(oracle_registry().find(batch.oracle), batch.data), {}, {}, {}};
  out.outputs.resize(batch.data.prediction_size());
  const Oracle& oracle = *out.oracle;
  out.scores = oracle.collapsed() != nullptr
                   ? Scores::collapsed(oracle.outputs(), positions, oracle.extra_weights())
                   : Scores(oracle.outputs(), positions, oracle.extra_weights());
  if (!out.scores.one_each())
    for (const Index k : outputs_) out.scores.add_column(k);
  out.scores.extra = extra_;
  const Chunks chunks{positions, kPositionsPerTask};
  std::vector<Fit> fits(chunks.count());
  parallel.for_each(chunks.count(), [&](std::size_t chunk) {
    score(batch, chunks.begin(chunk), chunks.end(chunk), out.scores, fits[chunk]);
  });
  oracle.decode(out.scores, Decoding::kStructure, out.outputs, parallel);
  for (const Fit& one : fits) out.fit += one;
  const std::uint64_t dropped = note(batch.data, "unknown attributes");
  out.fit += {.attributes = dropped,
              .unknown_attributes = dropped,
              .positions = positions,
              .unlabelled = note(batch.data, kUnlabelled)};
  if (out.fit.unlabelled == 0)
    out.fit.unknown_labels = static_cast<std::uint64_t>(std::ranges::count(batch.data.gold, kUnknownOutput));
  return out;
}

void Tagger::index_weights(const DataBatch& batch) {
  const Dataset& data = batch.data;
  const OracleInfo& info = oracle_registry().find(batch.oracle);
  const bool trained = !config_.files.train.empty() || !format_.needs_files;
  match_ = match_model(model_, data, trained ? UnknownFeatures::kReject : UnknownFeatures::kDrop);
  extra_ = model_extra(model_, data, make_oracle(info, data)->extra_weights(), info.extra);
  std::vector<bool> used(data.outputs(), false);
  const auto mark = [&](const WeightTable::Row& row) {
    row.for_each([&](Index k, double) { used[match_.output[k]] = true; });
  };
  for (const Index place : match_.place)
    if (place != WeightTable::kNone) mark(model_.unary.row(place));
  if (match_.place.empty()) model_.unary.for_each([&](Index, const WeightTable::Row& row) { mark(row); });
  for (Index k = 0; k < data.outputs(); ++k)
    if (used[k]) outputs_.push_back(k);
}

/// Returns the rows of some positions with places in the table for features. Others are left out and counted.
DesignMatrix::Builder Tagger::looked_up(const NamedRows& rows, std::size_t begin, std::size_t end,
                                        Fit& fit) const {
  const WeightTable& table = model_.unary;
  const std::size_t first = rows.begin[begin], last = rows.begin[end];
  // All loads from memory are begun before the first is waited for.
  std::vector<std::uint64_t> hash(last - first);
  for (std::size_t e = first; e < last; ++e)
    table.prefetch_slot(hash[e - first] = WeightTable::hash_of(rows.name(e)));
  for (const std::uint64_t one : hash) table.prefetch_row(one);
  DesignMatrix::Builder out;
  for (std::size_t p = begin; p < end; ++p) {
    for (std::size_t e = rows.begin[p]; e < rows.begin[p + 1]; ++e) {
      if (const Index place = table.find(rows.name(e), hash[e - first]); place != WeightTable::kNone)
        out.add(place, rows.value[e]);
      else
        fit += {.attributes = 1, .unknown_attributes = 1};
    }
    out.end_position();
  }
  return out;
}

/// Writes the scores of some positions. Adds up each in the order of features in the rows.
void Tagger::score(const DataBatch& batch, std::size_t begin, std::size_t end, Scores& out, Fit& fit) const {
  const bool named = match_.place.empty();
  const DesignMatrix::Builder found =
      named ? looked_up(batch.named, begin, end, fit) : DesignMatrix::Builder();
  const DesignMatrix::Builder& rows = named ? found : batch.rows;
  const std::size_t width = match_.output.size();
  std::vector<double> sums(kPad * width);
  for (std::size_t tile = begin; tile < end;
       tile += kPad) {  // of positions that share cache lines of columns
    const std::size_t size = std::min(kPad, end - tile);
    std::ranges::fill(sums, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
      double* const sum = sums.data() + i * width;
      const std::size_t row = tile + i - (named ? begin : 0);
      const std::span<const Index> features = rows.row(row);
      fit.attributes += features.size();
      for (std::size_t e = 0; e < features.size(); ++e) {
        const Index place = named ? features[e] : match_.place[features[e]];
        if (place == WeightTable::kNone)
          ++fit.unknown_attributes;
        else
          model_.unary.row(place).add_to(sum, rows.value(row, e));
      }
    }
    for (std::size_t k = 0; k < width; ++k) {
      const Index output = match_.output[k],
                  column = output == kUnknownOutput ? Scores::kNoColumn : out.column_index(output);
      for (std::size_t i = 0; column != Scores::kNoColumn && i < size; ++i)
        out.column(column)[tile + i] = sums[i * width + k];
    }
  }
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
