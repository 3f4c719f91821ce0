"""Measures how many tokens a second `proxbench predict` labels, beside CRFsuite's `tag`.

Trains both on the same file in CRFsuite's format: CoNLL-2000's test sentences, l2 with mu = 1, 30 iterations, all
weights. Each labels CoNLL-2000's training sentences, one after the other, as a whole process: it reads the model and the
sentences and writes the labels. Prints medians as a Markdown table, and the ratio to CRFsuite. Without a `crfsuite` on
PATH, its row is left out. The data are found as `proxbench` finds them (PROXBENCH_DATA).

Exit status: 0 the table is printed, 1 a program failed, 2 bad usage.
"""
import shutil
import statistics
import time

from ..errors import UsageError
from .common import add_program, built, markdown, run, scratch


def add_flags(parser):
    add_program(parser)
    parser.add_argument("--repetitions", type=int, default=5)


def seconds(command, folder):
    began = time.monotonic()
    run(*command, cwd=folder)
    return time.monotonic() - began


def taggers(program, folder):
    """Trains the models. Returns the commands to measure by their names."""
    train = [program, "train", "--format", "crfsuite", "--train", "learn", "--solver", "lbfgs", "--mu", "1", "--tol", "0"]
    run(*train, "--max-iterations", "30", "--quiet", "--model", "proxbench.model", cwd=folder)
    predict = [program, "predict", "--model", "proxbench.model", "--test", "tag", "--output", "labels", "--quiet"]
    rows = {f"proxbench predict, {t} thread{'s' if t > 1 else ''}": [*predict, "--threads", t] for t in (1, 2)}
    if crfsuite := shutil.which("crfsuite"):
        run(crfsuite, "learn", "-a", "lbfgs", "-p", "c2=0.5", "-p", "feature.possible_states=1", "-p",
            "feature.possible_transitions=1", "-p", "max_iterations=30", "-m", "crfsuite.model", "learn", cwd=folder)
        rows["crfsuite tag, 1 thread"] = [crfsuite, "tag", "-m", "crfsuite.model", "tag"]
    return rows


def table(times, tokens):
    """The lines of the table, from the seconds of each program's repetitions."""
    median = {name: statistics.median(values) for name, values in times.items()}
    other = next((value for name, value in median.items() if name.startswith("crfsuite")), None)
    return markdown(["program", "seconds", "tokens a second", "x crfsuite's"], [
        [name, f"{value:.2f}", f"{tokens / value:,.0f}", f"{other / value:.2f}" if other else "-"]
        for name, value in median.items()])


def main(options):
    if options.repetitions < 1:
        raise UsageError("expected --repetitions >= 1")
    program = built(options.program)
    with scratch("tagging") as folder:
        for name, data in (("learn", "conll2000/test.txt.gz"), ("tag", "conll2000/train.txt.gz")):
            run(program, "convert", "--format", "conll", "--train", data, "--to", "crfsuite", "--out", name, cwd=folder)
        tokens = sum(line != "" for line in (folder / "tag").read_text(encoding="utf-8").splitlines())
        rows = taggers(program, folder)
        times = {name: [] for name in rows}
        for _ in range(options.repetitions):
            for name, command in rows.items():
                times[name].append(seconds(command, folder))
    print("\n".join(table(times, tokens)))
