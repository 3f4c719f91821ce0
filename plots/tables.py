"""Tables of results: summary, costs of targets, sizes of data sets, means over problems, the paper's numbers."""
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..errors import ProxbenchError, UsageError, require_known
from ..fields import number_text
from . import times
from .problems import problem_sets
from .texts import Table, TableSet, cell, count, percent, scientific
from .times import seconds_text

FEW = 5  # with fewer repetitions, quartiles only show the spread that was seen
MOST_TARGETS = 4  # that fit a page
PAGE_COLUMNS = 9
ALL, PRINTED = "all", "printed"  # columns: all that have content; those of the page
OFF_PAGE = ("passes_to", "load_s", "setup_s", "warm_up_s", "sampling_s", "updates")
RATIO_TARGET = 1e-6
METRICS = "test_metrics."
GROUP = ["dataset", "penalty"]  # a table each
EXTERNAL = ("an external trainer, started repeatedly, each time to stop later; its times begin with its first "
            "iteration, unless they include load s.")


# ---- the columns of a summary

@dataclass
class Column:
    """A measurement with a form for its numbers; without one, a member of a row that is a text."""

    name: str
    head: str
    form: object = None
    target: float = math.inf

    @property
    def timed(self):
        return self.form is seconds_text

    def text(self, row):
        """E.g. "3.10 [2.95, 3.40]", or the median alone if the quartiles read the same; "- (1 of 2)" if the median is
        infinite and some repetitions got there."""
        if self.target < row["accuracy"]:
            return times.UNPROVEN
        if (self.timed or self.name == "ratio") and row["not_comparable"] and not row["timed"]:
            return "n/c"
        if not self.form:
            return row[self.name]
        end, begin = row["spreads"][self.name], row["spreads"].get(self.name + "_from")
        if math.isinf(end["median"]):
            return f"- ({end['reached']} of {end['n']})" if end["reached"] else "-"
        median, low, high = (cell(end[name], self.form) for name in ("median", "q25", "q75"))
        start = cell(begin["median"], self.form) + "-" if _wide(begin, end) else ""
        return start + (median if end["n"] < 2 or low == high else f"{median} [{low}, {high}]")


def _wide(begin, end):
    return begin is not None and bool(times.is_wide(begin["median"], end["median"]))


def cost_name(cost, target):
    return f"{cost}_to_{number_text(target)}"


def _cost_columns(cost, targets):
    seconds = cost == "seconds"
    form = seconds_text if seconds else ".1f"
    return [Column(cost_name(cost, one), f"{'s' if seconds else cost} to {one:g}", form, one) for one in targets]


def _columns(targets, metrics):
    share = lambda value: cell(100 * value, ".1f")  # noqa: E731
    return [Column("solver", "solver"), Column("status_text", "status"), Column("n", "n"),
            *_cost_columns("seconds", targets), Column("ratio", f"x fastest at {RATIO_TARGET:g}", None, RATIO_TARGET),
            *(Column(*one) for one in [
                ("final_difference", "final difference", scientific), ("nnz", "nnz", count),
                ("relative_kkt", "relative kkt", scientific), ("relative_gap", "relative gap", scientific),
                ("iterations", "iterations", count), ("passes", "passes", count), ("updates", "updates", count),
                ("seconds", "seconds", seconds_text), ("load_seconds", "load s", seconds_text),
                ("setup_seconds", "set-up s", seconds_text), ("warm_up_seconds", "warm-up s", seconds_text),
                ("sampling_seconds", "sampling s", seconds_text), ("test_accuracy", "test accuracy", ".4f"),
                *((name, "test " + name.removeprefix(METRICS), ".4f") for name in metrics)]),
            *_cost_columns("passes", targets), Column("function_share", "function %", share),
            Column("solver_share", "solver %", share)]


def _solver_share(phases):
    seconds = {phase["phase"]: phase["seconds"] for phase in phases or []}
    everything = sum(seconds.values())
    return seconds.get("solver", 0.0) / everything if everything > 0 else math.nan


