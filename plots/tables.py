"""Tables of results: summary, costs of targets, sizes of data sets, means over problems, the paper's numbers."""
import math
from dataclasses import dataclass

from ..errors import UsageError, require_known
from ..fields import real
from . import times
from .problems import problem_sets
from .runs import grouped, penalty_text, series_name, several_machines, status
from .texts import Table, TableSet, cell, count, fixed, general, number_text, scientific

FEW = 5  # with fewer repetitions, quartiles only show the spread that was seen
MOST_TARGETS = 4  # that fit a page
PAGE_COLUMNS = 9
ALL, PRINTED = "all", "printed"  # columns: all that have content; those of the page
RATIO_TARGET = 1e-6
METRICS = "test_metrics."
WORDS = ("solver", "status", "n")


# ---- the columns of a summary

@dataclass
class Column:
    """`ends(run)` gives both ends of a measured range, where infinity means never reached and NaN not measured. Without
    it, `form` makes the text of a row, not of a number."""

    name: str
    head: str
    form: object
    ends: object = None
    timed: bool = False
    target: float = math.inf
    cost: str = ""

    def text(self, row):
        """E.g. "3.10 [2.95, 3.40]", or the median alone if the quartiles read the same; "- (1 of 2)" if the median is
        infinite and some repetitions got there."""
        if self.target < row.accuracy:
            return times.UNPROVEN
        if self.timed and not row.timed and row.not_comparable:
            return "n/c"
        if not self.ends:
            return self.form(row)
        begin, end = row.spreads[self.name]
        if math.isinf(end["median"]):
            return f"- ({end['reached']} of {end['n']})" if end["reached"] else "-"
        median, low, high = (self.form(end[name]) for name in ("median", "q25", "q75"))
        start = self.form(begin["median"]) + "-" if times.is_wide(begin["median"], end["median"]) else ""
        return start + (median if end["n"] < 2 or low == high else f"{median} [{low}, {high}]")


def _function_share(run):
    """The share of the seconds outside the solver; NaN if the run was not profiled."""
    phases = run["phases"] or []
    everything = sum(phase["seconds"] for phase in phases)
    function = sum(phase["seconds"] for phase in phases if phase["phase"] != "solver")
    return function / everything if everything > 0 else math.nan


def cost_name(cost, target):
    return f"{cost}_to_{number_text(target)}"


def _columns(sweep, runs, targets, ratio_target):
    def column(name, head, form, value, timed=False):
        return Column(name, head, form, lambda run: (value(run),) * 2, timed)

    def stored(name, head=None, form=count):
        return column(name, head or name, form, lambda run: real(run[name]), form is times.seconds_text)

    def cost_to(cost, target):
        seconds = cost == "seconds"
        return Column(cost_name(cost, target), f"{'s' if seconds else cost} to {general(target)}",
                      times.seconds_text if seconds else fixed(1),
                      lambda run: times.cost_to_target(sweep, run, target, cost), seconds, target, cost)

    def difference(run):
        """Infinite for a run that diverged, which has no final objective."""
        diverged = run["objective"] is None and run["reference_objective"] is not None
        return math.inf if diverged else run["relative_difference"]

    def metric(name):
        return column(name, "test " + name[len(METRICS):], fixed(4), lambda run: (
            float(sweep.trace(run, name)[-1]) if len(sweep.trace(run, name)) else math.nan))

    percent = lambda share: cell(100.0 * share, ".1f")  # noqa: E731
    seconds = times.seconds_text
    return cost_to("seconds", ratio_target), [
        Column("solver", "solver", lambda row: row.label),
        Column("status", "status", lambda row: ", ".join(filter(None, [row.ending, row.failures]))),
        Column("n", "n", lambda row: f"{len(row.measured)}{'*' if len(row.measured) < FEW else ''}"),
        *(cost_to("seconds", target) for target in targets),
        Column("ratio", f"x fastest at {general(ratio_target)}",
               lambda row: ("~" if row.ratio_wide else "") + cell(row.ratio, ".2f"), timed=True, target=ratio_target),
        column("final_difference", "final difference", scientific, difference), stored("nnz"),
        stored("relative_kkt", "relative kkt", scientific), stored("relative_gap", "relative gap", scientific),
        stored("iterations"), stored("passes"), stored("updates"), stored("seconds", form=seconds),
        stored("load_seconds", "load s", seconds), stored("setup_seconds", "set-up s", seconds),
        stored("warm_up_seconds", "warm-up s", seconds), stored("sampling_seconds", "sampling s", seconds),
        stored("test_accuracy", "test accuracy", fixed(4)),
        *(metric(name) for name in sweep.traces if name.startswith(METRICS)
          and any(not math.isnan(value) for run in runs for value in sweep.trace(run, name))),
        *(cost_to("passes", target) for target in targets),
        column("function_share", "function %", percent, _function_share),
        column("solver_share", "solver %", percent, lambda run: 1.0 - _function_share(run))]


