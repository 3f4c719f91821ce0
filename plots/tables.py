"""Tables of results: summary, costs of targets, sizes of data sets, means over problems, the paper's numbers."""
import math
import re
from itertools import takewhile
from types import SimpleNamespace

import numpy as np
import pandas as pd

from ..errors import Error, require_known
from ..fields import number_text
from . import times
from .problems import problem_sets
from .texts import DECLARED, Table, TableSet, cell, sentences

FEW = 5  # with fewer repetitions, quartiles only show the spread that was seen
MOST_TARGETS = 4  # that fit a page
PAGE_COLUMNS = 9
ALL, PRINTED = "all", "printed"  # columns: all that have content; those that fit the page on paper
OFF_PAGE = ("passes_to", "load_", "setup_", "warm_up_", "sampling_", "updates")
METRICS = "test_metrics."
GROUP = ["dataset", "penalty"]  # a table each
UNPROVEN, NOT_COMPARABLE = times.UNPROVEN, "n/c"


def _legend(rows):
    cells = set(sum(rows, []))
    return [text for sign, text in DECLARED["signs"].items() if any(re.fullmatch(sign, one) for one in cells)]


def cost_name(cost, target):
    return f"{cost}_to_{number_text(target)}"


RATIO_TARGET = 1e-6
RATIO = cost_name("seconds", RATIO_TARGET)


# ---- summary

def _forms(sweep):
    """The measurements that have columns, in this order, with their forms."""
    metrics = sweep.samples[sweep.samples.run.isin(sweep.single.index)].filter(like=METRICS).dropna(axis=1, how="all")
    seconds, passes = ([cost_name(cost, one) for one in sweep.config.targets] for cost in ("seconds", "passes"))
    return {**dict.fromkeys(seconds, "seconds"), **DECLARED["summary"], **dict.fromkeys(metrics, ".4f"),
            **dict.fromkeys(passes, ".1f"), **dict.fromkeys(["function_share", "solver_share"], ".1%")}


def _measured(sweep, forms):
    """The measurements of each run, costs also with `_from`. NaN where a run failed, is not comparable, or f* is not
    exact enough."""
    runs = sweep.single
    metrics = sweep.samples.filter(regex=f"^(run$|{METRICS})").drop_duplicates("run", keep="last").set_index("run")
    costs = sweep.times(sorted({*sweep.config.targets, RATIO_TARGET}))
    costs = costs.assign(name=costs.cost + "_to_" + costs.target.map(number_text))
    costs = costs[costs.exact].pivot(index="run", columns="name", values=["to", "from"])
    costs.columns = [name + "_from" * (side == "from") for side, name in costs.columns]
    phases = pd.DataFrame([{one["phase"]: one["seconds"] for one in some or []} for some in runs.phases], runs.index)
    share = phases.get("solver", 0.0) / phases.sum(axis=1, min_count=1)
    diverged = runs.objective.isna() & runs.reference_objective.notna()
    names = dict.fromkeys([RATIO, *forms])
    out = runs.drop(columns=list(metrics), errors="ignore").join([metrics, costs]).assign(
        final_difference=runs.relative_difference.mask(diverged, math.inf), solver_share=share,
        function_share=1.0 - share).reindex(
        columns=[*names, *(name + "_from" for name in names if "_to_" in name)]).astype(float)
    out[runs.failed] = math.nan
    out.loc[~(runs.comparable | sweep.config.allow), out.columns.str.contains("seconds")] = math.nan
    return out


def _sign(row, name):
    """What stands in place of a number that is not known."""
    if float(name.partition("_to_")[2] or "inf") < row.first["reference_accuracy"]:
        return UNPROVEN
    return NOT_COMPARABLE if row.n and not row.timed and "seconds" in name else ""


