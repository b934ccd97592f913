"""Items of pytest: each parser of the engines that are installed here, with each syntax, in each way.

They are collected only where this module is named (``pytest --pyargs
pytest_fcbench.tools.parsers.pytest_items -k "hermes and token"``), or where a test module of an engine
imports ``pytest_generate_tests`` and ``test_tool_parser`` from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

from pytest_fcbench.domain.registry import require_extra
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.tools.parsers.engine import ENGINES, is_installed
from pytest_fcbench.tools.parsers.matrix import Examiner, Way, examine_parser
from pytest_fcbench.tools.parsers.truths import Truth, draw_truths

ANSWERS_PER_ITEM = 100
"""Right answers of ``core`` that each item gives its parser."""


class Metafunc(Protocol):
    """The part of ``pytest.Metafunc`` that the hook uses."""

    fixturenames: Sequence[str]

    def parametrize(self, names: str, values: Iterable[object], *, ids: Iterable[str]) -> None:
        """Make an item of each value."""


@dataclass(frozen=True, slots=True)
class ParserCase:
    """A parser with a syntax, and a way in which answers come to it."""

    name: str
    examiner: Examiner
    way: Way


def pytest_generate_tests(metafunc: Metafunc) -> None:
    """Make the items of ``test_tool_parser``. Raises ``UsageError`` without the extra."""
    if "parser_case" not in metafunc.fixturenames:
        return
    require_extra("parsers", __name__)
    # Imported late: it imports packages of the engine.
    from pytest_fcbench.tools.parsers.examining import open_parsers

    cases = [
        ParserCase(f"{engine}-{parser}-{syntax}", examiner, way)
        for engine in filter(is_installed, ENGINES)
        for (parser, syntax), examiner in open_parsers(engine, _draw_truths()).examiners.items()
        for way in Way
    ]
    metafunc.parametrize("parser_case", cases, ids=[f"{each.name}-{each.way}" for each in cases])


def test_tool_parser(parser_case: ParserCase) -> None:
    """Right answers come back from the parser as the calls that they were written from."""
    from pytest_fcbench.tools.parsers.shrinking import shrink_calls

    way = parser_case.way
    examination = examine_parser(parser_case.name, parser_case.examiner, _draw_truths(), [way], shrink_calls)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in examination.outcomes[way].items())
    failures = "".join(f"\n{each.outcome}: {each.text!r}\n{each.reason}" for each in examination.failures)
    assert examination.is_exact, f"{counts} of {examination.count} answers{failures}"


@cache
def _draw_truths() -> Sequence[Truth]:
    return draw_truths([open_suite("core", Path())], ANSWERS_PER_ITEM)
