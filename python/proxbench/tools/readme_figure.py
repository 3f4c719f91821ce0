"""Makes a figure of README.md from stored results: by default plots/figure1.svg, from those of scripts/quickstart.

Draws the objective against seconds from RESULTS (default: results/quickstart) with `build/release/proxbench plot`, or
with the program that PROXBENCH names. Drops points that lie within two pixels of the previous one, and writes PICTURE
(default: plots/figure1.svg). Refuses generated data, and a figure of more than 60,000 bytes. The figure of other
trainers: `scripts/readme-figure results/trainers-chunking plots/trainers.svg`.

Exit status: 0 written; 1 no such results, or a refused figure; 2 bad usage.
"""
import re
from pathlib import Path

from ..errors import Error
from .common import PROGRAM, ROOT, run

LARGEST = 60000
NEAR = 2  # pixels
SHORT = 20  # points; a path with fewer stays as it is
NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"


def add_flags(parser):
    parser.add_argument("results", nargs="?", type=Path, default=ROOT / "results/quickstart", metavar="RESULTS")
    parser.add_argument("picture", nargs="?", type=Path, default=ROOT / "plots/figure1.svg", metavar="PICTURE")


def thinned(match):
    """Drops the points of a path that lie within NEAR pixels of the previous kept one. The ends of its lines stay."""
    if re.search("[CQ]", match[1]) or match[1].count("L") < SHORT:  # a symbol, a tick or a rectangle
        return match[0]
    points = [(op, float(x), float(y)) for op, x, y in re.findall(rf"([ML])\s*({NUMBER})\s+({NUMBER})", match[1])]
    kept = []
    for i, (op, x, y) in enumerate(points):
        end = i + 1 == len(points) or points[i + 1][0] == "M"
        if op == "M" or end or abs(x - kept[-1][1]) >= NEAR or abs(y - kept[-1][2]) >= NEAR:
            kept.append((op, x, y))
    closed = " z" if match[1].rstrip().endswith("z") else ""  # a band
    return 'd="' + " ".join(f"{op}{x:.1f} {y:.1f}" for op, x, y in kept) + closed + '"'


def shrunk(svg):
    if "matplotlib" not in svg:
        raise Error("the figure is not by matplotlib")
    body = re.sub(r'(?<= )d="([^"]*)"', thinned, svg)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    return re.sub(r"\n\s+", "\n", re.sub(r"<!--.*?-->", "", body, flags=re.S))


def main(options):
    results = options.results
    if not (results / "config.ini").is_file():
        raise Error(f"found no results in {results}, expected those of scripts/quickstart")
    if "format = synthetic" in (results / "config.ini").read_text():
        raise Error(f"{results} holds generated data, expected the OCR data")
    run(PROGRAM, "plot", results, "--kind", "curves", "--x", "seconds", "--quantities", "objective")
    figures = [file for file in (results / "figures").iterdir() if re.search(r"-objective(-logx)?\.svg$", file.name)]
    if len(figures) != 1:
        raise Error(f"found {len(figures)} figures of the objective in {results}/figures, expected one")
    picture = shrunk(figures[0].read_text(encoding="utf-8"))
    size = len(picture.encode())
    if size > LARGEST:
        raise Error(f"the picture has {size} bytes, expected at most {LARGEST}")
    options.picture.write_text(picture, encoding="utf-8")
    print(f"{options.picture}: {size} bytes")