def _measured(sweep, runs, columns, targets, allow_not_comparable):
    """The measurements of each run, costs with `_from`: NaN where a run failed, is not comparable, or f* is too
    inexact."""
    last = sweep.traces.filter(regex="^(run$|test_metrics)").groupby("run").tail(1).set_index("run")
    diverged = runs["objective"].isna() & runs["reference_objective"].notna()
    costs = sweep.times(sorted({*targets, RATIO_TARGET}))
    costs["name"] = [cost_name(cost, target) for cost, target in zip(costs["cost"], costs["target"])]
    costs = costs[costs["exact"]].pivot(index="run", columns="name", values=["to", "from"])
    costs.columns = [name + ("_from" if side == "from" else "") for side, name in costs.columns]
    shares = runs["phases"].map(_solver_share)
    out = runs.drop(columns=list(last), errors="ignore").join([last, costs]).assign(
        final_difference=runs["relative_difference"].where(~diverged, math.inf), solver_share=shares,
        function_share=1.0 - shares)
    timed = [cost_name("seconds", RATIO_TARGET), *(one.name for one in columns if one.timed)]
    names = dict.fromkeys([*timed[:1], *(one.name for one in columns if one.form)])
    out = out.reindex(columns=[*names, *(name + "_from" for name in names if "_to_" in name)]).astype(float)
    if not allow_not_comparable:
        out.loc[~runs["comparable"], [name for name in out if name.removesuffix("_from") in timed]] = math.nan
    out[runs["failed"]] = math.nan
    return out


# ---- its rows

def _row(label, runs, values, allow_not_comparable):
    """One solver on one problem; `spreads` are over the repetitions that did not fail."""
    good, bad = runs[~runs["failed"]], runs["status"][runs["failed"]].value_counts(sort=False).sort_index()
    ending = "/".join(good["status"].unique())
    failures = ", ".join(f"{n} of {len(runs)} {status}" for status, n in bad.items())
    timed = len(good) if allow_not_comparable else int(good["comparable"].sum())
    spreads = {name: times.spread(values.loc[runs.index, name]) for name in values}
    best, begin = (spreads[cost_name("seconds", RATIO_TARGET) + end] for end in ("", "_from"))
    return {"solver": label, "runs": runs, "first": runs.iloc[0], "machine": runs["machine"].iloc[0],
            "accuracy": runs["reference_accuracy"].iloc[0], "measured": len(good), "timed": timed,
            "not_comparable": len(good) - timed, "ending": ending, "failures": failures,
            "status_text": ", ".join(filter(None, [ending, failures])),
            "n": f"{len(good)}{'*' if len(good) < FEW else ''}",
            "spreads": spreads, "seconds": best["median"] if math.isfinite(best["median"]) else math.nan,
            "wide": _wide(begin, best)}


def _add_ratios(rows):
    """The ratio of the seconds to those of the fastest on the same machine."""
    for row in rows:
        same = [one for one in rows if one["machine"] == row["machine"]]
        best = min(same, key=lambda one: math.inf if math.isnan(one["seconds"]) else one["seconds"])
        ratio = 1.0 if row["seconds"] == best["seconds"] else float(np.divide(row["seconds"], best["seconds"]))
        row["ratio_value"] = ratio
        row["ratio_wide"] = ratio != 1.0 and not math.isnan(ratio) and (row["wide"] or best["wide"])
        row["ratio"] = ("~" if row["ratio_wide"] else "") + ("-" if math.isnan(ratio) else f"{ratio:.2f}")


def _shown_columns(columns, rows, wanted, targets):
    """The same columns for all tables of a sweep: those asked for, else the most informative with a value."""
    by_name = {one.name.removesuffix("_text"): one for one in columns}
    says = lambda one, *signs: any(one.text(row) not in ("-", *signs) for row in rows)  # noqa: E731
    if wanted[:1] in ([ALL], [PRINTED]):
        hidden = OFF_PAGE if wanted[0] == PRINTED else ()
        return [one for one in columns if says(one) and not one.name.startswith(hidden)]
    for name in wanted:
        require_known("columns", name, list(by_name), "all, or some of")
    if wanted:
        return [by_name[name] for name in ["solver", *wanted]]
    names = ["solver", "status", "n", *(cost_name("seconds", target) for target in targets[-MOST_TARGETS:]),
             "final_difference", "test_accuracy", *(name for name in by_name if name.startswith(METRICS)), "seconds",
             "nnz",
             "relative_gap", "iterations", "passes"]
    return [by_name[name] for name in names if says(by_name[name], times.UNPROVEN, "n/c")][:PAGE_COLUMNS]


