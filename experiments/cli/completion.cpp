/// `completion`: scripts that let a shell ask the program what may stand at the cursor, and the answers. All
/// of it comes from the tree of commands and the registries.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "experiments/cli/cli.h"
#include "experiments/config/ini.h"
#include "experiments/metrics/metrics.h"
#include "oracles/oracles.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// What the scripts of the shells (completion.bash, completion.zsh) call, no command of the tree: with the
/// words up to the cursor. They get lines "WORD" or "WORD<TAB>help", or ":files EXTENSION" (none: any), or
/// ":folders". A word that ends with '=', '.' or ',' is not finished.
constexpr std::string_view kAsk = "__complete";

struct Answer {
  std::string word, help;
};
using Answers = std::vector<Answer>;

/// What was typed before the cursor.
struct Typed {
  CLI::App* command = nullptr;
  CLI::Option* open = nullptr;                              ///< waits for its value
  std::vector<std::pair<std::string, std::string>> values;  ///< "--solver", "prox-newton"
  std::vector<std::string> positionals;

  /// The last one given; "" where there is none.
  std::string value(const std::string& flag) const {
    for (auto it = values.rbegin(); it != values.rend(); ++it)
      if (it->first == flag) return it->second;
    return "";
  }
};

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : "--" + option.get_lnames().front();
}

/// A flag of the command or, as those may stand anywhere, of the program.
CLI::Option* find_flag(CLI::App& app, CLI::App& command, const std::string& word) {
  CLI::Option* option = command.get_option_no_throw(word);
  return option ? option : app.get_option_no_throw(word);
}

