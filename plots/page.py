"""One HTML page about several experiments, which works without a network: curves to filter and zoom, tables, paths,
theory, failed runs, provenance. It shows what the figures' modules compute; only the curves need scripts."""
import html
import io
import math
import os
from types import SimpleNamespace
from urllib.parse import quote

import numpy as np

from ..errors import UsageError
from ..fields import RUN
from ..files import entries_of, file_name_part, make_folder, write_text
from ..records import read_bytes, text_of
from . import paths, tables, theory
from .curves import AXES, BELOW, QUANTITIES, Panel, Styles, caption, subtitle
from .figure import DASHES, style
from .tables import GROUP
from .texts import WEB, Table, data_warnings, penalty_symbols, render
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
    quantity, bound, curves = panel.quantity, panel.drawn_bound, []
    for curve in (one for one in panel.curves if len(one.points)):
        x, y, low, high = (list(map(rounded, column)) for column in thinned(curve.points, quantity.log).T.tolist())
        first, is_band = curve.runs[0], (curve.points[:, 2] != curve.points[:, 3]).any()
        curves.append({"series": curve.series, "width": 1 if first["failed"] else 2,
                       "comparable": first["comparable"], "failed": first["failed"], "x": x, "y": y,
                       **({"low": low, "high": high} if is_band else {})})
    about = subtitle(panel.group)
    return {"warning": data_warnings([about]),
            "title": f"{quantity.title}: {panel.first['dataset']}, {penalty_symbols(panel.first)}",
            "notes": f"{about}\n{caption(panel)}\n{STEPS}", "x": AXES[panel.axis], "y": quantity.axis,
            "log": quantity.log, "count": quantity.name == "nnz", "bound": rounded(bound),
            "floor": rounded(np.fmax(panel.floor, bound / BELOW)), "curves": curves}


def charts(sweep):
    """The charts of all quantities that some run measured, against every axis, by problem."""
    runs, plot, styles, groups = sweep.single, sweep.presentation.plot, Styles(sweep.single), []
    rows = runs.to_dict("records")
    shown = [one for one in QUANTITIES.values()
             if any(np.isfinite(one.of(sweep, run)).any() for run in rows)] or [QUANTITIES["objective"]]
    for (dataset, _), group in runs.groupby(GROUP, sort=False):
        modes = ["each", "median"] if (group["repetition"] > 1).any() else ["each"]
        groups.append({"name": f"{dataset}, " * (runs["dataset"].nunique() > 1) + penalty_symbols(group.iloc[0]),
                       "panels": {
            one.name: {axis: {mode: _chart(Panel(sweep, group, one, axis, bands=mode == "median")) for mode in modes}
                       for axis in AXES} for one in shown}})
    looks = {run["series"]: styles.of(run) for run in rows}
    first = [name for name in (plot.quantities or ["objective"])[:1] if any(one.name == name for one in shown)]
    return {"start": {"x": (plot.x or ["seconds"])[0], "log_x": plot.log_seconds,
                      "quantity": [*first, shown[0].name][0]},
            "axes": list(AXES), "quantities": [[one.name, one.title] for one in shown],
            "repetitions": bool((runs["repetition"] > 1).any()), "uncomparable": not runs["comparable"].all(),
            "failed": bool(runs["failed"].any()), "groups": groups,
            "series": [{"name": name, "colour": look["color"], "dash": DASHES.index(look["linestyle"])}
                       for name, look in looks.items()]}


# ---- texts

def _data_lines(runs):
    sizes = {"instances": "{:,.0f} training instances", "positions": "{:,.0f} positions", "d": "d = {:,.0f}"}
    found = runs.assign(description=runs["description"].fillna("")).groupby(["dataset", "description"], sort=False)
    lines = []
    for (_, description), row in found[[*sizes]].first().iterrows():
        known = ", ".join(form.format(row[name]) for name, form in sizes.items() if not math.isnan(row[name]))
        lines.append(description + (f" ({known})" if known else ""))
    # A run that failed early has no sizes; others have them.
    lines = list(dict.fromkeys(lines))
    return [line for line in lines if not any(other.startswith(line + " (") for other in lines)]


def _machine(run):
    cores = "" if math.isnan(run["machine_cores"]) else f", {run['machine_cores']:.0f} cores"
    return (f"{run['machine']}: " if run["machine"] else "") + (run["machine_cpu"] or "unknown processor") + (
        f"{cores}, threads: {run['threads']}, {run['backend']}")


