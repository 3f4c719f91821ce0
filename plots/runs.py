"""Names and groups of runs, as tables and figures show them."""
from ..errors import UsageError
from ..fields import number_text


def grouped(runs, key):
    """Lists of runs by key, in the order in which keys first occur."""
    groups = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    return groups


def several_machines(runs):
    return len({run["machine"] for run in runs}) > 1


def machine_name(run):
    return run["machine"] or "unknown machine"


def shown_label(run):
    return run["label"] + (f" [{run['trainer']}]" if run["trainer"] else "")


def series_name(run, machines):
    return shown_label(run) + (f" @ {machine_name(run)}" if machines else "")


def status(run):
    return run["status"] or ""


def reached_tolerance(run):
    return run["status"] in ("converged", "gap-reached")


def number(value, digits=None):
    """The shortest text of a number, or with so many digits."""
    return number_text(float(value if digits is None else f"{value:.{digits}g}"))


def penalty_text(run, digits=None):
    """E.g. "lambda = 1, mu = 0.1", "lambda = path(max, 50, 50), mu = 0.1" or "hinge, mu = 1"."""
    show = lambda value: number(value, digits)  # noqa: E731
    if run["path"]:
        of, fixed = (run["path_of"], "lambda" if run["path_of"] == "mu" else "mu")
        parts = [f"{of} = {run['path']}"] + ([f"{fixed} = {show(run['_' + fixed])}"] if run["_" + fixed] else [])
        return ", ".join(reversed(parts) if of == "mu" else parts)
    parts = [f"{name} = {show(run['_' + name])}" for name in ("lambda", "mu") if run["_" + name] or (
        name == "lambda" and not run["_mu"])]
    return ", ".join(([run["loss_text"]] if run["loss_text"] != "log" else []) + parts)


def penalty_symbols(run):
    return penalty_text(run, 6).replace("lambda", "λ", 1).replace("mu", "μ", 1)


def says_synthetic(description):
    return "synthetic" in (description or "").lower()


def data_warnings(description, comparable=True):
    return ("SYNTHETIC DATA: " if says_synthetic(description) else "") + ("" if comparable else "NOT COMPARABLE: ")


def require_drawable(runs, costs, allow_not_comparable, instead="--allow-not-comparable, or x without seconds"):
    """Timings that are not comparable are shown only if that is allowed."""
    if not runs:
        raise UsageError("no runs to draw")
    names = [run["name"] for run in runs if not run["comparable"]]
    if "seconds" in costs and names and not allow_not_comparable:
        raise UsageError(f"the timings of {len(names)} of {len(runs)} runs are not comparable: {', '.join(names)}; "
                         f"expected {instead}")
