#include "solvers/prox_qn/models/single_kernels.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/kernels/instruction_set_test.h"
#include "core/base/random.h"

namespace proxbench {
namespace {

class SingleKernelsTest : public EachInstructionSet {};
PROXBENCH_ON_EACH_INSTRUCTION_SET(SingleKernelsTest);

TEST_P(SingleKernelsTest, ProductsAreThoseOfDoublesButForRounding) {
  const SingleKernels& kernels = single_kernels_for(GetParam());
  Random random(4);
  for (const std::size_t width : {16u, 32u, 48u, 64u, 80u, 256u})
    for (const std::size_t count : {0u, 1u, 4u, 7u, 50u}) {
      AlignedVector<float> rows(width * count), x(width), y(count + 1), out(count + 1, -1.0f),
          sum(width, 2.0f);
      for (auto* numbers : {&rows, &x, &y})
        for (float& number : *numbers) number = static_cast<float>(random.normal());
      kernels.rows_times(rows.data(), width, count, x.data(), out.data());
      kernels.combine_rows(rows.data(), width, count, y.data(), sum.data());
      for (std::size_t r = 0; r < count; ++r) {
        double exact = 0.0, size = 0.0;
        for (std::size_t k = 0; k < width; ++k) {
          exact += static_cast<double>(rows[r * width + k]) * x[k];
          size += std::abs(static_cast<double>(rows[r * width + k]) * x[k]);
        }
        EXPECT_NEAR(out[r], exact, 1e-6 * size);
      }
      EXPECT_EQ(out[count], -1.0f);
      for (std::size_t k = 0; k < width; ++k) {
        double exact = 2.0, size = 2.0;
        for (std::size_t r = 0; r < count; ++r) {
          exact += static_cast<double>(y[r]) * rows[r * width + k];
          size += std::abs(static_cast<double>(y[r]) * rows[r * width + k]);
        }
        EXPECT_NEAR(sum[k], exact, 4e-6 * size);
      }
    }
}

}  // namespace
}  // namespace proxbench
