/// `completion`: prints scripts that let a shell ask the program for the possible words at the cursor, and
/// answers them. All answers come from the tree of commands and the registries.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "experiments/cli/catalogue.h"
#include "experiments/config/ini.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// The word with which the shells' scripts (completion.bash, completion.zsh) call the program, followed by
/// the words up to the cursor. It is no command in the tree. The answer has lines "WORD" or "WORD<TAB>help",
/// or ":files EXTENSION" (no extension: any file), or ":folders". A word that ends with '=', '.' or ',' is
/// not finished.
constexpr std::string_view kAsk = "__complete";

struct Answer {
  std::string word, help;
};
using Answers = std::vector<Answer>;

/// The words before the cursor.
struct Typed {
  CLI::App& program;
  CLI::App* command = &program;
  CLI::Option* open = nullptr;                     ///< a flag that waits for its value
  std::map<std::string, std::string> values = {};  ///< by flag, e.g. "--solver"
  std::vector<std::string> positionals = {};

  std::string value(const std::string& flag) const { return values.contains(flag) ? values.at(flag) : ""; }
};

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? "" : "--" + option.get_lnames().front();
}

void note_word(Typed& typed, const std::string& word) {
  CLI::Option* open = std::exchange(typed.open, nullptr);
  if (open && (open->get_items_expected_min() > 0 || !word.starts_with('-'))) {
    typed.values[long_name(*open)] = word;
    if (long_name(*open) == "--plugin") load_plugin(word);
  } else if (word.starts_with('-') && word != "-") {
    // The program's own flags may come anywhere.
    CLI::Option* option = typed.command->get_option_no_throw(word);
    if (!option) option = typed.program.get_option_no_throw(word);
    if (option && option->get_items_expected_max() > 0) typed.open = option;
  } else {
    const std::vector<CLI::App*> named =
        typed.command->get_subcommands([&](const CLI::App* one) { return one->get_name() == word; });
    if (named.empty())
      typed.positionals.push_back(word);
    else
      typed.command = named.front();
  }
}

Answers words(const std::vector<std::string>& names) {
  Answers answers;
  for (const std::string& name : names) answers.push_back({name, ""});
  return answers;
}

std::vector<Entry> entries_of(const std::string& kind) {
  const std::vector<Kind> kinds = catalogue();
  return std::ranges::find(kinds, kind, &Kind::key)->entries;
}

/// Returns no options if the kind has no entry of this name.
OptionTable options_of(const std::string& kind, const std::string& name) {
  for (Entry& entry : entries_of(kind))
    if (entry.name == name) return std::move(entry.options);
  return {};
}

/// Returns the values of a flag or key: registered names, or those that its row allows.
Answers values_of(const OptionTable& table, const std::string& name) {
  static const std::map<std::string, const char*> kinds{{"solver", "solvers"},
                                                        {"reference_solver", "solvers"},
                                                        {"format", "formats"},
                                                        {"oracle", "oracles"},
                                                        {"measure", "metrics"}};
  if (const auto kind = kinds.find(name); kind != kinds.end()) {
    Answers answers;
    for (const Entry& entry : entries_of(kind->second)) answers.push_back({entry.name, entry.help});
    if (name == "measure") answers.push_back({"loss", "mean negative log-likelihood of a position"});
    return answers;
  }
  const auto spec = std::ranges::find(table, name, &OptionSpec::name);
  if (spec == table.end()) return {};
  if (spec->type == OptionType::kBool) return words({"true", "false"});
  return words(spec->automatic ? std::vector<std::string>{"auto"} : spec->choices);
}

/// Puts the typed text up to position `end` before each word.
Answers behind(const std::string& typed, std::size_t end, Answers answers) {
  for (Answer& answer : answers) answer.word = typed.substr(0, end + 1) + answer.word;
  return answers;
}

/// Returns "key=" for each key, or the values of a key; in a list those of the last item.
Answers assignments(const OptionTable& table, const std::string& typed) {
  Answers answers;
  const std::size_t equals = typed.find('='), comma = typed.rfind(',');
  if (equals != typed.npos)
    return behind(typed, comma == typed.npos ? equals : std::max(equals, comma),
                  values_of(table, typed.substr(0, equals)));
  for (const OptionSpec& spec : table) answers.push_back({spec.name + "=", spec.help});
  return answers;
}

/// Reads the config among the words before the cursor, as far as possible.
Ini typed_config(const Typed& typed) {
  for (const std::string& file : typed.positionals) {
    Problems ignored;  // `check` reports them
    try {
      if (file.ends_with(".ini")) return read_ini(file, ignored);
    } catch (const Error&) {
      continue;  // does not exist yet
    }
  }
  return {};
}

/// Returns the keys of one section: its own keys, and the options of its solver or format.
OptionTable section_keys(const std::string& name, const Ini& config) {
  const std::size_t dot = std::min(name.find('.'), name.size());
  const std::string kind = name.substr(0, dot);
  const IniEntry* entry = config.find(name, kind == "data" ? "format" : "solver");
  const std::string chosen = entry ? entry->value : name.substr(std::min(dot + 1, name.size()));
  OptionTable keys = options_of("config", kind);
  if (kind == "solver" || kind == "data")
    std::ranges::move(options_of(kind == "data" ? "formats" : "solvers", chosen), std::back_inserter(keys));
  return keys;
}

