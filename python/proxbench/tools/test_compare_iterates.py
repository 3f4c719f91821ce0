"""Tests of `scripts/compare-iterates` on made-up runs."""
import json

import pytest

from proxbench.tools import compare_iterates
from proxbench.tools.compare_iterates import cases, command_of, difference, penalty_of

TRACE = "seconds,iteration,objective,nnz\n{0},1,3.5,9\n{0},2,{1},8\n"
CHAIN = {"name": "chain", "capabilities": ["gradient"]}


def write(folder, side, objective="3.25", seconds=1, model="# made by\nw\t1\n", name="d-lambda1-x-rep1", **manifest):
    run = folder / side / "out/runs" / name
    run.mkdir(parents=True)
    (run / "manifest.json").write_text(json.dumps({"status": "converged", "iterations": 2, "notes": {}, **manifest}))
    (run / "trace.csv").write_text(TRACE.format(seconds, objective))
    (run / "model.tsv").write_text(model)


@pytest.mark.parametrize("b, expected", [
    ({"seconds": 9, "model": "# another head\nw\t1\n"}, ""),
    ({"objective": "3.2500000000000004"}, "trace.csv, iteration 2: objective 3.25 and 3.2500000000000004"),
    ({"iterations": 3}, "iterations 2 and 3"),
    ({"model": "w\t2\n"}, "model.tsv, weight 1: 'w\\t1' and 'w\\t2'"),
    ({"model": "w\t1\nv\t1\n"}, "model.tsv: 1 and 2 weights"),
    ({"name": "another-name"}, ""),
])
def test_the_first_difference_is_found(tmp_path, b, expected):
    write(tmp_path, "a")
    write(tmp_path, "b", **b)
    assert difference(tmp_path, "config", False) == expected


def test_each_build_makes_one_run(tmp_path):
    write(tmp_path, "a")
    write(tmp_path, "b")
    write(tmp_path, "b", name="other")
    assert difference(tmp_path, "config", False) == (
        "runs ['d-lambda1-x-rep1'] and ['d-lambda1-x-rep1', 'other'], expected one of each")


@pytest.mark.parametrize("b, expected", [
    ({"objective": "3.2500000001", "model": "w\t2\n"}, ""),
    ({"objective": "3.250000001"}, "iteration 2: objective 3.25 and 3.250000001"),
    ({"iterations": 103}, "iterations 100 and 103"),
    ({"iterations": 102}, ""),
    ({"end": 3.25 + 1e-11}, "objective 3.25 and 3.25000000001"),
])
def test_rounding_may_change_little(tmp_path, b, expected):
    for side, of in (("a", {}), ("b", b)):
        of = {"iterations": 100, "end": 3.25, **of}
        write(tmp_path, side, **{key: value for key, value in of.items() if key != "end"})
        run = next((tmp_path / side / "out/runs").iterdir())
        record = json.loads((run / "manifest.json").read_text())
        (run / "manifest.json").write_text(json.dumps({**record, "objective": of["end"]}))
    assert difference(tmp_path, "config", False, within_rounding=True) == expected


def test_rows_that_only_one_trace_has_are_the_clocks(tmp_path):
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    a.write_text("iteration,nnz\n1,5\n2,6\n9,7\n")
    b.write_text("iteration,nnz\n1,5\n3,4\n9,7\n")
    assert compare_iterates.table_difference([a, b], "iteration", ["nnz"]) == ""
    b.write_text("iteration,nnz\n1,5\n8,7\n")
    assert compare_iterates.table_difference([a, b], "iteration", ["nnz"]) == "a.csv: the last iteration is 9 and 8"


def test_a_case_of_the_exact_hessian_needs_one(tmp_path):
    write(tmp_path, "a", notes={"hessians": 1})
    write(tmp_path, "b")
    assert difference(tmp_path, "config", True) == "b made no exact Hessian, expected one"


def test_selections_are_compared_by_their_points(tmp_path):
    for side, nnz in (("a", 5), ("b", 6)):
        (tmp_path / side).mkdir()
        (tmp_path / side / "selection.json").write_text(json.dumps({"points": [{"nnz": nnz, "only_" + side: 1}]}))
        (tmp_path / side / "model.tsv").write_text("w\t1\n")
    assert difference(tmp_path, ("ocr", "path"), False).startswith("point 1: {'nnz': 5")


def solver(name, smooth=False, capabilities=(), options=()):
    return {"name": name, "needs": {"loss": "log", "smooth": smooth, "capabilities": list(capabilities)},
            "options": [{"name": option} for option in options]}


def test_a_solver_gets_an_objective_that_it_can_minimise():
    assert penalty_of(solver("a"), CHAIN, 5) == "loss = log\nlambda = 5\n"
    assert penalty_of(solver("a", smooth=True), CHAIN, 5) == "loss = log\nlambda = 0\nmu = 1\n"
    assert penalty_of(solver("a", capabilities=["max"]), CHAIN, 5) is None


def test_cases_cover_every_solver_and_both_paths(tmp_path):
    solvers = {name: solver(name, options=["memory"]) for name in ("prox-qn", "prox-newton", "owl-qn")}
    found = dict(cases(solvers, {"chain": CHAIN, "tree": CHAIN}, quick=True))
    assert {"ocr owl-qn", "lshtc prox-qn", "conll prox-newton", "ocr path owl-qn", "lshtc select"} <= set(found)
    assert "memory = 4" in found["ocr owl-qn"] and "memory = 4" not in found["ocr prox-qn"]
    assert command_of("p", tmp_path, found["ocr owl-qn"])[:2] == ["p", "run"] and (tmp_path / "case.ini").is_file()
    assert command_of("p", tmp_path, found["ocr select"])[:4] == ["p", "select", "--format", "ocr"]
