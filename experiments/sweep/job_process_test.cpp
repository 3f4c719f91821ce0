#include "experiments/sweep/job_process.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using namespace std::chrono_literals;

/// OpenMP's library binds the first thread when it is loaded, and threads of oneTBB inherit from that one.
TEST(Pin, ThreadsOfOneTbbMayRunOnAllItsCpus) {
  const std::vector<int> cpus = usable_cpus();
  if (cpus.size() < 2) GTEST_SKIP() << "one CPU";
  const auto first_thread = [&](Backend backend) {
    const TestFolder folder;
    ProcessSettings settings{
        .command = {"/bin/sh", "-c", "LD_PRELOAD=libgomp.so.1 grep Cpus_allowed_list /proc/self/status"}};
    settings.log = folder / "log.txt";
    pin(settings, cpus, 0, 2, backend);
    Process process(settings);
    while (!process.wait_for(1000ms)) {
    }
    EXPECT_EQ(process.end().exit_status, 0);
    return read_text(folder / "log.txt");
  };
  const auto list = [&](const char* separator) {
    return fmt::format("Cpus_allowed_list:\t{}{}{}\n", cpus[0], separator, cpus[1]);
  };
  EXPECT_EQ(first_thread(Backend::kTBB), list(cpus[1] == cpus[0] + 1 ? "-" : ","));
  EXPECT_EQ(first_thread(Backend::kOpenMP), fmt::format("Cpus_allowed_list:\t{}\n", cpus[0]));
}

}  // namespace
}  // namespace proxbench
