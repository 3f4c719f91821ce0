"""Runs the examples of python/examples with small data, and a sweep with the plug-in among them."""
import itertools
import json
import os
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

import proxbench
from proxbench import compiled
from proxbench.test_made_up import write_run

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"
PROGRAM = Path(os.environ.get("PROXBENCH", Path(proxbench.__file__).parents[2] / "proxbench"))

needs_module = pytest.mark.skipif(compiled.core is None, reason="the module proxbench._core was not built")
needs_program = pytest.mark.skipif(compiled.core is None or not PROGRAM.is_file(), reason=f"no program {PROGRAM}")


@pytest.fixture
def example(tmp_path, monkeypatch):
    """Runs an example in an empty folder. Returns its variables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROXBENCH_QUICK", "1")
    monkeypatch.delenv("PROXBENCH_DATA", raising=False)
    monkeypatch.setattr("matplotlib.pyplot.show", lambda: None)
    return lambda name: runpy.run_path(str(EXAMPLES / f"{name}.py"))


def test_figure1_draws_a_stored_sweep(example, tmp_path):
    for label in ("prox-newton", "owl-qn"):
        write_run(tmp_path / "results" / "figure1", label)
    found = example("figure1")
    assert (tmp_path / "figure1.svg").stat().st_size > 1000
    assert found["sweep"].runs["label"].tolist() == ["owl-qn", "prox-newton"]


@needs_module
def test_solvers_of_ones_own_come_near_those_in_cpp(example):
    found = example("own_solver")
    assert {"ista", "scipy-lbfgs", "batch-sgd"} <= set(proxbench.solvers())
    assert found["result"].objective < 2 * found["best"].objective
    lines = [len(ax.get_lines()) for ax in found["axes"]]
    assert lines == [2, 2, 2]


@needs_module
def test_the_cost_of_python_is_told(example, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    found = example("cost")
    assert found["result"].iterations == 3 and 0 < found["numpy"] < found["run"]
    assert "NumPy: " in capsys.readouterr().out


@needs_module
def test_ista_has_at_most_20_lines():
    lines = (EXAMPLES / "ista_plugin.py").read_text(encoding="utf-8").splitlines()
    assert len(lines[lines.index(next(line for line in lines if line.startswith("@proxbench.solver"))):]) <= 20


@needs_module
def test_chunks_without_data_are_synthetic(example, capsys):
    found = example("chunking")
    assert "SYNTHETIC" in capsys.readouterr().out
    assert found["metrics"]["chunk-f1"] > 0.9 and Path("chunking.tsv").exists()
    again = proxbench.Model.load("chunking.tsv").predict(found["X_test"])
    assert again == found["predicted"]


@needs_module
@pytest.mark.skipif(not (ROOT.parent / "shared/data/conll2000/train.txt.gz").exists(), reason="no CoNLL-2000")
def test_chunks_of_conll(example, monkeypatch, capsys):
    monkeypatch.setenv("PROXBENCH_DATA", str(ROOT.parent / "shared" / "data"))
    found = example("chunking")
    assert "SYNTHETIC" not in capsys.readouterr().out
    assert len(found["data"].lengths()) == 100 and 0.5 < found["metrics"]["chunk-f1"] < 1


@needs_module
def test_a_penalty_is_chosen_from_all_pairs(example):
    found = example("choose_penalty")
    chosen = found["chosen"]
    assert len(chosen.points) == 6 and chosen.lambda_ > 0
    assert found["path"].points["nnz"].is_monotonic_increasing


SWEEP = """[experiment]
name = own
lambda = 1
tol = 1e-4
threads = 1
warm_up = 0
plugin = my_solver.py
[data.words]
format = synthetic-ocr
features = pixels
words = 30
test_words = 5
[solver.prox-newton]
[solver.ista]
"""


@pytest.fixture
def program(tmp_path):
    """Runs the program in an empty folder. Returns its exit status, and what it wrote."""

    def run(*arguments):
        ended = subprocess.run([str(PROGRAM), *map(str, arguments)], cwd=tmp_path, text=True, capture_output=True, timeout=120)
        return ended.returncode, ended.stdout + ended.stderr

    return run


@needs_program
def test_a_sweep_runs_a_plugin_in_python_beside_the_others(program, tmp_path):
    shutil.copy(EXAMPLES / "ista_plugin.py", tmp_path / "my_solver.py")
    (tmp_path / "own.ini").write_text(SWEEP)
    status, text = program("run", "own.ini", "--out", "out", "--only", "words-lambda1")  # makes no figures
    assert status == 0, text
    records = [json.loads(one.read_text()) for one in sorted(tmp_path.glob("out/runs/*/manifest.json"))]
    ista, newton = records
    assert [one["run"]["solver"] for one in records] == ["ista", "prox-newton"]
    assert [Path(one).name for one in ista["run"]["plugins"]] == ["my_solver.py"]
    assert ista["status"] == newton["status"] == "converged"
    assert ista["objective"] == pytest.approx(newton["objective"], rel=1e-3)
    with open(tmp_path / "my_solver.py", "a", encoding="utf-8") as file:
        file.write("# changed\n")
    status, text = program("run", "own.ini", "--out", "out")
    assert status != 0 and "other plug-ins" in text, text


@needs_program
@pytest.mark.parametrize("source, expected", [
    ("raise RuntimeError('no such thing')", "found RuntimeError: no such thing"),
    ("import nothing_of_this_name", "nothing_of_this_name"),
    ("x = 1", "found no solver, expected a function with the decorator proxbench.solver"),
    ("import proxbench\n@proxbench.solver('prox-newton')\ndef f(problem, monitor): return problem.start", "prox-newton"),
    ("def f(:", "SyntaxError"),
])
def test_a_plugin_that_cannot_be_used_says_why(program, tmp_path, source, expected):
    (tmp_path / "mine.py").write_text(source)
    status, text = program("--plugin", tmp_path / "mine.py", "list")
    assert status in (1, 2) and expected in text and "mine.py" in text, text
    assert "Traceback" not in text


class ByAttributes:
    """Stands in for the base classes of benchopt where it is not installed: a parameter is an attribute."""

    parameters: dict = {}

    def skip(self, **facts):
        return False, None


def made(folder, name, kind):
    """Instances of the class in a file, one for each combination of its parameters, as benchopt's guide has them."""
    cls = runpy.run_path(str(folder / name))[kind]
    for values in itertools.product(*cls.parameters.values()):
        one = cls()
        for names, value in zip(cls.parameters, values):
            for attribute, each in zip(names.split(", "), value if ", " in names else (value,)):
                setattr(one, attribute, each)
        yield one


