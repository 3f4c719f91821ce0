"""Tables of results: summary, costs of targets, sizes of data sets, means over problems, the paper's numbers, grids."""
import math

from ..errors import UsageError, require_known
from . import times
from .problems import problem_sets
from .runs import grouped, penalty_text, series_name, several_machines, status
from .texts import Table, TableSet, cell, count, fixed, general, number_text, scientific

FEW = 5  # with fewer repetitions, quartiles only show the spread that was seen
MOST_TARGETS = 4  # that fit a page
PAGE_COLUMNS = 9
ALL, PRINTED = "all", "printed"  # columns: all that have content; those of the page
RATIO_TARGET = 1e-6
WIDE_NOTE = "A-B: the target was reached between two samples, at A and at B, more than a tenth of B apart."
METRICS = "test_metrics."


def _value(run, name):
    return math.nan if run[name] is None else float(run[name])


# ---- measurements that a summary shows

class Measurement:
    """`value(run)` gives both ends of a range: infinity means never reached, NaN not measured."""

    def __init__(self, name, head, text, value, timed=False, target=None, cost=None):
        self.name, self.head, self.text, self.timed = name, head, text, timed
        self.target, self.cost = target, cost
        self.value = value if cost else lambda run: (value(run),) * 2


def _final_difference(run):
    """Infinite for a run that diverged, which has no final objective."""
    if run["objective"] is None and run["reference_objective"] is not None:
        return math.inf
    return run["relative_difference"]


def _function_share(run):
    """The share of the seconds outside the solver; NaN if the run was not profiled."""
    phases = run["phases"] or []
    everything = sum(phase["seconds"] for phase in phases)
    function = sum(phase["seconds"] for phase in phases if phase["phase"] != "solver")
    return function / everything if everything > 0 else math.nan


def _cost_to(sweep, target, cost):
    return Measurement(f"{cost}_to_{number_text(target)}", f"{'s' if cost == 'seconds' else cost} to {general(target)}",
                       times.seconds_text if cost == "seconds" else fixed(1),
                       lambda run: times.cost_to_target(sweep, run, target, cost), cost == "seconds", target, cost)


def _measurements(sweep, runs, targets):
    plain = lambda name, head, text, timed=False: Measurement(  # noqa: E731
        name, head, text, lambda run: _value(run, name), timed)
    seconds = times.seconds_text
    percent = lambda share: cell(100.0 * share, ".1f")  # noqa: E731
    out = [_cost_to(sweep, target, "seconds") for target in targets]
    out += [Measurement("final_difference", "final difference", scientific, _final_difference),
            plain("nnz", "nnz", count), plain("relative_kkt", "relative kkt", scientific),
            plain("relative_gap", "relative gap", scientific)]
    out += [plain(name, name, count) for name in ("iterations", "passes", "updates")]
    out += [plain(name, head, seconds, True) for name, head in (
        ("seconds", "seconds"), ("load_seconds", "load s"), ("setup_seconds", "set-up s"),
        ("warm_up_seconds", "warm-up s"), ("sampling_seconds", "sampling s"))]
    out.append(plain("test_accuracy", "test accuracy", fixed(4)))
    for name in (name for name in sweep.traces if name.startswith(METRICS)):
        if any(not math.isnan(value) for run in runs for value in sweep.trace(run, name)):
            out.append(Measurement(name, "test " + name[len(METRICS):], fixed(4), lambda run, name=name: (
                float(sweep.trace(run, name)[-1]) if len(sweep.trace(run, name)) else math.nan)))
    out += [_cost_to(sweep, target, "passes") for target in targets]
    return out + [Measurement("function_share", "function %", percent, _function_share),
                  Measurement("solver_share", "solver %", percent, lambda run: 1.0 - _function_share(run))]


# ---- rows

