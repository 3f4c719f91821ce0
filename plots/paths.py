"""Regularisation paths, and grids of lambda x mu: tables and figures."""
import math

import numpy as np

from ..errors import ProxbenchError, in_file
from ..files import file_name_part
from ..fields import PATH
from .figure import Picture, line_style, log_axis, plain_label
from .runs import (data_warnings, grouped, number, penalty_text, reached_tolerance, series_name, several_machines, status)
from .texts import Table, TableSet, cell, count, fixed, scientific
from .times import seconds_text


def require_paths(sweep):
    if not sweep.paths:
        raise in_file(sweep.folders[0], 0, "no path", "the results of a config with lambda or mu = path(...)")


# ---- tables

def _single(sweep, path, last):
    """The run that solves only the path's last point; None if there is none."""
    series = lambda run: [run[name] for name in ("dataset", "label", "repetition", "machine")]  # noqa: E731
    return next((run for run in sweep.single if not run["failed"] and series(run) == series(path)
                 and run["_lambda"] == last["lambda"] and run["_mu"] == last["mu"]), None)


def path_cost(sweep, path):
    """Costs of a path, and of solving only its last point from w = 0, where the results have that run."""
    points = sweep.points_of(path)
    cost = dict.fromkeys(("seconds", "passes", "single_seconds", "single_passes"), math.nan)
    if len(points):
        last = points.iloc[-1]
        cost.update(seconds=float(last["seconds"]), passes=float(last["passes"]))
        single = _single(sweep, path, last) if path["points_asked"] == len(points) else None
        if single:
            value = lambda name: math.nan if single[name] is None else float(single[name])  # noqa: E731
            cost.update(single_seconds=value("seconds") if single["comparable"] else math.nan,
                        single_passes=value("passes"))
    for name in ("seconds", "passes"):
        cost[f"{name}_ratio"] = float(np.divide(cost[name], cost["single_" + name]))
    return cost


def _costs_table(sweep):
    table = Table("What paths cost", ["path", "solver", "rep", "status", "points", "seconds", "seconds / single",
                                      "passes", "passes / single"], [], 4,
                  ["single: one solve, from w = 0, of the path's last point, where the results have it."])
    machines = several_machines(sweep.paths)
    for path in sweep.paths:
        cost = path_cost(sweep, path)
        if not path["comparable"]:
            cost["seconds"] = cost["seconds_ratio"] = math.nan
        table.rows.append([f"{path['dataset']}, {penalty_text(path)}", series_name(path, machines),
                           str(path["repetition"]), status(path), str(len(sweep.points_of(path))),
                           seconds_text(cost["seconds"]), fixed(2)(cost["seconds_ratio"]),
                           count(float(np.round(cost["passes"]))), fixed(2)(cost["passes_ratio"])])
    return table


def _points_table(path, points, machines):
    of = path["path_of"]
    table = Table(f"{path['dataset']}, {penalty_text(path)}, {series_name(path, machines)}, repetition "
                  f"{path['repetition']}", [of, "nnz", "objective", "relative gap", "kkt / target", "candidates", "seconds",
                                            "iterations", "accuracy"], [], 0,
                  ["Seconds and iterations since the path began."])
    for point in points.to_dict("records"):
        ratio = point["kkt"] / point["kkt_target"] if point["kkt_target"] > 0 else math.nan
        gap = point["gap"] / abs(point["objective"]) if point["objective"] else math.nan
        table.rows.append([f"{point[of]:.5g}", str(point["nnz"]), f"{point['objective']:.8g}", scientific(gap),
                           cell(ratio, ".2g"), str(point["candidates"]),
                           seconds_text(point["seconds"] if path["comparable"] else math.nan),
                           str(point["iterations"]), fixed(4)(point["test_accuracy"])])
    return table


def point_columns(points):
    """The columns of path.csv in their order, each metric one."""
    return [name for field in PATH for name in points if name == field["name"] or name.startswith(field["name"] + ".")]


