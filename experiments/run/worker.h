#pragma once
/// The work of one process: one run, from data files to results in a folder. sweep.h starts these processes.

namespace proxbench {

/// The program `proxbench-worker RECORD.json FOLDER`: makes the run of the record and returns an exit status
/// of job.h. Writes into the folder
///
///     trace.csv      line by line as samples are taken; a kill loses at most the current line
///     model.tsv      the model, if there is one; for a path, the model of the last point
///     path.csv, model-NUMBER.tsv   for a path, one line and one model as each point is done (path_columns())
///     manifest.json  the record with its results; written last
///
/// A job without a solver writes only manifest.json: the facts of the data, and their Dataset::notes as
/// "training data: WHAT" and "test data: WHAT". If the job fails, the manifest says so. SIGTERM and SIGINT
/// ask the solver to stop.
int worker_main(int argc, char** argv);

}  // namespace proxbench
