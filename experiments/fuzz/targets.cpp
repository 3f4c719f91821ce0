#include "experiments/fuzz/targets.h"

#include <algorithm>
#include <initializer_list>
#include <set>
#include <stdexcept>
#include <utility>

#include "experiments/base/text.h"
#include "experiments/config/config.h"
#include "experiments/config/ini.h"
#include "experiments/data/model_weights.h"
#include "experiments/data/readers.h"
#include "experiments/data/sequences/named_sequences.h"
#include "experiments/fuzz/memory_file.h"
#include "experiments/fuzz/seeds.h"
#include "experiments/run/training.h"

namespace proxbench {
namespace {

/// Larger data are only read: using them would take longer than reading them.
constexpr Index kMostLabels = 64;
constexpr Coord kMostWeights = 1 << 20;

void require(bool kept, const char* promise) {
  if (!kept) throw std::logic_error(std::string("broken promise: ") + promise);
}

std::vector<std::string_view> parts_of(std::string_view input) {
  constexpr std::string_view kSeparator = "\n%%\n";
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = input.find(kSeparator);
    parts.push_back(input.substr(0, end));
    if (end == input.npos) return parts;
    input.remove_prefix(end + kSeparator.size());
  }
}

void feed_ini(std::string_view input) {
  const std::vector<std::string_view> parts = parts_of(input);
  Problems problems;
  Ini ini = parse_ini(parts[0], "input.ini", "", problems);
  for (std::size_t i = 1; i < parts.size(); ++i) apply_override(ini, std::string(parts[i]), problems);
  std::set<std::string> names;
  for (const IniSection& section : ini.sections) {
    require(names.insert(section.name).second, "each section stands once");
    std::set<std::string> keys;
    for (const IniEntry& entry : section.entries) {
      require(keys.insert(entry.key).second, "each key of a section stands once");
      for (const std::string& item : split_list(entry.value))
        require(trim(item) == item, "items are trimmed");
    }
  }
  problems.throw_if_any("input.ini");
}

void feed_config(std::string_view input) {
  const std::vector<std::string_view> parts = parts_of(input);
  const std::vector<std::string> overrides(parts.begin() + 1, parts.end());
  const std::string understood = parse_config(parts[0], "input.ini", "", overrides).to_ini();
  std::string again;
  try {
    again = parse_config(understood, "understood.ini", "").to_ini();
  } catch (const Error& error) {
    again = error.what();
  }
  require(again == understood, "to_ini() reads back to the same config");
  stored_experiment(MemoryFile(understood).path());
}

/// Uses data as training would, up to the first pass over them.
void use(DataPair data) {
  const bool chain = data.oracle == "chain", data_has_sets = data.oracle == "labels";
  const LoadedData loaded(std::move(data), Parallel(1));
  const Dataset& train = loaded.train();
  require(train.digest == digest_of(train), "the digest is that of the data");
  if ((chain || data_has_sets) && train.outputs() > kMostLabels) return;
  const bool relaxed = loaded.oracle().sum() == nullptr;
  Objective objective =
      relaxed ? loaded.objective({0.0, 1.0}, {Loss::Kind::kHinge}) : loaded.objective({1.0, 0.0});
  if (objective.dimension() > kMostWeights) return;
  Scores scores = objective.make_scores();
  Residual residual = objective.make_residual();
  const SparseVector w;
  objective.scores(w, scores);
  objective.infer({scores}, &residual);
  Objective::Selection selection;
  objective.select_gradient(residual, w, 0.0, selection);
}

/// The role of a file of a data input, given by its place.
enum class Role { kTrain, kTest, kHierarchy, kTemplate };

void feed_data(const char* format, std::initializer_list<Role> roles, std::string_view input) {
  const DataFormatInfo& info = data_format_registry().find(format);
  const std::size_t end_of_options = std::min(input.find('\n'), input.size());
  std::string_view words = input.substr(0, end_of_options);
  input.remove_prefix(std::min(end_of_options + 1, input.size()));

  Options options(info.options);
  for (std::string_view word = take_word(words); !word.empty(); word = take_word(words)) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) throw Error::usage("found no '=' among the options");
    options.set(word.substr(0, equals), word.substr(equals + 1));
  }

  const std::vector<std::string_view> parts = parts_of(input);
  std::vector<MemoryFile> memory;
  DataFiles files;
  auto part = parts.begin();
  for (const Role role : roles) {
    if (part == parts.end()) break;
    const std::string_view content = *part++;
    if (content.empty() && role != Role::kTrain) continue;  // an empty part stands for a missing file
    memory.emplace_back(content);
    const std::string path = memory.back().path();
    switch (role) {
      case Role::kTrain:
        files.train = {path};
        break;
      case Role::kTest:
        files.test = {path};
        break;
      case Role::kHierarchy:
        files.hierarchy = path;
        break;
      case Role::kTemplate:
        options.set("template", path);
        break;
    }
  }
  use(info.read(files, options));
}

