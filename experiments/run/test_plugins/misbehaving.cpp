/// Solvers with one fault each, for sweep_test.cpp and path_commands_test.cpp, and a data format that returns
/// inconsistent data, for scripts/test-plugin.
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/known_start.h"
#include "core/plugin.h"

using namespace proxbench;

namespace {

/// Takes two steps without moving, then calls its fault.
class Misbehaving final : public Solver {
 public:
  Misbehaving(void (*fault)(const SolveProblem&), Status says) : fault_(fault), says_(says) {}
  SolveResult solve(const SolveProblem& problem) override {
    problem.monitor.start(problem.start);
    problem.monitor.step(problem.start);
    problem.monitor.step(problem.start);
    fault_(problem);
    return {says_, problem.start};
  }

 private:
  void (*fault_)(const SolveProblem&);
  Status says_;
};

void crash(const SolveProblem&) {
  std::raise(SIGSEGV);
}
void hang(const SolveProblem&) {
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}
void fail(const SolveProblem&) {
  throw std::runtime_error("no descent direction");
}
void hog(const SolveProblem&) {
  std::vector<std::vector<char>> all;
  for (;;) all.emplace_back(1 << 20, 'x');
}

/// On a path, leaves a state that does not belong to its result.
void lie(const SolveProblem& problem) {
  if (problem.known == nullptr) return;
  problem.known->state.loss *= 0.5;
  problem.known->at_result = true;
}

/// Reports convergence at the starting point.
void boast(const SolveProblem&) {}

void add(Plugin& plugin, const char* name, void (*fault)(const SolveProblem&),
         Status says = Status::kStalled) {
  plugin.solvers.add(
      {.name = name, .help = "", .paper = "", .options = {}, .make = [fault, says](const Options&) {
         return std::make_unique<Misbehaving>(fault, says);
       }});
}

/// Three positions, but the instances cover only two.
DataPair read_lies(const DataFiles&, const Options&) {
  DataPair pair;
  pair.oracle = "chain";
  DesignMatrix::Builder builder;
  for (Index p = 0; p < 3; ++p) {
    builder.add(0, 1.0);
    builder.end_position();
  }
  pair.train.x = std::move(builder).build(1);
  pair.train.begin = {0, 2};
  pair.train.gold = {0, 1, 0};
  pair.train.vocabulary = std::make_shared<const Vocabulary>(Vocabulary{{"bias"}, {"A", "B"}});
  return pair;
}

}  // namespace

PROXBENCH_PLUGIN(plugin) {
  plugin.formats.add({.name = "lies", .help = "", .source = "", .needs_files = false, .read = read_lies});
  add(plugin, "crash", crash);
  add(plugin, "hang", hang);
  add(plugin, "fail", fail);
  add(plugin, "hog", hog);
  add(plugin, "lie", lie);
  add(plugin, "boast", boast, Status::kConverged);
}
