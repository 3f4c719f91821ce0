"""How the phases of a run scale with threads and processes, measured by `proxbench scale`, and a model that predicts
times for more of them (experiments/bench/SCALING.md)."""
import json
import math
import os

import numpy as np

from ..errors import in_file
from ..fields import PHASES
from ..files import file_name_part, write_text
from ..records import read_bytes, run_of
from .figure import Picture, line_style, log_axis
from .runs import data_warnings, grouped, number, status
from .texts import Table, cell, csv_text, document, fixed, json_text
from .times import spread

TOTAL, PROCESSES = "total", "mpi"  # the back end of processes of one thread: "threads" counts processes
MOST_COLUMNS = 6  # of thread counts in a table
LEAST_SHARE = 0.01  # phases below this share of the time at 1 thread have no line
PARTS = ("calls", "loop_seconds", "flops", "bytes", "sums", "sum_bytes")


def read(folder):
    """Title and runs of FOLDER/scale.json."""
    file, expected = os.path.join(folder, "scale.json"), "what `proxbench scale` stores"
    try:
        stored = json.loads(read_bytes(file, expected))
        title, runs = stored["title"], stored["runs"]
        if not runs:
            raise KeyError("runs")
    except (ValueError, KeyError, TypeError):
        raise in_file(file, 0, "no title or no runs", expected) from None
    return stored, title, [run_of(run, file) for run in runs]


def threads_of(run):
    return run["threads"] * run["processes"]


class Phases:
    """One phase of one problem on one back end, or the total. Speed-up compares medians with 1 thread."""

    def __init__(self, problem, backend, one, phases):
        self.backend, self.name, self.one = backend, one["phase"], dict(one)
        self.seconds = [problem.spread(backend, n, phases, "seconds") for n in problem.threads]
        medians = [one["median"] for one in self.seconds]
        with np.errstate(divide="ignore", invalid="ignore"):
            self.speedup = np.divide(medians[0], medians).tolist()
        self.efficiency = [speed / n for speed, n in zip(self.speedup, problem.threads)]
        self.one["seconds"] = medians[0]
        self.serial_fraction = serial_fraction(problem.threads, medians)

    def outside_loops(self):
        return 1.0 - float(np.divide(self.one["loop_seconds"], self.one["seconds"])) if self.one["seconds"] else math.nan


class Problem:
    """One data set, lambda and solver. `rows`: for each back end the total, then the phases that took time."""

    def __init__(self, runs):
        self.runs, self.first = runs, runs[0]
        self.threads = sorted(set(map(threads_of, runs)))
        self.backends = list(dict.fromkeys(run["backend"] for run in runs))
        self.rows = [row for backend in self.backends for row in self._rows(backend)]
        self.name = f"{self.first['dataset']}-lambda{number(self.first['_lambda'])}-{self.first['label']}"
        self.cpus = self.first["machine_cores"] or 0
        self.oversubscribed = self.threads[-1] > self.cpus

    def spread(self, backend, threads, phases, what):
        return spread([sum(run["phases"][i][what] for i in phases) for run in self.runs
                       if run["backend"] == backend and threads_of(run) == threads])

    def _rows(self, backend):
        first = next((run for run in self.runs if run["backend"] == backend and threads_of(run) == 1), None)
        total, numbers, out = {"phase": TOTAL, **dict.fromkeys(PARTS, 0)}, [], []
        for i, phase in enumerate(first["phases"] or [] if first else []):
            one = {**phase, "loop_seconds": self.spread(backend, 1, [i], "loop_seconds")["median"]}
            row = Phases(self, backend, one, [i])
            if one["calls"] or row.one["seconds"] > 0:
                for name in PARTS:
                    total[name] += one[name]
                numbers.append(i)
                out.append(row)
        return [Phases(self, backend, total, numbers), *out] if numbers else []


def problems(runs):
    return [Problem(some) for some in grouped(runs, lambda run: (run["key"], run["label"])).values()]


# ---- the model

def serial_fraction(threads, seconds):
    """The serial share s of Amdahl's law, T(p)/T(1) = s + (1 - s)/p, by least squares over all p > 1."""
    if 1 not in threads:
        return math.nan
    one = seconds[threads.index(1)]
    xy = xx = 0.0
    for p, time in zip(threads, seconds):
        x = 1.0 - 1.0 / p
        xy += x * (float(np.divide(time, one)) - 1.0 / p)
        xx += x * x
    return xy / xx if xx > 0 else math.nan


def by_threads(phase, p):
    fit = phase.outside_loops() if math.isnan(phase.serial_fraction) else phase.serial_fraction
    serial = min(max(fit, 0.0), 1.0)
    return phase.one["seconds"] * (serial + (1.0 - serial) / p)