def _points(sweep, path):
    points = sweep.points_of(path)
    for row in points[point_columns(points)].to_dict("records"):
        yield {name: None if value != value else value for name, value in row.items()}


def tables(sweep):
    """The costs of the paths, the points of each, and a record for each point."""
    require_paths(sweep)
    machines = several_machines(sweep.paths)
    out = TableSet("path", sweep.presentation.title, [_costs_table(sweep)])
    for path in sweep.paths:
        points = sweep.points_of(path)
        if len(points):
            out.tables.append(_points_table(path, points, machines))
        out.records += [{"dataset": path["dataset"], "path": path["path"], "solver": path["label"],
                         "repetition": path["repetition"], **row} for row in _points(sweep, path)]
    return out


def records(sweep):
    """The cost and the points of each path, for JSON."""
    out = []
    for path in sweep.paths:
        cost = path_cost(sweep, path)
        out.append({**{name: path[name] for name in ("experiment", "dataset", "path")}, "solver": path["label"],
                    "repetition": path["repetition"], "status": status(path), "comparable": path["comparable"],
                    **{name: cost[name] for name in ("seconds", "single_seconds", "seconds_ratio", "passes_ratio")},
                    "points": list(_points(sweep, path))})
    return out


# ---- figures

QUANTITIES = [("nnz", "nonzeros", "upper left", "nnz"), ("objective", "objective F", "lower left", "objective"),
              ("accuracy", "test accuracy", "upper left", "test_accuracy"),
              ("seconds", "seconds since the path began", "upper left", "seconds")]


def _family(path):
    """What the paths of one figure share: data set, whether they go over mu, and the value of the other part."""
    over_mu = path["path_of"] == "mu"
    return path["dataset"], over_mu, path["_lambda" if over_mu else "_mu"]


def _picture(sweep, family, quantity, lines, titles):
    dataset, over_mu, fixed_part = family
    name, label, key, column = quantity
    with_name = f"{'lambda' if over_mu else 'mu'}{number(fixed_part)}-" if fixed_part else ""
    with_text = f", {'λ' if over_mu else 'μ'} = {number(fixed_part)}" if fixed_part else ""
    first, symbol, of = lines[0][1], "μ" if over_mu else "λ", "mu" if over_mu else "lambda"
    comparable = name != "seconds" or all(path["comparable"] for _, path in lines)
    short = sum(not reached_tolerance(path) for _, path in lines)
    points = {title: sweep.points_of(path) for title, path in lines}

    def draw(axes):
        ax = axes[0]
        for title, some in points.items():
            ax.plot(some[of], some[column], label=plain_label(title), **line_style(titles.index(title)))
        ax.set(xscale="log", xlabel=symbol, ylabel=label)
        ax.invert_xaxis()  # the path goes from left to right
        log_axis(ax.xaxis)

    rows = [{"solver": title, of: x, name: y} for title, some in points.items()
            for x, y in zip(some[of].tolist(), some[column].tolist())]
    return Picture(file_name_part(f"path-{dataset}-{'mu-' if over_mu else ''}{with_name}{name}"),
                   f"{dataset}: regularisation path{' over μ' if over_mu else ''}{with_text}", draw, rows,
                   ["solver", of, name], data_warnings(first["description"], comparable),
                   subtitle=first["description"] or "", key=key,
                   caption=f"{short} of {len(lines)} paths did not reach their tolerance at every {symbol}." if short
                   else "")


def pictures(sweep, allow_not_comparable=False):
    """Nonzeros, objective, accuracy and seconds along the paths of the first repetition."""
    families = grouped([path for path in sweep.paths if path["repetition"] == 1], _family)
    machines, titles, out = several_machines(sweep.paths), [], []
    for family in sorted(families):
        group = families[family]
        several = len({path["path"] for path in group}) > 1
        named = [(series_name(path, machines) + (f" {path['path']}" if several else ""), path) for path in group]
        titles += [title for title, _ in named if title not in titles]
        for quantity in QUANTITIES:
            lines = [(title, path) for title, path in named
                     if (quantity[0] != "seconds" or path["comparable"] or allow_not_comparable)
                     and sweep.points_of(path)[quantity[3]].notna().any()]
            if lines:
                out.append(_picture(sweep, family, quantity, lines, titles))
    if not out:
        raise ProxbenchError(f"{sweep.folders[0]}: found no path with a finished point, expected one to draw")
    return out


