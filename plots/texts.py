"""Names of runs and numbers as texts; tables as Markdown, LaTeX, HTML, CSV and JSON."""
import json
import math
import os
from dataclasses import dataclass, field

import pandas as pd

from ..errors import UsageError
from ..fields import number_text
from ..files import make_folder, write_text
from ..records import penalty_text

WEB = os.path.join(os.path.dirname(os.path.realpath(__file__)), "web")


# ---- cells: "-" for NaN

def cell(value, form):
    """A number in a form of format(), or what a function makes of it."""
    if not isinstance(form, str):
        return form(value)
    return "-" if math.isnan(value) else "never" if math.isinf(value) else format(value, form)


def scientific(value):
    return "-" if math.isnan(value) else format(value, ".1e")


def count(value):
    return cell(value, ".0f" if not math.isfinite(value) or value == math.floor(value) else ".1f")


def percent(share, form=".1f"):
    return "-" if math.isnan(share) else f"{100 * share:{form}} %"


# ---- runs

def penalty_symbols(run):
    return penalty_text(run, 6).replace("lambda", "λ", 1).replace("mu", "μ", 1)


def data_warnings(descriptions, comparable=True):
    """What stands in bold before a title."""
    synthetic = ["synthetic" in (one or "").lower() for one in set(descriptions)]
    partly = "" if all(synthetic) else "PARTLY "
    return (f"{partly}SYNTHETIC DATA: " if any(synthetic) else "") + ("" if comparable else "NOT COMPARABLE: ")


def require_drawable(runs, costs, allow_not_comparable, instead="--allow-not-comparable, or x without seconds"):
    """Timings that are not comparable are shown only if that is allowed."""
    if not len(runs):
        raise UsageError("no runs to draw")
    names = runs["name"][~runs["comparable"]]
    if "seconds" in costs and len(names) and not allow_not_comparable:
        raise UsageError(f"the timings of {len(names)} of {len(runs)} runs are not comparable: {', '.join(names)}; "
                         f"expected {instead}")


# ---- records

def flat(record):
    """A record with its objects as members NAME and NAME_MEMBER."""
    out = {}
    for name, value in record.items():
        for i, (part, one) in enumerate(value.items() if isinstance(value, dict) else [("", value)]):
            out[f"{name}_{part}" if i else name] = one
    return out


def csv_text(frame):
    """Numbers in full precision; a field is empty if there is no value, and "inf" if a target was never reached."""
    words = frame.select_dtypes(bool).replace({True: "true", False: "false"})
    return frame.assign(**words).to_csv(index=False, float_format=number_text) if len(frame.columns) else ""


def json_text(value):
    """JSON has neither NaN nor infinity: null stands for them."""
    def plain(value):
        if isinstance(value, dict):
            return {name: plain(one) for name, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(one) for one in value]
        value = value.item() if hasattr(value, "item") else value
        return None if isinstance(value, float) and not math.isfinite(value) else value

    return json.dumps(plain(value), indent=2, ensure_ascii=False) + "\n"


# ---- tables

@dataclass
class Table:
    """Cells as a person reads them. "-" stands for a value that does not apply or an event that never happened."""

    caption: str
    head: list
    rows: list = field(default_factory=list)
    words: int = 1  # how many columns on the left hold words
    notes: list = field(default_factory=list)  # paragraphs above
    footnotes: list = field(default_factory=list)  # paragraphs below

    @classmethod
    def of(cls, caption, frame, columns, **more):
        """The rows of a frame. `columns`: the head of each, with the frame's column and its form as cell() takes it."""
        rows = [[cell(one[name], form) for name, form in columns.values()] for one in frame.to_dict("records")]
        return cls(caption, list(columns), rows, **more)


LATEX = str.maketrans({"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}", "<": r"\textless{}",
                       ">": r"\textgreater{}", **{c: "\\" + c for c in "&%$#_{}"}})


def one_line(text):
    return " ".join(str(text).splitlines())


def latex_text(text):
    return "--" if text == "-" else one_line(text).translate(LATEX)


def markdown_row(cells):
    return "".join(f"| {one_line(one)} " for one in (str(one).replace("|", r"\|") for one in cells)) + "|"


def render(template, **values):
    """A template of web/, in which all texts but Markup are escaped. Templates for LaTeX escape by themselves."""
    import jinja2

    env = jinja2.Environment(loader=jinja2.FileSystemLoader(WEB), autoescape=template.endswith(".html"),
                             keep_trailing_newline=True)
    env.filters.update(line=one_line, latex=latex_text, row=markdown_row)
    return env.get_template(template).render(**values)


TEMPLATES = {"md": "tables.md", "markdown": "tables.md", "latex": "tables.tex", "html": "tables.html"}
FILES = {"md": "md", "tex": "latex", "csv": "csv"}  # extension and form of the files


@dataclass
class TableSet:
    """Tables of one kind for people, and the same content as records for programs."""

    name: str  # of the files, without extension
    title: str
    tables: list
    records: list = field(default_factory=list)
    more: list = None  # what --json gets if it is more than the records
    groups: list = None  # of a summary: its rows, by table

    def text(self, form):
        if form in TEMPLATES:
            return render(TEMPLATES[form], title=self.title, all=self.tables)
        return json_text(self.records) if form == "json" else csv_text(self.frame())

    def frame(self):
        return pd.DataFrame([flat(record) for record in self.records])

    def write(self, folder):
        make_folder(folder)
        for extension, form in FILES.items():
            write_text(os.path.join(folder, f"{self.name}.{extension}"), self.text(form))