def _notes(rows, cells, shown, targets):
    """Explains the signs that occur in the cells, and names targets that nobody reached or none can tell."""
    accuracy = rows[0]["accuracy"]
    proven = f"f* is proven to a relative accuracy of {scientific(accuracy)} only"
    hidden = [f"{target:g}" for target in targets if target < accuracy]
    wide = any(_wide(row["spreads"][name + "_from"], row["spreads"][name]) for row in rows for name in shown
               if "_to_" in name)
    least = {target: [row["spreads"][cost_name("passes", target)]["min"] for row in rows] for target in targets}
    unreached = [f"{target:g}" for target, one in least.items() if np.isinf(one).any() and not np.isfinite(one).any()]
    few = sorted({row["measured"] for row in rows if 0 < row["measured"] < FEW})
    notes = {
        f"?: {proven}, and no target below that can be told.": times.UNPROVEN in cells,
        f"{proven}: no cost to {', '.join(hidden)} can be told.": hidden and times.UNPROVEN not in cells,
        "A-B: the target was reached between two samples, at A and at B, more than a tenth of B apart. Quartiles are "
        "those of B.": wide,
        "~: a ratio of two times of which at least one is known as an interval only.":
            "ratio" in shown and any(row["ratio_wide"] for row in rows),
        "- (k of n): only k of n repetitions reached the target, so that there is no median.":
            any(text.startswith("- (") for text in cells),
        f"No solver reached {', '.join(unreached)}.": unreached,
        "* n = 1: a single run, whose spread is not known.": few[-1:] == [1],
        f"* n = {', '.join(map(str, few))} < {FEW} repetitions: quartiles are no more than the spread seen.":
            few and few[-1] > 1}
    return [text for text, holds in notes.items() if holds]


def _run_notes(rows):
    """Remarks on external trainers, each once after the labels that it is about, and on runs that are left out."""
    about = {}
    for row in rows:
        texts = [EXTERNAL for trainer in row["runs"]["trainer"] if trainer]
        for text in dict.fromkeys([*texts, *(f"{one}." for some in row["runs"]["warnings"] for one in some or [])]):
            about.setdefault(text, []).append(row["solver"])
    yield from (f"{', '.join(labels)}: {text}" for text, labels in about.items())
    for row in rows:
        runs, label = row["runs"].fillna({"reason": "", "not_comparable_because": ""}), row["solver"]
        for (end, why), some in runs[runs["failed"]].groupby(["status", "reason"], sort=False):
            yield f"{label}: {len(some)} of {len(runs)} {end}{f': {why}' if why else ''}; in no median."
        if row["not_comparable"]:
            why = runs["not_comparable_because"][~runs["comparable"] & ~runs["failed"]].iloc[-1]
            yield (f"{label}: the timings of {row['not_comparable']} of {row['measured']} runs are not comparable "
                   f"(n/c) and left out{f': {why}' if why else ''}.")
    if len({row["machine"] for row in rows}) > 1:
        yield ("Runs of several machines: each has rows of its own, and is compared with the fastest on the same "
               "machine only.")


def _table(rows, columns, targets):
    first, most = rows[0]["first"], max(len(row["runs"]) for row in rows)
    caption = f"{first['dataset']}, {first['penalty']}"
    if not math.isnan(first["reference_objective"]):
        proofs = [f"{name} {scientific(first[key])}" for name, key in (
            ("relative kkt", "reference_relative_kkt"), ("gap", "reference_relative_gap")) if first[key] == first[key]]
        caption += f", f* = {number_text(first['reference_objective'])} ({', '.join(proofs)})"
    caption += f", medians [quartiles] of {most} repetitions" if most > 1 else ""
    cells = [[column.text(row) for column in columns] for row in rows]
    words = [column.form is None and column.name != "ratio" for column in columns] + [False]
    notes = _notes(rows, set(sum(cells, [])), [column.name for column in columns], targets)
    return Table(caption, [column.head for column in columns], cells, words.index(False), [first["description"] or ""],
                 [*notes, *_run_notes(rows)])


