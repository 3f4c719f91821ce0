"""How the phases of a run scale with threads and processes, measured by `proxbench scale`, and a model that predicts
times for more of them (experiments/bench/SCALING.md)."""
import json
import math
import os
from types import SimpleNamespace

import numpy as np

from ..errors import in_file
from ..fields import PHASES
from ..files import file_name_part, write_text
from ..records import read_bytes, run_of
from .figure import GREY, Picture, line_style, log_axis
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


class Problem:
    """One data set, lambda and solver. `rows`: for each back end the total, then the phases that took time. Speed-up
    compares medians with 1 thread."""

    def __init__(self, runs):
        self.runs, self.first = runs, runs[0]
        self.threads = sorted(set(map(threads_of, runs)))
        self.backends = list(dict.fromkeys(run["backend"] for run in runs))
        self.rows = [row for backend in self.backends for row in self._rows(backend)]
        self.lambda_ = number(self.first["_lambda"])
        self.name = f"{self.first['dataset']}-lambda{self.lambda_}-{self.first['label']}"
        self.cpus, self.iterations = self.first["machine_cores"] or 0, self.first["iterations"] or 0
        self.oversubscribed = self.threads[-1] > self.cpus

    def _spread(self, backend, threads, places, what):
        return spread([sum(run["phases"][i][what] for i in places) for run in self.runs
                       if run["backend"] == backend and threads_of(run) == threads])

    def _rows(self, backend):
        first = next((run for run in self.runs if run["backend"] == backend and threads_of(run) == 1), None)
        rows = [self._row(backend, [i], {**phase, "loop_seconds": self._spread(backend, 1, [i], "loop_seconds")["median"]})
                for i, phase in enumerate(first["phases"] or [] if first else [])]
        rows = [row for row in rows if row.calls or row.seconds > 0]
        total = {"phase": TOTAL, **{name: sum(getattr(row, name) for row in rows) for name in PARTS}}
        return [self._row(backend, [i for row in rows for i in row.places], total), *rows] if rows else []

    def _row(self, backend, places, phase):
        spreads = [self._spread(backend, n, places, "seconds") for n in self.threads]
        medians = [one["median"] for one in spreads]
        with np.errstate(divide="ignore", invalid="ignore"):
            speedup = np.divide(medians[0], medians).tolist()
        share = float(np.divide(phase["loop_seconds"], medians[0])) if medians[0] else math.nan
        return SimpleNamespace(**{
            **phase, "backend": backend, "places": places, "spreads": spreads, "medians": medians,
            "seconds": medians[0], "speedup": speedup, "outside_loops": 1.0 - share,
            "efficiency": [speed / n for speed, n in zip(speedup, self.threads)],
            "serial_fraction": serial_fraction(self.threads, medians)})


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
    fit = phase.outside_loops if math.isnan(phase.serial_fraction) else phase.serial_fraction
    serial = min(max(fit, 0.0), 1.0)
    return phase.seconds * (serial + (1.0 - serial) / p)


def by_processes(phase, network, p):
    """All phases but the solver's are shared; each sum exchanges 2 ceil(log2 p) messages and 2 (p - 1)/p of its bytes."""
    if phase.phase == "solver":
        return phase.seconds
    messages = 2.0 * math.ceil(math.log2(p)) * phase.sums
    return phase.seconds / p + messages * network.latency + 2.0 * (p - 1.0) / p * phase.sum_bytes / network.bandwidth


# ---- tables

def _columns(threads):
    """Indices of thread counts after the first: all, or powers of two and the last."""
    out = [i for i in range(1, len(threads)) if len(threads) <= MOST_COLUMNS + 1
           or threads[i] & (threads[i] - 1) == 0 or i + 1 == len(threads)]
    return out[-MOST_COLUMNS:]


def _percent(share):
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def _rate(row, amount):
    return "-" if row.phase == TOTAL or not (amount > 0 and row.seconds > 0) else f"{amount / row.seconds / 1e9:.2f}"


def _measured(problem):
    first, columns = problem.first, _columns(problem.threads)
    last = [f"efficiency at {problem.threads[-1]}"] if columns else []
    table = Table(f"{first['dataset']} ({first['description']}), lambda = {problem.lambda_}, {first['label']}: "
                  f"{problem.iterations} iterations ({status(first)}), {first['nnz'] or 0} nonzeros",
                  ["back end", "phase", "calls", "s, 1 thread", "GB/s", "GFlop/s", "outside loops",
                   *(f"speed-up at {problem.threads[i]}" for i in columns), *last, "serial, Amdahl's fit"], [
                      [row.backend, row.phase, str(row.calls or "-"), f"{row.seconds:.4g}", _rate(row, row.bytes),
                       _rate(row, row.flops), _percent(row.outside_loops),
                       *(cell(row.speedup[i], ".2f") for i in columns), *(_percent(row.efficiency[-1]) for _ in last),
                       _percent(row.serial_fraction)] for row in problem.rows], 2)
    n = problem.rows[-1].spreads[0]["n"] if problem.rows else 0
    table.footnotes.append(f"{'One repetition' if n == 1 else f'Medians over {n} repetitions'}; GB/s and GFlop/s at 1 "
                           "thread, by definition of the work.")
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
            times = [sum(by_processes(part, network, p) if backend == PROCESSES else by_threads(part, p)
                         for part in (rows[1:] if row.phase == TOTAL else [row])) for p in predicted]
            table.rows.append([backend, row.phase, str(row.sums), f"{row.sum_bytes / 1e6:.4g}",
                               *(fixed(1)(float(np.divide(row.seconds, time))) for time in times)])
    table.footnotes = [f"A model, no measurement: threads by Amdahl's law; processes of one thread share all but the "
                       f"solver, and a message between them takes {1e6 * network.latency:g} us and 1 s for "
                       f"{network.bandwidth / 1e9:g} GB."]
    return table


