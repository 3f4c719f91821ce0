"""Tables of results: summary, costs of targets, sizes of data sets, means over problems, the paper's numbers."""
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd

from ..errors import ProxbenchError, UsageError, require_known
from ..fields import number_text
from . import times
from .problems import problem_sets
from .texts import Table, TableSet, cell, count
from .times import UNPROVEN, seconds_text

FEW = 5  # with fewer repetitions, quartiles only show the spread that was seen
MOST_TARGETS = 4  # that fit a page
PAGE_COLUMNS = 9
ALL, PRINTED = "all", "printed"  # columns: all that have content; those of the page
OFF_PAGE = ("passes_to", "load_", "setup_", "warm_up_", "sampling_", "updates")
METRICS = "test_metrics."
GROUP = ["dataset", "penalty"]  # a table each
NOT_COMPARABLE = "n/c"
EXTERNAL = ("an external trainer, started repeatedly, each time to stop later; its times begin with its first "
            "iteration, unless they include load seconds")


def cost_name(cost, target):
    return f"{cost}_to_{number_text(target)}"


RATIO_TARGET = 1e-6
RATIO = cost_name("seconds", RATIO_TARGET)


# ---- summary

def _forms(targets, metrics):
    """The measurements that have columns, in this order, with their forms."""
    seconds = dict.fromkeys(["seconds", "load_seconds", "setup_seconds", "warm_up_seconds", "sampling_seconds"],
                            seconds_text)
    return {**{cost_name("seconds", one): seconds_text for one in targets},
            "final_difference": ".1e", "nnz": count, "relative_kkt": ".1e", "relative_gap": ".1e",
            **dict.fromkeys(["iterations", "passes", "updates"], count), **seconds,
            **dict.fromkeys(["test_accuracy", *metrics], ".4f"),
            **{cost_name("passes", one): ".1f" for one in targets}, "function_share": ".1%", "solver_share": ".1%"}


def _target_of(name):
    return RATIO_TARGET if name == "ratio" else float(name.partition("_to_")[2] or "inf")


def _head(name):
    if name == "ratio":
        return f"x fastest at {RATIO_TARGET:g}"
    return name.replace(METRICS, "test ").replace("_", " ").replace("seconds to", "s to")


def _measured(sweep, runs, forms, targets, allow_not_comparable):
    """The measurements of each run, costs also with `_from`. NaN where a run failed, is not comparable, or f* is not
    exact enough."""
    metrics = sweep.traces.filter(regex=f"^(run$|{METRICS})").drop_duplicates("run", keep="last").set_index("run")
    costs = sweep.times(sorted({*targets, RATIO_TARGET}))
    costs = costs[costs["exact"]].assign(name=costs["cost"] + "_to_" + costs["target"].map(number_text))
    costs = costs.pivot(index="run", columns="name", values=["to", "from"])
    costs.columns = [name + ("_from" if side == "from" else "") for side, name in costs.columns]
    diverged = runs["objective"].isna() & runs["reference_objective"].notna()
    phases = pd.DataFrame([{one["phase"]: one["seconds"] for one in some or []} for some in runs["phases"]], runs.index)
    share = phases.get("solver", 0.0) / phases.sum(axis=1, min_count=1)
    names = dict.fromkeys([RATIO, *forms])
    out = runs.drop(columns=list(metrics), errors="ignore").join([metrics, costs]).assign(
        final_difference=runs["relative_difference"].where(~diverged, math.inf), solver_share=share,
        function_share=1.0 - share).reindex(
        columns=[*names, *(name + "_from" for name in names if "_to_" in name)]).astype(float)
    out[runs["failed"]] = math.nan
    if not allow_not_comparable:
        out.loc[~runs["comparable"], out.columns.str.contains("seconds")] = math.nan
    return out


def _text(name, form, row):
    """E.g. "3.10 [2.95, 3.40]", or the median alone if the quartiles read the same; "- (1 of 2)" if the median is
    infinite and some repetitions got there."""
    if "seconds" in name and row.n and not row.timed:
        return NOT_COMPARABLE
    end, begin = row.spreads[name], row.spreads.get(name + "_from", row.spreads[name])
    if math.isinf(end["median"]):
        return f"- ({end['reached']} of {end['n']})" if end["reached"] else "-"
    median, low, high = (cell(end[part], form) for part in ("median", "q25", "q75"))
    start = cell(begin["median"], form) + "-" if _wide(row, name) else ""
    return start + (median if end["n"] < 2 or low == high else f"{median} [{low}, {high}]")