def _record(row, columns):
    names = [name for one in columns if one.form for name in (one.name, one.name + "_from") if name in row["spreads"]]
    return {**{name: row["first"][name] for name in (
                "experiment", "dataset", "lambda", "mu", "reference_objective", "reference_relative_kkt",
                "reference_relative_gap", "reference_accuracy")},
            "solver": row["solver"], "machine": row["machine"], "status": row["ending"],
            "repetitions": len(row["runs"]),
            "failed": len(row["runs"]) - row["measured"], "failures": row["failures"],
            "not_comparable": row["not_comparable"],
            f"ratio_to_fastest_at_{number_text(RATIO_TARGET)}": row["ratio_value"],
            **{name: {part: value for part, value in row["spreads"][name].items() if part != "reached"}
               for name in names}}


def summary(sweep, targets=None, columns=(), allow_not_comparable=False, name="summary"):
    """Times to targets, values reached and quality of the models of runs of single penalties: a table for each data set
    and penalty, a row for each solver. `groups` of the result are its rows."""
    runs, columns = sweep.single, list(columns)
    targets = sweep.presentation.targets if targets is None else targets
    metrics = [one for one in sweep.traces if one.startswith(METRICS)
               and sweep.traces.loc[sweep.traces["run"].isin(runs.index), one].notna().any()]
    known, groups = _columns(targets, metrics), []
    values = _measured(sweep, runs, known, targets, allow_not_comparable)
    for _, group in runs.groupby(GROUP, sort=False):
        groups.append([_row(label, some, values, allow_not_comparable)
                       for label, some in group.groupby("series", sort=False)])
        _add_ratios(groups[-1])
    shown = _shown_columns(known, sum(groups, []), columns, targets)
    out = TableSet(name, sweep.presentation.title, [_table(rows, shown, targets) for rows in groups],
                   [_record(row, known) for rows in groups for row in rows])
    out.groups = groups
    return out


def chosen_records(records, wanted):
    """The records of a summary with the measurements among the wanted columns only."""
    if not wanted or wanted[0] == ALL:
        return records
    return [{name: value for name, value in record.items()
             if not isinstance(value, dict) or name.removesuffix("_from") in wanted} for record in records]


def costs(sweep, allow_not_comparable=False):
    """The passes and seconds to each target (as in Table 2 of Andrew and Gao 2007)."""
    columns = [cost_name(cost, target) for target in sweep.presentation.targets[-3:] for cost in ("passes", "seconds")]
    out = summary(sweep, None, columns + ["function_share", "status"], allow_not_comparable, "costs")
    for table in out.tables:
        table.notes.append("passes: evaluations of F and its gradient over all instances; function: the share of "
                           "scores, inference and gradients in the time of the run; the rest is the solver's.")
    return out


def data(sweep):
    """The sizes of data sets (as in Table 1 of Le Priol et al. 2018)."""
    names = ["instances", "positions", "outputs", "features", "d", "belief_bytes"]
    kept = sweep.runs["notes.belief_bytes"] if "notes.belief_bytes" in sweep.runs else math.nan
    sizes = sweep.runs.assign(belief_bytes=kept).groupby("dataset", sort=False)[names].first().reset_index()
    gib = lambda value: cell(value / 2**30, ".2f")  # noqa: E731
    table = Table.of("Data sets", sizes, {
        "data": ("dataset", str), "n": ("instances", count), "N": ("positions", count), "K": ("outputs", count),
        "A": ("features", count), "d": ("d", count), "marginals (GiB)": ("belief_bytes", gib)},
        notes=["n: instances; N: positions; K: outputs; A: features; marginals: what a dual solver keeps of all "
               "instances, pairs and singletons."])
    return TableSet("data", "", [table], sizes.to_dict("records"))


# ---- means over problems