def records(problem):
    return [{"dataset": problem.first["dataset"], "lambda": problem.first["_lambda"], "label": problem.first["label"],
             "backend": row.backend, "phase": row.phase, "threads": threads, "repetitions": seconds["n"],
             "seconds": seconds["median"], "seconds_q25": seconds["q25"], "seconds_q75": seconds["q75"],
             "speedup": speedup, "efficiency": efficiency,
             **{name: getattr(row, name) for name in ("calls", "flops", "bytes", "sums", "sum_bytes", "outside_loops",
                                                      "serial_fraction")}}
            for row in problem.rows
            for threads, seconds, speedup, efficiency in zip(problem.threads, row.spreads, row.speedup, row.efficiency)]


# ---- the figure

def _colour(phase):
    return "#000000" if phase == TOTAL else line_style(PHASES.index(phase) if phase in PHASES else 7)["color"]


def _draw(problem, axes):
    speed, efficiency, bars = axes
    threads, backends, whole = problem.threads, problem.backends, {}
    best = 1.0
    for row in problem.rows:
        if row.phase == TOTAL:
            whole[row.backend] = row.seconds
        if row.seconds < LEAST_SHARE * whole[row.backend]:
            continue
        look = {**line_style(0, backends.index(row.backend)), "color": _colour(row.phase),
                "linewidth": 2.8 if row.phase == TOTAL else 1.6}
        speed.plot(threads, row.speedup, label=row.backend if row.phase == TOTAL else "_", **look)
        efficiency.plot(threads, row.efficiency, **look)
        best = max(best, *filter(math.isfinite, row.efficiency), 0.0)
    speed.plot(threads, threads, color=GREY, linewidth=1.2, marker="", label="ideal")
    efficiency.axhline(1.0, color=GREY, linewidth=1.2)
    speed.set(title="Speed-up against 1 thread", xscale="log", yscale="log", xlabel="threads")
    speed.legend(loc="upper left")
    log_axis(speed.yaxis)
    efficiency.set(title="Efficiency: speed-up over threads", xscale="log", xlabel="threads", ylim=(0, 1.08 * best))
    ticks = [p for p in threads if len(threads) <= 10 or p & (p - 1) == 0 or p == threads[-1]]
    for ax in (speed, efficiency):
        ax.set_xticks(ticks, labels=list(map(str, ticks)))
        ax.minorticks_off()
    slot, bottoms = 0.8 / len(backends), {}
    for row in (row for row in problem.rows if row.phase != TOTAL):
        b, bottom = backends.index(row.backend), bottoms.setdefault(row.backend, np.zeros(len(threads)))
        bars.bar(np.arange(len(threads)) - 0.4 + slot * (b + 0.5), row.medians, 0.94 * slot, bottom, alpha=0.85,
                 color=_colour(row.phase), hatch="//" if b else None, label="_" if b else row.phase)
        bottoms[row.backend] = bottom + row.medians
    plain = f"Time of each phase; plain bars: {backends[0]}{', hatched: ' + backends[1] if len(backends) > 1 else ''}"
    bars.set(title=plain, xlabel="threads", ylabel="seconds")
    bars.set_xticks(range(len(threads)), labels=list(map(str, threads)))
    bars.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def pictures(all_problems):
    head, out = ["backend", "phase", "threads", "seconds", "q25", "q75", "speedup", "efficiency"], []
    for problem in all_problems:
        first, n = problem.first, problem.runs[-1]["repetition"]
        caption = (f"{problem.iterations} iterations, the same to the last bit in all runs; "
                   f"{'one repetition' if n == 1 else f'medians of {n} repetitions'}; phases below 1 % of the time have "
                   "no line.")
        if problem.oversubscribed:
            caption += f" OVERSUBSCRIBED: more than {problem.cpus} threads shared {problem.cpus} CPUs."
        rows = [{name: row.get(name, row.get("seconds_" + name)) for name in head} for row in records(problem)]
        out.append(Picture("scale" if len(all_problems) == 1 else file_name_part(f"scale-{problem.name}"),
                           f"{first['dataset']}, λ = {problem.lambda_}, {first['label']}",
                           lambda axes, problem=problem: _draw(problem, axes), rows, head,
                           data_warnings(first["description"]), subtitle=first["description"] or "", caption=caption,
                           layout=[["a", "b"], ["c", "c"]], height=0.75, key=""))
    return out


def show(folder, predicted, network):
    """Writes scale.csv and scale.md, and the phases into scale.json. Returns the text and the pictures."""
    stored, title, runs = read(folder)
    found = problems(runs)
    phases = [record for one in found for record in records(one)]
    text = document(title, [table for one in found for table in (_measured(one), _model(one, predicted, network))], "md")
    write_text(os.path.join(folder, "scale.json"), json_text({**stored, "phases": phases}))
    write_text(os.path.join(folder, "scale.csv"), csv_text(phases))
    write_text(os.path.join(folder, "scale.md"), text)
    return text, pictures(found)