# ---- grids of lambda x mu

GRID = [("objective", "objective F", ".6g"), ("nnz", "nonzeros", ".0f"), ("test_accuracy", "test accuracy", ".4f")]


def grids(sweep):
    """By data set and loss: {(lambda, mu): the run or point with the least objective}."""
    out = {}
    for run in sweep.records:
        cells = out.setdefault((run["dataset"], run["loss_text"]), {})
        values = sweep.points_of(run).to_dict("records") if run["path"] else [] if run["failed"] else [
            {"lambda": run["_lambda"], "mu": run["_mu"], **{name: run[name] for name, *_ in GRID}}]
        for one in values:
            at = one["lambda"], one["mu"]
            if one["objective"] is not None and (at not in cells or one["objective"] < cells[at]["objective"]):
                cells[at] = {**one, "solver": run["label"]}
    return {key: cells for key, cells in out.items() if cells}


def _matrix(cells, name):
    lambdas, mus = (sorted({at[i] for at in cells}, reverse=True) for i in (0, 1))
    value = lambda at: math.nan if cells.get(at, {}).get(name) is None else float(cells[at][name])  # noqa: E731
    return lambdas, mus, np.array([[value((a, b)) for b in mus] for a in lambdas])


def grid_tables(sweep):
    """A table of lambda x mu for each data set and quantity, of the solver with the least objective."""
    out = TableSet("grid", sweep.presentation.title, [])
    for (dataset, loss), cells in grids(sweep).items():
        for name, label, form in GRID:
            lambdas, mus, matrix = _matrix(cells, name)
            if np.isfinite(matrix).any():
                out.tables.append(Table(f"{dataset}{'' if loss == 'log' else ', ' + loss}: {label}",
                                        ["lambda", *(f"mu = {number(mu, 5)}" for mu in mus)],
                                        [[number(at, 5), *(cell(x, form) for x in row)]
                                         for at, row in zip(lambdas, matrix)], 0))
        out.records += [{"dataset": dataset, "loss": loss, "lambda": at, "mu": mu, "solver": one["solver"],
                         **{name: one[name] for name, *_ in GRID}} for (at, mu), one in sorted(cells.items())]
    return out


def grid_pictures(sweep):
    out = []
    for (dataset, loss), cells in grids(sweep).items():
        for name, label, form in GRID:
            lambdas, mus, matrix = _matrix(cells, name)
            if not np.isfinite(matrix).any():
                continue

            def draw(axes, lambdas=lambdas, mus=mus, matrix=matrix, label=label, form=form):
                ax = axes[0]
                image = ax.pcolormesh(np.ma.masked_invalid(matrix))
                ax.figure.colorbar(image, ax=ax, label=label)
                for i, row in enumerate(matrix):
                    for j, x in enumerate(row):
                        if math.isfinite(x):
                            ax.text(j + 0.5, i + 0.5, format(x, form), ha="center", va="center",
                                    color="black" if image.norm(x) > 0.5 else "white")
                ax.set(xlabel="μ", ylabel="λ", xticks=np.arange(len(mus)) + 0.5, yticks=np.arange(len(lambdas)) + 0.5,
                       xticklabels=[number(one, 4) for one in mus], yticklabels=[number(one, 4) for one in lambdas])
                ax.grid(False)

            rows = [{"lambda": at, "mu": mu, name: one[name]} for (at, mu), one in sorted(cells.items())]
            description = next(run["description"] for run in sweep.records if run["dataset"] == dataset)
            out.append(Picture(file_name_part(f"grid-{dataset}{'' if loss == 'log' else '-hinge'}-{name}"),
                               f"{dataset}: {label}", draw, rows, ["lambda", "mu", name], data_warnings(description),
                               subtitle=description or "", key=""))
    return out