# ---- its rows

class Row:
    """One solver on one problem. `spreads` are over the repetitions that did not fail, as (from, to)."""

    def __init__(self, label, runs, measurements, ratio, allow_not_comparable):
        self.label, self.runs, self.machine = label, runs, runs[0]["machine"]
        self.accuracy = runs[0]["reference_accuracy"]
        self.failed, self.measured = ([run for run in runs if run["failed"] == failed] for failed in (True, False))
        self.timed = [run for run in self.measured if run["comparable"] or allow_not_comparable]
        self.not_comparable = len(self.measured) - len(self.timed)
        self.ending = "/".join(dict.fromkeys(map(status, self.measured)))
        self.failures = ", ".join(f"{len(some)} of {len(runs)} {name}" for name, some in grouped(
            sorted(self.failed, key=status), status).items())
        self.spreads = {one.name: self._spread(one) for one in measurements}
        begin, end = (one["median"] for one in self._spread(ratio))
        self.ratio = end if math.isfinite(end) else math.nan
        self.ratio_wide = times.is_wide(begin, end)

    def _spread(self, of):
        ends = [of.ends(run) for run in (self.timed if of.timed else self.measured) if not of.target < self.accuracy]
        return times.spread([a for a, _ in ends]), times.spread([b for _, b in ends])


def _divide_by_fastest(rows):
    """Makes `ratio` that to the fastest on the same machine."""
    for some in grouped(rows, lambda row: row.machine).values():
        fastest = min(some, key=lambda row: math.inf if math.isnan(row.ratio) else row.ratio)
        best, wide = fastest.ratio, fastest.ratio_wide
        for row in some:
            is_best = row.ratio == best
            row.ratio = 1.0 if is_best else row.ratio / best if best else math.inf if row.ratio > 0 else math.nan
            row.ratio_wide = not is_best and not math.isnan(row.ratio) and (row.ratio_wide or wide)


