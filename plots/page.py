"""One HTML page about several experiments, which works without a network: curves to filter and zoom, tables, paths,
theory, failed runs, provenance. It shows what the figures' modules compute; only the curves need scripts."""
import html
import math
import os
from types import SimpleNamespace
from urllib.parse import quote

import numpy as np

from ..errors import UsageError
from ..fields import RUN
from ..files import entries_of, file_name_part, make_folder, write_text
from ..records import read_bytes
from ..sweep import load_each, text_of
from . import paths, tables, theory
from .curves import BELOW, Panel, Styles, caption, subtitle
from .figure import DASHES, style, with_commas
from .quantities import AXES, QUANTITIES
from .runs import data_warnings, grouped, penalty_symbols, reached_tolerance, series_name, several_machines, status
from .texts import WEB, Table, render
from .times import is_wide

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
        at = np.column_stack([points[:, 0], np.log10(points[:, 0]),
                              np.log10(points[:, 1:]) if log else points[:, 1:]])
    at[~np.isfinite(at)] = np.nan
    low = np.nanmin(np.where(np.isnan(at), np.inf, at), axis=0)
    length = np.nanmax(np.where(np.isnan(at), -np.inf, at), axis=0) - low
    at = np.nan_to_num((at - low) / np.where(length > 0, length, 1.0), nan=-1.0)
    step = 1.0 / MOST_POINTS
    while True:
        bins = np.floor(at / step)
        kept = np.append(True, (np.diff(bins, axis=0) != 0).any(axis=1))
        kept[-1] = True
        if kept.sum() <= MOST_POINTS:
            return points[kept]
        step *= 1.5


def _chart(panel, styles):
    quantity, first = panel.quantity, panel.group[0]
    bound, curves = panel.drawn_bound, []
    for runs, points in panel.curves:
        if not len(points):
            continue
        x, y, low, high = (list(map(rounded, column)) for column in thinned(points, quantity.log).T.tolist())
        band = {"low": low, "high": high} if (points[:, 2] != points[:, 3]).any() else {}
        curves.append({"series": panel.series(runs[0]), "width": 1 if runs[0]["failed"] else 2,
                       "comparable": runs[0]["comparable"], "failed": runs[0]["failed"], "x": x, "y": y, **band})
    about = subtitle(panel.group)
    return {"warning": data_warnings(about), "title": f"{quantity.title}: {first['dataset']}, {penalty_symbols(first)}",
            "notes": f"{about}\n{caption(panel)}\n{STEPS}", "x": panel.axis.title, "y": quantity.axis,
            "log": quantity.log, "count": quantity.name == "nnz", "bound": rounded(bound),
            "floor": rounded(float(np.fmax(panel.floor, bound / BELOW))), "curves": curves}


def charts(sweep):
    """The charts of all quantities that some run measured, against every axis, by problem."""
    runs, plot = sweep.single, sweep.presentation.plot
    machines, several = several_machines(runs), len({run["dataset"] for run in runs}) > 1
    shown = [one for one in QUANTITIES
             if any(np.isfinite(one.value(sweep, run)).any() for run in runs)] or QUANTITIES[:1]
    repeated = lambda some: any(run["repetition"] > 1 for run in some)  # noqa: E731
    styles, groups = Styles(runs), []
    for group in grouped(runs, lambda run: run["key"]).values():
        panels = {}
        for one in shown:
            panels[one.name] = {axis.name: {
                name: _chart(Panel(sweep, group, one, axis, machines, name == "median"), styles)
                for name in ["each", *(["median"] if repeated(group) else [])]} for axis in AXES}
        name = (f"{group[0]['dataset']}, " if several else "") + penalty_symbols(group[0])
        groups.append({"name": name, "panels": panels})
    series = []
    for name, some in grouped(runs, lambda run: series_name(run, machines)).items():
        look = styles.of(some[0])
        series.append({"name": name, "colour": look["color"], "dash": DASHES.index(look["linestyle"])})
    first = plot.quantities[0] if plot.quantities else "objective"
    return {"start": {"x": plot.x[0] if plot.x else "seconds", "log_x": plot.log_seconds,
                      "quantity": first if any(one.name == first for one in shown) else shown[0].name},
            "axes": [axis.name for axis in AXES], "quantities": [[one.name, one.title] for one in shown],
            "repetitions": repeated(runs), "uncomparable": not all(run["comparable"] for run in runs),
            "failed": any(run["failed"] for run in runs), "series": series, "groups": groups}


# ---- texts