class Row:
    """One solver on one problem. `spreads` are over the repetitions that did not fail, as (from, to)."""

    def __init__(self, label, runs, group, allow_not_comparable):
        self.label, self.runs = label, runs
        self.failed = [run for run in runs if run["failed"]]
        self.measured = [run for run in runs if not run["failed"]]
        self.timed = [run for run in self.measured if run["comparable"] or allow_not_comparable]
        self.machine, self.group = runs[0]["machine"], group
        self.ratio, self.ratio_wide = math.nan, False

    @property
    def not_comparable(self):
        return len(self.measured) - len(self.timed)

    def spread(self, of):
        unknown = of.target is not None and self.group.unproven(of.target)
        runs = [] if unknown else self.timed if of.timed else self.measured
        ends = [of.value(run) for run in runs]
        return times.spread([a for a, _ in ends]), times.spread([b for _, b in ends])

    def failures(self):
        counts = grouped(sorted(self.failed, key=status), status)
        return ", ".join(f"{len(runs)} of {len(self.runs)} {name}" for name, runs in counts.items())

    def ending(self):
        return "/".join(dict.fromkeys(status(run) for run in self.measured))


class Group:
    """One data set and penalty."""

    def __init__(self, sweep, runs, machines, measurements, ratio, allow_not_comparable):
        self.runs, self.first = runs, runs[0]
        self.accuracy = math.nan
        for run in runs:
            bound = times.reference_bound(run)
            self.accuracy = bound if math.isnan(self.accuracy) else max(self.accuracy, bound)
        self.rows = [Row(name, some, self, allow_not_comparable)
                     for name, some in grouped(runs, lambda run: series_name(run, machines)).items()]
        for row in self.rows:
            row.spreads = [row.spread(one) for one in measurements]
            begin, end = row.spread(ratio)
            row.ratio = end["median"] if math.isfinite(end["median"]) else math.nan
            row.ratio_wide = times.is_wide(begin["median"], end["median"])
        self._divide_by_fastest()

    def unproven(self, target):
        return times.unproven(target, self.accuracy)

    def _divide_by_fastest(self):
        fastest = {}
        for row in self.rows:
            best = fastest.setdefault(row.machine, (math.inf, False))
            if row.ratio < best[0]:
                fastest[row.machine] = row.ratio, row.ratio_wide
        for row in self.rows:
            best, wide = fastest[row.machine]
            is_best = row.ratio == best
            row.ratio = 1.0 if is_best else row.ratio / best if best else (math.inf if row.ratio > 0 else math.nan)
            row.ratio_wide = not is_best and not math.isnan(row.ratio) and (row.ratio_wide or wide)


# ---- cells

def _spread_cell(spread, text):
    """"3.10 [2.95, 3.40]", or the median alone if the quartiles read the same; "- (1 of 2)" if the median is infinite
    and some repetitions got there."""
    if math.isinf(spread["median"]):
        return "-" if math.isinf(spread["min"]) else f"- ({spread['reached']} of {spread['n']})"
    low, high = text(spread["q25"]), text(spread["q75"])
    median = text(spread["median"])
    return median if spread["n"] < 2 or low == high else f"{median} [{low}, {high}]"


class Column:
    def __init__(self, name, head, text, words=False):
        self.name, self.head, self.text, self.words = name, head, text, words

    def says(self, rows, a_value):
        """Whether a row has a value here, or (if not `a_value`) any sign but "-"."""
        signs = ("-", times.UNPROVEN, "n/c") if a_value else ("-",)
        return any(self.text(row) not in signs for row in rows)


