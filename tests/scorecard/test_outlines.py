"""An outline of a Record counts as the Record does, and takes a small part of its memory."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fcbench.domain.transcript import AuxiliaryCall, Completion, Ending, Fault, Party
from pytest_fcbench.domain.verdict import SET_ASIDE, Difference, Failed, NotScored, Passed, Profile, Verdicts
from pytest_fcbench.present.comparison_tables import tabulate_comparison
from pytest_fcbench.present.document import write_section
from pytest_fcbench.present.html.island import SuiteInfo
from pytest_fcbench.present.run_end import write_end
from pytest_fcbench.present.table_formats import FORMATS
from pytest_fcbench.present.terminal import write_summary
from pytest_fcbench.scorecard.aggregate.answer_statistics import (
    describe_endings,
    describe_protocol_notes,
    describe_unusable_answers,
)
from pytest_fcbench.scorecard.compare.comparison import compare_scorecards
from pytest_fcbench.scorecard.gate.gate import Evidence
from pytest_fcbench.scorecard.outlines import Outliner
from pytest_fcbench.scorecard.record import Record, Usage
from pytest_fcbench.scorecard.scorecard_files import Scorecard, load_outlines, load_scorecard
from tests.cases import each_case
from tests.factories import (
    FACTS,
    make_answered_record,
    make_call_verdict,
    make_evidence,
    make_format_record,
    make_path_record,
    make_path_score,
    make_record,
    tool_calls,
    write_scorecard,
)
from tests.present.html.parsed import render_report
from tests.scorecard.aggregate.test_secondary_scores import RECORDS as EXECUTED
from tests.scorecard.aggregate.test_secondary_scores import make_chat_records

LONG = "x" * 5_000
WRONG = Failed("value_error:string", "'Oslo' is not 'Bergen'", {"found": LONG})
IN_TURNS = Failed("multi_turn:wrong", "turn 2", {"right_turns": 1, "turns": 3, "state": LONG})
PATH = make_path_score(
    make_call_verdict(),
    make_call_verdict(
        code="value_error", made={"city": LONG, "dates": 3}, expected={"city": "Bergen", "dates": 4}
    ),
    make_call_verdict(name="other", paired=False, code="func_error"),
    make_call_verdict(
        code="param_missing", made={}, expected={"token": 1}, differences=[Difference("token", "a", "b")]
    ),
)
ASIDES = (
    AuxiliaryCall(Party.JUDGE, "0f", Completion(LONG, input_tokens=7, output_tokens=2, latency_s=0.5), 0.25),
    AuxiliaryCall(Party.WEB, "1f", Completion(LONG)),
)
ANSWERS = (
    Completion(LONG, reasoning=LONG, ending=Ending.CUT),
    tool_calls(("f", LONG)),
    Completion(" ", tool_calls=(), protocol=("stream_index", "no_done")),
    Completion(fault=Fault.OVERFLOW),
)
VARIED: Sequence[Record] = [
    *(make_answered_record(answer, official=WRONG, number=n) for n, answer in enumerate(ANSWERS)),
    make_answered_record(*ANSWERS, category="multi_turn_base", official=IN_TURNS),
    make_answered_record(*ANSWERS, category="multi_turn_base", number=1),
    make_record(WRONG, NotScored(SET_ASIDE, "bad"), category="parallel", steps=[Usage(1.5, 10, 3, 0.5)] * 2),
    make_record(NotScored("timeout", "600 s"), category="parallel", number=1),
    make_path_record(WRONG, path=PATH),
    make_path_record(number=1, path=PATH, cluster="template"),
    *(make_format_record(entry, number, (WRONG, Passed())[entry]) for entry in (0, 1) for number in (0, 1)),
    replace(make_record(category="live_simple"), asides=ASIDES, marks=("slow",), cluster="template"),
    *EXECUTED,
    *make_chat_records(2, 0, NotScored("judge_reply", LONG)),
]
"""Records of each kind that scores look at."""


def make_outlines(records: Sequence[Record]) -> list[Record]:
    return list(map(Outliner().outline_record, records))


def test_the_section_is_the_same() -> None:
    written = [
        write_section(FACTS, make_evidence(records, size=3), ())
        for records in (VARIED, make_outlines(VARIED))
    ]
    assert written[0] == written[1]


@pytest.mark.parametrize("profile", Profile)
def test_the_end_of_a_run_is_the_same(profile: Profile) -> None:
    facts = replace(FACTS, profile=profile)
    told = [
        [
            *write_summary(facts, evidence, width=100, most=30),
            *write_end(facts, evidence, (), width=100, annotate=False),
        ]
        for records in (VARIED, make_outlines(VARIED))
        for evidence in [Evidence(records, profile, lambda name: 3, {})]
    ]
    assert told[0] == told[1]


@each_case("answer", [*ANSWERS, Completion("I cannot.")])
def test_answers_that_nothing_can_be_done_with_are_noticed_all_the_same(answer: Completion) -> None:
    records = [make_answered_record(answer, official=WRONG, number=number) for number in range(20)]
    assert describe_unusable_answers(make_outlines(records)) == describe_unusable_answers(records)
    assert describe_endings(make_outlines(records)) == describe_endings(records)
    assert describe_protocol_notes(make_outlines(records)) == describe_protocol_notes(records)


def load_both(path: Path, records: Sequence[Record]) -> tuple[Scorecard, Scorecard]:
    """Load a scorecard with whole Records, and with outlines that can be made whole."""
    whole = load_scorecard(write_scorecard(path, records))
    by_id = {record.item_id: record for record in whole.records}
    return whole, replace(load_outlines(path), read_whole=lambda record: by_id[record.item_id])


def test_the_page_is_the_same(tmp_path: Path) -> None:
    whole, outlined = load_both(tmp_path / "card.json", VARIED)
    assert whole.records != outlined.records
    assert render_report([outlined], SuiteInfo(), Profile.OFFICIAL) == render_report(
        [whole], SuiteInfo(), Profile.OFFICIAL
    )


@pytest.mark.parametrize("profile", Profile)
def test_a_comparison_is_the_same(tmp_path: Path, profile: Profile) -> None:
    again = [replace(record, verdicts=Verdicts(Passed(), WRONG)) for record in VARIED]
    before, after = load_both(tmp_path / "1.json", VARIED), load_both(tmp_path / "2.json", again)
    told = [
        list(FORMATS["text"]("x", tabulate_comparison(compare_scorecards(one, other, profile), 50)))
        for one, other in zip(before, after, strict=True)
    ]
    assert told[0] == told[1]


def test_nothing_long_is_left() -> None:
    assert LONG in str(VARIED)
    assert LONG not in str(make_outlines(VARIED))


def test_an_outline_is_its_own_outline() -> None:
    outlines = make_outlines(VARIED)
    assert make_outlines(outlines) == outlines


def test_what_many_have_in_common_is_one_object() -> None:
    """As Records come from workers and from files: no two of them share anything."""
    records = [make_answered_record(Completion(LONG), number=number) for number in range(2)]
    one, other = make_outlines([pickle.loads(pickle.dumps(record)) for record in records])
    for name in ("suite", "category", "group", "model", "mode", "verdicts", "turns", "steps", "marks"):
        assert getattr(one, name) is getattr(other, name), name
