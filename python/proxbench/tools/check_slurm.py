"""Runs sweeps through a private Slurm on this machine, disturbs them, and checks that nothing is lost.

Starts munged, slurmctld and slurmd of Debian's slurm-wlm in a temporary folder, without systemd and cgroups. Runs the
tests below, and stops the daemons again. slurmd needs root.

Exit status: 0 all passed, 1 a test failed, 2 bad usage, 77 Slurm is missing or does not start, or the user is not root.
"""
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from ..errors import Error
from . import common, kill_test
from .common import ROOT, SKIPPED, add_check_flags, add_program, built, chosen_of, passes, read_json, scratch

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo"]
# 40 cells of a few milliseconds each: 2 lambdas x 2 solvers x 10 repetitions. The reference runs have a tolerance
# and no gap, so that they are short.
CONFIG = kill_test.CONFIG + "[slurm]\nexclusive = false\n"
MORE = "reference_gap = 0\nkill_grace = 2\n"

# Two problems, each with one run, which continues until it is stopped.
ENDLESS = (
    (ROOT / "experiments/base/test_endless.ini").read_text(encoding="utf-8")
    .replace("lambda = 1\n", "lambda = 1, 2\nreference_gap = 0\nkill_grace = 52\n")
    .replace("[solver.owl-qn]\n", "[slurm]\nexclusive = false\n")
)

SLURM_CONF = """ClusterName=proxbench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={daemon_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/daemon.pid
SlurmctldLogFile={folder}/controller.log
SlurmdLogFile={folder}/daemon.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
MinJobAge=300
MessageTimeout=5
KillWait=5
ReturnToService=2
MpiDefault=none
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=12:00:00 State=UP
PartitionName=short Nodes={host} MaxTime=5 State=UP
"""


def run(command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_until(what, condition, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what}: not within {seconds} s")


def signal_quietly(pid, number):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


class CannotStart(Exception):
    """The reason why this machine cannot run Slurm."""


class Cluster:
    """A context manager for a controller and a node on this machine."""

    def __init__(self, folder):
        self.folder = folder
        self.options = {
            "folder": folder, "host": socket.gethostname().split(".")[0], "controller_port": free_port(),
            "daemon_port": free_port(), "cpus": os.cpu_count(),
        }
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("SLURM", "SBATCH", "SQUEUE", "SCANCEL", "SINFO"))}
        self.environment["SLURM_CONF"] = str(folder / "slurm.conf")

    def __enter__(self):
        munge = self.folder / "munge"
        for name in ("munge", "state", "spool"):
            (self.folder / name).mkdir()
        for path in (self.folder, munge):
            path.chmod(0o711)
        key = munge / "key"
        key.write_bytes(os.urandom(64))
        for path in (munge, key):
            shutil.chown(path, "munge")
        key.chmod(0o400)
        (self.folder / "slurm.conf").write_text(SLURM_CONF.format(**self.options))
        try:
            self.check(["runuser", "-u", "munge", "--", "munged", "--force", f"--key-file={key}", f"--socket={munge}/socket",
                        f"--pid-file={munge}/pid", f"--log-file={munge}/log", f"--seed-file={munge}/seed"])
            self.check(["slurmctld"])
            wait_until("the controller", lambda: "UP" in self.answer("scontrol", "ping"))
            self.check(["slurmd"])
            wait_until("an idle node", lambda: "idle" in self.answer("sinfo", "--noheader", "--format=%T"))
        except (AssertionError, OSError) as error:
            self.__exit__()
            raise CannotStart(error) from error
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if "UP" in self.answer("scontrol", "ping"):
            self.answer("scancel", "--user=root")
            with contextlib.suppress(AssertionError):
                wait_until("an empty queue", lambda: not self.answer("squeue", "--noheader"), 15)
        self.stop("daemon.pid")
        self.stop("controller.pid")
        self.stop("munge/pid")

    def check(self, command):
        result = run(command, env=self.environment)
        if result.returncode != 0:
            raise AssertionError(f"{command[0]}: {result.stderr}")

    def answer(self, *command):
        return run(list(command), env=self.environment).stdout

    def pid(self, file):
        try:
            return int((self.folder / file).read_text())
        except (OSError, ValueError):
            return 0

    def stop(self, file):
        pid = self.pid(file)
        if pid:
            signal_quietly(pid, signal.SIGTERM)
            with contextlib.suppress(AssertionError):
                wait_until(f"end of {file}", lambda: not Path(f"/proc/{pid}").exists(), 20)


