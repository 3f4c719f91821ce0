#pragma once
/// The main function of programs that take the manifests of stored runs.

#include <fmt/format.h>

#include <exception>
#include <utility>
#include <vector>

#include "experiments/config/format_registry.h"
#include "experiments/data/readers.h"
#include "experiments/results/results.h"
#include "experiments/run/training.h"

namespace proxbench {

/// Calls run(jobs) with the jobs of 1 to `most` manifests. Exit status: 0 on success; 1 on an error, which is
/// printed; 2 on bad usage.
inline int run_job_files(int argc, char** argv, const char* program,
                         void (*run)(std::vector<RunParameters> jobs), int most) {
  if (argc < 2 || argc - 1 > most) {
    fmt::print(stderr, "usage: {} MANIFEST.json{}\n", program, most > 1 ? "..." : "");
    return 2;
  }
  try {
    std::vector<RunParameters> jobs;
    for (int i = 1; i < argc; ++i) jobs.push_back(read_record(argv[i]).parameters);
    run(std::move(jobs));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

}  // namespace proxbench