def by_processes(phase, network, p):
    """All phases but the solver's are shared; each sum exchanges 2 ceil(log2 p) messages and 2 (p - 1)/p of its bytes."""
    if phase.name == "solver":
        return phase.one["seconds"]
    messages = 2.0 * math.ceil(math.log2(p)) * phase.one["sums"]
    return (phase.one["seconds"] / p + messages * network.latency
            + 2.0 * (p - 1.0) / p * phase.one["sum_bytes"] / network.bandwidth)


# ---- tables

def _columns(threads):
    """Indices of thread counts after the first: all, or powers of two and the last."""
    out = [i for i in range(1, len(threads)) if len(threads) <= MOST_COLUMNS + 1
           or threads[i] & (threads[i] - 1) == 0 or i + 1 == len(threads)]
    return out[-MOST_COLUMNS:]


def _measured(problem):
    first, columns = problem.first, _columns(problem.threads)
    table = Table(f"{first['dataset']} ({first['description']}), lambda = {number(first['_lambda'])}, {first['label']}: "
                  f"{first['iterations'] or 0} iterations ({status(first)}), {first['nnz'] or 0} nonzeros",
                  ["back end", "phase", "calls", "s, 1 thread", "GB/s", "GFlop/s", "outside loops",
                   *(f"speed-up at {problem.threads[i]}" for i in columns)], [], 2)
    if columns:
        table.head.append(f"efficiency at {problem.threads[-1]}")
    table.head.append("serial, Amdahl's fit")
    percent = lambda share: "-" if math.isnan(share) else f"{100 * share:.1f} %"  # noqa: E731
    for row in problem.rows:
        rate = lambda amount: "-" if row.name == TOTAL or not amount > 0 or not row.one["seconds"] > 0 else (  # noqa: B023, E731
            f"{amount / row.one['seconds'] / 1e9:.2f}")  # noqa: B023
        table.rows.append([row.backend, row.name, str(row.one["calls"] or "-"), f"{row.one['seconds']:.4g}",
                           rate(row.one["bytes"]), rate(row.one["flops"]), percent(row.outside_loops()),
                           *(cell(row.speedup[i], ".2f") for i in columns),
                           *([percent(row.efficiency[-1])] if columns else []), percent(row.serial_fraction)])
    n = problem.rows[-1].seconds[0]["n"] if problem.rows else 0
    over = "One repetition" if n == 1 else f"Medians over {n} repetitions"
    table.footnotes.append(f"{over}; GB/s and GFlop/s at 1 thread, by definition of the work.")
    if problem.oversubscribed:
        table.footnotes.append(f"Oversubscribed: more than {problem.cpus} threads shared {problem.cpus} CPUs; they say "
                               "nothing of more cores.")
    return table


def _model(problem, predicted, network):
    table = Table(f"Model of {problem.name}", ["back end", "phase", "sums", "their MB",
                                               *(f"speed-up at {p}" for p in predicted)], [], 2)
    pairs = [(backend, backend) for backend in problem.backends]
    if PROCESSES not in problem.backends:  # one process of one thread is the same run on any back end
        pairs.append((PROCESSES, problem.backends[0]))
    for backend, measured in pairs:
        rows = [row for row in problem.rows if row.backend == measured]
        for row in rows:
            parts = [part for part in rows if part.name != TOTAL] if row.name == TOTAL else [row]
            cells = [backend, row.name, str(row.one["sums"]), f"{row.one['sum_bytes'] / 1e6:.4g}"]
            for p in predicted:
                time = sum(by_processes(part, network, p) if backend == PROCESSES else by_threads(part, p)
                           for part in parts)
                cells.append(fixed(1)(float(np.divide(row.one["seconds"], time))))
            table.rows.append(cells)
    table.footnotes = [f"A model, no measurement: threads by Amdahl's law; processes of one thread share all but the "
                       f"solver, and a message between them takes {1e6 * network.latency:g} us and 1 s for "
                       f"{network.bandwidth / 1e9:g} GB."]
    return table


def records(all_problems):
    return [{"dataset": one.first["dataset"], "lambda": one.first["_lambda"], "label": one.first["label"],
             "backend": row.backend, "phase": row.name, "threads": one.threads[t], "repetitions": row.seconds[t]["n"],
             "seconds": row.seconds[t]["median"], "seconds_q25": row.seconds[t]["q25"],
             "seconds_q75": row.seconds[t]["q75"], "speedup": row.speedup[t], "efficiency": row.efficiency[t],
             **{name: row.one[name] for name in ("calls", "flops", "bytes", "sums", "sum_bytes")},
             "outside_loops": row.outside_loops(), "serial_fraction": row.serial_fraction}
            for one in all_problems for row in one.rows for t in range(len(one.threads))]


