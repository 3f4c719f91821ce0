/// `table`, `plot`, `report`, `export`, `merge`: commands of the Python package.
#include "experiments/cli/python.h"

#include <fmt/format.h>
#include <spawn.h>
#include <spdlog/spdlog.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "experiments/base/process.h"

namespace proxbench {
namespace {

using nlohmann::json;

/// Prints what the interpreter lacks, without importing any of it.
constexpr const char* kProbe =
    "import sys\n"
    "from importlib.util import find_spec\n"
    "names = ['pandas', 'matplotlib', 'jinja2', 'proxbench']\n"
    "lacks = [name for name in names if find_spec(name) is None]\n"
    "print(', '.join(lacks if sys.version_info >= (3, 9) else ['a version from 3.9']), end='')\n";

constexpr const char* kPackages =
    "python3-pandas, python3-matplotlib and python3-jinja2 of Debian (scripts/install-deps), or the name of "
    "another interpreter in $PROXBENCH_PYTHON";

bool holds_package(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "proxbench/__init__.py", ignored);
}

/// Makes interpreters find the package of the build tree or installation to which this program belongs, and
/// otherwise whatever they find by themselves. A file of the working folder, such as random.py, must not
/// stand in for a module.
void offer_package() {
  ::setenv("PYTHONSAFEPATH", "1", 1);
  const fs::path beside = program_folder();
  for (const fs::path& folder : {beside / "python", beside.parent_path() / "lib/python3/dist-packages"}) {
    if (!holds_package(folder)) continue;
    const std::string others = environment_text("PYTHONPATH");
    ::setenv("PYTHONPATH", (folder.string() + (others.empty() ? "" : ":" + others)).c_str(), 1);
    return;
  }
}

/// Returns "" if the interpreter can show results, otherwise the packages that it lacks.
std::string lack_of(const std::string& interpreter) {
  constexpr std::chrono::seconds kPatience{60};  // the disk may be slow
  try {
    const ProgramOutput probe = run_program({interpreter, "-c", kProbe}, kPatience);
    if (probe.end.exit_status != 0) return "an interpreter that starts";
    return probe.out;
  } catch (const Error&) {
    return "an interpreter that starts";
  }
}

/// Returns the interpreter and "", or "" and the reason why none can show results.
std::pair<std::string, std::string> find_python() {
  offer_package();
  if (const std::string chosen = environment_text("PROXBENCH_PYTHON"); !chosen.empty()) {
    const std::string lack = lack_of(chosen);
    if (lack.empty()) return {chosen, ""};
    return {"", fmt::format("PROXBENCH_PYTHON={} lacks {}, expected {}", chosen, lack, kPackages)};
  }
  std::string seen;
  for (const std::string one : {"/usr/bin/python3", "python3"}) {  // Debian's, and that on the PATH
    const std::string lack = lack_of(one);
    if (lack.empty()) return {one, ""};
    seen += fmt::format("{}{} lacks {}", seen.empty() ? "" : "; ", one, lack);
  }
  return {"", fmt::format("no Python that can show results: {}; expected {}", seen, kPackages)};
}

/// The words of a call of the package.
class Call {
 public:
  Call(const std::string& interpreter, const std::string& command, const std::vector<std::string>& arguments)
      : words_{interpreter, "-m", "proxbench", command} {
    words_.insert(words_.end(), arguments.begin(), arguments.end());
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  char** data() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

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

struct PythonCommand {
  std::string name;
  PythonFlags flags;

  void execute() const { become_python(name, flags.arguments()); }
};

}  // namespace

void PythonFlags::add_to(CLI::App& app, const std::string& name, bool with_folders) {
  for (const json& command : python_commands())
    for (const json& flag : command["flags"])
      if (command["name"] == name && flag["flag"] != "--quiet" &&
          (with_folders || flag["flag"].get<std::string>().starts_with('-')))
        add(app, flag);
}

void PythonFlags::add(CLI::App& app, const json& spec) {
  const auto has = [&](const char* member) { return spec.value(member, false); };
  const std::string name = spec["flag"], help = spec.value("help", ""), key = spec.value("key", "");
  if (!key.empty()) {
    const std::size_t dot = key.find('.');
    if (key.starts_with("plot."))
      plot_.add(app, key.substr(dot + 1), help, name);
    else
      experiment_.add(app, key.substr(dot + 1), help, name);
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
  if (spec.contains("choices")) option->check(CLI::IsMember(spec["choices"].get<std::vector<std::string>>()));
  if (spec.contains("number"))
    option->check(CLI::Range(spec["number"][0].get<double>(), spec["number"][1].get<double>()));
  if (spec.contains("integers")) {
    option->delimiter(',')->check(
        CLI::Range(spec["integers"][0].get<std::int64_t>(), spec["integers"][1].get<std::int64_t>()));
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
  flags_.push_back({name, option, has("repeat")});
}

std::vector<std::string> PythonFlags::arguments() const {
  std::vector<std::string> out;
  for (const auto& [name, option, repeats] : flags_) {
    if (option->count() == 0) continue;
    const std::vector<std::string> values = option->results();
    if (!name.starts_with('-'))
      out.insert(out.end(), values.begin(), values.end());
    else if (option->get_items_expected_max() == 0)
      out.push_back(name);
    else if (repeats)
      for (const std::string& value : values) out.push_back(name + "=" + value);
    else
      out.push_back(name + "=" + joined(values, ","));
  }
  return out;
}

std::string missing_python() {
  return find_python().second;
}

void become_python(const std::string& command, const std::vector<std::string>& arguments) {
  const auto [interpreter, missing] = find_python();
  if (!missing.empty()) throw Error(missing);
  finish_standard_output();
  ::execvp(interpreter.c_str(), Call(interpreter, command, arguments).data());
  throw Error(fmt::format("{}: cannot be started: {}", interpreter, std::strerror(errno)));
}

int show_by_python(const std::string& command, const std::vector<std::string>& arguments,
                   const std::string& stored) {
  const auto [interpreter, missing] = find_python();
  if (!missing.empty()) {
    spdlog::warn("{}; {}", missing, stored);
    return 0;
  }
  finish_standard_output();
  pid_t child = 0;
  const int failure = ::posix_spawnp(&child, interpreter.c_str(), nullptr, nullptr,
                                     Call(interpreter, command, arguments).data(), environ);
  if (failure != 0)
    throw Error(fmt::format("{}: cannot be started: {}", interpreter, std::strerror(failure)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void add_python_commands(CLI::App& app) {
  for (const json& command : python_commands()) {
    if (command.value("hidden", false)) continue;
    const std::string name = command["name"];
    const auto made = std::make_shared<PythonCommand>();
    made->name = name;
    CLI::App* sub = app.add_subcommand(name, command["help"].get<std::string>());
    made->flags.add_to(*sub, name);
    sub->callback([made] { made->execute(); });
  }
}

}  // namespace proxbench