class Summary:
    """The summary of runs of single penalties: a table for each data set and penalty, a row for each solver."""

    def __init__(self, sweep, runs=None, targets=None, columns=(), title=None, ratio_target=RATIO_TARGET,
                 allow_not_comparable=False):
        runs = sweep.single if runs is None else runs
        self.sweep = sweep
        self.targets = sweep.presentation.targets if targets is None else targets
        self.title = sweep.presentation.title if title is None else title
        self.wanted, self.ratio_target = list(columns), ratio_target
        self.measurements = _measurements(sweep, runs, self.targets)
        machines, ratio = several_machines(runs), _cost_to(sweep, ratio_target, "seconds")
        self.groups = [Group(sweep, some, machines, self.measurements, ratio, allow_not_comparable)
                       for some in grouped(runs, lambda run: run["key"]).values()]
        for group in self.groups:
            for row in group.rows:
                for i, one in enumerate(self.measurements):
                    spread = row.spreads[i][1]
                    spread["reached"] = 0
                    if one.cost and math.isfinite(spread["min"]):
                        chosen = row.timed if one.timed else row.measured
                        spread["reached"] = sum(math.isfinite(one.value(run)[1]) for run in chosen)
        self.columns = self._shown_columns()

    # -- columns

    def _cell(self, i):
        one = self.measurements[i]

        def text(row):
            if one.target is not None and row.group.unproven(one.target):
                return times.UNPROVEN
            if one.timed and not row.timed and row.not_comparable:
                return "n/c"
            begin, end = row.spreads[i]
            wide = times.is_wide(begin["median"], end["median"])
            return (one.text(begin["median"]) + "-" if wide else "") + _spread_cell(end, one.text)

        return text

    def _ratio_cell(self, row):
        if row.group.unproven(self.ratio_target):
            return times.UNPROVEN
        if not row.timed and row.not_comparable:
            return "n/c"
        return ("~" if row.ratio_wide else "") + cell(row.ratio, ".2f")

    def _all_columns(self):
        ending = lambda row: ", ".join(filter(None, [row.ending(), row.failures()]))  # noqa: E731
        number = lambda row: f"{len(row.measured)}{'*' if len(row.measured) < FEW else ''}"  # noqa: E731
        out = [Column("solver", "solver", lambda row: row.label, True), Column("status", "status", ending, True),
               Column("n", "n", number, True)]
        out += [Column(one.name, one.head, self._cell(i)) for i, one in enumerate(self.measurements)]
        out.insert(3 + len(self.targets), Column("ratio", f"x fastest at {general(self.ratio_target)}",
                                                 self._ratio_cell))
        return out

    def _shown_columns(self):
        """The same columns for all tables of a sweep: those asked for, else the most informative with a value."""
        columns, rows = self._all_columns(), [row for group in self.groups for row in group.rows]
        if self.wanted[:1] in ([ALL], [PRINTED]):
            hidden = ("load_seconds", "setup_seconds", "warm_up_seconds")
            return [one for one in columns if one.says(rows, False) and not (
                self.wanted[0] == PRINTED and (one.name.startswith("passes_to") or one.name in hidden))]
        by_name = {one.name: one for one in columns}
        for name in self.wanted:
            require_known("columns", name, list(by_name), "all, or some of")
        if self.wanted:
            return [by_name[name] for name in ["solver", *self.wanted]]
        metrics = [one.name for one in self.measurements if one.name.startswith(METRICS)]
        last = [one.name for one in self.measurements[:len(self.targets)]][-MOST_TARGETS:]
        names = ["solver", "status", "n", *last, "final_difference", "test_accuracy", *metrics, "seconds", "nnz",
                 "relative_gap", "iterations", "passes"]
        return [by_name[name] for name in names if by_name[name].says(rows, True)][:PAGE_COLUMNS]

    # -- a table

    def _caption(self, group):
        first = group.first
        out = f"{first['dataset']}, {penalty_text(first)}"
        if first["reference_objective"] is not None:
            proofs = [f"{name} {scientific(first[key])}" for name, key in (
                ("relative kkt", "reference_relative_kkt"), ("gap", "reference_relative_gap"))
                if first[key] is not None]
            out += f", f* = {number_text(first['reference_objective'])} ({', '.join(proofs)})"
        most = max(len(row.runs) for row in group.rows)
        return out + (f", medians [quartiles] of {most} repetitions" if most > 1 else "")

    def _cost_notes(self, group, cells):
        """Explains the signs that occur in the cells, and names targets that nobody reached or none can tell."""
        shown = {column.name for column in self.columns}
        notes = []
        accuracy = scientific(group.accuracy)
        hidden = [general(target) for target in self.targets if group.unproven(target)]
        if times.UNPROVEN in cells:
            notes.append(f"?: f* is proven to a relative accuracy of {accuracy} only, and no target below that can be "
                         "told.")
        elif hidden:
            notes.append(f"f* is proven to a relative accuracy of {accuracy} only: no cost to {', '.join(hidden)} can "
                         "be told.")
        wide = [times.is_wide(a["median"], b["median"]) for row in group.rows
                for one, (a, b) in zip(self.measurements, row.spreads) if one.name in shown]
        if any(wide):
            notes.append(WIDE_NOTE + " Quartiles are those of B.")
        if "ratio" in shown and any(row.ratio_wide for row in group.rows):
            notes.append("~: a ratio of two times of which at least one is known as an interval only.")
        if any(text.startswith("- (") for text in cells):
            notes.append("- (k of n): only k of n repetitions reached the target, so that there is no median.")
        unreached = [general(one.target) for i, one in enumerate(self.measurements) if one.cost == "passes"
                     and any(math.isinf(row.spreads[i][1]["min"]) for row in group.rows)
                     and not any(math.isfinite(row.spreads[i][1]["min"]) for row in group.rows)]
        return notes + ([f"No solver reached {', '.join(unreached)}."] if unreached else [])

    @staticmethod
    def _few(group):
        few = sorted({len(row.measured) for row in group.rows if 0 < len(row.measured) < FEW})
        if not few:
            return []
        if few[-1] == 1:
            return ["* n = 1: a single run, whose spread is not known."]
        return [f"* n = {', '.join(map(str, few))} < {FEW} repetitions: quartiles are no more than the spread seen."]

    def _remarks(self, group):
        """Remarks on external trainers, each once after the labels that it is about."""
        about = {}
        for row in group.rows:
            texts = ["an external trainer, started repeatedly, each time to stop later; its times begin with its first "
                     "iteration, unless they include load s."] if any(
                         run["trainer"] and len(self.sweep.trace(run, "seconds")) for run in row.runs) else []
            texts += [f"{warning}." for run in row.runs for warning in run["warnings"] or []]
            for text in dict.fromkeys(texts):
                about.setdefault(text, []).append(row.label)
        return [f"{', '.join(labels)}: {text}" for text, labels in about.items()]

    def _footnotes(self, group, cells):
        notes = self._cost_notes(group, cells) + self._few(group) + self._remarks(group)
        for row in group.rows:
            for (end, why), runs in grouped(row.failed, lambda run: (status(run), run["reason"])).items():
                notes.append(f"{row.label}: {len(runs)} of {len(row.runs)} {end}{f': {why}' if why else ''}; in no "
                             "median.")
            if row.not_comparable:
                why = [run["not_comparable_because"] for run in row.measured if not run["comparable"]][-1]
                notes.append(f"{row.label}: the timings of {row.not_comparable} of {len(row.measured)} runs are not "
                             f"comparable (n/c) and left out{f': {why}' if why else ''}.")
        if several_machines(group.runs):
            notes.append("Runs of several machines: each has rows of its own, and is compared with the fastest on the "
                         "same machine only.")
        return notes

    def table(self, group):
        rows = [[column.text(row) for column in self.columns] for row in group.rows]
        words = 0
        while words < len(self.columns) and self.columns[words].words:
            words += 1
        return Table(self._caption(group), [column.head for column in self.columns], rows, words,
                     [group.first["description"] or ""], self._footnotes(group, {one for row in rows for one in row}))

    def record(self, group, row):
        first = group.first
        value = lambda name: math.nan if first[name] is None else first[name]  # noqa: E731
        out = {"experiment": first["experiment"] or "", "dataset": first["dataset"], "lambda": first["_lambda"],
               "mu": first["_mu"], "reference_objective": value("reference_objective"),
               "reference_relative_kkt": value("reference_relative_kkt"),
               "reference_relative_gap": value("reference_relative_gap"), "reference_accuracy": group.accuracy,
               "solver": row.label, "machine": row.machine, "status": row.ending(), "repetitions": len(row.runs),
               "failed": len(row.failed), "failures": row.failures(), "not_comparable": row.not_comparable,
               f"ratio_to_fastest_at_{number_text(self.ratio_target)}": row.ratio}
        members = ("median", "q25", "q75", "min", "max", "n")
        for one, (begin, end) in zip(self.measurements, row.spreads):
            out[one.name] = {name: end[name] for name in members}
            if one.cost:
                out[one.name + "_from"] = {name: begin[name] for name in members}
        return out

    def tables(self, name="summary"):
        return TableSet(name, self.title, [self.table(group) for group in self.groups],
                        [self.record(group, row) for group in self.groups for row in group.rows])

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
    targets = sweep.presentation.targets
    columns = [f"{cost}_to_{number_text(target)}" for target in targets[-3:] for cost in ("passes", "seconds")]
    out = Summary(sweep, **{**options, "columns": columns + ["function_share", "status"]}).tables("costs")
    for table in out.tables:
        table.notes.append("passes: evaluations of F and its gradient over all instances; function: the share of scores, "
                           "inference and gradients in the time of the run; the rest is the solver's.")
    return out


