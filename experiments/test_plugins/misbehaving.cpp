/// Solvers that go wrong in one way each, for sweep_test.cpp.
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/plugin.h"

using namespace proxbench;

namespace {

/// Takes two steps without moving, then does as it is told.
class Misbehaving final : public Solver {
 public:
  explicit Misbehaving(void (*fault)()) : fault_(fault) {}
  SolveResult solve(const SolveProblem& problem) override {
    problem.monitor.start(problem.start);
    problem.monitor.step(1, problem.start, 0);
    problem.monitor.step(2, problem.start, 0);
    fault_();
    return {Status::kStalled, problem.start, 2, 0};
  }

 private:
  void (*fault_)();
};

void crash() {
  std::raise(SIGSEGV);
}
void hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::milliseconds(10));
}
void fail() {
  throw std::runtime_error("no descent direction");
}
void hog() {
  std::vector<std::vector<char>> all;
  for (;;) all.emplace_back(1 << 20, 'x');
}

void add(Plugin& plugin, const char* name, void (*fault)()) {
  plugin.solvers.add({.name = name, .help = "", .paper = "", .options = {}, .make = [fault](const Options&) {
                        return std::make_unique<Misbehaving>(fault);
                      }});
}

}  // namespace

PROXBENCH_PLUGIN(plugin) {
  add(plugin, "crash", crash);
  add(plugin, "hang", hang);
  add(plugin, "fail", fail);
  add(plugin, "hog", hog);
}
