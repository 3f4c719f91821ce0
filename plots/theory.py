"""How solvers converge by the theory of Zhong et al. (2014), from theory.json, which scripts/theory makes."""
import json
import math
import os

import numpy as np
import pandas as pd

from ..errors import in_file
from ..fields import number_text
from ..files import file_name_part
from ..records import read_bytes
from .figure import Picture, line_style, log_axis, plain_label
from .texts import Table, TableSet, count, data_warnings, scientific

TAIL, EXACT = 10, 1e-9  # an arm's end: its last iterations whose error is above this share of the first
QUANTITIES = {"error": "error eₜ", "ratio": "eₜ / eₜ₋₁", "dennis_more": "Dennis-Moré ratio"}
COLUMNS = ["iteration", "passes", "nnz", "order", *QUANTITIES]
EXPECTED = "figures as scripts/theory makes them"


def read(folder, required=False):
    """The problems of FOLDER/theory.json, the iterations of each arm as a frame; none if there is no such file."""
    file = os.path.join(folder, "theory.json")
    problems = []
    try:
        if os.path.exists(file):
            problems = json.loads(read_bytes(file, EXPECTED))["problems"]
        for problem in problems:
            problem["title"] = f"{problem['dataset']}, λ = {number_text(problem['lambda'])}"
            problem["optimum"], problem["description"]
            for arm in problem["arms"]:
                arm["iterations"] = pd.DataFrame(arm["iterations"], columns=COLUMNS, dtype=float)
                arm["label"], arm["support_settled_at"], arm["unit_steps"], arm["steps_since"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise in_file(file, 0, f"{type(error).__name__} {error}", EXPECTED) from None
    if required and not problems:
        raise in_file(folder, 0, "no theory.json with a problem", "one, as scripts/theory makes it")
    return problems


def _number(value):
    return math.nan if value is None else value


def _record(problem, arm):
    """The end of an arm: the geometric mean of the ratios and the upper medians of the other measures over its tail."""
    every = arm["iterations"]
    error = every["error"]
    tail = every[(error > EXACT * error.iloc[:1].sum()) & np.isfinite(every["ratio"])].tail(TAIL)
    median = lambda name: tail[name].quantile(interpolation="higher")  # noqa: E731
    return {"problem": problem["title"], "arm": arm["label"], "iterations": len(every),
            "passes": every["passes"].iloc[-1] if len(every) else math.nan,
            "support_settled_at": _number(arm["support_settled_at"]), "unit_steps": arm["unit_steps"],
            "steps_since": arm["steps_since"], "error": error.iloc[-1] / error.iloc[0] if len(every) else math.nan,
            "ratio": float(np.exp(np.log(tail["ratio"]).mean())), "order": median("order"),
            "dennis_more": median("dennis_more")}


def tables(problems):
    """The arms' convergence, and the Hessians at the optima."""
    records = [_record(problem, arm) for problem in problems for arm in problem["arms"]]
    unit = [f"{one['unit_steps']} of {one['steps_since']}" for one in records]
    arms = Table.of("How the arms converge (Theorem 1)", pd.DataFrame(records).assign(unit=unit), {
        "problem": ("problem", str), "arm": ("arm", str), "iterations": ("iterations", str),
        "passes": ("passes", count),
        "support settles": ("support_settled_at", lambda value: count(value).replace("-", "never")),
        "unit steps since": ("unit", str),
        "error, end / start": ("error", scientific), "ratio": ("ratio", ".3f"), "order": ("order", ".2f"),
        "Dennis-Moré": ("dennis_more", scientific)}, words=2, notes=[
            f"The ratio is the geometric mean of e_t / e_{{t-1}}, order and Dennis-Moré ratio are medians, over the "
            f"last {TAIL} iterations whose error is above {EXACT:g} of the first."])
    optima = Table("The Hessian at the optimum (Theorem 3)",
                   ["problem", "nonzeros", "rank", "smallest", "largest", "v", "‖Hv‖ / ‖v‖"], [], 1,
                   ["On the face of the nonzero weights: rank, and the eigenvalues above rounding. Then how much the "
                    "Hessian stretches vectors, ‖Hv‖ / ‖v‖."])
    for problem in problems:
        face = problem.get("face", {})
        row = [problem["title"], count(_number(problem["optimum"].get("nnz"))), count(_number(face.get("rank"))),
               *(scientific(_number(face.get(name))) for name in ("smallest", "largest"))]
        for what, stretch in sorted(problem.get("stretch", {}).items()) or [("-", None)]:
            optima.rows.append([*row, what, scientific(_number(stretch))])
            row = [""] * len(row)
    return TableSet("theory", "", [arms, optima], records)


def _picture(problem):
    arms = [(arm["label"], arm["iterations"]) for arm in problem["arms"]]
    shown = [name for name in QUANTITIES if any((every[name] > 0).any() for _, every in arms)]

    def draw(axes):
        for ax, name in zip(axes, shown):
            for i, (label, every) in enumerate(arms):
                ax.plot(every["iteration"], every[name], label=plain_label(label), **{**line_style(i), "markersize": 3})
            ax.set(yscale="log", ylabel=QUANTITIES[name])
            log_axis(ax.yaxis)
        axes[-1].set_xlabel("iteration")

    rows = pd.concat([every[["iteration", *QUANTITIES, "nnz"]].assign(arm=label) for label, every in arms])
    return Picture(file_name_part(f"theory-{problem['dataset']}-{number_text(problem['lambda'])}"), problem["title"],
                   draw, rows[["arm", "iteration", *QUANTITIES, "nnz"]], data_warnings([problem["description"]]),
                   subtitle=problem["description"], layout=[[name] for name in shown] or [["a"]],
                   height=0.25 * max(len(shown), 1) + 0.05)


def pictures(problems):
    return [_picture(problem) for problem in problems]
