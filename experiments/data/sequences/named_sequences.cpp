#include "experiments/data/sequences/named_sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/base/sum.h"
#include "experiments/base/files.h"
#include "experiments/data/file_parts.h"

namespace proxbench {

std::uint32_t NameIndex::hash_of(std::string_view name) {
  const std::uint64_t hash = std::hash<std::string_view>()(name);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::size_t NameIndex::slot_of(std::string_view name, std::uint32_t hash) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].number != kFree && (slots_[at].hash != hash || names_[slots_[at].number] != name))
    at = (at + 1) & mask;
  return at;
}

void NameIndex::grow() {
  const std::vector<Slot> old =
      std::exchange(slots_, std::vector<Slot>(std::max<std::size_t>(16, 2 * slots_.size())));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.number == kFree) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].number != kFree) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

Index NameIndex::intern(std::string_view name, std::uint32_t hash) {
  if (2 * names_.size() >= slots_.size()) grow();
  Slot& slot = slots_[slot_of(name, hash)];
  if (slot.number == kFree) {
    slot = {hash, static_cast<Index>(names_.size())};
    names_.emplace_back(name);
  }
  return slot.number;
}

void NameIndex::intern(const NamedRows& rows, std::vector<Index>& numbers) {
  numbers.resize(rows.value.size());
  if (slots_.empty()) grow();
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t e = 0; e < numbers.size(); ++e)
    __builtin_prefetch(&slots_[(numbers[e] = hash_of(rows.name(e))) & mask]);
  const auto each_name = [&](const auto& visit) {
    for (const Index hash : numbers)
      if (const Slot slot = slots_[hash & mask]; slot.number != kFree && slot.hash == hash)
        visit(names_[slot.number]);
  };
  each_name([](const std::string& name) { __builtin_prefetch(&name); });
  each_name([](const std::string& name) { __builtin_prefetch(name.data()); });
  for (std::size_t e = 0; e < numbers.size(); ++e) numbers[e] = intern(rows.name(e), numbers[e]);
}

std::optional<Index> NameIndex::find(std::string_view name) const {
  if (slots_.empty()) return std::nullopt;
  const Slot& slot = slots_[slot_of(name, hash_of(name))];
  return slot.number == kFree ? std::nullopt : std::optional<Index>(slot.number);
}

namespace {

/// The size of a blank, or of a character of Unicode that looks like one or like nothing, at the start of a
/// text; 0 if there is none.
std::size_t unseen(std::string_view text) {
  constexpr std::string_view kOthers[] = {"\xC2\xA0",     "\xC2\xAD",     "\xE1\x9A\x80", "\xE2\x80\xAF",
                                          "\xE2\x81\x9F", "\xE2\x81\xA0", "\xE3\x80\x80"};
  if (kBlanks.find(text.front()) != kBlanks.npos) return 1;
  const std::string_view character = text.substr(0, 3);  // U+2000 to U+200F are spaces and marks
  if (character >= "\xE2\x80\x80" && character <= "\xE2\x80\x8F") return 3;
  const auto* const other =
      std::ranges::find_if(kOthers, [&](std::string_view one) { return text.starts_with(one); });
  return other == std::end(kOthers) ? 0 : other->size();
}

std::string without_case_and_blanks(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t skipped = unseen(text);
    if (skipped == 0) out += text.front();
    text.remove_prefix(std::max<std::size_t>(skipped, 1));
  }
  to_lowercase(out);
  return out;
}

}  // namespace

std::string alike_text(std::vector<std::string> groups) {
  if (groups.empty()) return "";
  constexpr std::size_t kShown = 3;
  const std::size_t more = groups.size() - std::min(groups.size(), kShown);
  groups.resize(groups.size() - more);
  return fmt::format("labels that differ only in case or blanks (with their positions): {}{}",
                     joined(groups, "; "), more > 0 ? fmt::format("; and {} more", more) : "");
}

std::map<std::string, std::vector<std::string>> alike_labels(
    const std::vector<std::string>& labels, const std::function<std::string(std::size_t)>& shown) {
  std::map<std::string, std::vector<std::string>> out;
  for (std::size_t k = 0; k < labels.size(); ++k) out[without_case_and_blanks(labels[k])].push_back(shown(k));
  return out;
}