class Test:
    """The environment of a test: a folder with data and configs, and a cluster."""

    def __init__(self, cluster, folder, program):
        self.cluster, self.folder, self.program = cluster, folder, program
        folder.mkdir(exist_ok=True)
        kill_test.write_data(folder, 1)
        (folder / "sweep.ini").write_text(CONFIG.format(name="slurm-test", repetitions=10, more=MORE))
        (folder / "endless.ini").write_text(ENDLESS)

    def proxbench(self, *arguments, status=0):
        result = run([self.program, *arguments], cwd=self.folder, env=self.cluster.environment, timeout=240)
        if result.returncode != status:
            raise Error(f"proxbench {' '.join(arguments)}: status {result.returncode}, expected {status}:\n"
                                 f"{result.stdout}{result.stderr}")
        return result.stdout + result.stderr

    def slurm(self, config, *more, status=0):
        return self.proxbench("run", config, "--out", "out", "--launcher", "slurm", *more, status=status)

    def state(self, name):
        """The state of a run, by `status`."""
        self.proxbench("status", "out", "--all", "--json", "status.json")
        return next(one for one in read_json(self.folder / "status.json")["tasks"] if one["name"] == name)

    def times(self):
        """When each run and reference was stored."""
        return {path: path.stat().st_mtime_ns for part in ("runs/[!.]*/manifest.json", "references/[!.]*")
                for path in (self.folder / "out").glob(part)}

    def wait_for_trace(self, name):
        """Waits until a run of this name makes progress. Returns the process id of its worker."""
        def worker():
            for folder in (self.folder / "out/runs").glob(f".{name}.*.new"):
                trace = folder / "trace.csv"
                if trace.exists() and trace.read_text().count("\n") > 3:
                    for process in kill_test.children_in(folder):
                        return int(process)
            return None
        return wait_until(f"{name} goes on", worker)

    def wait_for_empty_queue(self):
        wait_until("an empty queue", lambda: not self.cluster.answer("squeue", "--noheader"), 180)


def two_problems(test):
    """Equals a local sweep to the bit, and is not made again."""
    test.proxbench("run", "sweep.ini", "--out", "local", "--quiet")
    begin = time.monotonic()
    text = test.slurm("sweep.ini", "--wait")
    seconds = time.monotonic() - begin
    kill_test.require_same(*(kill_test.runs_of(test.folder / out) for out in ("out", "local")))
    kill_test.check_leftovers(test.folder / "out")
    assert (test.folder / "out/tables/summary.md").exists(), text
    manifests = common.manifests(test.folder / "out").values()
    assert all(one["provenance"]["slurm"]["node"] == test.cluster.options["host"] for one in manifests)
    assert all(one["timing"]["comparable"] is False for one in manifests)  # not exclusive
    runs = sum(one["timing"]["wall_seconds"] for one in manifests)
    parallel = min(2, test.cluster.options["cpus"])
    print(f"    {seconds:.1f} s for 40 runs of {runs:.1f} s in {parallel} tasks at a time: "
          f"{(seconds - runs / parallel) / 40:.2f} s beside each run")
    before = test.times()
    assert "40 of 40 runs are stored" in test.slurm("sweep.ini")
    assert test.times() == before


