"""What `proxbench scale` measures: the runs of a config with several numbers of threads and processes. Each is a sweep of
its own, by `proxbench run` into a scratch folder, so that all are made one at a time."""
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from .cli import say
from .config import read_ini, split_list
from .errors import Error, UsageError, require_known
from .files import read_json

PROCESSES = "mpi"  # the back end of processes of one thread: "threads" counts processes
BACKENDS = ["openmp", "tbb", PROCESSES]
EXPECTED = "the record of a run"
# The words that start the program, with its plug-ins. Runs do not see this variable, and adapters of trainers must not
# see the other one, which the program sets for this package.
PROGRAM = json.loads(os.environ.pop("PROXBENCH_COMMAND", '["proxbench"]'))
os.environ.pop("PYTHONSAFEPATH", None)


def checked(flags):
    """The config as `proxbench check` understands it: its runs and its resolved text. Data that are gone are no error
    if nothing is to be run."""
    words = [*PROGRAM, "check", flags.experiment, "--resolved", "--json", "-", *(f"--set={one}" for one in flags.set)]
    ended = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    found = json.loads(ended.stdout or "{}")
    if ended.returncode and not (flags.redraw and found.get("missing_files")):
        sys.stderr.write(ended.stderr)
        raise SystemExit(ended.returncode)
    return found


def wanted(flags, runs):
    """The labels of the solvers to measure."""
    known = list(dict.fromkeys(run["label"] for run in runs if run["solver"] != "external"))
    if not known:
        raise UsageError(f"{runs[0]['experiment']}: found only external trainers, expected a solver whose phases can be "
                         "measured")
    labels = split_list(flags.solver or "") or known[:1]
    for label in labels:
        require_known("--solver", label, known, "labels of the config:")
    return labels


def require_single(runs):
    for run in runs:
        if run["path"]:
            name = "lambda" if run["lambda"] is None else "mu"
            raise UsageError.at(f"{run['experiment']}: [experiment] {name}", f"'{run['path']}'",
                                f"single {name}s to measure")


def _ini(sections):
    return "\n".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
                     for name, keys in sections.items())


class Measurement:
    """`sections`: the resolved config. No limit of time or gap ends a run, so all runs do the same work."""

    def __init__(self, flags, labels, sections, folder):
        self.flags, self.folder, self.seen, self.started, self.models = flags, folder, set(), 0, {}
        free = {"max_iterations": flags.iterations or 50, "time_limit": 0, "gap": 0}
        kept = {"experiment", *(f"solver.{label}" for label in labels)}
        self.sections = {name: keys if name.startswith("data.") else keys | free for name, keys in sections.items()
                         if name in kept or name.startswith("data.")}
        experiment = self.sections["experiment"]
        experiment |= {"reference": "none", "repetitions": 1, "profile": "true", "sample_kkt": "false",
                       "sampling_budget": 0}
        for key in ("targets", "stop_at"):
            experiment.pop(key, None)

    def run(self, problem, names, threads, backend, repetition, total):
        """Makes the runs of a problem once. Returns their records."""
        processes = backend == PROCESSES
        what = f"{threads} {'process' if processes else 'thread'}{'' if threads == 1 else 'es' if processes else 's'}"
        what += f", {backend}, repetition {repetition}"
        here = self.sections["experiment"] | {"processes": threads if processes else 1, "threads": 1 if processes else threads}
        here |= {} if processes else {"backend": backend}
        for name in names:
            self.started += 1
            if not self.flags.quiet:
                say("info", f"[{self.started}/{total}] {name}: {what}")
        config, out = self.folder / "config.ini", self.folder / "out"
        config.write_text(_ini(self.sections | {"experiment": here}))
        ended = subprocess.run([*PROGRAM, "run", str(config), "--out", str(out), "--only", problem, "--force", "--quiet"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        lines = ended.stderr.splitlines()
        for line in lines:
            if "timings: " in line and line not in self.seen:
                print(line, file=sys.stderr)
        self.seen.update(lines)
        return [self.record(out / "runs" / f"{name}-rep1", f"{name}: {what}", lines, backend, repetition) for name in names]

    def record(self, folder, title, lines, backend, repetition):
        if not (folder / "manifest.json").exists():
            raise Error((lines or [f"{title}: no run"])[-1].removeprefix("error: "))
        record = read_json(folder / "manifest.json", EXPECTED)
        if record["reason"] or not (folder / "model.tsv").exists():
            raise Error(f"{title}: {record['status']}: {record['reason'] or 'no model'}")
        record["run"] |= {"name": title, "backend": backend, "repetition": repetition}
        digest = hashlib.sha256((folder / "model.tsv").read_bytes()).hexdigest()
        first, weights = self.models.setdefault((folder.name, record["run"]["processes"]), (title, digest))
        if digest != weights:
            raise Error(f"{title}: ends at other weights than {first}: found a model of digest {digest}, expected {weights}")
        return record


def measure(flags, found, folder):
    """The content of scale.json: its title and the record of each run, problem by problem and, within a problem,
    repetition by repetition."""
    runs = found["runs"]
    require_single(runs)
    labels, cpus = wanted(flags, runs), len(os.sched_getaffinity(0))
    threads = sorted({1, *(flags.threads or range(1, cpus + 1))})
    backends = split_list(flags.backend or "openmp,tbb")
    for backend in backends:
        require_known("--backend", backend, BACKENDS)
    if threads[-1] > cpus:
        say("warning", f"oversubscribed: {threads[-1]} threads on {cpus} CPUs are not bound to CPUs and wait for each other")
    problems = {}
    for run in runs:
        if run["repetition"] == 1 and run["label"] in labels:
            name = run["name"].removesuffix("-rep1")
            problems.setdefault(name.removesuffix(f"-{run['label']}"), []).append(name)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".scale-", dir=folder) as scratch:
        resolved = Path(scratch) / "resolved.ini"
        resolved.write_text(found["resolved"])
        sections, _ = read_ini(resolved)
        one, repetitions = Measurement(flags, labels, sections, Path(scratch)), flags.repetitions or 3
        total = sum(map(len, problems.values())) * repetitions * len(threads) * len(backends)
        return {"title": sections["experiment"].get("title"), "runs": [
            record for problem, names in problems.items() for repetition in range(1, repetitions + 1)
            for p in threads for backend in backends
            for record in one.run(problem, names, p, backend, repetition, total)]}
