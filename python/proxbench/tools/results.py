"""Makes the tables of the RESULTS.md pages: runs their sweeps and stores the measurements.

Two marks enclose a table of a page and name it:

    <!-- results NAME SOURCE | held out | WHAT -->
    <!-- results NAME SOURCE | held out | WHAT | HOW -->
    ...
    <!-- end -->

SOURCE makes the numbers:

    CONFIG [KEY=VALUE]...            a sweep, which runs into results/NAME with `--set KEY=VALUE`
    reproduce-paper PAPER CONFIG     a sweep of scripts/reproduce-paper, with its settings and in its folder
    $ COMMAND                        a command of the shell that prints CSV or a Markdown table; of Google Benchmark's
                                     rows, only the medians are used

`tuned on` means that a constant of the program was chosen on these problems, `held out` that none was, `-` that neither
applies. WHAT is stored of the numbers:

    COLUMN, COLUMN                   columns of `proxbench table --columns`, or of the CSV that a command prints; `text`:
                                     all that a command prints, as it is
    FILE: COLUMN, COLUMN             columns of another table of a sweep, from its file tables/FILE (CSV or Markdown)
    QUANTITY at ABSCISSA 5, 10       values of the curves of a sweep, from its figures; `log10 QUANTITY`: logarithms.
                                     A value is that of the nearest sample, which may be a tenth of the abscissa away
    ABSCISSA to QUANTITY 1e-2, 1e-3  where these curves first come to these values, if all repetitions do

HOW the page shows them, by default all columns with a table for each problem of a sweep:

    of COLUMN, COLUMN                only these columns, or places of curves
    by solver [of ...]               one table of a sweep: a column for each solver, a row for each problem and column
    by problem [of ...]              the same, with rows and columns exchanged
    [of ...] where COLUMN = A, B     only rows of a command or file with one of these values
    csv                              no table: the page links to the stored numbers

Solvers that do not fit a problem are left out.

Without an option, the sources run one at a time, and the script prints how long sweeps may take. An interrupted sweep
continues where it stopped. The numbers are written to measured/NAME.csv beside the page, which is committed. The page's
table is made only from that file.

Run it on a machine that does nothing else. PROXBENCH names the program (default: build/release/proxbench).

Exit status: 0 all tables are up to date; 1 something is missing, stale or failed; 2 bad usage.
"""
import csv
import datetime
import io
import itertools
import math
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from ..errors import Error, UsageError
from . import common
from .common import PROGRAM, ROOT, markdown

TABLE = re.compile(r"(<!-- results ([^|\n]+)\|([^|\n]+)\|([^|\n]+?)(?:\|([^|\n]+))?-->\n)(.*?)(<!-- end -->)", re.DOTALL)
HOW = re.compile(r"(csv)?(?:by (solver|problem))? ?(?:of (.+?))? ?(?:where (.+) = (.+))?")
CURVES = re.compile(r"(log10 )?([\w-]+) (at|to) ([\w-]+) ([\de., -]+)")
RULE = re.compile(r"-{3,}:?.*")  # the line below the head of a Markdown table
NUMBER = re.compile(r"-?\d[\d.]*(e[-+]?\d+)?")
OPEN = "not yet measured on this build"  # a verdict that somebody has to write
# The columns that identify a row.
ROW = ["dataset", "lambda", "mu", "reference_objective", "reference_relative_gap", "solver", "status", "repetitions", "failures"]


