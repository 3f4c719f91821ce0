"""Three numbers are read off every kind of picture, from the artists of matplotlib or from the files."""
import csv
import json
import os
import re
from types import SimpleNamespace

import numpy as np
import pytest

import proxbench
from proxbench import cli, commands
from proxbench.config import choices
from proxbench.plots import curves as draw_curves
from proxbench.plots import paths, profiles, scaling, theory
from proxbench.plots.curves import AXES, QUANTITIES, band, pictures
from proxbench.plots.figure import style
from proxbench.test_made_up import write_run


def axes_of(picture, width=8):
    with style(width):
        return picture.figure(width).axes


def line(ax, label):
    return next(one for one in ax.get_lines() if one.get_label() == label).get_xydata()


def test_curves_are_steps_with_the_grey_zone_and_the_cross(tmp_path):
    write_run(tmp_path, "a", samples=[(0, 200), (1, 101), (2, 100.0001)], reference_relative_gap=1e-4)
    write_run(tmp_path, "b", samples=[(0, 200), (1, 150)], status="crashed(SIGSEGV)", objective=None)
    one = next(one for one in pictures(proxbench.load(tmp_path)) if one.name == "d-lambda1-objective")
    ax = axes_of(one)[0]
    assert line(ax, "a")[:2].tolist() == [[0, 1], [1, 0.01]] and np.isnan(line(ax, "a")[2][1])
    assert next(x for x in ax.get_lines() if x.get_label() == "a").get_drawstyle() == "steps-post"
    assert line(ax, "_cross").tolist() == [[1, 0.5]]
    assert line(ax, "accuracy of f*")[0][1] == 1e-4
    assert "A cross ends what failed: b repetition 1 crashed(SIGSEGV)" in one.caption
    assert ax.get_yscale() == "log"


def test_a_band_holds_values_up_to_the_next_sample(tmp_path):
    steps = band([(np.array([0.0, 2.0]), np.array([4.0, 2.0])), (np.array([1.0, 3.0]), np.array([8.0, 6.0]))])
    assert steps.tolist() == [[1, 6, 5, 7], [2, 5, 3.5, 6.5], [3, 4, 3, 5]]
    for repetition in (1, 2, 3):
        write_run(tmp_path, "a", repetition, samples=[(0, 200), (repetition, 100 + repetition)])
    one = pictures(proxbench.load(tmp_path))[0]
    ax = axes_of(one)[0]
    assert line(ax, "a").tolist() == [[0, 1], [1, 1], [2, 0.02], [3, 0.02]]
    assert "Medians of n = 3 repetitions with 25-75 % bands (n < 5" in one.caption
    assert one.rows.loc[one.rows["repetition"] == "median", "q25"].iloc[0] == 1.0


def test_every_quantity_and_axis_of_configs_has_a_row():
    assert list(QUANTITIES) == choices("plot", "quantities")
    assert list(AXES) == choices("plot", "x")
    assert sorted([*commands.SINGLE, *commands.TOGETHER]) == sorted(choices("plot", "kinds"))


def test_a_figure_has_four_files_and_the_width_asked_for(tmp_path, capsys):
    write_run(tmp_path, "a_$b%", description="synthetic words")
    assert cli.main(["plot", str(tmp_path), "--quantities", "objective", "--width", "3.25"]) == 0
    names = sorted(os.listdir(tmp_path / "figures"))
    assert [name.rpartition(".")[2] for name in names] == ["csv", "pdf", "png", "svg"]
    svg = (tmp_path / "figures/d-lambda1-objective.svg").read_text()
    assert re.search(r'width="234pt"', svg) and "SYNTHETIC DATA: " in svg and "a_$b%" in svg
    with open(tmp_path / "figures/d-lambda1-objective.csv") as text:
        rows = list(csv.DictReader(text))
    assert [row["relative_difference"] for row in rows] == ["1", "0.01", "0"]


def test_timings_that_are_not_comparable_need_a_flag(tmp_path, capsys):
    write_run(tmp_path, "a", comparable=False)
    assert cli.main(["plot", str(tmp_path)]) == 2
    assert "expected --allow-not-comparable" in capsys.readouterr().err
    sweep = proxbench.load(tmp_path)
    sweep.config.allow = True
    one = pictures(sweep)[0]
    assert one.full_title.startswith("NOT COMPARABLE: ")


@pytest.mark.parametrize("kind, expected", [
    ("profile", [[1, 0.5], [2, 1.0]]), ("data-profile", [[1, 0.5], [8, 1.0]]), ("ecdf", [[1, 0.5], [8, 1.0]]),
    ("quality", [[1e-3, 0.5], [2e-3, 1.0]])])
def test_profiles(tmp_path, kind, expected):
    for data, a, b, end in (("one", 1, 2, 1e-3), ("two", 8, 4, 2e-3)):
        for label, seconds in (("a", a), ("b", b)):
            write_run(tmp_path, label, dataset=data, samples=[(0, 200), (0.95 * seconds, 200), (seconds, 100)],
                      objective=100 * (1 + end))
    sweep = proxbench.load(tmp_path)
    sweep.config.targets = [1e-2]
    one = profiles.pictures(sweep, kind)[0]
    found = line(axes_of(one)[0], "a").tolist()
    for x, share in expected:
        assert any(abs(at - x) < 1e-12 and y == share for at, y in found), (found, x, share)
    assert one.rows["label"][0] == "a"


POINTS = [{"point": i, "lambda": 10.0 / i, "mu": 0.5, "objective": 50.0 + i, "nnz": 3 * i, "seconds": float(i),
           "kkt_target": 1.0, "status": "converged"} for i in (1, 2)]