def _wide(row, name):
    return bool(times.is_wide(row.spreads.get(name + "_from", row.spreads[name])["median"],
                              row.spreads[name]["median"]))


def _row(label, runs, values, allow_not_comparable):
    """One solver on one problem; `spreads` are over the repetitions that did not fail."""
    good, failures = runs[~runs["failed"]], runs["status"][runs["failed"]].value_counts().sort_index()
    return SimpleNamespace(
        solver=label, runs=runs, first=runs.iloc[0], n=len(good), ending="/".join(good["status"].unique()),
        timed=len(good) if allow_not_comparable else int(good["comparable"].sum()),
        failures=", ".join(f"{n} of {len(runs)} {status}" for status, n in failures.items()),
        spreads={name: times.spread(column) for name, column in values.loc[runs.index].items()})


def _add_texts(rows, forms):
    """Adds the ratio of the seconds to those of the fastest on the same machine, and the cells by the names of their
    columns."""
    machine = pd.Series([row.first["machine"] for row in rows])
    seconds = pd.Series([row.spreads[RATIO]["median"] for row in rows]).replace(math.inf, math.nan)
    best = seconds.groupby(machine).transform("min")
    wide = pd.Series([_wide(row, RATIO) for row in rows])
    doubtful = (seconds != best) & seconds.notna() & (
        wide | (wide & (seconds == best)).groupby(machine).transform("max"))
    for row, row.ratio, row.doubtful in zip(rows, (seconds / best).where(seconds != best, 1.0), doubtful):
        ratio = NOT_COMPARABLE if row.n and not row.timed else "~" * row.doubtful + cell(row.ratio, ".2f")
        texts = {"solver": row.solver, "status": ", ".join(filter(None, [row.ending, row.failures])),
                 "n": f"{row.n}{'*' if row.n < FEW else ''}",
                 **{name: _text(name, form, row) for name, form in forms.items()}, "ratio": ratio}
        row.texts = {name: UNPROVEN if _target_of(name) < row.first["reference_accuracy"] else text
                     for name, text in texts.items()}


def _shown_columns(rows, forms, wanted, targets):
    """The same columns for all tables of a sweep: those asked for, else the most informative with a value."""
    costs = [name for name in forms if name.startswith("seconds_to_")]
    known = ["solver", "status", "n", *costs, "ratio", *(name for name in forms if name not in costs)]
    says = lambda name, *signs: any(row.texts[name] not in ("-", *signs) for row in rows)  # noqa: E731
    if wanted[:1] in ([ALL], [PRINTED]):
        hidden = OFF_PAGE if wanted[0] == PRINTED else ()
        return [name for name in known if says(name) and not name.startswith(hidden)]
    for name in wanted:
        require_known("columns", name, known, "all, or some of")
    names = ["solver", "status", "n", *(cost_name("seconds", target) for target in targets[-MOST_TARGETS:]),
             "final_difference", "test_accuracy", *(name for name in forms if name.startswith(METRICS)), "seconds",
             "nnz", "relative_gap", "iterations", "passes"]
    return ["solver", *wanted] if wanted else [
        name for name in names if says(name, UNPROVEN, NOT_COMPARABLE)][:PAGE_COLUMNS]


def _notes(rows, shown, targets):
    """Explains the signs that occur in the cells, and names targets that nobody reached or none can tell."""
    accuracy, cells = rows[0].first["reference_accuracy"], {row.texts[name] for row in rows for name in shown}
    proven = f"f* is proven to a relative accuracy of {accuracy:.1e} only"
    hidden = [f"{target:g}" for target in targets if target < accuracy]
    least = {f"{target:g}": [row.spreads[cost_name("passes", target)]["min"] for row in rows] for target in targets}
    unreached = [target for target, one in least.items() if np.isinf(one).any() and not np.isfinite(one).any()]
    few = sorted({row.n for row in rows if 0 < row.n < FEW})
    notes = {
        f"?: {proven}, and no target below that can be told.": UNPROVEN in cells,
        f"{proven}: no cost to {', '.join(hidden)} can be told.": hidden and UNPROVEN not in cells,
        "A-B: the target was reached between two samples, at A and at B, more than a tenth of B apart.":
            any(_wide(row, name) for row in rows for name in shown if "_to_" in name),
        "~: a ratio of times of which one is an interval.": "ratio" in shown and any(row.doubtful for row in rows),
        "- (k of n): only k of n repetitions reached the target, so that there is no median.":
            any(text.startswith("- (") for text in cells),
        f"No solver reached {', '.join(unreached)}.": unreached,
        f"* n = {', '.join(map(str, few))} < {FEW} repetitions: quartiles are no more than the spread seen.": few,
        "Runs of several machines: each is compared with the fastest on the same machine only.":
            len({row.first["machine"] for row in rows}) > 1}
    return [text for text, holds in notes.items() if holds]