def add_flags(parser):
    parser.add_argument("names", nargs="*", metavar="NAME", help="the tables to make; by default all")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--tables", action="store_true", help="run nothing: make the tables again from measured/*.csv")
    only.add_argument("--status", action="store_true", help="show which tables are missing or stale (made by a program "
                      "whose deciding code differs), and how many verdicts of a page are open")


def proxbench(*arguments):
    return common.run(PROGRAM, *arguments, cwd=ROOT)


class Table:
    """A table between one pair of marks."""

    def __init__(self, page, match):
        self.page = page
        self.name, self.source = match[2].strip().split(maxsplit=1)
        self.place = f"{page.relative_to(ROOT)}: {self.name}"
        self.judged, what = match[3].strip(), match[4].strip()
        self.curves = CURVES.fullmatch(what)
        self.file, columns = what.split(":") if ":" in what else ("", what)
        self.columns = [] if self.curves else names_in(columns)
        how = HOW.fullmatch((match[5] or "").strip())
        if not how:
            raise UsageError(f"{self.place}: found '{match[5].strip()}', expected 'csv', or 'by', 'of' or 'where'")
        self.only_csv, self.by, shown, self.where, values = how.groups()
        self.shown, self.values = names_in(shown or ""), names_in(values or "")
        self.stored = page.parent / "measured" / f"{self.name}.csv"
        if self.judged not in ("held out", "tuned on", "-"):
            raise UsageError(f"{self.place}: found '{self.judged}', expected 'held out', 'tuned on' or '-'")
        self.is_command, self.is_paper = self.source.startswith("$ "), self.source.startswith("reproduce-paper ")
        self.folder, config = ROOT / "results" / self.name, self.source.split()[0]
        if self.is_paper:
            paper, name = self.source.split()[1:]
            self.folder = ROOT / "results" / ("paper" if paper == "prox-qn" else f"paper-{paper}") / "results" / name
            config = f"configs/{'' if paper == 'prox-qn' else paper + '/'}{name}.ini"
        if not self.is_command and not (ROOT / config).exists():
            raise UsageError(f"{self.place}: no file {config}")

    def arguments(self):
        config, *settings = self.source.split()
        pairs = [text for setting in settings for text in ("--set", setting)]
        return ["run", config, "--out", f"results/{self.name}", "--replace", *pairs]

    def plan(self):
        """Returns the lines of a dry run: one for each run, and their number."""
        return proxbench(*self.arguments(), "--dry-run").strip().splitlines()

    def manifests(self):
        return list(common.manifests(self.folder).values())

    def run(self):
        """Makes what is missing of a sweep. Fails unless it is complete."""
        if self.is_command:
            return
        if self.is_paper:
            print(f"{self.name}: scripts/{self.source}", flush=True)
            failed = subprocess.run(f"scripts/{self.source}".split(), cwd=ROOT).returncode
            left = [one for one in self.manifests() if one["status"] == "interrupted"]
        else:
            print(f"{self.name}: {self.plan()[-1]}", flush=True)
            failed = subprocess.run([PROGRAM, *self.arguments(), "--quiet"], cwd=ROOT).returncode
            left = [line for line in self.plan()[:-1] if line.endswith(("missing", "failed before: interrupted"))]
        if failed:
            print(f"{self.name}: some runs failed; the table shows which", file=sys.stderr)
        if left or not self.manifests():
            raise Error(f"{self.name}: {len(left) or 'all'} runs are not complete, so the table stays as it was: run "
                                 f"scripts/results {self.name} again")

    def store(self):
        """Writes measured/NAME.csv: comments that state its origin, then the table's columns."""
        head, rows = self.from_command() if self.is_command else self.from_sweep()
        self.stored.parent.mkdir(exist_ok=True)
        with open(self.stored, "w", newline="", encoding="utf-8") as out:
            out.writelines(f"# {key}: {value}\n" for key, value in head.items())
            writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows({name: short(value) for name, value in row.items()} for row in rows)

    def from_sweep(self):
        manifests = self.manifests()
        made = max((one["provenance"] for one in manifests if one["status"]), key=lambda one: one["time"])
        program, machine = made["program"], made["machine"]
        head = {"revision": program["git_revision"] + (", with changes" if program["git_dirty"] == "yes" else ""),
                "code": code_of(manifests), "compiler": f"{program['compiler']}, {program['instruction_set']}",
                "machine": f"{machine['cores']} cores of {machine['cpu']}", "date": made["time"][:10]}
        if self.file:
            return head, self.rows_in((self.folder / "tables" / self.file).read_text(encoding="utf-8"), f"tables/{self.file}")
        text = proxbench("table", str(self.folder), "--format", "csv", "--columns", ",".join(self.columns) or "nnz")
        text = text.split("\n\n")[-1]  # a table of costs stands before the summary if the config asks for it
        rows = list(csv.DictReader(io.StringIO(text)))
        kept = [{name: value for name, value in row.items() if name in ROW or self.asks_for(name)} for row in rows]
        return head, [row | self.curve_of(row) for row in kept] if self.curves else kept

    def curve_of(self, row):
        """Returns what is asked for of the curve of a row, medians over repetitions."""
        logarithm, quantity, word, abscissa, at = self.curves.groups()
        if word == "to":
            quantity, abscissa = abscissa, quantity
        problem = f"{row['dataset']}-*lambda{row['lambda']}{'-mu' + row['mu'] if row['mu'] != '0' else ''}"
        names = [f"{problem}-{quantity}{end}.csv" for end in (["", "-logx"] if abscissa == "seconds" else ["-" + abscissa])]
        found = [file for name in names for file in (self.folder / "figures").glob(name)]
        if len(found) != 1:
            raise Error(f"{self.name}: {len(found)} files {' or '.join(names)} in {self.folder}/figures, expected one")
        series = series_in(found[0], "iteration" if abscissa == "iterations" else abscissa, row["solver"])
        out = {}
        for place in map(float, at.split(",")):
            value = median_to(series, place) if word == "to" else median_at(series, place)
            out[f"{abscissa} {'to ' if word == 'to' else ''}{place:g}"] = str(math.log10(value) if logarithm and value > 0 else value)
        return out

    def from_command(self):
        print(f"{self.name}: {self.source}", flush=True)
        done = subprocess.run(self.source[1:], shell=True, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            raise Error(f"{self.name}: exit status {done.returncode}")
        if self.columns == ["text"]:
            rows = [{"text": line} for line in done.stdout.splitlines()]
        else:
            rows = self.rows_in(done.stdout, "what the command prints")
        medians = [row for row in rows if row[self.columns[0]].endswith("_median")]
        version = dict(line.split(" ", 1) for line in proxbench("--version").splitlines())
        changes = subprocess.run(["git", "diff", "--quiet", "HEAD", "--", ".", ":!*.md", ":!*/measured/*"], cwd=ROOT).returncode
        return {"revision": version["revision"] + (", with changes" if changes else ""), "code": version["code"],
                "compiler": f"{version['compiler']}, {version['instruction'].removeprefix('set ')}", "machine": machine(),
                "date": datetime.date.today().isoformat()}, medians or rows

    def rows_in(self, text, where):
        """Returns the table's columns of the first table in a text that has them, as CSV or in Markdown."""
        lines = [cells_of(line) for line in text.splitlines()]
        start = next((i for i, line in enumerate(lines) if set(self.columns) <= set(line)), None)
        if start is None:
            raise Error(f"{self.name}: {where} has no line with the columns {', '.join(self.columns)}")
        head = lines[start]
        cells = itertools.takewhile(lambda line: len(line) == len(head), lines[start + 1:])
        return [{name: line[head.index(name)] for name in self.columns} for line in cells if not RULE.fullmatch(line[0])]

    def asks_for(self, name):
        return any(name in (column, column + "_from") or (column == "ratio" and name.startswith("ratio_to_fastest_at_"))
                   for column in self.columns)

    def load(self):
        """Returns the comments and the rows of the stored file."""
        lines = self.stored.read_text(encoding="utf-8").splitlines()
        head = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# "))
        return head, list(csv.DictReader(line for line in lines if not line.startswith("# ")))

    def text(self):
        if not self.stored.exists():
            return f"Not yet measured: `scripts/results {self.name}` makes this table.\n"
        rows = [row for row in self.load()[1] if "skipped" not in row.get("failures", "")]
        rows = [row for row in rows if not self.where or row[self.where] in self.values]
        command = self.source[2:] if self.is_command else "scripts/" + self.source if self.is_paper else self.source
        judged = "" if self.judged == "-" else self.judged.capitalize() + ". "
        origin = f"[CSV](measured/{self.stored.name})"
        config, *settings = [command] if self.is_command or self.is_paper else command.split()
        settings = " ".join(f"--set {setting}" for setting in settings)
        made = f"`{config}`{' with `' + settings + '`' if settings else ''}. {judged}{origin}"
        if self.only_csv:
            return f"{made}.\n"
        if self.columns == ["text"]:
            return "\n".join([f"{made}.", "", *("    " + row["text"] for row in rows)]) + "\n"
        if self.is_command or self.file:
            return "\n".join([f"{made}.", "", *table_of(self.shown or self.columns, rows)]) + "\n"
        most = max(int(row["repetitions"] or 0) for row in rows)
        out = [f"{made}{f', medians of {most} runs' if most > 1 else ''}.{self.unit()}", ""]
        columns = self.shown_columns(rows[0])
        problems = [list(some) for _, some in itertools.groupby(rows, problem_of)]
        if self.by and len(problems) > 1:
            out += pivot(problems, columns, self.by)
            return "\n".join(out) + "\n"
        for some in problems:
            first = some[0]
            gap = f", proven to {float(first['reference_relative_gap']):.1e}" if first["reference_relative_gap"] else ""
            best = f": F\\* = {float(first['reference_objective']):.10g}{gap}" if first["reference_objective"] else ""
            out += [""] if len(out) > 2 else []
            out += [f"**{problem_of(first)}**{best}", ""]
            out += pivot([some], columns, self.by) if self.by else table_of(["solver", *columns, "ended"], [
                row | {"ended": row["failures"].removeprefix("1 of 1 ") or row["status"]} for row in some])
        return "\n".join(out) + "\n"

    def shown_columns(self, row):
        """Returns the names in the stored file of the columns that the page shows."""
        if self.curves:
            _, first, word, last, places = self.curves.groups()
            start = f"{first} to " if word == "to" else f"{last} "
            return [f"{start}{float(place):g}" for place in self.shown or names_in(places)]
        return [name for column in self.shown or self.columns for name in row
                if name == column or (column == "ratio" and name.startswith("ratio_to_fastest_at_"))]

    def unit(self):
        if self.curves:
            logarithm, first, word, last, _ = self.curves.groups()
            return f" {'Log10 of the' if logarithm else 'The'} {first}{' to the ' + last if word == 'to' else ''}."
        return ""

    def state(self, code):
        if not self.stored.exists():
            return "missing"
        return "" if self.load()[0]["code"] == code else "stale: made by a program whose code decides otherwise"


def names_in(text):
    return [name.strip() for name in text.split(",") if name.strip()]


def pivot(problems, columns, by):
    """Returns one table of all problems, with a column for each solver or for each problem."""
    head = "" if len(problems) == 1 else "problem"
    solvers, lines = list(dict.fromkeys(row["solver"] for some in problems for row in some)), []
    for some in problems:
        for column in columns:
            name = [problem_of(some[0])] * (len(problems) > 1) + [title(column)] * (len(columns) > 1 or len(problems) == 1)
            cells = {row["solver"]: cell(row, column) for row in some}
            lines.append([", ".join(name), *(cells.get(solver, "-") for solver in solvers)])
    table = [[head, *solvers], *lines]
    if by == "problem":
        table = [list(line) for line in zip(*table)]
        table[0][0] = "solver"
    return markdown(table[0], table[1:])


def cells_of(line):
    """Returns the cells of a line of CSV or of a Markdown table."""
    if line.startswith("|"):
        return [one.strip() for one in re.split(r"(?<!\\)\|", line.strip()[1:-1])]
    return next(csv.reader([line]), [])


def series_in(file, abscissa, solver):
    """The samples (place, value) of each repetition of a solver, from the data of a figure."""
    with open(file, newline="", encoding="utf-8") as text:
        head, *lines = csv.reader(text)
    x, series = head.index(abscissa), {}
    for line in lines:
        if line[0] == solver and line[1] != "median":
            samples = series.setdefault(line[1], [])
            if line[3]:
                samples.append((float(line[x]), float(line[3])))
    return series


def median_of(values):
    return statistics.median(values) if values and not any(map(math.isnan, values)) else math.nan


def median_to(series, value):
    """Where the curves first come to this value. NaN unless all do."""
    return median_of([next((place for place, found in samples if found <= value), math.nan) for samples in series.values()])


def median_at(series, place):
    """The values of the nearest samples that lie within a tenth of the place."""
    near = [min(samples, key=lambda sample: abs(sample[0] - place)) for samples in series.values() if samples]
    return median_of([value for found, value in near if abs(found - place) <= 0.1 * place])


def table_of(columns, rows):
    """Returns the lines of a table. The first column and the last one, if it is "ended", are text."""
    return markdown(list(map(title, columns)), [
        [row[name] if i == 0 or name == "ended" else cell(row, name) for i, name in enumerate(columns)] for row in rows])


def machine():
    """Names this machine as manifests do."""
    return f"{os.cpu_count()} cores of " + next(
        (line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
         if line.startswith("model name")), "an unknown CPU")


def code_of(manifests):
    """Returns the digest of the code of our own solvers' runs. All of them must have the same."""
    found = {one["key"]["program"] for one in manifests if one["status"] and one["run"]["solver"] != "external"}
    if len(found) != 1:
        raise Error(f"{len(found)} programs made these runs, expected one: run scripts/results again")
    return found.pop()


def problem_of(row):
    parts = [f"{name} = {row[name]}" for name in ("lambda", "mu") if row[name] not in ("", "0")]
    return ", ".join([row["dataset"], *parts])


def title(column):
    if column.startswith("seconds_to_"):
        return "to " + column.removeprefix("seconds_to_")
    if column.startswith("ratio_to_fastest_at_"):
        return "x fastest to " + column.removeprefix("ratio_to_fastest_at_")
    return column.replace("_seconds", " s").replace("_", " ")


def short(value):
    """A real number with ten digits; anything else unchanged."""
    try:
        return value if re.fullmatch(r"-?\d+|", value) else f"{float(value):.10g}"
    except ValueError:
        return value


def digits(value):
    size = abs(value)
    return f"{value:.0f}" if size >= 100 or value == int(value) else f"{value:.3g}" if size >= 1e-3 else f"{value:.1e}"


def start_of(row, column):
    """Where the interval begins to which a time is known, if it is wide."""
    start, end = row.get(column + "_from", ""), row[column]
    return float(start) if start not in ("", "inf") and float(start) < 0.9 * float(end) else None


def cell(row, column):
    """A median; "A-B": a time that is known to an interval only; "~": a ratio of such a time; "-": not reached."""
    if row[column] in ("", "inf", "nan"):
        return "-"
    if not NUMBER.fullmatch(row[column]):
        return row[column]
    value, start = digits(float(row[column])), start_of(row, column)
    time = column.replace("ratio_to_fastest_at_", "seconds_to_")
    if time != column and time in row and start_of(row, time) is not None:
        return "~" + value
    return value if start is None else f"{digits(start)}-{value}"


def pages():
    folders = ("configs", "experiments", "solvers")
    return sorted(page for folder in folders for page in (ROOT / folder).rglob("RESULTS.md"))


def status(tables, with_verdicts):
    """Prints what is missing, stale or open. Returns the exit status."""
    code = re.search(r"^code (\w+)$", proxbench("--version"), re.MULTILINE)[1]
    bad = [f"{table.place}: {table.state(code)}" for table in tables if table.state(code)]
    for page in pages() if with_verdicts else []:
        if open_verdicts := page.read_text(encoding="utf-8").count(f"| {OPEN} |"):
            bad.append(f"{page.relative_to(ROOT)}: {open_verdicts} verdicts are open ('{OPEN}')")
    print("\n".join(bad or ["nothing is stale"]))
    return 1 if bad else 0


def make(tables, run):
    """Writes the tables into their pages. With `run`, measures first; one that fails stays as it was."""
    ran, failed = set(), []  # several tables may show one sweep of scripts/reproduce-paper
    for table in tables:
        try:
            if run:
                if table.source not in ran:
                    table.run()
                ran.add(table.source)
                table.store()
            page = table.page.read_text(encoding="utf-8")
            table.page.write_text(with_table(page, table.name, table.text()), encoding="utf-8")
        except Error as error:
            print(f"results: error: {error}", file=sys.stderr)
            failed.append(table.name)
            continue
        print(table.place)
    if failed:
        raise Error(f"not made: {', '.join(failed)}")


def with_table(page, name, text):
    """The text of a page with another text between the marks of a table."""
    return TABLE.sub(lambda match: f"{match[1]}\n{text}\n{match[7]}" if match[2].split()[0] == name else match[0], page)


def main(options):
    tables = [Table(page, match) for page in pages() for match in TABLE.finditer(page.read_text(encoding="utf-8"))]
    known = [table.name for table in tables]
    if unknown := set(options.names) - set(known):
        raise UsageError(f"no table {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    chosen = [table for table in tables if not options.names or table.name in options.names]
    return status(chosen, not options.names) if options.status else make(chosen, not options.tables)
