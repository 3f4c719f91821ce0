"""How the phases of a run scale with threads and processes, measured by `proxbench scale`, and a model that predicts
times for more of them (experiments/bench/SCALING.md)."""
import math

import numpy as np
import pandas as pd

from ..errors import Error
from ..fields import PHASES, number_text
from ..files import read_json, write_text
from ..records import run_of
from .figure import GREY, Picture, line_style
from .texts import Table, TableSet, json_text, sentences

TOTAL, PROCESSES = "total", "mpi"  # the back end of processes of one thread: "threads" counts processes
MOST_COLUMNS = 7  # of numbers of threads in a table
LEAST_SHARE = 0.01  # phases below this share of the time at 1 thread have no line
WORK = ["calls", "flops", "bytes", "sums", "sum_bytes"]
PROBLEM = ["dataset", "penalty", "label"]


def read(folder):
    """FOLDER/scale.json, and its runs as a frame."""
    file, expected = folder / "scale.json", "what `proxbench scale` stores"
    stored = read_json(file, expected)
    if not stored.get("runs") or "title" not in stored:
        raise Error.at(file, "no title or no runs", expected)
    return stored, pd.json_normalize([run_of(run, file) for run in stored["runs"]])


# ---- the model

def serial_fraction(threads, seconds):
    """The serial share s of Amdahl's law, T(p)/T(1) = s + (1 - s)/p, by least squares over all p > 1, where the first
    is 1. NaN without any."""
    threads, seconds = np.asarray(threads, float), np.asarray(seconds, float)
    with np.errstate(divide="ignore", invalid="ignore"):
        x, y = 1.0 - 1.0 / threads, seconds / seconds[0] - 1.0 / threads
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

def _phase_rows(timed):
    """Rows of one phase, or of the sum of several, for each number of threads. `timed` has it in all runs."""
    alone = timed[timed.threads == 1]
    times = timed.groupby(["threads", "run"])["seconds"].sum().groupby("threads")
    seconds, loops = times.median(), alone.groupby("part")["loop_seconds"].median().sum()
    one, threads = seconds.iloc[0], seconds.index
    return pd.DataFrame({
        **timed.iloc[0][["dataset", "lambda", "label", "penalty", "backend", "phase"]], "threads": threads,
        "repetitions": times.size(), "seconds": seconds, "seconds_q25": times.quantile(0.25),
        "seconds_q75": times.quantile(0.75), "speedup": one / seconds, "efficiency": one / seconds / threads,
        **alone[alone.run == alone.run.min()][WORK].sum(), "outside_loops": 1.0 - loops / one if one else math.nan,
        "serial_fraction": serial_fraction(threads, seconds)})


def phases_of(runs):
    """A row for each problem, back end, phase (the total first) and number of threads: median seconds with quartiles,
    speed-up and efficiency against 1 thread, and what the phase is made of at 1 thread."""
    runs, by = runs.assign(threads=runs.threads * runs.processes, run=runs.index), [*PROBLEM, "backend"]
    every = runs[["run", *by, "lambda", "threads", "phases"]].explode("phases").dropna().reset_index(drop=True)
    every = every.join(pd.DataFrame(list(every.pop("phases"))))
    every = every.assign(part=every.phase, place=every.groupby(by, sort=False).ngroup())
    alone = every.assign(**every[["calls", "seconds"]].where(every.threads == 1)).groupby([*by, "phase"])
    every = every[(alone.calls.transform("first") > 0) | (alone.seconds.transform("median") > 0)]
    every = pd.concat([every.assign(phase=TOTAL), every]).sort_values("place", kind="stable")
    rows = [_phase_rows(some) for _, some in every.groupby([*by, "phase"], sort=False)]
    return pd.concat(rows, ignore_index=True).astype(dict.fromkeys(WORK[:-1], int))


# ---- tables

def _shown(threads):
    """All numbers of threads, or powers of two and the last."""
    return [p for p in threads if len(threads) <= MOST_COLUMNS or p & (p - 1) == 0 or p == threads[-1]]


def _oversubscribed(run, phases):
    return "".join(sentences("oversubscribed", phases.threads.max(), run["machine_cores"]))


def _measured(run, phases):
    by, threads = ["backend", "phase"], sorted(phases.threads.unique())
    rows = phases.drop_duplicates(by).join(phases.pivot(index=by, columns="threads", values="speedup"), on=by)
    for name in ("bytes", "flops"):
        rows[name + "_rate"] = (rows[name] / rows.seconds / 1e9).where((rows.phase != TOTAL) & (rows[name] > 0))
    more = {f"speed-up at {p}": (p, ".2f") for p in _shown(threads)[1:]}
    if (most := threads[-1]) > 1:
        rows["efficiency"], more[f"efficiency at {most}"] = rows[most] / most, ("efficiency", ".1%")
    return Table.of("scale", rows, more, **{**run, "lambda": number_text(run["lambda"])},
                    repetitions=rows.repetitions.iloc[-1], oversubscribed=_oversubscribed(run, phases))