def _means_records(sets, plot):
    """The range of the shifted geometric mean of each solver's costs, and on how many problems it reached the
    target."""
    for s, solver in enumerate(sets.solvers):
        for t, target in enumerate(sets.targets):
            reached, unproven = np.isfinite(sets.end[:, s, t]), int((sets.accuracy > target).sum())
            begin, end = (times.shifted_geometric_mean(
                np.where(reached | np.isnan(sets.end[:, s, t]), side[:, s, t], plot.par * sets.limits[:, s]),
                plot.shift)
                if len(reached) and not unproven else math.nan for side in (sets.begin, sets.end))
            yield {"measure": sets.cost, "machine": sets.machine, "solver": solver, "target": target,
                   "problems": len(reached), "reached": int(reached.sum()), "left_out": len(sets.left_out),
                   "shift": plot.shift, "par": plot.par, "shifted_geometric_mean": end,
                   "shifted_geometric_mean_from": begin, "unproven": unproven}


def _means_table(sets, plot, records):
    par, n, cost, shown = f"{plot.par:g}", len(sets.cells), sets.cost, sets.targets[-MOST_TARGETS:]
    limit = {"seconds": "the run's time limit, or ", "iterations": "the run's max_iterations, or "}.get(cost, "")
    table = Table(f"Shifted geometric means of {cost} to a target, shift {plot.shift:g}, PAR{par}"
                  f"{f', on {sets.machine}' if sets.machine else ''}", ["solver"])
    for target in shown:
        table.head += [f"{'s' if cost == 'seconds' else cost} to {target:g}", "reached"]
    for solver in sets.solvers:
        of = {one["target"]: one for one in records if one["solver"] == solver}
        table.rows.append([solver, *(text for target in shown for text in (["?"] * 2 if of[target]["unproven"] else [
            times.range_text(of[target]["shifted_geometric_mean_from"], of[target]["shifted_geometric_mean"]),
            f"{of[target]['reached']} of {n}"]))])
    if not sets.comparable:
        table.notes.append("NOT COMPARABLE: seconds of runs whose timings are not comparable count here.")
    table.notes.append(f"{n} problems: (experiment, data set, penalty, repetition).")
    unproven = {one["target"]: one["unproven"] for one in records if one["unproven"] and one["target"] in shown}
    table.footnotes += [f"?: f* of {k} of {n} problems is not proven to {target:g}." for target, k in unproven.items()]
    if any(times.is_wide(one["shifted_geometric_mean_from"], one["shifted_geometric_mean"]) for one in records
           if one["target"] in shown):
        table.footnotes.append("A-B: means of the costs at the samples before the targets and at those that reached "
                               "them, more than a tenth of B apart.")
    table.footnotes.append(f"A run that failed or never reached the target is charged {par} x {limit}the most "
                           f"{cost} of any run of that problem{' where there is none' if limit else ''} (PAR{par}).")
    table.footnotes += [f"{what}: {'; '.join(names)}." for what, names in (
        ("Failed", sets.failures), ("Left out", sets.left_out)) if names]
    return table


def means(sweep, title=None, allow_not_comparable=False):
    """Shifted geometric means over problems of the costs to targets. A run that failed or never reached a target is
    charged PAR-k times its limit (Hutter et al. 2009)."""
    shown = sweep.presentation
    out = TableSet("means", shown.title if title is None else title, [])
    for cost in shown.plot.x:
        for sets in problem_sets(sweep, cost, shown.targets, allow_not_comparable):
            records = list(_means_records(sets, shown.plot))
            out.tables.append(_means_table(sets, shown.plot, records))
            out.records += records
    return out


# ---- the paper's numbers

PAPER_HEAD = ["data", "status", "nnz: paper", "ours", "difference", "accuracy: paper", "ours", "difference",
              "relative kkt"]


def _statistics(block):
    """The mean of the rows that are optima and, if there are two or more, their standard deviation (n - 1)."""
    optima = block[block["optimal"]]
    if len(block) < 2 or not len(optima):
        return []
    ours = ["nnz", "accuracy"]
    mean = {**block.iloc[0], **optima[ours].mean(skipna=False), "kind": "mean", "solver": "", "status": "",
            "optimal": True, "datasets_used": len(optima), "datasets": len(block),
            "relative_kkt": np.fmax(0.0, optima["relative_kkt"].max())}
    deviation = {**mean, **optima[ours].std(skipna=False), "kind": "deviation", "paper_nnz": math.nan,
                 "paper_accuracy": math.nan, "relative_kkt": math.nan}
    return [mean, deviation] if len(optima) > 1 else [mean]


