"""Common parts of commands that ask a judge: its settings, its answers, the agreement of two judges."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from pytest_fcbench.cli.options import collect_run_options, find_config, find_project
from pytest_fcbench.config.loading import Settings, add_environment, build_judge_settings
from pytest_fcbench.dispatch.progress import show_progress
from pytest_fcbench.domain.errors import FcbenchError, NotScoredError
from pytest_fcbench.domain.garbage_collection import CollectorSwitch
from pytest_fcbench.domain.verdict import NotScored
from pytest_fcbench.judging.questions import JudgeQuestion, interpret_transcript, put_question
from pytest_fcbench.models.registry import check_judge
from pytest_fcbench.run.context import RunContext
from pytest_fcbench.run.session import Session
from pytest_fcbench.tools.diagnosis.root_causes import Agreement

T = TypeVar("T")

JUDGE_ENDPOINT = ("judge_api_base", "judge_api_key_env")
JUDGE_OPTIONS = (
    *JUDGE_ENDPOINT,
    *(
        "concurrency",
        "rpm",
        "tpm",
        "retries",
        "timeout",
        "max_usd",
        "no_preflight",
        "wait",
        "store",
        "offline",
    ),
    "refresh",
)
"""Options of a run that set the endpoint of a judge and the limits of its calls."""


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
            answer = interpret_transcript(question, session.transcript(question.about))
        except NotScoredError as error:
            return NotScored(error.cause, error.reason)
        return answer

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


def render_agreement(agreement: Agreement, one: str, other: str, labels: Sequence[str]) -> Iterator[str]:
    """Render the agreement of two judges, with a table of the labels that they used in the order given."""
    kappa = agreement.kappa
    beyond = "not defined (both gave the same label to all of them)" if kappa is None else f"{kappa:.2f}"
    yield f"agreement {agreement.share or 0:.1%}, Cohen's kappa {beyond}"
    yield ""
    table = agreement.table
    used_labels = [label for label in labels if any(label in pair for pair in table)]
    yield f"{one} down, {other} across"
    yield f"{'':<24}{''.join(f'{label:>20}' for label in used_labels)}"
    for row in used_labels:
        yield f"{row:<24}{''.join(f'{table.get((row, column), 0):>20}' for column in used_labels)}"
    if agreement.different:
        yield ""
        yield f"different ({len(agreement.different)})"
