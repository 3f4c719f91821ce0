"""Tables of results: summary, costs of targets, sizes of data sets, means over problems, the paper's numbers."""
import math
import re
from itertools import takewhile
from types import SimpleNamespace

import numpy as np
import pandas as pd

from ..errors import ProxbenchError, require_known
from ..fields import number_text
from . import times
from .problems import problem_sets
from .texts import DECLARED, Table, TableSet, cell, sentences
from .times import UNPROVEN

FEW = 5  # with fewer repetitions, quartiles only show the spread that was seen
MOST_TARGETS = 4  # that fit a page
PAGE_COLUMNS = 9
ALL, PRINTED = "all", "printed"  # columns: all that have content; those that fit the page on paper
OFF_PAGE = ("passes_to", "load_", "setup_", "warm_up_", "sampling_", "updates")
METRICS = "test_metrics."
GROUP = ["dataset", "penalty"]  # a table each
NOT_COMPARABLE = "n/c"


def _legend(rows):
    cells = set(sum(rows, []))
    return [text for sign, text in DECLARED["signs"].items() if any(re.fullmatch(sign, one) for one in cells)]


def cost_name(cost, target):
    return f"{cost}_to_{number_text(target)}"


RATIO_TARGET = 1e-6
RATIO = cost_name("seconds", RATIO_TARGET)


# ---- summary

def _forms(targets, metrics):
    """The measurements that have columns, in this order, with their forms."""
    return {**dict.fromkeys([cost_name("seconds", one) for one in targets], "seconds"), **DECLARED["summary"],
            **dict.fromkeys(metrics, ".4f"), **dict.fromkeys([cost_name("passes", one) for one in targets], ".1f"),
            **dict.fromkeys(["function_share", "solver_share"], ".1%")}


def _head(name):
    if name == "ratio":
        return f"x fastest at {RATIO_TARGET:g}"
    return name.replace(METRICS, "test ").replace("_", " ").replace("seconds to", "s to")


def _measured(sweep, runs, forms, targets):
    """The measurements of each run, costs also with `_from`. NaN where a run failed, is not comparable, or f* is not
    exact enough."""
    metrics = sweep.samples.filter(regex=f"^(run$|{METRICS})").drop_duplicates("run", keep="last").set_index("run")
    costs = sweep.times(sorted({*targets, RATIO_TARGET}))
    costs = costs.assign(name=costs.cost + "_to_" + costs.target.map(number_text))
    costs = costs[costs.exact].pivot(index="run", columns="name", values=["to", "from"])
    costs.columns = [name + ("_from" if side == "from" else "") for side, name in costs.columns]
    phases = pd.DataFrame([{one["phase"]: one["seconds"] for one in some or []} for some in runs.phases], runs.index)
    share = phases.get("solver", 0.0) / phases.sum(axis=1, min_count=1)
    names = dict.fromkeys([RATIO, *forms])
    diverged = runs.objective.isna() & runs.reference_objective.notna()
    out = runs.drop(columns=list(metrics), errors="ignore").join([metrics, costs]).assign(
        final_difference=runs.relative_difference.mask(diverged, math.inf), solver_share=share,
        function_share=1.0 - share).reindex(
        columns=[*names, *(name + "_from" for name in names if "_to_" in name)]).astype(float)
    out[runs.failed] = math.nan
    if not sweep.presentation.allow:
        out.loc[~runs.comparable, out.columns.str.contains("seconds")] = math.nan
    return out


def _row(label, runs, values, allow):
    """One solver on one problem; `spreads` are over the repetitions that did not fail."""
    runs = runs.fillna({"reason": "", "not_comparable_because": ""})
    good, failed = runs[~runs.failed], runs[runs.failed]
    failures = failed.status.value_counts().sort_index()
    return SimpleNamespace(
        solver=label, runs=runs, first=runs.iloc[0], n=len(good), ending="/".join(good.status.unique()),
        timed=len(good) if allow else int(good.comparable.sum()),
        failures=", ".join(f"{n} of {len(runs)} {status}" for status, n in failures.items()),
        external=runs.trainer.notna().any(), warnings=list(runs.warnings.explode().dropna().unique()),
        reasons=list(failed.groupby(["status", "reason"], sort=False).groups),
        why="".join(good.not_comparable_because[~good.comparable].iloc[-1:]),
        spreads={name: times.spread(column) for name, column in values.loc[runs.index].items()})


