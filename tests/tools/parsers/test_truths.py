"""Right calls are taken from entries with JSON values and the names that tools have."""

from __future__ import annotations

from pathlib import Path

from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.tools.parsers.truths import draw_truths


def test_truths_of_core_keep_the_schemas_of_their_tools() -> None:
    truths = draw_truths([open_suite("core", Path())], 10_000)
    assert len(truths) > 900
    assert len({str(each.calls) for each in truths}) == len(truths)
    for truth in truths:
        names = {as_mapping(tool["function"])["name"] for tool in truth.tools}
        assert {call.name for call in truth.calls} <= names
        assert not any("." in call.name for call in truth.calls)
    categories = {each.key.partition(":")[2].rpartition("_")[0] for each in truths}
    assert {"simple_java", "parallel", "multi_turn_base", "sql"} <= categories


def test_a_smaller_draw_is_a_part_of_a_larger_one() -> None:
    suite = open_suite("core", Path())
    small, large = (draw_truths([suite], limit) for limit in (20, 60))
    assert small == large[:20]
    assert draw_truths([suite, suite], 4) == [each for each in small[:2] for _ in range(2)]
