#pragma once
/// The main function of a program that takes the job.json of a stored run.

#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>

#include "experiments/base/files.h"
#include "experiments/config/data_format.h"
#include "experiments/data/readers.h"
#include "experiments/run/job.h"
#include "experiments/run/read_data.h"
#include "experiments/run/trainer.h"

namespace proxbench {

/// Exit status: 0 done, 1 an error, told; 2 bad usage.
template <class Run>
int run_job_file(int argc, char** argv, const char* program, const Run& run) {
  if (argc != 2) {
    fmt::print(stderr, "usage: {} JOB.json\n", program);
    return 2;
  }
  try {
    run(job_from(nlohmann::json::parse(text_of(argv[1]))));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}

inline LoadedData data_of(const RunParameters& job) {
  const DataFormatInfo& format = data_format_registry().find(job.format);
  return LoadedData(read_data(format, job.files, options_from(format.options, job.data_options), job.oracle),
                    Parallel(job.threads, parse_backend(job.backend)));
}

}  // namespace proxbench
