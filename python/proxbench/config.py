"""What config.ini says about tables, figures and pages: its sections [experiment], [plot] and [paper]."""
import configparser
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
    """{section: {key: text}} of the config of stored results, which the program writes without includes."""
    ini = configparser.RawConfigParser(delimiters="=", comment_prefixes="#;", inline_comment_prefixes="#;",
                                       strict=False, default_section=None)
    ini.optionxform = str
    try:
        with open(file, encoding="utf-8", errors="replace") as text:
            ini.read_string("\n".join(map(str.strip, text)), os.fspath(file))
    except OSError:
        raise UsageError(f"{file}: cannot be read, expected a config file") from None
    except configparser.Error as error:
        raise UsageError(f"{file}: {' '.join(str(error).split())}; expected [section] or key = value") from None
    if not ini.has_section("experiment"):
        raise UsageError(f"{file}: no section [experiment], expected it with at least name and lambda")
    return {name: dict(ini[name]) for name in ini.sections()}


class Presentation:
    """The choices of a config for its tables and figures; the defaults if there is none. `plot` and `paper` have a
    member for each key of their sections, `labels` and `datasets` are what the config asks for."""

    def __init__(self, file=None):
        sections = read_ini(file) if file is not None and os.path.exists(file) else {}

        def value(section, name):
            key, text = config_key(section, name), sections.get(section, {}).get(name)
            if text is None and not key["default"] and not key["list"]:
                return False if key["type"] == "bool" else ""
            return parse(section, name, key["default"] if text is None else text, f"{file}: [{section}] {name}")

        self.plot, self.paper = (SimpleNamespace(**{key["name"]: value(part, key["name"])
                                                    for key in TABLES["config"][part]})
                                 for part in ("plot", "paper"))
        self.plot.kinds = self.plot.kinds or ["curves"]
        experiment = sections.get("experiment", {})
        self.name, self.targets = experiment.get("name", ""), value("experiment", "targets")
        self.title = experiment.get("title") or self.name
        self.labels = [name.partition(".")[2] for name in sections if name.startswith("solver.")]
        data = {name.partition(".")[2] or keys.get("format", ""): keys for name, keys in sections.items()
                if name.partition(".")[0] == "data"}
        self.datasets = list(data)
        self.sources = {name: str({key: text for key, text in keys.items() if key != "seed"})
                        for name, keys in data.items()}
        chosen = sections.get("plot", {})
        penalties = [split_list(experiment.get(name, "")) for name in ("lambda", "mu")]
        lambdas, mus = ([one for one in part if one.startswith("path(")] for part in penalties)
        if (lambdas or mus) and "kinds" not in chosen:
            self.plot.kinds = (["curves"] if not mus and len(lambdas) < len(penalties[0]) else []) + ["path"]
        if experiment.get("reference") == "none":
            self.targets = []
            if "quantities" not in chosen:
                self.plot.quantities = ["nnz", "accuracy"]
        if self.plot.x_max and len(self.plot.x_max) != len(self.plot.x):
            raise ProxbenchError(f"{file}: [plot] x_max: found {len(self.plot.x_max)} numbers, "
                                 f"expected one for each of x = {', '.join(self.plot.x)}")
