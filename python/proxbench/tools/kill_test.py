#!/usr/bin/env python3
"""Kills `proxbench run` with SIGKILL at random moments and checks that nothing is lost.

usage: scripts/kill-test [--kills N | --quick] [--seed N] [--program FILE] [--keep]

Runs a sweep over small problems once without disturbance. Then starts the same sweep in a new folder, kills it at a
random moment, starts it again in the same folder, kills it again, and so on until it finishes. Repeats this until N
processes have been killed. After every kill, each visible run must be complete (manifest, trace and model are readable
and belong together), and no process may be left over. After every finished sweep, the runs must equal those of the
undisturbed sweep, with bitwise equal results except for times, and no file may be left over.

  --kills N       number of processes to kill [200]
  --quick         kill 40 processes, in under two minutes
  --seed N        seed of the random moments [1]
  --program FILE  the program [build/release/proxbench]
  --keep          keep the folders and print where they are

Exit status: 0 nothing was lost, 1 something was lost, 2 bad usage. Needs Python 3.9 and no packages.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CONFIG = """[experiment]
name = kill-test
lambda = 0.5, 1
threads = 1
tol = 1e-6
max_iterations = 25
reference_tol = 1e-7
reference_time_limit = 20
repetitions = 2
warm_up = 0
sampling_budget = 1e6
pin = false

[data.words]
format = crfsuite
train = train.txt
test = test.txt

[solver.prox-newton]

[solver.owl-qn]

[solver.prox-gd]

[plot]
quantities = nnz
"""

# The keys of a manifest that may differ between two runs of the same job.
TIMES = {"seconds", "cpu_seconds", "peak_rss_bytes", "timing", "provenance", "audit_max_difference", "audits"}
TRACE_TIMES = 2  # the number of leading columns of a trace that hold times
ALL_KILLS, QUICK_KILLS = 200, 40


def fail(text):
    print(f"kill-test: error: {text}", file=sys.stderr)
    sys.exit(1)


def write_data(folder, seed):
    words = {"the": "O", "is": "O", "new": "B", "york": "I", "san": "B", "jose": "I", "paris": "B"}
    draw = random.Random(seed)
    for name, sequences in (("train.txt", 40), ("test.txt", 10)):
        with open(folder / name, "w", encoding="ascii") as file:
            for _ in range(sequences):
                for _ in range(draw.randint(1, 6)):
                    word = draw.choice(list(words))
                    label = words[word] if draw.random() < 0.9 else draw.choice("OBI")
                    file.write(f"{label}\tw={word}\tbias\n")
                file.write("\n")
    (folder / "sweep.ini").write_text(CONFIG, encoding="ascii")


def start(program, folder, out):
    """Starts the sweep as a process."""
    with open(folder / "log.txt", "ab") as log:
        return subprocess.Popen([program, "run", "sweep.ini", "--out", out, "--quiet"], cwd=folder, stdin=subprocess.DEVNULL,
                                stdout=log, stderr=log)


def run_of(path, program):
    """A stored run without its times. Fails if the run is not complete."""
    try:
        manifest = json.loads((path / "manifest.json").read_text())
        trace = (path / "trace.csv").read_text()
        model = (path / "model.tsv").read_text()
    except (OSError, ValueError) as error:
        fail(f"{path} is not whole: {error}")
    if not trace.endswith("\n") or not model.endswith("\n") or manifest["run"]["name"] != path.name:
        fail(f"{path} is not whole")
    rows = [line.split(",")[TRACE_TIMES:] for line in trace.splitlines()]
    return {"manifest": {key: value for key, value in manifest.items() if key not in TIMES}, "trace": rows, "model": model}


def where(found, expected):
    """The differences between two manifests."""
    if not isinstance(found, dict):
        return ""
    return "".join(f"; {key}: {found.get(key)} instead of {expected.get(key)}" for key in sorted(found.keys() | expected.keys())
                   if found.get(key) != expected.get(key))


def runs_of(out, program):
    folder = out / "runs"
    if not folder.is_dir():
        return {}
    return {path.name: run_of(path, program) for path in sorted(folder.iterdir()) if not path.name.startswith(".")}


def references_of(out):
    found = {}
    for path in sorted((out / "references").glob("*.json")):
        if path.name.startswith("."):
            continue
        try:
            reference = json.loads(path.read_text())
        except ValueError as error:
            fail(f"{path} is not whole: {error}")
        found[path.name] = {key: reference[key] for key in ("objective", "nnz", "kkt", "dual", "iterations", "tighten")}
        found[path.name]["tighten"].pop("seconds")
    return found


def check_leftovers(out):
    left = [str(path) for path in out.rglob(".*") if path.name != ".lock"]
    if left:
        fail(f"left over: {', '.join(left)}")


def children_in(folder):
    """Processes that work in the folder, or whose command line names it: runs, and programs that draw figures."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().decode(errors="replace")
            place = os.readlink(entry / "cwd")
            state = (entry / "stat").read_text().rsplit(")", 1)[1].split()[0]
        except (OSError, IndexError):
            continue
        if state != "Z" and (str(folder) in command or place.startswith(str(folder))):
            found.append(entry.name)
    return found


