"""Times to targets: the one place that knows intervals A-B, "?" and the accuracy of f*.

The time to a target is that of the first sample with (F - f*)/|f*| <= target. The run got there between the sample
before and this one, so a cost is a range: more than `from` and at most `to`. `to` is infinite if no sample reached the
target, and NaN if there is no f*. If f* is less exact than the target, costs to it are unknown ("?").
"""
import math

import numpy as np
import pandas as pd

from ..errors import UsageError, require_known

COSTS = {"seconds": "seconds", "passes": "passes", "updates": "updates", "iterations": "iteration"}  # their columns
WIDE = 0.1  # one number would claim too much if the ends of a range differ by more than this share of it
ROUNDING = 1e-15  # relative, of F
UNPROVEN = "?"


def relative_difference(objective, reference):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.subtract(objective, reference) / np.abs(reference)


def reference_bound(runs):
    """A bound on (f* - min F)/f* of each run; NaN if none is known. References of earlier versions have only the gap."""
    return np.maximum(runs["reference_relative_bound"].fillna(runs["reference_relative_gap"]), ROUNDING)


def is_wide(begin, end):
    with np.errstate(invalid="ignore"):
        return np.subtract(end, begin) > WIDE * np.abs(end)


def table(sweep, targets, costs):
    """A frame with a row per run, target (default: the config's) and cost: `from`, `to`, whether the range is `wide`,
    whether f* is `exact` enough for the target, and a `text` as tables show it."""
    targets = sweep.config.targets if targets is None else targets
    for cost in costs:
        require_known("costs", cost, list(COSTS))
    if not targets:
        raise UsageError.at("targets", "none", "at least one")
    who = sweep.single[["run", "dataset", "lambda", "mu", "label", "repetition", "reference_accuracy"]]
    known, samples, parts = sweep.single.reference_objective.notna(), sweep.samples, []
    for target in targets:
        first = samples[samples.relative_difference <= target].drop_duplicates("run")
        for cost in costs:
            paid = samples[COSTS[cost]].astype(float)
            before = paid.shift().where(samples.run == samples.run.shift(), paid)
            ends = pd.DataFrame({"from": before, "to": paid}).loc[first.index].set_index(first["run"])
            parts.append(who.assign(cost=cost, target=target).join(
                ends.reindex(who.index, fill_value=np.inf).where(known)))
    out = pd.concat(parts).sort_values("run", kind="stable", ignore_index=True)
    out["wide"] = is_wide(out["from"], out["to"])
    out["exact"] = ~(out.target < out.pop("reference_accuracy"))
    out["text"] = list(map(range_text, out["from"], out["to"]))
    out.loc[~out.exact, "text"] = UNPROVEN
    return out


# ---- texts

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


# ---- statistics over repetitions and problems

def quantile(ordered, p):
    """By linear interpolation (type 7 of Hyndman and Fan 1996) along the first axis of ordered values. Infinite if it
    would interpolate towards infinity."""
    h = (len(ordered) - 1) * p
    low, high = ordered[math.floor(h)], ordered[math.ceil(h)]
    with np.errstate(invalid="ignore"):
        return np.where(low == high, low, low + (h - math.floor(h)) * (high - low))


def spread(values):
    """Median, quartiles, extremes and number of the values that were measured."""
    ordered = np.sort(np.asarray(values, float))
    ordered = ordered[~np.isnan(ordered)]
    quantiles = {name: float(quantile(ordered, p)) if len(ordered) else math.nan for name, p in (
        ("median", 0.5), ("q25", 0.25), ("q75", 0.75), ("min", 0.0), ("max", 1.0))}
    return {**quantiles, "n": len(ordered), "reached": int(np.isfinite(ordered).sum())}
