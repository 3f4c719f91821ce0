/// make_seeds FOLDER writes the seeds of all fuzz targets to FOLDER/TARGET/NUMBER, and large inputs grown
/// from them to FOLDER/TARGET-grown/NUMBER.
#include <cstdio>
#include <exception>
#include <fstream>

#include "core/base/error.h"
#include "core/base/random.h"
#include "experiments/base/paths.h"
#include "experiments/fuzz/mutate.h"
#include "experiments/fuzz/targets.h"

namespace proxbench {
namespace {

constexpr std::size_t kGrown = 12;            ///< for each target
constexpr std::size_t kGrownBytes = 250'000;  ///< enough for a quadratic reader to exceed its time

void write(const fs::path& folder, const std::vector<std::string>& inputs) {
  fs::create_directories(folder);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const fs::path path = folder / std::to_string(i);
    std::ofstream out(path, std::ios::binary);
    out << inputs[i];
    if (!out.flush()) throw Error("cannot write " + path.string());
  }
}

void write_seeds(const fs::path& folder) {
  for (const FuzzTarget& target : fuzz_targets()) {
    const std::vector<std::string> seeds = target.seeds();
    write(folder / target.name, seeds);
    Random random(1);
    std::vector<std::string> grown;
    for (std::size_t i = 0; i < kGrown; ++i) grown.push_back(grow(seeds, kGrownBytes, random));
    write(folder / (target.name + "-grown"), grown);
  }
}

}  // namespace
}  // namespace proxbench

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  try {
    proxbench::write_seeds(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_seeds: error: %s\n", error.what());
    return 1;
  }
}