def _text(name, form, row):
    """E.g. "3.10 [2.95, 3.40]", or the median alone if the quartiles read the same; "- (1 of 2)" if the median is
    infinite and some repetitions got there."""
    spread = row.spreads[name]
    if math.isinf(spread["median"]):
        return f"- ({spread['reached']} of {spread['n']})" if spread["reached"] else "-"
    median, low, high = (cell(spread[part], form) for part in ("median", "q25", "q75"))
    quartiles = "" if spread["n"] < 2 or low == high else f" [{low}, {high}]"
    return times.range_text(*_ends(row, name), lambda value: cell(value, form)) + quartiles


def _ends(row, name):
    """The medians of a cost at the sample before the target and at that which reached it."""
    return [row.spreads.get(part, row.spreads[name])["median"] for part in (name + "_from", name)]


def _row(label, runs, values, forms, allow):
    """One solver on one problem: `spreads` over the repetitions that did not fail, and `texts` of the cells."""
    runs = runs.fillna({"reason": "", "not_comparable_because": ""})
    good, failed = runs[~runs.failed], runs[runs.failed]
    failures = failed.status.value_counts().sort_index()
    row = SimpleNamespace(
        solver=label, runs=runs, first=runs.iloc[0], n=len(good), ending="/".join(good.status.unique()),
        timed=len(good) if allow else int(good.comparable.sum()),
        failures=", ".join(f"{n} of {len(runs)} {status}" for status, n in failures.items()),
        external=runs.trainer.notna().any(), warnings=list(runs.warnings.explode().dropna().unique()),
        reasons=list(failed.groupby(["status", "reason"], sort=False).groups),
        why="".join(good.not_comparable_because[~good.comparable].iloc[-1:]),
        spreads={name: times.spread(column) for name, column in values.loc[runs.index].items()})
    row.texts = {"solver": label, "status": ", ".join(filter(None, [row.ending, row.failures])),
                 "n": f"{row.n}{'*' if row.n < FEW else ''}",
                 **{name: _sign(row, name) or _text(name, form, row) for name, form in forms.items()}}
    return row


def _add_ratios(rows):
    """Adds the ratio of the seconds to those of the fastest on the same machine."""
    frame = pd.DataFrame([[row.first["machine"], *_ends(row, RATIO)] for row in rows], columns=["on", "begin", "end"])
    end = frame.end.replace(math.inf, math.nan)
    best = end.groupby(frame.on).transform("min")
    wide = times.is_wide(frame.begin, frame.end)
    wide |= (wide & (end == best)).groupby(frame.on).transform("max")
    for row, ratio, doubtful in zip(rows, (end / best).where(end != best, 1.0), wide & (end > best)):
        row.ratio, row.texts["ratio"] = ratio, _sign(row, RATIO) or "~" * doubtful + cell(ratio, ".2f")


def _shown_columns(rows, forms, wanted, targets):
    """The same columns for all tables of a sweep: those asked for, else the most informative with a value."""
    costs = [name for name in forms if name.startswith("seconds_to_")]
    known = ["solver", "status", "n", *costs, "ratio", *(name for name in forms if name not in costs)]

    def with_values(names, *signs):
        return [name for name in names if any(row.texts[name] not in ("-", *signs) for row in rows)]

    if wanted == [PRINTED]:
        return with_values(name for name in known if not name.startswith(OFF_PAGE))
    if wanted[:1] == [ALL]:
        return with_values(known)
    for name in wanted:
        require_known("columns", name, known, "all, or some of")
    names = ["solver", "status", "n", *costs[-MOST_TARGETS:], "final_difference", "test_accuracy",
             *(name for name in forms if name.startswith(METRICS)), "seconds", "nnz", "relative_gap", "iterations",
             "passes"]
    return ["solver", *wanted] if wanted else with_values(names, UNPROVEN, NOT_COMPARABLE)[:PAGE_COLUMNS]


def _head(name):
    if name == "ratio":
        return f"x fastest at {RATIO_TARGET:g}"
    return name.replace(METRICS, "test ").replace("_", " ").replace("seconds to", "s to")