# ---- the figure

def _colour(phase):
    return "#000000" if phase == TOTAL else line_style(PHASES.index(phase) if phase in PHASES else 7)["color"]


def _lines(problem):
    shown, total = [], 0.0
    for row in problem.rows:
        total = row.seconds[0]["median"] if row.name == TOTAL else total
        if row.seconds[0]["median"] >= LEAST_SHARE * total:
            shown.append(row)
    return shown


def _draw(problem, axes):
    speed, efficiency, bars = axes
    threads, backends = problem.threads, problem.backends
    for row in _lines(problem):
        look = {**line_style(0, backends.index(row.backend)), "color": _colour(row.name),
                "linewidth": 2.8 if row.name == TOTAL else 1.6}
        speed.plot(threads, row.speedup, label=row.backend if row.name == TOTAL else "_", **look)
        efficiency.plot(threads, row.efficiency, **look)
    speed.plot(threads, threads, color="#7F7F7F", linewidth=1.2, marker="", label="ideal")
    efficiency.axhline(1.0, color="#7F7F7F", linewidth=1.2)
    speed.set(title="Speed-up against 1 thread", xscale="log", yscale="log", xlabel="threads")
    speed.legend(loc="upper left")
    log_axis(speed.yaxis)
    best = max([1.0, *(x for row in _lines(problem) for x in row.efficiency if math.isfinite(x))])
    efficiency.set(title="Efficiency: speed-up over threads", xscale="log", xlabel="threads", ylim=(0, 1.08 * best))
    for ax in (speed, efficiency):
        ticks = [p for p in threads if len(threads) <= 10 or p & (p - 1) == 0 or p == threads[-1]]
        ax.set_xticks(ticks, labels=list(map(str, ticks)))
        ax.minorticks_off()
    slot = 0.8 / len(backends)
    for b, backend in enumerate(backends):
        bottom = np.zeros(len(threads))
        for row in (row for row in problem.rows if row.backend == backend and row.name != TOTAL):
            height = np.array([one["median"] for one in row.seconds])
            bars.bar(np.arange(len(threads)) - 0.4 + slot * (b + 0.5), height, 0.94 * slot, bottom, alpha=0.85,
                     color=_colour(row.name), hatch="//" if b else None, label=row.name if b == 0 else "_")
            bottom += height
    plain = f"Time of each phase; plain bars: {backends[0]}{', hatched: ' + backends[1] if len(backends) > 1 else ''}"
    bars.set(title=plain, xlabel="threads", ylabel="seconds")
    bars.set_xticks(range(len(threads)), labels=list(map(str, threads)))
    bars.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def pictures(all_problems):
    out = []
    for problem in all_problems:
        first, n = problem.first, problem.runs[-1]["repetition"]
        caption = (f"{first['iterations'] or 0} iterations, the same to the last bit in all runs; "
                   f"{'one repetition' if n == 1 else f'medians of {n} repetitions'}; phases below 1 % of the time have "
                   "no line.")
        if problem.oversubscribed:
            caption += f" OVERSUBSCRIBED: more than {problem.cpus} threads shared {problem.cpus} CPUs."
        rows = [{"backend": row.backend, "phase": row.name, "threads": problem.threads[t],
                 "seconds": row.seconds[t]["median"], "q25": row.seconds[t]["q25"], "q75": row.seconds[t]["q75"],
                 "speedup": row.speedup[t], "efficiency": row.efficiency[t]}
                for row in problem.rows for t in range(len(problem.threads))]
        out.append(Picture("scale" if len(all_problems) == 1 else file_name_part(f"scale-{problem.name}"),
                           f"{first['dataset']}, λ = {number(first['_lambda'])}, {first['label']}",
                           lambda axes, problem=problem: _draw(problem, axes), rows,
                           ["backend", "phase", "threads", "seconds", "q25", "q75", "speedup", "efficiency"],
                           data_warnings(first["description"]), subtitle=first["description"] or "", caption=caption,
                           layout=[["a", "b"], ["c", "c"]], height=0.75, key=""))
    return out


def show(folder, predicted, network):
    """Writes scale.csv and scale.md, and the phases into scale.json. Returns the text and the pictures."""
    stored, title, runs = read(folder)
    found = problems(runs)
    phases = records(found)
    text = document(title, [table for one in found for table in (_measured(one), _model(one, predicted, network))], "md")
    write_text(os.path.join(folder, "scale.json"), json_text({**stored, "phases": phases}))
    write_text(os.path.join(folder, "scale.csv"), csv_text(phases))
    write_text(os.path.join(folder, "scale.md"), text)
    return text, pictures(found)