class Summary:
    """The summary of runs of single penalties: a table for each data set and penalty, a row for each solver."""

    def __init__(self, sweep, runs=None, targets=None, columns=(), title=None, ratio_target=RATIO_TARGET,
                 allow_not_comparable=False):
        runs = sweep.single if runs is None else runs
        self.sweep, self.wanted, self.ratio_target = sweep, list(columns), ratio_target
        self.targets = sweep.presentation.targets if targets is None else targets
        self.title = sweep.presentation.title if title is None else title
        ratio, self.all = _columns(sweep, runs, self.targets, ratio_target)
        self.measurements, machines = [one for one in self.all if one.ends], several_machines(runs)
        self.groups = []
        for group in grouped(runs, lambda run: run["key"]).values():
            rows = [Row(name, some, self.measurements, ratio, allow_not_comparable)
                    for name, some in grouped(group, lambda run: series_name(run, machines)).items()]
            _divide_by_fastest(rows)
            self.groups.append(rows)
        self.columns = self._shown_columns()

    def _shown_columns(self):
        """The same columns for all tables of a sweep: those asked for, else the most informative with a value."""
        rows, by_name = sum(self.groups, []), {one.name: one for one in self.all}
        says = lambda one, *signs: any(one.text(row) not in ("-", *signs) for row in rows)  # noqa: E731
        if self.wanted[:1] in ([ALL], [PRINTED]):
            hidden = ("passes_to", "load_s", "setup_s", "warm_up_s", "sampling_s", "updates") if self.wanted[0] == PRINTED else ()
            return [one for one in self.all if says(one) and not one.name.startswith(hidden)]
        for name in self.wanted:
            require_known("columns", name, list(by_name), "all, or some of")
        if self.wanted:
            return [by_name[name] for name in ["solver", *self.wanted]]
        last = [cost_name("seconds", target) for target in self.targets[-MOST_TARGETS:]]
        metrics = [name for name in by_name if name.startswith(METRICS)]
        names = [*WORDS, *last, "final_difference", "test_accuracy", *metrics, "seconds", "nnz", "relative_gap",
                 "iterations", "passes"]
        return [by_name[name] for name in names if says(by_name[name], times.UNPROVEN, "n/c")][:PAGE_COLUMNS]

    # -- a table

    @staticmethod
    def _caption(rows):
        first = rows[0].runs[0]
        out = f"{first['dataset']}, {penalty_text(first)}"
        if first["reference_objective"] is not None:
            proofs = [f"{name} {scientific(first[key])}" for name, key in (
                ("relative kkt", "reference_relative_kkt"), ("gap", "reference_relative_gap"))
                if first[key] is not None]
            out += f", f* = {number_text(first['reference_objective'])} ({', '.join(proofs)})"
        most = max(len(row.runs) for row in rows)
        return out + (f", medians [quartiles] of {most} repetitions" if most > 1 else "")

    def _sign_notes(self, rows, cells):
        """Explains the signs that occur in the cells, and names targets that nobody reached or none can tell."""
        shown, accuracy = [column.name for column in self.columns], rows[0].accuracy
        proven = f"f* is proven to a relative accuracy of {scientific(accuracy)} only"
        hidden = [general(target) for target in self.targets if target < accuracy]
        wide = any(times.is_wide(begin["median"], end["median"]) for row in rows
                   for name, (begin, end) in row.spreads.items() if name in shown)
        ends = {one.target: [row.spreads[one.name][1]["min"] for row in rows] for one in self.measurements
                if one.cost == "passes"}
        unreached = [general(target) for target, least in ends.items()
                     if any(map(math.isinf, least)) and not any(map(math.isfinite, least))]
        few = sorted({len(row.measured) for row in rows if 0 < len(row.measured) < FEW})
        yield times.UNPROVEN in cells, f"?: {proven}, and no target below that can be told."
        yield hidden and times.UNPROVEN not in cells, f"{proven}: no cost to {', '.join(hidden)} can be told."
        yield wide, ("A-B: the target was reached between two samples, at A and at B, more than a tenth of B apart. "
                     "Quartiles are those of B.")
        yield "ratio" in shown and any(row.ratio_wide for row in rows), (
            "~: a ratio of two times of which at least one is known as an interval only.")
        yield any(text.startswith("- (") for text in cells), (
            "- (k of n): only k of n repetitions reached the target, so that there is no median.")
        yield unreached, f"No solver reached {', '.join(unreached)}."
        yield few[-1:] == [1], "* n = 1: a single run, whose spread is not known."
        yield few and few[-1] > 1, (f"* n = {', '.join(map(str, few))} < {FEW} repetitions: quartiles are no more than "
                                    "the spread seen.")

    def _run_notes(self, rows):
        """Remarks on external trainers, each once after the labels that it is about, and on runs that are left out."""
        about, started = {}, ("an external trainer, started repeatedly, each time to stop later; its times begin with "
                              "its first iteration, unless they include load s.")
        for row in rows:
            texts = [started for run in row.runs if run["trainer"] and len(self.sweep.trace(run, "seconds"))]
            texts += [f"{warning}." for run in row.runs for warning in run["warnings"] or []]
            for text in dict.fromkeys(texts):
                about.setdefault(text, []).append(row.label)
        yield from (f"{', '.join(labels)}: {text}" for text, labels in about.items())
        for row in rows:
            for (end, why), runs in grouped(row.failed, lambda run: (status(run), run["reason"])).items():
                yield f"{row.label}: {len(runs)} of {len(row.runs)} {end}{f': {why}' if why else ''}; in no median."
            if row.not_comparable:
                why = [run["not_comparable_because"] for run in row.measured if not run["comparable"]][-1]
                yield (f"{row.label}: the timings of {row.not_comparable} of {len(row.measured)} runs are not "
                       f"comparable (n/c) and left out{f': {why}' if why else ''}.")
        if len({row.machine for row in rows}) > 1:
            yield ("Runs of several machines: each has rows of its own, and is compared with the fastest on the same "
                   "machine only.")

    def _table(self, rows):
        cells = [[column.text(row) for column in self.columns] for row in rows]
        words = [column.name in WORDS for column in self.columns] + [False]
        notes = [text for holds, text in self._sign_notes(rows, set(sum(cells, []))) if holds]
        return Table(self._caption(rows), [column.head for column in self.columns], cells, words.index(False),
                     [rows[0].runs[0]["description"] or ""], [*notes, *self._run_notes(rows)])

    def _record(self, row):
        first = row.runs[0]
        out = {"experiment": first["experiment"] or "", "dataset": first["dataset"], "lambda": first["_lambda"],
               "mu": first["_mu"], **{name: real(first[name]) for name in (
                   "reference_objective", "reference_relative_kkt", "reference_relative_gap", "reference_accuracy")},
               "solver": row.label, "machine": row.machine, "status": row.ending, "repetitions": len(row.runs),
               "failed": len(row.failed), "failures": row.failures, "not_comparable": row.not_comparable,
               f"ratio_to_fastest_at_{number_text(self.ratio_target)}": row.ratio}
        for one in self.measurements:
            for name, spread in zip((one.name, one.name + "_from"), reversed(row.spreads[one.name])):
                if one.cost or name == one.name:
                    out[name] = {part: spread[part] for part in ("median", "q25", "q75", "min", "max", "n")}
        return out

    def tables(self, name="summary"):
        return TableSet(name, self.title, list(map(self._table, self.groups)),
                        [self._record(row) for rows in self.groups for row in rows])

    def chosen_records(self, records):
        """The records with the measurements among the wanted columns only."""
        if not self.wanted or self.wanted[0] == ALL:
            return records
        return [{name: value for name, value in record.items()
                 if not isinstance(value, dict) or name.removesuffix("_from") in self.wanted} for record in records]


