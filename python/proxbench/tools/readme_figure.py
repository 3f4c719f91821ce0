#!/usr/bin/env python3
"""Makes a figure of README.md from stored results: by default plots/figure1.svg, from those of scripts/quickstart.

usage: scripts/readme-figure [--help] [RESULTS [PICTURE]]

Draws the objective against seconds from RESULTS (default: results/quickstart) with `build/release/proxbench plot`, or
with the program that PROXBENCH names. Drops points that lie within two pixels of the previous one, and writes PICTURE
(default: plots/figure1.svg). Refuses generated data, and a figure of more than 60,000 bytes. The figure of other
trainers: `scripts/readme-figure results/trainers-chunking plots/trainers.svg`.

exit status: 0 written; 1 no such results, or a refused figure; 2 bad usage
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "plots" / "figure1.svg"
LARGEST = 60000
NEAR = 2  # pixels
NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"


def fail(text, status=1):
    print(f"readme-figure: error: {text}", file=sys.stderr)
    sys.exit(status)


def thinned(match):
    """Drops the points of a path that lie within NEAR pixels of the previous kept one. The ends of its lines stay."""
    if re.search("[CQzZ]", match[1]):  # curved or closed: a symbol or a rectangle
        return match[0]
    points = [(op, float(x), float(y)) for op, x, y in re.findall(rf"([ML])\s*({NUMBER})\s+({NUMBER})", match[1])]
    kept = []
    for i, (op, x, y) in enumerate(points):
        end = i + 1 == len(points) or points[i + 1][0] == "M"
        if op == "M" or end or abs(x - kept[-1][1]) >= NEAR or abs(y - kept[-1][2]) >= NEAR:
            kept.append((op, x, y))
    return 'd="' + " ".join(f"{op}{x:.1f} {y:.1f}" for op, x, y in kept) + '"'


def shrunk(svg):
    if "matplotlib" not in svg:
        fail("the figure is not by matplotlib")
    body = re.sub(r'(?<= )d="([^"]*)"', thinned, svg)
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    return re.sub(r"\n\s+", "\n", re.sub(r"<!--.*?-->", "", body, flags=re.S))


def main():
    arguments = sys.argv[1:]
    if arguments in (["--help"], ["-h"]):
        print(__doc__.strip())
        return
    if len(arguments) > 2 or any(one.startswith("-") for one in arguments):
        fail(f"found {' '.join(arguments)}, expected at most a folder of results and a picture (--help says more)", 2)
    results = Path(arguments[0]) if arguments else ROOT / "results" / "quickstart"
    picture_file = Path(arguments[1]) if len(arguments) > 1 else PICTURE
    if not (results / "config.ini").is_file():
        fail(f"found no results in {results}, expected those of scripts/quickstart")
    if "format = synthetic" in (results / "config.ini").read_text():
        fail(f"{results} holds generated data, expected the OCR data")
    program = os.environ.get("PROXBENCH", ROOT / "build" / "release" / "proxbench")
    subprocess.run([program, "plot", results, "--kind", "curves", "--x", "seconds", "--quantities", "objective"],
                   check=True, stdout=subprocess.DEVNULL)
    figures = [file for file in (results / "figures").iterdir() if re.search(r"-objective(-logx)?\.svg$", file.name)]
    if len(figures) != 1:
        fail(f"found {len(figures)} figures of the objective in {results}/figures, expected one")
    picture = shrunk(figures[0].read_text(encoding="utf-8"))
    size = len(picture.encode())
    if size > LARGEST:
        fail(f"the picture has {size} bytes, expected at most {LARGEST}")
    picture_file.write_text(picture, encoding="utf-8")
    print(f"{picture_file}: {size} bytes")


try:
    main()
except (OSError, subprocess.CalledProcessError) as error:
    fail(error)
