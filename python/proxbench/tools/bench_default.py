"""Measures how far the default solver is behind the fastest one: on each problem of the configs, to each target.

A reference run of the default solver comes first, to a proven gap of 1e-8, for at most --reference-time seconds. Then the
default and the others take turns: the default until it is within 1e-6 of f*, the others no longer than it took. f* is the
lowest F of all runs. An entry of the table is the default's median time to a relative difference from f*, divided by that of
the fastest solver. From the second repetition on, only solvers that came within 1.5 times of the default run. A problem on which
the default takes more than 10 s has one repetition.

Prints a Markdown table with the ten largest ratios and, on standard error, how many are at most 1.1 and 1.3. Runs are stored
in --out, so that after an interruption only missing ones are made; delete the folder after a change of the program. Without
a config, all regimes and held-out problems are measured. The data are found as `proxbench` finds them (PROXBENCH_DATA).

Exit status: 0 done; 1 a run failed; 2 bad usage.
"""
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

from ..errors import UsageError
from .bench_constants import cost_to, read
from .common import ROOT, add_program, built, markdown, read_json, run

TARGETS = [1e-2, 1e-3, 1e-4, 1e-6]
# The solvers that may be the fastest, by whether lambda > 0.
SOLVERS = {True: ["prox-newton", "prox-qn", "owl-qn", "liblbfgs-owlqn", "prox-gd-acc"],
           False: ["lbfgs", "newton-cg", "liblbfgs", "sdca", "oeg", "prox-newton"]}
DEFAULT = "default"
LONG = 10.0  # seconds of a run that is not repeated


def add_flags(parser):
    add_program(parser)
    parser.add_argument("configs", nargs="*", metavar="CONFIG.ini")
    parser.add_argument("--out", type=Path, default=Path("results/default"), metavar="DIR", help="where runs are stored")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=60, help="seconds of a run of the default")
    parser.add_argument("--reference-time", type=float, default=200, help="seconds of the reference")
    parser.add_argument("--cost", choices=["seconds", "passes"], default="seconds")


def problems_of(program, config):
    """The arguments of `proxbench train` for each problem of a config, and whether lambda > 0, by its name."""
    planned = json.loads(run(program, "run", config, "--dry-run", "--quiet", "--json", "-", "--out", os.devnull + "/none",
                             cwd=ROOT))
    found = {}
    for one in planned["runs"]:
        data = one["data"]
        flags = ["--format", data["format"], "--lambda", one["lambda"], "--mu", one["mu"]]
        for flag in ("train", "test"):
            flags += ["--" + flag, ",".join(data[flag])] if data[flag] else []
        flags += ["--hierarchy", data["hierarchy"]] if data["hierarchy"] else []
        flags += [word for key, value in data["options"].items() if value for word in ("--data-option", f"{key}={value}")]
        found[f"{planned['experiment']}/{one['problem']}"] = flags, one["lambda"] > 0
    return found


class Runs:
    """The runs of one problem, which are made if they are not stored."""

    def __init__(self, options, name, flags):
        self.options, self.flags, self.folder = options, flags, options.out / name
        self.folder.mkdir(parents=True, exist_ok=True)

    def trace(self, solver, repetition, limit, gap="0"):
        """The samples of a run, as (F, costs)."""
        file = self.folder / f"{solver}-{repetition}.csv"
        if not file.exists():
            part = file.with_suffix(".part")
            named = ["--solver", solver] if solver != DEFAULT else ["--json", file.with_suffix(".json")]
            done = subprocess.run([self.options.program, "train", *map(str, self.flags), *named, "--threads",
                                   str(self.options.threads), "--gap", gap, "--tol", "0", "--time-limit", f"{limit:.3g}",
                                   "--quiet", "--trace", part], cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode != 0:  # for example, it would need too much memory
                print(f"bench-default: {self.folder.name}: {solver}: {done.stderr.strip()[-300:]}", file=sys.stderr)
                part.write_text("", encoding="utf-8")
            os.replace(part, file)
        return read(file)


def measure(options, name, problem):
    """Makes the runs of a problem. Returns the median costs of each solver by target."""
    flags, l1 = problem
    runs = Runs(options, name, flags)
    print(f"bench-default: {name}", file=sys.stderr, flush=True)
    reference = runs.trace(DEFAULT, "reference", options.reference_time, "1e-8")
    default = read_json(runs.folder / f"{DEFAULT}-reference.json")["solver"]
    others = [solver for solver in SOLVERS[l1] if solver != default]
    f = min(sample[0] for sample in reference)
    traces, limit = {}, min(options.time_limit, 1.3 * cost_to(reference, f, 5e-7, "seconds") + 0.2)

    def to(trace, target):
        return cost_to(trace, f, target, options.cost)

    for repetition in range(1, options.repetitions + 1):
        ours = traces.setdefault(DEFAULT, [])
        ours.append(runs.trace(DEFAULT, repetition, limit))
        time = min(limit, cost_to(ours[0], f, 1e-6, "seconds"))
        for solver in others:
            traces.setdefault(solver, []).append(runs.trace(solver, repetition, max(time, 0.01)))
        if repetition == 1:
            others = [solver for solver in others if any(
                to(traces[solver][0], target) < 1.5 * to(ours[0], target) for target in TARGETS)]
            if time > LONG:
                break
    f = min(f, *(sample[0] for many in traces.values() for trace in many for sample in trace))
    return {solver: [statistics.median(to(trace, target) for trace in many) for target in TARGETS]
            for solver, many in traces.items()}


def cells_of(name, costs):
    """A cell for each target that the default or another solver reached: ratio, problem, target, costs, solver."""
    for i, target in enumerate(TARGETS):
        best = min(costs, key=lambda solver: costs[solver][i])
        ours, least = costs[DEFAULT][i], costs[best][i]
        if math.isfinite(least):
            yield (ours / least if least > 0 else 1.0, name, target, ours, least, best)


def main(options):
    options.program = built(options.program)
    if options.repetitions < 1:
        raise UsageError(f"found --repetitions {options.repetitions}, expected at least 1")
    options.out = options.out.resolve()
    configs = options.configs or sorted(ROOT.glob("configs/regime-*.ini")) + sorted(ROOT.glob("configs/heldout/*.ini"))
    cells = []
    for config in configs:
        for name, problem in problems_of(options.program, config).items():
            cells += cells_of(name, measure(options, name, problem))
    cells.sort(reverse=True)
    print("\n".join(markdown(["problem", "target", "default", "fastest", "solver", "ratio"],
                             [[name, f"{target:g}", f"{ours:.3g}", f"{least:.3g}", best, f"{ratio:.2f}"]
                              for ratio, name, target, ours, least, best in cells[:10]])))
    print(f"{len(cells)} entries: {sum(cell[0] <= 1.1 for cell in cells)} at most 1.1, "
          f"{sum(cell[0] <= 1.3 for cell in cells)} at most 1.3", file=sys.stderr)
