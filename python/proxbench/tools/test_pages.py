"""Tests of the project's pages: links lead somewhere, and the files that they name exist."""
import re
import subprocess

import pytest

from proxbench.tools.common import ROOT

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# A file or folder of the sources.
FILE = re.compile(r"`((?:core|oracles|solvers|experiments|python|plots|configs|scripts)/[\w./+-]*[\w+-])`")


def git_files():
    done = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.split() if done.returncode == 0 else []


def anchors_of(text):
    heads = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", git_files())
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