void feed_ocr(std::string_view input) {
  feed_data("ocr", {Role::kTrain, Role::kTest}, input);
}
void feed_lshtc(std::string_view input) {
  feed_data("lshtc", {Role::kTrain, Role::kHierarchy, Role::kTest}, input);
}
void feed_crfsuite(std::string_view input) {
  feed_data("crfsuite", {Role::kTrain, Role::kTest}, input);
}
void feed_conll(std::string_view input) {
  feed_data("conll", {Role::kTrain, Role::kTest, Role::kTemplate}, input);
}
void feed_rerank(std::string_view input) {
  feed_data("rerank", {Role::kTrain, Role::kTest}, input);
}
void feed_libsvm(std::string_view input) {
  feed_data("libsvm", {Role::kTrain, Role::kTest}, input);
}
void feed_arff(std::string_view input) {
  feed_data("arff", {Role::kTrain, Role::kTest}, input);
}
void feed_crfsparse(std::string_view input) {
  feed_data("crfsparse", {Role::kTrain, Role::kTest, Role::kTemplate, Role::kHierarchy}, input);
}

/// The names in a model, each once, in order of appearance.
Vocabulary vocabulary_of(const Model& model) {
  NameIndex features, outputs;
  for (const std::string& label : model.labels) outputs.intern(label);
  for (const std::string& output : model.outputs) outputs.intern(output);
  model.unary.for_each([&](Index, const WeightTable::Row& row) { features.intern(row.name); });
  for (const Model::ExtraWeight& entry : model.extra)
    for (const std::string& name : entry.names) outputs.intern(name);
  return {features.names(), outputs.names()};
}

void feed_model(std::string_view input) {
  const Model model = read_model(MemoryFile(input).path());
  Dataset data;
  data.vocabulary = std::make_shared<const Vocabulary>(vocabulary_of(model));
  const std::size_t outputs = data.vocabulary->outputs.size();
  const std::size_t pairs = model.extra.empty() ? 0 : outputs * outputs;
  if (pairs > kMostWeights) return;
  const auto labels = [outputs](std::size_t pair, const Dataset& of) -> std::vector<std::string> {
    return {of.vocabulary->outputs[pair / outputs], of.vocabulary->outputs[pair % outputs]};
  };
  const ExtraWeightNames names{"pair", {"label", "label"}, labels};
  const SparseVector w = model_weights(model, data, pairs, names, UnknownFeatures::kReject);
  const Model text = parse_model(model_text(model.header, data, w, pairs, names), "again");
  for (const Model& again : {text, parse_model(model_bytes(text), "binary")}) {
    const SparseVector same = model_weights(again, data, pairs, names, UnknownFeatures::kReject);
    require(same.index == w.index && same.value == w.value, "a model reads back to the same weights");
  }
}

}  // namespace

const std::vector<FuzzTarget>& fuzz_targets() {
  static const std::vector<FuzzTarget> targets = {
      {"ini", "INI text and --set", feed_ini, ini_seeds},
      {"config", "configs of experiments, and the config written out", feed_config, config_seeds},
      {"ocr", "letter.data", feed_ocr, ocr_seeds},
      {"lshtc", "LSHTC documents and their hierarchy", feed_lshtc, lshtc_seeds},
      {"crfsuite", "CRFsuite's format, also gzipped", feed_crfsuite, crfsuite_seeds},
      {"conll", "columns, templates, and the attributes made of them", feed_conll, conll_seeds},
      {"rerank", "candidates in groups, also gzipped", feed_rerank, rerank_seeds},
      {"libsvm", "LIBSVM's format", feed_libsvm, libsvm_seeds},
      {"arff", "Mulan's ARFF", feed_arff, arff_seeds},
      {"crfsparse", "the format of the Prox-QN authors, template and hierarchy", feed_crfsparse,
       crfsparse_seeds},
      {"model", "models, and models written out", feed_model, model_seeds},
  };
  return targets;
}

const FuzzTarget& fuzz_target(std::string_view name) {
  std::string known;
  for (const FuzzTarget& target : fuzz_targets()) {
    if (target.name == name) return target;
    known += (known.empty() ? "" : ", ") + target.name;
  }
  throw Error::usage("unknown fuzz target '" + std::string(name) + "'; known: " + known);
}

}  // namespace proxbench
