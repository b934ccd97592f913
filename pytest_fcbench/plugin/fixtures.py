"""The fixtures of the test bodies.

They are made once for all tests, because one for each test costs more than most bodies. What they return
knows the test that runs.
"""

from __future__ import annotations

import pytest

from pytest_fcbench.plugin.items import BENCHMARK
from pytest_fcbench.run import Ask, Judge, Score


@pytest.fixture(scope="session")
def ask(pytestconfig: pytest.Config) -> Ask:
    """Put an entry to the model and return the transcript."""
    return pytestconfig.stash[BENCHMARK].ask_model


@pytest.fixture(scope="session")
def score(pytestconfig: pytest.Config) -> Score:
    """Record a judgement and return the verdict of the selected profile."""
    return pytestconfig.stash[BENCHMARK].record_judgement


@pytest.fixture(scope="session")
def judge(pytestconfig: pytest.Config) -> Judge:
    """Judge a transcript by the matcher of its entry's rule (``matchers/registry.py``)."""
    return pytestconfig.stash[BENCHMARK].session.judge
