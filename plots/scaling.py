"""How the phases of a run scale with threads and processes, measured by `proxbench scale`, and a model that predicts
times for more of them (experiments/bench/SCALING.md)."""
import json
import math
import os

import numpy as np
import pandas as pd

from ..errors import in_file
from ..fields import PHASES, number_text
from ..files import read_bytes, write_text
from ..records import run_of
from .figure import GREY, Picture, line_style
from .texts import Table, TableSet, csv_text, data_warnings, json_text, sentences
from .times import spread

TOTAL, PROCESSES = "total", "mpi"  # the back end of processes of one thread: "threads" counts processes
MOST_COLUMNS = 7  # of numbers of threads in a table
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
    return stored, pd.json_normalize(runs)


# ---- the model

def serial_fraction(threads, seconds):
    """The serial share s of Amdahl's law, T(p)/T(1) = s + (1 - s)/p, by least squares over all p > 1. NaN without."""
    threads, seconds = np.asarray(threads, float), np.asarray(seconds, float)
    if 1 not in threads:
        return math.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = 1.0 - 1.0 / threads, seconds / seconds[threads == 1][0] - 1.0 / threads
        return float((x * y).sum() / (x * x).sum())


def by_threads(phases, p):
    """Seconds of phases with p threads."""
    serial = phases.serial_fraction.fillna(phases.outside_loops).clip(0.0, 1.0)
    return phases.seconds * (serial + (1.0 - serial) / p)


def by_processes(phases, network, p):
    """All phases but the solver's are shared; each sum exchanges 2 ceil(log2 p) messages and 2 (p - 1)/p of its bytes.
    `network`: latency (s) and bandwidth (bytes/s)."""
    latency, bandwidth = network
    messages = 2.0 * math.ceil(math.log2(p)) * phases.sums
    shared = phases.seconds / p + messages * latency + 2.0 * (p - 1.0) / p * phases.sum_bytes / bandwidth
    return shared.where(phases.phase != "solver", phases.seconds)


# ---- the phases

def phases_of(runs):
    """A row for each problem, back end, phase (the total first) and number of threads: median seconds with quartiles,
    speed-up and efficiency against 1 thread, and what the phase is made of at 1 thread."""
    runs = runs.assign(threads=runs.threads * runs.processes, run=runs.index)
    every = runs[["run", *PROBLEM, "lambda", "backend", "threads", "phases"]].explode("phases").dropna().reset_index()
    every = every.join(pd.DataFrame(list(every.pop("phases"))))
    rows = []
    for (*_, backend), some in every.groupby([*PROBLEM, "backend"], sort=False):
        alone = some[some.threads == 1]
        first = alone[alone.run == alone.run.min()]
        used = first["phase"][(first["calls"] > 0) | first["phase"].map(alone.groupby("phase")["seconds"].median() > 0)]
        for phase in [TOTAL, *used] if len(used) else []:
            names = used if phase == TOTAL else [phase]
            sums = some[some.phase.isin(names)].groupby(["threads", "run"], sort=False)["seconds"].sum()
            spreads = pd.DataFrame({threads: spread(one) for threads, one in sums.groupby("threads")}).T
            seconds, threads = spreads["median"], spreads.index
            loops = alone[alone.phase.isin(names)].groupby("phase")["loop_seconds"].median().sum()
            rows.append(pd.DataFrame({
                **some.iloc[0][["dataset", "lambda", "label", "penalty"]], "backend": backend, "phase": phase,
                "threads": threads, "repetitions": spreads["n"].astype(int), "seconds": seconds,
                "seconds_q25": spreads["q25"], "seconds_q75": spreads["q75"], "speedup": seconds.iloc[0] / seconds,
                "efficiency": seconds.iloc[0] / seconds / threads, **first[first["phase"].isin(names)][WORK].sum(),
                "outside_loops": 1.0 - loops / seconds.iloc[0] if seconds.iloc[0] else math.nan,
                "serial_fraction": serial_fraction(threads, seconds)}))
    return pd.concat(rows, ignore_index=True).astype(dict.fromkeys(WORK[:-1], int))


# ---- tables

def _shown(threads):
    """All numbers of threads, or powers of two and the last."""
    return [p for p in threads if len(threads) <= MOST_COLUMNS or p & (p - 1) == 0 or p == threads[-1]]


def _oversubscribed(run, phases):
    return "".join(sentences("oversubscribed", phases.threads.max(), run["machine_cores"]))


def _measured(run, phases):
    by, threads = ["backend", "phase"], sorted(phases.threads.unique())
    wide = phases.pivot(index=by, columns="threads", values="speedup")[_shown(threads)[1:]].add_prefix("speed-up at ")
    rows = phases.drop_duplicates(by).join(wide, on=by)
    for name in ("bytes", "flops"):
        rows[name + "_rate"] = (rows[name] / rows.seconds / 1e9).where((rows.phase != TOTAL) & (rows[name] > 0))
    more = {name: (name, ".2f") for name in wide}
    for p in threads[1:][-1:]:
        rows["efficiency"], more[f"efficiency at {p}"] = rows[f"speed-up at {p}"] / p, ("efficiency", ".1%")
    return Table.of("scale", rows, more, **{**run, "lambda": number_text(run["lambda"])},
                    repetitions=rows.repetitions.iloc[-1], oversubscribed=_oversubscribed(run, phases))


