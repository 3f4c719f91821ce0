#include "experiments/base/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "core/base/error.h"
#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

ProcessSettings shell(const std::string& script) {
  return {.command = {"/bin/sh", "-c", script}};
}

void wait_until_ended(Process& process) {
  while (!process.wait_for(1000ms)) {
  }
}

TEST(Process, StatesItsExitStatus) {
  Process process(shell("exit 7"));
  wait_until_ended(process);
  EXPECT_EQ(process.end().exit_status, 7);
  EXPECT_EQ(process.end().signal, 0);
  EXPECT_GT(process.end().peak_rss_bytes, 0u);
}

TEST(Process, StatesTheSignalThatEndedIt) {
  Process process(shell("kill -SEGV $$"));
  wait_until_ended(process);
  EXPECT_EQ(process.end().signal, SIGSEGV);
  EXPECT_EQ(signal_name(process.end().signal), "SIGSEGV");
}

TEST(Process, WritesItsOutputToTheLogAndSeesItsEnvironment) {
  const TestFolder folder;
  ProcessSettings settings = shell("echo $PROXBENCH_TEST_WORD; echo bad >&2; cat");
  settings.log = folder / "log.txt";
  settings.environment = {"PROXBENCH_TEST_WORD=good"};
  Process process(settings);
  wait_until_ended(process);
  EXPECT_EQ(process.end().exit_status, 0);
  EXPECT_EQ(read_text(folder / "log.txt"), "good\nbad\n");
}

TEST(Process, CanBeStopped) {
  Process process(shell("trap 'exit 3' TERM; echo; while :; do sleep 0.01; done"));
  EXPECT_FALSE(process.wait_for(50ms));
  process.stop(100.0);
  wait_until_ended(process);
  EXPECT_TRUE(process.end().exit_status == 3 || process.end().signal == SIGTERM) << "before it set its trap";
  EXPECT_FALSE(process.killed());
}

TEST(Process, IsKilledIfItDoesNotStopWithinItsGrace) {
  const TestFolder folder;
  ProcessSettings settings = shell("trap '' TERM; echo ready; while :; do sleep 0.01; done");
  settings.log = folder / "log.txt";
  Process process(settings);
  while (read_text(folder / "log.txt").empty()) process.wait_for(10ms);
  for (process.stop(0.1); !process.wait_for(20ms);) process.stop(0.1);
  EXPECT_EQ(process.end().signal, SIGKILL);
  EXPECT_TRUE(process.killed());
}

TEST(Process, IsKilledWithItsObject) {
  pid_t id = 0;
  {
    Process process(shell("sleep 1000"));
    id = process.id();
    EXPECT_EQ(kill(id, 0), 0);
  }
  EXPECT_NE(kill(id, 0), 0);
}

TEST(Process, DiesWithItsParent) {
  const TestFolder folder;
  const std::string file = (folder / "id").string();
  const pid_t parent = fork();
  if (parent == 0) {
    Process process(shell("echo $$ >'" + file + "'; exec sleep 1000"));
    while (read_text(file).empty()) std::this_thread::sleep_for(5ms);
    raise(SIGKILL);
  }
  waitpid(parent, nullptr, 0);
  const pid_t id = std::stoi(read_text(file));
  bool gone = false;  // a zombie that init has not reaped yet counts, too
  for (int i = 0; i < 2000 && !gone; ++i) {
    const std::string status = read_text("/proc/" + std::to_string(id) + "/stat");
    gone = status.empty() || status.find(") Z ") != std::string::npos;
    if (!gone) std::this_thread::sleep_for(5ms);
  }
  EXPECT_TRUE(gone);
}

TEST(Process, RunsOnTheCpusItIsGiven) {
  const TestFolder folder;
  const std::vector<int> usable = usable_cpus();
  ASSERT_FALSE(usable.empty());
  ProcessSettings settings = shell("grep Cpus_allowed_list /proc/self/status");
  settings.log = folder / "log.txt";
  settings.cpus = {usable.back()};
  Process process(settings);
  wait_until_ended(process);
  EXPECT_THAT(read_text(folder / "log.txt"), HasSubstr("\t" + std::to_string(usable.back()) + "\n"));
}

TEST(Process, HasNoMoreMemoryThanItMayTake) {
  // tail keeps the bytes that it may have to print.
  ProcessSettings settings = shell("head -c 200000000 /dev/zero | tail -c 200000000 >/dev/null");
  settings.memory_limit = 50'000'000;
  Process process(settings);
  wait_until_ended(process);
  EXPECT_NE(process.end().exit_status, 0);
}

TEST(Process, SaysWhyAProgramCannotBeStarted) {
  try {
    Process process({.command = {"/nonexistent/program"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/nonexistent/program: cannot be started: No such file or directory");
  }
}

TEST(Process, SpreadsItsMemoryOverTheNodesThatItIsGiven) {
  const TestFolder folder;
  if (read_text("/proc/self/numa_maps").empty()) GTEST_SKIP() << "the kernel does not tell";
  ProcessSettings settings = shell("head -1 /proc/self/numa_maps");
  settings.log = folder / "log.txt";
  settings.memory_nodes = {0};
  Process process(settings);
  wait_until_ended(process);
  EXPECT_THAT(read_text(folder / "log.txt"), HasSubstr(" interleave:0 "));
}

TEST(MemoryNodes, AreToldWhereTheCpusAreOnSeveral) {
  const TestFolder system;
  for (const char* file : {"node0/cpu0", "node0/cpu1", "node1/cpu2", "node2/cpu3", "possible"})
    system.write(file, "");
  EXPECT_THAT(memory_nodes_of({0, 2}, system.path()), testing::ElementsAre(0, 1));
  EXPECT_THAT(memory_nodes_of({3, 1}, system.path()), testing::ElementsAre(0, 2));
  EXPECT_TRUE(memory_nodes_of({0, 1}, system.path()).empty()) << "one node needs no spreading";
  EXPECT_TRUE(memory_nodes_of({0, 2}, system / "none").empty());
}

}  // namespace
}  // namespace proxbench
