"""What config.ini says about tables, figures and pages: its sections [experiment], [plot] and [paper]."""
import math
import os
import re
from types import SimpleNamespace

from .errors import ProxbenchError, UsageError, require_known
from .fields import TABLES, config_key


def choices(section, name):
    constraint = config_key(section, name)["constraint"]
    return constraint[len("one of "):].split(", ") if constraint.startswith("one of ") else []


def split_list(text):
    """The parts between commas outside parentheses."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text)] if text.strip() else []


def _number(text, key, where):
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    least, below, most = re.fullmatch(r"(?:(\S+) (<=?) )?\w+(?: <=? (\S+))?|any .*", key["constraint"]).groups()
    low, high = float(least or "-inf"), float(most or "inf")
    if not (math.isfinite(value) and low <= value <= high) or below == "<" and value == low:
        raise UsageError(f"{where}: found '{text}', expected a {key['type']}, {key['constraint']}")
    return int(value) if key["type"] == "integer" else value


def parse(section, name, text, where):
    """The value of a key of a config, of the type that the program's table gives it."""
    key = config_key(section, name)

    def one(part):
        if key["type"] in ("real", "integer"):
            return _number(part, key, where)
        if key["type"] == "bool":
            require_known(where, part.lower(), ["true", "false"])
            return part.lower() == "true"
        if choices(section, name):
            require_known(where, part, choices(section, name))
        return part

    return [one(part) for part in split_list(text)] if key["list"] else one(text)


def read_ini(file):
    """{section: {key: text}} of the config of stored results, which the program writes without includes, and
    {(section, key): line}."""
    sections, lines, name = {}, {}, None
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            for number, line in enumerate(text, 1):
                line = re.sub(r"(^|\s)[#;].*", "", line).strip()
                key, equals, value = (part.strip() for part in line.partition("="))
                if re.fullmatch(r"\[.*\]", line):
                    name = line[1:-1].strip()
                    sections.setdefault(name, {})
                elif equals and name is not None:
                    sections[name][key], lines[name, key] = value, number
                elif line:
                    raise UsageError(f"{file}:{number}: found '{line}', expected [section] or key = value")
    except OSError:
        raise UsageError(f"{file}: cannot be read, expected a config file") from None
    if "experiment" not in sections:
        raise UsageError(f"{file}: no section [experiment], expected it with at least name and lambda")
    return sections, lines


class Presentation:
    """The choices of a config for its tables and figures; the defaults if there is none. `plot` and `paper` have a
    member for each key of their sections, `labels` and `datasets` are what the config asks for. `allow`: timings that
    are not comparable are shown, too."""

    allow = False

    def __init__(self, file=None):
        sections, lines = read_ini(file) if file is not None and os.path.exists(file) else ({}, {})

        def place(section, name):
            return f"{file}:{lines.get((section, name), 1)}: [{section}] {name}"

        def value(section, name):
            key, text = config_key(section, name), sections.get(section, {}).get(name)
            if text is None and not key["default"] and not key["list"]:
                return False if key["type"] == "bool" else ""
            return parse(section, name, key["default"] if text is None else text, place(section, name))

        self.plot, self.paper = (SimpleNamespace(**{key["name"]: value(part, key["name"])
                                                    for key in TABLES["config"][part]})
                                 for part in ("plot", "paper"))
        experiment, chosen = sections.get("experiment", {}), sections.get("plot", {})
        self.name, self.targets = experiment.get("name", ""), value("experiment", "targets")
        self.title = experiment.get("title") or self.name
        named = {kind: {name.partition(".")[2] or keys.get("format", ""): keys for name, keys in sections.items()
                        if name.partition(".")[0] == kind} for kind in ("data", "solver")}
        self.labels, self.datasets = list(named["solver"]), list(named["data"])
        self.sources = {name: str({key: text for key, text in keys.items() if key != "seed"})
                        for name, keys in named["data"].items()}
        lambdas, mus = (split_list(experiment.get(name, "")) for name in ("lambda", "mu"))
        paths = [one for one in lambdas + mus if one.startswith("path(")]
        if paths and "kinds" not in chosen:
            self.plot.kinds = (["curves"] if set(lambdas) - set(paths) and not set(mus) & set(paths) else []) + ["path"]
        self.plot.kinds = self.plot.kinds or ["curves"]
        if experiment.get("reference") == "none":
            self.targets = []
            if "quantities" not in chosen:
                self.plot.quantities = ["nnz", "accuracy"]
        if self.plot.x_max and len(self.plot.x_max) != len(self.plot.x):
            raise ProxbenchError(f"{place('plot', 'x_max')}: found {len(self.plot.x_max)} numbers, expected one for "
                                 f"each of x = {', '.join(self.plot.x)}")