def data(sweep):
    """The sizes of data sets (as in Table 1 of Le Priol et al. 2018)."""
    table = Table("Data sets", ["data", "n", "N", "K", "A", "d", "marginals (GiB)"], [], 1, [
        "n: instances; N: positions; K: outputs; A: features; marginals: what a dual solver keeps of all instances, "
        "pairs and singletons."])
    records = []
    for dataset, runs in grouped(sweep.records, lambda run: run["dataset"]).items():
        known = lambda values: next((float(one) for one in values if one is not None), math.nan)  # noqa: E731
        record = {"dataset": dataset}
        for name in ("instances", "positions", "outputs", "features", "d"):
            record[name] = known(run[name] for run in runs)
        record["belief_bytes"] = known((run["notes"] or {}).get("belief_bytes") for run in runs)
        records.append(record)
        table.rows.append([dataset, *(count(value) for value in list(record.values())[1:-1]),
                           cell(record["belief_bytes"] / 2**30, ".2f")])
    return TableSet("data", "", [table], records)


# ---- means over problems

def _mean(sets, solver, target, plot):
    """The range of the shifted geometric mean of a solver's costs, and on how many problems it reached the target."""
    charged, charged_from, reached = [], [], 0
    for problem in sets.problems:
        begin, end = problem.costs[target][solver]
        charge = plot.par * problem.limits[solver]
        charged.append(charge if math.isinf(end) else end)
        charged_from.append(charge if math.isinf(end) else begin)
        reached += math.isfinite(end)
    if sets.unproven(target):
        return math.nan, math.nan, reached
    mean = times.shifted_geometric_mean
    return mean(charged_from, plot.shift), mean(charged, plot.shift), reached