def _data_lines(runs):
    lines = []
    for run in runs:
        sizes = [f"{before}{with_commas(run[name])}{after}" for before, name, after in (
            ("", "instances", " training instances"), ("", "positions", " positions"), ("d = ", "d", ""))
            if run[name] is not None]
        lines.append((run["description"] or "") + (f" ({', '.join(sizes)})" if sizes else ""))
    lines = list(dict.fromkeys(lines))
    # A run that failed early has no sizes; others have them.
    return [line for line in lines if not any(other.startswith(line + " (") for other in lines)]


def _distinct(runs, text):
    return "; ".join(dict.fromkeys(filter(None, map(text, runs))))


def _machine(run):
    if run["failed"]:
        return ""
    cores = f", {run['machine_cores']} cores" if run["machine_cores"] else ""
    return (f"{run['machine']}: " if run["machine"] else "") + (run["machine_cpu"] or "unknown processor") + (
        f"{cores}, threads: {run['threads']}, {run['backend']}")


def _made(runs):
    machines = _distinct(runs, _machine)
    limit = _distinct(runs, lambda run: f"{run['time_limit']:g} s" if run["time_limit"] else "no time limit")
    return [f"{machines}." if machines else "", f"{_ended(runs)}{f'; limit of a run: {limit}.' if limit else '.'}"]


def _ended(runs):
    failed = sum(run["failed"] for run in runs)
    return (f"{sum(map(reached_tolerance, runs))} of {len(runs)} runs reached their tolerance"
            f"{f', {failed} failed' if failed else ''}")


def _order(rows, targets):
    """E.g. "prox-newton 3.1 s, owl-qn 40 s; not reached: sgd", for the smallest target that any solver reached and for
    which f* is exact enough."""
    first, accuracy = rows[0].runs[0], rows[0].accuracy
    what = f"{first['dataset']}, {penalty_symbols(first)}"
    for target in (one for one in reversed(targets) if not one < accuracy):
        ends = [(*(one["median"] for one in reversed(row.spreads[tables.cost_name("seconds", target)])), row.label)
                for row in rows]
        reached = sorted((one for one in ends if math.isfinite(one[0])), key=lambda one: one[:2])
        missed = [label for end, _, label in ends if not math.isfinite(end)]
        if reached:
            texts = [f"{label} {f'{begin:.3g} to ' if is_wide(begin, end) else ''}{end:.3g} s"
                     for end, begin, label in reached]
            return (f"{what}, to (f − f*)/f* ≤ {target:g}: {', '.join(texts)}"
                    f"{'; not reached: ' if missed else ''}{', '.join(missed)}.")
    if targets[0] < accuracy or math.isnan(accuracy):
        return f"{what}: none can be told, f* is proven to a relative accuracy of {accuracy:.1e} only."
    return f"{what}: no solver reached (f − f*)/f* ≤ {targets[0]:g}."


def _orders(sweep, targets):
    good = [run for run in sweep.single if run["comparable"] and not run["failed"]]
    if not good or not targets:
        return []
    return [_order(rows, targets) for rows in tables.Summary(sweep, good, targets).groups if len(rows) > 1]


# ---- parts of a section

def links(files, folder):
    """Links to those of the files that exist, relative to the page's folder."""
    from markupsafe import Markup

    real = os.path.realpath(folder)
    out = [f'<a href="{quote(os.path.relpath(os.path.realpath(file), real))}">{html.escape(os.path.basename(file))}</a>'
           for file in files if os.path.isfile(file)]
    return Markup(" · ".join(out))


def _provenance(runs):
    """What all runs share, then the rest with a row per run."""
    common = Table("The same for all runs", ["what", "value"], [], 2)
    differing = Table("Different", ["run"], [[run["name"]] for run in runs])
    for field in RUN:
        if field["section"].startswith("provenance"):
            values = [text_of(run[field["column"]]) or "-" for run in runs]
            if len(set(values)) > 1:
                differing.head.append(field["column"])
                for row, value in zip(differing.rows, values):
                    row.append(value)
            elif values[0] != "-":
                common.rows.append([field["column"], values[0]])
    differing.words = len(differing.head)
    return common, differing


def _svgs(pictures):
    """The pictures as drawn by the figures' modules, as SVG in the page."""
    import io

    out = []
    with style():
        for one in pictures:
            text = io.BytesIO()
            one.figure().savefig(text, format="svg", metadata={"Date": None})
            out.append(SimpleNamespace(svg=quote(text.getvalue().decode()), alt=one.whole_title))
    return out


def _parts(sweep, results):
    part = lambda heading, pictures, tables, folded=(): SimpleNamespace(  # noqa: E731
        heading=heading, pictures=_svgs(pictures), tables=tables, folded=folded)
    if sweep.paths:
        first, *points = paths.tables(sweep).tables
        drawn = any(len(sweep.points_of(run)) for run in sweep.paths)
        yield part("Regularisation paths", paths.pictures(sweep, True) if drawn else [], [first], points)
    if any(len(set(lambdas)) > 1 < len(set(mus)) for lambdas, mus in (zip(*at) for at in paths.grids(sweep).values())):
        yield part("Grids of λ × μ", paths.grid_pictures(sweep), [])
    if stored := theory.read(results):
        yield part("Theory", theory.pictures(stored), theory.tables(stored).tables)