NamedSequences NamedSequences::test_for(const NamedSequences& train, TestLabels labels) {
  NamedSequences out;
  out.train_ = &train;
  out.labels_ = labels;
  return out;
}

bool NamedSequences::add(std::string_view feature, double value) {
  if (streams() || !is_test()) {
    named.add(feature, value);
    return true;
  }
  const auto known_feature = known().features.find(feature);
  if (known_feature) {
    rows.add(*known_feature, value);
  } else {
    ++unknown_attributes_;
    unknown_features_.emplace(feature);
  }
  return known_feature.has_value();
}

void NamedSequences::end_row(const LineReader& in) {
  const auto check = [&](double value) {
    if (std::abs(value) > largest_value)
      in.fail(fmt::format("a feature value of {:g}", value),
              fmt::format("at most {:g} in absolute value: products of larger ones overflow", largest_value));
  };
  if (streams()) {
    std::for_each(named.value.begin() + static_cast<std::ptrdiff_t>(named.begin.back()), named.value.end(),
                  check);
    named.end_position();
    return;
  }
  names.features.intern(named, numbers_);
  for (std::size_t e = 0; e < numbers_.size(); ++e) rows.add(numbers_[e], named.value[e]);
  named.text.clear();
  named.text_end.clear();
  named.value.clear();
  try {
    rows.end_position();
  } catch (const Error&) {
    in.fail("a repeated attribute whose values sum to no finite number", "values with finite sums");
  }
  const std::size_t row = data.positions();
  for (std::size_t e = 0; e < rows.row(row).size(); ++e) check(rows.value(row, e));
}

void NamedSequences::end_position(const LineReader& in, std::optional<std::string_view> label) {
  end_row(in);
  if (!is_test()) {
    data.gold.push_back(names.labels.intern(*label));
    return;
  }
  if (labelled_.value_or(label.has_value()) != label.has_value())
    in.fail(label ? "a label" : "no label", "a label in each line, or in none");
  labelled_ = label.has_value();
  const auto known_label = label ? known().labels.find(*label) : std::nullopt;
  if (label && !known_label) {
    ++unknown_labels_;
    ++unknown_names_[std::string(*label)];
    data.unknown_gold[static_cast<Index>(data.gold.size())] = *label;
  }
  data.gold.push_back(known_label.value_or(kUnknownOutput));
}

std::vector<Index> merge_names(NameIndex& names, const Processes& processes) {
  NameIndex merged;
  std::vector<Index> number;
  for (int root = 0; root < processes.count(); ++root) {
    std::string text;
    if (root == processes.rank())
      for (const std::string& name : names.names()) (text += name) += '\n';
    share(&processes, root, text);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      const Index of_name = merged.intern(std::string_view(text).substr(at, end - at));
      if (root == processes.rank()) number.push_back(of_name);
      at = end + 1;
    }
  }
  names = std::move(merged);
  return number;
}

std::vector<Index> sort_names(NameIndex& names,
                              const std::function<bool(const std::string&, const std::string&)>& before) {
  std::vector<Index> order = first_indices(names.names().size()), number(order.size());
  std::ranges::stable_sort(order, before, [&](Index i) -> const std::string& { return names.names()[i]; });
  NameIndex sorted;
  for (const Index i : order) number[i] = sorted.intern(names.names()[i]);
  names = std::move(sorted);
  return number;
}

void NamedSequences::share_rows(const Processes& processes) {
  processes_ = &processes;
  const Parallel all(1, Backend::kOpenMP, &processes);
  if (const std::size_t without = whole_count(all, data.instances() == 0 ? 1 : 0); without > 0)
    throw Error(
        fmt::format("found {} training instances, and none in {} of {} parts of about equal bytes, expected "
                    "at least one in the part of each process",
                    whole_count(all, data.instances()), without, processes.count()),
        ErrorKind::kInput);
  for (const char* what : {kZeroValues, kFeatureless}) data.notes[what] = whole_count(all, data.notes[what]);
  std::erase_if(data.notes, [](const auto& note) { return note.second == 0; });
}

