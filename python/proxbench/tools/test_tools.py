"""Every tool starts, explains itself, and refuses bad usage in one line; what the tools share."""
import math
import os
import subprocess

import pytest

from proxbench.errors import Error, UsageError
from proxbench.tools import (bench_candidates, bench_constants, bench_default, bench_processes, bench_tagging, common, kill_test, overhead,
                             readme_figure)
from proxbench.tools.common import ROOT, start

SCRIPTS = [file.name for file in (ROOT / "scripts").iterdir() if file.is_file() and b"proxbench/tools\" " in file.read_bytes()]
NAMES = sorted([*SCRIPTS, "test-report"])


def error_of(capsys):
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1, printed
    return printed.err


def test_every_module_has_its_script():
    modules = {common.module_of(name).__name__.split(".")[-1] for name in NAMES}
    files = {file.stem for file in (ROOT / "python/proxbench/tools").glob("*.py") if not file.name.startswith(("test_", "_"))}
    assert modules == files - {"common"}


@pytest.mark.parametrize("name", NAMES)
def test_help_explains_the_script_and_its_exit_status(name, capsys):
    with pytest.raises(SystemExit) as end:
        start(name, "--help")
    text = capsys.readouterr().out
    assert end.value.code == 0 and f"usage: scripts/{name}" in text and "Exit status:" in text


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_flag_is_bad_usage(name, capsys):
    assert start(name, "--wrong") == 2
    assert error_of(capsys).startswith(f"{name}: error: ")


def test_a_script_passes_arguments_and_status_from_any_folder(tmp_path):
    done = subprocess.run([ROOT / "scripts/kill-test", "--kills", "two kills"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "'two kills'" in done.stderr and not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments, expected", [
    (["bench-candidates", "--candidates", "51"], "multiple of 50"),
    (["bench-constants", "kNothing"], "found kNothing, expected some of kMostIterations"),
    (["bench-tagging", "--repetitions", "0"], "--repetitions >= 1"),
    (["compare-iterates", "one"], "required: BUILD"),
    (["compare-iterates", "/nowhere/a", "/nowhere/b"], "/nowhere/a: found no program"),
    (["kill-test", "--program", "/nowhere/proxbench"], "/nowhere/proxbench: found no program, expected a built proxbench"),
    (["kill-test", "--quick", "--kills", "3"], "not allowed with"),
    (["make-rerank", "--out", "x", "--folds", "1"], "--folds >= 2"),
    (["overhead", "--build", "/nowhere"], "/nowhere/proxbench: found no program"),
    (["results", "--status", "--tables"], "not allowed with"),
    (["results", "nothing"], "no table nothing; there are figure1,"),
    (["test-mpi", "--only", "nothing"], "found --only nothing, expected a part of every_solver"),
    (["test-slurm", "--only", "nothing"], "found --only nothing"),
])
def test_bad_usage_names_what_was_found(arguments, expected, capsys):
    assert start(*arguments) == 2
    assert expected in error_of(capsys)


def test_a_failure_is_one_line_with_status_1(tmp_path, capsys):
    assert start("readme-figure", str(tmp_path)) == 1
    assert error_of(capsys) == f"readme-figure: error: found no results in {tmp_path}, expected those of scripts/quickstart\n"


# ---- what they share

def test_run_returns_the_output_or_names_the_failure():
    assert common.run("echo", 1) == "1\n"
    with pytest.raises(Error, match="exit status 3: told"):
        common.run("sh", "-c", "echo told; exit 3")
    assert common.run("sh", "-c", "echo told; exit 3", accept=(0, 3)) == "told\n"


def test_a_scratch_folder_goes_unless_it_is_kept(tmp_path, capsys):
    with common.scratch("a", parent=tmp_path) as gone:
        assert gone.is_dir()
    with common.scratch("b", keep=True, parent=tmp_path) as kept:
        pass
    assert list(tmp_path.iterdir()) == [kept] and capsys.readouterr().out == f"kept: {kept}\n"


def test_manifests_are_those_of_visible_runs(tmp_path):
    for name in ("b", "a", ".a.new"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "manifest.json").write_text(f'{{"name": "{name}"}}')
    assert [(folder.name, one["name"]) for folder, one in common.manifests(tmp_path).items()] == [("a", "a"), ("b", "b")]


