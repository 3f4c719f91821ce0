import math

import pandas as pd
import pytest

import proxbench
from proxbench import cli
from proxbench.plots import paths, profiles, tables, times
from proxbench.test_made_up import write_run


def summary(folder, targets, columns=()):
    sweep = proxbench.load(folder)
    sweep.config.targets = targets
    return tables.summary(sweep, columns)


def test_quantiles_interpolate_and_may_be_infinite():
    assert times.spread([4, 1, 2, 3])["median"] == 2.5 and times.spread([1, 2, 3, 4])["q25"] == 1.75
    assert times.spread([1, math.inf])["median"] == math.inf
    assert times.spread([math.nan])["n"] == 0
    assert profiles.steps(pd.Series([1, 2, 2, math.inf])).to_dict() == {1: 0.25, 2: 0.75}
    costs = pd.DataFrame([[2, 4, math.inf], [0, 1, 0]])
    assert profiles.ratios(costs).to_numpy().tolist() == [[1, 2, math.inf], [1, math.inf, 1]]


def test_a_summary_gives_times_to_targets_and_the_ratio_to_the_fastest(tmp_path):
    write_run(tmp_path, "quick", samples=[(0, 200), (0.95, 200), (1, 100)])
    write_run(tmp_path, "slow", samples=[(0, 200), (3.9, 200), (4, 100)])
    out = summary(tmp_path, [1e-2]).frame().set_index("solver")
    assert out["seconds_to_0.01"].tolist() == [1, 4] and out["seconds_to_0.01_from"].tolist() == [0.95, 3.9]
    assert out["ratio_to_fastest_at_1e-06"].tolist() == [1, 4]


def test_a_target_that_one_of_two_repetitions_reached_is_shown(tmp_path):
    write_run(tmp_path, "a", 1, samples=[(0, 200), (1, 100)])
    write_run(tmp_path, "a", 2, samples=[(0, 200), (1, 110)])
    table = summary(tmp_path, [1e-2]).tables[0]
    assert "- (1 of 2)" in table.rows[0] and any("only k of n repetitions" in note for note in table.footnotes)


def test_a_question_mark_is_explained_only_where_it_stands(tmp_path):
    write_run(tmp_path, "a", reference_relative_gap=1e-3)
    hidden = summary(tmp_path, [1e-6]).tables[0]
    assert not any("?" in cell for cell in hidden.rows[0]) and not any(note.startswith("?") for note in hidden.footnotes)
    assert any("no cost to 1e-06 can be told" in note for note in hidden.footnotes)
    shown = summary(tmp_path, [1e-6], ["seconds_to_1e-06"]).tables[0]
    assert shown.rows[0][1] == "?" and any(note.startswith("?: f*") for note in shown.footnotes)


def test_a_sweep_of_which_no_target_can_be_told_has_its_table(tmp_path):
    write_run(tmp_path, "a", reference_relative_gap=0.2)
    notes = summary(tmp_path, [1e-2, 1e-6]).tables[0].footnotes
    assert any("no cost to 0.01, 1e-06 can be told" in note for note in notes)


def test_short_times_have_significant_digits():
    assert [times.seconds_text(x) for x in (0, 0.00123, 0.04, 0.5, 12.34, 123.4, math.inf)] == [
        "0.00", "0.0012", "0.040", "0.50", "12.3", "123", "never"]


def test_all_tables_of_a_sweep_have_the_same_columns(tmp_path):
    write_run(tmp_path, "a", test_accuracy=0.5)
    write_run(tmp_path, "a", lambda_=2.0)
    heads = [table.head for table in tables.summary(proxbench.load(tmp_path)).tables]
    assert heads[0] == heads[1] and "test accuracy" in heads[1]


def test_labels_are_escaped_in_latex_and_html(tmp_path):
    write_run(tmp_path, "a", description="50 % of $x_1 <b>")
    text = tables.summary(proxbench.load(tmp_path), columns=["status"])
    text.title = "t"
    text.tables[0].rows[0][0] = "a$b_c%"
    assert r"a\$b\_c\%" in text.text("latex") and "&lt;b&gt;" in text.text("html")


def test_means_charge_failures(tmp_path):
    write_run(tmp_path, "a", samples=[(0, 110), (0.95, 110), (1, 100)], time_limit=50.0)
    write_run(tmp_path, "b", samples=[(0, 110), (20, 110)], time_limit=50.0)
    sweep = proxbench.load(tmp_path)
    sweep.config.targets = [1e-3]
    frame = tables.means(sweep).frame()
    assert frame["shifted_geometric_mean"].tolist() == pytest.approx([1, 500], rel=1e-13)
    assert frame["reached"].tolist() == [1, 0]


def test_a_grid_has_a_row_for_each_lambda_and_a_column_for_each_mu(tmp_path):
    for lambda_, mu, nnz in ((1.0, 0.0, 9), (1.0, 2.0, 8), (3.0, 0.0, 7)):
        write_run(tmp_path, f"a{mu:g}", lambda_=lambda_, mu=mu, nnz=nnz)
    grid = paths.grid_tables(proxbench.load(tmp_path))
    table = next(one for one in grid.tables if "nonzeros" in one.caption)
    assert table.head == ["lambda", "mu = 2", "mu = 0"] and table.rows == [["3", "-", "7"], ["1", "8", "9"]]


@pytest.mark.parametrize("form, text", [("md", "| a |"), ("latex", r"\begin{tabular}"), ("html", "<table>"), ("csv", "solver,"),
                                        ("json", '"solver": "a"')])
def test_table_prints_any_format(tmp_path, capsys, form, text):
    write_run(tmp_path, "a")
    assert cli.main(["table", str(tmp_path), "--format", form]) == 0
    assert text in capsys.readouterr().out
    assert sorted(one.name for one in (tmp_path / "tables").iterdir()) == [
        f"{name}.{end}" for name in ("means", "summary") for end in ("csv", "md", "tex")]


def test_no_number_is_a_range_by_its_sign():
    assert not times.is_wide(-0.83, -0.83)
    assert times.is_wide(0.8, 1.0) and not times.is_wide(0.95, 1.0)