void NamedSequences::read(const FilePart& part, const char* record, const LineUser& use_line) {
  LineReader in(part);
  const bool documents = part.records == FileRecords::kLine, keeps = keeps_lines_ && !documents;
  const std::uint64_t before = all_positions();
  const auto has_whole_records = [&] {
    return streams() && data.instances() > 0 && data.begin.back() == data.positions();
  };
  const auto hand_over = [&] {
    handed_over_ += data.positions();
    handed_instances_ += data.instances();
    use_();
  };
  for (std::string_view line; in.next(line);) {
    const bool position = use_line(in, line);
    if (keeps) lines_.push_back({std::string(line), position});
    if (has_whole_records() && !in.has_record()) hand_over();
  }
  if (!documents) use_line(in, "");
  if (has_whole_records()) hand_over();
  if (all_positions() == before && part.whole()) in.fail_empty(record);
}

void NamedSequences::warn(const char* text, const LineReader& in, std::string_view example) {
  if (Warning& one = warnings_[text]; one.count > 0)
    ++one.count;
  else
    warn(text, fmt::format("{}:{}", in.path(), in.line()), example, 1);
}

void NamedSequences::warn(const char* text, const std::string& where, std::string_view example,
                          std::uint64_t count) {
  Warning& one = warnings_[text];
  if (one.count == 0) one = {0, in_quotes(example), where};
  one.count += count;
}

std::vector<std::string> NamedSequences::warnings() const {
  std::vector<std::string> out;
  for (const auto& [text, one] : warnings_)
    out.push_back(fmt::format(fmt::runtime(text), fmt::arg("count", one.count),
                              fmt::arg("example", one.example), fmt::arg("where", one.where)));
  if (const std::string warning = label_warning_text(); !warning.empty()) out.push_back(warning);
  return out;
}

std::string NamedSequences::label_warning_text() const {
  if (!data.on.empty()) return "";
  const std::vector<std::string>& labels = known().labels.names();
  std::vector<std::uint64_t> positions(labels.size());
  for (const Index gold : data.gold)
    if (!is_test() && gold < positions.size()) ++positions[gold];
  const auto shown = [](const std::string& name, std::uint64_t count) {
    return fmt::format("{} ({})", in_quotes(name), count);
  };
  const auto alike = alike_labels(labels, [&](std::size_t k) {
    return is_test() ? in_quotes(labels[k]) : shown(labels[k], positions[k]);
  });
  std::vector<std::string> groups;
  for (const auto& [name, count] : unknown_names_)
    if (const auto found = alike.find(without_case_and_blanks(name)); found != alike.end())
      groups.push_back(shown(name, count) + " and " + found->second.front());
  for (const auto& [text, group] : alike)
    if (!is_test() && group.size() > 1) groups.push_back(joined(group, " and "));
  return alike_text(std::move(groups));
}

void NamedSequences::end_sequence() {
  if (data.gold.size() > data.begin.back()) data.begin.push_back(static_cast<Index>(data.gold.size()));
}

void NamedSequences::set_notes() {
  for (const auto& [what, count] : {std::pair("unknown attributes", unknown_attributes_),
                                    {"unknown labels", unknown_labels_},
                                    {"distinct unknown attributes", unknown_features_.size()},
                                    {kUnlabelled, labelled_.value_or(true) ? 0 : data.positions()}})
    if (count > 0) data.notes[what] = count;
  unknown_attributes_ = unknown_labels_ = 0;
}

Dataset NamedSequences::build(std::shared_ptr<const Vocabulary> vocabulary) && {
  set_notes();
  set_rows(data, std::move(rows), std::move(vocabulary), processes_);
  return std::move(data);
}

