"""The fixtures of the test bodies.

All but ``answer`` are made once for all tests, because one for each test costs more than most bodies. What
they return knows the test that runs. None takes ``request`` or ``pytestconfig``, which pytest makes again for
each test.
"""

from __future__ import annotations

from types import ModuleType

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.plugin.items import ENTRY, Benchmark
from pytest_fcbench.run import Answer, Ask, Judge, Score, read_answer


def make_fixtures(benchmark: Benchmark) -> ModuleType:
    """Make the fixtures of a run, in a module: pytest reads session fixtures of modules and classes only."""

    @pytest.fixture(scope="session")
    def ask() -> Ask:
        """Put an entry to the model and return the transcript."""
        return benchmark.ask_model

    @pytest.fixture(scope="session")
    def score() -> Score:
        """Record a judgement and return the verdict of the selected profile."""
        return benchmark.record_judgement

    @pytest.fixture(scope="session")
    def judge() -> Judge:
        """Judge a transcript in both profiles, as the kind of its entry does (``kinds/judgement.py``)."""
        return benchmark.session.judge

    @pytest.fixture
    def answer(entry: Entry, ask: Ask) -> Answer:
        """Put the entry to the model and return its answer: ``text`` and ``calls``."""
        return read_answer(entry, ask(entry))

    module = ModuleType(f"{__name__}.of_run")
    vars(module).update(ask=ask, score=score, judge=judge, answer=answer)
    return module


class BodyArguments:
    """Gives test bodies the values of the fixtures, which pytest takes longer to look up than to judge."""

    def __init__(self, benchmark: Benchmark) -> None:
        self._values = {
            "ask": benchmark.ask_model,
            "judge": benchmark.session.judge,
            "score": benchmark.record_judgement,
        }

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Give a test its entry and the values of our fixtures.

        Fixtures that ask for ours by the same name replace them and are left to pytest; others of that name
        are about something else. ``--setup-show`` leaves all to pytest, which prints them.
        """
        if ENTRY not in item.stash or not isinstance(item, pytest.Function) or item.config.option.setupshow:
            return
        # pytest has no public way to ask who defines a fixture; without this one it looks all up itself.
        definitions_by_name = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", None)
        if definitions_by_name is None:
            return
        replaced_names = {
            name
            for name, definitions in definitions_by_name.items()
            if definitions and name in definitions[-1].argnames
        }
        ours = {name: value for name, value in self._values.items() if name not in replaced_names}
        item.funcargs.update(ours, entry=item.stash[ENTRY])
