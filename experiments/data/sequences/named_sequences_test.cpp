#include "experiments/data/sequences/named_sequences.h"

#include <gtest/gtest.h>

#include <string>

namespace proxbench {
namespace {

TEST(NameIndex, NumbersNamesInOrderOfFirstAppearance) {
  constexpr Index kNames = 5000;
  NameIndex index;
  EXPECT_EQ(index.find("0"), std::nullopt);
  for (Index i = 0; i < kNames; ++i) {
    EXPECT_EQ(index.intern(std::to_string(i)), i);
    EXPECT_EQ(index.intern(std::to_string(i / 2)), i / 2) << "known already";
    EXPECT_EQ(index.find(std::to_string(i + 1)), std::nullopt);
  }
  ASSERT_EQ(index.names().size(), kNames);
  for (Index i = 0; i < kNames; ++i) {
    EXPECT_EQ(index.names()[i], std::to_string(i));
    EXPECT_EQ(index.find(std::to_string(i)), i);
  }
}

TEST(NameIndex, TakesEveryText) {
  NameIndex index;
  const std::string with_zero("a\0b", 3);
  EXPECT_EQ(index.intern(""), 0u);
  EXPECT_EQ(index.intern(with_zero), 1u);
  EXPECT_EQ(index.intern("a"), 2u);
  EXPECT_EQ(index.find(with_zero), 1u);
  EXPECT_EQ(index.find(""), 0u);
}

TEST(NameIndex, CopiesKnowTheSameNames) {
  NameIndex index;
  index.intern("x");
  NameIndex copy = index;
  copy.intern("y");
  EXPECT_EQ(copy.find("x"), 0u);
  EXPECT_EQ(copy.find("y"), 1u);
  EXPECT_EQ(index.find("y"), std::nullopt);
}

}  // namespace
}  // namespace proxbench