def _name(run):
    return f"{run['dataset']}-lambda{number_text(run['lambda'])}-{run['label']}"


def _model(run, phases, predicted, network):
    parts = dict(list(phases.drop_duplicates(["backend", "phase"]).groupby("backend", sort=False)))
    # One process of one thread is the same run on any back end.
    parts.setdefault(PROCESSES, next(iter(parts.values())).assign(backend=PROCESSES))
    for backend, rows in parts.items():
        total, rows["mb"] = rows.phase == TOTAL, rows.sum_bytes / 1e6
        for p in predicted:
            seconds = by_processes(rows, network, p) if backend == PROCESSES else by_threads(rows, p)
            rows[p] = rows.seconds / seconds.mask(total, seconds[~total].sum())
    latency, bandwidth = network
    return Table.of("model", pd.concat(parts.values()), {f"speed-up at {p}": (p, ".1f") for p in predicted},
                    name=_name(run), latency=1e6 * latency, bandwidth=bandwidth / 1e9)


# ---- the figure

def _colour(phase):
    return "#000000" if phase == TOTAL else line_style(PHASES.index(phase))["color"]


def _draw(phases, speed, efficiency, bars):
    threads, backends = sorted(phases.threads.unique()), list(phases.backend.unique())
    whole = phases[phases.phase == TOTAL].groupby("backend")["seconds"].first()
    for ax, name, title in ((speed, "speedup", "Speed-up against 1 thread"),
                            (efficiency, "efficiency", "Efficiency: speed-up over threads")):
        for (backend, phase), rows in phases.groupby(["backend", "phase"], sort=False):
            if rows.seconds.iloc[0] >= LEAST_SHARE * whole[backend]:
                look = {**line_style(0, backends.index(backend)), "color": _colour(phase)}
                ax.plot(rows.threads, rows[name], linewidth=2.8 if phase == TOTAL else 1.6,
                        label=backend if phase == TOTAL else "_", **look)
        ax.set(title=title, xscale="log", xlabel="threads")
        ax.set_xticks(_shown(threads), labels=list(map(str, _shown(threads))))
        ax.set_xticks([], minor=True)
    speed.plot(threads, threads, color=GREY, linewidth=1.2, marker="", label="ideal")
    speed.set_yscale("log")
    speed.legend(loc="upper left")
    efficiency.axhline(1.0, color=GREY, linewidth=1.2, marker="")
    efficiency.set_ylim(bottom=0)
    parts = phases[phases.phase != TOTAL].pivot(index=["backend", "threads"], columns="phase", values="seconds")
    parts = parts[sorted(parts, key=PHASES.index)]
    parts.index = [f"{backend}\n{p}" if len(backends) > 1 else str(p) for backend, p in parts.index]
    parts.plot.bar(ax=bars, stacked=True, width=0.7, alpha=0.85, rot=0, color=list(map(_colour, parts)),
                   title="Time of each phase", xlabel="threads", ylabel="seconds")
    bars.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0))


def picture(run, phases, alone=True):
    rows = phases.rename(columns=lambda name: name.removeprefix("seconds_"))
    return Picture("scale" if alone else f"scale-{_name(run)}",
                   f"{run['dataset']}, λ = {number_text(run['lambda'])}, {run['label']}",
                   lambda *axes: _draw(phases, *axes),
                   rows[["backend", "phase", "threads", "seconds", "q25", "q75", "speedup", "efficiency"]],
                   run["description"],
                   f"{run['iterations']:.0f} iterations, the same to the last bit in all runs; medians of n = "
                   f"{phases['repetitions'].iloc[-1]} repetitions; phases below 1 % of the time have no line. "
                   + _oversubscribed(run, phases), layout=["ab", "cc"], height=0.75, key="")


def show(folder, predicted, network):
    """Writes the tables, and the phases into scale.json. Returns the text and the pictures."""
    stored, runs = read(folder)
    phases, tables, pictures = phases_of(runs), [], []
    problems = phases.groupby(PROBLEM, sort=False)
    for key, some in problems:
        run = runs[(runs[PROBLEM] == key).all(axis=1)].iloc[0]
        tables += [_measured(run, some), _model(run, some, predicted, network)]
        pictures.append(picture(run, some, problems.ngroups == 1))
    rows = phases.drop(columns="penalty")
    out = TableSet("scale", stored["title"], tables, rows)
    out.write(folder)
    write_text(folder / "scale.json", json_text({**stored, "phases": rows.to_dict("records")}))
    return out.text("md"), pictures
