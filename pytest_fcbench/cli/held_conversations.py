"""The conversations that a scorecard holds, held again with its answers."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.cli.run_options import settings_of, suites_known, unknown_suite
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.aggregate.trials import trials_of
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard


def replayed(chosen: argparse.Namespace, card: Scorecard, records: Sequence[Record]) -> Session:
    """A run over the suites of these Records, in which the answers of the scorecard are given.

    Raises ``UsageError`` where a suite is not known or no answer is held.
    """
    suites = suites_of(card, records, suites_known(chosen))
    if not any(record.turns for record in records):
        hint = "" if card.nodeids else "; a baseline keeps verdicts only, give the scorecard it was made from"
        raise UsageError(f"{card.path}: holds no answers{hint}")
    settings = settings_of(chosen, suites[0], f"replay:{card.path}")
    settings = replace(
        settings, mode=None, names=None, syntax=None, suites=tuple(suites), trials=trials_of(card.records)
    )
    return Session(RunContext(settings))


def suites_of(card: Scorecard, records: Sequence[Record], known: Collection[str]) -> Sequence[str]:
    """The suites of these Records. Raises ``UsageError`` where one is not known."""
    suites = sorted({record.suite for record in records})
    for suite in suites:
        if suite not in known:
            raise UsageError(f"{card.path}: {unknown_suite(suite, known)}")
    return suites


def entries_of(context: RunContext, records: Iterable[Record]) -> Mapping[str, Entry]:
    """By key, all entries of the categories of these Records."""
    used = {record.category for record in records}
    return {
        entry.key: entry
        for suite in context.suites.values()
        for category in suite.categories
        if category.name in used
        for entry in suite.load(category)
    }