namespace {

/// Counts the instances and positions that `read` adds to the set from a file.
template <class Read>
FileCounts counts_of(const std::string& path, const NamedSequences& set, const Read& read) {
  const std::uint64_t instances = set.all_instances(), positions = set.all_positions();
  read();
  return {path, set.all_instances() - instances, set.all_positions() - positions};
}

/// Returns a warning if the boundaries of sequences are probably missing, or are everywhere.
std::string boundary_warning(const std::vector<FileCounts>& files) {
  constexpr std::uint64_t kShort = 20,
                          kLong = 1000;  // positions of the only sequence of all files, or of one
  std::uint64_t instances = 0, positions = 0;
  for (const FileCounts& file : files) {
    instances += file.instances;
    positions += file.positions;
  }
  for (const FileCounts& file : files)
    if (file.instances == 1 && file.positions > (instances == 1 ? kShort : kLong))
      return fmt::format("{}: all {} positions are one sequence: no empty line separates sequences",
                         shown_name(file.path), file.positions);
  if (instances == positions && instances > kShort)
    return fmt::format("each of the {} sequences has one position: an empty line follows each line",
                       instances);
  return "";
}

void add_warnings(const NamedSequences& set, const std::vector<FileCounts>& files,
                  const SequenceFormat& format, const std::function<void(const std::string&)>& use) {
  for (const std::string& warning : set.warnings()) use(warning);
  const bool sequences =
      format.records == FileRecords::kUpToBlankLine && format.oracle == std::string_view("chain");
  if (const std::string warning = sequences ? boundary_warning(files) : ""; !warning.empty()) use(warning);
}

void stream_sequences(const DataFiles& files, const DataStream& stream, const SequenceFormat& format) {
  NamedSequences names(stream.names->outputs);
  NamedSequences batch = NamedSequences::test_for(names, files.labels);
  batch.hand_over_to([&] {
    if (format.complete) format.complete(batch);
    batch.set_notes();
    batch.data.vocabulary = stream.names;
    stream.use({std::exchange(batch.data, {}),
                {},
                std::exchange(batch.named, {}),
                format.oracle,
                batch.take_lines()});
  });
  if (stream.lines) batch.keep_lines();
  std::vector<FileCounts> counts;
  for (const std::string& path : files.test)
    counts.push_back(
        counts_of(path, batch, [&] { format.read({.path = path, .records = format.records}, batch); }));
  if (stream.warning) add_warnings(batch, counts, format, stream.warning);
}

}  // namespace

DataPair read_sequences(const DataFiles& files, const Options& options, const Processes* processes,
                        NamedSequences train, const SequenceFormat& format) {
  const auto complete = [&](NamedSequences& set) {
    if (format.complete) format.complete(set);
  };
  if (files.stream != nullptr) {
    stream_sequences(files, *files.stream, format);
    return {};
  }
  std::vector<FileCounts> train_files, test_files;
  for (const FilePart& part : own_parts(files, options, processes, format.records))
    train_files.push_back(counts_of(part.path, train, [&] { format.read(part, train); }));
  if (processes != nullptr) train_files.clear();  // they are parts of files
  if (processes != nullptr) {  // number names as if one process had read all parts in order
    train.rows.renumber(merge_names(train.names.features, *processes));
    const std::vector<Index> label = merge_names(train.names.labels, *processes);
    for (Index& gold : train.data.gold) gold = label[gold];
  }
  complete(train);
  if (processes != nullptr) train.share_rows(*processes);
  NamedSequences test = NamedSequences::test_for(train, files.labels);
  for (const std::string& path : files.test)
    test_files.push_back(
        counts_of(path, test, [&] { format.read({.path = path, .records = format.records}, test); }));
  std::vector<std::string> warnings;
  add_warnings(train, train_files, format, [&](const std::string& warning) { warnings.push_back(warning); });
  add_warnings(test, test_files, format,
               [&](const std::string& warning) { warnings.push_back("test data: " + warning); });
  complete(test);
  const auto vocabulary = std::make_shared<const Vocabulary>(
      Vocabulary{train.names.features.names(), train.names.labels.names()});
  train.names = {};
  DataPair out{std::move(train).build(vocabulary), std::move(test).build(vocabulary), format.oracle};
  const auto describe = [&](Dataset& set, const std::vector<std::string>& paths, const Processes* shared) {
    const Parallel all(1, Backend::kOpenMP, shared);
    if (!paths.empty())
      set.description = fmt::format("{}: {} {}, {}", file_names(paths), whole_count(all, set.instances()),
                                    format.instances, format.describe(set));
  };
  out.train.warnings = std::move(warnings);
  out.train.files = std::move(train_files);
  out.test.files = std::move(test_files);
  describe(out.train, files.train, processes);
  describe(out.test, files.test, nullptr);
  return out;
}

}  // namespace proxbench
