#pragma once
/// The main functions of programs that take the manifests of stored runs.

#include <fmt/format.h>

#include <exception>
#include <utility>
#include <vector>

#include "experiments/config/data_format.h"
#include "experiments/data/readers.h"
#include "experiments/results/results.h"
#include "experiments/run/job.h"
#include "experiments/run/read_data.h"
#include "experiments/run/trainer.h"

namespace proxbench {

/// run(jobs) of one or more. Exit status: 0 done; 1 an error, told; 2 bad usage.
template <class Do>
int run_job_files(int argc, char** argv, const char* program, const Do& run, bool one = false) {
  if (argc < 2 || (one && argc > 2)) {
    fmt::print(stderr, "usage: {} MANIFEST.json{}\n", program, one ? "" : "...");
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

/// run(job) of one.
template <class Do>
int run_job_file(int argc, char** argv, const char* program, const Do& run) {
  return run_job_files(
      argc, argv, program, [&](const std::vector<RunParameters>& jobs) { run(jobs.front()); }, true);
}

inline LoadedData data_of(const RunParameters& job) {
  const DataFormatInfo& format = data_format_registry().find(job.format);
  return LoadedData(read_data(format, job.files, options_from(format.options, job.data_options), job.oracle),
                    Parallel(job.threads, parse_backend(job.backend)));
}

}  // namespace proxbench