def summary(sweep, **options):
    """Times to targets, values reached and quality of the models: a TableSet. See Summary for the options."""
    return Summary(sweep, **options).tables()


def costs(sweep, **options):
    """The passes and seconds to each target (as in Table 2 of Andrew and Gao 2007)."""
    columns = [cost_name(cost, target) for target in sweep.presentation.targets[-3:] for cost in ("passes", "seconds")]
    out = Summary(sweep, **{**options, "columns": columns + ["function_share", "status"]}).tables("costs")
    for table in out.tables:
        table.notes.append("passes: evaluations of F and its gradient over all instances; function: the share of scores, "
                           "inference and gradients in the time of the run; the rest is the solver's.")
    return out


def data(sweep):
    """The sizes of data sets (as in Table 1 of Le Priol et al. 2018)."""
    out = TableSet("data", "", [Table("Data sets", ["data", "n", "N", "K", "A", "d", "marginals (GiB)"], [], 1, [
        "n: instances; N: positions; K: outputs; A: features; marginals: what a dual solver keeps of all instances, "
        "pairs and singletons."])])
    for dataset, runs in grouped(sweep.records, lambda run: run["dataset"]).items():
        known = lambda values: real(next((one for one in values if one is not None), None))  # noqa: E731
        sizes = {name: known(run[name] for run in runs)
                 for name in ("instances", "positions", "outputs", "features", "d")}
        kept = known((run["notes"] or {}).get("belief_bytes") for run in runs)
        out.records.append({"dataset": dataset, **sizes, "belief_bytes": kept})
        out.tables[0].rows.append([dataset, *map(count, sizes.values()), cell(kept / 2**30, ".2f")])
    return out


