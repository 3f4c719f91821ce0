#!/usr/bin/env python3
"""Measures what the harness adds to a run of about 5 s.

usage: scripts/overhead [--pairs N] [--seconds S] [--threads N] [--solver NAME] [--build DIR]

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

  --pairs N      number of pairs of runs [10]
  --seconds S    length of a run [5]
  --threads N    threads of a run [1]
  --solver NAME  solver [prox-newton]
  --build DIR    folder of the built programs [build/release]

Exit status: 0 measured, 1 failed, 2 bad usage. Needs Python 3.9, no packages, and a machine that does nothing else.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile


def fail(text, status=1):
    print(f"overhead: error: {text}", file=sys.stderr)
    sys.exit(status)


def config(arguments, iterations):
    root = pathlib.Path(__file__).resolve().parent.parent
    found = subprocess.run([root / "scripts/get-data"], capture_output=True, text=True, cwd=root)
    folder = found.stdout.strip() if found.returncode == 0 else ""
    real = "format = ocr\ntrain = ocr/letter.data.gz\nfeatures = degree2\nsplit = random\nseed = 1\n"
    synthetic = "format = synthetic-ocr\nfeatures = degree2\nseed = 1\n"
    limit = f"max_iterations = {iterations}\n" if iterations else f"time_limit = {arguments.seconds}\n"
    text = (f"[experiment]\nname = overhead\nlambda = 100\nthreads = {arguments.threads}\ntol = 0\n{limit}"
            f"reference_tol = 1e-2\n[data.ocr]\n{real if folder else synthetic}[solver.{arguments.solver}]\n"
            f"[plot]\nquantities =\n")
    return text, folder, "letter.data" if folder else "synthetic data of the shape of letter.data"


def sweep(program, folder, text, data):
    (folder / "overhead.ini").write_text(text)
    environment = dict(os.environ)
    if data:
        environment["PROXBENCH_DATA"] = data
    done = subprocess.run([program, "run", "overhead.ini", "--out", "out", "--quiet"], cwd=folder, env=environment,
                          capture_output=True, text=True)
    if done.returncode != 0:
        fail(done.stderr)
    (run,) = (path for path in (folder / "out/runs").iterdir() if not path.name.startswith("."))
    return run, json.loads((run / "manifest.json").read_text())


def again(program, folder, text, data):
    """Makes the same run again. Only f* is kept."""
    for path in (folder / "out/runs").glob("*"):
        subprocess.run(["rm", "-rf", path], check=True)
    return sweep(program, folder, text, data)


def bare(program, job, cpus):
    environment = dict(os.environ, OMP_PROC_BIND="true",
                       OMP_PLACES=",".join(f"{{{cpu}}}" for cpu in cpus))
    done = subprocess.run([program, job], capture_output=True, text=True, env=environment,
                          preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    if done.returncode != 0:
        fail(done.stderr)
    return json.loads(done.stdout)


def line(name, values, unit):
    scale = 100 if unit == "%" else 1
    low, middle, high = min(values) * scale, statistics.median(values) * scale, max(values) * scale
    print(f"{name:16} {middle:8.3f} {unit}   [{low:.3f}, {high:.3f}]")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--solver", default="prox-newton")
    parser.add_argument("--build", default=str(pathlib.Path(__file__).resolve().parent.parent / "build/release"))
    parser.add_argument("--help", "-h", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__)
        return
    programs = [str(pathlib.Path(arguments.build).resolve() / name) for name in ("proxbench", "proxbench_bare")]
    for program in programs:
        if not os.access(program, os.X_OK):
            fail(f"{program}: no program, expected a build with benchmarks", 2)
    with tempfile.TemporaryDirectory(prefix="proxbench-overhead-") as name:
        folder = pathlib.Path(name)
        text, data, what = config(arguments, 0)
        _, manifest = sweep(programs[0], folder, text, data)
        iterations = manifest["iterations"]
        text, data, what = config(arguments, iterations)
        print(f"{what}, lambda = 100, {arguments.solver}, {arguments.threads} threads, {iterations} iterations, "
              f"{arguments.pairs} pairs; load {os.getloadavg()[0]:.2f}")
        rest, sampling, both, clock, cpu = [], [], [], [], []
        for _ in range(arguments.pairs):
            run, manifest = again(programs[0], folder, text, data)
            timing, seconds = manifest["timing"], manifest["seconds"]
            other = bare(programs[1], run / "manifest.json", timing["cpus"])
            if other["objective"] != manifest["objective"]:
                fail(f"the bare run ends at {other['objective']}, the other at {manifest['objective']}")
            told = sum(timing[key] for key in ("load_seconds", "setup_seconds", "warm_up_seconds", "certify_seconds"))
            rest.append((timing["wall_seconds"] - told - seconds - timing["sampling_seconds"]) / seconds)
            sampling.append(timing["sampling_seconds"] / seconds)
            both.append(rest[-1] + sampling[-1])
            clock.append(seconds / other["seconds"])
            cpu.append(manifest["cpu_seconds"] / other["cpu_seconds"])
        samples = len((run / "trace.csv").read_text().splitlines()) - 1
        print(f"{seconds:.2f} s on the clock, {samples} samples ({other['samples']} in the bare run), "
              f"{manifest['audits']} of them audits")
        line("process + trace", rest, "%")
        line("sampling", sampling, "%")
        line("both", both, "%")
        line("clock", clock, "x")
        line("CPU clock", cpu, "x")


if __name__ == "__main__":
    main()
