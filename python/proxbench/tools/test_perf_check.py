"""The verdicts of scripts/perf-check."""
import copy

import pytest

from proxbench.tools.perf_check import judge

BUDGET = {"made_with": {"compiler": "GCC 12.2.0"}, "instructions": {"chain": 1000, "tree": 500}}


def judged(tools=None, **counts):
    found = copy.deepcopy(BUDGET)
    found["made_with"].update(tools or {})
    found["instructions"].update(counts)
    return judge(BUDGET, found)


@pytest.mark.parametrize("counted, verdict, fails", [
    (1000, "within", False), (1020, "within", False), (980, "within", False), (1021, "OVER", True),
    (979, "under: the budget can be lowered", False), (1, "under: the budget can be lowered", False)])
def test_the_tolerance_holds_both_ways(counted, verdict, fails):
    text, failed = judged(chain=counted)
    assert failed == fails and text.splitlines()[1].endswith(f" %  {verdict}")


def test_kernels_without_budget_or_count_fail():
    assert judged(new=1)[1] and "NO BUDGET" in judged(new=1)[0]
    text, failed = judge(BUDGET, {**BUDGET, "instructions": {"chain": 1000}})
    assert failed and "GONE" in text


def test_nothing_fails_with_another_compiler():
    text, failed = judged({"compiler": "GCC 13.1.0"}, chain=2000)
    assert not failed and "OVER" in text
    assert "not judged, since the counts cannot be compared: compiler: found GCC 13.1.0, the budget has GCC 12.2.0" in text


def test_the_table_shows_changes():
    assert judged(chain=1100)[0].splitlines()[1].split() == ["chain", "1000", "1100", "+10.00", "%", "OVER"]