def _made(runs):
    good = runs[~runs["failed"]].to_dict("records")
    machines = "; ".join(dict.fromkeys(map(_machine, good)))
    limits = "; ".join(dict.fromkeys(f"{one:g} s" if one else "no time limit" for one in runs["time_limit"].fillna(0)))
    return [machines and f"{machines}.", f"{_ended(runs)}; limit of a run: {limits}."]


def _ended(runs):
    failed, reached = runs["failed"].sum(), runs["status"].isin(["converged", "gap-reached"]).sum()
    return f"{reached} of {len(runs)} runs reached their tolerance{f', {failed} failed' if failed else ''}"


def _order(rows, targets):
    """E.g. "prox-newton 3.1 s, owl-qn 40 s; not reached: sgd", for the smallest target that any solver reached and for
    which f* is exact enough."""
    first, accuracy = rows[0]["first"], rows[0]["accuracy"]
    what = f"{first['dataset']}, {penalty_symbols(first)}"
    for target in (one for one in reversed(targets) if not one < accuracy):
        name = tables.cost_name("seconds", target)
        ends = sorted((row["spreads"][name]["median"], row["spreads"][name + "_from"]["median"], i, row["solver"])
                      for i, row in enumerate(rows))
        reached = [f"{label} {f'{begin:.3g} to ' if is_wide(begin, end) else ''}{end:.3g} s"
                   for end, begin, _, label in ends if math.isfinite(end)]
        missed = [row["solver"] for row in rows if not math.isfinite(row["spreads"][name]["median"])]
        if reached:
            return (f"{what}, to (f − f*)/f* ≤ {target:g}: {', '.join(reached)}"
                    f"{'; not reached: ' if missed else ''}{', '.join(missed)}.")
    if targets[0] < accuracy or math.isnan(accuracy):
        return f"{what}: none can be told, f* is proven to a relative accuracy of {accuracy:.1e} only."
    return f"{what}: no solver reached (f − f*)/f* ≤ {targets[0]:g}."


def _orders(groups, targets):
    """The orders of the solvers that have comparable timings."""
    known = [[row for row in rows if row["timed"]] for rows in groups if targets]
    return [_order(rows, targets) for rows in known if len(rows) > 1]


# ---- parts of a section

def links(files, folder):
    """Links to those of the files that exist, relative to the page's folder."""
    from markupsafe import Markup

    real = os.path.realpath(folder)
    return Markup(" · ".join(
        f'<a href="{quote(os.path.relpath(os.path.realpath(file), real))}">{html.escape(os.path.basename(file))}</a>'
        for file in files if os.path.isfile(file)))


def _provenance(runs):
    """What all runs share, then the rest with a row per run."""
    names = [field["column"] for field in RUN if field["section"].startswith("provenance")]
    frame = runs[names].applymap(text_of).replace("", "-")
    same = frame.nunique() == 1
    common = [[name, frame[name].iloc[0]] for name in frame.columns[same] if frame[name].iloc[0] != "-"]
    rest = frame.loc[:, ~same]
    return (Table("The same for all runs", ["what", "value"], common, 2),
            Table("Different", ["run", *rest], list(map(list, rest.set_axis(runs["name"]).itertuples())),
                  1 + len(rest.columns)))


def _svgs(pictures):
    """The pictures as drawn by the figures' modules, as SVG in the page."""
    out = []
    for one in pictures:
        text = io.BytesIO()
        one.figure().savefig(text, format="svg", metadata={"Date": None})
        out.append(SimpleNamespace(svg=quote(text.getvalue().decode()), alt=one.whole_title))
    return out


def _parts(sweep, results):
    part = lambda heading, pictures, tables, folded=(): SimpleNamespace(  # noqa: E731
        heading=heading, pictures=_svgs(pictures), tables=tables, folded=folded)
    if len(sweep.paths):
        first, *points = paths.tables(sweep).tables
        yield part("Regularisation paths", paths.pictures(sweep, True) if len(sweep.path_points) else [], [first],
                   points)
    if (paths.grid(sweep).groupby(["dataset", "loss"])[["lambda", "mu"]].nunique() > 1).all(axis=1).any():
        yield part("Grids of λ × μ", paths.grid_pictures(sweep), [])
    if stored := theory.read(results):
        yield part("Theory", theory.pictures(stored), theory.tables(stored).tables)