def _name(run):
    return f"{run['dataset']}-lambda{number_text(run['lambda'])}-{run['label']}"


def _model(run, phases, predicted, network):
    one_thread = phases.drop_duplicates(["backend", "phase"])
    parts = dict(list(one_thread.groupby("backend", sort=False)))
    # One process of one thread is the same run on any back end.
    parts.setdefault(PROCESSES, next(iter(parts.values())).assign(backend=PROCESSES))
    for backend, rows in parts.items():
        for p in predicted:
            seconds = by_processes(rows, network, p) if backend == PROCESSES else by_threads(rows, p)
            total = rows.phase == TOTAL
            rows[p] = rows.seconds / seconds.mask(total, seconds[~total].sum())
    rows = pd.concat(parts.values()).assign(mb=lambda frame: frame.sum_bytes / 1e6)
    latency, bandwidth = network
    return Table.of("model", rows, {f"speed-up at {p}": (p, ".1f") for p in predicted}, name=_name(run),
                    latency=1e6 * latency, bandwidth=bandwidth / 1e9)


# ---- the figure

def _draw(phases, speed, efficiency, bars):
    threads, backends = sorted(phases.threads.unique()), list(phases.backend.unique())
    whole = phases[phases.phase == TOTAL].groupby("backend")["seconds"].first()
    colour = lambda phase: "#000000" if phase == TOTAL else line_style(PHASES.index(phase))["color"]  # noqa: E731
    for (backend, phase), rows in phases.groupby(["backend", "phase"], sort=False):
        if rows.seconds.iloc[0] >= LEAST_SHARE * whole[backend]:
            look = {**line_style(0, backends.index(backend)), "color": colour(phase)}
            for ax, name in ((speed, "speedup"), (efficiency, "efficiency")):
                ax.plot(rows.threads, rows[name], linewidth=2.8 if phase == TOTAL else 1.6,
                        label=backend if phase == TOTAL else "_", **look)
    speed.plot(threads, threads, color=GREY, linewidth=1.2, marker="", label="ideal")
    efficiency.axhline(1.0, color=GREY, linewidth=1.2, marker="")
    speed.legend(loc="upper left")
    speed.set(title="Speed-up against 1 thread", xscale="log", yscale="log", xlabel="threads")
    efficiency.set(title="Efficiency: speed-up over threads", xscale="log", xlabel="threads")
    efficiency.set_ylim(bottom=0)
    for ax in (speed, efficiency):
        ax.set_xticks(_shown(threads), labels=list(map(str, _shown(threads))))
        ax.set_xticks([], minor=True)
    parts = phases[phases.phase != TOTAL].pivot(index=["backend", "threads"], columns="phase", values="seconds")
    bottom = np.zeros(len(parts))
    for phase in sorted(parts, key=PHASES.index):
        bars.bar(range(len(parts)), parts[phase], 0.7, bottom, alpha=0.85, color=colour(phase), label=phase)
        bottom = bottom + parts[phase].fillna(0.0).to_numpy()
    names = [f"{backend}\n{p}" if len(backends) > 1 else str(p) for backend, p in parts.index]
    bars.set(title="Time of each phase", xlabel="threads", ylabel="seconds")
    bars.set_xticks(range(len(parts)), labels=names)
    bars.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def picture(run, phases, alone=True):
    rows = phases.rename(columns={"seconds_q25": "q25", "seconds_q75": "q75"})
    return Picture("scale" if alone else f"scale-{_name(run)}",
                   f"{run['dataset']}, λ = {number_text(run['lambda'])}, {run['label']}",
                   lambda *axes: _draw(phases, *axes),
                   rows[["backend", "phase", "threads", "seconds", "q25", "q75", "speedup", "efficiency"]],
                   data_warnings([run["description"]]), run["description"] or "",
                   f"{run['iterations']:.0f} iterations, the same to the last bit in all runs; medians of n = "
                   f"{phases['repetitions'].iloc[-1]} repetitions; phases below 1 % of the time have no line. "
                   + _oversubscribed(run, phases), [["a", "b"], ["c", "c"]], 0.75, key="")


def show(folder, predicted, network):
    """Writes scale.csv and scale.md, and the phases into scale.json. Returns the text and the pictures."""
    stored, runs = read(folder)
    phases, tables, pictures = phases_of(runs), [], []
    problems = phases.groupby(PROBLEM, sort=False)
    for key, some in problems:
        run = runs[(runs[PROBLEM] == key).all(axis=1)].iloc[0]
        tables += [_measured(run, some), _model(run, some, predicted, network)]
        pictures.append(picture(run, some, problems.ngroups == 1))
    phases = phases.drop(columns="penalty")
    text = TableSet("scale", stored["title"], tables).text("md")
    for name, content in (("json", json_text({**stored, "phases": phases.to_dict("records")})),
                          ("csv", csv_text(phases)), ("md", text)):
        write_text(os.path.join(folder, f"scale.{name}"), content)
    return text, pictures
