"""Regularisation paths, and grids of lambda x mu: tables and figures."""
import numpy as np
import pandas as pd

from ..errors import Error
from ..fields import PATH, in_order, number_text
from .figure import Picture, draw_lines, line_style
from .texts import Table, TableSet, cell

# What figures show, and how the cells of grids show it.
QUANTITIES = {"nnz": ("nonzeros", ".0f"), "objective": ("objective F", ".6g"),
              "test_accuracy": ("test accuracy", ".4f"), "seconds": ("seconds since the path began", ".3g")}
GRID = ["objective", "nnz", "test_accuracy"]


# ---- tables

def path_costs(sweep):
    """A row per path: its number of points, its cost, and in `single_seconds` and `single_passes` that of solving only
    its last point from w = 0, where the results have that run."""
    series, costs = ["dataset", "label", "repetition", "machine", "lambda", "mu"], ["seconds", "passes"]
    points = sweep.points.groupby("run")
    ends = points[["lambda", "mu", *costs]].last()
    out = sweep.paths.drop(columns=list(ends)).join(ends).assign(points=points.size())
    out["points"] = out["points"].fillna(0).astype(int)
    alone = sweep.single[~sweep.single.failed].drop_duplicates(series).set_index(series)
    alone = alone.assign(seconds=alone.seconds.where(alone.comparable))[costs].add_prefix("single_")
    out = out.join(alone, on=series)
    for name in costs:
        out["single_" + name] = out["single_" + name].where(out.points_asked == out["points"])
        out[name + "_ratio"] = out[name] / out["single_" + name]
    return out


def _points_table(path, points):
    points = points.assign(seconds=points.seconds if path["comparable"] else np.nan,
                           gap=points.gap / points.objective.abs().where(points.objective != 0),
                           kkt=points.kkt / points.kkt_target.where(points.kkt_target > 0))
    return Table.of("points", points, before={path["path_of"]: (path["path_of"], ".5g")}, **path)


def tables(sweep):
    """The costs of the paths, the points of each, and a record for each point. JSON has a record for each path."""
    sweep.require("paths")
    costs, points, columns = path_costs(sweep), sweep.points, in_order(sweep.points, PATH)
    parts = {i: points[points.run == i] for i in costs.index}
    shown = costs.assign(what=costs.dataset + ", " + costs.penalty, repetition=costs.repetition.astype(str))
    shown.loc[~costs.comparable, ["seconds", "seconds_ratio"]] = np.nan
    shown = [Table.of("paths", shown), *(_points_table(path, parts[i]) for i, path in sweep.paths.iterrows()
                                         if len(parts[i]))]
    records = costs.assign(solver=costs.label, points=[some[columns].to_dict("records") for some in parts.values()])[
        ["experiment", "dataset", "path", "solver", "repetition", "status", "comparable", "seconds", "single_seconds",
         "seconds_ratio", "passes_ratio", "points"]]
    rows = points.assign(solver=points.label)[["dataset", "path", "solver", "repetition", *columns]]
    return TableSet("path", sweep.config.title, shown, rows, records)


# ---- figures

def _picture(paths, points, column, looks):
    """One quantity along paths, by their titles. `points` are theirs."""
    first, name, signs = paths.iloc[0], column.removeprefix("test_"), {"lambda": "λ", "mu": "μ"}
    of, other, fixed = first.path_of, "lambda" if first.path_of == "mu" else "mu", number_text(first.fixed)
    rows = points.assign(solver=points.run.map(paths.title))[["solver", of, column]].rename(columns={column: name})
    short = (~paths.status.isin(["converged", "gap-reached"])).sum()

    def draw(ax):
        draw_lines(ax, rows, of, name, "solver", looks)
        ax.set(xscale="log", xlabel=signs[of], ylabel=QUANTITIES[column][0])
        ax.invert_xaxis()  # the path goes from left to right

    parts = ["path", first.dataset, "mu" * (of == "mu"), (other + fixed) * bool(first.fixed), name]
    return Picture("-".join(filter(None, parts)), f"{first.dataset}: regularisation path over {signs[of]}"
                   + f", {signs[other]} = {fixed}" * bool(first.fixed), draw, rows, first.description,
                   f"{short} of {len(paths)} paths did not reach their tolerance at every point." * bool(short),
                   name != "seconds" or paths.comparable.all(), key="best")


