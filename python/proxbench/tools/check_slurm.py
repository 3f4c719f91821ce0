"""Runs sweeps through a private Slurm on this machine, disturbs them, and checks that nothing is lost.

Starts munged, slurmctld and slurmd of Debian's slurm-wlm in a temporary folder, without systemd and cgroups. Runs the
tests below, and stops the daemons again. slurmd needs root.

Exit status: 0 all passed, 1 a test failed, 2 bad usage, 77 Slurm is missing or does not start, or the user is not root.
"""
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

from ..errors import ProxbenchError
from . import common, kill_test
from .common import ROOT, SKIPPED, add_check_flags, add_program, built, chosen_of, passes, read_json, scratch

PROGRAMS = ["munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol", "sinfo"]
# 40 cells of a few milliseconds each: 2 lambdas x 2 solvers x 10 repetitions. The reference runs have a tolerance
# and no gap, so that they are short.
CONFIG = kill_test.CONFIG + "[slurm]\nexclusive = false\n"
MORE = "reference_gap = 0\nkill_grace = 2\n"

# Two runs, one after the other, each of which continues until it is stopped.
ENDLESS = """[experiment]
name = endless
lambda = 1
threads = 1
tol = 0
reference_tol = 1e-2
reference_gap = 0
order = grid
warm_up = 0
kill_grace = 2

[data]
format = synthetic-ocr
features = pixels
words = 300
test_words = 0

[solver.prox-gd]

[solver.owl-qn]

[slurm]
exclusive = false
"""

