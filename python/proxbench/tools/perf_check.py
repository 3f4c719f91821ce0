"""Counts the kernels' instructions under callgrind and compares them with experiments/bench/perf-budget.json.

Installs valgrind if it is missing and builds preset `perf`, whose instruction set valgrind knows and is the same on all
machines. Counts the instructions of each kernel on small fixed inputs and one thread. Counts do not depend on how busy
the machine is.

A kernel exceeds its budget if it takes over 2 % more. A kernel more than 2 % below its budget is reported, so that the
budget can be lowered. If compiler, C library or valgrind differ from those of the budget, all counts are shown and
nothing fails.

Exit status: 0 all kernels keep their budget, or are not judged; 1 a kernel exceeds its budget, has none, or no longer
exists, or the counting failed; 2 bad usage.
"""
import json
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor

from ..errors import Error
from .common import ROOT, read_json, run

BUILD = ROOT / "build/perf"
BUDGET = ROOT / "experiments/bench/perf-budget.json"
TOLERANCE = 0.02
ROW = "{:<28} {:>13} {:>13} {:>8}  {}"


def add_flags(parser):
    parser.add_argument("--update", action="store_true",
                        help="write the counts as the new budget; commit it with the change that caused it")


def counted(kernel):
    """The instructions of a kernel. Environment and name of a program lie on its stack and shift the data after them, which
    changes how memory is copied, by a few instructions. So they are always the same."""
    environment = {"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "PROXBENCH_ISA": "avx2"}
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null", "./proxbench_perf", "count",
         kernel], cwd=BUILD, env=environment, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : ([1-9]\d*)$", done.stderr, re.MULTILINE)
    if not found:
        raise Error(f"callgrind counts nothing for {kernel}: {done.stderr.strip()[-2000:]}")
    return int(found[1])


def count():
    """The counts, in the format of the budget."""
    program = BUILD / "proxbench_perf"
    tools = json.loads(run(program, "tools"))
    kernels = run(program, "list").split()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        counts = dict(zip(kernels, pool.map(counted, kernels)))
    return {"made_with": {**tools, "valgrind": run("valgrind", "--version").strip()}, "instructions": counts}


def verdict(allowed, now):
    if now is None or allowed is None:
        return "GONE" if now is None else "NO BUDGET"
    change = (now - allowed) / allowed
    return "OVER" if change > TOLERANCE else "under: the budget can be lowered" if change < -TOLERANCE else "within"


def judge(budget, counts):
    """Returns a table, and whether a kernel fails."""
    lines, failed = [ROW.format("kernel", "budget", "counted", "change", "verdict")], False
    for kernel in sorted(budget["instructions"].keys() | counts["instructions"].keys()):
        allowed, now = (table["instructions"].get(kernel) for table in (budget, counts))
        judged = verdict(allowed, now)
        failed = failed or judged.isupper()
        change = f"{100 * (now - allowed) / allowed:+.2f} %" if now and allowed else ""
        lines.append(ROW.format(kernel, allowed or "", now or "", change, judged))
    lines.append(f"instructions may differ by {100 * TOLERANCE:g} %")
    for what, found in counts["made_with"].items():
        known = budget["made_with"].get(what, "none")
        if found != known:
            failed = False
            lines.append(f"not judged, since the counts cannot be compared: {what}: found {found}, the budget has {known}")
    return "\n".join(lines), failed


def main(options):
    for command in (["scripts/install-deps", "--perf"], ["cmake", "--preset", "perf"],
                    ["cmake", "--build", "--preset", "perf", "--parallel", str(os.cpu_count()), "--target", "proxbench_perf"]):
        subprocess.run(command, cwd=ROOT, check=True)
    counts = count()
    if options.update:
        BUDGET.write_text(json.dumps(counts, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        print(f"perf-check: wrote {BUDGET.relative_to(ROOT)}")
        return 0
    text, failed = judge(read_json(BUDGET), counts)
    print(text)
    if failed:
        raise Error("a kernel does not keep its budget; if that is intended, run scripts/perf-check --update")
    return 0
