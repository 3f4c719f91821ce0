#pragma once
/// Curves of stored runs against time, oracle calls, parameter updates or iterations, drawn by gnuplot:
/// relative objective difference and number of nonzeros as in Figures 1 to 6 and 8 of Zhong et al. 2014, test
/// accuracy (Figure 7), and the certified gap, which needs no f*; suboptimality on the scale of the mean loss
/// and test errors as in Figures 4, 6 and 7 of Le Priol et al. 2018, and what a dual solver takes its gap for
/// (Figure 9).

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/results/results.h"

namespace proxbench {

struct CurveOptions {
  /// What the curves are drawn against, each in figures of its own: seconds, passes, updates, iterations.
  std::vector<std::string> x{"seconds"};
  /// What is drawn, each in figures of its own: see make_curves().
  std::vector<std::string> quantities{"objective", "nnz", "accuracy"};
  std::vector<double>
      x_max{};               ///< where the axis of each x ends, 0: where the runs do; one for each x, or none
  bool log_seconds = false;  ///< seconds on a log axis; the names of these figures then end in "-logx"
  /// Relative objective differences at or below this are not drawn: they are rounding of the sums in F. > 0.
  double floor = 1e-12;
  /// Two or more repetitions: "band", their median as a line with a band from the 25 % to the 75 % quantile,
  /// or "lines", a line each. See repetition_band().
  std::string repetitions = "band";
  /// Draws against seconds also what is not comparable; the titles then begin with NOT COMPARABLE.
  bool allow_not_comparable = false;
};

/// The quartiles of several runs at one place of the horizontal axis.
struct BandPoint {
  double x, q25, median, q75;
};
/// One sample of a run: where it was taken and what was measured.
struct CurvePoint {
  double x, value;
};
/// Each trace is taken for a right-continuous step function: its value at x is that of the last sample at or
/// before x, also beyond its end, for a solver that stopped keeps its iterate. The quartiles (quantile()) are
/// those of these values at every x at which any run was sampled, from the first on at which all have a
/// value. Samples that were not measured are not among the points.
std::vector<BandPoint> repetition_band(const std::vector<std::vector<CurvePoint>>& traces);

/// For each (dataset, lambda, mu, loss; DATASET is then DATASET-hinge-COST) of the runs writes, below
/// `figures` (made where it is missing),
///
///     DATASET-lambdaLAMBDA-objective   (f - f*)/f*, log axis; where a run has f* (with mu > 0
///                                      DATASET-lambdaLAMBDA-muMU-objective, and so the others)
///     DATASET-lambdaLAMBDA-nnz         nonzeros of w, log axis
///     DATASET-lambdaLAMBDA-accuracy    accuracy per test position; where a run measured it
///     DATASET-lambdaLAMBDA-gap         (f - lower bound)/f, log axis; where a run measured it
///     DATASET-lambdaLAMBDA-suboptimality       (f - f*)/n, log axis
///     DATASET-lambdaLAMBDA-dual                (f* - lower bound)/f*, log axis
///     DATASET-lambdaLAMBDA-mean-gap            (f - lower bound)/n, log axis
///     DATASET-lambdaLAMBDA-gap-estimate        estimated_gap/dual_gap of the trace, log axis
///     DATASET-lambdaLAMBDA-gap-infeasibility   (dual_gap + infeasibility)/n of the trace, log axis: a solver
///     whose
///                                              dual variables are feasible has an infeasibility of 0
///     DATASET-lambdaLAMBDA-error, -structure-error, -chunk-f1   by position, by structure, of chunks
///
/// against seconds (names that end in -logx: on a log axis), and with these names followed by -passes (oracle
/// calls / n), -updates (parameter updates / n) or -iterations against those; each as .svg, .pdf and .png,
/// with the data (.tsv: every sample, also those not drawn, then the corners of the steps that are) and the
/// script (.gp, to be run in its own folder: `gnuplot NAME.gp`) beside them. Every curve is drawn as the step
/// function that its samples are: a value holds up to the next sample, since nothing is known in between. A
/// label has one colour in all figures, machines differ by their dashes. A value that a log axis cannot show
/// (nnz = 0, a difference <= floor) leaves a gap; a run that goes below its f* is named under the plot. Where
/// curves go below the accuracy to which f* is known, reference_bound(), a dotted line marks it over a grey
/// ground, on which curves are faint and soon cut off: with min F in [f* - bound, f*], a difference d there
/// says no more than that the true one is in [d, d + bound]. A run that failed is in no median: it is drawn
/// as far as its trace goes, ended by a cross, and named under the plot. Titles of data whose description
/// says "synthetic" begin with SYNTHETIC DATA.
///
/// Returns the .png files. Throws Error (kUsage) when there are no runs, an option is wrong, or timings that
/// are not comparable are asked for, and Error (kRun) when gnuplot is missing or fails; scripts and data are
/// kept then.
std::vector<std::filesystem::path> make_curves(const std::vector<Run>& runs,
                                               const std::filesystem::path& figures,
                                               const CurveOptions& options = {});

/// The names, without extension, of all figures that make_curves() can make of the runs, in the order of the
/// runs.
std::vector<std::string> curve_names(const std::vector<Run>& runs);

}  // namespace proxbench
