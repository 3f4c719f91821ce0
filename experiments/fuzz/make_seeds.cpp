/// make_seeds FOLDER: writes the seeds of all fuzz targets to FOLDER/TARGET/NUMBER.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "experiments/fuzz/targets.h"

namespace proxbench {
namespace {

void write_seeds(const std::filesystem::path& folder) {
  for (const FuzzTarget& target : fuzz_targets()) {
    std::filesystem::create_directories(folder / target.name);
    const std::vector<std::string> seeds = target.seeds();
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      const std::filesystem::path path = folder / target.name / std::to_string(i);
      std::ofstream out(path, std::ios::binary);
      out << seeds[i];
      if (!out.flush()) throw Error("cannot write " + path.string());
    }
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
