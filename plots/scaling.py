"""How the phases of a run scale with threads and processes, measured by `proxbench scale`, and a model that predicts
times for more of them (experiments/bench/SCALING.md)."""
import json
import math
import os

import numpy as np
import pandas as pd

from ..errors import in_file
from ..fields import PHASES, number_text
from ..files import file_name_part, write_text
from ..records import frame_of, read_bytes, run_of
from .figure import GREY, Picture, line_style, log_axis
from .texts import Table, TableSet, cell, csv_text, data_warnings, json_text, percent
from .times import spread

TOTAL, PROCESSES = "total", "mpi"  # the back end of processes of one thread: "threads" counts processes
MOST_COLUMNS = 6  # of thread counts in a table
LEAST_SHARE = 0.01  # phases below this share of the time at 1 thread have no line
WORK = ["calls", "flops", "bytes", "sums", "sum_bytes"]
PROBLEM = ["dataset", "penalty", "label"]


def read(folder):
    """FOLDER/scale.json, and its runs as a frame."""
    file, expected = os.path.join(folder, "scale.json"), "what `proxbench scale` stores"
    try:
        stored = json.loads(read_bytes(file, expected))
        runs = [run_of(run, file) for run in stored["runs"]]
        stored["title"], runs[0]
    except (ValueError, KeyError, TypeError, IndexError):
        raise in_file(file, 0, "no title or no runs", expected) from None
    return stored, frame_of(runs)


# ---- the model

def serial_fraction(threads, seconds):
    """The serial share s of Amdahl's law, T(p)/T(1) = s + (1 - s)/p, by least squares over all p > 1. NaN without."""
    threads, seconds = np.asarray(threads, float), np.asarray(seconds, float)
    if 1 not in threads:
        return math.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = 1.0 - 1.0 / threads, seconds / seconds[threads == 1][0] - 1.0 / threads
        return float((x * y).sum() / (x * x).sum())


def by_threads(phase, p):
    """Seconds of a phase with p threads."""
    fit = phase["outside_loops"] if math.isnan(phase["serial_fraction"]) else phase["serial_fraction"]
    serial = min(max(fit, 0.0), 1.0)
    return phase["seconds"] * (serial + (1.0 - serial) / p)


def by_processes(phase, network, p):
    """All phases but the solver's are shared; each sum exchanges 2 ceil(log2 p) messages and 2 (p - 1)/p of its bytes.
    `network`: latency (s) and bandwidth (bytes/s)."""
    if phase["phase"] == "solver":
        return phase["seconds"]
    latency, bandwidth = network
    messages = 2.0 * math.ceil(math.log2(p)) * phase["sums"]
    return phase["seconds"] / p + messages * latency + 2.0 * (p - 1.0) / p * phase["sum_bytes"] / bandwidth


# ---- the phases

def phases_of(runs):
    """A row for each problem, back end, phase (the total first) and number of threads: median seconds with quartiles,
    speed-up and efficiency against 1 thread, and what the phase is made of at 1 thread."""
    runs = runs.assign(threads=runs["threads"] * runs["processes"], phases=runs["phases"].map(lambda one: one or []))
    names = [*PROBLEM, "lambda", "backend", "threads", "phases"]
    every = runs[names].reset_index(names="run").explode("phases").dropna()
    every = pd.concat([every.drop(columns="phases").reset_index(drop=True),
                       pd.DataFrame(list(every["phases"]))], axis=1)
    rows = []
    for (*_, backend), some in every.groupby([*PROBLEM, "backend"], sort=False):
        alone = some[some["threads"] == 1]
        first = alone[alone["run"] == alone["run"].min()]
        used = first[(first["calls"] > 0) | first["phase"].map(alone.groupby("phase")["seconds"].median() > 0)]
        for phase in [TOTAL, *used["phase"]] if len(used) else []:
            names = list(used["phase"]) if phase == TOTAL else [phase]
            sums = some[some["phase"].isin(names)].groupby(["threads", "run"], sort=False)["seconds"].sum()
            spreads = {threads: spread(one) for threads, one in sums.groupby("threads")}
            seconds = np.array([one["median"] for one in spreads.values()])
            loops = sum(alone.loc[alone["phase"] == name, "loop_seconds"].median() for name in names)
            work = {name: first.loc[first["phase"].isin(names), name].sum() for name in WORK}
            with np.errstate(divide="ignore", invalid="ignore"):
                speedup, outside = seconds[0] / seconds, 1.0 - np.divide(loops, seconds[0])
            for i, (threads, one) in enumerate(spreads.items()):
                rows.append({**some.iloc[0][["dataset", "lambda", "label", "penalty"]], "backend": backend,
                             "phase": phase,
                             "threads": threads, "repetitions": one["n"], "seconds": one["median"],
                             "seconds_q25": one["q25"], "seconds_q75": one["q75"], "speedup": speedup[i],
                             "efficiency": speedup[i] / threads, **work,
                             "outside_loops": outside if seconds[0] else math.nan,
                             "serial_fraction": serial_fraction(list(spreads), seconds)})
    return pd.DataFrame(rows)


