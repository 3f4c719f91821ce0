#include "experiments/run/python_plugin.h"

#include <fmt/format.h>

#include <chrono>

#include "experiments/base/process.h"
#include "experiments/base/python_program.h"
#include "experiments/base/text.h"

namespace proxbench {
namespace {

OptionSpec described_option(const nlohmann::json& given) {
  const std::string type = given.at("type");
  OptionSpec out{.name = given.at("name"),
                 .type = type == "int"     ? OptionType::kInt
                         : type == "float" ? OptionType::kReal
                         : type == "bool"  ? OptionType::kBool
                                           : OptionType::kString,
                 .default_value = given.at("default"),
                 .help = given.at("help")};
  if (!given.at("min").is_null()) out.min = given.at("min");
  if (!given.at("max").is_null()) out.max = given.at("max");
  out.choices = given.at("choices");
  return out;
}

}  // namespace

bool is_python(const fs::path& file) {
  return file.extension() == ".py";
}

SolverInfo described_solver(const nlohmann::json& description) {
  SolverInfo out{
      .name = description.at("name"), .help = description.at("help"), .paper = description.at("paper")};
  for (const nlohmann::json& option : description.at("options"))
    out.options.push_back(described_option(option));
  const nlohmann::json& needs = description.at("needs");
  out.needs = {.l1 = needs.at("l1"), .l2 = needs.at("l2"), .smooth = needs.at("smooth")};
  out.needs.loss = needs.at("loss") == "hinge" ? Loss::Kind::kHinge : Loss::Kind::kLog;
  out.needs.capabilities = {out.needs.loss == Loss::Kind::kHinge ? Capability::kMax : Capability::kSum};
  out.exact = description.at("exact");
  return out;
}

Plugin python_plugin(const fs::path& file) {
  constexpr std::chrono::seconds kTimeout{60};
  std::vector<std::string> command = python_worker();
  command.emplace_back("--describe");
  command.push_back(file.string());
  const ProgramOutput said = run_program(command, kTimeout);
  if (said.end.exit_status != 0) {
    const std::string_view text = trim(said.err, kBlanks);
    throw Error(text.empty() ? file.string() + ": Python could not run it" : std::string(text),
                ErrorKind::kInput);
  }
  Plugin out;
  for (const nlohmann::json& one : nlohmann::json::parse(said.out)) {
    SolverInfo info = described_solver(one);
    info.make = [name = info.name](const Options&) -> std::unique_ptr<Solver> {
      throw Error::usage(
          fmt::format("solver '{}' is written in Python: found a command that runs it in the program itself, "
                      "expected `proxbench run`, or proxbench.train() and proxbench.check_solver() in Python",
                      name));
    };
    out.solvers.add(std::move(info));
  }
  return out;
}

std::vector<std::string> python_worker() {
  const PythonProgram python =
      find_python({"numpy", "proxbench._core"}, "run solvers",
                  "python3-numpy, and the module proxbench._core, which a build makes where python3-dev and "
                  "pybind11-dev are (scripts/install-deps)");
  if (!python.missing.empty()) throw Error(python.missing);
  return {python.interpreter, "-m", "proxbench.worker"};
}

}  // namespace proxbench
