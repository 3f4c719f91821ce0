"""Measures how many tokens a second `proxbench predict` labels, beside CRFsuite's `tag` and Wapiti's `label`.

Trains each on CoNLL-2000's training sentences with the attributes of CRFsuite's tutorial: l2 with mu = 1, where all
weights are nonzero, and l1 with lambda = 1, where few are. Each then labels the same sentences as a whole process: it
reads the model and the sentences and writes the labels. `predict` takes the model as a binary file and as a text.
Programs take turns. Prints medians of CPU seconds (user and system), the largest memory, and the ratio of tokens a CPU
second to CRFsuite's, as a Markdown table. Rows of programs that are not on PATH are left out. The data are found as
`proxbench` finds them (PROXBENCH_DATA).

Exit status: 0 the table is printed, 1 a program failed, 2 bad usage.
"""
import os
import shutil
import statistics
import subprocess
import time

from ..errors import Error, UsageError
from .common import add_program, built, markdown, run, scratch


def add_flags(parser):
    add_program(parser)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--iterations", type=int, default=12, help="iterations of training; weights need not be good")


def measured(command, folder):
    """CPU seconds, seconds and peak MB of a command."""
    began = time.monotonic()
    with open(os.devnull, "w", encoding="utf-8") as nothing:
        process = subprocess.Popen([str(part) for part in command], cwd=folder, stdout=nothing, stderr=nothing)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise Error(f"{command[0]} ended with status {process.returncode}")
    return used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss / 1000


def proxbench_rows(program, folder, penalty, flags, iterations):
    text, binary = f"{penalty}.tsv", f"{penalty}.pbm"
    run(program, "train", "--format", "crfsuite", "--train", "sentences", *flags, "--tol", "0", "--max-iterations",
        iterations, "--quiet", "--model", text, cwd=folder)
    run(program, "convert", "--model", text, "--out", binary, cwd=folder)
    predict = [program, "predict", "--test", "sentences", "--output", "labels", "--quiet", "--model"]
    return {f"{penalty}: proxbench, {kind}, {threads} thread{'s' if threads > 1 else ''}":
            [*predict, model, "--threads", threads]
            for kind, model, threads in (("binary", binary, 1), ("binary", binary, 2), ("text", text, 1))}


def crfsuite_rows(program, folder, penalty, flags, iterations):
    run(program, "learn", "-a", "lbfgs", *flags, "-p", "feature.possible_states=1", "-p",
        "feature.possible_transitions=1", "-p", f"max_iterations={iterations}", "-m", f"{penalty}.crfsuite",
        "sentences", cwd=folder)
    return {f"{penalty}: crfsuite": [program, "tag", "-m", f"{penalty}.crfsuite", "sentences"]}


def wapiti_rows(program, folder, penalty, flags, iterations):
    run(program, "train", "-a", "l-bfgs", *flags, "-i", iterations, "-t", 1, "sentences.wapiti", f"{penalty}.wapiti",
        cwd=folder)
    return {f"{penalty}: wapiti": [program, "label", "-c", "-m", f"{penalty}.wapiti", "sentences.wapiti", "labels"]}


def commands(program, folder, iterations):
    """Trains the models. Returns the commands to measure by their names."""
    kinds = [(proxbench_rows, program, {"l2": ["--mu", 1, "--solver", "lbfgs"], "l1": ["--lambda", 1]}),
             (crfsuite_rows, shutil.which("crfsuite"),
              {"l2": ["-p", "c2=0.5"], "l1": ["-p", "c1=1", "-p", "c2=0"]}),
             (wapiti_rows, shutil.which("wapiti"), {"l2": ["-1", 0, "-2", 1], "l1": ["-1", 1, "-2", 0]})]
    rows = {}
    for penalty, least in (("l2", iterations), ("l1", 3 * iterations)):  # l1 needs more to become sparse
        for make, path, flags in kinds:
            if path:
                rows |= make(path, folder, penalty, [str(flag) for flag in flags[penalty]], least)
    return rows


def table(times, tokens):
    """The lines of the table, from the (CPU seconds, seconds, MB) of each program's repetitions."""
    cpu = {name: statistics.median(run[0] for run in runs) for name, runs in times.items()}
    rows = []
    for name, runs in times.items():
        other = cpu.get(f"{name.split(':')[0]}: crfsuite")
        rows.append([name, f"{cpu[name]:.2f}", f"{tokens / cpu[name]:,.0f}", f"{other / cpu[name]:.2f}" if other else "-",
                     f"{statistics.median(run[1] for run in runs):.2f}", f"{max(run[2] for run in runs):.0f}"])
    return markdown(["model and program", "CPU seconds", "tokens a CPU second", "x crfsuite's", "seconds", "MB"], rows)


def main(options):
    if options.repetitions < 1 or options.iterations < 1:
        raise UsageError("expected --repetitions >= 1 and --iterations >= 1")
    program = built(options.program)
    with scratch("tagging") as folder:
        for target, name in (("crfsuite", "sentences"), ("wapiti", "sentences.wapiti")):
            run(program, "convert", "--format", "conll", "--train", "conll2000/train.txt.gz", "--to", target, "--out",
                name, cwd=folder)
        with open(folder / "sentences", "rb") as lines:  # not as a whole: a child's peak begins at this program's memory
            tokens = sum(line != b"\n" for line in lines)
        rows = commands(program, folder, options.iterations)
        times = {name: [] for name in rows}
        for _ in range(options.repetitions):
            for name, command in rows.items():
                times[name].append(measured(command, folder))
    print("\n".join(table(times, tokens)))