# ---- means over problems

def _mean(sets, solver, target, plot):
    """The range of the shifted geometric mean of a solver's costs, and on how many problems it reached the target."""
    ends = [problem.costs[target][solver] for problem in sets.problems]
    charged = [(plot.par * problem.limits[solver],) * 2 if math.isinf(end[1]) else end
               for problem, end in zip(sets.problems, ends)]
    begin, end = (math.nan if sets.unproven(target) else times.shifted_geometric_mean([one[i] for one in charged],
                                                                                      plot.shift) for i in (0, 1))
    return begin, end, sum(math.isfinite(end) for _, end in ends)


def _means_table(sets, plot, records):
    par, n, cost = general(plot.par), len(sets.problems), sets.cost
    limit = {"seconds": "the run's time limit, or ", "iterations": "the run's max_iterations, or "}.get(cost, "")
    wide, shown = False, range(max(len(sets.targets) - MOST_TARGETS, 0), len(sets.targets))
    table = Table(f"Shifted geometric means of {cost} to a target, shift {general(plot.shift)}, PAR{par}"
                  f"{f', on {sets.machine}' if sets.machine else ''}", ["solver"])
    if not sets.comparable:
        table.notes.append("NOT COMPARABLE: seconds of runs whose timings are not comparable count here.")
    table.notes.append(f"{n} problems: (experiment, data set, penalty, repetition).")
    for i in shown:
        table.head += [f"{'s' if cost == 'seconds' else cost} to {general(sets.targets[i])}", "reached"]
        if unproven := sets.unproven(i):
            table.footnotes.append(f"?: f* of {unproven} of {n} problems is not proven to {general(sets.targets[i])}.")
    for solver, label in enumerate(sets.solvers):
        table.rows.append([label])
        for i, target in enumerate(sets.targets):
            begin, end, reached = _mean(sets, solver, i, plot)
            unproven = sets.unproven(i)
            if i in shown:
                wide |= times.is_wide(begin, end)
                table.rows[-1] += ["?"] * 2 if unproven else [times.range_text(begin, end), f"{reached} of {n}"]
            records.append({
                "measure": cost, "machine": sets.machine, "solver": label, "target": target, "problems": n,
                "reached": reached, "left_out": len(sets.left_out), "shift": plot.shift, "par": plot.par,
                "shifted_geometric_mean": end, "shifted_geometric_mean_from": begin, "unproven": unproven})
    if wide:
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
            out.tables.append(_means_table(sets, shown.plot, out.records))
    return out


# ---- the paper's numbers

def _paper_row(run, paper):
    printed = lambda numbers: next((float(value) for value, at in zip(numbers, getattr(paper, "lambda"))  # noqa: E731
                                    if at == run["_lambda"]), math.nan)
    kkt, wanted = real(run["relative_kkt"]), run["gap_target"] or 0.0
    return {"kind": "run", "dataset": run["dataset"], "lambda": run["_lambda"], "mu": run["_mu"],
            "solver": run["label"], "status": status(run),
            "optimal": kkt <= run["tol"] or (wanted > 0 and real(run["relative_gap"]) <= wanted), "datasets_used": 1,
            "datasets": 1, "paper_nnz": printed(paper.nnz), "nnz": real(run["nnz"]),
            "nnz_relative_difference": math.nan, "paper_accuracy": printed(paper.accuracy),
            "accuracy": real(run["test_accuracy"]), "accuracy_difference": math.nan, "relative_kkt": kkt}


