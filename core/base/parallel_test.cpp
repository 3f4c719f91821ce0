#include "core/base/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "core/base/error.h"

namespace proxbench {
namespace {

class EachTeam : public testing::TestWithParam<std::tuple<Backend, int>> {
 protected:
  Parallel parallel_{std::get<1>(GetParam()), std::get<0>(GetParam())};
};

TEST_P(EachTeam, RunsEveryChunkOnce) {
  std::vector<std::atomic<int>> runs(1000);
  parallel_.for_each(runs.size(), [&](std::size_t chunk) { ++runs[chunk]; });
  for (const auto& count : runs) EXPECT_EQ(count, 1);
  parallel_.for_each(0, [](std::size_t) { FAIL() << "no chunk, no call"; });
}

TEST_P(EachTeam, PassesAnExceptionOn) {
  try {
    parallel_.for_each(100, [](std::size_t chunk) {
      if (chunk == 37) throw Error("chunk 37");
    });
    FAIL() << "the exception was lost";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "chunk 37");
  }
}

INSTANTIATE_TEST_SUITE_P(Teams, EachTeam,
                         testing::Combine(testing::Values(Backend::kOpenMP, Backend::kTBB),
                                          testing::Values(1, 2, 7)));

TEST(Parallel, RefusesNoThreadsAndUnknownBackEnds) {
  EXPECT_THROW(Parallel(0), Error);
  try {
    parse_backend("openmpi");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean 'openmp'"));
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  }
}

TEST(Chunks, CoverTheRangeInOrder) {
  for (const std::size_t n : {0u, 1u, 9u, 10u, 11u}) {
    const Chunks chunks{n, 5};
    std::size_t covered = 0;
    for (std::size_t c = 0; c < chunks.count(); ++c) {
      EXPECT_EQ(chunks.begin(c), covered);
      EXPECT_GT(chunks.end(c), covered);
      covered = chunks.end(c);
    }
    EXPECT_EQ(covered, n);
  }
}

}  // namespace
}  // namespace proxbench
