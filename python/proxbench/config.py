"""What config.ini says about tables, figures and pages: its sections [experiment], [plot] and [paper]."""
import math
import re
from types import SimpleNamespace

from .errors import Error, UsageError, require_known
from .fields import TABLES, config_key
from .files import read_text


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
        raise UsageError.at(where, f"'{text}'", f"a {key['type']}, {key['constraint']}")
    return int(value) if key["type"] == "integer" else value


def parse(section, name, text, where):
    """The value of a key of a config, of the type that the program's table gives it."""
    key, named = config_key(section, name), choices(section, name)

    def one(part):
        if key["type"] in ("real", "integer"):
            return _number(part, key, where)
        if key["type"] == "bool":
            require_known(where, part.lower(), ["true", "false"])
            return part.lower() == "true"
        if named:
            require_known(where, part, named)
        return part

    return [one(part) for part in split_list(text)] if key["list"] else one(text)


def read_ini(file):
    """{section: {key: text}} of the config of stored results, which the program writes without includes, and the place
    of each (section, key) for messages."""
    sections, places, name = {}, {}, None
    for number, line in enumerate(read_text(file, "a config file").splitlines(), 1):
        line = re.sub(r"(^|\s)[#;].*", "", line).strip()
        key, equals, value = (part.strip() for part in line.partition("="))
        if re.fullmatch(r"\[.*\]", line):
            name = line[1:-1].strip()
            sections.setdefault(name, {})
        elif equals and name is not None:
            sections[name][key], places[name, key] = value, f"{file}:{number}: [{name}] {key}"
        elif line:
            raise UsageError.at(f"{file}:{number}", f"'{line}'", "[section] or key = value")
    if "experiment" not in sections:
        raise UsageError.at(file, "no section [experiment]", "it with at least name and lambda")
    return sections, places


class Config:
    """The choices of a config for its tables and figures; the defaults if there is no such file. `flags` have texts for
    its keys, {(section, key): (text, flag)}, that go before its own. `plot` and `paper` have a member for each key of
    their sections; `labels` and `datasets` are what the config asks for. `allow`: timings that are not comparable are
    shown, too."""

    def __init__(self, file, flags=None, allow=False):
        sections, places = read_ini(file) if file.exists() else ({}, {})
        experiment, plot = (sections.setdefault(name, {}) for name in ("experiment", "plot"))
        lambdas, mus = (set(split_list(experiment.get(name, ""))) for name in ("lambda", "mu"))
        if paths := {one for one in lambdas | mus if one.startswith("path(")}:
            plot.setdefault("kinds", "curves, path" if lambdas - paths and not mus & paths else "path")
        if experiment.get("reference") == "none":
            experiment["targets"] = ""
            plot.setdefault("quantities", "nnz, accuracy")
        for (section, name), (text, flag) in (flags or {}).items():
            sections[section][name], places[section, name] = text, flag
            if name == "x":
                plot["x_max"] = ""  # the config's limits hold for its own axes

        def value(section, key):
            text = sections.get(section, {}).get(key["name"], key["default"])
            return parse(section, key["name"], text, places.get((section, key["name"])))

        self.allow, self.plot, self.paper = allow, *(
            SimpleNamespace(**{key["name"]: value(part, key) for key in TABLES["config"][part]})
            for part in ("plot", "paper"))
        self.targets = value("experiment", config_key("experiment", "targets"))
        self.name = experiment.get("name", "")
        self.title = experiment.get("title") or self.name
        named = {kind: {name.partition(".")[2] or keys.get("format", ""): keys for name, keys in sections.items()
                        if name.partition(".")[0] == kind} for kind in ("data", "solver")}
        self.labels, self.datasets = list(named["solver"]), list(named["data"])
        self.sources = {name: str({key: text for key, text in keys.items() if key != "seed"})
                        for name, keys in named["data"].items()}
        self.plot.kinds = self.plot.kinds or ["curves"]
        if self.plot.x_max and len(self.plot.x_max) != len(self.plot.x):
            raise Error.at(places["plot", "x_max"], f"{len(self.plot.x_max)} numbers",
                           f"one for each of x = {', '.join(self.plot.x)}")
