/// `man`: prints the manual page, made from the tree of commands and manual.roff. `completion`: prints the
/// script with which a shell asks the program for the possible words at the cursor. answer_completion()
/// answers from the tree of commands and the registries.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "experiments/cli/cli.h"
#include "experiments/config/ini.h"
#include "experiments/sweep/plan.h"
#include "solvers/best_solver.h"
#include "solvers/solvers.h"

namespace proxbench {
namespace {

/// The first argument of a call from completion.bash or completion.zsh. The words up to the cursor follow. It
/// is not in the tree of commands. The scripts add no blank after an answer that ends with '=', '.' or ','.
constexpr std::string_view kAsk = "__complete";

/// Each is "WORD" or "WORD<TAB>help", or ":files EXTENSION" (no extension: any file), or ":folders".
using Answers = std::vector<std::string>;

/// The words before the cursor.
struct Typed {
  CLI::App& program;
  CLI::App* command = &program;
  CLI::Option* open = nullptr;                     ///< a flag that waits for its value
  std::map<std::string, std::string> values = {};  ///< by flag, e.g. "--solver"
  std::vector<std::string> positionals = {};
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

/// Returns the values of a flag or key: registered names, or the values that its row of the table allows.
Answers values_of(const OptionTable& table, const std::string& name) {
  static const std::map<std::string, const char*> kinds{{"solver", "solvers"},
                                                        {"reference_solver", "solvers"},
                                                        {"format", "formats"},
                                                        {"oracle", "oracles"},
                                                        {"measure", "metrics"}};
  if (const auto kind = kinds.find(name); kind != kinds.end()) {
    Answers answers;
    for (const Entry& entry : entries_of(kind->second)) answers.push_back(entry.name + "\t" + entry.help);
    if (name == "measure") answers.emplace_back("loss\tmean negative log-likelihood of a position");
    return answers;
  }
  const auto spec = std::ranges::find(table, name, &OptionSpec::name);
  if (spec == table.end()) return {};
  if (spec->type == OptionType::kBool) return {"true", "false"};
  return spec->automatic ? Answers{"auto"} : spec->choices;
}

/// Puts the typed text up to and with position `end` before each answer.
Answers behind(const std::string& typed, std::size_t end, Answers answers) {
  for (std::string& answer : answers) answer.insert(0, typed, 0, end + 1);
  return answers;
}

/// Completes "key=value". Before '=', returns "key=" for each key. After '=', returns the possible values of
/// the key. If a list is typed, completes its last item.
Answers assignments(const OptionTable& table, const std::string& typed) {
  Answers answers;
  const std::size_t equals = typed.find('='), comma = typed.rfind(',');
  if (equals != typed.npos)
    return behind(typed, comma == typed.npos ? equals : std::max(equals, comma),
                  values_of(table, typed.substr(0, equals)));
  for (const OptionSpec& spec : table) answers.push_back(spec.name + "=\t" + spec.help);
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
  const IniSection section{name, {}};
  OptionTable keys = options_of("config", section.kind());
  for (const auto& [of, key, registered] :
       {std::tuple("data", "format", "formats"), {"solver", "solver", "solvers"}}) {
    if (section.kind() != of) continue;
    const IniEntry* entry = config.find(name, key);
    std::ranges::move(options_of(registered, entry ? entry->value : section.label()),
                      std::back_inserter(keys));
  }
  return keys;
}

/// Completes "section.key=value": returns each "section.", each "section.key=", or the values of the key.
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
  for (const std::string& name : sections) answers.push_back(name + ".");
  return answers;
}

/// Returns the problems of the config among the words before the cursor.
Answers problems_of(const Typed& typed) {
  for (const std::string& file : typed.positionals) {
    try {
      return problem_names(plan_runs(load_config_without_data(file)));
    } catch (const Error&) {
      continue;  // `check` reports its errors
    }
  }
  return {};
}

/// Returns the values that CLI11's type text of an option names. The text is "TYPE:{a,b}" if CLI::IsMember
/// checks the option. For a file or folder, returns a directive, and the shell finds the names.
Answers values_of_type(const std::string& type) {
  if (const std::size_t begin = type.find('{'); begin != type.npos)
    return split_list(type.substr(begin + 1, type.find('}') - begin - 1));
  if (type.starts_with("DIR") || type == "OUT") return {":folders"};
  if (type == "FILE" || type == "[FILE]") return {":files"};
  const std::size_t dot = type.find('.');
  return dot == type.npos || type.ends_with("...") ? Answers{} : Answers{":files " + type.substr(dot)};
}

Answers values_of(const CLI::Option& option, Typed& typed, const std::string& word) {
  const std::string type = option.get_type_name(), flag = long_name(option);
  if (type == "SECTION.KEY=VALUE") return config_values(typed, word);
  if (type == "PROBLEM") return problems_of(typed);
  if (flag == "--data-option") return assignments(options_of("formats", typed.values["--format"]), word);
  if (flag == "--option") {
    const std::string solver = typed.values["--solver"];
    return assignments(options_of("solvers", solver.empty() ? kBestForL1 : solver), word);
  }
  // A flag may have the name of a key of [experiment], or of the section that is named like its command.
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
      answers.push_back(long_name(*option) + "\t" + option->get_description());
  return answers;
}

/// Returns the next positional argument. The last one may take all words that follow.
const CLI::Option* next_positional(const CLI::App& command, std::size_t given) {
  const std::vector<const CLI::Option*> all =
      command.get_options([](const CLI::Option* one) { return one->get_positional(); });
  if (given < all.size()) return all[given];
  return !all.empty() && all.back()->get_items_expected_max() > 1 ? all.back() : nullptr;
}

Answers complete(Typed& typed, const std::string& word) {
  if (typed.open) return values_of(*typed.open, typed, word);
  Answers answers;
  if (word.starts_with('-')) {
    answers = flags_of(*typed.command);
    if (typed.command != &typed.program)
      for (const std::string& flag : flags_of(typed.program))
        if (!flag.starts_with("--help")) answers.push_back(flag);
    return answers;
  }
  for (const CLI::App* sub : shown_commands(*typed.command))
    answers.push_back(sub->get_name() + "\t" + sub->get_description());
  if (!answers.empty()) return answers;
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

// ---- the manual page

/// Escapes text so that roff shows it literally, even if its second line begins with a dot or quote.
std::string roff(const std::string& text) {
  return replaced(text, {{'\\', "\\e"}, {'-', "\\-"}, {'\n', "\n\\&"}});
}

std::string option_text(const CLI::Option& option) {
  const std::string names = option.get_positional() ? option.get_name() : option.get_name(false, true);
  // CLI11 writes the choices behind the name of the type. The manual page shows the name alone.
  const std::string type = option.get_type_name();
  return fmt::format(".TP\n\\fB{}\\fR \\fI{}\\fR\n{}{}\n", roff(names),
                     option.get_items_expected_max() > 0 ? roff(type.substr(0, type.find(':'))) : "",
                     roff(option.get_description()), option.get_required() ? " (required)" : "");
}

std::string options_text(const CLI::App& app) {
  std::string out;
  for (const bool positional : {true, false})
    for (const CLI::Option* option : app.get_options())
      if (option->get_positional() == positional && !option->get_group().empty()) out += option_text(*option);
  return out;
}

std::string command_text(const CLI::App& program, const CLI::App& command) {
  std::string synopsis = program.get_name() + " " + command.get_name();
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) synopsis += " " + option->get_name(true);
  std::string out =
      fmt::format(".SS {}\n{}.\n{}", roff(synopsis), roff(command.get_description()), options_text(command));
  if (const std::string footer = command.get_footer(); !footer.empty() && footer != program.get_footer())
    out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(footer));
  return out;
}

std::string manual(const CLI::App& app) {
  std::string out =
      fmt::format(".TH PROXBENCH 1 \"\" \"proxbench {}\" \"User Commands\"\n", PROXBENCH_VERSION);
  const auto section = [&](const char* name, const std::string& text) {
    out += fmt::format(".SH {}\n{}", name, text);
  };
  section("NAME", fmt::format("proxbench \\- {}\n", roff(app.get_description())));
  section("SYNOPSIS", "\\fBproxbench\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n");
  section("OPTIONS", options_text(app));
  std::string commands;
  for (const CLI::App* command : shown_commands(app)) commands += command_text(app, *command);
  section("COMMANDS", commands);
  section("EXIT STATUS", roff(app.get_footer()) + "\n");
  return out + std::string(manual_sections());
}

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
  for (const std::string& answer : complete(typed, last)) {
    const bool file = answer.starts_with(':');
    if (file || answer.starts_with(last)) fmt::print("{}{}\n", file ? "" : prefix, answer);
  }
  return true;
}

void add_completion_commands(CLI::App& app) {
  add_command<CompletionCommand>(app, "completion", "Print a script that completes words in bash or zsh");
  app.add_subcommand("man", "Print the manual page; to read it: proxbench man | man -l -")->callback([&app] {
    fmt::print("{}", manual(app));
  });
}

}  // namespace proxbench