def wait_for_children(folder):
    """Waits until the kernel has killed the processes of runs, which die with their runner."""
    for _ in range(1000):
        if not children_in(folder):
            return
        time.sleep(0.01)
    fail("a process outlived its runner by 10 s")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--kills", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--program", default=str(pathlib.Path(__file__).resolve().parent.parent / "build/release/proxbench"))
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--help", "-h", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__)
        return
    if arguments.quick and arguments.kills is not None:
        print("kill-test: error: --quick: found --kills too, expected one of them", file=sys.stderr)
        sys.exit(2)
    to_kill = arguments.kills if arguments.kills is not None else QUICK_KILLS if arguments.quick else ALL_KILLS
    program = str(pathlib.Path(arguments.program).resolve())
    if not os.access(program, os.X_OK):
        print(f"kill-test: error: {program}: no program, expected a built proxbench", file=sys.stderr)
        sys.exit(2)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="proxbench-kill-"))
    write_data(folder, arguments.seed)

    begin = time.monotonic()
    if start(program, folder, "undisturbed").wait() != 0:
        fail((folder / "log.txt").read_text())
    length = time.monotonic() - begin
    expected = runs_of(folder / "undisturbed", program)
    expected_references = references_of(folder / "undisturbed")
    print(f"undisturbed: {len(expected)} runs, {len(expected_references)} references in {length:.2f} s")

    draw = random.Random(arguments.seed)
    kills = sweeps = in_sight = 0
    while kills < to_kill:
        sweeps += 1
        out = folder / f"sweep-{sweeps}"
        while True:
            process = start(program, folder, out.name)
            try:
                # Waits a third of a sweep on average, so most sweeps are killed more than once.
                process.wait(timeout=draw.uniform(0, 0.7 * length) if kills < to_kill else None)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
                wait_for_children(folder)
                in_sight += len(runs_of(out, program))
                references_of(out)
                continue
            if process.returncode != 0:
                fail(f"sweep {sweeps} ended with status {process.returncode}: {(folder / 'log.txt').read_text()}")
            break
        found = runs_of(out, program)
        if set(found) != set(expected):
            fail(f"sweep {sweeps} has the runs {sorted(found)}, expected {sorted(expected)}")
        for name, run in found.items():
            for part, value in run.items():
                if value != expected[name][part]:
                    fail(f"sweep {sweeps}: {name}: {part} differs from the undisturbed one{where(value, expected[name][part])}")
        if references_of(out) != expected_references:
            fail(f"sweep {sweeps}: other references")
        check_leftovers(out)
        if not arguments.keep:
            shutil.rmtree(out)
        print(f"\r{kills} kills, {sweeps} sweeps", end="", flush=True)
    print(f"\r{kills} kills in {sweeps} sweeps of {len(expected)} runs; {in_sight} runs were in sight after a kill, all whole; "
          f"every sweep ended with the undisturbed results")
    if arguments.keep:
        print(folder)
    else:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
