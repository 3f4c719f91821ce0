"""Tests of `scripts/results` with made-up pages and measurements; no sweep runs."""
import re

import pytest

from proxbench.errors import Error, UsageError
from proxbench.tools import results
from proxbench.tools.results import TABLE, Table

MARKS = "# Page\n\n<!-- results {} -->\nold\n<!-- end -->\nprose\n"
HEAD = "# revision: 0123456789ab\n# code: c0de\n# compiler: GCC 12\n# machine: 2 cores of a CPU\n# date: 2026-01-01\n"
SUMMARY = "dataset,lambda,mu,reference_objective,reference_relative_gap,solver,status,repetitions,failures,"


@pytest.fixture
def make_table(tmp_path, monkeypatch):
    """Makes the table of a page with these marks, in a project of its own, with stored measurements if given."""
    monkeypatch.setattr(results, "ROOT", tmp_path)

    def make(marks, stored=None):
        page = tmp_path / "RESULTS.md"
        page.write_text(MARKS.format(marks))
        (tmp_path / "a.ini").touch()
        table = Table(page, TABLE.search(page.read_text()))
        if stored is not None:
            table.stored.parent.mkdir(exist_ok=True)
            table.stored.write_text(HEAD + stored)
        return table
    return make


def test_marks_name_the_source_and_the_columns(make_table):
    table = make_table("one a.ini solver.x=1 | held out | nnz, seconds_to_1e-4")
    assert table.arguments() == ["run", "a.ini", "--out", "results/one", "--replace", "--set", "solver.x=1"]
    assert table.columns == ["nnz", "seconds_to_1e-4"] and not table.is_command and not table.curves
    assert make_table("one $ scripts/x --y | - | text").is_command
    curves = make_table("one a.ini | - | seconds to relative 1e-2, 1e-3").curves
    assert curves.groups() == (None, "seconds", "to", "relative", "1e-2, 1e-3")
    file = make_table("one a.ini | - | costs.csv: data, phase")
    assert (file.file, file.columns) == ("costs.csv", ["data", "phase"])


@pytest.mark.parametrize("marks, expected", [
    ("one a.ini | perhaps | nnz", "RESULTS.md: one: found 'perhaps', expected 'held out', 'tuned on' or '-'"),
    ("one b.ini | - | nnz", "RESULTS.md: one: no file b.ini"),
    ("one reproduce-paper sdca figure9 | - | nnz", "RESULTS.md: one: no file configs/sdca/figure9.ini"),
])
def test_wrong_marks_are_bad_usage(make_table, marks, expected):
    with pytest.raises(UsageError, match=re.escape(expected)):
        make_table(marks)


def test_a_table_is_missing_stale_or_up_to_date(make_table, monkeypatch, capsys):
    table = make_table("one a.ini | - | nnz")
    monkeypatch.setattr(results, "proxbench", lambda *arguments: "version 1\ncode c0de\n")
    monkeypatch.setattr(results, "pages", lambda: [table.page])
    assert table.state("c0de") == "missing" and "Not yet measured" in table.text()
    assert results.status([table], True) == 1
    table = make_table("one a.ini | - | nnz", SUMMARY + "nnz\n")
    assert table.state("c0de") == "" and table.state("other").startswith("stale")
    assert results.status([table], True) == 0
    table.page.write_text(f"| holds |\n| {results.OPEN} |\n")
    assert results.status([table], True) == 1 and results.status([table], False) == 0
    assert capsys.readouterr().out.splitlines() == [
        "RESULTS.md: one: missing", "nothing is stale", f"RESULTS.md: 1 verdicts are open ('{results.OPEN}')",
        "nothing is stale"]


def test_the_stored_measurements_become_the_table_of_the_page(make_table):
    table = make_table("one a.ini x.y=2 | held out | nnz, seconds_to_1e-4, ratio", SUMMARY + (
        "nnz,seconds_to_1e-4_from,seconds_to_1e-4,ratio_to_fastest_at_1e-4\n"
        "d,2,0,12.5,1e-9,fast,converged,3,,100,0.5,2,1\n"
        "d,2,0,12.5,1e-9,slow,time-limit,3,1 of 3 crashed,50,1.95,2,inf\n"))
    results.make([table], run=False)
    assert table.page.read_text() == """# Page

<!-- results one a.ini x.y=2 | held out | nnz, seconds_to_1e-4, ratio -->

`a.ini` with `--set x.y=2`. Held out. [CSV](measured/one.csv), medians of 3 runs.

**d, lambda = 2**: F\\* = 12.5, proven to 1.0e-09

| solver | nnz | to 1e-4 | x fastest to 1e-4 | ended |
|---|---:|---:|---:|---|
| fast | 100 | 0.5-2 | ~1 | converged |
| slow | 50 | 2 | - | 1 of 3 crashed |

<!-- end -->
prose
"""


TWO_PROBLEMS = SUMMARY + (
    "nnz,seconds_to_1e-4_from,seconds_to_1e-4\n"
    "d,2,0,12.5,1e-9,fast,converged,1,,100,,2\n"
    "d,2,0,12.5,1e-9,slow,time-limit,1,,50,,inf\n"
    "e,0,1,,,fast,converged,1,,7,,3\n"
    "e,0,1,,,odd,,1,1 of 1 skipped(the solver does not fit),,,\n")