def _run_notes(rows):
    """Remarks on external trainers, each after the labels that it is about, and on runs that are left out."""
    about = {}
    for row in rows:
        texts = [EXTERNAL] if row.runs["trainer"].notna().any() else []
        for text in dict.fromkeys([*texts, *row.runs["warnings"].explode().dropna()]):
            about.setdefault(text, []).append(row.solver)
    yield from (f"{', '.join(labels)}: {text}." for text, labels in about.items())
    for row in rows:
        failed = row.runs[row.runs["failed"]].fillna({"reason": ""})
        for (status, why), some in failed.groupby(["status", "reason"], sort=False):
            yield f"{row.solver}: {len(some)} of {len(row.runs)} {status}{why and f': {why}'}; in no median."
        if row.timed < row.n:
            why = row.runs["not_comparable_because"][~row.runs["comparable"] & ~row.runs["failed"]].iloc[-1]
            yield (f"{row.solver}: the timings of {row.n - row.timed} of {row.n} runs are not comparable (n/c) and "
                   f"left out{f': {why}' if why else ''}.")


def _table(rows, shown, targets):
    first, most = rows[0].first, max(len(row.runs) for row in rows)
    caption = f"{first['dataset']}, {first['penalty']}"
    if not math.isnan(first["reference_objective"]):
        proofs = [f"{text} {first[name]:.1e}" for text, name in (
            ("relative kkt", "reference_relative_kkt"), ("gap", "reference_relative_gap")) if first[name] == first[name]]
        caption += f", f* = {number_text(first['reference_objective'])} ({', '.join(proofs)})"
    caption += f", medians [quartiles] of {most} repetitions" if most > 1 else ""
    words = [name in ("solver", "status", "n") for name in shown] + [False]
    return Table(caption, list(map(_head, shown)), [[row.texts[name] for name in shown] for row in rows],
                 words.index(False), [first["description"] or ""], [*_notes(rows, shown, targets), *_run_notes(rows)])


def _record(row, forms):
    names = [name for name in forms for name in (name, name + "_from") if name in row.spreads]
    return {**row.first[["experiment", "dataset", "lambda", "mu", "reference_objective", "reference_relative_kkt",
                         "reference_relative_gap", "reference_accuracy"]],
            "solver": row.solver, "machine": row.first["machine"], "status": row.ending,
            "repetitions": len(row.runs), "failed": len(row.runs) - row.n, "failures": row.failures,
            "not_comparable": row.n - row.timed, f"ratio_to_fastest_at_{number_text(RATIO_TARGET)}": row.ratio,
            **{name: {part: value for part, value in row.spreads[name].items() if part != "reached"}
               for name in names}}


def summary(sweep, targets=None, columns=(), allow_not_comparable=False, name="summary"):
    """Times to targets, values reached and quality of the models of runs of single penalties: a table for each data set
    and penalty, a row for each solver. `groups` of the result are its rows."""
    runs, columns = sweep.single, list(columns)
    targets = sweep.presentation.targets if targets is None else targets
    metrics = sweep.traces[sweep.traces["run"].isin(runs.index)].filter(like=METRICS).dropna(axis=1, how="all")
    forms, groups = _forms(targets, metrics), []
    values = _measured(sweep, runs, forms, targets, allow_not_comparable)
    for _, group in runs.groupby(GROUP, sort=False):
        groups.append([_row(label, some, values, allow_not_comparable)
                       for label, some in group.groupby("series", sort=False)])
        _add_texts(groups[-1], forms)
    rows = sum(groups, [])
    shown = _shown_columns(rows, forms, columns, targets)
    return TableSet(name, sweep.presentation.title, [_table(some, shown, targets) for some in groups],
                    [_record(row, forms) for row in rows], groups=groups)


def chosen_records(records, wanted):
    """The records of a summary with the measurements among the wanted columns only."""
    if not wanted or wanted[0] == ALL:
        return records
    return [{name: value for name, value in record.items()
             if not isinstance(value, dict) or name.removesuffix("_from") in wanted} for record in records]


# ---- costs and sizes