def _means_table(sets, plot, records):
    machine = f", on {sets.machine}" if sets.machine else ""
    table = Table(f"Shifted geometric means of {sets.cost} to a target, shift {general(plot.shift)}, "
                  f"PAR{general(plot.par)}{machine}", ["solver"])
    if not sets.comparable:
        table.notes.append("NOT COMPARABLE: seconds of runs whose timings are not comparable count here.")
    table.notes.append(f"{len(sets.problems)} problems: (experiment, data set, penalty, repetition).")
    wide = False
    table.rows = [[solver] for solver in sets.solvers]
    for target, value in enumerate(sets.targets):
        shown, unproven = target + MOST_TARGETS >= len(sets.targets), sets.unproven(target)
        if shown:
            table.head += [f"{'s' if sets.cost == 'seconds' else sets.cost} to {general(value)}", "reached"]
        if shown and unproven:
            table.footnotes.append(f"?: f* of {unproven} of {len(sets.problems)} problems is not proven to "
                                   f"{general(value)}.")
        for solver, cells in enumerate(table.rows):
            begin, end, reached = _mean(sets, solver, target, plot)
            if shown:
                wide = wide or times.is_wide(begin, end)
                cells += ["?", "?"] if unproven else [times.range_text(begin, end), f"{reached} of {len(sets.problems)}"]
            records.append((solver, target, {
                "measure": sets.cost, "machine": sets.machine, "solver": sets.solvers[solver], "target": value,
                "problems": len(sets.problems), "reached": reached, "left_out": len(sets.left_out),
                "shift": plot.shift, "par": plot.par, "shifted_geometric_mean": end,
                "shifted_geometric_mean_from": begin, "unproven": unproven}))
    if wide:
        table.footnotes.append("A-B: means of the costs at the samples before the targets and at those that reached "
                               "them, more than a tenth of B apart.")
    limit = {"seconds": "the run's time limit, or ", "iterations": "the run's max_iterations, or "}.get(sets.cost, "")
    par = general(plot.par)
    table.footnotes.append(f"A run that failed or never reached the target is charged {par} x {limit}the most "
                           f"{sets.cost} of any run of that problem{' where there is none' if limit else ''} (PAR{par}).")
    for what, names in (("Failed", sets.failures), ("Left out", sets.left_out)):
        if names:
            table.footnotes.append(f"{what}: {'; '.join(names)}.")
    return table