def _ends(row, name):
    """The medians of a cost at the sample before the target and at that which reached it."""
    return [row.spreads.get(part, row.spreads[name])["median"] for part in (name + "_from", name)]


def _text(name, form, row):
    """E.g. "3.10 [2.95, 3.40]", or the median alone if the quartiles read the same; "- (1 of 2)" if the median is
    infinite and some repetitions got there."""
    spread = row.spreads[name]
    if math.isinf(spread["median"]):
        return f"- ({spread['reached']} of {spread['n']})" if spread["reached"] else "-"
    median, low, high = (cell(spread[part], form) for part in ("median", "q25", "q75"))
    quartiles = "" if spread["n"] < 2 or low == high else f" [{low}, {high}]"
    return times.range_text(*_ends(row, name), lambda value: cell(value, form)) + quartiles


def _add_texts(rows, forms):
    """Adds the ratio of the seconds to those of the fastest on the same machine, and the cells by the names of their
    columns."""
    machine = pd.Series([row.first["machine"] for row in rows])
    begin, end = (pd.Series(one) for one in zip(*(_ends(row, RATIO) for row in rows)))
    seconds = end.replace(math.inf, math.nan)
    best = seconds.groupby(machine).transform("min")
    ratios, wide = (seconds / best).where(seconds != best, 1.0), times.is_wide(begin, end)
    wide = ratios.ne(1.0) & (wide | (wide & (seconds == best)).groupby(machine).transform("max"))
    for row, row.ratio, doubtful in zip(rows, ratios, wide & ratios.notna()):
        texts = {**{name: _text(name, form, row) for name, form in forms.items()},
                 "ratio": "~" * doubtful + cell(row.ratio, ".2f")}
        for name in texts:
            if row.n and not row.timed and ("seconds" in name or name == "ratio"):
                texts[name] = NOT_COMPARABLE
            target = RATIO_TARGET if name == "ratio" else float(name.partition("_to_")[2] or "inf")
            if target < row.first["reference_accuracy"]:
                texts[name] = UNPROVEN
        row.texts = {"solver": row.solver, "status": ", ".join(filter(None, [row.ending, row.failures])),
                     "n": f"{row.n}{'*' if row.n < FEW else ''}", **texts}


def _shown_columns(rows, forms, wanted, targets):
    """The same columns for all tables of a sweep: those asked for, else the most informative with a value."""
    costs = [name for name in forms if name.startswith("seconds_to_")]
    known = ["solver", "status", "n", *costs, "ratio", *(name for name in forms if name not in costs)]

    def says(name, *signs):
        return any(row.texts[name] not in ("-", *signs) for row in rows)

    if wanted[:1] in ([ALL], [PRINTED]):
        return [name for name in known if says(name) and not (wanted == [PRINTED] and name.startswith(OFF_PAGE))]
    for name in wanted:
        require_known("columns", name, known, "all, or some of")
    names = ["solver", "status", "n", *(cost_name("seconds", target) for target in targets[-MOST_TARGETS:]),
             "final_difference", "test_accuracy", *(name for name in forms if name.startswith(METRICS)), "seconds",
             "nnz", "relative_gap", "iterations", "passes"]
    return ["solver", *wanted] if wanted else [
        name for name in names if says(name, UNPROVEN, NOT_COMPARABLE)][:PAGE_COLUMNS]