def test_paths_go_from_large_to_small(tmp_path):
    write_run(tmp_path, "a", lambda_="path(10, 5, 2)", mu=0.5, points=POINTS, points_asked=2)
    sweep = proxbench.load(tmp_path)
    ax = axes_of(next(one for one in paths.pictures(sweep) if one.name == "path-d-mu0.5-nnz"))[0]
    assert line(ax, "a").tolist() == [[10, 3], [5, 6]] and ax.xaxis_inverted()
    assert sweep.samples["lambda"].tolist() == [10, 10, 5]
    assert paths.tables(sweep).more["seconds"][0] == 2.0


def test_grids_are_pictures_of_lambda_and_mu(tmp_path):
    write_run(tmp_path, "a", lambda_="path(10, 5, 2)", mu=0.5, points=POINTS, points_asked=2)
    write_run(tmp_path, "a", lambda_=10.0, mu=2.0, nnz=1)
    ax = axes_of(next(one for one in paths.grid_pictures(proxbench.load(tmp_path)) if one.name.endswith("nnz")))[0]
    assert {text.get_text() for text in ax.texts} == {"3", "6", "1"}


def test_theory_has_a_panel_for_each_quantity(tmp_path, capsys):
    iterations = [{"iteration": i, "passes": i, "objective": 1.0, "nnz": 2, "kkt": 1.0, "error": 10.0**-i,
                   "ratio": 0.1 if i else None, "order": 1.0, "dennis_more": 0.5} for i in range(3)]
    problem = {"dataset": "d", "description": "x", "lambda": 1.0, "optimum": {"nnz": 2, "objective": 1.0, "kkt": 0},
               "arms": [{"label": "arm", "support_settled_at": 1, "unit_steps": 1, "steps_since": 2,
                         "iterations": iterations}]}
    (tmp_path / "theory.json").write_text(json.dumps({"problems": [problem]}))
    stored = SimpleNamespace(folders=[tmp_path])
    axes = axes_of(theory.pictures(stored)[0])
    assert line(axes[0], "arm").tolist() == [[0, 1], [1, 0.1], [2, 0.01]] and len(axes) == 3
    assert theory.tables(stored).rows["ratio"][0] == pytest.approx(0.1)
    (tmp_path / "theory.json").write_text('{"problems": [{}]}')
    with pytest.raises(proxbench.Error, match="theory.json: found KeyError"):
        theory.read(tmp_path)


def test_scaling_compares_with_one_thread(tmp_path):
    runs = []
    for threads, seconds in ((1, 8.0), (2, 5.0), (4, 3.0)):
        phase = {"phase": "inference", "calls": 3, "seconds": seconds, "loop_seconds": seconds, "flops": 0, "bytes": 0,
                 "sums": 1, "sum_bytes": 8.0}
        run = write_run(tmp_path, "a", threads, threads=threads, phases=[phase], machine_cores=2)
        record = json.loads(open(run + "/manifest.json").read())
        record["run"]["repetition"] = 1
        runs.append(record)
    (tmp_path / "scale.json").write_text(json.dumps({"title": "t", "runs": runs}))
    scaling.show(tmp_path, [16], (1e-6, 1e10))
    runs = scaling.read(tmp_path)[1]
    phases = scaling.phases_of(runs)
    assert phases["speedup"].tolist()[:3] == [1, 1.6, 8 / 3] and phases["seconds"].tolist()[:3] == [8, 5, 3]
    one = scaling.picture(runs.iloc[0], phases)
    axes = axes_of(one)
    assert "OVERSUBSCRIBED: more than 2 threads" in one.caption
    assert line(axes[0], "openmp").tolist() == [[1, 1], [2, 1.6], [4, 8 / 3]]
    assert [bar.get_height() for bar in axes[2].patches] == [8, 5, 3]
    assert scaling.serial_fraction([1, 2], [4, 3]) == pytest.approx(0.5)


def test_the_page_needs_no_network_and_holds_what_the_figures_draw(tmp_path, capsys):
    write_run(tmp_path / "r", "a<b>", samples=[(0, 200), (1, 101), (2, 100)], description="50 % & more")
    assert cli.main(["report", str(tmp_path / "r"), "--out", str(tmp_path / "p.html"), "--title", "T<1>"]) == 0
    text = (tmp_path / "p.html").read_text()
    chart = json.loads(re.search(r'<script type="application/json">(.*?)</script>', text, re.S)[1])
    curve = chart["groups"][0]["panels"]["objective"]["seconds"]["each"]["curves"][0]
    assert (curve["x"], curve["y"]) == ([0, 1, 2], [1, 0.01, 0]) and curve["series"] == "a<b>"
    assert "T&lt;1&gt;" in text and "a<b>" not in text.replace(json.dumps("a<b>"), "") and "50 % &amp; more" in text
    assert not re.search(r'(src|href)="https?:', text)


def test_the_lines_of_the_readme_draw_the_first_figure(tmp_path, monkeypatch):
    readme = os.path.join(os.path.dirname(os.path.realpath(__file__)), "README.md")
    code = re.search(r"```python\n(.*?)```", open(readme).read(), re.S)[1]
    assert code.count("\n") <= 6
    write_run(tmp_path / "results/quickstart", "fast")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "svg")
    exec(compile(code, readme, "exec"), {})
    assert "fast" in (tmp_path / "figure1.svg").read_text()


def test_a_notebook_draws_into_its_own_axes(tmp_path):
    from matplotlib.figure import Figure

    write_run(tmp_path, "a")
    ax = Figure().add_subplot()
    assert draw_curves(proxbench.load(tmp_path), ax=ax, x="passes") is ax
    assert line(ax, "a")[:2].tolist() == [[0, 1], [1, 0.01]] and ax.get_xlabel() == "oracle calls / n"
