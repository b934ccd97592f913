"""What commands that ask judges have in common: their settings, asking them, how two agree."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pytest_fcbench.cli.run_options import given
from pytest_fcbench.config.loading import Settings, config_file, load_judge
from pytest_fcbench.dispatch.progress import show_progress
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError, UsageError
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.matchers.judging.questions import Question, answered, put
from pytest_fcbench.models.registry import check_judge
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from pytest_fcbench.tools.diagnosis.agreement import Agreement

T = TypeVar("T")

ENDPOINT = ("judge_api_base", "judge_api_key_env")
LIMITS = (
    *("concurrency", "rpm", "tpm", "retries", "timeout", "max_usd", "no_preflight", "store", "offline"),
    "refresh",
)
"""Options of a run that hold for who is asked as a judge."""


def judge_of(chosen: argparse.Namespace, **instead: object) -> Settings | None:
    """The settings of the judge that was named; ``instead`` takes the place of options.

    Raises ``UsageError``.
    """
    options = {**given(chosen), **instead}
    judge = in_words_of_a_judge(lambda: load_judge(options, config_file(Path(), chosen.config)))
    if judge:
        in_words_of_a_judge(lambda: check_judge(judge))
    return judge


def in_words_of_a_judge(do: Callable[[], T]) -> T:
    """What this gives; its errors speak of the judge's options."""
    try:
        return do()
    except UsageError as error:
        text = str(error).replace("--fcbench-api-", "--judge-api-")
        text = text.replace("--fcbench-judge", "--judge")
        text = text.replace(", and whether it takes tools (--fcbench-mode=prompt sends none)", "")
        raise UsageError(text) from None


def asked(
    judge: Settings, questions: Sequence[Question[T]], role: str = "judge"
) -> tuple[list[T | NotScored], Sequence[str]]:
    """The answers of a model in that role, and what is to be known of it. Each question is about an entry of
    its own."""
    by_entry = {question.about.item_id: question for question in questions}
    context = RunContext(replace(judge, categories=()))  # no entries, so nobody else is asked
    session = Session(context, converse=lambda entry: put(by_entry[entry.item_id], judge.label))
    try:
        in_words_of_a_judge(lambda: session.start([question.about for question in questions]))
        with show_progress(session.progress):
            coming = _answers(session, questions)  # apart, because mypy infers another type in one
            answers = list(coming)
        progress = session.progress()
        spent = "" if progress.usd is None else f", ${progress.usd:.4f}"
        notes = [f"{role} {judge.label}: calls {progress.calls}{spent}"]
        return answers, notes + [f"note: {note}" for note in session.notes]
    except KeyboardInterrupt:
        raise FcbenchError("interrupted; what is stored is not asked for again") from None
    finally:
        session.close()


def _answers(session: Session, questions: Sequence[Question[T]]) -> Iterator[T | NotScored]:
    for question in questions:
        try:
            answer = answered(question, session.transcript(question.about))
            yield answer
        except NotScoredError as error:
            yield NotScored(error.cause, error.reason)


def agreed(agreement: Agreement, one: str, other: str, labels: Sequence[str]) -> Iterator[str]:
    """How far two agree, and a table of the labels that were used, in the order given."""
    kappa = agreement.kappa
    beyond = "not defined (both gave one and the same label to all)" if kappa is None else f"{kappa:.2f}"
    yield f"agreement {agreement.share or 0:.1%}, Cohen's kappa {beyond}"
    yield ""
    table: Mapping[tuple[str, str], int] = agreement.table
    used = [label for label in labels if any(label in pair for pair in table)]
    yield f"{one} down, {other} across"
    yield f"{'':<24}{''.join(f'{label:>20}' for label in used)}"
    for row in used:
        yield f"{row:<24}{''.join(f'{table.get((row, column), 0):>20}' for column in used)}"
    if agreement.different:
        yield ""
        yield f"different ({len(agreement.different)})"
