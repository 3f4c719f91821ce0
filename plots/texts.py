"""Tables as texts: Markdown, LaTeX, HTML, CSV and JSON."""
import json
import math
import os
from dataclasses import dataclass, field

from ..fields import number_text
from ..files import make_folder, write_text


@dataclass
class Table:
    """Cells as a person reads them. "-" stands for a value that does not apply or an event that never happened."""

    caption: str
    head: list
    rows: list = field(default_factory=list)
    words: int = 1  # how many columns on the left hold words
    notes: list = field(default_factory=list)  # paragraphs above
    footnotes: list = field(default_factory=list)  # paragraphs below


WEB = os.path.join(os.path.dirname(os.path.realpath(__file__)), "web")


# ---- cells: "-" for NaN

def cell(value, form):
    return "-" if math.isnan(value) else format(value, form)


def scientific(value):
    return cell(value, ".1e")


def count(value):
    return cell(value, ".0f" if value == math.floor(value) else ".1f") if math.isfinite(value) else str(
        "-" if math.isnan(value) else "never")


def fixed(digits):
    return lambda value: "never" if math.isinf(value) else cell(value, f".{digits}f")


def general(value):
    """As "{:g}"."""
    return f"{value:g}"


# ---- whole tables

LATEX = str.maketrans({"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}", "<": r"\textless{}",
                       ">": r"\textgreater{}", **{c: "\\" + c for c in "&%$#_{}"}})


def one_line(text):
    return " ".join(text.splitlines())


def latex_text(text):
    return one_line(text).translate(LATEX)


def markdown(table):
    line = lambda cells: "".join(f"| {one_line(str(one)).replace('|', chr(92) + '|')} " for one in cells) + "|\n"  # noqa: E731
    rule = "|" + "".join("---|" if i < table.words else "---:|" for i in range(len(table.head))) + "\n"
    return line(table.head) + rule + "".join(map(line, table.rows))


def latex(table):
    line = lambda cells: " & ".join("--" if one == "-" else latex_text(one) for one in cells) + " \\\\\n"  # noqa: E731
    comments = "".join(f"% {one_line(note)}\n" for note in [table.caption, *table.notes])
    form = "l" * table.words + "r" * (len(table.head) - table.words)
    return (f"{comments}\\begin{{tabular}}{{{form}}}\n\\toprule\n{line(table.head)}\\midrule\n"
            f"{''.join(map(line, table.rows))}\\bottomrule\n\\end{{tabular}}\n"
            + "".join(f"\\par\\noindent{{\\footnotesize {latex_text(note)}\\par}}\n" for note in table.footnotes))


def document(title, tables, form):
    """All tables below a title, with their notes."""
    if form == "latex":
        return f"% {title}\n% Needs \\usepackage{{booktabs}}.\n" + "".join("\n" + latex(one) for one in tables)
    if form == "html":
        return render("tables.html", title=title, all=tables)
    parts = [f"## {title}\n"] if title else []
    for table in tables:
        notes = [("\\" if note.startswith("*") else "") + one_line(note) for note in table.footnotes]
        parts.append(f"### {table.caption}\n\n" + "".join(f"{one_line(note)}\n\n" for note in table.notes)
                     + markdown(table) + "".join(f"\n{note}\n" for note in notes))
    return "\n".join(parts)


def render(template, **values):
    """A template of web/, in which all texts but Markup are escaped."""
    import jinja2

    env = jinja2.Environment(loader=jinja2.FileSystemLoader(WEB), autoescape=True, keep_trailing_newline=True)
    return env.get_template(template).render(**values)


# ---- records

def flat(record):
    """A record with its objects as members NAME and NAME_MEMBER."""
    out = {}
    for name, value in record.items():
        if isinstance(value, dict):
            for i, (part, one) in enumerate(value.items()):
                out[name if i == 0 else f"{name}_{part}"] = one
        else:
            out[name] = value
    return out


def csv_field(value):
    if isinstance(value, bool):
        return str(value).lower()
    text = "" if value is None else number_text(value)
    return '"' + text.replace('"', '""') + '"' if any(c in text for c in ',"\r\n') else text


def csv_text(rows, head=None):
    """Numbers in full precision; a field is empty if there is no value, and "inf" if a target was never reached."""
    rows = [flat(row) for row in rows]
    head = head or list(dict.fromkeys(name for row in rows for name in row))
    lines = [",".join(csv_field(row.get(name)) for name in head) for row in rows]
    return "".join(line + "\n" for line in ([",".join(map(csv_field, head))] if head else []) + lines)


def plain(value):
    """The value for JSON, which has neither NaN nor infinity."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if hasattr(value, "item"):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(value):
    return json.dumps(plain(value), indent=2, ensure_ascii=False) + "\n"


FORMATS = {"md": "md", "tex": "latex", "csv": "csv"}  # of the files


@dataclass
class TableSet:
    """Tables of one kind for people, and the same content as records for programs."""

    name: str  # of the files, without extension
    title: str
    tables: list
    records: list = field(default_factory=list)

    def text(self, form):
        if form == "csv":
            return csv_text(self.records)
        if form == "json":
            return json_text(self.records)
        return document(self.title, self.tables, form)

    def frame(self):
        import pandas as pd

        return pd.DataFrame([flat(record) for record in self.records])

    def write(self, folder):
        make_folder(folder)
        for extension, form in FORMATS.items():
            write_text(os.path.join(folder, f"{self.name}.{extension}"), self.text(form))