def _table(rows, shown, targets):
    first, most = rows[0].first, max(len(row.runs) for row in rows)
    caption = f"{first['dataset']}, {first['penalty']}"
    if not math.isnan(first["reference_objective"]):
        proofs = {"relative kkt": first["reference_relative_kkt"], "gap": first["reference_relative_gap"]}
        texts = [f"{text} {value:.1e}" for text, value in proofs.items() if not math.isnan(value)]
        caption += f", f* = {number_text(first['reference_objective'])} ({', '.join(texts)})"
    caption += f", medians [quartiles] of {most} repetitions" if most > 1 else ""
    cells = [[row.texts[name] for name in shown] for row in rows]
    words = len(list(takewhile(["solver", "status", "n"].__contains__, shown)))
    hidden = [f"{target:g}" for target in targets if target < first["reference_accuracy"]]
    unreached = [f"{target:g}" for target in targets if np.fmin.reduce(
        [row.spreads[cost_name("passes", target)]["min"] for row in rows]) == math.inf]
    return Table(caption, list(map(_head, shown)), cells, words, [first["description"] or ""],
                 [*_legend(cells), *sentences("summary", rows, first["reference_accuracy"], hidden, unreached)])


def _record(row, forms):
    names = [name for name in forms for name in (name, name + "_from") if name in row.spreads]
    return {**row.first[["experiment", "dataset", "lambda", "mu", "reference_objective", "reference_relative_kkt",
                         "reference_relative_gap", "reference_accuracy"]],
            "solver": row.solver, "machine": row.first["machine"], "status": row.ending,
            "repetitions": len(row.runs), "failed": len(row.runs) - row.n, "failures": row.failures,
            "not_comparable": row.n - row.timed, f"ratio_to_fastest_at_{number_text(RATIO_TARGET)}": row.ratio,
            **{name: {part: value for part, value in row.spreads[name].items() if part != "reached"}
               for name in names}}


def summary(sweep, columns=(), name="summary"):
    """Times to targets, values reached and quality of the models of runs of single penalties: a table for each data set
    and penalty, a row for each solver. `groups` of the result are its rows."""
    shown, forms = sweep.config, _forms(sweep)
    values, groups = _measured(sweep, forms), []
    for _, group in sweep.single.groupby(GROUP, sort=False):
        groups.append([_row(label, some, values, forms, shown.allow)
                       for label, some in group.groupby("series", sort=False)])
        _add_ratios(groups[-1])
    rows = sum(groups, [])
    columns = _shown_columns(rows, forms, list(columns), shown.targets)
    return TableSet(name, shown.title, [_table(some, columns, shown.targets) for some in groups],
                    pd.DataFrame([_record(row, forms) for row in rows]), groups=groups)


def chosen_columns(rows, wanted):
    """The rows of a summary with the measurements among the wanted columns only."""
    if not wanted or wanted[0] == ALL:
        return rows
    return rows[[name for name, value in rows.iloc[0].items()
                 if not isinstance(value, dict) or name.removesuffix("_from") in wanted]]


# ---- costs and sizes

def costs(sweep):
    """The passes and seconds to each target (as in Table 2 of Andrew and Gao 2007)."""
    columns = [cost_name(cost, target) for target in sweep.config.targets[-3:] for cost in ("passes", "seconds")]
    out = summary(sweep, columns + ["function_share", "status"], "costs")
    for table in out.tables:
        table.notes.append("passes: evaluations of F and its gradient over all instances; function share: of scores, "
                           "inference and gradients in the time of the run.")
    return out


def data(sweep):
    """The sizes of data sets (as in Table 1 of Le Priol et al. 2018)."""
    names = ["instances", "positions", "outputs", "features", "d", "belief_bytes"]
    runs = sweep.runs.assign(belief_bytes=sweep.runs.get("notes.belief_bytes", math.nan))
    sizes = runs.groupby("dataset", sort=False)[names].first().reset_index()
    table = Table.of("data", sizes.assign(gib=sizes.belief_bytes / 2**30))
    return TableSet("data", "", [table], sizes)


