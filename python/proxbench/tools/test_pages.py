"""Tests of the project's pages: links lead somewhere, and the files that they name exist."""
import re

import pytest

from proxbench.tools.common import ROOT

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# A file or folder of the sources.
FILE = re.compile(r"`((?:core|oracles|solvers|experiments|python|plots|configs|scripts)/[\w./+-]*[\w+-])`")


def pages():
    folders = ("core", "oracles", "solvers", "experiments", "configs", "plots", "python", "scripts")
    found = [*ROOT.glob("*.md"), *(page for folder in folders for page in (ROOT / folder).rglob("*.md"))]
    return sorted(str(page.relative_to(ROOT)) for page in found)


def anchors_of(text):
    heads = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", pages())
def test_a_page_names_only_what_exists(name):
    page = ROOT / name
    text = page.read_text(encoding="utf-8")
    for link in LINK.findall(text):
        if not link.startswith("http"):
            path, _, anchor = link.partition("#")
            to = page.parent / path if path else page
            assert to.exists(), f"{name}: {link}"
            assert not anchor or anchor in anchors_of(to.read_text(encoding="utf-8")), f"{name}: {link}"
    for path in FILE.findall(text):
        assert re.search(r"NAME|PAPER", path) or any((at / path).exists() for at in (ROOT, page.parent)), f"{name}: {path}"