def costs(sweep, allow_not_comparable=False):
    """The passes and seconds to each target (as in Table 2 of Andrew and Gao 2007)."""
    columns = [cost_name(cost, target) for target in sweep.presentation.targets[-3:] for cost in ("passes", "seconds")]
    out = summary(sweep, None, columns + ["function_share", "status"], allow_not_comparable, "costs")
    for table in out.tables:
        table.notes.append("passes: evaluations of F and its gradient over all instances; function share: of scores, "
                           "inference and gradients in the time of the run.")
    return out


def data(sweep):
    """The sizes of data sets (as in Table 1 of Le Priol et al. 2018)."""
    names = ["instances", "positions", "outputs", "features", "d", "belief_bytes"]
    runs = sweep.runs.assign(belief_bytes=sweep.runs.get("notes.belief_bytes", math.nan))
    sizes = runs.groupby("dataset", sort=False)[names].first().reset_index()
    table = Table.of("Data sets", sizes.assign(gib=sizes["belief_bytes"] / 2**30), {
        "data": ("dataset", ""), "n": ("instances", count), "N": ("positions", count), "K": ("outputs", count),
        "A": ("features", count), "d": ("d", count), "marginals (GiB)": ("gib", ".2f")},
        ["n: instances; N: positions; K: outputs; A: features; marginals: what a dual solver keeps of all instances."])
    return TableSet("data", "", [table], sizes.to_dict("records"))


# ---- means over problems

def _means_records(sets, plot):
    """The range of the shifted geometric mean of each solver's costs, and on how many problems it reached the
    target."""
    for solver in sets.solvers:
        for target in sets.targets:
            some = sets.costs[(sets.costs["shown"] == solver) & (sets.costs["target"] == target)]
            reached, unproven = np.isfinite(some["to"]), int((some["accuracy"] > target).sum())
            charged = some[["from", "to"]].mask(np.isinf(some["to"]), plot.par * some["charge"], axis=0)
            begin, end = [math.nan] * 2 if unproven or not len(some) else times.shifted_geometric_mean(
                charged.to_numpy(), plot.shift)
            yield {"measure": sets.cost, "machine": sets.machine, "solver": solver, "target": target,
                   "problems": len(some), "reached": int(reached.sum()), "left_out": len(sets.left_out),
                   "shift": plot.shift, "par": plot.par, "shifted_geometric_mean": end,
                   "shifted_geometric_mean_from": begin, "unproven": unproven}


def _means_table(sets, plot, records):
    frame, par = pd.DataFrame(records), f"{plot.par:g}"
    frame = frame[frame["target"].isin(sets.targets[-MOST_TARGETS:])]
    begin, end, unproven = (frame[name] for name in ("shifted_geometric_mean_from", "shifted_geometric_mean", "unproven"))
    cells = pd.DataFrame({
        "solver": frame["solver"], "target": frame["target"], "time": list(map(times.range_text, begin, end)),
        "reached": frame["reached"].astype(str) + f" of {sets.n}"})
    cells.loc[unproven > 0, ["time", "reached"]] = UNPROVEN
    head, rows = ["solver"], [[solver, *some[["time", "reached"]].to_numpy().flat]
                              for solver, some in cells.groupby("solver", sort=False)]
    for target in frame["target"].unique():
        head += [f"{'s' if sets.cost == 'seconds' else sets.cost} to {target:g}", "reached"]
    limit = {"seconds": "the run's time limit, or ", "iterations": "the run's max_iterations, or "}.get(sets.cost, "")
    notes = [] if sets.comparable else ["NOT COMPARABLE: seconds that are not comparable count here."]
    footnotes = [f"?: f* of {k} of {sets.n} problems is not proven to {target:g}."
                 for target, k in frame[unproven > 0].groupby("target", sort=False)["unproven"].first().items()]
    if times.is_wide(begin, end).any():
        footnotes.append("A-B: means of the costs at the samples before the targets and at those that reached them.")
    footnotes.append(f"A run that failed or never reached the target is charged {par} x {limit}the most {sets.cost} of "
                     f"any run of that problem (PAR{par}).")
    footnotes += [f"{what}: {'; '.join(names)}." for what, names in (
        ("Failed", sets.failures), ("Left out", sets.left_out)) if names]
    return Table(f"Shifted geometric means of {sets.cost} to a target, shift {plot.shift:g}, PAR{par}{sets.on}", head,
                 rows, 1, [*notes, f"{sets.n} problems: (experiment, data set, penalty, repetition)."], footnotes)


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

