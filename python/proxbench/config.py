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
    good = math.isfinite(value) and not (most and value > float(most))
    if good and least:
        good = value > float(least) or (below == "<=" and value == float(least))
    if not good:
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
    """{section: {key: (value, line)}} of a config, with its includes first."""
    sections = {}

    def read(name, inside=()):
        try:
            with open(name, encoding="utf-8", errors="replace") as text:
                lines = text.read().splitlines()
        except OSError:
            raise UsageError(f"{name}: cannot be read, expected a config file") from None
        if os.path.realpath(name) in inside:
            raise UsageError(f"{name}: includes itself, expected no file that does")
        section, at = None, 0
        while at < len(lines):
            begin, line = at + 1, ""
            while True:  # a backslash at the end continues the line
                part = re.split(r"(?:^|\s)[#;]", lines[at])[0].strip()
                at += 1
                line = f"{line} {part.removesuffix(chr(92)).strip()}".strip()
                if not part.endswith("\\") or at == len(lines):
                    break
            if not line:
                continue
            key, equals, value = (part.strip() for part in line.partition("="))
            if line.startswith("[") and line.endswith("]"):
                section = sections.setdefault(line[1:-1].strip(), {})
            elif not equals or (section is None and key != "include"):
                raise UsageError(f"{name}:{begin}: found '{line}', expected [section] or key = value")
            elif section is None:
                for other in split_list(value):
                    read(os.path.join(os.path.dirname(name), other), (*inside, os.path.realpath(name)))
            else:
                section[key] = (value, f"{name}:{begin}")

    read(os.fspath(file))
    return sections


def _defaults(section):
    values = {}
    for key in TABLES["config"][section]:
        name, text = key["name"], key["default"]
        values[name] = parse(section, name, text, name) if text or key["list"] else (
            False if key["type"] == "bool" else "")
    return SimpleNamespace(**values)


class Presentation:
    """The choices of a config for its tables and figures; the defaults if there is none."""

    def __init__(self, file=None):
        self.plot, self.paper = _defaults("plot"), _defaults("paper")
        self.plot.kinds = self.plot.kinds or ["curves"]
        self.plot.with_start = False
        self.name = self.title = ""
        self.targets = parse("experiment", "targets", config_key("experiment", "targets")["default"], "targets")
        self.datasets, self.labels, self.sources = [], [], {}
        if file is not None and os.path.exists(file):
            self._read(read_ini(file), file)

    def _read(self, sections, file):
        if "experiment" not in sections:
            raise UsageError(f"{file}: no section [experiment], expected it with at least name and lambda")
        experiment = sections["experiment"]
        for part in ("plot", "paper"):
            known = [key["name"] for key in TABLES["config"][part]]
            for name, (value, where) in sections.get(part, {}).items():
                if name in known:
                    setattr(getattr(self, part), name, parse(part, name, value, f"{where}: [{part}] {name}"))
        self.name = experiment.get("name", ("",))[0]
        self.title = experiment.get("title", ("",))[0] or self.name
        if "targets" in experiment:
            value, where = experiment["targets"]
            self.targets = parse("experiment", "targets", value, f"{where}: [experiment] targets")
        for name, entries in sections.items():
            kind, _, label = name.partition(".")
            if kind == "solver" and label:
                self.labels.append(label)
            if kind == "data":
                name = label or entries.get("format", ("",))[0]
                self.datasets.append(name)
                self.sources[name] = "".join(f"{k}={v}\n" for k, (v, _) in entries.items() if k != "seed")
        penalties = [split_list(experiment.get(key, ("",))[0]) for key in ("lambda", "mu")]
        path = [[one for one in part if one.startswith("path(")] for part in penalties]
        if any(path) and "kinds" not in sections.get("plot", {}):
            singles = not path[1] and len(path[0]) < len(penalties[0])
            self.plot.kinds = (self.plot.kinds if singles else []) + ["path"]
        if experiment.get("reference", ("run",))[0] == "none":
            self.targets = []
            if "quantities" not in sections.get("plot", {}):
                self.plot.quantities = ["nnz", "accuracy"]
        if self.plot.x_max and len(self.plot.x_max) != len(self.plot.x):
            raise ProxbenchError(f"{file}: [plot] x_max: found {len(self.plot.x_max)} numbers, "
                                 f"expected one for each of x = {', '.join(self.plot.x)}")
