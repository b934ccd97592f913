"""Replay of the answers of a scorecard."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace

from pytest_fcbench.cli.options import describe_unknown_suite, find_openers, load_settings
from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.aggregate.secondary_scores import count_trials
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites.suite import Suite


@contextmanager
def open_replay(
    arguments: argparse.Namespace, card: Scorecard, records: Sequence[Record]
) -> Iterator[Session]:
    """Open a run over the suites of these Records that replays the answers of the scorecard.

    Raises ``UsageError`` if a suite is unknown or the scorecard holds no answers.
    """
    suites = find_suites(card, records, find_openers(arguments))
    if not any(record.turns for record in records):
        hint = (
            ""
            if card.nodeids
            else "; a baseline contains only verdicts, so give the scorecard from which it was made"
        )
        raise UsageError(f"{card.path}: contains no answers{hint}")
    settings = load_settings(arguments, suites[0], f"replay:{card.path}")
    trials = count_trials(card.records)
    # The scorecard knows its own mode, names and syntax; today's options could contradict them.
    bare_settings = replace(settings, mode=None, names=None, syntax=None, suites=tuple(suites), trials=trials)
    with closing(Session(RunContext(bare_settings))) as session:
        yield session


def find_suites(card: Scorecard, records: Sequence[Record], known_suites: Collection[str]) -> Sequence[str]:
    """Return the names of the suites of these Records. Raises ``UsageError`` if one is unknown."""
    suites = sorted({record.suite for record in records})
    for suite in suites:
        if suite not in known_suites:
            raise UsageError(f"{card.path}: {describe_unknown_suite(suite, known_suites)}")
    return suites


def load_entries_of(context: RunContext, records: Iterable[Record]) -> Mapping[str, Entry]:
    """Load all entries of the categories of these Records, by key."""
    return load_entries(context.suites.values(), {record.category for record in records})


def load_entries(suites: Iterable[Suite], categories: Collection[str] = CATEGORIES) -> Mapping[str, Entry]:
    """Load the entries of some categories, by key."""
    return {
        entry.key: entry
        for suite in suites
        for category in suite.categories
        if category.name in categories
        for entry in suite.load(category)
    }