def _table(rows, shown, targets):
    first, most = rows[0].first, max(len(row.runs) for row in rows)
    accuracy, reference = first["reference_accuracy"], first["reference_objective"]
    caption = f"{first['dataset']}, {first['penalty']}"
    if not math.isnan(reference):
        proofs = [f"{text} {first[name]:.1e}" for text, name in (("relative kkt", "reference_relative_kkt"),
                                                                 ("gap", "reference_relative_gap"))
                  if not math.isnan(first[name])]
        caption += f", f* = {number_text(reference)} ({', '.join(proofs)})"
    caption += f", medians [quartiles] of {most} repetitions" if most > 1 else ""
    cells = [[row.texts[name] for name in shown] for row in rows]
    words = len(list(takewhile(["solver", "status", "n"].__contains__, shown)))
    hidden = [f"{target:g}" for target in targets if target < accuracy]
    least = {f"{target:g}": [row.spreads[cost_name("passes", target)]["min"] for row in rows] for target in targets}
    unreached = [target for target, one in least.items() if np.isinf(one).any() and not np.isfinite(one).any()]
    return Table(caption, list(map(_head, shown)), cells, words, [first["description"] or ""],
                 [*_legend(cells), *sentences("summary", rows, accuracy, hidden, unreached)])


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
    runs, shown = sweep.single, sweep.presentation
    metrics = sweep.samples[sweep.samples.run.isin(runs.index)].filter(like=METRICS).dropna(axis=1, how="all")
    forms = _forms(shown.targets, metrics)
    values = _measured(sweep, runs, forms, shown.targets)
    groups = [[_row(label, some, values, shown.allow) for label, some in group.groupby("series", sort=False)]
              for _, group in runs.groupby(GROUP, sort=False)]
    for rows in groups:
        _add_texts(rows, forms)
    rows = sum(groups, [])
    columns = _shown_columns(rows, forms, list(columns), shown.targets)
    return TableSet(name, shown.title, [_table(some, columns, shown.targets) for some in groups],
                    [_record(row, forms) for row in rows], groups=groups)


def chosen_records(records, wanted):
    """The records of a summary with the measurements among the wanted columns only."""
    if not wanted or wanted[0] == ALL:
        return records
    return [{name: value for name, value in record.items()
             if not isinstance(value, dict) or name.removesuffix("_from") in wanted} for record in records]


# ---- costs and sizes

def costs(sweep):
    """The passes and seconds to each target (as in Table 2 of Andrew and Gao 2007)."""
    columns = [cost_name(cost, target) for target in sweep.presentation.targets[-3:] for cost in ("passes", "seconds")]
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
    return TableSet("data", "", [table], sizes.to_dict("records"))


# ---- means over problems

MEAN = "shifted_geometric_mean"


def _means_rows(sets, plot):
    """A row for each solver and target: the range of the shifted geometric mean of the costs, and on how many problems
    the solver reached the target."""
    costs = sets.costs.assign(reached=np.isfinite(sets.costs["to"]), unproven=sets.costs.accuracy > sets.costs.target)
    charged = costs[["from", "to"]].mask(~costs.reached, plot.par * costs.charge, axis=0)
    by = [costs.shown, costs.target]
    every = pd.MultiIndex.from_product([sets.solvers, sets.targets], names=["solver", "target"])
    rows = costs.groupby(by)[["reached", "unproven"]].sum().assign(problems=costs.groupby(by).size()).reindex(
        every, fill_value=0)
    # exp(mean(log(x + shift))) - shift: neither the longest nor the shortest costs dominate it.
    means = np.exp(np.log(charged + plot.shift).groupby(by).mean()) - plot.shift
    rows[[MEAN, MEAN + "_from"]] = means[["to", "from"]].reindex(every).where(rows.unproven == 0)
    return rows.reset_index().assign(measure=sets.cost, machine=sets.machine, left_out=len(sets.left_out),
                                     shift=plot.shift, par=plot.par)[
        ["measure", "machine", "solver", "target", "problems", "reached", "left_out", "shift", "par", MEAN,
         MEAN + "_from", "unproven"]]


def _means_table(sets, plot, rows):
    cost, par = sets.cost, f"{plot.par:g}"
    rows = rows[rows.target.isin(sets.targets[-MOST_TARGETS:])]
    cells = rows.assign(time=list(map(times.range_text, rows[MEAN + "_from"], rows[MEAN])),
                        reached=rows.reached.astype(str) + f" of {sets.n}")
    cells.loc[rows.unproven > 0, ["time", "reached"]] = UNPROVEN
    texts = [[solver, *some[["time", "reached"]].to_numpy().flat]
             for solver, some in cells.groupby("solver", sort=False)]
    heads = [[f"{'s' if cost == 'seconds' else cost} to {target:g}", "reached"] for target in rows.target.unique()]
    unproven = rows[rows.unproven > 0].drop_duplicates("target")
    return Table(f"Shifted geometric means of {cost} to a target, shift {plot.shift:g}, PAR{par}{sets.on}",
                 ["solver", *sum(heads, [])], texts, 1, [
                     "" if sets.comparable else "NOT COMPARABLE: seconds that are not comparable count here.",
                     f"{sets.n} problems: (experiment, data set, penalty, repetition)."],
                 _legend(texts) + sentences("means", sets, par, list(zip(unproven.target, unproven.unproven))))


