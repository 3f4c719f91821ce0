"""Kills `proxbench run` with SIGKILL at random moments and checks that nothing is lost.

Runs a sweep over small problems once without disturbance. Then starts the same sweep in a new folder, kills it at a
random moment, starts it again in the same folder, kills it again, and so on until it finishes. Repeats this until N
processes have been killed. After every kill, each visible run must be complete (manifest, trace and model are readable
and belong together), and no process may be left over. After every finished sweep, the runs must equal those of the
undisturbed sweep, with bitwise equal results except for times, and no file may be left over.

Exit status: 0 nothing was lost, 1 something was lost, 2 bad usage.
"""
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

from ..errors import Error
from .common import add_program, built, read_json

CONFIG = """[experiment]
name = {name}
lambda = 0.5, 1
threads = 1
tol = 1e-6
max_iterations = 25
reference_tol = 1e-7
reference_time_limit = 20
repetitions = {repetitions}
warm_up = 0
sampling_budget = 1e6
pin = false
{more}
[data.words]
format = crfsuite
train = train.txt
test = test.txt

[solver.prox-newton]

[solver.prox-gd]

[plot]
quantities = nnz
"""

# The keys of a manifest that may differ between two runs of the same job.
TIMES = {"seconds", "cpu_seconds", "peak_rss_bytes", "timing", "provenance", "audit_max_difference", "audits"}
TRACE_TIMES = 2  # the number of leading columns of a trace that hold times
ALL_KILLS, QUICK_KILLS = 200, 40


def add_flags(parser):
    kills = parser.add_mutually_exclusive_group()
    kills.add_argument("--kills", type=int, default=ALL_KILLS, metavar="N", help=f"number of processes to kill [{ALL_KILLS}]")
    kills.add_argument("--quick", dest="kills", action="store_const", const=QUICK_KILLS,
                       help=f"kill {QUICK_KILLS} processes, in under two minutes")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of the random moments")
    add_program(parser)
    parser.add_argument("--keep", action="store_true", help="keep the folders and print where they are")


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


def start(program, folder, out):
    """Starts the sweep as a process."""
    with open(folder / "log.txt", "ab") as log:
        return subprocess.Popen([program, "run", "sweep.ini", "--out", out, "--quiet"], cwd=folder, stdin=subprocess.DEVNULL,
                                stdout=log, stderr=log)


def run_of(path):
    """A stored run without its times. Fails if the run is not complete."""
    try:
        manifest = read_json(path / "manifest.json")
        trace = (path / "trace.csv").read_text()
        model = (path / "model.tsv").read_text()
    except (OSError, ValueError) as error:
        raise Error(f"{path} is not whole: {error}") from None
    if not trace.endswith("\n") or not model.endswith("\n") or manifest["run"]["name"] != path.name:
        raise Error(f"{path} is not whole")
    rows = [line.split(",")[TRACE_TIMES:] for line in trace.splitlines()]
    return {"manifest": {key: value for key, value in manifest.items() if key not in TIMES}, "trace": rows, "model": model}


def where(found, expected):
    """The differences between two manifests."""
    if not isinstance(found, dict):
        return ""
    return "".join(f"; {key}: {found.get(key)} instead of {expected.get(key)}" for key in sorted(found.keys() | expected.keys())
                   if found.get(key) != expected.get(key))


def require_same(found, expected):
    """Fails unless the runs equal the expected ones."""
    if set(found) != set(expected):
        raise Error(f"found the runs {sorted(found)}, expected {sorted(expected)}")
    for name, run in found.items():
        for part, value in run.items():
            if value != expected[name][part]:
                raise Error(f"{name}: {part} differs from the undisturbed one{where(value, expected[name][part])}")


def runs_of(out):
    return {path.name: run_of(path) for path in sorted(out.glob("runs/[!.]*"))}


def references_of(out):
    found = {}
    for path in sorted(out.glob("references/[!.]*.json")):
        try:
            reference = read_json(path)
        except ValueError as error:
            raise Error(f"{path} is not whole: {error}") from None
        found[path.name] = {key: reference[key] for key in ("objective", "nnz", "kkt", "dual", "iterations", "tighten")}
        found[path.name]["tighten"].pop("seconds")
    return found


def check_leftovers(out):
    if left := [str(path) for path in out.rglob(".*") if path.name != ".lock"]:
        raise Error(f"left over: {', '.join(left)}")


def children_in(folder):
    """Processes that work in the folder, or whose command line names it: runs, and programs that draw figures."""
    found = []
    for entry in Path("/proc").iterdir():
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
    raise Error("a process outlived its runner by 10 s")


class Sweeps:
    """Runs the sweep in a folder, again and again."""

    def __init__(self, program, folder, seed, kills):
        self.program, self.folder, self.to_kill, self.kills, self.in_sight = program, folder, kills, 0, 0
        self.draw = random.Random(seed)
        begin = time.monotonic()
        if start(program, folder, "undisturbed").wait() != 0:
            raise Error(self.log())
        self.length = time.monotonic() - begin
        self.expected, self.references = runs_of(folder / "undisturbed"), references_of(folder / "undisturbed")

    def log(self):
        return (self.folder / "log.txt").read_text()

    def disturbed(self, out):
        """Starts the sweep and kills it until it ends by itself. Checks what is stored after each kill and at the end."""
        while self.is_killed(out):
            wait_for_children(self.folder)
            self.in_sight += len(runs_of(out))
            references_of(out)
        require_same(runs_of(out), self.expected)
        if references_of(out) != self.references:
            raise Error("other references")
        check_leftovers(out)

    def is_killed(self, out):
        """Starts the sweep, and kills it after a third of its time on average, so that most die more than once."""
        process = start(self.program, self.folder, out.name)
        try:
            process.wait(timeout=self.draw.uniform(0, 0.7 * self.length) if self.kills < self.to_kill else None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.kills += 1
            return True
        if process.returncode != 0:
            raise Error(f"ended with status {process.returncode}: {self.log()}")
        return False


def main(options):
    program = built(options.program)
    folder = Path(tempfile.mkdtemp(prefix="proxbench-kill-"))  # it stays if a check fails
    write_data(folder, options.seed)
    text = CONFIG.format(name="kill-test", repetitions=2, more="") + "[solver.owl-qn]\n"
    (folder / "sweep.ini").write_text(text, encoding="ascii")
    sweeps = Sweeps(program, folder, options.seed, options.kills)
    runs = len(sweeps.expected)
    print(f"undisturbed: {runs} runs, {len(sweeps.references)} references in {sweeps.length:.2f} s")
    count = 0
    while sweeps.kills < options.kills:
        count += 1
        out = folder / f"sweep-{count}"
        try:
            sweeps.disturbed(out)
        except Error as error:
            raise Error(f"sweep {count}: {error}") from None
        if not options.keep:
            shutil.rmtree(out)
        print(f"\r{sweeps.kills} kills, {count} sweeps", end="", flush=True)
    print(f"\r{sweeps.kills} kills in {count} sweeps of {runs} runs; {sweeps.in_sight} runs were in sight after a kill, "
          f"all whole; every sweep ended with the undisturbed results")
    if options.keep:
        print(folder)
    else:
        shutil.rmtree(folder)