# ---- means over problems

MEANS = ["shifted_geometric_mean", "shifted_geometric_mean_from"]


def _means_rows(sets, plot):
    """A row for each solver and target: the range of the shifted geometric mean of the costs, and on how many problems
    the solver reached the target."""
    costs = sets.costs.assign(solver=sets.costs.shown, problems=1, reached=np.isfinite(sets.costs["to"]),
                              unproven=sets.costs.accuracy > sets.costs.target)
    # exp(mean(log(x + shift))) - shift: neither the longest nor the shortest costs dominate it.
    costs[MEANS] = np.log(costs[["to", "from"]].mask(~costs.reached, plot.par * costs.charge, axis=0) + plot.shift)
    counts = ["problems", "reached", "unproven"]
    rows = costs.groupby(["solver", "target"]).agg({**dict.fromkeys(counts, "sum"), **dict.fromkeys(MEANS, "mean")})
    rows = rows.reindex(pd.MultiIndex.from_product([sets.solvers, sets.targets], names=rows.index.names))
    rows[counts] = rows[counts].fillna(0).astype(int)
    rows[MEANS] = np.exp(rows[MEANS]).sub(plot.shift).where(rows.unproven == 0)
    return rows.reset_index().assign(measure=sets.cost, machine=sets.machine, left_out=len(sets.left_out),
                                     shift=plot.shift, par=plot.par)[
        ["measure", "machine", "solver", "target", *counts[:2], "left_out", "shift", "par", *MEANS, "unproven"]]


def _means_table(sets, plot, rows):
    rows = rows[rows.target.isin(sets.targets[-MOST_TARGETS:])]
    unproven = rows[rows.unproven > 0].drop_duplicates("target")
    cells = rows.assign(time=list(map(times.range_text, rows[MEANS[1]], rows[MEANS[0]])),
                        reached=rows.reached.astype(str) + f" of {sets.n}")
    cells.loc[rows.unproven > 0, ["time", "reached"]] = UNPROVEN
    texts = [[solver, *some[["time", "reached"]].to_numpy().flat]
             for solver, some in cells.groupby("solver", sort=False)]
    unit = "s" if sets.cost == "seconds" else sets.cost
    heads = [head for target in rows.target.unique() for head in (f"{unit} to {target:g}", "reached")]
    return Table(f"Shifted geometric means of {sets.cost} to a target, shift {plot.shift:g}, PAR{plot.par:g}{sets.on}",
                 ["solver", *heads], texts, 1, [
                     "" if sets.comparable else "NOT COMPARABLE: seconds that are not comparable count here.",
                     f"{sets.n} problems: (experiment, data set, penalty, repetition)."],
                 _legend(texts) + sentences("means", sets, f"{plot.par:g}",
                                            list(zip(unproven.target, unproven.unproven))))


def means(sweep):
    """Shifted geometric means over problems of the costs to targets. A run that failed or never reached a target is
    charged PAR-k times its limit (Hutter et al. 2009)."""
    shown, tables, rows = sweep.config, [], []
    for cost in shown.plot.x:
        for sets in problem_sets(sweep, cost):
            rows.append(_means_rows(sets, shown.plot))
            tables.append(_means_table(sets, shown.plot, rows[-1]))
    return TableSet("means", shown.title if len(sweep.folders) == 1 else "", tables,
                    pd.concat(rows, ignore_index=True))


# ---- the paper's numbers

OURS = ["nnz", "accuracy"]