def _statistics(rows):
    """The mean of the rows that are optima and, if there are two or more, their standard deviation (n - 1)."""
    optima = [row for row in rows if row["optimal"]]
    if len(rows) < 2 or not optima:
        return []
    n, worst = len(optima), max([0.0, *(row["relative_kkt"] for row in optima if not math.isnan(row["relative_kkt"]))])
    mean = {**rows[0], "kind": "mean", "solver": "", "status": "", "optimal": True, "datasets_used": n,
            "datasets": len(rows), "relative_kkt": worst}
    deviation = {**mean, "kind": "deviation", "paper_nnz": math.nan, "paper_accuracy": math.nan,
                 "relative_kkt": math.nan}
    for name in ("nnz", "accuracy"):
        mean[name] = sum(row[name] for row in optima) / n
        deviation[name] = math.sqrt(sum((row[name] - mean[name]) ** 2 for row in optima) / max(n - 1, 1))
    return [mean, deviation] if n > 1 else [mean]


def _paper_cells(row):
    used, total = row["datasets_used"], row["datasets"]
    name = row["dataset"] if row["kind"] == "run" else (
        f"{'mean' if row['kind'] == 'mean' else 'standard deviation'} of {'' if used == total else f'{used} of '}{total}")
    penalty = penalty_text({"path": None, "_lambda": row["lambda"], "_mu": row["mu"], "loss_text": "log"})
    ours = lambda text: text if row["optimal"] or text == "-" else f"({text})"  # noqa: E731
    difference = row["nnz_relative_difference"]
    return [f"{name}, {penalty}", (f"{row['solver']}: {row['status']}" if row["solver"] else "")
            + ("" if row["optimal"] else ", NOT AN OPTIMUM"), count(row["paper_nnz"]), ours(count(row["nnz"])),
            ours("-" if math.isnan(difference) else f"{100 * difference:+.1f} %"), cell(row["paper_accuracy"], ".6f"),
            ours(cell(row["accuracy"], ".6f")), ours(cell(row["accuracy_difference"], "+.4f")),
            scientific(row["relative_kkt"])]


def paper(sweep):
    """The optimum of each data set and penalty beside the numbers that the paper prints (section [paper]).

    Data sets that differ only by their seed form a block, which ends with mean and standard deviation.
    """
    shown, rows = sweep.presentation, []
    distance = lambda run: math.inf if run["relative_kkt"] is None else run["relative_kkt"]  # noqa: E731
    for family in grouped(sweep.single, lambda run: shown.sources.get(run["dataset"], run["dataset"])).values():
        for _, runs in sorted(grouped(family, lambda run: (run["_lambda"], run["_mu"])).items()):
            block = [_paper_row(min(some, key=distance), shown.paper)
                     for some in grouped(runs, lambda run: run["dataset"]).values()]
            rows += block + _statistics(block)
    for row in rows:
        if row["paper_nnz"]:
            row["nnz_relative_difference"] = row["nnz"] / row["paper_nnz"] - 1.0
        row["accuracy_difference"] = row["accuracy"] - row["paper_accuracy"]
    table = Table(f"{shown.paper.item} of the paper, and ours",
                  ["data", "status", "nnz: paper", "ours", "difference", "accuracy: paper", "ours", "difference",
                   "relative kkt"], list(map(_paper_cells, rows)), 2)
    if not all(row["optimal"] for row in rows):
        table.notes.append("In parentheses: NOT AN OPTIMUM. The run ended before kkt <= tol * (kkt at w = 0) or the gap "
                           "asked for; such rows are in no mean.")
    return TableSet("paper", shown.title, [table], rows)


# ---- all tables of an experiment

def results(sweep, columns=(), allow_not_comparable=False):
    """The tables of runs of single penalties, the summary last, and the Summary itself."""
    shown = sweep.presentation
    whole = Summary(sweep, columns=columns, allow_not_comparable=allow_not_comparable)
    out = [paper(sweep)] if getattr(shown.paper, "lambda") else []
    out += [costs(sweep, allow_not_comparable=allow_not_comparable)] if shown.paper.costs else []
    out += [data(sweep)] if shown.paper.data else []
    return [*out, whole.tables()], whole


def require_single(sweep):
    if not sweep.single:
        raise UsageError(f"{sweep.folders[0]}/runs: found paths alone, expected runs of single penalties; paths have "
                         "kinds of their own: --kind path")