def means(sweep, presentation=None, title=None, allow_not_comparable=False):
    """Shifted geometric means over problems of the costs to targets. A run that failed or never reached a target is
    charged PAR-k times its limit (Hutter et al. 2009)."""
    shown = presentation or sweep.presentation
    out = TableSet("means", shown.title if title is None else title, [])
    for cost in shown.plot.x:
        for sets in problem_sets(sweep, cost, shown.targets, allow_not_comparable):
            records = []
            out.tables.append(_means_table(sets, shown.plot, records))
            out.records += [record for *_, record in sorted(records, key=lambda one: one[:2])]
    return out


# ---- the paper's numbers

def _paper_row(run, paper):
    printed = lambda numbers: next((float(value) for value, at in zip(numbers, getattr(paper, "lambda"))  # noqa: E731
                                    if at == run["_lambda"]), math.nan)
    kkt, gap = _value(run, "relative_kkt"), _value(run, "relative_gap")
    wanted = run["gap_target"] or 0.0
    return {"kind": "run", "dataset": run["dataset"], "lambda": run["_lambda"], "mu": run["_mu"],
            "solver": run["label"], "status": status(run),
            "optimal": kkt <= run["tol"] or (wanted > 0 and gap <= wanted), "datasets_used": 1, "datasets": 1,
            "paper_nnz": printed(paper.nnz), "nnz": _value(run, "nnz"), "paper_accuracy": printed(paper.accuracy),
            "accuracy": _value(run, "test_accuracy"), "relative_kkt": kkt}


def _statistics(rows):
    """The mean of the rows that are optima and, if there are two or more, their standard deviation (n - 1)."""
    optima = [row for row in rows if row["optimal"]]
    if len(rows) < 2 or not optima:
        return []
    mean = {**rows[0], "kind": "mean", "solver": "", "status": "", "optimal": True, "datasets_used": len(optima),
            "datasets": len(rows), "relative_kkt": 0.0}
    for row in optima:
        if not math.isnan(row["relative_kkt"]):
            mean["relative_kkt"] = max(mean["relative_kkt"], row["relative_kkt"])
    deviation = {**mean, "kind": "deviation", "paper_nnz": math.nan, "paper_accuracy": math.nan,
                 "relative_kkt": math.nan}
    for name in ("nnz", "accuracy"):
        total = squares = 0.0
        for row in optima:
            total += row[name]
        mean[name] = total / len(optima)
        for row in optima:
            squares += (row[name] - mean[name]) ** 2
        deviation[name] = math.sqrt(squares / (len(optima) - 1)) if len(optima) > 1 else math.nan
    return [mean, deviation] if len(optima) > 1 else [mean]


