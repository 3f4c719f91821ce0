/// `completion`: prints the script with which bash or zsh asks the program for the words that may follow.
#include <fmt/format.h>

#include <map>

#include "experiments/cli/cli.h"
#include "experiments/config/ini.h"

namespace proxbench {
namespace {

/// The first argument of a call from completion.bash. The words before the cursor follow. It is not in the
/// tree of commands.
constexpr std::string_view kAsk = "__complete";

/// The registered names, or the choices that the table of keys or CLI11 knows for a flag.
std::vector<std::string> values_of(const CLI::Option& option) {
  static const std::map<std::string, std::string> kinds{
      {"solver", "solvers"}, {"format", "formats"}, {"oracle", "oracles"}, {"measure", "metrics"}};
  const std::string type = option.get_type_name();  // with CLI::IsMember "TYPE:{a,b}"
  if (const std::size_t begin = type.find('{'); begin != type.npos)
    return split_list(type.substr(begin + 1, type.find('}') - begin - 1));
  const std::string name = option.get_single_name();
  if (const Row<ExperimentConfig>* key = keys_of<ExperimentConfig>().find(name)) return key->spec.choices;
  std::vector<std::string> names;
  const Json all = catalogue();
  if (const auto kind = kinds.find(name); kind != kinds.end())
    for (const Json& item : all[kind->second]) names.push_back(item["name"]);
  return names;
}

/// The commands and flags that may follow a command.
std::vector<std::string> words_after(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* sub : shown_commands(command)) words.push_back(sub->get_name());
  for (const CLI::Option* option : command.get_options())
    if (!option->get_lnames().empty() && !option->get_group().empty())
      words.push_back("--" + option->get_lnames().front());
  return words;
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
  void execute() const {
    fmt::print("{}{}", shell == "zsh" ? "autoload -U bashcompinit && bashcompinit\n" : "",
               completion_script());
  }
};

}  // namespace

bool answer_completion(const CLI::App& app, const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != kAsk) return false;
  const CLI::App* command = &app;
  const CLI::Option* open = nullptr;  // a flag that waits for its value
  for (const std::string& word : std::vector(arguments.begin() + 1, arguments.end())) {
    if (word == "=") continue;  // bash takes --flag=value apart
    const CLI::Option* option = word.starts_with('-') ? command->get_option_no_throw(word) : nullptr;
    const auto named = [&](const CLI::App* one) { return one->get_name() == word; };
    if (const auto subs = command->get_subcommands(named); !open && !subs.empty()) command = subs.front();
    open = !open && option && option->get_items_expected_min() > 0 ? option : nullptr;
  }
  fmt::print("{}\n", fmt::join(open ? values_of(*open) : words_after(*command), "\n"));
  return true;
}

void add_completion_command(CLI::App& app) {
  add_command<CompletionCommand>(app, "completion", "Print a script that completes words in bash or zsh");
}

}  // namespace proxbench