# ---- tables

def _shown_threads(threads):
    """Thread counts after the first: all, or powers of two and the last."""
    out = [p for p in threads[1:] if len(threads) <= MOST_COLUMNS + 1 or p & (p - 1) == 0 or p == threads[-1]]
    return out[-MOST_COLUMNS:]


def _rate(phase, amount):
    known = phase["phase"] != TOTAL and phase[amount] > 0 and phase["seconds"] > 0
    return f"{phase[amount] / phase['seconds'] / 1e9:.2f}" if known else "-"


def _oversubscribed(run, phases):
    return phases["threads"].max() > (0 if math.isnan(run["machine_cores"]) else run["machine_cores"])


def _by_phase(phases):
    """Each phase at 1 thread, and its speed-ups by threads."""
    for _, rows in phases.groupby(["backend", "phase"], sort=False):
        yield rows.iloc[0], rows.set_index("threads")


def _measured(run, phases):
    threads = sorted(phases["threads"].unique())
    shown, last = _shown_threads(threads), [threads[-1]] if len(threads) > 1 else []
    table = Table(f"{run['dataset']} ({run['description']}), lambda = {number_text(run['lambda'])}, {run['label']}: "
                  f"{run['iterations']:.0f} iterations ({run['status']}), {run['nnz']:.0f} nonzeros",
                  ["back end", "phase", "calls", "s, 1 thread", "GB/s", "GFlop/s", "outside loops",
                   *(f"speed-up at {p}" for p in shown), *(f"efficiency at {p}" for p in last), "serial, Amdahl's fit"],
                   [
                      [one["backend"], one["phase"], one["calls"] or "-", f"{one['seconds']:.4g}", _rate(one, "bytes"),
                       _rate(one, "flops"), percent(one["outside_loops"]),
                       *(cell(rows["speedup"][p], ".2f") for p in shown),
                       *(percent(rows["efficiency"][p]) for p in last), percent(one["serial_fraction"])]
                      for one, rows in _by_phase(phases)], 2)
    n = phases["repetitions"].iloc[-1]
    table.footnotes.append(f"{'One repetition' if n == 1 else f'Medians over {n} repetitions'}; GB/s and GFlop/s at 1 "
                           "thread, by definition of the work.")
    if _oversubscribed(run, phases):
        table.footnotes.append(f"Oversubscribed: more than {run['machine_cores']:.0f} threads shared "
                               f"{run['machine_cores']:.0f} CPUs; they say nothing of more cores.")
    return table


def _name(run):
    return f"{run['dataset']}-lambda{number_text(run['lambda'])}-{run['label']}"


def _model(run, phases, predicted, network):
    table = Table(f"Model of {_name(run)}", ["back end", "phase", "sums", "their MB",
                                             *(f"speed-up at {p}" for p in predicted)], [], 2)
    one_thread = [one for one, _ in _by_phase(phases)]
    backends = {backend: backend for backend in phases["backend"].unique()}
    # One process of one thread is the same run on any back end.
    backends.setdefault(PROCESSES, phases["backend"].iloc[0])
    for backend, measured in backends.items():
        rows = [one for one in one_thread if one["backend"] == measured]
        for one in rows:
            parts = rows[1:] if one["phase"] == TOTAL else [one]
            seconds = [sum(by_processes(part, network, p) if backend == PROCESSES else by_threads(part, p)
                           for part in parts) for p in predicted]
            table.rows.append([backend, one["phase"], one["sums"], f"{one['sum_bytes'] / 1e6:.4g}",
                               *(cell(float(np.divide(one["seconds"], time)), ".1f") for time in seconds)])
    latency, bandwidth = network
    table.footnotes = [f"A model, no measurement: threads by Amdahl's law; processes of one thread share all but the "
                       f"solver, and a message between them takes {1e6 * latency:g} us and 1 s for "
                       f"{bandwidth / 1e9:g} GB."]
    return table


