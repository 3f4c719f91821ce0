#pragma once
/// The kinds of figures. Each has a source of its own, and makes charts (plots/chart.h) from stored results.

#include <filesystem>
#include <vector>

#include "experiments/base/table_text.h"
#include "experiments/config/config.h"
#include "experiments/results/scaling_model.h"
#include "experiments/results/theory_record.h"
#include "plots/chart.h"

namespace proxbench {

// ---- curves
//
// Draws curves of stored runs with gnuplot, against time, oracle calls, parameter updates or iterations. As
// in Zhong et al. 2014, it shows the relative objective difference and the number of nonzeros (Figures 1 to
// 6 and 8) and test accuracy (Figure 7). It also shows the certified gap, which needs no f*. As in Le Priol
// et al. 2018, it shows suboptimality on the scale of the mean loss, test errors (Figures 4, 6 and 7), and
// the gap that a dual solver estimates (Figure 9).

/// Returns these figures for each (dataset, lambda, mu, loss) of the runs. For a hinge loss, DATASET is
/// DATASET-hinge-COST.
///
///     DATASET-lambdaLAMBDA-objective   (f - f*)/f*, log axis; if a run has f* (with mu > 0
///                                      DATASET-lambdaLAMBDA-muMU-objective, and so on)
///     DATASET-lambdaLAMBDA-nnz         nonzeros of w, log axis
///     DATASET-lambdaLAMBDA-accuracy    accuracy per test position; if a run measured it
///     DATASET-lambdaLAMBDA-gap         (f - lower bound)/f, log axis; if a run measured it
///     DATASET-lambdaLAMBDA-suboptimality       (f - f*)/n, log axis
///     DATASET-lambdaLAMBDA-dual                (f* - lower bound)/f*, log axis
///     DATASET-lambdaLAMBDA-mean-gap            (f - lower bound)/n, log axis
///     DATASET-lambdaLAMBDA-gap-estimate        estimated_gap/dual_gap of the trace, log axis
///     DATASET-lambdaLAMBDA-gap-infeasibility   (dual_gap + infeasibility)/n of the trace, log axis;
///                                              infeasibility is 0 for feasible dual variables
///     DATASET-lambdaLAMBDA-error, -structure-error, -chunk-f1   by position, by structure, of chunks
///
/// Each figure is against seconds (names that end in -logx have a log axis), or, with -passes, -updates or
/// -iterations appended to the name, against oracle calls / n, parameter updates / n or iterations. Each is
/// written as .svg, .pdf and .png, with its data (.tsv: every sample, drawn or not, then the corners of the
/// steps) and its script (.gp, to be run in its own folder: `gnuplot NAME.gp`). Every curve is a step
/// function: a value holds up to the next sample, since nothing is known in between. A label has one colour
/// in all figures, and dashes distinguish machines. A value that a log axis cannot show (nnz = 0, a
/// difference <= kDifferenceFloor) leaves a gap. A run that goes below its f* is named under the plot. A
/// dotted line marks the accuracy of f*, reference_bound(), if curves go below it. The ground below this line
/// is grey, and curves on it are faint and soon cut off: with min F in [f* - bound, f*], a difference of d
/// there only says that the true one is in [d, d + bound]. A failed run is part of no median. It is drawn as
/// far as its trace goes, ends with a cross, and is named under the plot. Titles begin with SYNTHETIC DATA if
/// the data's description says "synthetic".
///
/// With `allow_not_comparable`, timings that are not comparable are drawn against seconds too, and titles
/// then begin with NOT COMPARABLE. Throws Error (kUsage) if there are no runs, if an x or a quantity is
/// unknown, or if timings that are not comparable are asked for.
std::vector<Chart> curve_charts(const std::vector<Run>& runs, const PlotConfig& plot = {},
                                bool allow_not_comparable = false);

// ---- paths
//
// Draws regularisation paths.

/// Returns for each data set with a path the figures
///
///     path-DATASET-nnz, -objective, -accuracy, -seconds
///     path-DATASET-mu-nnz, ...        for paths over mu
///
/// (with a fixed part above 0, path-DATASET-mu0.1-nnz and path-DATASET-mu-lambda1-nnz),
///
/// against lambda or mu, on a log axis with the largest value on the left. There is a line for each solver
/// or, if a data set has several paths, for each path of each solver. Only the first of several repetitions
/// is drawn. A figure with nothing to show is omitted: accuracy without test data, and seconds that are not
/// comparable. If those are allowed, the title says so.
std::vector<Chart> path_charts(const std::vector<Run>& paths, bool allow_not_comparable = false);

// ---- profiles
//
// Draws comparisons of solvers over many problems with gnuplot: performance profiles (Dolan and More,
// "Benchmarking optimization software with performance profiles", 2002) and the fixed-target distributions
// of COCO (Hansen et al., "COCO: performance assessment", 2016). They are defined in
// experiments/results/statistics.h, and problems in experiments/results/tables/problem_set.h.

/// Returns these figures if plot.kinds has profile or ecdf:
///
///     profile-TARGET   rho_s(tau): share of problems on which solver s reaches the target within tau
///                      times the cost of the best solver; log axis. A failure has an infinite ratio.
///     ecdf             share of (problem, target) pairs, over all targets, that solver s reaches
///                      within a cost; log axis
///
/// for each cost of plot.x. Names get -passes, -updates or -iterations appended for costs other than seconds,
/// and -MACHINE if seconds were measured on several machines. Each figure is written as .svg, .pdf and .png,
/// with its data (.tsv: the corners of the steps) and its script (.gp). A label has the same colour as in
/// curves of the same runs. Problems on which not all solvers were run do not count, and are named under the
/// plot.
///
/// Throws Error (kUsage) if an option is wrong, if timings that are not comparable are asked for, or if no
/// problem is left.
std::vector<Chart> profile_charts(const std::vector<Run>& runs, const PlotConfig& plot,
                                  const std::vector<double>& targets = default_targets(),
                                  bool allow_not_comparable = false);

// ---- scaling
//
// Draws with gnuplot how a run scales with threads.

/// Returns one figure for each problem: "scale", or "scale-PROBLEM" if there are several. It
/// shows the speed-up of each phase against threads with the ideal line, the efficiency beside it, and below
/// them the time of all phases as bars. Solid lines and plain bars show the first back end, dashed lines and
/// hatched bars the second. Phases that take less than 1 % of the time at 1 thread have no line.
std::vector<Chart> scaling_charts(const std::vector<ScalingProblem>& problems);

// ---- theory
//
// Figures and tables of the convergence of solvers, by the theory of Zhong et al. (2014). They show
// theory.json of a results folder, which scripts/theory makes.

/// Reads theory.json of the folder; returns nothing if there is none. Throws Error (kInput) if the file is
/// something else.
std::vector<TheoryProblem> read_theory(const std::filesystem::path& results);

/// Returns the figure theory-DATASET-LAMBDA for each problem: error, its ratio and the Dennis-More ratio of
/// every arm against iterations.
std::vector<Chart> theory_charts(const std::vector<TheoryProblem>& problems);

/// Returns a table of the arms' convergence with one row per arm, and one of the Hessians at the optima with
/// one row per problem.
std::vector<TextTable> theory_tables(const std::vector<TheoryProblem>& problems);

}  // namespace proxbench