def _statistics(block):
    """The mean of the rows that are optima and, if there are two or more, their standard deviation (n - 1)."""
    optima = block[block["optimal"]]
    if len(block) < 2 or not len(optima):
        return []
    ours, used = ["nnz", "accuracy"], f"{len(optima)} of " * (len(optima) < len(block)) + str(len(block))
    mean = {**block.iloc[0], **optima[ours].mean(skipna=False), "kind": "mean", "solver": "", "status": "",
            "optimal": True, "datasets_used": len(optima), "datasets": len(block), "what": f"mean of {used}",
            "relative_kkt": np.fmax(0.0, optima["relative_kkt"].max())}
    deviation = {**mean, **optima[ours].std(skipna=False), "kind": "deviation", "paper_nnz": math.nan,
                 "paper_accuracy": math.nan, "relative_kkt": math.nan, "what": f"standard deviation of {used}"}
    return [mean, deviation] if len(optima) > 1 else [mean]


def _paper_table(caption, rows):
    """Numbers of runs that ended before an optimum stand in parentheses."""
    cells = rows.assign(what=rows["what"] + ", " + rows["penalty"],
                        ended=rows["solver"] + rows["solver"].map(lambda one: one and ": ") + rows["status"]
                        + rows["optimal"].map({True: "", False: ", NOT AN OPTIMUM"}))
    for name, form in (("nnz", count), ("nnz_relative_difference", "+.1%"), ("accuracy", ".6f"),
                       ("accuracy_difference", "+.4f")):
        texts = rows[name].map(lambda value: cell(value, form))
        cells[name] = texts.where(rows["optimal"] | (texts == "-"), "(" + texts + ")")
    return Table.of(caption, cells, {
        "data": ("what", ""), "status": ("ended", ""), "nnz: paper": ("paper_nnz", count), "nnz: ours": ("nnz", ""),
        "nnz: difference": ("nnz_relative_difference", ""), "accuracy: paper": ("paper_accuracy", ".6f"),
        "accuracy: ours": ("accuracy", ""), "accuracy: difference": ("accuracy_difference", ""),
        "relative kkt": ("relative_kkt", ".1e")}, [] if rows["optimal"].all() else [
            "In parentheses: NOT AN OPTIMUM. The run ended before kkt <= tol * (kkt at w = 0) or the gap asked for; such "
            "rows are in no mean."])


def paper(sweep):
    """The optimum of each data set and penalty beside the numbers that the paper prints (section [paper]).

    Data sets that differ only by their seed form a block, which ends with mean and standard deviation.
    """
    shown, runs = sweep.presentation, sweep.single
    if not shown.paper.item:
        raise ProxbenchError(f"{sweep.folders[0]}/config.ini: found no section [paper], expected the paper's numbers")
    lambdas = getattr(shown.paper, "lambda")
    best = runs.assign(kkt=runs["relative_kkt"].fillna(math.inf)).sort_values("kkt", kind="stable").drop_duplicates(
        ["dataset", "lambda", "mu"]).sort_index()
    rows = pd.DataFrame({
        "kind": "run", **best[["dataset", "lambda", "mu"]], "solver": best["label"], "status": best["status"],
        "optimal": (best["relative_kkt"] <= best["tol"]) | (best["gap_target"] > 0) & (
            best["relative_gap"] <= best["gap_target"]), "datasets_used": 1, "datasets": 1,
        "paper_nnz": best["lambda"].map(dict(zip(lambdas, shown.paper.nnz))), "nnz": best["nnz"], "nnz_relative_difference": math.nan,
        "paper_accuracy": best["lambda"].map(dict(zip(lambdas, shown.paper.accuracy))), "accuracy": best["test_accuracy"],
        "accuracy_difference": math.nan, "relative_kkt": best["relative_kkt"], "penalty": best["penalty"],
        "what": best["dataset"], "family": [shown.sources.get(name, name) for name in best["dataset"]]})
    blocks = [frame for _, family in rows.groupby("family", sort=False) for _, block in family.groupby(["lambda", "mu"])
              for frame in (block, pd.DataFrame(_statistics(block)))]
    rows = pd.concat(blocks, ignore_index=True) if blocks else rows
    rows["nnz_relative_difference"] = (rows["nnz"] / rows["paper_nnz"] - 1.0).where(rows["paper_nnz"] != 0)
    rows["accuracy_difference"] = rows["accuracy"] - rows["paper_accuracy"]
    return TableSet("paper", shown.title, [_paper_table(f"{shown.paper.item} of the paper, and ours", rows)],
                    rows.drop(columns=["penalty", "what", "family"]).to_dict("records"))


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
        raise UsageError(f"{sweep.folders[0]}/runs: found paths only, expected runs of single penalties, or --kind path")
