#include <gtest/gtest.h>
#include <malloc.h>

#include <exception>
#include <set>
#include <string>

#include "core/base/error.h"
#include "core/base/random.h"
#include "experiments/fuzz/mutate.h"
#include "experiments/fuzz/targets.h"

namespace proxbench {
namespace {

constexpr int kMutations = 10'000;

class MutationTest : public testing::TestWithParam<std::string> {};

/// The outcome of feeding the input: "read", "refused: ..." or "DEFECT: ...".
std::string outcome(const FuzzTarget& target, const std::string& input) {
  try {
    target.feed(input);
    return "read";
  } catch (const Error& error) {
    return std::string("refused: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("DEFECT: ") + error.what();
  }
}

TEST_P(MutationTest, SeedsAreReadOrRefused) {
  const FuzzTarget& target = fuzz_target(GetParam());
  const std::vector<std::string> seeds = target.seeds();
  EXPECT_EQ(outcome(target, seeds.front()), "read");
  for (const std::string& seed : seeds) EXPECT_FALSE(outcome(target, seed).starts_with("DEFECT")) << seed;
}

TEST_P(MutationTest, MutationsOfValidInputAreReadOrRefused) {
  // malloc() keeps freed line buffers. Otherwise it would request and release them for each file, which takes
  // most of the time.
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 27);
  const FuzzTarget& target = fuzz_target(GetParam());
  const std::vector<std::string> seeds = target.seeds();
  Random random(1);
  int read = 0;
  std::set<std::string> refusals;
  for (int i = 0; i < kMutations; ++i) {
    const std::string input = mutate(seeds, random);
    const std::string end = outcome(target, input);
    ASSERT_FALSE(end.starts_with("DEFECT")) << "mutation " << i << ": " << end << "\n" << input;
    if (end == "read")
      ++read;
    else
      refusals.insert(end);
  }
  // Some mutations are read, and others are refused for many different reasons.
  EXPECT_GT(read, kMutations / 100);
  EXPECT_GT(refusals.size(), 20u);
}

TEST_P(MutationTest, GrownInputIsReadOrRefused) {
  constexpr int kGrown = 5;
  constexpr std::size_t kBytes = 100'000;
  const FuzzTarget& target = fuzz_target(GetParam());
  Random random(2);
  for (int i = 0; i < kGrown; ++i) {
    const std::string input = grow(target.seeds(), kBytes, random);
    const std::string end = outcome(target, input);
    ASSERT_FALSE(end.starts_with("DEFECT")) << "input " << i << ": " << end << "\n" << input.substr(0, 1000);
  }
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const FuzzTarget& target : fuzz_targets()) out.push_back(target.name);
  return out;
}

INSTANTIATE_TEST_SUITE_P(Readers, MutationTest, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

TEST(Mutate, GrowsOneLineOverManyNumbers) {
  Random random(3);
  const std::string text = grow({"line\n"}, 100, random);
  EXPECT_LE(text.size(), 100u);
  EXPECT_GT(text.size(), 80u);
  EXPECT_EQ(text.substr(0, 5), "line\n");
  for (const char* number : {"0", "1", "9"}) EXPECT_NE(text.find(number), text.npos);
}

TEST(Mutate, GivesTheSameForTheSameSeed) {
  const std::vector<std::string> texts = {"a = 1\nb = 2\n", "c\n"};
  Random first(7), second(7), other(8);
  std::string one, two, three;
  for (int i = 0; i < 20; ++i) {
    one += mutate(texts, first);
    two += mutate(texts, second);
    three += mutate(texts, other);
  }
  EXPECT_EQ(one, two);
  EXPECT_NE(one, three);
}

}  // namespace
}  // namespace proxbench