/// Null where there is none.
CLI::App* find_command(CLI::App& app, const std::string& name) {
  const std::vector<CLI::App*> found =
      app.get_subcommands([&](const CLI::App* command) { return command->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

/// The program's own flags take effect, as they may add solvers.
void note_value(CLI::App& app, Typed& typed, CLI::Option& option, const std::string& value) {
  typed.values.emplace_back(long_name(option), value);
  if (app.get_option_no_throw(long_name(option)) != &option) return;
  option.add_result(value);
  option.run_callback();
  option.clear();
}

void note_word(CLI::App& app, Typed& typed, const std::string& word) {
  if (typed.open && (typed.open->get_items_expected_min() > 0 || !word.starts_with('-'))) {
    note_value(app, typed, *typed.open, word);
    typed.open = nullptr;
    return;
  }
  typed.open = nullptr;
  if (word.starts_with('-') && word != "-") {
    CLI::Option* option = find_flag(app, *typed.command, word);
    if (option && option->get_items_expected_max() > 0) typed.open = option;
  } else if (CLI::App* command = find_command(*typed.command, word)) {
    typed.command = command;
  } else {
    typed.positionals.push_back(word);
  }
}

Answers words(const std::vector<std::string>& names) {
  Answers answers;
  for (const std::string& name : names) answers.push_back({name, ""});
  return answers;
}

template <class Info>
Answers names_with_help(const Registry<Info>& registry) {
  Answers answers;
  for (const Info& info : registry.items()) answers.push_back({info.name, info.help});
  return answers;
}

/// What may stand for a flag or key of this name; nothing where that is no registered name.
Answers registered(const std::string& name) {
  if (name == "solver" || name == "reference_solver") return names_with_help(solver_registry());
  if (name == "format") return names_with_help(data_format_registry());
  if (name == "oracle") return names_with_help(oracle_registry());
  if (name != "measure") return {};
  Answers measures = names_with_help(metric_registry());
  measures.push_back({"loss", "mean negative log-likelihood of a position"});
  return measures;
}

/// None where nothing has this name.
template <class Info>
OptionTable options_of(const Registry<Info>& registry, const std::string& name) {
  return registry.contains(name) ? registry.find(name).options : OptionTable{};
}

Answers values_of(const OptionTable& table, const std::string& name) {
  if (Answers names = registered(name); !names.empty()) return names;
  const auto spec = std::ranges::find(table, name, &OptionSpec::name);
  if (spec == table.end()) return {};
  if (spec->type == OptionType::kBool) return words({"true", "false"});
  return words(spec->automatic ? std::vector<std::string>{"auto"} : spec->choices);
}

/// Puts `prefix` before each word.
Answers behind(const std::string& prefix, Answers answers) {
  for (Answer& answer : answers) answer.word = prefix + answer.word;
  return answers;
}

/// The last element of a list that is separated by commas.
Answers in_list(const std::string& typed, Answers answers) {
  return behind(typed.substr(0, typed.rfind(',') + 1), std::move(answers));
}

/// "key=", or the values of a key.
Answers assignments(const OptionTable& table, const std::string& typed) {
  Answers answers;
  if (const std::size_t equals = typed.find('='); equals != typed.npos)
    return behind(typed.substr(0, equals + 1),
                  in_list(typed.substr(equals + 1), values_of(table, typed.substr(0, equals))));
  for (const OptionSpec& spec : table) answers.push_back({spec.name + "=", spec.help});
  return answers;
}

/// The config among the words before the cursor, as far as it can be read.
Ini typed_config(const Typed& typed) {
  for (const std::string& file : typed.positionals) {
    Problems ignored;  // `check` tells them
    try {
      if (file.ends_with(".ini")) return read_ini(file, ignored);
    } catch (const Error&) {
      continue;  // not there yet
    }
  }
  return {};
}

/// None where there is no such section.
OptionTable section_table(const std::string& kind) {
  const auto info = std::ranges::find(config_sections(), kind, &ConfigSectionInfo::name);
  return info == config_sections().end() ? OptionTable{} : info->keys;
}

/// The keys of one section: its own, and the options of its solver or format.
OptionTable section_keys(const std::string& name, const Ini& config) {
  const std::size_t dot = name.find('.');
  const std::string kind = name.substr(0, dot);
  const IniSection* section = config.find(name);
  const IniEntry* entry = section ? section->find(kind == "data" ? "format" : "solver") : nullptr;
  const std::string chosen = entry ? entry->value : dot == name.npos ? "" : name.substr(dot + 1);
  OptionTable keys = section_table(kind);
  const OptionTable more = kind == "solver" ? options_of(solver_registry(), chosen)
                           : kind == "data" ? options_of(data_format_registry(), chosen)
                                            : OptionTable{};
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

/// "section.", "section.key=", or the values of a key.
Answers config_values(const Typed& typed, const std::string& word) {
  const Ini config = typed_config(typed);
  const std::size_t dot = word.rfind('.', word.find('='));
  Answers answers;
  if (dot != word.npos)
    answers = behind(word.substr(0, dot + 1),
                     assignments(section_keys(word.substr(0, dot), config), word.substr(dot + 1)));
  if (word.find('=') != word.npos) return answers;
  std::set<std::string> sections;
  for (const ConfigSectionInfo& info : config_sections())
    if (info.name != "solver" && info.name != "data") sections.insert(info.name);
  for (const IniSection& section : config.sections) sections.insert(section.name);
  for (const std::string& solver : solver_registry().names()) sections.insert("solver." + solver);
  for (const std::string& name : sections) answers.push_back({name + ".", ""});
  return answers;
}

/// The values that CLI::IsMember allows, which CLI11 shows as "{a,b}" behind the name of the type.
Answers members_of(const std::string& type) {
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == type.npos || end == type.npos) return {};
  return words(split_list(type.substr(begin + 1, end - begin - 1)));
}

/// What a file or folder is called is for the shell to say.
Answers files_of(const std::string& type) {
  const std::string name = type.substr(0, type.find(':'));
  const std::size_t dot = name.find('.');
  if (name.starts_with("DIR") || name == "OUT") return words({":folders"});
  if (name == "FILE" || name == "[FILE]") return words({":files"});
  return dot == name.npos || name.ends_with("...") ? Answers{} : words({":files " + name.substr(dot)});
}

Answers values_of(const CLI::Option& option, const Typed& typed, const std::string& word) {
  const std::string type = option.get_type_name(), solver = typed.value("--solver");
  std::string name = option.get_lnames().empty() ? "" : option.get_lnames().front();
  if (Answers members = members_of(type); !members.empty()) return members;
  if (type == "SECTION.KEY=VALUE") return config_values(typed, word);
  if (name == "data-option")
    return assignments(options_of(data_format_registry(), typed.value("--format")), word);
  if (name == "option")
    return assignments(options_of(solver_registry(), solver.empty() ? kBestForL1 : solver), word);
  // A flag may have the name of an option of a run, or of a key in the section of its command.
  std::replace(name.begin(), name.end(), '-', '_');
  for (const OptionTable& table : {run_options(), section_table(typed.command->get_name())})
    if (Answers values = values_of(table, name); !values.empty()) return in_list(word, values);
  return files_of(type);
}

Answers flags_of(const CLI::App& command) {
  Answers answers;
  for (const CLI::Option* option : command.get_options())
    if (!long_name(*option).empty() && !option->get_group().empty())
      answers.push_back({long_name(*option), option->get_description()});
  return answers;
}

Answers commands_of(const CLI::App& command) {
  Answers answers;
  for (const CLI::App* sub :
       command.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); }))
    answers.push_back({sub->get_name(), sub->get_description()});
  return answers;
}

