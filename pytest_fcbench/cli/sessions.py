"""Runs that a command opens beside pytest: replays of stored answers, questions to a judge or a writer."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TypeVar

from pytest_fcbench.cli.options import (
    collect_run_options,
    describe_unknown_suite,
    find_config,
    find_openers,
    find_project,
    load_settings,
)
from pytest_fcbench.config.loading import Settings, add_environment, build_judge_settings
from pytest_fcbench.dispatch.progress import show_progress
from pytest_fcbench.domain.entry import Category, Entry
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError, UsageError
from pytest_fcbench.domain.garbage_collection import CollectorSwitch
from pytest_fcbench.domain.pressure import split_level
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.judging.questions import JudgeQuestion, interpret_transcript, put_question
from pytest_fcbench.models.registry import check_judge
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from pytest_fcbench.scorecard.aggregate.secondary_scores import count_trials
from pytest_fcbench.scorecard.record import Record
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.suites.pressure import restore_pressure
from pytest_fcbench.suites.suite import Suite
from pytest_fcbench.tools.authoring.question_writing import AskWriter

T = TypeVar("T")


def load_judge_settings(arguments: argparse.Namespace, **instead: object) -> Settings | None:
    """Load the settings of the judge that was named, if any; ``instead`` overrides options.

    Raises ``UsageError``.
    """
    options = add_environment({**collect_run_options(arguments), **instead}, of_judge=True)
    if judge := build_judge_settings(options, find_config(arguments.config), find_project()):
        check_judge(judge)
    return judge


def ask_judge(
    judge: Settings, questions: Sequence[JudgeQuestion[T]], role: str = "judge"
) -> tuple[list[T | NotScored], Sequence[str]]:
    """Put questions to a model in that role; return its answers, and notes on calls and cost.

    Each question is about an entry of its own.
    """
    by_entry = {question.about.item_id: question for question in questions}
    # Without categories the run asks no other party.
    context = RunContext(replace(judge, categories=()))
    session = Session(context, converse=lambda entry: put_question(by_entry[entry.item_id], judge.label))

    def read_answer(question: JudgeQuestion[T]) -> T | NotScored:
        try:
            return interpret_transcript(question, session.transcript(question.about))
        except NotScoredError as error:
            return NotScored(error.cause, error.reason)

    collector = CollectorSwitch()
    try:
        session.start([question.about for question in questions])
        collector.calm()
        with show_progress(session.progress):
            answers = list(map(read_answer, questions))
        progress = session.progress()
        cost = "" if progress.usd is None else f", ${progress.usd:.4f}"
        notes = [f"{role} {judge.label}: calls {progress.calls}{cost}"]
        return answers, notes + [f"note: {note}" for note in session.notes]
    except KeyboardInterrupt:
        raise FcbenchError("interrupted; stored answers are reused when you run the command again") from None
    finally:
        collector.restore()
        session.close()


def load_writer(arguments: argparse.Namespace) -> AskWriter | None:
    """Return how to ask the model of ``--writer``, None without one. Raises ``UsageError``."""
    writer = load_judge_settings(arguments, judge=arguments.writer) if arguments.writer else None

    def ask(questions: Sequence[JudgeQuestion[T]], /) -> tuple[list[T | NotScored], Sequence[str]]:
        assert writer is not None
        return ask_judge(writer, questions, "writer")

    return ask if writer else None


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
            if card.created_s is not None
            else "; a baseline contains only verdicts, so give the scorecard from which it was made"
        )
        raise UsageError(f"{card.path}: contains no answers{hint}")
    settings = load_replay_settings(arguments, suites[0], card.path)
    settings = replace(settings, suites=tuple(suites), trials=count_trials(card.records))
    with closing(Session(RunContext(settings))) as session:
        yield session


def load_replay_settings(arguments: argparse.Namespace, suite: str, path: Path) -> Settings:
    """Load the settings under which recorded answers are read as their run has asked for them.

    Today's options could contradict the mode, the names and the syntax that they know. Raises ``UsageError``.
    """
    settings = load_settings(arguments, suite, f"replay:{path}")
    return replace(settings, mode=None, names=None, syntax=None, read_as=None)


def find_suites(card: Scorecard, records: Sequence[Record], known_suites: Collection[str]) -> Sequence[str]:
    """Return the names of the suites of these Records. Raises ``UsageError`` if one is unknown."""
    suites = sorted({record.suite for record in records})
    for suite in suites:
        if suite not in known_suites:
            raise UsageError(f"{card.path}: {describe_unknown_suite(suite, known_suites)}")
    return suites


def require_entries(context: RunContext, records: Sequence[Record], path: Path) -> Mapping[str, Entry]:
    """Load the entries of Records of a scorecard, by key. Raises ``UsageError`` where a suite lacks one."""
    entries = load_entries_of(context, records)
    for record in records:
        if record.entry not in entries:
            suite = f"{record.suite} {context.suites[record.suite].version}"
            raise UsageError(f"{path}: {suite} has no entry {record.entry}; use the suite version of the run")
    return {record.entry: entries[record.entry] for record in records}


def draw_sample(values: Sequence[T], limit: int | None, seed: int = 0) -> Sequence[T]:
    """Draw at most so many values at random, the same for the same seed, in their order."""
    if limit is None or limit >= len(values):
        return values
    places = Random(seed).sample(range(len(values)), limit)  # noqa: S311 - to be repeated
    return [values[place] for place in sorted(places)]


def load_entries_of(context: RunContext, records: Iterable[Record]) -> Mapping[str, Entry]:
    """Load all entries of the categories of these Records, by key, under pressure as the Records name it."""
    keys = {record.entry: record.category for record in records}
    entries = dict(load_entries(context.suites.values(), lambda category: category.name in keys.values()))
    for key in keys:
        base_key, level = split_level(key)
        if level and base_key in entries:
            entries[key] = restore_pressure(entries[base_key], key)
    return entries


def load_entries(
    suites: Iterable[Suite], is_meant: Callable[[Category], bool] = lambda category: True
) -> Mapping[str, Entry]:
    """Load the entries of all categories that are meant, by key."""
    return {
        entry.key: entry
        for suite in suites
        for category in suite.categories
        if is_meant(category)
        for entry in suite.load(category)
    }
