#pragma once
/// The work of one process: one run, from data files to results in a folder. The runner is in sweep.h.

#include <atomic>
#include <filesystem>

#include "experiments/results/fields.h"

namespace proxbench {

/// Does the job and writes, into the folder,
///
///     trace.csv    line by line as samples are taken, so that a kill loses at most the line being written
///     model.tsv    where there is one
///     path.csv, model-NUMBER.tsv   of a path: line by line, and a model each, as points are done;
///                  see results/path_file.h; model.tsv is the last one's
///     result.json  the result (result_json() of results/fields.h); the last to be written
///
/// A job without a solver leaves only result.json, with the facts of the data and their notes {train, test}.
/// Throws Error where the data cannot be read or the solver fails.
void do_job(const RunParameters& job, const std::filesystem::path& folder,
            const std::atomic<bool>& interrupt);

/// The program `proxbench-worker JOB.json FOLDER`: do_job(), with the exit statuses of job.h and, where it
/// fails, a result.json with "status" and "reason". SIGTERM and SIGINT ask the solver to stop.
int worker_main(int argc, char** argv);

}  // namespace proxbench
