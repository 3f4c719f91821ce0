"""Numbers, names and warnings as texts; tables as Markdown, LaTeX, HTML, CSV and JSON."""
import json
import math
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from pathlib import Path

import pandas as pd

from ..fields import number_text
from ..files import write_text
from ..records import penalty_text
from .times import seconds_text

WEB = Path(__file__).with_name("web")
DECLARED = json.loads(WEB.with_name("columns.json").read_bytes())


def cell(value, form=""):
    """A value as tables show it. `form` is as format() takes it, "" for a text, or a name in FORMS."""
    if form in FORMS:
        return FORMS[form](value)
    if isinstance(value, float) and not math.isfinite(value):
        return "-" if math.isnan(value) else "never"
    return format(value, form)


def count(value):
    return cell(value, ".1f" if value % 1 > 0 else ".0f")


FORMS = {"count": count, "seconds": seconds_text, "text": lambda text: text or "-"}


def penalty_symbols(run):
    return penalty_text(run, 6).replace("lambda", "λ", 1).replace("mu", "μ", 1)


def data_warnings(descriptions, comparable=True):
    """The bold words before a title."""
    synthetic = ["synthetic" in (one or "").lower() for one in descriptions]
    partly = "" if all(synthetic) else "PARTLY "
    return (f"{partly}SYNTHETIC DATA: " if any(synthetic) else "") + ("" if comparable else "NOT COMPARABLE: ")


def csv_text(frame):
    """Numbers in full precision; a field is empty if there is no value, and "inf" if a target was never reached."""
    words = frame.select_dtypes(bool).replace({True: "true", False: "false"})
    return frame.assign(**words).to_csv(index=False, float_format=number_text) if len(frame.columns) else ""


def json_text(value):
    """JSON has neither NaN nor infinity: null stands for them."""
    plain = json.loads(json.dumps(value, default=lambda one: one.item()), parse_constant=lambda name: None)
    return json.dumps(plain, indent=2, ensure_ascii=False) + "\n"


# ---- templates

LATEX = str.maketrans({"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}", "<": r"\textless{}",
                       ">": r"\textgreater{}", **{c: "\\" + c for c in "&%$#_{}"}})


def one_line(text):
    return " ".join(str(text).splitlines())


@cache
def template(name):
    """A template of web/. In HTML, all texts but Markup are escaped; templates for LaTeX escape by themselves."""
    import jinja2

    env = jinja2.Environment(loader=jinja2.FileSystemLoader(WEB), autoescape=name.endswith(".html"),
                             keep_trailing_newline=True)
    env.filters.update(line=one_line, latex=lambda text: "--" if text == "-" else one_line(text).translate(LATEX),
                       count=count)
    return env.get_template(name, globals={"inf": math.inf})


def sentences(name, *values):
    """The lines of a macro of notes.txt that say something."""
    lines = getattr(template("notes.txt").module, name)(*values).splitlines()
    return [line.strip() for line in lines if line.strip()]


# ---- tables

@dataclass
class Table:
    """Cells as a person reads them. "-" stands for a value that does not apply or an event that never happened."""

    caption: str
    head: list
    rows: list
    words: int = 1  # how many columns on the left hold words
    notes: list = field(default_factory=list)  # paragraphs above
    footnotes: list = field(default_factory=list)  # paragraphs below

    @classmethod
    def of(cls, name, frame, /, more=None, before=None, **values):
        """The rows of a frame as columns.json declares the table, with `more` heads behind its own or `before` them.
        `values` stand in its texts."""
        declared = DECLARED["tables"][name]
        columns = {**(before or {}), **declared["columns"], **(more or {})}
        rows = [[cell(one[column], form) for column, form in columns.values()] for one in frame.to_dict("records")]
        words = len(list(takewhile(lambda column: column[1] in ("", "text"), columns.values())))
        around = [[note.format(**values) for note in declared.get(part, [])] for part in ("notes", "footnotes")]
        return cls(declared["caption"].format(**values), list(columns), rows, words, *around)


TEMPLATES = {"md": "tables.md", "markdown": "tables.md", "latex": "tables.tex", "html": "tables.html"}


@dataclass
class TableSet:
    """Tables of one kind for people, and the same content as rows for programs."""

    name: str  # of the files, without extension
    title: str
    tables: list
    rows: pd.DataFrame
    more: pd.DataFrame = None  # what --json gets if it is more than the rows
    groups: list = None  # of a summary: its rows, by table

    def text(self, form):
        if form in TEMPLATES:
            return template(TEMPLATES[form]).render(title=self.title, all=self.tables)
        return json_text(self.rows.to_dict("records")) if form == "json" else csv_text(self.frame())

    def records(self):
        return (self.rows if self.more is None else self.more).to_dict("records")

    def frame(self):
        """The rows, each median as NAME and the other members of a spread as NAME_MEMBER."""
        flat = pd.json_normalize(self.rows.to_dict("records"), sep="_")
        return flat.rename(columns=lambda name: name.removesuffix("_median"))

    def write(self, folder):
        for extension, form in (("md", "md"), ("tex", "latex"), ("csv", "csv")):
            write_text(Path(folder) / f"{self.name}.{extension}", self.text(form))
