"""Engines take their parsers as items of pytest; a run that does not name the module has none of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest

from pytest_fcbench.tools.parsers import pytest_items
from pytest_fcbench.tools.parsers.engine import ENGINES, EngineRow
from pytest_fcbench.tools.parsers.pytest_items import ParserCase
from tests.tools.parsers.fakes import FAKE


class FakeMetafunc:
    """Keeps the items that the hook makes."""

    def __init__(self) -> None:
        self.fixturenames: Sequence[str] = ["parser_case"]
        self.items: dict[str, object] = {}

    def parametrize(self, names: str, values: Iterable[object], *, ids: Iterable[str]) -> None:
        self.items |= zip(ids, values, strict=True)


@pytest.fixture(autouse=True)
def _offer_one_engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pytest_items, "ANSWERS_PER_ITEM", 6)
    pytest_items._draw_truths.cache_clear()
    monkeypatch.setattr(
        pytest_items, "ENGINES", {"fake": FAKE, "absent": EngineRow("no_such_engine", "", {})}
    )
    monkeypatch.setitem(ENGINES, "fake", FAKE)
    monkeypatch.setitem(ENGINES, "absent", EngineRow("no_such_engine", "", {}))
    yield
    pytest_items._draw_truths.cache_clear()


def test_an_item_is_a_parser_of_an_installed_engine_in_a_way() -> None:
    metafunc = FakeMetafunc()
    pytest_items.pytest_generate_tests(metafunc)
    assert [*metafunc.items][:4] == [
        "fake-none-hermes-whole",
        "fake-none-hermes-by token",
        "fake-none-hermes-batches",
        "fake-none-hermes-one delta",
    ]
    assert not any("absent" in name for name in metafunc.items)
    good, bad = metafunc.items["fake-none-hermes-by token"], metafunc.items["fake-crashes-hermes-by token"]
    assert isinstance(good, ParserCase)
    assert isinstance(bad, ParserCase)
    pytest_items.test_tool_parser(good)
    with pytest.raises(AssertionError, match=r"6 crashed of 6 answers\n  crashed: '<tool_call>"):
        pytest_items.test_tool_parser(bad)


def test_other_tests_of_the_module_get_no_items() -> None:
    metafunc = FakeMetafunc()
    metafunc.fixturenames = ["tmp_path"]
    pytest_items.pytest_generate_tests(metafunc)
    assert metafunc.items == {}


def test_the_module_is_collected_by_its_name_only(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest_inprocess("--collect-only", "-q", "--pyargs", "pytest_fcbench.tools.parsers")
    result.stdout.fnmatch_lines(["no tests collected*"])