/// Returns "section.", "section.key=", or the values of a key.
Answers config_values(const Typed& typed, const std::string& word) {
  const Ini config = typed_config(typed);
  const std::size_t equals = word.find('='), dot = word.rfind('.', equals);
  Answers answers;
  if (dot != word.npos)
    answers = behind(word, dot, assignments(section_keys(word.substr(0, dot), config), word.substr(dot + 1)));
  if (equals != word.npos) return answers;
  std::set<std::string> sections;
  for (const ConfigSectionInfo& info : config_sections())
    if (info.name != "solver" && info.name != "data") sections.insert(info.name);
  for (const IniSection& section : config.sections) sections.insert(section.name);
  for (const std::string& solver : solver_registry().names()) sections.insert("solver." + solver);
  for (const std::string& name : sections) answers.push_back({name + ".", ""});
  return answers;
}

/// Gets the values from CLI11's type text, "TYPE:{a,b}" if CLI::IsMember checks them. For files and folders,
/// the shell finds the names.
Answers values_of_type(const std::string& type) {
  if (const std::size_t begin = type.find('{'); begin != type.npos)
    return words(split_list(type.substr(begin + 1, type.find('}') - begin - 1)));
  if (type.starts_with("DIR") || type == "OUT") return words({":folders"});
  if (type == "FILE" || type == "[FILE]") return words({":files"});
  const std::size_t dot = type.find('.');
  return dot == type.npos || type.ends_with("...") ? Answers{} : words({":files " + type.substr(dot)});
}

Answers values_of(const CLI::Option& option, const Typed& typed, const std::string& word) {
  const std::string type = option.get_type_name(), flag = long_name(option);
  if (type == "SECTION.KEY=VALUE") return config_values(typed, word);
  if (flag == "--data-option") return assignments(options_of("formats", typed.value("--format")), word);
  if (flag == "--option") {
    const std::string solver = typed.value("--solver");
    return assignments(options_of("solvers", solver.empty() ? kBestForL1 : solver), word);
  }
  // A flag can have the name of a run option, or of a key in the section of its command.
  std::string key = flag.substr(std::min<std::size_t>(2, flag.size()));
  std::ranges::replace(key, '-', '_');
  if (type.find('{') == type.npos)
    for (const std::string& section : {std::string("experiment"), typed.command->get_name()})
      if (Answers values = values_of(options_of("config", section), key); !values.empty())
        return behind(word, word.rfind(','), std::move(values));
  return values_of_type(type);
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
  for (const CLI::App* sub : shown_commands(command))
    answers.push_back({sub->get_name(), sub->get_description()});
  return answers;
}

/// Returns the next positional argument. The last one may take all words that follow.
const CLI::Option* next_positional(const CLI::App& command, std::size_t given) {
  const std::vector<const CLI::Option*> all =
      command.get_options([](const CLI::Option* one) { return one->get_positional(); });
  if (given < all.size()) return all[given];
  return !all.empty() && all.back()->get_items_expected_max() > 1 ? all.back() : nullptr;
}

Answers complete(const Typed& typed, const std::string& word) {
  if (typed.open) return values_of(*typed.open, typed, word);
  if (word.starts_with('-')) {
    Answers flags = flags_of(*typed.command);
    if (typed.command != &typed.program)
      for (const Answer& flag : flags_of(typed.program))
        if (flag.word != "--help") flags.push_back(flag);
    return flags;
  }
  if (Answers commands = commands_of(*typed.command); !commands.empty()) return commands;
  const CLI::Option* positional = next_positional(*typed.command, typed.positionals.size());
  return positional ? values_of(*positional, typed, word) : flags_of(*typed.command);
}

struct CompletionCommand {
  std::string shell;

  void add_to(CLI::App& command) {
    command.add_option("shell", shell, "for bash: source <(proxbench completion bash)")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh"}))
        ->type_name("SHELL");
    command.footer(
        "To enable it, add to ~/.bashrc, or to ~/.zshrc after compinit:\n"
        "  source <(proxbench completion bash)\n  source <(proxbench completion zsh)");
  }
  void execute() const { fmt::print("{}", completion_script(shell)); }
};

}  // namespace

bool answer_completion(CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != kAsk) return false;
  // "--flag=value" counts as two words; the shell completes it as one.
  std::vector<std::string> typed_words;
  std::string prefix;
  for (auto word = arguments.begin() + 1; word != arguments.end(); ++word) {
    const std::size_t equals = word->starts_with("--") ? word->find('=') : word->npos;
    prefix = equals == word->npos ? "" : word->substr(0, equals + 1);
    typed_words.push_back(word->substr(0, equals));
    if (!prefix.empty()) typed_words.push_back(word->substr(equals + 1));
  }
  const std::string last = typed_words.empty() ? "" : typed_words.back();
  if (!typed_words.empty()) typed_words.pop_back();
  Typed typed{app};
  for (const std::string& word : typed_words) note_word(typed, word);
  for (const auto& [answer, help] : complete(typed, last)) {
    const bool file = answer.starts_with(':');
    if (!file && !answer.starts_with(last)) continue;
    fmt::print("{}{}{}{}\n", file ? "" : prefix, answer, help.empty() ? "" : "\t", help);
  }
  return true;
}

void add_completion_command(CLI::App& app) {
  add_command<CompletionCommand>(app, "completion", "Print a script that completes words in bash or zsh");
}

}  // namespace proxbench
