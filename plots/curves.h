#pragma once
/// Draws curves of stored runs with gnuplot, against time, oracle calls, parameter updates or iterations. As
/// in Zhong et al. 2014, it shows the relative objective difference and the number of nonzeros (Figures 1 to
/// 6 and 8) and test accuracy (Figure 7). It also shows the certified gap, which needs no f*. As in Le Priol
/// et al. 2018, it shows suboptimality on the scale of the mean loss, test errors (Figures 4, 6 and 7), and
/// the gap that a dual solver estimates (Figure 9).

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/config/config.h"
#include "experiments/results/results.h"

namespace proxbench {

/// Writes these figures below `figures` (made if it is missing), for each (dataset, lambda, mu, loss) of the
/// runs. For a hinge loss, DATASET is DATASET-hinge-COST.
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
/// then begin with NOT COMPARABLE. Returns the .png files. Throws Error (kUsage) if there are no runs, if an
/// x or a quantity is unknown, or if timings that are not comparable are asked for. Throws Error (kRun) if
/// gnuplot is missing or fails; scripts and data are kept then.
std::vector<std::filesystem::path> make_curves(const std::vector<Run>& runs,
                                               const std::filesystem::path& figures,
                                               const PlotConfig& plot = {},
                                               bool allow_not_comparable = false);

}  // namespace proxbench
