"""One HTML page about several experiments, which works without a network: curves to filter and zoom, tables, paths,
theory, failed runs, provenance. It shows what the figures' modules compute; only the curves need scripts."""
import io
import math
import os
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import numpy as np

from ..errors import UsageError
from ..fields import RUN
from ..files import entries_of, file_name_part, read_text, whole_file
from ..records import text_of
from . import paths, tables, theory
from .curves import AXES, BELOW, QUANTITIES, Panel, about, caption, styles_of, values_of
from .figure import DASHES, style
from .tables import GROUP
from .texts import Table, data_warnings, penalty_symbols, sentences, template

MOST_POINTS = 200  # of a curve
STEPS = "A value holds up to the next sample, and the last value to the end: nothing is known in between."


# ---- charts as JSON, for web/report.js

def rounded(value):
    """Six digits, more than a screen shows; counts stay exact; None for what is not finite."""
    if not math.isfinite(value):
        return None
    return int(value) if value == int(value) and abs(value) < 1e15 else float(f"{value:.6g}")


def thinned(points, log):
    """At most MOST_POINTS rows: the first, the last, and those that would be drawn a step away from the one before."""
    if len(points) <= MOST_POINTS:
        return points
    with np.errstate(divide="ignore", invalid="ignore"):
        at = np.column_stack([points[:, 0], np.log10(points[:, 0]), np.log10(points[:, 1:]) if log else points[:, 1:]])
    at = np.ma.masked_invalid(at)
    low, length = at.min(axis=0), np.ptp(at, axis=0)
    at = ((at - low) / np.ma.where(length > 0, length, 1.0)).filled(-1.0)
    step = 1.0 / MOST_POINTS
    while True:
        kept = np.append(True, (np.diff(np.floor(at / step), axis=0) != 0).any(axis=1))
        kept[-1] = True
        if kept.sum() <= MOST_POINTS:
            return points[kept]
        step *= 1.5


def _chart(panel):
    quantity, curves = panel.quantity, []
    for curve in panel.curves:
        points = [list(map(rounded, column)) for column in thinned(curve.points, quantity.log).T.tolist()]
        names = ["x", "y", "low", "high"][:None if (curve.points[:, 2] != curve.points[:, 3]).any() else 2]
        curves.append({"series": curve.first.series, "width": 1 if curve.first.failed else 2,
                       "failed": bool(curve.first.failed), "comparable": bool(curve.first.comparable),
                       **dict(zip(names, points))})
    return {"warning": data_warnings([panel.about]), "title": panel.title,
            "notes": f"{panel.about}\n{caption(panel)}\n{STEPS}", "x": AXES[panel.axis], "y": quantity.axis,
            "log": quantity.log, "count": quantity.name == "nnz", "bound": rounded(panel.drawn_bound),
            "floor": rounded(np.fmax(panel.floor, panel.drawn_bound / BELOW)), "curves": curves}


def charts(sweep):
    """The charts of all quantities that some run measured, against every axis, by problem."""
    runs, plot, single = sweep.single, sweep.config.plot, sweep.samples.run.isin(sweep.single.index)
    values = {name: values_of(sweep, quantity) for name, quantity in QUANTITIES.items()}
    shown = [name for name, (known, _) in values.items() if np.isfinite(known[single]).any()] or ["objective"]
    groups = []
    for (dataset, _), group in runs.groupby(GROUP, sort=False):
        modes = {"each": False, **({"median": True} if (group.repetition > 1).any() else {})}
        panels = {name: {axis: {mode: _chart(Panel(sweep, group, QUANTITIES[name], axis, bands=bands,
                                                   values=values[name])) for mode, bands in modes.items()}
                         for axis in AXES} for name in shown}
        groups.append({"name": f"{dataset}, " * (runs.dataset.nunique() > 1) + penalty_symbols(group.iloc[0]),
                       "panels": panels})
    styles = styles_of(runs)
    looks = {name: styles[run] for run, name in runs.series.items()}
    first = plot.quantities[:1] or ["objective"]
    return {"start": {"x": (plot.x or ["seconds"])[0], "log_x": plot.log_seconds,
                      "quantity": first[0] if first[0] in shown else shown[0]},
            "axes": list(AXES), "quantities": [[name, QUANTITIES[name].title] for name in shown],
            "repetitions": bool((runs.repetition > 1).any()), "uncomparable": not runs.comparable.all(),
            "failed": bool(runs.failed.any()), "groups": groups,
            "series": [{"name": name, "colour": look["color"], "dash": DASHES.index(look["linestyle"])}
                       for name, look in looks.items()]}


# ---- parts of a section

def _ended(runs):
    return sentences("ended", len(runs), runs.status.isin(["converged", "gap-reached"]).sum(), runs.failed.sum())[0]


def _made(runs):
    machines = runs[~runs.failed].fillna({"machine_cpu": "unknown processor"})[
        ["machine", "machine_cpu", "machine_cores", "threads", "backend"]].drop_duplicates().to_dict("records")
    return sentences("machines", machines) + sentences("time_limits", _ended(runs), runs.time_limit.fillna(0).unique())


