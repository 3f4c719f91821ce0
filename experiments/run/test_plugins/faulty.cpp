/// Plug-ins with one fault each, for plugins_test.cpp: CMake builds one for each of these macros.
#include <stdexcept>

#include "core/plugin.h"

using namespace proxbench;

#if !defined(NO_ENTRY)
static SolverInfo info(const char* name) {
  return {.name = name, .help = "", .paper = "", .options = {}, .make = [](const Options&) {
            return std::unique_ptr<Solver>();
          }};
}

PROXBENCH_PLUGIN(plugin) {
  plugin.solvers.add(info("fine"));
#if defined(THROWS)
  throw std::runtime_error("no licence found");
#elif defined(TWICE)
  plugin.solvers.add(info("fine"));
#elif defined(BUILT_IN)
  plugin.solvers.add(info("prox-newton"));
#elif defined(NO_MAKER)
  plugin.oracles.add({.name = "nothing", .help = "", .paper = "", .make = {}});
#elif defined(NO_READER)
  plugin.formats.add({.name = "nothing", .help = "", .source = "", .read = {}});
#elif defined(KEY_OF_DATA)
  plugin.formats.add({.name = "mine",
                      .help = "",
                      .source = "",
                      .options = {{.name = "train", .default_value = "", .help = ""}},
                      .read = [](const DataFiles&, const Options&) { return DataPair(); }});
#elif defined(NAMED_UNARY)
  plugin.oracles.add({.name = "mine",
                      .help = "",
                      .paper = "",
                      .make = [](const Dataset&) { return std::unique_ptr<Oracle>(); },
                      .extra = {"unary", {"label"}, [](std::size_t, const Dataset&) {
                                  return std::vector<std::string>{"x"};
                                }}});
#elif defined(NO_MEASURE)
  plugin.metrics.add({.name = "nothing", .help = "", .paper = "", .measure = {}});
#endif
}
#else
extern "C" int no_entry() {
  return 0;
}
#endif