/// The argument without a flag that comes next; the last one may take all that follow.
const CLI::Option* next_positional(const CLI::App& command, std::size_t given) {
  const CLI::Option* last = nullptr;
  for (const CLI::Option* option :
       command.get_options([](const CLI::Option* one) { return one->get_positional(); })) {
    last = option;
    if (given-- == 0) return option;
  }
  return last && last->get_items_expected_max() > 1 ? last : nullptr;
}

Answers complete(CLI::App& app, const Typed& typed, const std::string& word) {
  if (typed.open) return values_of(*typed.open, typed, word);
  if (word.starts_with('-')) {
    Answers flags = flags_of(*typed.command);
    if (typed.command != &app)
      for (const Answer& flag : flags_of(app))
        if (flag.word != "--help") flags.push_back(flag);
    return flags;
  }
  if (Answers commands = commands_of(*typed.command); !commands.empty()) return commands;
  const CLI::Option* positional = next_positional(*typed.command, typed.positionals.size());
  return positional ? values_of(*positional, typed, word) : flags_of(*typed.command);
}

}  // namespace

bool answer_completion(CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != kAsk) return false;
  // "--flag=value" are two words.
  std::vector<std::string> words(arguments.begin() + 1, arguments.end());
  std::string prefix;
  for (std::size_t i = 0; i < words.size(); ++i) {
    prefix.clear();
    const std::size_t equals = words[i].find('=');
    if (!words[i].starts_with("--") || equals == std::string::npos) continue;
    prefix = words[i].substr(0, equals + 1);
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words[i].substr(equals + 1));
    words[i++].resize(equals);
  }
  if (words.empty()) words.emplace_back();
  Typed typed;
  typed.command = &app;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) note_word(app, typed, words[i]);
  for (const auto& [answer, help] : complete(app, typed, words.back())) {
    const bool file = answer.starts_with(':');
    if (!file && !answer.starts_with(words.back())) continue;
    fmt::print("{}{}{}{}\n", file ? "" : prefix, answer, help.empty() ? "" : "\t", help);
  }
  return true;
}

void add_completion_command(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("completion", "Print a script that completes words in bash or zsh");
  auto shell = std::make_shared<std::string>();
  sub->add_option("shell", *shell, "for bash: source <(proxbench completion bash)")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh"}))
      ->type_name("SHELL");
  sub->footer(
      "To enable it, add to ~/.bashrc, or to ~/.zshrc after compinit:\n"
      "  source <(proxbench completion bash)\n  source <(proxbench completion zsh)");
  sub->callback([shell] { fmt::print("{}", completion_script(*shell)); });
}

}  // namespace proxbench