def pictures(sweep, allow=False):
    """Nonzeros, objective, accuracy and seconds along the paths of the first repetition."""
    sweep.require("paths")
    paths, points, out = sweep.paths[sweep.paths.repetition == 1], sweep.points, []
    paths = paths.assign(fixed=paths["lambda"].where(paths.path_of == "mu", paths.mu))
    families = paths.groupby(["dataset", "path_of", "fixed"])
    several = families["path"].transform("nunique") > 1
    paths["title"] = paths.series + (" " + paths.path).where(several, "")
    groups = [paths.loc[index] for index in families.groups.values()]
    looks = {title: line_style(i) for i, title in enumerate(pd.concat(groups).title.unique())}
    for group in groups:
        for column in QUANTITIES:
            shown = group[group.index.isin(points.run[points[column].notna()])
                          & ((column != "seconds") | group.comparable | allow | sweep.config.allow)]
            if len(shown):
                out.append(_picture(shown, points[points.run.isin(shown.index)], column, looks))
    if not out:
        raise Error.at(sweep.folders[0], "no path with a finished point", "one to draw")
    return out


# ---- grids of lambda x mu

def grid(sweep):
    """A row for each data set, loss, lambda and mu, of the run or point with the least objective."""
    runs = sweep.runs.assign(loss=sweep.runs.loss_text, solver=sweep.runs.label,
                             place=pd.factorize(sweep.runs.dataset)[0])
    who, names = ["place", "dataset", "loss", "solver"], ["lambda", "mu", *GRID]
    points = runs[who].join(sweep.points.set_index("run")[names], how="inner")
    single = runs.loc[sweep.single.index[~sweep.single.failed], [*who, *names]]
    cells = pd.concat([single, points]).dropna(subset="objective").sort_index(kind="stable")
    return cells.sort_values("objective", kind="stable").drop_duplicates(
        ["dataset", "loss", "lambda", "mu"]).sort_values(["place", "lambda", "mu"])


def _matrices(sweep):
    """For each data set, loss and quantity the cells of the grid and their matrix, lambdas and mus from large to
    small."""
    for (dataset, loss), cells in grid(sweep).groupby(["dataset", "loss"], sort=False):
        for name in GRID:
            matrix = cells.pivot(index="lambda", columns="mu", values=name).iloc[::-1, ::-1]
            if matrix.notna().any(axis=None):
                yield dataset, loss, name, cells, matrix


def grid_tables(sweep):
    """A table of lambda x mu for each data set and quantity, of the solver with the least objective."""
    tables = []
    for dataset, loss, name, _, matrix in _matrices(sweep):
        label, form = QUANTITIES[name]
        rows = [[number_text(at, 5), *(cell(x, form) for x in row)] for at, *row in matrix.itertuples()]
        tables.append(Table(f"{dataset}{'' if loss == 'log' else ', ' + loss}: {label}",
                            ["lambda", *(f"mu = {number_text(mu, 5)}" for mu in matrix)], rows, 0))
    cells = grid(sweep)[["dataset", "loss", "lambda", "mu", "solver", *GRID]]
    return TableSet("grid", sweep.config.title, tables, cells)


def _draw_grid(ax, matrix, label, form):
    image = ax.pcolormesh(np.ma.masked_invalid(matrix))
    ax.figure.colorbar(image, ax=ax, label=label)
    for (i, j), x in np.ndenumerate(matrix.to_numpy()):
        if np.isfinite(x):
            ax.text(j + 0.5, i + 0.5, format(x, form), ha="center", va="center",
                    color="black" if image.norm(x) > 0.5 else "white")
    for axis, name, values in ((ax.xaxis, "μ", matrix.columns), (ax.yaxis, "λ", matrix.index)):
        axis.set_label_text(name)
        axis.set_ticks(np.arange(len(values)) + 0.5, labels=[number_text(one, 4) for one in values])
    ax.grid(False)


def grid_pictures(sweep):
    out = []
    for dataset, loss, name, cells, matrix in _matrices(sweep):
        description = sweep.runs.loc[sweep.runs.dataset == dataset, "description"].iloc[0]
        out.append(Picture(f"grid-{dataset}{'' if loss == 'log' else '-hinge'}-{name}",
                           f"{dataset}: {QUANTITIES[name][0]}",
                           lambda ax, matrix=matrix, name=name: _draw_grid(ax, matrix, *QUANTITIES[name]),
                           cells[["lambda", "mu", name]], description, key=""))
    return out
