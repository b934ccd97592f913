"""A run with every kind of outcome, for the tests of formats."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile
from pytest_fcbench.scorecard.aggregate.answer_statistics import measure_usage
from pytest_fcbench.scorecard.record import Record, Usage
from pytest_fcbench.scorecard.scorecard_files import Scorecard
from pytest_fcbench.scorecard.two_models import SideBySide, VerdictTable
from pytest_fcbench.tools.export.formats import ExportRequest
from tests.factories import FACTS, make_answered_record, make_record, tool_calls

WRONG = Failed("wrong_count", "2 calls came, 1 expected")
TIMEOUT = NotScored("timeout", "no answer within 60 s")

EARLY = SideBySide(
    model="other",
    scorecard="scorecard.second.json",
    asked=7,
    total=40,
    decision="worse",
    share=0.175,
    metric="all",
    change=-0.5,
    low=-0.9,
    high=-0.1,
    sentence="worse",
    verdicts=VerdictTable(1, 4, 0, 2),
    flips={},
    usage=measure_usage(()),
    calls_saved=66,
)
"""A comparison that was decided after seven of forty tests."""
ENDED_EARLY = (
    "a run of two models ended early, after 7 of 40 tests, which makes their difference look too large and "
    "too certain; --fcbench-against-whole asks all"
)


def make_records(text: str = "") -> list[Record]:
    """Make seven Records: four passed, two failed, one not scored; ``text`` is whatever a model writes."""
    answered = make_answered_record(
        Completion(text=text or "sunny"), tool_calls((text or "forecast", '{"city": "Bergen"}')), number=0
    )
    steps = (Usage(1.5, 100, 10, 0.002), Usage(0.5, 120, 5, 0.001))
    wrong = Failed(text or WRONG.code, text or WRONG.reason)
    unscored = NotScored(text or TIMEOUT.cause, text or TIMEOUT.reason)
    return [
        replace(answered, steps=steps),
        make_record(wrong, Passed(), number=1),
        make_record(unscored, number=2),
        *(make_record(category="multiple", number=number) for number in (0, 1)),
        make_record(category="parallel", number=0),
        replace(make_record(wrong, category="parallel", number=1), marks=("slow", text or "own")),
    ]


def make_run(name: str = "a", model: str = "test", text: str = "") -> Scorecard:
    """Make a run that ended on 2026-05-28; ``text`` is whatever a model, a label or a file can bring."""
    facts = replace(FACTS, model=f"{model}{text}", labels={text: text} if text else {"step": "1"})
    if text:
        facts = replace(facts, suites={text: {"version": text, "pack_hash": None}}, notes=(text,))
    return Scorecard(Path(f"{name}.json"), facts, tuple(make_records(text)), {}, created_s=1_780_000_000.0)


def make_order(*cards: Scorecard, **chosen: object) -> ExportRequest:
    """Make an order of these scorecards, by default of one run."""
    return replace(ExportRequest(cards or (make_run(),), Profile.OFFICIAL), **chosen)  # type: ignore[arg-type]
