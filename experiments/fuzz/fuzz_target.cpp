/// One libFuzzer program a target: PROXBENCH_FUZZ_TARGET is its name.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/error.h"
#include "experiments/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const proxbench::FuzzTarget& target = proxbench::fuzz_target(PROXBENCH_FUZZ_TARGET);
  try {
    target.feed({reinterpret_cast<const char*>(data), size});
  } catch (const proxbench::Error&) {
    // Bad input, and told so.
  }
  return 0;
}