def _has_curves(sweep):
    """Runs that only measure sizes have a start and an end, and no curve between them."""
    return any(len(np.unique(sweep.trace(i, "seconds"))) > 2 for i in sweep.single.index)


def _run_table(caption, runs, head, reason, notes=()):
    rows = runs.assign(reason=runs[reason].replace("", None).fillna("-"))[["name", *head[1:]]]
    return Table(caption, head, rows.to_numpy().tolist(), len(head), notes)


def _section(sweep, folder):
    shown, results, runs = sweep.presentation, sweep.folders[0], sweep.runs
    targets = shown.targets = sorted(shown.targets, reverse=True)
    sets = tables.results(sweep, [tables.PRINTED]) if len(sweep.single) else []
    groups = sets[-1].groups if sets else []
    id_ = file_name_part(shown.name or runs["experiment"].iloc[0])
    config = os.path.join(results, "config.ini")
    common, differing = _provenance(runs)
    files = [(what, links(entries_of(os.path.join(results, below)), folder))
             for what, below in (("Tables", "tables"), ("Figures for print", "figures"))]
    names, data = ("manifest.json", "path.csv", "trace.csv", "model.tsv"), _data_lines(runs)
    own = [links([os.path.join(run, name) for name in names], folder) for run in runs["folder"]]
    return SimpleNamespace(
        id=id_, heading=shown.paper.item or id_, title=shown.title, paper=shown.paper, data=data,
        warning=data_warnings([", ".join(data)]), made=_made(runs), ended=_ended(runs),
        order=_orders(groups, targets) if len(sets) == 1 else [],
        first_tables=[table for one in sets[:-1] for table in one.tables],
        charts=charts(sweep) if _has_curves(sweep) else None, parts=list(_parts(sweep, results)),
        failed=_run_table("Runs that failed", runs[runs["failed"]], ["run", "status", "reason"], "reason"),
        alone=_run_table("Timings that are not comparable", runs[~runs["comparable"]], ["run", "reason"],
                         "not_comparable_because",
                         ["Charts leave these runs out where they show seconds, and no order of the solvers counts "
                          "them."]),
        summaries=sets[-1].tables if sets else [],
        summaries_title="Times and ends of all runs" + (" of single penalties" if len(sweep.paths) else ""),
        runs=Table("Runs and their files", ["run", "status", "files"], list(zip(runs["name"], runs["status"], own)), 3),
        files=[one for one in files if one[1]], common=common, differing=differing,
        config=read_bytes(config).decode(errors="replace") if os.path.exists(config) else "")


# ---- the page

def _library():
    """dygraphs, of Debian's libjs-dygraphs or in the folder $PROXBENCH_DYGRAPHS."""
    folder = os.environ.get("PROXBENCH_DYGRAPHS") or "/usr/share/javascript/dygraphs"
    expected = ("the charting library dygraphs (Debian package libjs-dygraphs; scripts/install-deps), or its folder in "
                "PROXBENCH_DYGRAPHS")
    return [read_bytes(os.path.join(folder, name), expected).decode() for name in ("dygraph.min.js", "dygraph.min.css")]


def write_page(sweeps, out, title="Results", notes=()):
    """Writes the page about sweeps of one folder each."""
    from markupsafe import Markup, escape

    if os.path.isdir(out):
        raise UsageError(f"{out}: found a folder, expected the name of an HTML file")
    library, library_style = _library()
    page_folder = os.path.dirname(os.path.abspath(out))
    with style():
        sections = {}
        for sweep in sweeps:
            one = _section(sweep, page_folder)
            if one.id in sections:
                raise UsageError(f"{sweep.folders[0]}: found a second experiment named '{one.id}', expected each name "
                                 "once")
            sections[one.id] = one
    contents = Table("Contents", ["what", "title", "data", "runs"], [
        [Markup(f'<a href="#{escape(one.id)}">{escape(one.heading)}</a>'), one.title,
         Markup(f"<strong>{escape(one.warning)}</strong>" if one.warning else "") + one.data[0]
         + (f" and {len(one.data) - 1} more" if len(one.data) > 1 else ""), one.ended] for one in sections.values()], 4)
    script, look, licence = (read_bytes(os.path.join(WEB, name), "a file of the package").decode()
                             for name in ("report.js", "report.css", "dygraphs-licence.txt"))
    text = render("page.html", title=title, notes=notes, sections=list(sections.values()), contents=contents,
                  library=library, library_style=library_style, script=script, style=look, licence=licence)
    make_folder(page_folder)
    write_text(out, text)
