"""How solvers converge by the theory of Zhong et al. (2014), from theory.json, which scripts/theory makes."""
import numpy as np
import pandas as pd

from ..errors import Error
from ..fields import number_text
from ..files import read_json
from .figure import Picture, draw_lines, line_style
from .texts import Table, TableSet

TAIL, EXACT = 10, 1e-9  # an arm's end: its last iterations whose error is above this share of the first
QUANTITIES = {"error": "error eₜ", "ratio": "eₜ / eₜ₋₁", "dennis_more": "Dennis-Moré ratio"}
COLUMNS = ["iteration", "passes", "nnz", "order", *QUANTITIES]
EXPECTED = "figures as scripts/theory makes them"


def read(folder, required=False):
    """The problems of FOLDER/theory.json, the iterations of each arm as a frame; none if there is no such file."""
    file, problems = folder / "theory.json", []
    try:
        if required or file.exists():
            problems = read_json(file, EXPECTED)["problems"]
        for problem in problems:
            problem["title"] = f"{problem['dataset']}, λ = {number_text(problem['lambda'])}"
            problem["optimum"], problem["description"]
            for arm in problem["arms"]:
                arm["iterations"] = pd.DataFrame(arm["iterations"], columns=COLUMNS, dtype=float)
                arm["label"], arm["support_settled_at"], arm["unit_steps"], arm["steps_since"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise Error.at(file, f"{type(error).__name__} {error}", EXPECTED) from None
    if required and not any(problem["arms"] for problem in problems):
        raise Error.at(file, "no problem with an arm", EXPECTED)
    return problems


def _record(problem, arm):
    """The end of an arm: the geometric mean of the ratios and the upper medians of the other measures over its tail."""
    every = arm["iterations"]
    first, last = (every.iloc[at].squeeze() if len(every) else every.max() for at in ([0], [-1]))
    tail = every[(every.error > EXACT * first["error"]) & np.isfinite(every.ratio)].tail(TAIL)
    medians = tail[["order", "dennis_more"]].quantile(interpolation="higher")
    return {"problem": problem["title"], "arm": arm["label"], "iterations": len(every), "passes": last["passes"],
            **{name: arm[name] for name in ("support_settled_at", "unit_steps", "steps_since")},
            "error": last["error"] / first["error"], "ratio": float(np.exp(np.log(tail.ratio).mean())), **medians}


def tables(sweep):
    """The arms' convergence, and the Hessians at the optima."""
    problems = read(sweep.folders[0], True)
    rows = pd.DataFrame([_record(problem, arm) for problem in problems for arm in problem["arms"]]).astype(
        {"support_settled_at": float})
    unit = rows.unit_steps.astype(str) + " of " + rows.steps_since.astype(str)
    arms = Table.of("arms", rows.assign(unit=unit), tail=TAIL, exact=EXACT)
    hessians = [{"problem": problem["title"], "nnz": problem["optimum"].get("nnz"), **problem.get("face", {}),
                 "v": v, "stretch": stretch} for problem in problems
                for v, stretch in sorted(problem.get("stretch", {}).items()) or [("-", None)]]
    names = ["nnz", "rank", "smallest", "largest", "stretch"]
    hessians = pd.DataFrame(hessians, columns=["problem", "v", *names]).astype(dict.fromkeys(names, float))
    return TableSet("theory", "", [arms, Table.of("hessians", hessians)], rows)


def _picture(problem):
    rows = pd.concat([arm["iterations"].assign(arm=arm["label"]) for arm in problem["arms"]])
    shown = [name for name in QUANTITIES if (rows[name] > 0).any()] or ["error"]

    def draw(*axes):
        for ax, name in zip(axes, shown):
            draw_lines(ax, rows, "iteration", name, "arm", {
                label: {**line_style(i), "markersize": 3} for i, label in enumerate(rows.arm.unique())})
            ax.set(yscale="log", ylabel=QUANTITIES[name])
        axes[-1].set_xlabel("iteration")

    return Picture(f"theory-{problem['dataset']}-{number_text(problem['lambda'])}", problem["title"],
                   draw, rows[["arm", "iteration", *QUANTITIES, "nnz"]], problem["description"],
                   layout=[[name] for name in shown], height=0.25 * len(shown) + 0.05)


def pictures(sweep):
    return [_picture(problem) for problem in read(sweep.folders[0], True) if problem["arms"]]
