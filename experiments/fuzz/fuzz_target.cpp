/// One libFuzzer program for each target. PROXBENCH_FUZZ_TARGET is the target's name.
#include <cstddef>
#include <cstdint>

#include "core/base/error.h"
#include "experiments/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const proxbench::FuzzTarget& target = proxbench::fuzz_target(PROXBENCH_FUZZ_TARGET);
  try {
    target.feed({reinterpret_cast<const char*>(data), size});
  } catch (const proxbench::Error&) {
    // The input is bad, and the reader said so.
  }
  return 0;
}
