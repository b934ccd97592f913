"""Who lost a point: each rule decides its case, and a case that differs in one thing otherwise."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Verdict
from pytest_fcbench.tools.diagnosis.blame import (
    Culprit,
    LossEvidence,
    TrialState,
    TriedAnswer,
    attribute_loss,
    attribute_losses,
)
from tests.cases import each_case

RIGHT = TriedAnswer(TrialState.PASSED, "f(1); g(2)", ("f(1)", "g(2)"))
WRONG = TriedAnswer(TrialState.WRONG, "f(3); g(2)", ("f(3)", "g(2)"))
OTHER = TriedAnswer(TrialState.WRONG, "h()", ("h()",))
PART = TriedAnswer(TrialState.WRONG, "f(1)", ("f(1)",))
BROKEN = TriedAnswer(TrialState.DAMAGED, '{"a": 1')
SILENT = TriedAnswer(TrialState.NO_ANSWER, "server_error: HTTP 500")
NOT_ASKED = TriedAnswer(TrialState.NOT_ASKED, "not stored")
LOST = Failed("server:forced", "0 of 2 calls came back")
UNKNOWN = NotScored("undecided", "no path for it")
KEPT = Passed()


def wrong_everywhere(**known: object) -> LossEvidence:
    """What is known of an entry that is wrong in every way at a server that does everything right."""
    evidence = LossEvidence(
        WRONG,
        (WRONG, WRONG),
        (WRONG, WRONG),
        (WRONG, WRONG),
        whole_truth=KEPT,
        streamed_truth=KEPT,
        tools_reach=KEPT,
        results_reach=KEPT,
    )
    return replace(evidence, **known)  # type: ignore[arg-type]


def only_called_wrong(**known: object) -> LossEvidence:
    """An entry that is right by prompting only, at a server of which nothing else is known."""
    unknown: dict[str, object] = dict.fromkeys(("whole_truth", "streamed_truth", "tools_reach"), UNKNOWN)
    return wrong_everywhere(**{**unknown, "prompted": (RIGHT, RIGHT), **known})


def only_streams_wrong(**known: object) -> LossEvidence:
    """An entry that is right whole, at a server of which nothing else is known."""
    return only_called_wrong(**{"streams": True, "turned": (RIGHT, RIGHT), **known})


def only_a_part(tokens: int | None, **known: object) -> LossEvidence:
    """An entry of which one of two calls comes, each time with so many tokens, where both take 50."""
    part, whole = replace(PART, output_tokens=tokens), replace(RIGHT, output_tokens=50)
    evidence = only_called_wrong(first=part, again=(part, part), prompted=(whole, whole))
    return replace(evidence, **{"prompted_syntax": "hermes", **known})  # type: ignore[arg-type]


CHANGING = wrong_everywhere(again=(WRONG, RIGHT))
PROMPTED = wrong_everywhere(is_prompted=True, prompted=(), whole_truth=None, streamed_truth=None)


@each_case(
    ("evidence", "culprit"),
    (
        # The endpoint gave no answer, in the run or later.
        (wrong_everywhere(first=SILENT), Culprit.ENDPOINT),
        (wrong_everywhere(again=(SILENT, WRONG)), Culprit.MODEL),
        (wrong_everywhere(again=(SILENT, SILENT)), Culprit.UNCLEAR),
        (wrong_everywhere(again=(NOT_ASKED, NOT_ASKED)), Culprit.UNCLEAR),
        # The same request is answered rightly at other times.
        (wrong_everywhere(again=(WRONG, RIGHT)), Culprit.CHANCE),
        (wrong_everywhere(again=(WRONG, OTHER)), Culprit.MODEL),
        # A server that breaks right calls at times lets the same request pass at others.
        (wrong_everywhere(again=(WRONG, RIGHT), whole_truth=LOST), Culprit.PARSER),
        (wrong_everywhere(again=(WRONG, RIGHT), streamed_truth=LOST), Culprit.CHANCE),
        (wrong_everywhere(again=(WRONG, RIGHT), streamed_truth=LOST, streams=True), Culprit.STREAM),
        (replace(PROMPTED, again=(WRONG, RIGHT), whole_truth=LOST), Culprit.CHANCE),
        (wrong_everywhere(prompted=(RIGHT, WRONG)), Culprit.CHANCE),
        (wrong_everywhere(prompted=(WRONG, OTHER)), Culprit.MODEL),
        # Only what the server keeps makes a right answer in another way chance.
        (wrong_everywhere(turned=(RIGHT, RIGHT)), Culprit.CHANCE),
        (wrong_everywhere(turned=(RIGHT, RIGHT), whole_truth=LOST), Culprit.PARSER),
        # Tools, or results, do not reach the prompt.
        (wrong_everywhere(tools_reach=LOST), Culprit.TEMPLATE),
        (wrong_everywhere(tools_reach=LOST, needs_calls=False), Culprit.MODEL),
        (wrong_everywhere(results_reach=LOST, has_results=True), Culprit.TEMPLATE),
        (wrong_everywhere(results_reach=LOST), Culprit.MODEL),
        (replace(PROMPTED, tools_reach=LOST, results_reach=LOST, has_results=True), Culprit.MODEL),
        # The server breaks the right calls, in the way in which the run asked.
        (wrong_everywhere(whole_truth=LOST), Culprit.PARSER),
        (wrong_everywhere(whole_truth=LOST, streamed_truth=LOST, streams=True), Culprit.PARSER),
        (wrong_everywhere(streamed_truth=LOST, streams=True), Culprit.STREAM),
        (wrong_everywhere(streamed_truth=LOST), Culprit.MODEL),
        (wrong_everywhere(whole_truth=LOST, streams=True), Culprit.MODEL),
        # Whole replies and streams differ each time.
        (only_streams_wrong(), Culprit.STREAM),
        (only_streams_wrong(streams=False), Culprit.PARSER),
        (only_streams_wrong(turned=(RIGHT, WRONG)), Culprit.CHANCE),
        (only_streams_wrong(turned=(RIGHT,)), Culprit.UNCLEAR),
        (only_streams_wrong(prompted=(WRONG, WRONG)), Culprit.UNCLEAR),
        # Right by prompting: the call itself has to show that the server lost something.
        (only_called_wrong(first=BROKEN, again=(BROKEN, BROKEN)), Culprit.PARSER),
        (only_called_wrong(first=BROKEN, again=(BROKEN, WRONG)), Culprit.UNCLEAR),
        # Of a part of the calls, the tokens tell whether the model wrote more.
        (only_a_part(45), Culprit.PARSER),
        (only_a_part(26), Culprit.UNCLEAR),
        (only_a_part(None), Culprit.UNCLEAR),
        # Python takes fewer tokens than the syntax of a model.
        (only_a_part(45, prompted_syntax=""), Culprit.UNCLEAR),
        (only_a_part(1000, prompted_syntax=""), Culprit.PARSER),
        (only_a_part(45, again=(PART, OTHER)), Culprit.UNCLEAR),
        (only_a_part(45, whole_truth=KEPT), Culprit.UNCLEAR),
        (only_called_wrong(), Culprit.UNCLEAR),
        # Wrong in every way.
        (wrong_everywhere(), Culprit.MODEL),
        (wrong_everywhere(first=BROKEN), Culprit.UNCLEAR),
        (wrong_everywhere(prompted=()), Culprit.UNCLEAR),
        (wrong_everywhere(prompted=(WRONG, SILENT)), Culprit.UNCLEAR),
        (wrong_everywhere(turned=(SILENT, SILENT)), Culprit.UNCLEAR),
        (wrong_everywhere(whole_truth=UNKNOWN), Culprit.MODEL),
        (wrong_everywhere(whole_truth=UNKNOWN, prompted=(OTHER, OTHER)), Culprit.UNCLEAR),
        (wrong_everywhere(prompted=(WRONG, replace(WRONG, is_parsed=True))), Culprit.UNCLEAR),
        (PROMPTED, Culprit.MODEL),
        (replace(PROMPTED, again=(WRONG, BROKEN)), Culprit.UNCLEAR),
    ),
)
def test_who_lost_a_point(evidence: LossEvidence, culprit: Culprit) -> None:
    attribution = attribute_loss(evidence)
    assert attribution.culprit is culprit, attribution


TRIALS = st.sampled_from([RIGHT, WRONG, OTHER, PART, BROKEN, SILENT, NOT_ASKED])
SOME = st.lists(TRIALS, max_size=3).map(tuple)


@each_case(
    ("others", "culprit"),
    (
        # Right calls of requests that pass at other times break about as often as answers are wrong.
        ([replace(CHANGING, whole_truth=LOST)], Culprit.PARSER),
        ([CHANGING, CHANGING, replace(CHANGING, whole_truth=LOST)], Culprit.PARSER),
        ([replace(CHANGING, streams=True, streamed_truth=LOST)], Culprit.STREAM),
        # Much less often than they are wrong.
        ([*[CHANGING] * 8, replace(CHANGING, whole_truth=LOST)], Culprit.CHANCE),
        # Only those of another entry, each time.
        ([wrong_everywhere(whole_truth=LOST)], Culprit.CHANCE),
        # What only streams break has lost nothing of a run of whole replies.
        ([replace(CHANGING, streamed_truth=LOST)], Culprit.CHANCE),
        ([CHANGING], Culprit.CHANCE),
    ),
)
def test_a_parser_that_loses_calls_at_times_shows_at_the_other_entries(
    others: list[LossEvidence], culprit: Culprit
) -> None:
    streams = others[0].streams
    changing = replace(CHANGING, streams=streams)
    silent = replace(changing, needs_calls=False)
    prompted = wrong_everywhere(again=(WRONG, WRONG), prompted=(RIGHT, RIGHT), streams=streams)
    model = wrong_everywhere(streams=streams)
    attributions = attribute_losses([changing, silent, prompted, model, *others])
    unclear = Culprit.UNCLEAR if culprit is Culprit.CHANCE else culprit
    assert [each.culprit for each in attributions[:4]] == [culprit, Culprit.CHANCE, unclear, Culprit.MODEL]


VERDICTS = st.sampled_from([None, KEPT, LOST, UNKNOWN])


@given(
    st.builds(
        LossEvidence,
        TRIALS.filter(lambda trial: trial is not RIGHT),
        *(SOME, SOME, SOME),
        *(st.booleans(), st.booleans(), st.booleans(), st.booleans()),
        *(VERDICTS, VERDICTS, VERDICTS, VERDICTS),
    )
)
def test_the_model_is_blamed_only_where_no_answer_is_right_and_all_can_be_read(
    evidence: LossEvidence,
) -> None:
    if evidence.is_prompted:
        # A prompting run is not asked by prompting once more.
        evidence = replace(evidence, prompted=())
    attribution = attribute_loss(evidence)
    assert attribution.evidence
    if attribution.culprit is not Culprit.MODEL:
        return
    asked = (evidence.first, *evidence.again, *evidence.turned, *evidence.prompted)
    states = {trial.state for trial in asked} - {TrialState.NO_ANSWER, TrialState.NOT_ASKED}
    assert states == {TrialState.WRONG}
    if not evidence.is_prompted:
        own_truth = evidence.streamed_truth if evidence.streams else evidence.whole_truth
        assert not isinstance(own_truth, Failed)


def test_what_is_kept_in_one_way_only_is_said_so() -> None:
    kept = only_called_wrong(whole_truth=KEPT)
    assert attribute_loss(kept).reason.endswith("the server keeps the right calls")
    told = attribute_loss(replace(kept, streamed_truth=LOST)).reason
    assert told.endswith("the server keeps the right calls, though not streamed")


@pytest.mark.parametrize(("verdict", "words"), [(KEPT, "kept"), (LOST, "0 of 2 calls came back")])
def test_the_evidence_tells_each_way_once(verdict: Verdict, words: str) -> None:
    lines = attribute_loss(wrong_everywhere(whole_truth=verdict)).evidence
    assert lines[0].startswith("function calling, whole, in the run: ")
    assert "f(3); g(2)" in lines[0]
    assert sum(line.startswith("function calling, whole, again, 2 times: ") for line in lines) == 1
    assert any(line.startswith("right calls put through") and words in line for line in lines)
    assert any(line.startswith("in the prompt, 2 times: ") for line in lines)
    lines = attribute_loss(wrong_everywhere(prompted_syntax="hermes")).evidence
    assert any(line.startswith("in the prompt, calls asked for in the syntax hermes, 2") for line in lines)