@pytest.mark.parametrize("how, expected", [
    ("by solver of nnz", "| problem | fast | slow |\n|---|---:|---:|\n| d, lambda = 2 | 100 | 50 |\n| e, mu = 1 | 7 | - |\n"),
    ("by solver", "| d, lambda = 2, nnz | 100 | 50 |\n| d, lambda = 2, to 1e-4 | 2 | - |\n| e, mu = 1, nnz | 7 | - |\n"),
    ("by problem of seconds_to_1e-4", "| solver | d, lambda = 2 | e, mu = 1 |\n|---|---:|---:|\n| fast | 2 | 3 |\n| slow | - | - |\n"),
    ("of nnz", "| solver | nnz | ended |\n|---|---:|---|\n| fast | 100 | converged |\n"),
    ("csv", "`a.ini`. [CSV](measured/one.csv).\n\n<!-- end -->"),
])
def test_a_page_shows_some_of_the_stored_measurements(make_table, how, expected):
    table = make_table(f"one a.ini | - | nnz, seconds_to_1e-4 | {how}", TWO_PROBLEMS)
    results.make([table], run=False)
    text = table.page.read_text()
    assert expected in text and "odd" not in text


def test_one_problem_and_some_rows_and_places(make_table):
    curves = make_table("one a.ini | - | nnz at seconds 1, 3, 10 | by solver of 3",
                        SUMMARY + "seconds 1,seconds 3,seconds 10\nd,2,0,12.5,,fast,converged,1,,9,8,7\n")
    assert curves.text().endswith("The nnz.\n\n**d, lambda = 2**: F\\* = 12.5\n\n|  | fast |\n|---|---:|\n| seconds 3 | 8 |\n")
    rows = make_table("one $ x | - | kind, a | of a where kind = mean, deviation", "kind,a\nrun,1\nmean,2\ndeviation,3\n")
    assert rows.text().endswith("| a |\n|---|\n| 2 |\n| 3 |\n")
    with pytest.raises(UsageError, match="one: found 'as a poem', expected 'csv', or 'by', 'of' or 'where'"):
        make_table("one a.ini | - | nnz | as a poem")


def test_a_table_that_fails_leaves_its_page_and_the_others_are_made(make_table, monkeypatch, capsys):
    def fails():
        raise Error("no power")
    good = make_table("one a.ini | - | text", "text\n1\n")
    bad = make_table("one a.ini | - | text", "text\n1\n")
    bad.name, bad.run = "two", fails
    monkeypatch.setattr(good, "run", lambda: None)
    monkeypatch.setattr(good, "store", lambda: None)
    bad.source = "b.ini"
    with pytest.raises(Error, match="not made: two"):
        results.make([bad, good], run=True)
    printed = capsys.readouterr()
    assert printed.out == "RESULTS.md: one\n" and "no power" in printed.err


def test_what_a_command_prints_is_read_as_csv_or_markdown(make_table):
    table = make_table("one $ x | - | a, b")
    rows = [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]
    assert table.rows_in("noise\nb,c,a\n2,0,1\n4,0,3\n\nmore,a,b\n", "x") == rows
    assert table.rows_in("| a | b |\n|---|---:|\n| 1 | 2 |\n| 3 | 4 |\n", "x") == rows
    with pytest.raises(Error, match="x has no line with the columns a, b"):
        table.rows_in("a,c\n1,2\n", "x")


def test_curves_are_read_at_a_place_and_to_a_value(tmp_path):
    file = tmp_path / "d-relative.csv"
    file.write_text("solver,repetition,seconds,relative\ns,1,0,1\ns,1,10,0.1\ns,2,0,1\ns,2,9.5,0.3\ns,2,20,\ns,median,9,9\n"
                    "other,1,0,5\n")
    series = results.series_in(file, "seconds", "s")
    assert series == {"1": [(0, 1), (10, 0.1)], "2": [(0, 1), (9.5, 0.3)]}
    assert results.median_at(series, 10) == pytest.approx(0.2)
    assert results.median_to(series, 0.5) == 9.75
    assert str(results.median_to(series, 0.2)) == "nan", "one repetition does not come so far"
    assert str(results.median_at(series, 100)) == "nan", "no sample within a tenth"


def test_all_runs_must_be_by_one_program():
    def run(program, solver="lbfgs", status="converged"):
        return {"key": {"program": program}, "status": status, "run": {"solver": solver}}
    assert results.code_of([run("a"), run("a"), run("b", "external"), run("c", status="")]) == "a"
    with pytest.raises(Error, match="2 programs made these runs"):
        results.code_of([run("a"), run("b")])


@pytest.mark.parametrize("value, expected", [("12", "12"), ("0.12345678901234", "0.123456789"), ("text", "text"), ("", "")])
def test_stored_numbers_have_ten_digits(value, expected):
    assert results.short(value) == expected


@pytest.mark.parametrize("value, expected", [(1234.5, "1234"), (3.0, "3"), (0.12345, "0.123"), (1e-7, "1.0e-07")])
def test_shown_numbers_have_three_digits(value, expected):
    assert results.digits(value) == expected
