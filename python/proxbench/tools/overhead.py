"""Measures what the harness adds to a run of about 5 s.

Alternates a run of `proxbench run` and the bare run, N times each, on the same CPUs. The first is a separate process
with samples within its budget, a trace, provenance and results on disk. The bare run (experiments/bench/bare_run.cpp)
uses the same solver and data without samples, trace and parent process. Both do the same iterations, as many as fit
into S seconds. Prints median and range of:

  process + trace   wall time of the run's process beyond loading, set-up, warm-up, clock, sampling and certificate,
                    as a share of the clock: start of the process, trace, model and result files
  sampling          wall time off the clock inside the monitor, as a share of the clock
  both              their sum, which must stay below 2 %
  clock             seconds on the clock of the harness's run over those of the bare run after it: 1 if the harness adds
                    nothing to the timed clock
  CPU clock         the same for CPU seconds on the clock

The data are letter.data (OCR, degree 2, lambda = 100) if available, otherwise similar synthetic data.

Exit status: 0 measured, 1 failed, 2 bad usage. Needs a machine that does nothing else.
"""
import json
import os
import shutil
import statistics
from pathlib import Path

from ..errors import Error
from .common import PROGRAM, ROOT, built, manifests, run, scratch

CONFIG = """[experiment]
name = overhead
lambda = 100
threads = {threads}
tol = 0
{limit}
reference_tol = 1e-2
[data.ocr]
{data}features = degree2
seed = 1
[solver.{solver}]
[plot]
quantities =
"""


def add_flags(parser):
    parser.add_argument("--pairs", type=int, default=10, metavar="N", help="number of pairs of runs")
    parser.add_argument("--seconds", type=float, default=5, metavar="S", help="length of a run")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="threads of a run")
    parser.add_argument("--solver", default="prox-newton", metavar="NAME", help="solver")
    parser.add_argument("--build", type=Path, default=PROGRAM.parent, metavar="DIR", help="folder of the built programs")


def config(options, data, limit):
    lines = "format = ocr\ntrain = ocr/letter.data.gz\nsplit = random\n" if data else "format = synthetic-ocr\n"
    return CONFIG.format(threads=options.threads, limit=limit, data=lines, solver=options.solver)


def sweep(program, folder, text, data):
    """Makes the one run of the sweep, again if it is stored: only f* is kept. Returns its folder and manifest."""
    shutil.rmtree(folder / "out/runs", ignore_errors=True)
    (folder / "overhead.ini").write_text(text)
    environment = dict(os.environ, PROXBENCH_DATA=data) if data else None
    run(program, "run", "overhead.ini", "--out", "out", "--quiet", cwd=folder, env=environment)
    (made,) = manifests(folder / "out").items()
    return made


def bare(program, job, cpus):
    environment = dict(os.environ, OMP_PROC_BIND="true", OMP_PLACES=",".join(f"{{{cpu}}}" for cpu in cpus))
    return json.loads(run(program, job, env=environment, preexec_fn=lambda: os.sched_setaffinity(0, cpus)))


def measured(manifest, other):
    """The numbers of one pair, from the manifest of the harness's run and the summary of the bare one."""
    timing, seconds = manifest["timing"], manifest["seconds"]
    known = sum(timing[key] for key in ("load_seconds", "setup_seconds", "warm_up_seconds", "certify_seconds"))
    rest = (timing["wall_seconds"] - known - seconds - timing["sampling_seconds"]) / seconds
    sampling = timing["sampling_seconds"] / seconds
    return {"process + trace": rest, "sampling": sampling, "both": rest + sampling, "clock": seconds / other["seconds"],
            "CPU clock": manifest["cpu_seconds"] / other["cpu_seconds"]}


def line(name, values, unit):
    scale = 100 if unit == "%" else 1
    low, middle, high = min(values) * scale, statistics.median(values) * scale, max(values) * scale
    print(f"{name:16} {middle:8.3f} {unit}   [{low:.3f}, {high:.3f}]")


def main(options):
    program, bare_program = (built(options.build / name) for name in ("proxbench", "proxbench_bare"))
    data = run(ROOT / "scripts/get-data", cwd=ROOT, accept=range(256)).strip()
    with scratch("overhead") as folder:
        _, manifest = sweep(program, folder, config(options, data, f"time_limit = {options.seconds}"), data)
        iterations = manifest["iterations"]
        text = config(options, data, f"max_iterations = {iterations}")
        print(f"{'letter.data' if data else 'synthetic data of the shape of letter.data'}, lambda = 100, {options.solver}, "
              f"{options.threads} threads, {iterations} iterations, {options.pairs} pairs; load {os.getloadavg()[0]:.2f}")
        pairs = []
        for _ in range(options.pairs):
            place, manifest = sweep(program, folder, text, data)
            other = bare(bare_program, place / "manifest.json", manifest["timing"]["cpus"])
            if other["objective"] != manifest["objective"]:
                raise Error(f"the bare run ends at {other['objective']}, the other at {manifest['objective']}")
            pairs.append(measured(manifest, other))
        samples = len((place / "trace.csv").read_text().splitlines()) - 1
    print(f"{manifest['seconds']:.2f} s on the clock, {samples} samples ({other['samples']} in the bare run), "
          f"{manifest['audits']} of them audits")
    for name in pairs[0]:
        line(name, [pair[name] for pair in pairs], "x" if "clock" in name else "%")
