"""Regularisation paths, and grids of lambda x mu: tables and figures."""
import numpy as np
import pandas as pd

from ..errors import ProxbenchError, in_file
from ..fields import PATH, number_text
from ..files import file_name_part
from ..records import in_order
from .figure import Picture, line_style, log_axis, plain_label
from .texts import Table, TableSet, cell, data_warnings, scientific
from .times import seconds_text


def require_paths(sweep):
    if not len(sweep.paths):
        raise in_file(sweep.folders[0], 0, "no path", "the results of a config with lambda or mu = path(...)")


# ---- tables

COSTS = ["experiment", "dataset", "path", "solver", "repetition", "status", "comparable", "seconds", "single_seconds",
         "seconds_ratio", "passes_ratio", "points"]


def path_costs(sweep):
    """A row per path: its number of points, its cost, and in `single_seconds` and `single_passes` that of solving only
    its last point from w = 0, where the results have that run."""
    series, names = ["dataset", "label", "repetition", "machine", "lambda", "mu"], ["seconds", "passes"]
    points = sweep.path_points.groupby("run")
    ends = ["lambda", "mu", *names]
    out = sweep.paths.drop(columns=ends).join(points.tail(1).set_index("run")[ends])
    out["points"] = points.size().reindex(out.index, fill_value=0)
    alone = sweep.single[~sweep.single["failed"]].drop_duplicates(series).set_index(series)
    alone["seconds"] = alone["seconds"].where(alone["comparable"])
    single = out.join(alone[names].add_prefix("single_"), on=series)
    for name in names:
        out["single_" + name] = single["single_" + name].where(out["points_asked"] == out["points"])
        out[name + "_ratio"] = out[name] / out["single_" + name]
    return out


def _costs_table(costs):
    costs = costs.assign(what=costs["dataset"] + ", " + costs["penalty"])
    costs.loc[~costs["comparable"], ["seconds", "seconds_ratio"]] = np.nan
    return Table.of("What paths cost", costs, {
        "path": ("what", str), "solver": ("series", str), "rep": ("repetition", str), "status": ("status", str),
        "points": ("points", str), "seconds": ("seconds", seconds_text), "seconds / single": ("seconds_ratio", ".2f"),
        "passes": ("passes", ".0f"), "passes / single": ("passes_ratio", ".2f")}, words=4,
        notes=["single: one solve, from w = 0, of the path's last point, where the results have it."])


def _points_table(path, points):
    points = points.assign(seconds=points["seconds"] if path["comparable"] else np.nan,
                           gap=points["gap"] / points["objective"].abs().where(points["objective"] != 0),
                           kkt=points["kkt"] / points["kkt_target"].where(points["kkt_target"] > 0))
    caption = f"{path['dataset']}, {path['penalty']}, {path['series']}, repetition {path['repetition']}"
    return Table.of(caption, points, {
        path["path_of"]: (path["path_of"], ".5g"), "nnz": ("nnz", str), "objective": ("objective", ".8g"),
        "relative gap": ("gap", scientific), "kkt / target": ("kkt", ".2g"), "candidates": ("candidates", str),
        "seconds": ("seconds", seconds_text), "iterations": ("iterations", str), "accuracy": ("test_accuracy", ".4f")},
        words=0, notes=["Seconds and iterations since the path began."])


def _points(sweep, run):
    points = sweep.points_of(run)
    return points[in_order(points, PATH)].to_dict("records")


def tables(sweep):
    """The costs of the paths, the points of each, and a record for each point. JSON has a record for each path."""
    require_paths(sweep)
    costs = path_costs(sweep)
    out = TableSet("path", sweep.presentation.title, [_costs_table(costs)], more=costs.assign(
        solver=costs["label"], points=[_points(sweep, i) for i in costs.index])[COSTS].to_dict("records"))
    for i, path in sweep.paths.iterrows():
        points = sweep.points_of(i)
        out.tables += [_points_table(path, points)] if len(points) else []
        out.records += [{"dataset": path["dataset"], "path": path["path"], "solver": path["label"],
                         "repetition": path["repetition"], **point} for point in _points(sweep, i)]
    return out


# ---- figures

QUANTITIES = {"nnz": ("nonzeros", "upper left"), "objective": ("objective F", "lower left"),
              "test_accuracy": ("test accuracy", "upper left"),
              "seconds": ("seconds since the path began", "upper left")}


def _picture(sweep, paths, column, titles):
    first, of = paths.iloc[0], paths["path_of"].iloc[0]
    name, (label, key) = column.removeprefix("test_"), QUANTITIES[column]
    fixed, symbol = ("lambda", "μ") if of == "mu" else ("mu", "λ")
    value = number_text(first[fixed])
    short = int((~paths["status"].isin(["converged", "gap-reached"])).sum())
    rows = pd.concat([pd.DataFrame({"solver": path["title"], of: points[of], name: points[column]})
                      for i, path in paths.iterrows() for points in [sweep.points_of(i)]], ignore_index=True)

    def draw(axes):
        ax = axes[0]
        for title, points in rows.groupby("solver", sort=False):
            ax.plot(points[of], points[name], label=plain_label(title), **line_style(titles.index(title)))
        ax.set(xscale="log", xlabel=symbol, ylabel=label)
        ax.invert_xaxis()  # the path goes from left to right
        log_axis(ax.xaxis)

    return Picture(file_name_part(f"path-{first['dataset']}-{'mu-' if of == 'mu' else ''}"
                                  f"{f'{fixed}{value}-' if first[fixed] else ''}{name}"),
                   f"{first['dataset']}: regularisation path{' over μ' if of == 'mu' else ''}"
                   f"{f', {fixed} = {value}'.replace('lambda', 'λ').replace('mu', 'μ') if first[fixed] else ''}", draw,
                   rows, data_warnings([first["description"]], name != "seconds" or paths["comparable"].all()),
                   subtitle=first["description"] or "", key=key, caption=(
                       f"{short} of {len(paths)} paths did not reach their tolerance at every {symbol}.")
                       if short else "")


