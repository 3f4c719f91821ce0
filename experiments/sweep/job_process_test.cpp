#include "experiments/sweep/job_process.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using namespace std::chrono_literals;

/// OpenMP's library binds the first thread when it is loaded. Threads of oneTBB, and external trainers,
/// inherit this binding.
TEST(JobSettings, OnlyThreadsOfOpenMpAreBoundEach) {
  const std::vector<int> cpus = usable_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU";
  const auto first_thread = [&](const std::string& solver, const std::string& backend) {
    const TestFolder folder;
    RunParameters job;
    job.solver = solver;
    job.backend = backend;
    job.threads = 2;
    ProcessSettings settings = job_settings({}, job, cpus, 0, 1);
    settings.command = {"/bin/sh", "-c", "LD_PRELOAD=libgomp.so.1 grep Cpus_allowed_list /proc/self/status"};
    settings.log = folder / "log.txt";
    Process process(settings);
    while (!process.wait_for(1000ms)) {
    }
    EXPECT_EQ(process.end().exit_status, 0);
    return read_text(folder / "log.txt");
  };
  const auto list = [&](const char* separator) {
    return fmt::format("Cpus_allowed_list:\t{}{}{}\n", cpus[0], separator, cpus[1]);
  };
  const std::string both = list(cpus[1] == cpus[0] + 1 ? "-" : ",");
  EXPECT_EQ(first_thread("prox-newton", "tbb"), both);
  EXPECT_EQ(first_thread("external", "openmp"), both);
  EXPECT_EQ(first_thread("prox-newton", "openmp"), fmt::format("Cpus_allowed_list:\t{}\n", cpus[0]));
}

}  // namespace
}  // namespace proxbench
