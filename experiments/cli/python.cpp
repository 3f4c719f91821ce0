/// `table`, `plot`, `report`, `export`, `merge`, `scale`: commands of the Python package.
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "experiments/base/python_program.h"
#include "experiments/cli/cli.h"

namespace proxbench {
namespace {

using nlohmann::json;

/// The interpreter that shows results.
PythonProgram showing_python() {
  return find_python(
      {"pandas", "matplotlib", "jinja2", "proxbench"}, "show results",
      "python3-pandas, python3-matplotlib and python3-jinja2 of Debian (scripts/install-deps), or "
      "the name of another interpreter in $PROXBENCH_PYTHON");
}

/// The commands with their flags. They are parsed once.
const json& python_commands() {
  static const json commands = [] {
    json table = json::parse(package_commands());
    for (json& command : table["commands"])
      for (json& flag : command["flags"])
        if (flag.is_string()) flag = table["shared"].at(flag.get<std::string>());
    return table["commands"];
  }();
  return commands;
}

/// Becomes `python -m proxbench COMMAND ARGUMENTS`. Throws Error if the package cannot be started.
[[noreturn]] void become_python(const std::string& command, const std::vector<std::string>& arguments) {
  const auto [interpreter, missing] = showing_python();
  if (!missing.empty()) throw Error(missing);
  finish_standard_output();
  // `scale` starts this program again.
  std::vector<std::string> self{(program_folder() / "proxbench").string()};
  for (const LoadedPlugin& plugin : loaded_plugins())
    self.insert(self.end(), {"--plugin", plugin.file.string()});
  ::setenv("PROXBENCH_COMMAND", json(self).dump().c_str(), 1);
  std::vector<std::string> words{interpreter, "-m", "proxbench", command};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  ::execvp(interpreter.c_str(), pointers.data());
  throw Error(fmt::format("{}: cannot be started: {}", interpreter, std::strerror(errno)));
}

/// A command of the package. The program parses its flags like those of its own commands, so that help,
/// completion, the manual page and errors are the same. The package reads their values.
class PythonCommand {
 public:
  PythonCommand(CLI::App& app, const json& command) : name_(command["name"]) {
    for (const json& flag : command["flags"]) add(app, flag);
  }
  void execute() const { become_python(name_, arguments()); }

 private:
  struct Flag {
    std::string name;
    CLI::Option* option;
    bool repeats;  ///< each value is a flag of its own; otherwise commas join them
  };

  void add(CLI::App& app, const json& spec) {
    const auto has = [&](const char* member) { return spec.value(member, false); };
    const std::string name = spec["flag"], help = spec.value("help", ""), key = spec.value("key", "");
    if (!key.empty()) {
      const std::string of = key.substr(key.find('.') + 1);
      key.starts_with("plot.") ? plot_.add(app, of, help, name) : experiment_.add(app, of, help, name);
      flags_.push_back({name, app.get_option(name)->allow_extra_args(false), false});
      return;
    }
    if (has("switch")) {
      flags_.push_back({name, app.add_flag(name, help), false});
      return;
    }
    CLI::Option* option = app.add_option_function<std::vector<std::string>>(
        name, [](const auto&) {}, help + (has("repeat") ? "; repeatable" : ""));
    option->type_name(spec["metavar"].get<std::string>() + (has("many") ? "..." : ""));
    option->required(has("required") || !name.starts_with('-'));
    // A word behind the value of a flag is a folder.
    option->allow_extra_args(has("many"));
    if (!has("many") && !has("repeat")) option->expected(1);
    if (spec.contains("integers"))
      option->delimiter(',')->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (spec.contains("choices"))
      option->check(CLI::IsMember(spec["choices"].get<std::vector<std::string>>()));
    if (spec.contains("number"))
      option->check(CLI::Range(spec["number"][0].get<double>(), spec["number"][1].get<double>()));
    for (const char* kind : {"integer", "integers"})
      if (spec.contains(kind))
        option->check(CLI::Range(spec[kind][0].get<std::int64_t>(), spec[kind][1].get<std::int64_t>()));
    flags_.push_back({name, option, has("repeat")});
  }

  /// Returns the folders and flags as they were typed.
  std::vector<std::string> arguments() const {
    std::vector<std::string> out;
    for (const auto& [name, option, repeats] : flags_) {
      const std::vector<std::string> values = option->results();
      if (option->count() > 0 && option->get_items_expected_max() == 0)
        out.push_back(name);
      else if (option->count() > 0 && !repeats && name.starts_with('-'))
        out.push_back(name + "=" + joined(values, ","));
      else
        for (const std::string& value : values) out.push_back((repeats ? name + "=" : "") + value);
    }
    return out;
  }

  std::string name_;
  std::vector<Flag> flags_;
  KeyFlags<PlotConfig> plot_{"the config's"};
  RunFlags experiment_{"the config's"};
};

}  // namespace

int show_by_python(const std::string& command, const std::vector<std::string>& arguments,
                   const std::string& stored) {
  if (const std::string missing = showing_python().missing; !missing.empty()) {
    spdlog::warn("{}; {}", missing, stored);
    return 0;
  }
  finish_standard_output();
  const pid_t child = ::fork();
  if (child < 0) throw Error(fmt::format("Python cannot be started: {}", std::strerror(errno)));
  if (child == 0) become_python(command, arguments);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void add_python_commands(CLI::App& app) {
  for (const json& command : python_commands()) {
    if (command.value("hidden", false)) continue;
    CLI::App* sub = app.add_subcommand(command["name"], command["help"]);
    sub->callback([made = std::make_shared<PythonCommand>(*sub, command)] { made->execute(); });
  }
}

}  // namespace proxbench