def pictures(sweep, allow_not_comparable=False):
    """Nonzeros, objective, accuracy and seconds along the paths of the first repetition."""
    require_paths(sweep)
    paths, out = sweep.paths[sweep.paths["repetition"] == 1], []
    fixed = paths["lambda"].where(paths["path_of"] == "mu", paths["mu"])
    family = ["dataset", paths["path_of"] == "mu", fixed]
    several = paths.groupby(family)["path"].transform("nunique") > 1
    paths = paths.assign(title=paths["series"] + (" " + paths["path"]).where(several, ""))
    titles = list(dict.fromkeys(title for _, group in paths.groupby(family) for title in group["title"]))
    for _, group in paths.groupby(family):
        for column in QUANTITIES:
            known = [sweep.points_of(i)[column].notna().any() for i in group.index]
            shown = group[known & ((column != "seconds") | group["comparable"] | allow_not_comparable)]
            out += [_picture(sweep, shown, column, titles)] if len(shown) else []
    if not out:
        raise ProxbenchError(f"{sweep.folders[0]}: found no path with a finished point, expected one to draw")
    return out


# ---- grids of lambda x mu

GRID = {"objective": ("objective F", ".6g"), "nnz": ("nonzeros", ".0f"), "test_accuracy": ("test accuracy", ".4f")}


def grid(sweep):
    """A row for each data set, loss, lambda and mu, of the run or point with the least objective."""
    names = ["dataset", "loss", "lambda", "mu", "label", *GRID]
    runs = sweep.runs.drop(columns="loss").rename(columns={"loss_text": "loss"})
    points = runs[["dataset", "loss", "label"]].join(sweep.path_points.set_index("run")[["lambda", "mu", *GRID]],
                                                     how="inner")
    cells = pd.concat([runs.loc[sweep.single.index][names][~sweep.single["failed"]], points[names]])
    cells = cells.dropna(subset="objective").assign(order=lambda frame: frame.index).sort_values(
        ["objective", "order"], kind="stable").drop_duplicates(["dataset", "loss", "lambda", "mu"])
    order = {name: i for i, name in enumerate(dict.fromkeys(sweep.runs["dataset"]))}
    return cells.sort_values(["dataset", "lambda", "mu"],
                             key=lambda column: column.map(order) if column.name == "dataset"
                             else column).drop(columns="order").rename(columns={"label": "solver"})


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
    tables = [Table(f"{dataset}{'' if loss == 'log' else ', ' + loss}: {GRID[name][0]}",
                    ["lambda", *(f"mu = {number_text(mu, 5)}" for mu in matrix)],
                    [[number_text(at, 5), *(cell(x, GRID[name][1]) for x in row)] for at, *row in matrix.itertuples()],
                    0)
              for dataset, loss, name, _, matrix in _matrices(sweep)]
    cells = grid(sweep)[["dataset", "loss", "lambda", "mu", "solver", *GRID]]
    return TableSet("grid", sweep.presentation.title, tables, cells.to_dict("records"))


def _draw_grid(ax, matrix, label, form):
    image = ax.pcolormesh(np.ma.masked_invalid(matrix))
    ax.figure.colorbar(image, ax=ax, label=label)
    for (i, j), x in np.ndenumerate(matrix.to_numpy()):
        if np.isfinite(x):
            ax.text(j + 0.5, i + 0.5, format(x, form), ha="center", va="center",
                    color="black" if image.norm(x) > 0.5 else "white")
    ax.set(xlabel="μ", ylabel="λ", xticks=np.arange(matrix.shape[1]) + 0.5, yticks=np.arange(len(matrix)) + 0.5,
           xticklabels=[number_text(one, 4) for one in matrix],
           yticklabels=[number_text(one, 4) for one in matrix.index])
    ax.grid(False)


def grid_pictures(sweep):
    out = []
    for dataset, loss, name, cells, matrix in _matrices(sweep):
        description = sweep.runs.loc[sweep.runs["dataset"] == dataset, "description"].iloc[0] or ""
        out.append(Picture(file_name_part(f"grid-{dataset}{'' if loss == 'log' else '-hinge'}-{name}"),
                           f"{dataset}: {GRID[name][0]}",
                           lambda axes, matrix=matrix, name=name: _draw_grid(axes[0], matrix, *GRID[name]),
                           cells[["lambda", "mu", name]], data_warnings([description]), subtitle=description, key=""))
    return out
