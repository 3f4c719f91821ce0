#pragma once
/// Curves of stored runs against time, oracle calls, parameter updates or iterations, drawn by gnuplot:
/// relative objective difference and number of nonzeros as in Figures 1 to 6 and 8 of Zhong et al. 2014, test
/// accuracy (Figure 7), and the certified gap, which needs no f*; suboptimality on the scale of the mean loss
/// and test errors as in Figures 4, 6 and 7 of Le Priol et al. 2018, and what a dual solver takes its gap for
/// (Figure 9).

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/results.h"

namespace proxbench {

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
/// (nnz = 0, a difference <= kDifferenceFloor) leaves a gap; a run that goes below its f* is named under the
/// plot. Where curves go below the accuracy to which f* is known, reference_bound(), a dotted line marks it
/// over a grey ground, on which curves are faint and soon cut off: with min F in [f* - bound, f*], a
/// difference d there says no more than that the true one is in [d, d + bound]. A run that failed is in no
/// median: it is drawn as far as its trace goes, ended by a cross, and named under the plot. Titles of data
/// whose description says "synthetic" begin with SYNTHETIC DATA.
///
/// With `allow_not_comparable` what is not comparable is drawn against seconds, too; the titles then begin
/// with NOT COMPARABLE. Returns the .png files. Throws Error (kUsage) when there are no runs, an x or a
/// quantity is unknown, or timings that are not comparable are asked for, and Error (kRun) when gnuplot is
/// missing or fails; scripts and data are kept then.
std::vector<std::filesystem::path> make_curves(const std::vector<Run>& runs,
                                               const std::filesystem::path& figures,
                                               const PlotConfig& plot = {},
                                               bool allow_not_comparable = false);

}  // namespace proxbench
