"""How solvers converge by the theory of Zhong et al. (2014), from theory.json, which scripts/theory makes."""
import json
import math
import os

from ..errors import in_file
from ..files import file_name_part
from ..records import read_bytes
from .figure import Picture, line_style, log_axis, plain_label
from .runs import data_warnings, number
from .texts import Table, TableSet, count, fixed, scientific

TAIL, EXACT = 10, 1e-9  # an arm's end: its last iterations whose error is above this share of the first
QUANTITIES = [("error", "error eₜ"), ("ratio", "eₜ / eₜ₋₁"), ("dennis_more", "Dennis-Moré ratio")]
EXPECTED = "what scripts/theory makes"


def read(folder, required=False):
    """The problems of FOLDER/theory.json; none if there is no such file."""
    file = os.path.join(folder, "theory.json")
    if not os.path.exists(file) and not required:
        return []
    if not os.path.exists(file):
        raise in_file(folder, 0, "no theory.json with a problem", "one, as scripts/theory makes it")
    try:
        problems = json.loads(read_bytes(file, EXPECTED))["problems"]
        for problem in problems:
            for name in ("dataset", "description", "lambda", "optimum"):
                problem[name]
            problem.setdefault("stretch", {})
            problem.setdefault("face", {})
            for arm in problem["arms"]:
                for at in arm["iterations"]:
                    at.update({name: math.nan for name in at if at[name] is None})
                [arm[name] for name in ("label", "support_settled_at", "unit_steps", "steps_since")]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise in_file(file, 0, f"{type(error).__name__} {error}", "figures as scripts/theory makes them") from None
    if required and not problems:
        raise in_file(folder, 0, "no theory.json with a problem", "one, as scripts/theory makes it")
    return problems


def _name(problem):
    return f"{problem['dataset']}, λ = {number(problem['lambda'])}"


def _tail(iterations):
    kept = [at for at in reversed(iterations) if at["error"] > EXACT * iterations[0]["error"]
            and math.isfinite(at["ratio"])]
    return kept[:TAIL]


def _median(iterations, name):
    """The upper one of two middle values."""
    values = sorted(at[name] for at in iterations if math.isfinite(at[name]))
    return values[len(values) // 2] if values else math.nan


def _mean_ratio(iterations):
    return math.exp(sum(math.log(at["ratio"]) for at in iterations) / len(iterations)) if iterations else math.nan


def tables(problems):
    """The arms' convergence, and the Hessians at the optima."""
    known = lambda of, name: math.nan if of.get(name) is None else of[name]  # noqa: E731
    arms = Table("How the arms converge (Theorem 1)",
                 ["problem", "arm", "iterations", "passes", "support settles", "unit steps since", "error, end / start",
                  "ratio", "order", "Dennis-Moré"], [], 2,
                 [f"The ratio is the geometric mean of e_t / e_{{t-1}}, order and Dennis-Moré ratio are medians, over the "
                  f"last {TAIL} iterations whose error is above {EXACT:g} of the first."])
    optima = Table("The Hessian at the optimum (Theorem 3)",
                   ["problem", "nonzeros", "rank", "smallest", "largest", "v", "‖Hv‖ / ‖v‖"], [], 1,
                   ["On the face of the nonzero weights: rank, and the eigenvalues above rounding. Then how much the "
                    "Hessian stretches vectors, ‖Hv‖ / ‖v‖."])
    out = TableSet("theory", "", [arms, optima])
    for problem in problems:
        for arm in problem["arms"]:
            every, tail = arm["iterations"], _tail(arm["iterations"])
            settled = known(arm, "support_settled_at")
            record = {"problem": _name(problem), "arm": arm["label"], "iterations": len(every),
                      "passes": every[-1]["passes"] if every else math.nan, "support_settled_at": settled,
                      "unit_steps": arm["unit_steps"], "steps_since": arm["steps_since"],
                      "error": every[-1]["error"] / every[0]["error"] if every else math.nan,
                      "ratio": _mean_ratio(tail), "order": _median(tail, "order"),
                      "dennis_more": _median(tail, "dennis_more")}
            out.records.append(record)
            arms.rows.append([_name(problem), arm["label"], str(len(every)), count(record["passes"]),
                              "never" if math.isnan(settled) else count(settled),
                              f"{arm['unit_steps']} of {arm['steps_since']}", scientific(record["error"]),
                              fixed(3)(record["ratio"]), fixed(2)(record["order"]), scientific(record["dennis_more"])])
        face = problem["face"]
        row = [_name(problem), count(known(problem["optimum"], "nnz")), count(known(face, "rank")),
               scientific(known(face, "smallest")), scientific(known(face, "largest"))]
        for what, stretch in sorted(problem["stretch"].items()) or [("-", None)]:
            optima.rows.append([*row, what, scientific(math.nan if stretch is None else stretch)])
            row = [""] * 5
    return out


def _picture(problem):
    shown = [(name, label) for name, label in QUANTITIES
             if any(at[name] > 0 for arm in problem["arms"] for at in arm["iterations"])]

    def draw(axes):
        for ax, (name, label) in zip(axes, shown):
            for i, arm in enumerate(problem["arms"]):
                points = [(at["iteration"], at[name]) for at in arm["iterations"]]
                ax.plot(*zip(*points) if points else ([], []), label=plain_label(arm["label"]), markersize=3,
                        **line_style(i))
            ax.set(yscale="log", ylabel=label)
            log_axis(ax.yaxis)
        axes[-1].set_xlabel("iteration")

    head = ["arm", "iteration", "error", "ratio", "dennis_more", "nnz"]
    rows = [{"arm": arm["label"], **{name: at[name] for name in head[1:]}}
            for arm in problem["arms"] for at in arm["iterations"]]
    return Picture(file_name_part(f"theory-{problem['dataset']}-{number(problem['lambda'])}"), _name(problem), draw, rows,
                   head, data_warnings(problem["description"]), subtitle=problem["description"],
                   layout=[[name] for name, _ in shown] or [["a"]], height=0.25 * max(len(shown), 1) + 0.05)


def pictures(problems):
    return [_picture(problem) for problem in problems]
