"""Tests the program as several processes on MPI: any number gives the same optimum within rounding, with a valid
certificate, and a failure gives one clear error.

The tests may use more processes than cores, so they tell nothing about speed. Exit status: 0 all passed, 1 a test
failed, 2 bad usage, 77 no MPI found.
"""
import gzip
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import common
from .common import MPI_ENVIRONMENT, ROOT, SKIPPED, add_check_flags, chosen_of, passes, read_json, scratch

# Waiting processes yield the core.
ENVIRONMENT = dict(MPI_ENVIRONMENT, OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1")
L2_ALONE = {"lbfgs", "liblbfgs", "newton-cg", "sdca"}
LIMIT = 120
# No gradient of the data below is this large at w = 0. Rounding would decide whether such a tie enters the model.
LAMBDA = "5.0713"


class Mpi:
    def __init__(self, program, mpirun, folder):
        self.program, self.mpirun, self.folder = program, mpirun, folder

    def command(self, count, *arguments):
        launch = [] if count == 1 else [word.replace("{}", str(count)) for word in self.mpirun.split()]
        return launch + [str(self.program), *map(str, arguments)]

    def run(self, count, *arguments, command=None):
        return subprocess.run(command or self.command(count, *arguments), cwd=self.folder, env=ENVIRONMENT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT)

    def done(self, count, *arguments):
        ended = self.run(count, *arguments)
        assert ended.returncode == 0, f"{count} processes: status {ended.returncode}\n{ended.stdout}{ended.stderr}"
        return ended

    def fails(self, count, expected, *arguments, command=None):
        """Requires one error with the expected text, a status other than 0, and no file left behind."""
        before = sorted(self.folder.iterdir())
        begin = time.monotonic()
        ended = self.run(count, *arguments, command=command)
        assert ended.returncode != 0, "found status 0"
        assert expected in ended.stderr, f"found {ended.stderr!r}, expected {expected!r} in it"
        assert ended.stderr.count("error: ") <= 1, f"found more than one error: {ended.stderr}"
        assert sorted(self.folder.iterdir()) == before, "found files left behind"
        assert time.monotonic() - begin < 30, "found no end for 30 s"


def words(folder):
    """Writes a crfsuite file of 400 sequences."""
    draw = random.Random(5)
    lines = []
    for _ in range(400):
        label = draw.randrange(4)
        for _ in range(draw.randint(1, 9)):
            label = (label + draw.choice([0, 0, 1])) % 4
            features = {f"a{draw.randrange(60)}" for _ in range(4)} | {f"l{label if draw.random() < 0.7 else 9}"}
            lines.append("\t".join([f"y{label}"] + sorted(features)))
        lines.append("")
    (folder / "words.txt").write_text("\n".join(lines) + "\n")


def rows(folder):
    """Writes two libsvm files, and candidates for rerank with as many positions."""
    draw = random.Random(6)

    def features(numbers):
        return [f"{j}:{draw.randint(1, 9) / 4}" for j in sorted(draw.sample(numbers, 4))]
    lines = [" ".join([f"{draw.randrange(4)}"] + features(range(1, 60))) for _ in range(1200)]
    with gzip.open(folder / "more.txt.gz", "wt") as file:
        file.write("\n".join(lines[:300]) + "\n")
    (folder / "rows.txt").write_text("\n".join(lines[300:]) + "\n")
    groups = ["\n".join("\t".join([f"{k / 4}"] + features(range(1, 60))) for k in range(4)) for _ in range(300)]
    (folder / "candidates.txt").write_text("\n\n".join(groups) + "\n")


DATA = {
    "words": ["--format", "crfsuite", "--train", "words.txt"],
    "rows": ["--format", "libsvm", "--data-option", "scale=max", "--train", "rows.txt,more.txt.gz"],
    "candidates": ["--format", "rerank", "--train", "candidates.txt"],
    "documents": ["--format", "synthetic-lshtc", "--data-option", "documents=1100", "--data-option", "features=2000",
                  "--data-option", "nodes=60", "--data-option", "leaves=40"],
}


def train(data, solver, model, *more):
    penalty = ["--lambda", "0", "--mu", "1"] if solver in L2_ALONE else ["--lambda", LAMBDA]
    return ["train", *DATA[data], "--solver", solver, *penalty, "--tol", "1e-9", "--max-iterations", "5000", "--threads", "1",
            "--quiet", "--model", model, *more]


def require_same_optimum(mpi, data, solver, counts):
    """Trains with these numbers of processes. F is the same within rounding, and all bounds lie below it."""
    found = []
    for count in counts:
        mpi.done(count, *train(data, solver, "model.tsv", "--json", "out.json", "--trace", "trace.csv"))
        summary = read_json(mpi.folder / "out.json")
        assert summary["processes"] == count, summary["processes"]
        assert (mpi.folder / "model.tsv").read_text().count("\n") > 10, "an empty model"
        found.append((summary["objective"], summary["dual"]))
    for objective, _ in found:
        assert abs(objective - found[0][0]) <= 1e-12 * found[0][0], f"{solver} on {data}: {found}"
        assert max(bound for _, bound in found) <= objective * (1 + 1e-12), f"{solver} on {data}: {found}"


def test_every_solver_finds_the_same_optimum(mpi):
    for data in ("words", "documents"):
        for solver in mpi.solvers:
            require_same_optimum(mpi, data, solver, (1, 2, 3, 4))


def test_every_format_gives_the_same_optimum(mpi):
    for data in ("rows", "candidates"):
        require_same_optimum(mpi, data, "prox-newton", (1, 2, 3))


def test_threads_change_no_bits(mpi):
    texts = []
    for threads in ("1", "2"):
        arguments = train("words", "prox-newton", "model.tsv")
        arguments[arguments.index("--threads") + 1] = threads
        mpi.done(2, *arguments)
        texts.append((mpi.folder / "model.tsv").read_text())
    assert texts[0] == texts[1]


def test_certify_proves_the_same(mpi):
    mpi.done(1, *train("words", "owl-qn", "model.tsv"))
    found = []
    for count in (1, 3):
        mpi.done(count, "certify", "--model", "model.tsv", "--train", "words.txt", "--threads", "1", "--json", "c.json",
                 "--quiet")
        summary = read_json(mpi.folder / "c.json")
        found.append([summary[key] for key in ("objective", "instances", "positions", "nonzeros")])
        assert summary["dual"] <= found[0][0] * (1 + 1e-12), summary
    assert found[0][1:] == found[1][1:] and abs(found[0][0] - found[1][0]) <= 1e-12 * found[0][0], found


def test_select_chooses_the_same(mpi):
    found = []
    for count in (1, 2):
        mpi.done(count, "select", *DATA["words"], "--lambda", "path(0.5*max,0.1*max,4)", "--folds", "3", "--threads", "1",
                 "--model", "model.tsv", "--json", "s.json", "--quiet")
        found.append([line.split("\t")[:-1] for line in (mpi.folder / "model.tsv").read_text().splitlines()
                      if not line.startswith("#")])
    assert found[0] == found[1], "other weights"


def test_a_sweep_starts_the_processes(mpi):
    (mpi.folder / "sweep.ini").write_text("""[experiment]
name = mpi
lambda = 1, path(0.5*max, 0.1*max, 3)
threads = 1
processes = 2
tol = 1e-5
[data.words]
format = crfsuite
train = words.txt
[solver.prox-newton]
[solver.owl-qn]
""")
    environment = dict(ENVIRONMENT, PROXBENCH_MPIRUN=mpi.mpirun)
    ended = subprocess.run([str(mpi.program), "run", "sweep.ini", "--out", "results", "--set", "experiment.pin=false"],
                           cwd=mpi.folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           timeout=LIMIT)
    assert ended.returncode == 0, ended.stdout
    shared = [file for file in (mpi.folder / "results").rglob("*.json") if '"processes": 2' in file.read_text()]
    assert len(shared) >= 2, f"found {len(shared)} runs by two processes: {ended.stdout}"
    assert len(list((mpi.folder / "results").rglob("*.tsv"))) >= 2, "no models"
    shutil.rmtree(mpi.folder / "results")


def test_refuses_what_cannot_be_shared(mpi):
    for solver in ("sgd", "sdca"):
        mpi.fails(2, "a solver that can share instances: " + ", ".join(mpi.solvers),
                  *train("words", solver, "m.tsv", "--json", "m.json", "--trace", "m.csv"))
    mpi.fails(2, "commands that several processes may share: train, select, certify", "list")
    mpi.fails(4, "expected at least one", "train", "--format", "crfsuite", "--train",
              "few.txt", "--lambda", "1", "--model", "m.tsv")


def test_bad_input_is_told_once(mpi):
    mpi.fails(3, "nowhere.txt", "train", "--format", "crfsuite", "--train", "nowhere.txt", "--lambda", "1", "--model", "m.tsv")
    mpi.fails(3, "solver: found", *train("words", "prox-qm", "m.tsv"))
    mpi.fails(2, "expected an integer, 1 <= memory <= 1000", *train("words", "owl-qn", "m.tsv", "--option", "memory=0"))


def on_second(mpi, shell, *arguments):
    """The command of three processes. The second one runs `shell` first."""
    rank = 'case "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" in 1) ' + shell + ' ;; esac; exec "$@"'
    return mpi.command(3)[:-1] + ["sh", "-c", rank, "sh", str(mpi.program)] + [str(a) for a in arguments]


def test_a_process_that_fails_alone_ends_all(mpi):
    elsewhere = mpi.folder / "elsewhere"
    elsewhere.mkdir()
    mpi.fails(3, "process 2 of 3", command=on_second(mpi, f"cd {elsewhere}", *train("words", "prox-newton", "m.tsv")))


def test_files_that_differ_are_found(mpi):
    elsewhere = mpi.folder / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(mpi.folder / "words.txt", mpi.folder / "unseen.txt")
    for name, data, more in (("words.txt", "words", []), ("rows.txt", "rows", []), ("candidates.txt", "candidates", []),
                             ("unseen.txt", "words", ["--test", "unseen.txt"])):
        for file in mpi.folder.glob("*.txt*"):
            shutil.copy(file, elsewhere)
        command = on_second(mpi, f"cd {elsewhere}", *train(data, "prox-newton", "m.tsv", *more))
        text = (mpi.folder / name).read_text()
        at = text.rindex("7", 0, len(text) // 2)
        (elsewhere / name).write_text(text[:at] + "8" + text[at + 1:])
        mpi.fails(3, "expected the same data on all", command=command)


def test_a_plugin_that_one_process_lacks_or_has_otherwise(mpi):
    subprocess.run(["cmake", "--build", mpi.program.parent, "--target", "prox_bb_plugin"], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(mpi.program.parent / "test_plugins/prox_bb.so", mpi.folder)
    arguments = ["--plugin", "prox_bb.so", *train("words", "prox-newton", "m.tsv")]
    mpi.done(3, *arguments)
    (mpi.folder / "m.tsv").unlink()
    mpi.fails(2, "commands that several processes may share: train, select, certify", "--plugin", "prox_bb.so", "list")
    elsewhere = mpi.folder / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(mpi.folder / "words.txt", elsewhere)
    mpi.fails(3, f"process 2 of 3: error: {elsewhere}/prox_bb.so: found no readable file",
              command=on_second(mpi, f"cd {elsewhere}", *arguments))
    (elsewhere / "prox_bb.so").write_bytes((mpi.folder / "prox_bb.so").read_bytes() + b"another build")
    mpi.fails(3, "processes 1 and 2 found different content", command=on_second(mpi, f"cd {elsewhere}", *arguments))


def test_processes_that_do_not_find_each_other_are_refused(mpi):
    # This happens if the mpirun of another MPI starts them, or srun without --mpi.
    for told in (["OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0"], ["SLURM_STEP_NUM_TASKS=2", "SLURM_PROCID=0"]):
        command = ["env"] + told + mpi.command(1, *train("words", "prox-newton", "m.tsv"))
        mpi.fails(1, "started as one of 2 processes, but MPI found 1", command=command)


def test_a_process_without_memory_ends_all(mpi):
    # Twenty vectors of 3.6 million weights do not fit into 600 MB, of which MPI takes 300. The lambda is so small that
    # all features can enter.
    arguments = train("documents", "owl-qn", "m.tsv", "--data-option", "features=60000")
    arguments[arguments.index("--lambda") + 1] = "0.001"
    command = on_second(mpi, "ulimit -v 600000", *arguments)
    mpi.fails(3, "memory", command=command)


def test_a_killed_process_ends_all(mpi):
    command = mpi.command(3, *train("documents", "prox-gd", "m.tsv", "--data-option", "features=100000"))
    for flag, value in (("--lambda", "1"), ("--tol", "0"), ("--max-iterations", "100000000")):
        command[command.index(flag) + 1] = value
    running = subprocess.Popen(command, cwd=mpi.folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    time.sleep(4)
    assert running.poll() is None, "ended by itself"
    pids = subprocess.run(["pgrep", "-f", f"^{mpi.program} train"], text=True, stdout=subprocess.PIPE).stdout.split()
    assert len(pids) >= 3, pids
    os.kill(int(pids[-1]), signal.SIGKILL)
    begin = time.monotonic()
    running.communicate(timeout=30)
    assert running.returncode != 0 and time.monotonic() - begin < 20
    assert not (mpi.folder / "m.tsv").exists()


TESTS = {name[len("test_"):]: test for name, test in globals().items() if name.startswith("test_")}


def add_flags(parser):
    parser.add_argument("--program", type=Path, metavar="FILE",
                        help="a program built with MPI, in its build folder [build/mpi/proxbench, built if it is missing]")
    parser.add_argument("--mpirun", metavar="COMMAND", help="starts processes; {} stands for their number "
                        "[mpirun --oversubscribe -n {}, or mpirun -n {} if mpirun is MPICH's]")
    parser.add_argument("--install", action="store_true",
                        help="install Open MPI first if there is no MPI (scripts/install-deps --mpi)")
    add_check_flags(parser)


def build():
    common.run("cmake", "--preset", "mpi", cwd=ROOT)
    common.run("cmake", "--build", "--preset", "mpi", "--parallel", os.cpu_count(), "--target", "proxbench", cwd=ROOT)
    return ROOT / "build/mpi/proxbench"


def default_mpirun():
    is_open = "Open MPI" in common.run("mpirun", "--version", accept=range(256))
    return "mpirun --oversubscribe -n {}" if is_open else "mpirun -n {}"


def check(test, program, mpirun):
    """Runs one test in a folder of its own, with small data."""
    with scratch("mpi") as folder:
        mpi = Mpi(program, mpirun, folder)
        words(folder)
        rows(folder)
        (folder / "few.txt").write_text("y0\ta\n\ny1\tb\n\n")
        refused = mpi.run(2, *train("words", "sgd", "m.tsv")).stderr
        mpi.solvers = refused.split("can share instances: ")[1].split("\n")[0].split(", ")
        test(mpi)


def main(options):
    chosen = chosen_of(TESTS, options)
    if options.list:
        return 0
    if options.install and not shutil.which("mpirun"):
        common.run(ROOT / "scripts/install-deps", "--mpi")
    if not shutil.which("mpirun"):
        print("test-mpi: no mpirun is here; scripts/install-deps --mpi installs Open MPI", file=sys.stderr)
        return SKIPPED
    program, mpirun = (options.program or build()).resolve(), options.mpirun or default_mpirun()
    passed = sum(passes(name, check, test, program, mpirun) for name, test in chosen.items())
    print(f"test-mpi: {passed} of {len(chosen)} tests passed")
    return 0 if passed == len(chosen) else 1