def _statistics(block):
    """The mean of the rows that are optima and, if there are two or more, their standard deviation (n - 1)."""
    optima = block[block.optimal]
    if len(block) < 2 or not len(optima):
        return []
    used = f"{len(optima)} of " * (len(optima) < len(block)) + str(len(block))
    mean = {**block.iloc[0], **optima[OURS].mean(skipna=False), "kind": "mean", "solver": "", "status": "",
            "optimal": True, "datasets_used": len(optima), "datasets": len(block), "what": f"mean of {used}",
            "relative_kkt": np.fmax(0.0, optima.relative_kkt.max())}
    deviation = {**mean, **optima[OURS].std(skipna=False), "kind": "deviation", "paper_nnz": math.nan,
                 "paper_accuracy": math.nan, "relative_kkt": math.nan, "what": f"standard deviation of {used}"}
    return [mean, deviation][:len(optima)]


def _paper_table(item, rows):
    """Numbers of runs that ended before an optimum stand in parentheses."""
    ended = rows.solver + rows.solver.map(lambda one: one and ": ") + rows.status
    cells = rows.assign(what=rows.what + ", " + rows.penalty,
                        ended=ended.where(rows.optimal, ended + ", NOT AN OPTIMUM"))
    for name, form in (("nnz", "count"), ("nnz_relative_difference", "+.1%"), ("accuracy", ".6f"),
                       ("accuracy_difference", "+.4f")):
        texts = rows[name].map(lambda value: cell(value, form))
        cells[name] = texts.where(rows.optimal | (texts == "-"), "(" + texts + ")")
    table = Table.of("paper", cells, item=item)
    table.notes = [] if rows.optimal.all() else table.notes
    return table


def paper(sweep):
    """The optimum of each data set and penalty beside the numbers that the paper prints (section [paper]).

    Data sets that differ only by their seed form a block, which ends with mean and standard deviation.
    """
    shown, runs = sweep.config, sweep.single
    if not shown.paper.item:
        raise Error.at(sweep.folders[0] / "config.ini", "no section [paper]", "the paper's numbers")
    best = runs.assign(kkt=runs.relative_kkt.fillna(math.inf)).sort_values("kkt", kind="stable").drop_duplicates(
        ["dataset", "lambda", "mu"]).sort_index()
    papers = [best["lambda"].map(dict(zip(getattr(shown.paper, "lambda"), getattr(shown.paper, one)))) for one in OURS]
    rows = pd.DataFrame({
        "kind": "run", **best[["dataset", "lambda", "mu"]], "solver": best.label, "status": best.status,
        "optimal": (best.relative_kkt <= best.tol) | (best.gap_target > 0) & (best.relative_gap <= best.gap_target),
        "datasets_used": 1, "datasets": 1, "paper_nnz": papers[0], "nnz": best.nnz, "nnz_relative_difference": math.nan,
        "paper_accuracy": papers[1], "accuracy": best.test_accuracy, "accuracy_difference": math.nan,
        "relative_kkt": best.relative_kkt, "penalty": best.penalty, "what": best.dataset,
        "family": pd.factorize([shown.sources.get(name, name) for name in best.dataset])[0]})
    rows = pd.concat([some for _, block in rows.groupby(["family", "lambda", "mu"])
                      for some in (block, pd.DataFrame(_statistics(block)))], ignore_index=True)
    rows["nnz_relative_difference"] = (rows.nnz / rows.paper_nnz - 1.0).where(rows.paper_nnz != 0)
    rows["accuracy_difference"] = rows.accuracy - rows.paper_accuracy
    return TableSet("paper", shown.title, [_paper_table(shown.paper.item, rows)],
                    rows.drop(columns=["penalty", "what", "family"]))


# ---- all tables of an experiment

def results(sweep, columns=()):
    """The tables of runs of single penalties, the summary last."""
    asked = sweep.config.paper
    tables = {paper: getattr(asked, "lambda"), costs: asked.costs, data: asked.data}
    return [table(sweep) for table, wanted in tables.items() if wanted] + [summary(sweep, columns)]