def _has_curves(sweep):
    """Runs that only measure sizes have a start and an end, and no curve between them."""
    return any(len(np.unique(sweep.trace(run, "seconds"))) > 2 for run in sweep.single)


def _section(sweep, folder):
    shown, results, runs = sweep.presentation, sweep.folders[0], sweep.records
    targets = shown.targets = sorted(shown.targets, reverse=True)
    sets = tables.results(sweep, [tables.PRINTED])[0] if sweep.single else []
    id_ = file_name_part(shown.name or runs[0]["experiment"])
    config = os.path.join(results, "config.ini")
    common, differing = _provenance(runs)
    files = [(what, links(entries_of(os.path.join(results, below)), folder))
             for what, below in (("Tables", "tables"), ("Figures for print", "figures"))]
    names = ("manifest.json", "path.csv", "trace.csv", "model.tsv")
    data = _data_lines(runs)
    return SimpleNamespace(
        id=id_, heading=shown.paper.item or id_, title=shown.title, paper=shown.paper, data=data,
        warning=data_warnings(", ".join(data)), made=_made(runs), ended=_ended(runs),
        order=_orders(sweep, targets) if len(sets) == 1 else [],
        first_tables=[table for one in sets[:-1] for table in one.tables],
        charts=charts(sweep) if _has_curves(sweep) else None, parts=list(_parts(sweep, results)),
        failed=Table("Runs that failed", ["run", "status", "reason"],
                     [[run["name"], status(run), run["reason"] or "-"] for run in runs if run["failed"]], 3),
        alone=Table("Timings that are not comparable", ["run", "reason"],
                    [[run["name"], run["not_comparable_because"] or "-"] for run in runs if not run["comparable"]], 2,
                    ["Charts leave these runs out where they show seconds, and no order of the solvers counts them."]),
        summaries=sets[-1].tables if sets else [],
        summaries_title="Times and ends of all runs" + (" of single penalties" if sweep.paths else ""),
        runs=Table("Runs and their files", ["run", "status", "files"], [
            [run["name"], status(run), links([os.path.join(run["folder"], name) for name in names], folder)]
            for run in runs], 3),
        files=[one for one in files if one[1]], common=common, differing=differing,
        config=read_bytes(config).decode(errors="replace") if os.path.exists(config) else "")


# ---- the page

def _library():
    """dygraphs, of Debian's libjs-dygraphs or in the folder $PROXBENCH_DYGRAPHS."""
    folder = os.environ.get("PROXBENCH_DYGRAPHS") or "/usr/share/javascript/dygraphs"
    expected = ("the charting library dygraphs (Debian package libjs-dygraphs; scripts/install-deps), or its folder in "
                "PROXBENCH_DYGRAPHS")
    return [read_bytes(os.path.join(folder, name), expected).decode() for name in ("dygraph.min.js", "dygraph.min.css")]


def write_page(folders, out, title="Results", notes=(), warn=lambda text: None):
    """Writes the page. Returns whether all results could be read."""
    from markupsafe import Markup, escape

    if os.path.isdir(out):
        raise UsageError(f"{out}: found a folder, expected the name of an HTML file")
    library, library_style = _library()
    page_folder = os.path.dirname(os.path.abspath(out))
    sweeps, warnings = load_each(folders)
    for text in warnings:
        warn(text)
    with style():
        sections = [_section(sweep, page_folder) for sweep in sweeps]
    for i, one in enumerate(sections):
        if one.id in [other.id for other in sections[:i]]:
            raise UsageError(f"{folders[i]}: found a second experiment named '{one.id}', expected each name once")
    contents = Table("Contents", ["what", "title", "data", "runs"], [
        [Markup(f'<a href="#{escape(one.id)}">{escape(one.heading)}</a>'), one.title,
         Markup(f"<strong>{escape(one.warning)}</strong>" if one.warning else "") + one.data[0]
         + (f" and {len(one.data) - 1} more" if len(one.data) > 1 else ""), one.ended] for one in sections], 4)
    script, look, licence = (read_bytes(os.path.join(WEB, name), "a file of the package").decode()
                             for name in ("report.js", "report.css", "dygraphs-licence.txt"))
    text = render("page.html", title=title, notes=notes, sections=sections, contents=contents, library=library,
                  library_style=library_style, script=script, style=look, licence=licence)
    make_folder(page_folder)
    write_text(out, text)
    return all(not sweep.left_out for sweep in sweeps)