def _paper_name(row):
    if row["kind"] == "run":
        return row["dataset"]
    used, total = row["datasets_used"], row["datasets"]
    return (f"{'mean' if row['kind'] == 'mean' else 'standard deviation'} of "
            f"{'' if used == total else f'{used} of '}{total}")


def paper(sweep):
    """The optimum of each data set and penalty beside the numbers that the paper prints (section [paper]).

    Data sets that differ only by their seed form a block, which ends with mean and standard deviation.
    """
    shown = sweep.presentation
    distance = lambda run: math.inf if run["relative_kkt"] is None else run["relative_kkt"]  # noqa: E731
    rows = []
    for family in grouped(sweep.single, lambda run: shown.sources.get(run["dataset"], run["dataset"])).values():
        penalties = grouped(family, lambda run: (run["_lambda"], run["_mu"]))
        for penalty in sorted(penalties):
            block = [_paper_row(min(some, key=distance), shown.paper)
                     for some in grouped(penalties[penalty], lambda run: run["dataset"]).values()]
            rows += block + _statistics(block)
    table = Table(f"{shown.paper.item} of the paper, and ours",
                  ["data", "status", "nnz: paper", "ours", "difference", "accuracy: paper", "ours", "difference",
                   "relative kkt"], [], 2)
    records = []
    for row in rows:
        nnz = row["nnz"] / row["paper_nnz"] - 1.0 if row["paper_nnz"] else math.nan
        difference = row["accuracy"] - row["paper_accuracy"]
        ours = lambda text: text if row["optimal"] or text == "-" else f"({text})"  # noqa: B023, E731
        ending = f"{row['solver']}: {row['status']}" if row["solver"] else ""
        percent = "-" if math.isnan(nnz) else f"{100 * nnz:+.1f} %"
        table.rows.append([
            f"{_paper_name(row)}, {penalty_text({**sweep.single[0], '_lambda': row['lambda'], '_mu': row['mu'], 'loss_text': 'log'})}",
            ending if row["optimal"] else ending + ", NOT AN OPTIMUM", count(row["paper_nnz"]),
            ours(count(row["nnz"])), ours(percent), cell(row["paper_accuracy"], ".6f"),
            ours(cell(row["accuracy"], ".6f")), ours(cell(difference, "+.4f")), scientific(row["relative_kkt"])])
        kkt = row.pop("relative_kkt")
        names = list(row)
        at = names.index("nnz") + 1
        record = {**{n: row[n] for n in names[:at]}, "nnz_relative_difference": nnz,
                  **{n: row[n] for n in names[at:]}, "accuracy_difference": difference, "relative_kkt": kkt}
        records.append(record)
        row["relative_kkt"] = kkt
    if not all(row["optimal"] for row in rows):
        table.notes.append("In parentheses: NOT AN OPTIMUM. The run ended before kkt <= tol * (kkt at w = 0) or the gap "
                           "asked for; such rows are in no mean.")
    return TableSet("paper", shown.title, [table], records)


# ---- all tables of an experiment

def results(sweep, columns=(), allow_not_comparable=False):
    """The tables of runs of single penalties, the summary last, and the Summary itself."""
    shown = sweep.presentation
    whole = Summary(sweep, columns=columns, allow_not_comparable=allow_not_comparable)
    out = []
    if getattr(shown.paper, "lambda"):
        out.append(paper(sweep))
    if shown.paper.costs:
        out.append(costs(sweep, allow_not_comparable=allow_not_comparable))
    if shown.paper.data:
        out.append(data(sweep))
    return [*out, whole.tables()], whole


def require_single(sweep):
    if not sweep.single:
        raise UsageError(f"{sweep.folders[0]}/runs: found paths alone, expected runs of single penalties; paths have "
                         "kinds of their own: --kind path")
