"""The fixtures of the test bodies.

They are made once for all tests, because one for each test costs more than most bodies. What they return
knows the test that runs.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.plugin.items import ENTRY, Benchmark
from pytest_fcbench.run import Ask, Judge, Score


class BodyFixtures:
    """The fixtures, and their values for the tests that take them unchanged.

    None of them asks pytest for ``request`` or ``pytestconfig``, which are made again for every test.
    """

    def __init__(self, benchmark: Benchmark) -> None:
        self._benchmark = benchmark
        self._values = {
            "ask": benchmark.ask_model,
            "judge": benchmark.session.judge,
            "score": benchmark.record_judgement,
        }

    @pytest.fixture(scope="session")
    def ask(self) -> Ask:
        """Put an entry to the model and return the transcript."""
        return self._benchmark.ask_model

    @pytest.fixture(scope="session")
    def score(self) -> Score:
        """Record a judgement and return the verdict of the selected profile."""
        return self._benchmark.record_judgement

    @pytest.fixture(scope="session")
    def judge(self) -> Judge:
        """Judge a transcript by the matcher of its entry's rule (``matchers/registry.py``)."""
        return self._benchmark.session.judge

    @pytest.fixture
    def entry(self) -> Entry:
        """Return the entry of a test that is marked with ``fcbench``."""
        found = self._benchmark.item.stash.get(ENTRY, None)
        if found is None:
            pytest.fail(
                'only tests marked with a category, as in @pytest.mark.fcbench("multiple"), have an entry'
            )
        return found

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Give a test the values of the fixtures, which pytest takes longer to look up than to judge.

        Fixtures that replace ours are left to pytest, and so are all where ``--setup-show`` prints them.
        """
        if ENTRY not in item.stash or not isinstance(item, pytest.Function) or item.config.option.setupshow:
            return
        values = {"entry": item.stash[ENTRY], **self._values}
        for name, value in values.items():
            if _is_ours(item, name):
                item.funcargs[name] = value


def _is_ours(item: pytest.Function, name: str) -> bool:
    """Say whether pytest would take a fixture of this module; False where that cannot be known."""
    # pytest has no public way to ask; without this one it looks all fixtures up itself.
    known = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
    definitions = known.get(name)
    return bool(definitions) and definitions[-1].func.__module__ == __name__
