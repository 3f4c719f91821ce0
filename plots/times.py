"""Times to targets: the one place that knows intervals A-B, "?" and the accuracy of f*.

The time to a target is that of the first sample with (F - f*)/|f*| <= target. The run got there between the sample
before and this one, so a cost is a range: more than `from` and at most `to`. `to` is infinite if no sample reached the
target, and NaN if there is no f*. If f* is less exact than the target, costs to it are unknown ("?").
"""
import math

import numpy as np

from ..errors import require_known

COSTS = {"seconds": "seconds", "passes": "passes", "updates": "updates", "iterations": "iteration"}  # their columns
WIDE = 0.1  # one number would claim too much if the ends of a range differ by more than this share of it
ROUNDING = 1e-15  # relative, of F
UNPROVEN = "?"


def relative_difference(objective, reference):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(np.subtract(objective, reference), np.abs(reference))


def reference_bound(run):
    """A bound on (f* - min F)/f*, the smaller of the certified gap and 2*kkt/lambda; NaN if neither is known.

    F is convex, so F(w) - min F <= kkt*(||w||_1 + ||w*||_1), and lambda*||w||_1 <= F(w).
    """
    kkt, zero, gap = (math.nan if run[name] is None else run[name] for name in (
        "reference_relative_kkt", "reference_kkt_at_zero", "reference_relative_gap"))
    by_kkt = 2.0 * kkt * zero / run["_lambda"] if run["_lambda"] else (
        math.nan if math.isnan(kkt * zero) or kkt * zero == 0 else math.inf)
    bound = float(np.fmin(by_kkt, gap))
    return bound if math.isnan(bound) else max(bound, ROUNDING)


def is_wide(begin, end):
    return end - begin > WIDE * abs(end)


def unproven(target, accuracy):
    return target < accuracy


def cost_to_target(sweep, run, target, cost):
    """(from, to) of one run; `cost` is a key of COSTS."""
    difference = sweep.trace(run, "relative_difference")
    if run["reference_objective"] is None:
        return math.nan, math.nan
    reached = difference <= target
    first = int(reached.argmax()) if len(reached) else 0
    if not len(reached) or not reached[first]:
        return math.inf, math.inf
    paid = sweep.trace(run, COSTS[cost])
    return float(paid[max(first - 1, 0)]), float(paid[first])


def seconds_text(value):
    """Three digits, at most two of them after the point; two digits of what is below 0.1."""
    if math.isnan(value):
        return "-"
    if math.isinf(value):
        return "never"
    if 0 < value < 0.095:
        return f"{value:#.2g}"
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def range_text(begin, end, text=seconds_text):
    return f"{text(begin)}-{text(end)}" if is_wide(begin, end) else text(end)


def table(sweep, targets, costs=("seconds", "passes")):
    """A frame with a row per run, cost and target: `from`, `to`, whether the range is `wide`, whether f* is `exact`
    enough for the target, and a `text` as tables show it."""
    import pandas as pd

    for cost in costs:
        require_known("costs", cost, list(COSTS))
    rows = []
    for run in sweep.single:
        for target in targets:
            exact = not unproven(target, run["reference_accuracy"])
            for cost in costs:
                begin, end = cost_to_target(sweep, run, target, cost)
                rows.append([run["index"], run["dataset"], run["lambda"], run["mu"], run["label"], run["repetition"],
                             cost, target, begin, end, bool(is_wide(begin, end)), exact,
                             range_text(begin, end) if exact else UNPROVEN])
    return pd.DataFrame(rows, columns=["run", "dataset", "lambda", "mu", "label", "repetition", "cost", "target",
                                       "from", "to", "wide", "exact", "text"])


# ---- statistics over repetitions and problems

def quantile(ordered, p):
    """By linear interpolation (type 7 of Hyndman and Fan 1996). Infinite if it would interpolate towards infinity."""
    if not len(ordered):
        return math.nan
    h = (len(ordered) - 1) * p
    below = int(h)
    weight = h - below
    if weight == 0.0 or ordered[below] == ordered[below + 1]:
        return ordered[below]
    return ordered[below] + weight * (ordered[below + 1] - ordered[below])


def spread(values):
    """Median, quartiles, extremes and number of the values that were measured."""
    ordered = sorted(float(value) for value in values if not math.isnan(value))
    return {"median": quantile(ordered, 0.5), "q25": quantile(ordered, 0.25), "q75": quantile(ordered, 0.75),
            "min": quantile(ordered, 0.0), "max": quantile(ordered, 1.0), "n": len(ordered),
            "reached": sum(map(math.isfinite, ordered))}


def shifted_geometric_mean(values, shift):
    """exp(mean(log(x + shift))) - shift: neither the longest nor the shortest costs dominate it."""
    if not values:
        return math.nan
    total = 0.0
    for value in values:
        total += math.log(value + shift) if not math.isinf(value) else value
    return math.exp(total / len(values)) - shift if not math.isinf(total) else math.inf