def test_checks_are_chosen_by_parts_of_their_names_and_counted(capsys):
    def fails():
        raise ValueError("of seven")
    options = type("Options", (), {"only": ["a", "c"], "list": False})
    assert list(common.chosen_of({"ab": 1, "b": 2, "cb": 3}, options)) == ["ab", "cb"]
    assert common.passes("good", len, []) and not common.passes("bad", fails)
    text = capsys.readouterr().out
    assert text.startswith("passed good (0.0 s)\nFAILED bad\n") and "ValueError: of seven" in text
    options.only = ["x"]
    with pytest.raises(UsageError, match="found --only x"):
        common.chosen_of({"ab": 1}, options)


# ---- small parts of single tools

def test_bench_constants_divides_costs_and_counts_failures(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("seconds,passes,objective\n1,2,\n2,4,100.5\n3,8,100\n")
    ours = {"p": bench_constants.read(trace), "q": [(10.0, {"passes": 1.0})], "r": []}
    other = {"p": [(100.0, {"passes": 16.0})], "q": [(20.0, {"passes": 1.0})], "r": [(1.0, {"passes": 1.0})]}
    lowest = {"p": 100.0, "q": 10.0, "r": 1.0}
    assert ours["p"] == [(100.5, {"passes": 4.0, "seconds": 2.0}), (100.0, {"passes": 8.0, "seconds": 3.0})]
    assert bench_constants.ratio(ours, other, lowest, "passes", 1e-2) == "4.00, fails on 1"
    assert bench_constants.ratio(ours, other, lowest, "passes", 1e-4) == "2.00, fails on 1"


def test_bench_constants_finds_every_constant_in_the_sources():
    assert len(bench_constants.changes_of([])) == len(bench_constants.CHANGES)
    with pytest.raises(Error, match="settings.h: found 0 definitions of kNothing"):
        bench_constants.value_of("settings.h", "kNothing")


def test_bench_default_divides_by_the_fastest_solver_and_counts_a_miss_as_infinite():
    trace = [(130.0, {"seconds": 1.0}), (100.5, {"seconds": 2.0}), (100.0, {"seconds": 8.0})]
    assert [bench_default.cost_to(trace, 100.0, distance, "seconds") for distance in (1e-2, 1e-3)] == [2.0, 8.0]
    assert bench_default.cost_to(trace, 99.0, 1e-3, "seconds") == math.inf
    costs = {"default": [2.0, 3.0, math.inf, math.inf], "owl-qn": [1.0, 4.0, 5.0, math.inf]}
    assert list(bench_default.cells_of("p", costs)) == [(2.0, "p", 1e-2, 2.0, 1.0, "owl-qn"), (1.0, "p", 1e-3, 3.0, 3.0, "default"),
                                                        (math.inf, "p", 1e-4, math.inf, 5.0, "owl-qn")]


def test_bench_candidates_writes_groups_with_one_best(tmp_path):
    bench_candidates.write(tmp_path / "c.txt", 100, 1000)
    groups = (tmp_path / "c.txt").read_text().rstrip("\n").split("\n\n")
    assert [[line[0] for line in group.split("\n")].count("1") for group in groups] == [1, 1]
    assert bench_candidates.bound_of(10, 3) == 280


def test_bench_processes_writes_sentences_of_twenty_tokens(tmp_path):
    bench_processes.write(tmp_path / "t.txt", 40)
    first, second = (text.split("\n") for text in (tmp_path / "t.txt").read_text().rstrip("\n").split("\n\n"))
    assert len(first) == len(second) == 20
    cells = [dict(cell.split("=") for cell in line.split("\t")[1:4]) for line in first]
    assert cells[0]["b"] == "-1" and cells[-1]["a"] == "-1"
    assert [cell["w"] for cell in cells[1:]] == [cell["a"] for cell in cells[:-1]]


def test_bench_tagging_divides_by_crfsuite_if_it_is_there():
    times = {"l2: proxbench, text, 1 thread": [(1.0, 2.0, 9.0), (2.0, 3.0, 10.0), (9.0, 4.0, 8.0)]}
    assert bench_tagging.table(times, 1000)[2] == "| l2: proxbench, text, 1 thread | 2.00 | 500 | - | 3.00 | 10 |"
    times |= {"l2: crfsuite": [(4.0, 5.0, 1.0)], "l1: wapiti": [(1.0, 1.0, 1.0)]}
    assert bench_tagging.table(times, 1000)[2:] == ["| l2: proxbench, text, 1 thread | 2.00 | 500 | 2.00 | 3.00 | 10 |",
                                                    "| l2: crfsuite | 4.00 | 250 | 1.00 | 5.00 | 1 |",
                                                    "| l1: wapiti | 1.00 | 1,000 | - | 1.00 | 1 |"]


def test_overhead_is_what_the_wall_shows_beyond_the_known_parts():
    timing = {"load_seconds": 1, "setup_seconds": 1, "warm_up_seconds": 1, "certify_seconds": 1, "wall_seconds": 14.25,
              "sampling_seconds": 0.25}
    found = overhead.measured({"timing": timing, "seconds": 8, "cpu_seconds": 9}, {"seconds": 10, "cpu_seconds": 6})
    assert found == {"process + trace": 0.25, "sampling": 0.03125, "both": 0.28125, "clock": 0.8, "CPU clock": 1.5}


def test_readme_figure_thins_lines_and_bands_but_not_symbols():
    points = "M 0 0 " + " ".join(f"L {x / 2} 1" for x in range(1, 21))
    curved = '<path d="M 0 0 C 1 1 2 2 3 3"/><path d="M 0 0 L 1 1 z"/>'
    svg = f'<!-- c -->\n  <svg>matplotlib<metadata>m</metadata><path d="{points}"/><path d="{points} z"/>{curved}</svg>'
    thin = "M0.0 0.0 L2.0 1.0 L4.0 1.0 L6.0 1.0 L8.0 1.0 L10.0 1.0"
    assert readme_figure.shrunk(svg) == f'\n<svg>matplotlib<path d="{thin}"/><path d="{thin} z"/>{curved}</svg>'
    with pytest.raises(Error, match="not by matplotlib"):
        readme_figure.shrunk("<svg/>")


def write_killed(out, name="a", end="\n", seconds=1.0, nnz=5):
    folder = out / "runs" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").write_text(f'{{"run": {{"name": "{name}"}}, "seconds": {seconds}, "nnz": {nnz}}}')
    (folder / "trace.csv").write_text(f"seconds,cpu_seconds,iteration\n{seconds},{seconds},7{end}")
    (folder / "model.tsv").write_text("w\n")


def test_kill_test_compares_runs_without_their_times(tmp_path):
    write_killed(tmp_path / "one", seconds=1.0)
    write_killed(tmp_path / "two", seconds=2.0)
    one, two = (kill_test.runs_of(tmp_path / name) for name in ("one", "two"))
    kill_test.require_same(two, one)
    write_killed(tmp_path / "two", nnz=6)
    with pytest.raises(Error, match="a: manifest differs from the undisturbed one; nnz: 6 instead of 5"):
        kill_test.require_same(kill_test.runs_of(tmp_path / "two"), one)
    with pytest.raises(Error, match="found the runs \\[\\], expected \\['a'\\]"):
        kill_test.require_same(kill_test.runs_of(tmp_path / "three"), one)


def test_kill_test_finds_what_a_kill_left_behind(tmp_path):
    write_killed(tmp_path, end="")
    with pytest.raises(Error, match="runs/a is not whole"):
        kill_test.runs_of(tmp_path)
    (tmp_path / ".lock").write_text("")
    kill_test.check_leftovers(tmp_path)
    (tmp_path / "runs/.a.new").mkdir()
    with pytest.raises(Error, match="left over: .*a.new"):
        kill_test.check_leftovers(tmp_path)


def test_kill_test_sees_processes_that_work_in_a_folder(tmp_path):
    assert kill_test.children_in(tmp_path) == []
    with subprocess.Popen(["sleep", "60"], cwd=tmp_path) as process:
        try:
            assert kill_test.children_in(tmp_path) == [str(process.pid)]
        finally:
            os.kill(process.pid, 9)
    kill_test.wait_for_children(tmp_path)