def task_killed(test):
    """One of two tasks dies. The same command submits it again, and nothing that is stored or queued."""
    killed, other = (f"synthetic-ocr-lambda{one}-prox-gd-rep1" for one in (1, 2))
    test.slurm("endless.ini", "--set", "solver.prox-gd.max_iterations=3000")
    worker = test.wait_for_trace(killed)
    assert test.state(killed)["state"] == "running" and test.state(killed)["job"], test.state(killed)
    assert "2 tasks are in the queue;" in test.slurm("endless.ini", "--set", "solver.prox-gd.max_iterations=3000")
    text = test.slurm("endless.ini", status=2)
    assert "found the config of tasks in the queue" in text and "scancel --name=" in text, text
    assert "another `proxbench run` works" in test.proxbench(
        "run", "endless.ini", "--out", "out", "--set", "solver.prox-gd.max_iterations=3000", status=1)
    task = int(Path(f"/proc/{worker}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(task, signal.SIGKILL)
    test.wait_for_empty_queue()
    assert not Path(f"/proc/{worker}/cwd").exists()
    assert test.state(other)["state"] == "done", test.state(other)
    state = test.state(killed)
    assert state["state"] == "interrupted" and "its task ended after" in state["reason"], state
    before = test.times()
    test.slurm("endless.ini", "--wait", "--set", "solver.prox-gd.max_iterations=3000")
    assert "#SBATCH --array=0\n" in (test.folder / "out/slurm/array.sh").read_text()
    after = test.times()
    assert {path: after[path] for path in before} == before, "something was made twice"
    assert test.state(killed)["state"] == "done", test.state(killed)


def limits(test):
    """What Slurm refuses is told. What it grants is what was asked for. A task without time ends in good time."""
    for flags, text in ((["--slurm", "partition=mian"], "invalid partition specified: mian"),
                        (["--slurm", "constraint=quantum"], "Invalid feature")):
        found = test.slurm("endless.ini", *flags, status=1)
        assert text in found and "nothing was submitted" in found, found
        assert not test.cluster.answer("squeue", "--noheader"), "something was submitted"
    # Slurm may send the signal up to 60 s early, so 15 to 75 s after the start.
    one = ["--set", "experiment.lambda=1", "--set", "data.words=5000", "--set", "experiment.memory_limit=500",
           "--set", "experiment.kill_grace=45", "--set", "experiment.reference_time_limit=1", "--slurm", "exclusive=true"]
    name = "synthetic-ocr-lambda1-prox-gd-rep1"
    text = test.slurm("endless.ini", *one, "--slurm", "time=3", "--slurm", "partition=short", "--wait", status=1)
    assert "1 of 1 runs failed; `proxbench status out` says why" in text, text
    state = test.state(name)
    assert state["state"] == "interrupted" and "out of time (SIGUSR1)" in state["reason"], state
    manifest = read_json(test.folder / f"out/runs/{name}/manifest.json")
    assert manifest["iterations"] > 0 and manifest["timing"]["comparable"], manifest
    asked = test.cluster.answer("scontrol", "--oneliner", "show", "job")
    jobs = [line for line in asked.splitlines() if f"Command={test.folder}/out/slurm/array.sh" in line]
    granted = ("OverSubscribe=NO", "TimeLimit=00:03:00", "MinMemoryNode=756M")
    assert jobs and all(word in line for line in jobs for word in granted), asked


TESTS = [two_problems, task_killed, limits]


def add_flags(parser):
    add_program(parser)
    parser.add_argument("--install", action="store_true",
                        help="install slurm-wlm first if it is missing (scripts/install-deps --slurm)")
    add_check_flags(parser)
    parser.add_argument("--keep", action="store_true", help="keep the folder and print where it is")


def run_tests(folder, program, chosen):
    good = True
    with Cluster(folder) as cluster:
        for name, one in chosen.items():
            good = passes(name, one, Test(cluster, folder / name, program)) and good
            cluster.answer("scancel", "--user=root")
    return good


def main(options):
    chosen = chosen_of({one.__name__: one for one in TESTS}, options)
    if options.list:
        return 0
    program = built(options.program)
    if os.geteuid() != 0:
        print("test-slurm: skipped: slurmd needs root")
        return SKIPPED
    if options.install:
        common.run(ROOT / "scripts/install-deps", "--slurm")
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        print(f"test-slurm: skipped: found no {', '.join(missing)}; scripts/install-deps --slurm installs them")
        return SKIPPED
    with scratch("slurm", options.keep) as folder:
        folder.chmod(0o755)
        try:
            return 0 if run_tests(folder, program, chosen) else 1
        except CannotStart as error:
            print(f"test-slurm: skipped: a private Slurm does not start here: {error}")
            return SKIPPED