# ---- the figure

def _colour(phase):
    return "#000000" if phase == TOTAL else line_style(PHASES.index(phase) if phase in PHASES else 7)["color"]


def _draw_lines(speed, efficiency, phases):
    threads, backends = sorted(phases["threads"].unique()), list(phases["backend"].unique())
    best, whole = 1.0, 0.0
    for one, rows in _by_phase(phases):
        total = one["phase"] == TOTAL
        whole = one["seconds"] if total else whole
        if one["seconds"] >= LEAST_SHARE * whole:
            look = {**line_style(0, backends.index(one["backend"])), "color": _colour(one["phase"]),
                    "linewidth": 2.8 if total else 1.6}
            speed.plot(rows["speedup"], label=one["backend"] if total else "_", **look)
            efficiency.plot(rows["efficiency"], **look)
            best = max(best, rows["efficiency"].replace(math.inf, 0.0).max())
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


def _draw(phases, axes):
    speed, efficiency, bars = axes
    _draw_lines(speed, efficiency, phases)
    threads, backends = sorted(phases["threads"].unique()), list(phases["backend"].unique())
    parts = phases[phases["phase"] != TOTAL].pivot(index="threads", columns=["backend", "phase"], values="seconds")
    slot = 0.8 / len(backends)
    for b, backend in enumerate(backends):
        place, bottom = np.arange(len(threads)) - 0.4 + slot * (b + 0.5), np.zeros(len(threads))
        for phase, seconds in parts[backend].items():
            bars.bar(place, seconds, 0.94 * slot, bottom, alpha=0.85, color=_colour(phase), hatch="//" if b else None,
                     label="_" if b else phase)
            bottom = bottom + seconds.to_numpy()
    hatched = f", hatched: {backends[1]}" if len(backends) > 1 else ""
    bars.set(title=f"Time of each phase; plain bars: {backends[0]}{hatched}", xlabel="threads", ylabel="seconds")
    bars.set_xticks(range(len(threads)), labels=list(map(str, threads)))
    bars.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def picture(run, phases, alone=True):
    n = phases["repetitions"].iloc[-1]
    caption = (f"{run['iterations']:.0f} iterations, the same to the last bit in all runs; "
               f"{'one repetition' if n == 1 else f'medians of {n} repetitions'}; phases below 1 % of the time have no "
               "line.")
    if _oversubscribed(run, phases):
        cores = f"{run['machine_cores']:.0f}"
        caption += f" OVERSUBSCRIBED: more than {cores} threads shared {cores} CPUs."
    rows = phases.rename(columns={"seconds_q25": "q25", "seconds_q75": "q75"})
    return Picture("scale" if alone else file_name_part(f"scale-{_name(run)}"),
                   f"{run['dataset']}, λ = {number_text(run['lambda'])}, {run['label']}",
                   lambda axes: _draw(phases, axes),
                   rows[["backend", "phase", "threads", "seconds", "q25", "q75", "speedup", "efficiency"]],
                   data_warnings([run["description"]]), subtitle=run["description"] or "", caption=caption,
                   layout=[["a", "b"], ["c", "c"]], height=0.75, key="")


def show(folder, predicted, network):
    """Writes scale.csv and scale.md, and the phases into scale.json. Returns the text and the pictures."""
    stored, runs = read(folder)
    phases = phases_of(runs)
    tables, pictures = [], []
    problems = [(run, some) for (key, some) in phases.groupby(PROBLEM, sort=False)
                for run in [runs[(runs[PROBLEM] == key).all(axis=1)].iloc[0]]]
    for run, some in problems:
        tables += [_measured(run, some), _model(run, some, predicted, network)]
        pictures.append(picture(run, some, len(problems) == 1))
    phases = phases.drop(columns="penalty")
    text = TableSet("scale", stored["title"], tables).text("md")
    write_text(os.path.join(folder, "scale.json"), json_text({**stored, "phases": phases.to_dict("records")}))
    write_text(os.path.join(folder, "scale.csv"), csv_text(phases))
    write_text(os.path.join(folder, "scale.md"), text)
    return text, pictures