def curve_of(solver, objective, points):
    """The objective's values as benchopt samples them, and the last result."""
    values = []
    if solver.sampling_strategy == "iteration":
        for iterations in points:
            solver.run(iterations)
            values.append(objective.evaluate_result(**solver.get_result())["value"])
        return values

    def callback():
        if len(values) <= points[-1]:
            values.append(objective.evaluate_result(**solver.get_result())["value"])
        return len(values) <= points[-1]

    solver.run(callback)
    return values


@needs_module
def test_solvers_for_benchopt_reach_one_optimum(monkeypatch):
    folder = EXAMPLES / "benchopt"
    stand_in = types.ModuleType("benchopt")
    stand_in.BaseObjective = stand_in.BaseDataset = stand_in.BaseSolver = ByAttributes
    monkeypatch.setitem(sys.modules, "benchopt", stand_in)
    dataset = next(made(folder, "datasets/simulated.py", "Dataset"))
    objective = next(made(folder, "objective.py", "Objective"))
    objective.set_data(**dataset.get_data())
    at_zero = objective.evaluate_result(**objective.get_one_result())["value"]
    ends = {}
    for file in sorted((folder / "solvers").glob("*.py")):
        for solver in made(folder, f"solvers/{file.name}", "Solver"):
            assert solver.skip(**objective.get_objective()) == (False, None)
            solver.set_objective(**objective.get_objective())
            values = curve_of(solver, objective, [0, 1, 1500])
            assert values[0] == pytest.approx(at_zero) and values[-1] < values[1] <= values[0]
            ends[file.stem, getattr(solver, "solver", "")] = values[-1]
    assert len(ends) == 4
    assert list(ends.values()) == pytest.approx([min(ends.values())] * 4, rel=1e-5), ends


@needs_module
def test_benchopt_runs_its_folder(tmp_path):
    pytest.importorskip("benchopt")
    shutil.copytree(EXAMPLES / "benchopt", tmp_path / "bench")
    subprocess.run([sys.executable, "-m", "benchopt", "run", "bench", "-d", "simulated", "-n", "5", "-r", "1", "--no-plot"],
                   cwd=tmp_path, check=True)
    assert list(tmp_path.glob("bench/outputs/*.parquet")) or list(tmp_path.glob("bench/outputs/*.csv"))


@needs_module
def test_the_lines_of_the_page_work(tmp_path, monkeypatch):
    for figure in ("figure1", "figure3"):
        write_run(tmp_path / "results" / figure)
    monkeypatch.chdir(tmp_path)
    page = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    known: dict = {}
    blocks = page.split("```python\n")[1:]
    for block in blocks:
        exec(block.split("```")[0], known)
    assert len(blocks) == 3 and known["result"].relative_gap <= 1e-4