# More problems than an array or a small queue has room for.
MANY = ["--set", "experiment.lambda=" + ",".join(str(one) for one in range(1, 25)), "--set", "experiment.max_iterations=3"]

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
MaxArraySize={array_size}
MaxJobCount={job_count}
MinJobAge={job_age}
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

    def __init__(self, folder, array_size=16, job_count=10000, job_age=300):
        self.folder = folder
        self.options = {
            "folder": folder, "host": socket.gethostname().split(".")[0], "controller_port": free_port(),
            "daemon_port": free_port(), "cpus": os.cpu_count(), "array_size": array_size, "job_count": job_count,
            "job_age": job_age,
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
            self.start_controller()
            self.start_daemon()
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

    def start_controller(self):
        self.check(["slurmctld"])
        wait_until("the controller", lambda: "UP" in self.answer("scontrol", "ping"))

    def start_daemon(self, prefix=()):
        self.check([*prefix, "slurmd"])

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
    """The environment of a test: a folder with data and config, a cluster, and the results of a local sweep."""

    def __init__(self, cluster, folder, program, local=None):
        self.cluster, self.folder, self.program, self.local = cluster, folder, program, local
        folder.mkdir(exist_ok=True)
        kill_test.write_data(folder, 1)
        (folder / "sweep.ini").write_text(CONFIG.format(name="slurm-test", repetitions=10, more=MORE))
        (folder / "small.ini").write_text(CONFIG.format(name="slurm-test", repetitions=1, more=MORE))
        (folder / "endless.ini").write_text(ENDLESS)

    def command(self, *arguments):
        return [self.program, *arguments]

    def proxbench(self, *arguments, status=0, timeout=120):
        result = run(self.command(*arguments), cwd=self.folder, env=self.cluster.environment, timeout=timeout)
        if result.returncode != status:
            raise ProxbenchError(f"proxbench {' '.join(arguments)}: status {result.returncode}, expected {status}:\n"
                                 f"{result.stdout}{result.stderr}")
        return result.stdout + result.stderr

    def start(self, *arguments):
        with open(self.folder / "log.txt", "ab") as log:
            return subprocess.Popen(self.command(*arguments), cwd=self.folder, env=self.cluster.environment,
                                    stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def slurm(self, config, *more, status=0):
        return self.proxbench("run", config, "--launcher", "slurm", *more, status=status)

    def status(self, out="out"):
        self.proxbench("status", out, "--json", "status.json")
        return read_json(self.folder / "status.json")

    def runs(self, out="out"):
        """All stored runs and their keys, without times. The folder of the test is replaced by FOLDER."""
        found = kill_test.runs_of(self.folder / out)
        return json.loads(json.dumps(found).replace(str(self.folder), "FOLDER"))

    def check_same(self, out="out", names=None):
        """Requires that the runs are bitwise equal to those of the local sweep."""
        found = self.runs(out)
        expected = {name: run for name, run in self.local.items() if names is None or name in names}
        kill_test.require_same(found, expected)
        left = [str(path) for path in (self.folder / out / "runs").glob(".*")]
        assert not left, left

    def arrays(self, out="out"):
        """The names of the tasks of each submitted array."""
        paths = sorted((self.folder / out / "slurm").glob("*/jobs.json"))
        return [[f"{task['problem']} {task['solver']}" for task in read_json(path)] for path in paths]

    def task(self, name, out="out"):
        return next(task for task in self.status(out)["tasks"] if task["name"] == name)

    def wait_for_trace(self, name, out="out"):
        """Waits until a run of this name makes progress. Returns the process id of its worker."""
        def worker():
            for folder in (self.folder / out / "runs").glob(f".{name}.*.new"):
                trace = folder / "trace.csv"
                if trace.exists() and trace.read_text().count("\n") > 3:
                    for process in kill_test.children_in(folder):
                        return int(process)
            return None
        return wait_until(f"{name} goes on", worker)


def sweep_of_40_cells(test):
    begin = time.monotonic()
    text = test.slurm("sweep.ini", "--out", "out", "--wait")
    seconds = time.monotonic() - begin
    test.check_same()
    assert "[40/40]" in text and (test.folder / "out/tables/summary.md").exists(), text
    manifests = common.manifests(test.folder / "out").values()
    node = test.cluster.options["host"]
    assert all(one["provenance"]["slurm"]["node"] == node for one in manifests)
    assert all(one["provenance"]["machine"]["name"] == socket.gethostname() for one in manifests)
    assert all(one["timing"]["comparable"] is False for one in manifests)  # not exclusive
    assert test.arrays() == [["words-lambda0.5 ", "words-lambda1 "]], test.arrays()
    runs = sum(one["timing"]["wall_seconds"] for one in manifests)
    parallel = min(2, test.cluster.options["cpus"])
    print(f"    {seconds:.1f} s for 40 cells of {runs:.1f} s in {parallel} tasks at a time: "
          f"{(seconds - runs / parallel) / 40:.2f} s beside each cell")
    # All runs are stored: nothing is submitted, and the tables are made again.
    test.slurm("sweep.ini", "--out", "out")
    assert "40 of 40 runs are stored" in test.slurm("sweep.ini", "--out", "out", "--wait")
    assert len(test.arrays()) == 1


def a_task_for_each_solver(test):
    """The references come first, in a separate array."""
    test.slurm("sweep.ini", "--out", "out", "--wait", "--slurm", "split=solver")
    test.check_same()
    solvers = [[f"words-lambda{one} prox-newton", f"words-lambda{one} prox-gd"] for one in ("0.5", "1")]
    assert test.arrays() == [["words-lambda0.5 ", "words-lambda1 "], *solvers], test.arrays()
    assert len(list((test.folder / "out/references").glob("*.json"))) == 2


def more_tasks_than_an_array_takes(test):
    """There are 24 problems, and MaxArraySize is 16."""
    test.slurm("small.ini", "--out", "out", "--wait", *MANY)
    assert [len(tasks) for tasks in test.arrays()] == [12, 12], test.arrays()
    assert test.status()["done"] == 48


def local_and_slurm_share_a_cache(test):
    test.proxbench("run", "small.ini", "--out", "out", "--quiet")
    before = {path: path.stat().st_mtime_ns for path in (test.folder / "out/runs").glob("*/manifest.json")}
    assert "4 of 4 runs are stored" in test.slurm("small.ini", "--out", "out", "--wait")
    shutil.rmtree(test.folder / "out/runs/words-lambda1-prox-gd-rep1")
    why = test.slurm("small.ini", "--out", "out", "--dry-run", "--why")
    assert re.search(r"words-lambda1-prox-gd-rep1 .*missing", why) and "4 runs, 3 of them stored" in why, why
    test.slurm("small.ini", "--out", "out", "--wait")
    after = {path: path.stat().st_mtime_ns for path in before}
    assert [path.parent.name for path in before if before[path] != after[path]] == ["words-lambda1-prox-gd-rep1"]
    test.check_same(names=[path.parent.name for path in before])


def task_killed(test):
    name = "synthetic-ocr-lambda1-prox-gd-rep1"
    test.slurm("endless.ini", "--out", "out", "--set", "solver.owl-qn.max_iterations=3")
    os.kill(test.wait_for_trace(name), signal.SIGKILL)
    wait_until("the end", lambda: test.status()["running"] == test.status()["queued"] == 0)
    task = test.task(name)
    assert task["state"] == "failed" and "SIGKILL" in task["reason"], task
    manifest = read_json(test.folder / f"out/runs/{name}/manifest.json")
    assert manifest["status"] == "crashed(SIGKILL)" and manifest["iterations"] > 0, manifest["status"]
    # The task's process dies, and its worker with it. The run is not stored; the next sweep makes it.
    limited = ["--set", "solver.owl-qn.max_iterations=3", "--set", "solver.prox-gd.max_iterations=100000"]
    test.slurm("endless.ini", "--out", "out", *limited)
    worker = test.wait_for_trace(name)
    parent = int(Path(f"/proc/{worker}/stat").read_text().rsplit(")", 1)[1].split()[1])
    os.kill(parent, signal.SIGKILL)
    wait_until("the end", lambda: test.status()["running"] == 0)
    task = test.task(name)
    assert task["state"] == "failed" and "ended without a result" in task["reason"], task
    assert not Path(f"/proc/{worker}/cwd").exists()
    test.slurm("endless.ini", "--out", "out", "--wait", "--set", "solver.owl-qn.max_iterations=3",
               "--set", "solver.prox-gd.max_iterations=3")
    assert test.status()["failed"] == 0 and test.status()["done"] == 2


def array_cancelled(test):
    split = ["--slurm", "split=solver"]
    test.slurm("endless.ini", "--out", "out", *split)
    for solver in ("prox-gd", "owl-qn"):
        test.wait_for_trace(f"synthetic-ocr-lambda1-{solver}-rep1")
    state = test.status()
    assert state["running"] == 2 and state["queued"] == 0, state
    # A local sweep is refused while jobs are active in the folder.
    text = test.proxbench("run", "endless.ini", "--out", "out", status=1)
    assert "2 jobs of Slurm are at work here" in text, text
    # Another config for the same runs is an error, so its jobs do not mix with these.
    text = test.slurm("endless.ini", "--out", "out", *split, "--set", "experiment.max_iterations=3", status=1)
    assert "in the queue with another config" in text, text
    assert "0 queued and 2 running tasks cancelled" in test.proxbench("cancel", "out")
    wait_until("the end", lambda: test.status()["running"] + test.status()["queued"] == 0)
    for task in test.status()["tasks"]:
        assert task["state"] == "interrupted" and task["reason"] == "interrupted", task
        manifest = read_json(test.folder / f"out/runs/{task['name']}/manifest.json")
        assert manifest["status"] == "interrupted" and manifest["iterations"] > 0, manifest
    assert "0 queued and 0 running tasks cancelled" in test.proxbench("cancel", "out")
    test.slurm("endless.ini", "--out", "out", "--set", "experiment.max_iterations=3", "--wait")
    assert test.status()["done"] == 2


def task_requeued(test):
    name = "synthetic-ocr-lambda1-prox-gd-rep1"
    limited = ["--set", "solver.owl-qn.max_iterations=3", "--set", "solver.prox-gd.max_iterations=1500"]
    test.slurm("endless.ini", "--out", "out", *limited)
    test.wait_for_trace(name)
    job = test.task(name)["job"]
    test.cluster.check(["scontrol", "requeue", job])
    waiting = wait_until("back in the queue", lambda: test.task(name)["state"] == "queued" and test.task(name))
    assert waiting["reason"], waiting
    # By default a requeued job waits for two minutes. slurmd refuses a job whose credential is not newer than the
    # second in which it killed the job's last attempt ("Job credential revoked"). So the new start must be a few
    # seconds later.
    wait_until("released", lambda: run(["scontrol", "update", f"jobid={job}", "starttime=now+3"],
                                       env=test.cluster.environment).returncode == 0)
    test.slurm("endless.ini", "--out", "out", *limited, "--wait")
    manifest = read_json(test.folder / f"out/runs/{name}/manifest.json")
    assert manifest["status"] == "max-iterations" and manifest["provenance"]["slurm"]["restarts"] == "1", \
        (manifest["status"], manifest["provenance"]["slurm"])
    rows = (test.folder / f"out/runs/{name}/trace.csv").read_text().splitlines()
    iterations = [int(row.split(",")[2]) for row in rows[1:]]
    # The returned point has its own row, in addition to a sample of the last iteration.
    assert iterations == sorted(iterations) and iterations.count(0) == 1, f"the trace holds two tries: {iterations}"


def controller_gone(test):
    split = ["--slurm", "split=solver"]  # more tasks than CPUs, so some wait in the queue
    waiting = test.start("run", "sweep.ini", "--out", "out", "--launcher", "slurm", "--wait", "--verbose", *split)
    wait_until("a run", lambda: len(test.runs()) > 2)
    test.cluster.stop("controller.pid")
    text = test.proxbench("status", "out")
    assert "Slurm does not answer" in text and "from stored runs only" in text, text
    text = test.slurm("sweep.ini", "--out", "out", *split, status=1)
    assert "Slurm does not answer" in text and "nothing was submitted" in text, text
    test.cluster.start_controller()
    assert waiting.wait(timeout=120) == 0, (test.folder / "log.txt").read_text()
    text = (test.folder / "log.txt").read_text()
    assert "the jobs go on" in text and "Slurm answers again" in text, text
    test.check_same()


def two_sweeps_into_one_folder(test):
    both = [test.start("run", "sweep.ini", "--out", "out", "--launcher", "slurm", "--wait") for _ in range(2)]
    for one in both:
        assert one.wait(timeout=180) == 0, (test.folder / "log.txt").read_text()
    test.check_same()
    assert test.arrays() == [["words-lambda0.5 ", "words-lambda1 "]], test.arrays()


def killed_while_it_waits(test):
    """`run --wait` is killed by SIGKILL at eight moments. The next one finds the jobs."""
    arguments = ["run", "sweep.ini", "--out", "out", "--launcher", "slurm", "--wait"]
    for moment in (0.05, 0.3, 0.8, 1.2, 1.5, 1.8, 2.2, 3.0):
        one = test.start(*arguments)
        time.sleep(moment)
        one.kill()
        one.wait()
    test.proxbench(*arguments)
    test.check_same()
    assert test.arrays() == [["words-lambda0.5 ", "words-lambda1 "]], test.arrays()


def interrupted_while_it_waits(test):
    one = test.start("run", "endless.ini", "--out", "out", "--launcher", "slurm", "--wait")
    test.wait_for_trace("synthetic-ocr-lambda1-prox-gd-rep1")
    one.send_signal(signal.SIGINT)
    assert one.wait(timeout=30) == 1
    text = (test.folder / "log.txt").read_text()
    assert "jobs go on without this process" in text and "proxbench status out" in text, text
    assert test.status()["running"] > 0
    test.proxbench("cancel", "out")


def reference_fails(test):
    """f* runs out of memory. The tasks that wait for it end with the reason."""
    text = test.slurm("small.ini", "--out", "out", "--wait", "--set", "experiment.memory_limit=1", status=1)
    assert "skipped(the data cannot be read): " in text or "out-of-memory" in text, text
    state = test.status()
    assert state["queued"] == state["running"] == state["done"] == 0, state
    assert all(task["reason"] for task in state["tasks"]), state
    test.slurm("small.ini", "--out", "out", "--wait")
    test.check_same(names=set(test.runs()))


def data_differ_on_the_node(test):
    """The files change between submission and start. The different digest is an error."""
    test.cluster.check(["scontrol", "update", f"nodename={test.cluster.options['host']}", "state=drain", "reason=test"])
    test.slurm("small.ini", "--out", "out")
    original = (test.folder / "train.txt").read_text()
    (test.folder / "train.txt").write_text(original + "O\tw=other\n\n")
    test.cluster.check(["scontrol", "update", f"nodename={test.cluster.options['host']}", "state=resume"])
    wait_until("the end", lambda: test.status()["queued"] == test.status()["running"] == 0)
    for task in test.status()["tasks"]:
        assert task["state"] == "failed" and "is not the same on node" in task["reason"], task
    (test.folder / "train.txt").write_text(original)
    test.slurm("small.ini", "--out", "out", "--wait")
    test.check_same(names=set(test.runs()))


def limits_and_names(test):
    def refused(*more, config="small.ini", status=2):
        text = test.slurm(config, "--out", "out", *more, status=status)
        assert not list((test.folder / "out").glob("slurm/*")), "something was left behind"
        assert not test.cluster.answer("squeue", "--noheader"), "something was submitted"
        return text
    assert "invalid partition specified: mian" in refused("--slurm", "partition=mian", status=1)
    assert "expected at most the 5:00 of partition short" in refused("--slurm", "partition=short", "--slurm", "time=10")
    assert "[slurm] cpus: found 512, expected at most" in refused("--slurm", "cpus=512")
    assert "memory_limit: a job asks for" in refused("--set", "experiment.memory_limit=100000")
    assert "found 'soon'" in refused("--slurm", "time=soon")
    assert "Invalid feature" in refused("--slurm", "constraint=quantum", status=1)
    assert "[experiment] threads: found 0" in refused("--set", "experiment.threads=0")
    assert "--jobs 2" in refused("--jobs", "2")


def exclusive_by_default(test):
    config = (test.folder / "small.ini").read_text().replace("exclusive = false", "").replace("pin = false", "")
    (test.folder / "timed.ini").write_text(config.replace("lambda = 0.5, 1", "lambda = 1"))
    test.slurm("timed.ini", "--out", "out", "--wait", "--slurm", "time=10")
    for manifest in common.manifests(test.folder / "out").values():
        timing = manifest["timing"]
        assert timing["comparable"] and len(timing["cpus"]) == 1, timing
    asked = test.cluster.answer("scontrol", "--oneliner", "show", "job")
    runs = [line for line in asked.splitlines() if f"Command={test.folder}/out/slurm/" in line]
    assert runs and all("OverSubscribe=NO" in line and "TimeLimit=00:10:00" in line for line in runs), runs


def folder_unseen_by_the_nodes(test):
    """An empty file system hides the folder from the daemon."""
    test.cluster.stop("daemon.pid")
    hide = f"mount -t tmpfs none '{test.folder}' && exec \"$@\""
    test.cluster.start_daemon(["unshare", "--mount", "sh", "-c", hide, "sh"])
    try:
        wait_until("an idle node", lambda: "idle" in test.cluster.answer("sinfo", "--noheader", "--format=%T"))
        text = test.slurm("small.ini", "--out", "out", "--wait", status=1)
        assert "its node does not see this folder" in text, text
        assert all("NonZeroExitCode" in task["reason"] for task in test.status()["tasks"]), test.status()
        assert not test.runs(), "something was left behind"
    finally:
        test.cluster.stop("daemon.pid")
        test.cluster.start_daemon()
        wait_until("an idle node", lambda: "idle" in test.cluster.answer("sinfo", "--noheader", "--format=%T"))
    test.slurm("small.ini", "--out", "out", "--wait")
    test.check_same(names=set(test.runs()))


def full_queue(test):
    """The queue has 12 places for 24 tasks. With --wait the rest follows as places become free."""
    text = test.slurm("small.ini", "--out", "out", *MANY, status=1)
    assert "the queue is full" in text and "the same command submits them" in text, text
    test.slurm("small.ini", "--out", "out", "--wait", *MANY)
    assert test.status()["done"] == 48


TESTS = [sweep_of_40_cells, a_task_for_each_solver, more_tasks_than_an_array_takes, local_and_slurm_share_a_cache,
         limits_and_names, task_killed, array_cancelled, task_requeued, reference_fails, data_differ_on_the_node,
         exclusive_by_default, two_sweeps_into_one_folder, killed_while_it_waits, interrupted_while_it_waits,
         folder_unseen_by_the_nodes, controller_gone]
# These tests run on a separate cluster with a small queue, which forgets finished jobs after a moment.
TESTS_OF_A_SMALL_QUEUE = [full_queue]


def add_flags(parser):
    add_program(parser)
    parser.add_argument("--install", action="store_true",
                        help="install slurm-wlm first if it is missing (scripts/install-deps --slurm)")
    add_check_flags(parser)
    parser.add_argument("--keep", action="store_true", help="keep the folder and print where it is")


def run_test(one, test):
    if passes(one.__name__, one, test):
        return True
    log = test.folder / "log.txt"
    if log.exists():
        print(log.read_text()[-3000:])
    return False


def run_tests(folder, program, chosen):
    local = Test(SimpleNamespace(environment=dict(os.environ)), folder / "local", program)
    local.proxbench("run", "sweep.ini", "--out", "out", "--quiet")
    expected = local.runs()
    good = True
    for tests, options in ((TESTS, {}), (TESTS_OF_A_SMALL_QUEUE, {"job_count": 12, "job_age": 2})):
        mine = [one for one in tests if one.__name__ in chosen]
        if not mine:
            continue
        place = folder / f"cluster-{len(options)}"
        place.mkdir()
        with Cluster(place, **options) as cluster:
            for one in mine:
                good = run_test(one, Test(cluster, folder / one.__name__, program, expected)) and good
                cluster.answer("scancel", "--user=root")
    return good


def main(options):
    chosen = chosen_of({one.__name__: one for one in TESTS + TESTS_OF_A_SMALL_QUEUE}, options)
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
