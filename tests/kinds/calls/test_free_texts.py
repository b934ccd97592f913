"""Free texts among the arguments: what is asked, and what an opinion changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import FailedEntry
from pytest_fcbench.domain.transcript import (
    BUILTIN,
    AuxiliaryCall,
    Completion,
    Fault,
    Party,
    PathSettings,
    ToolCall,
    Transcript,
)
from pytest_fcbench.domain.verdict import Failed, Judgement, NotScored, Passed, Profile
from pytest_fcbench.kinds.calls.kind import SIMPLE
from pytest_fcbench.kinds.calls.truth import ExpectedCalls
from pytest_fcbench.kinds.calls.verdict import judge
from pytest_fcbench.kinds.kind import ConversationContext, Resources
from pytest_fcbench.kinds.table import converse
from tests.cases import each_case
from tests.factories import make_doc, make_entry, tool_calls
from tests.kinds.golden_path.talking import FC
from tests.kinds.test_chat import CORE

TEXT = {"type": "string"}
DOC = make_doc("mail", {"to": TEXT, "body": TEXT}, ["to", "body"])
RIGHT = "I am ill today and stay at home."
OTHER = "I cannot come, as I have fallen ill."


def _make_entry(*bodies: str, category: str = "simple_python") -> Entry:
    """Make an entry that expects a mail to ann for each of these bodies, which are free text."""
    expect = [{"mail": {"to": ["ann"], "body": [body]}} for body in bodies]
    entry = make_entry(category, functions=[DOC], expect=expect)
    assert isinstance(entry.expectation, ExpectedCalls)
    calls = tuple(replace(call, judged=("body",)) for call in entry.expectation.calls)
    return replace(entry, expectation=ExpectedCalls(calls))


def _mail(body: object, **more: object) -> tuple[str, object]:
    return "mail", {"to": "ann", "body": body, **more}


def _converse(
    entry: Entry, answer: Completion, opinions: Mapping[str, bool], name: str = "wise"
) -> tuple[Judgement, list[str]]:
    """Put an entry; the judge has an opinion on each text. Return the verdicts, and the texts in question."""
    transcript, asked = _converse_whole(entry, answer, opinions, name)
    return judge(entry, transcript), asked


def _converse_whole(
    entry: Entry, answer: Completion, opinions: Mapping[str, bool], name: str
) -> tuple[Transcript, list[str]]:
    asked: list[str] = []
    talk = converse(entry, ConversationContext(FC, CORE, PathSettings(Profile.OFFICIAL, judge=name)))
    demand, reply = next(talk), answer
    while True:
        try:
            demand = talk.send(reply)
        except StopIteration as done:
            transcript: Transcript = done.value
            return transcript, asked
        assert demand.party is Party.JUDGE
        material = json.loads(str(demand.messages[1]["content"]).split("\n", 1)[1].rsplit("\n", 1)[0])
        asked.append(material["text that was given"])
        reply = Completion(text=json.dumps({"same": opinions[asked[-1]], "reason": "Read both."}))


def test_a_text_with_the_same_meaning_passes_in_the_corrected_profile_only() -> None:
    found, asked = _converse(_make_entry(RIGHT), tool_calls(_mail(OTHER)), {OTHER: True})
    assert asked == [OTHER]
    assert found.corrected == Passed()
    assert isinstance(found.official, Failed)
    assert found.official.code == "value_error:string"


def test_a_text_with_another_meaning_fails_with_the_reason() -> None:
    found, _ = _converse(_make_entry(RIGHT), tool_calls(_mail("Happy birthday!")), {"Happy birthday!": False})
    assert isinstance(found.corrected, Failed)
    assert found.corrected.code == "value_error:string"
    assert found.corrected.reason.endswith("; the judge: Read both.")


@each_case(
    "answer",
    [
        tool_calls(("post", {"to": "ann", "body": OTHER})),
        tool_calls(("mail", {"to": "bob", "body": OTHER})),
        tool_calls(("mail", {"body": OTHER})),
        tool_calls(_mail(OTHER, cc="bob")),
        tool_calls(_mail(OTHER), _mail(OTHER)),
        tool_calls(_mail([OTHER])),
        Completion(tool_calls=(ToolCall("mail", "{"),)),
        Completion(text=OTHER),
        Completion(text="timeout", fault=Fault.INFERENCE_ERROR),
    ],
    ids=["function", "value", "missing", "unknown", "count", "type", "broken", "words", "error"],
)
def test_whatever_else_is_wrong_fails_without_a_question(answer: Completion) -> None:
    found, asked = _converse(_make_entry(RIGHT), answer, {})
    assert asked == []
    assert not isinstance(found.corrected, Passed)


def test_the_accepted_words_pass_without_a_question() -> None:
    found, asked = _converse(_make_entry(RIGHT), tool_calls(_mail(RIGHT)), {})
    assert (found.corrected, found.official, asked) == (Passed(), Passed(), [])


def test_without_a_judge_the_same_words_pass_only() -> None:
    found, asked = _converse(_make_entry(RIGHT), tool_calls(_mail(OTHER)), {}, name=BUILTIN)
    assert isinstance(found.corrected, Failed)
    assert "the judge" not in found.corrected.reason
    assert asked == []


def test_a_parameter_that_is_not_marked_is_never_put_to_a_judge() -> None:
    entry = make_entry(functions=[DOC], expect=[{"mail": {"to": ["ann"], "body": [RIGHT]}}])
    found, asked = _converse(entry, tool_calls(_mail(OTHER)), {})
    assert isinstance(found.corrected, Failed)
    assert asked == []


def test_each_of_several_calls_needs_its_own_text() -> None:
    entry = _make_entry(RIGHT, "Please feed the cat.", category="parallel")
    answer = tool_calls(_mail(OTHER), _mail("Give the cat something to eat."))
    cat, ill = "Give the cat something to eat.", OTHER
    # Each text means one of the two, so the judge is asked about both with both.
    found, asked = _converse(entry, answer, {ill: True, cat: False})
    assert sorted(asked) == sorted([ill, cat] * 2)
    assert isinstance(found.corrected, Failed)


def test_a_text_that_the_judge_took_is_not_what_is_wrong() -> None:
    doc = make_doc("mail", {"subject": TEXT, "body": TEXT}, ["subject", "body"])
    entry = make_entry(functions=[doc], expect=[{"mail": {"subject": ["Ill"], "body": [RIGHT]}}])
    assert isinstance(entry.expectation, ExpectedCalls)
    (call,) = entry.expectation.calls
    entry = replace(entry, expectation=ExpectedCalls((replace(call, judged=("subject", "body")),)))
    answer = tool_calls(("mail", {"subject": "Not well", "body": OTHER}))
    transcript = _converse_whole(entry, answer, {"Not well": True, OTHER: False}, "wise")[0]
    verdict = judge(entry, transcript).corrected
    assert isinstance(verdict, Failed)
    failure = FailedEntry(entry, transcript, verdict, Profile.CORRECTED)
    assert SIMPLE.classify_failure(failure, cast("Resources", None)).parameter == "body"


def _ask_once(entry: Entry, reply: Completion) -> Transcript:
    """Return the conversation in which the model words the text otherwise and the judge replies once."""
    talk = converse(entry, ConversationContext(FC, CORE, PathSettings(Profile.OFFICIAL, judge="wise")))
    next(talk)
    talk.send(tool_calls(_mail(OTHER)))
    with pytest.raises(StopIteration) as done:
        talk.send(reply)
    transcript: Transcript = done.value.value
    return transcript


def test_a_judge_without_an_opinion_leaves_the_entry_unscored() -> None:
    entry = _make_entry(RIGHT)
    found = judge(entry, _ask_once(entry, Completion(text="busy", fault=Fault.INFERENCE_ERROR)))
    assert isinstance(found.corrected, NotScored)
    assert found.corrected.cause == "judge"
    assert isinstance(found.official, Failed)


def test_an_opinion_on_another_text_decides_nothing() -> None:
    entry = _make_entry(RIGHT)
    transcript = _ask_once(entry, Completion(text='{"same": true, "reason": "Read both."}'))
    forged = replace(
        transcript,
        asides=tuple(AuxiliaryCall(each.party, "0", each.completion) for each in transcript.asides),
    )
    assert judge(entry, transcript).corrected == Passed()
    assert isinstance(judge(entry, forged).corrected, NotScored)
