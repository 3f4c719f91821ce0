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
///                  see path_columns(); model.tsv is the last one's
///     manifest.json  the record with its results; the last to be written
///
/// A job without a solver leaves only manifest.json: the facts of the data, and what their readers noted as
/// the notes "training data: WHAT" and "test data: WHAT". Throws Error where the data cannot be read or the
/// solver fails.
void do_job(Run run, const std::filesystem::path& folder, const std::atomic<bool>& interrupt);

/// The program `proxbench-worker RECORD.json FOLDER`: do_job(), with the exit statuses of job.h. If it fails,
/// the manifest says so. SIGTERM and SIGINT ask the solver to stop.
int worker_main(int argc, char** argv);

}  // namespace proxbench