def _paper_cells(row):
    used, total = row["datasets_used"], row["datasets"]
    name = {"run": row["dataset"], "mean": "mean of ", "deviation": "standard deviation of "}[row["kind"]]
    name += "" if row["kind"] == "run" else f"{'' if used == total else f'{used} of '}{total}"
    ours = lambda text: text if row["optimal"] or text == "-" else f"({text})"  # noqa: E731
    return [f"{name}, {row['penalty']}", (f"{row['solver']}: {row['status']}" if row["solver"] else "")
            + ("" if row["optimal"] else ", NOT AN OPTIMUM"), count(row["paper_nnz"]), ours(count(row["nnz"])),
            ours(percent(row["nnz_relative_difference"], "+.1f")), cell(row["paper_accuracy"], ".6f"),
            ours(cell(row["accuracy"], ".6f")), ours(cell(row["accuracy_difference"], "+.4f")),
            scientific(row["relative_kkt"])]


def paper(sweep):
    """The optimum of each data set and penalty beside the numbers that the paper prints (section [paper]).

    Data sets that differ only by their seed form a block, which ends with mean and standard deviation.
    """
    shown, runs = sweep.presentation, sweep.single
    if not shown.paper.item:
        raise ProxbenchError(f"{sweep.folders[0]}/config.ini: found no section [paper], expected one with the paper's "
                             "numbers")
    printed = {name: dict(reversed([*zip(getattr(shown.paper, "lambda"), getattr(shown.paper, name))]))
               for name in ("nnz", "accuracy")}
    best = runs.assign(kkt=runs["relative_kkt"].fillna(math.inf)).sort_values("kkt", kind="stable").drop_duplicates(
        ["dataset", "lambda", "mu"]).sort_index()
    rows = pd.DataFrame({
        "kind": "run", **best[["dataset", "lambda", "mu"]], "solver": best["label"], "status": best["status"],
        "optimal": (best["relative_kkt"] <= best["tol"]) | (best["gap_target"] > 0) & (
            best["relative_gap"] <= best["gap_target"]), "datasets_used": 1, "datasets": 1,
        "paper_nnz": best["lambda"].map(printed["nnz"]), "nnz": best["nnz"], "nnz_relative_difference": math.nan,
        "paper_accuracy": best["lambda"].map(printed["accuracy"]), "accuracy": best["test_accuracy"],
        "accuracy_difference": math.nan, "relative_kkt": best["relative_kkt"], "penalty": best["penalty"],
        "family": [shown.sources.get(name, name) for name in best["dataset"]]})
    blocks = []
    for _, family in rows.groupby("family", sort=False):
        for _, block in family.groupby(["lambda", "mu"]):
            blocks += [block, pd.DataFrame(_statistics(block))]
    rows = pd.concat(blocks, ignore_index=True) if blocks else rows
    rows["nnz_relative_difference"] = (rows["nnz"] / rows["paper_nnz"] - 1.0).where(rows["paper_nnz"] != 0)
    rows["accuracy_difference"] = rows["accuracy"] - rows["paper_accuracy"]
    table = Table(f"{shown.paper.item} of the paper, and ours", PAPER_HEAD,
                  [_paper_cells(row) for row in rows.to_dict("records")], 2)
    if not rows["optimal"].all():
        table.notes.append("In parentheses: NOT AN OPTIMUM. The run ended before kkt <= tol * (kkt at w = 0) or the "
                           "gap asked for; such rows are in no mean.")
    return TableSet("paper", shown.title, [table], rows.drop(columns=["penalty", "family"]).to_dict("records"))


# ---- all tables of an experiment

def results(sweep, columns=(), allow_not_comparable=False):
    """The tables of runs of single penalties, the summary last."""
    shown = sweep.presentation
    out = [paper(sweep)] if getattr(shown.paper, "lambda") else []
    out += [costs(sweep, allow_not_comparable)] if shown.paper.costs else []
    out += [data(sweep)] if shown.paper.data else []
    return [*out, summary(sweep, None, columns, allow_not_comparable)]


def require_single(sweep):
    if not len(sweep.single):
        raise UsageError(f"{sweep.folders[0]}/runs: found paths alone, expected runs of single penalties; paths have "
                         "kinds of their own: --kind path")
