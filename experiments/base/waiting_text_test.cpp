#include "experiments/base/waiting_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "experiments/base/test_folder.h"

namespace proxbench {
namespace {

namespace fs = std::filesystem;

TEST(WaitingText, IsCopiedAndStaysForTheReader) {
  const TestFolder folder;
  const std::string pipe = folder / "pipe", all = "a b\nc d\nhalf a line";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int end = ::open(pipe.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::write(end, all.data(), all.size()), static_cast<ssize_t>(all.size()));
  {
    const WaitingText waiting(pipe);
    EXPECT_EQ(waiting.text(), "a b\nc d\n") << "whole lines";
  }
  std::string read(100, ' ');
  read.resize(static_cast<std::size_t>(::read(end, read.data(), read.size())));
  EXPECT_EQ(read, all);
  ::close(end);
}

TEST(WaitingText, IsEmptyUnlessTheTextCanBeReadOnlyOnce) {
  const TestFolder folder;
  folder.write("file", "a\nb\n");
  for (const fs::path& path : {fs::path("/dev/null"), folder.path(), folder / "none", folder / "file"})
    EXPECT_EQ(WaitingText(path).text(), "") << path;
}

}  // namespace
}  // namespace proxbench
