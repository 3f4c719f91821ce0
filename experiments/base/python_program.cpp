#include "experiments/base/python_program.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "experiments/base/paths.h"
#include "experiments/base/process.h"
#include "experiments/base/text.h"

namespace proxbench {
namespace {

/// Prints which of the modules the interpreter lacks, without importing more than the packages that hold
/// them.
constexpr const char* kProbe =
    "import sys\n"
    "from importlib.util import find_spec\n"
    "def found(name):\n"
    "    try:\n"
    "        return find_spec(name) is not None\n"
    "    except ImportError:\n"
    "        return False\n"
    "lacks = [name for name in sys.argv[1:] if not found(name)]\n"
    "print(', '.join(lacks if sys.version_info >= (3, 9) else ['a version from 3.9']), end='')\n";

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

/// Returns the modules that the interpreter lacks, or "".
std::string lack_of(const std::string& interpreter, const std::vector<std::string>& modules) {
  constexpr std::chrono::seconds kTimeout{60};  // the disk may be slow
  try {
    std::vector<std::string> command{interpreter, "-c", kProbe};
    command.insert(command.end(), modules.begin(), modules.end());
    const ProgramOutput probe = run_program(command, kTimeout);
    if (probe.end.exit_status != 0) return "an interpreter that starts";
    return probe.out;
  } catch (const Error&) {
    return "an interpreter that starts";
  }
}

/// Returns the interpreters on the PATH, behind Debian's.
std::vector<std::string> candidates() {
  std::vector<std::string> out{"/usr/bin/python3"};
  const std::string path = environment_text("PATH");
  for (const std::string_view folder : split(path, ':')) {
    const std::string file = std::string(folder) + "/python3";
    if (::access(file.c_str(), X_OK) == 0 && !contains(out, file)) out.push_back(file);
  }
  return out;
}

}  // namespace

PythonProgram find_python(const std::vector<std::string>& modules, const std::string& purpose,
                          const std::string& expected) {
  offer_package();
  if (const std::string chosen = environment_text("PROXBENCH_PYTHON"); !chosen.empty()) {
    const std::string lack = lack_of(chosen, modules);
    if (lack.empty()) return {chosen, ""};
    return {"", fmt::format("PROXBENCH_PYTHON={} lacks {}, expected {}", chosen, lack, expected)};
  }
  std::string seen;
  for (const std::string& one : candidates()) {
    const std::string lack = lack_of(one, modules);
    if (lack.empty()) return {one, ""};
    seen += fmt::format("{}{} lacks {}", seen.empty() ? "" : "; ", one, lack);
  }
  return {"", fmt::format("no Python that can {}: {}; expected {}", purpose, seen, expected)};
}

}  // namespace proxbench