def _order(rows, targets):
    """The solvers by their times to the smallest target that any of them reached and for which f* is exact enough."""
    first = rows[0].first
    for target in (one for one in reversed(targets) if not one < first["reference_accuracy"]):
        name = tables.cost_name("seconds", target)
        ends = sorted((row.spreads[name]["median"], row.solver, row.texts[name]) for row in rows)
        if any(math.isfinite(end) for end, *_ in ends):
            break
    else:
        target, ends = None, []
    return sentences("order", first["dataset"], penalty_symbols(first), target, ends)


def links(files, folder):
    """Names and addresses, relative to the page's folder, of those of the files that exist."""
    return [(file.name, quote(os.path.relpath(file.resolve(), folder))) for file in files if file.is_file()]


def _provenance(runs):
    """What all runs share, then the rest with a row per run."""
    names = [field["column"] for field in RUN if field["section"].startswith("provenance")]
    frame = runs[names].applymap(text_of).replace("", "-").set_index(runs["name"])
    same = frame.nunique() == 1
    common, rest = frame.loc[:, same].iloc[:1].T.reset_index(), frame.loc[:, ~same].reset_index()
    return [Table(caption, head, some.to_numpy().tolist(), len(head)) for caption, head, some in (
        ("The same for all runs", ["what", "value"], common[common.iloc[:, 1] != "-"]),
        ("Different", ["run", *rest.columns[1:]], rest)) if len(some) and len(head) > 1]


def _svgs(pictures):
    """The pictures as drawn by the figures' modules, as SVG in the page."""
    for one in pictures:
        text = io.BytesIO()
        one.figure().savefig(text, format="svg", metadata={"Date": None})
        yield quote(text.getvalue().decode()), one.full_title


def _parts(sweep):
    """Headings with pictures, tables, and tables that are folded."""
    if len(sweep.paths):
        first, *points = paths.tables(sweep).tables
        drawn = paths.pictures(sweep, True) if len(sweep.points) else []
        yield "Regularisation paths", list(_svgs(drawn)), [first], points
    if (paths.grid(sweep).groupby(["dataset", "loss"])[["lambda", "mu"]].nunique() > 1).all(axis=1).any():
        yield "Grids of λ × μ", list(_svgs(paths.grid_pictures(sweep))), [], []
    if theory.read(sweep.folders[0]):
        yield "Theory", list(_svgs(theory.pictures(sweep))), theory.tables(sweep).tables, []


def _has_curves(sweep):
    """Runs that only measure sizes have a start and an end, and no curve between them."""
    return (sweep.samples.groupby("run")["seconds"].nunique().reindex(sweep.single.index) > 2).any()


def _section(sweep, folder):
    shown, results, runs = sweep.config, sweep.folders[0], sweep.runs
    targets = shown.targets = sorted(shown.targets, reverse=True)
    sets = tables.results(sweep, [tables.PRINTED]) if len(sweep.single) else []
    timed = [[row for row in rows if row.timed] for rows in (sets[-1].groups if len(sets) == 1 and targets else [])]
    id_, config = file_name_part(shown.name or runs.experiment.iloc[0]), results / "config.ini"
    files = [(what, links(entries_of(results / below), folder))
             for what, below in (("Tables", "tables"), ("Figures for print", "figures"))]
    names = ("manifest.json", "path.csv", "trace.csv", "model.tsv")
    data = [about(some).replace("\n", "; ") for _, some in runs.groupby("dataset", sort=False)]
    return SimpleNamespace(
        id=id_, heading=shown.paper.item or id_, title=shown.title, paper=shown.paper, data=data,
        warning=data_warnings([", ".join(data)]), made=_made(runs), ended=_ended(runs),
        order=sum((_order(rows, targets) for rows in timed if len(rows) > 1), []),
        first_tables=[table for one in sets[:-1] for table in one.tables],
        charts=charts(sweep) if _has_curves(sweep) else None, parts=list(_parts(sweep)),
        left_out=[Table.of("failed", runs[runs.failed]), Table.of("not comparable", runs[~runs.comparable])],
        summaries=sets[-1].tables if sets else [],
        summaries_title="Times and ends of all runs" + " of single penalties" * bool(len(sweep.paths)),
        runs=[(name, status, links([Path(own) / file for file in names], folder))
              for name, status, own in zip(runs["name"], runs.status, runs.folder)],
        files=[one for one in files if one[1]], provenance=_provenance(runs),
        config=read_text(config) if config.exists() else "")


# ---- the page

def write_page(sweeps, out, title="Results", notes=()):
    """Writes the page about sweeps of one folder each. Charts are drawn by dygraphs, of Debian's libjs-dygraphs or in
    the folder $PROXBENCH_DYGRAPHS."""
    if Path(out).is_dir():
        raise UsageError.at(out, "a folder", "the name of an HTML file")
    dygraphs = Path(os.environ.get("PROXBENCH_DYGRAPHS") or "/usr/share/javascript/dygraphs")
    library = [read_text(dygraphs / f"dygraph.min.{kind}", "the library dygraphs (Debian: libjs-dygraphs), or its "
                         "folder in PROXBENCH_DYGRAPHS") for kind in ("js", "css")]
    sections = {}
    with style(), whole_file(out) as file:
        for sweep in sweeps:
            one = _section(sweep, Path(out).resolve().parent)
            if one.id in sections:
                raise UsageError.at(sweep.folders[0], f"a second experiment named '{one.id}'", "one")
            sections[one.id] = one
        file.write_text(template("page.html").render(title=title, notes=notes, sections=list(sections.values()),
                                                     library=library), "utf-8")