def means(sweep):
    """Shifted geometric means over problems of the costs to targets. A run that failed or never reached a target is
    charged PAR-k times its limit (Hutter et al. 2009)."""
    shown = sweep.presentation
    out = TableSet("means", shown.title if len(sweep.folders) == 1 else "", [])
    for cost in shown.plot.x:
        for sets in problem_sets(sweep, cost):
            rows = _means_rows(sets, shown.plot)
            out.tables.append(_means_table(sets, shown.plot, rows))
            out.records += rows.to_dict("records")
    return out


# ---- the paper's numbers

def _statistics(block):
    """The mean of the rows that are optima and, if there are two or more, their standard deviation (n - 1)."""
    optima = block[block.optimal]
    if len(block) < 2 or not len(optima):
        return []
    ours, used = ["nnz", "accuracy"], f"{len(optima)} of " * (len(optima) < len(block)) + str(len(block))
    mean = {**block.iloc[0], **optima[ours].mean(skipna=False), "kind": "mean", "solver": "", "status": "",
            "optimal": True, "datasets_used": len(optima), "datasets": len(block), "what": f"mean of {used}",
            "relative_kkt": np.fmax(0.0, optima.relative_kkt.max())}
    deviation = {**mean, **optima[ours].std(skipna=False), "kind": "deviation", "paper_nnz": math.nan,
                 "paper_accuracy": math.nan, "relative_kkt": math.nan, "what": f"standard deviation of {used}"}
    return [mean, deviation] if len(optima) > 1 else [mean]


def _paper_table(item, rows):
    """Numbers of runs that ended before an optimum stand in parentheses."""
    cells = rows.assign(what=rows.what + ", " + rows.penalty,
                        ended=rows.solver + rows.solver.map(lambda one: one and ": ") + rows.status
                        + rows.optimal.map({True: "", False: ", NOT AN OPTIMUM"}))
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
    shown, runs = sweep.presentation, sweep.single
    if not shown.paper.item:
        raise ProxbenchError(f"{sweep.folders[0]}/config.ini: found no section [paper], expected the paper's numbers")
    lambdas = getattr(shown.paper, "lambda")
    best = runs.assign(kkt=runs.relative_kkt.fillna(math.inf)).sort_values("kkt", kind="stable").drop_duplicates(
        ["dataset", "lambda", "mu"]).sort_index()
    rows = pd.DataFrame({
        "kind": "run", **best[["dataset", "lambda", "mu"]], "solver": best.label, "status": best.status,
        "optimal": (best.relative_kkt <= best.tol) | (best.gap_target > 0) & (
            best.relative_gap <= best.gap_target), "datasets_used": 1, "datasets": 1,
        "paper_nnz": best["lambda"].map(dict(zip(lambdas, shown.paper.nnz))), "nnz": best.nnz,
        "nnz_relative_difference": math.nan,
        "paper_accuracy": best["lambda"].map(dict(zip(lambdas, shown.paper.accuracy))), "accuracy": best.test_accuracy,
        "accuracy_difference": math.nan, "relative_kkt": best.relative_kkt, "penalty": best.penalty,
        "what": best.dataset, "family": [shown.sources.get(name, name) for name in best.dataset]})
    blocks = [some for _, family in rows.groupby("family", sort=False) for _, block in family.groupby(["lambda", "mu"])
              for some in (block, pd.DataFrame(_statistics(block)))]
    rows = pd.concat(blocks, ignore_index=True) if blocks else rows
    rows["nnz_relative_difference"] = (rows.nnz / rows.paper_nnz - 1.0).where(rows.paper_nnz != 0)
    rows["accuracy_difference"] = rows.accuracy - rows.paper_accuracy
    return TableSet("paper", shown.title, [_paper_table(shown.paper.item, rows)],
                    rows.drop(columns=["penalty", "what", "family"]).to_dict("records"))


# ---- all tables of an experiment

def results(sweep, columns=()):
    """The tables of runs of single penalties, the summary last."""
    shown = sweep.presentation
    out = [paper(sweep)] if getattr(shown.paper, "lambda") else []
    out += [costs(sweep)] if shown.paper.costs else []
    out += [data(sweep)] if shown.paper.data else []
    return [*out, summary(sweep, columns)]
