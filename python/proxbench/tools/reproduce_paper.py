"""What scripts/reproduce-paper reads from its results of the paper of OWL-QN, in the folder OUT.

`weight` prints the weight of a penalty, l1 or l2, that `proxbench select` chose. `notes` prints the notes on the lists and
on Table 1 for the top of the page, one per line, and writes both as OUT/lists.csv and OUT/table1.csv.

Exit status: 0 done; 1 a file is missing or damaged; 2 bad usage.
"""
import csv
from pathlib import Path

from ..errors import Error
from .common import manifests, read_json

SETS = ("dev", "test")
PENALTIES = {"l1": "lambda", "l2": "mu"}


def add_flags(parser):
    parser.add_argument("what", choices=["notes", *PENALTIES], help="the notes, or the weight of this penalty")
    parser.add_argument("out", type=Path, metavar="OUT", help="the folder of the paper's results")


def weight(out, penalty):
    return read_json(out / f"results/{penalty}.json")[f"chosen_{PENALTIES[penalty]}"]


def f1_of(out, table):
    """F1 on dev and test of the stored runs of a config."""
    return {name: (run.get("test_metrics") or {}).get("ranking-f1") for run in manifests(out / "results" / table).values()
            for name in SETS if (name == "dev") == ("dev" in run["run"]["dataset"])}


def table1(out, about):
    """The rows of Table 1: model, F1 on dev and test, and the paper's."""
    return [("baseline", {name: about[name]["baseline_f1"] for name in SETS}, "0.8925 / 0.8986"),
            ("oracle", {name: about[name]["oracle_f1"] for name in SETS}, "0.9632 / 0.9687"),
            (f"l2 (mu = {weight(out, 'l2'):.3g})", f1_of(out, "table1-l2"), "0.9103 / 0.9163, C = 13.0"),
            (f"l1 (lambda = {weight(out, 'l1'):.3g})", f1_of(out, "table1"), "0.9101 / 0.9165, C = 3.2")]


def write_csv(file, head, rows):
    with open(file, "w", encoding="utf-8", newline="") as text:
        csv.writer(text).writerows([head, *rows])


def notes(out):
    about = read_json(out / "data/chunk-rerank/about.json")
    lists = {name: one for name, one in about.items() if isinstance(one, dict)}
    sizes = "; ".join(f"{name}: {one['groups']} sentences, {one['candidates']} candidates, gold listed for "
                      f"{one['gold_listed']:.1%}" for name, one in lists.items())
    rows = [[model, *("-" if f1.get(name) is None else f"{f1[name]:.4f}" for name in SETS), paper]
            for model, f1, paper in table1(out, about)]
    write_csv(out / "table1.csv", ["model", *SETS, "paper (dev / test)"], rows)
    write_csv(out / "lists.csv", ["set", "sentences", "candidates", "gold_listed", "baseline_f1", "oracle_f1"],
              [[name, one["groups"], one["candidates"], *(f"{one[key]:.4f}" for key in (
                  "gold_listed", "baseline_f1", "oracle_f1"))] for name, one in lists.items()])
    return [f"The lists: {about['nbest']} best, {about['folds']} folds, {about['features']} features. {sizes}.",
            "Table 1, F1 on dev / test (the paper's, of parses, in brackets): "
            + "; ".join(f"{model} {dev} / {test} ({paper})" for model, dev, test, paper in rows) + "."]


def main(options):
    try:
        lines = notes(options.out) if options.what == "notes" else [weight(options.out, options.what)]
    except (ValueError, KeyError, TypeError) as error:
        raise Error(f"{options.out}: found damaged results ({type(error).__name__}: {error}), expected those of "
                             "scripts/reproduce-paper owl-qn") from None
    print(*lines, sep="\n")
