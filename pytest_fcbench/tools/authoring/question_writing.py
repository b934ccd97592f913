"""Have a model write questions from function docs, or word those of a user who needs given calls.

Of written questions those are kept that the model solves again the same way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Protocol, TypeVar

from pytest_fcbench.codecs.decoders.syntax import Calls
from pytest_fcbench.domain.entry import CATEGORIES, Entry, Message
from pytest_fcbench.domain.function_doc import FunctionDoc, describe_misfit
from pytest_fcbench.domain.text import as_mapping, read_json_text
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import NotScored, Passed
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit
from pytest_fcbench.kinds.calls.truth import list_expected_calls
from pytest_fcbench.kinds.calls.verdict import match_calls
from pytest_fcbench.kinds.relevance import NoCall
from pytest_fcbench.tools.authoring.entry_writing import DraftedQuestion, draft_questions
from pytest_fcbench.tools.authoring.sampling import Walk

_DISTRACTORS = 4
"""The other functions that are offered when a question is solved."""


@dataclass(frozen=True, slots=True)
class Drafts:
    """Entries from written questions, and what became of the other questions."""

    entries: Sequence[Entry]
    written: int
    """Questions that were written."""
    notes: Sequence[str]
    """The questions that were left out, each with the reason, and remarks on the writer."""


def write_questions(
    ask: AskWriter, docs: Sequence[FunctionDoc], per_function: int, pairs: int, seed: int, suite: str
) -> Drafts:
    """Have a model write questions for each function and for pairs of functions, and solve them again.

    A question is kept where a second request, which does not show the first answer, yields the same calls.
    """
    chance = Random(seed)  # noqa: S311 - no secret
    all_pairs = list(combinations(docs, 2))
    groups = [*((doc,) for doc in docs), *chance.sample(all_pairs, min(pairs, len(all_pairs)))]
    requests = [
        _ask_for_questions(f"write_{number}", group, per_function if len(group) == 1 else 1)
        for number, group in enumerate(groups)
    ]
    answers, writing_notes = ask(requests)
    notes = [
        f"{' and '.join(doc.name for doc in group)}: not written: {answer.reason}"
        for group, answer in zip(groups, answers, strict=True)
        if isinstance(answer, NotScored)
    ]
    good_answers = [answer for answer in answers if not isinstance(answer, NotScored)]
    drafted_questions = [question for questions, _ in good_answers for question in questions]
    refusal_reasons = [reason for _, reasons in good_answers for reason in reasons]
    notes += [f"left out, a question that {reason}" for reason in refusal_reasons]
    entries = list(draft_questions(drafted_questions, suite))
    requests_to_solve = [_ask_for_calls(entry, docs, chance) for entry in entries]
    solutions, solving_notes = ask(requests_to_solve) if requests_to_solve else ([], ())
    kept_questions: list[DraftedQuestion] = []
    for question, entry, calls in zip(drafted_questions, entries, solutions, strict=True):
        if isinstance(calls, NotScored):
            notes.append(f"left out, not solved: {question.text!r:.100}: {calls.reason}")
            continue
        verdict = match_calls(entry, Calls(tuple(calls))) if calls else "no call"
        if isinstance(verdict, Passed):
            kept_questions.append(question)
        else:
            notes.append(f"left out, solved otherwise: {question.text!r:.100}: {verdict}")
    number = len(drafted_questions) + len(refusal_reasons)
    return Drafts(
        list(draft_questions(kept_questions, suite)), number, [*notes, *writing_notes, *solving_notes]
    )


def _ask_for_calls(
    entry: Entry, docs: Sequence[FunctionDoc], chance: Random
) -> JudgeQuestion[Sequence[Call]]:
    """Ask for the calls that an entry needs, with other functions offered beside its own."""
    others = [doc for doc in docs if doc not in entry.functions]
    offered_docs = [*entry.functions, *chance.sample(others, min(_DISTRACTORS, len(others)))]
    chance.shuffle(offered_docs)
    material = {"functions": _show_docs(offered_docs), "message": entry.turns[0][0].content}
    return make_question(f"solve_{entry.id}", "solving_question.md", material, _read_calls)


def _show_docs(docs: Sequence[FunctionDoc]) -> list[dict[str, object]]:
    return [
        {"name": doc.name, "description": doc.description, "parameters": doc.shown_schema} for doc in docs
    ]


def _ask_for_questions(
    name: str, docs: Sequence[FunctionDoc], number: int
) -> JudgeQuestion[tuple[Sequence[DraftedQuestion], Sequence[str]]]:
    """Ask for questions about functions, each with its calls.

    A reply is read as its valid questions, of which there must be one, and the faults of the others.
    """
    by_name = {doc.name: doc for doc in docs}

    def read_questions(reply: Mapping[str, object]) -> tuple[Sequence[DraftedQuestion], Sequence[str]]:
        questions = reply.get("questions")
        if not isinstance(questions, list) or not questions:
            raise Unfit(f'must have "questions", a list of {number}')
        drafted_questions: list[DraftedQuestion] = []
        refusals: list[Unfit] = []
        for value in questions[:number]:
            try:
                drafted_questions.append(read_drafted_question(value, by_name))
            except Unfit as unfit:
                refusals.append(unfit)
        if not drafted_questions:
            raise refusals[0]
        return drafted_questions, [*map(str, refusals)]

    material = {"functions": _show_docs(docs), "number": number}
    return make_question(name, "writing_questions.md", material, read_questions)


def read_drafted_question(value: object, by_name: Mapping[str, FunctionDoc]) -> DraftedQuestion:
    """Read a question that needs one call of each function and mentions all values. Raises ``Unfit``."""
    question = as_mapping(value)
    message = question.get("message")
    if not isinstance(message, str) or not message.strip():
        raise Unfit('must have "message", a text, in each question')
    calls = _read_calls(question)
    if sorted(call.name for call in calls) != sorted(by_name):
        raise Unfit(f"must call each of {', '.join(by_name)} once in {message!r:.60}")
    for call in calls:
        if why := describe_misfit(call.name, call.arguments, by_name):
            raise Unfit(f"has a call that does not fit the docs: {why}")
    values = ([argument] for call in calls for argument in call.arguments.values())
    check_message(message, values, by_name, f" in {message!r:.60}")
    return DraftedQuestion(message.strip(), tuple((call, by_name[call.name]) for call in calls))


def _read_calls(reply: Mapping[str, object]) -> tuple[Call, ...]:
    raw_calls = reply.get("calls")
    if not isinstance(raw_calls, list):
        raise Unfit('must have "calls", a list')
    calls = []
    for each in map(as_mapping, raw_calls):
        name, arguments = each.get("name"), each.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            raise Unfit('must have "name" and "arguments", an object, in each call')
        calls.append(Call(name, arguments))
    return tuple(calls)


T = TypeVar("T")


class AskWriter(Protocol):
    """A model that writes."""

    def __call__(self, questions: Sequence[JudgeQuestion[T]], /) -> tuple[list[T | NotScored], Sequence[str]]:
        """Put questions to the model; return its answers, and notes on calls and cost."""


def word_walks(ask: AskWriter, walks: Sequence[Walk]) -> tuple[dict[tuple[int, int], str], Sequence[str]]:
    """Have a model word the turns of walks.

    Return the texts by number of walk and turn, and notes. Walks that the model failed to word have none.
    """
    questions = [_make_walk_question(number, walk) for number, walk in enumerate(walks)]
    answers, asking_notes = ask(questions)
    wordings: dict[tuple[int, int], str] = {}
    notes = list(asking_notes)
    for number, answer in enumerate(answers):
        if isinstance(answer, NotScored):
            notes.append(f"walk {number} is not worded: {answer.cause}: {answer.reason}")
        else:
            wordings |= {(number, turn): text for turn, text in enumerate(answer)}
    return wordings, notes


def _make_walk_question(number: int, walk: Walk) -> JudgeQuestion[Sequence[str]]:
    """Ask for the messages of a walk; a reply must mention what the calls of each turn need."""
    turn_mentions = [walk.list_mentions(turn) for turn in range(len(walk.turns))]
    names = {call.name for calls in walk.turns for call in calls}
    turns = [
        {"calls": [{"call": call.text, "returns": call.result[:1000]} for call in calls], "mention": mentions}
        for calls, mentions in zip(walk.turns, turn_mentions, strict=True)
    ]

    def read(reply: Mapping[str, object]) -> Sequence[str]:
        messages = reply.get("messages")
        if not isinstance(messages, list) or not all(isinstance(text, str) and text for text in messages):
            raise Unfit('must have "messages", a list of texts')
        if len(messages) != len(turn_mentions):
            raise Unfit(f"must have {len(turn_mentions)} messages, one for each turn, it has {len(messages)}")
        for turn, (text, mentions) in enumerate(zip(messages, turn_mentions, strict=True)):
            check_message(text, ([value] for value in mentions), names, f" in message {turn}")
        return messages

    return make_question(f"walk_{number}", "wording_in_turns.md", {"turns": turns}, read)


def merge_questions(ask: AskWriter, entries: Sequence[Entry]) -> tuple[list[Entry], Sequence[str]]:
    """Have a model reword each entry's question, joined from several, as one.

    Return the entries, with their old question where the model failed, and notes.
    """
    answers, asking_notes = ask([_make_merge_question(entry) for entry in entries])
    notes, reworded_entries = list(asking_notes), []
    for entry, answer in zip(entries, answers, strict=True):
        text = entry.turns[0][0].content if isinstance(answer, NotScored) else answer
        if isinstance(answer, NotScored):
            notes.append(f"{entry.id} stays as it was put together: {answer.cause}: {answer.reason}")
        reworded_entries.append(replace(entry, turns=((Message("user", text),),)))
    return reworded_entries, notes


def _make_merge_question(entry: Entry) -> JudgeQuestion[str]:
    """Ask for one message for an entry; a reply must mention the expected values of the old question."""
    text, calls = entry.turns[0][0].content, list_expected_calls(entry)
    forms = (
        [form for form in map(phrase_value, options) if form and form.casefold() in text.casefold()]
        for call in calls
        for options in call.accepted.values()
        if isinstance(options, list)
    )
    required_values = [value_forms for value_forms in forms if value_forms]

    def read(reply: Mapping[str, object]) -> str:
        message = reply.get("message")
        if not isinstance(message, str) or not message.strip():
            raise Unfit('must have "message", a text')
        check_message(message, required_values, {call.name for call in calls})
        return message

    material = {
        "message": text,
        "calls": [{call.name: dict(call.accepted)} for call in calls],
        "mention": [value_forms[0] for value_forms in required_values],
    }
    return make_question(entry.id, "wording_merged.md", material, read)


def make_question(
    name: str, task_file: str, material: object, read: Callable[[Mapping[str, object]], T]
) -> JudgeQuestion[T]:
    """Make a question to the writer from the task in a file and its material.

    It is about a made-up entry, of a category that offers the writer no functions.
    """
    about = Entry("draft", name, CATEGORIES["chatable"], ((Message("user", ""),),), (), NoCall())
    task = Path(__file__).with_name(task_file).read_text(encoding="utf-8").rstrip()
    return JudgeQuestion(about, task, read_json_text(json.dumps(material, default=str)), read)


def check_message(
    text: str, values: Iterable[Sequence[object]], names: Iterable[str], where: str = ""
) -> None:
    """Raise ``Unfit`` where a text mentions a value in none of its forms, or names a function.

    A name that is a plain word, such as ``cancel``, may occur.
    """
    for forms in values:
        if not any(phrase_value(form).casefold() in text.casefold() for form in forms):
            raise Unfit(f"does not mention {forms[0]!r}{where}")
    if name := next((name for name in names if re.search("[_.]", name) and name in text), None):
        raise Unfit(f"names the function {name}{where}")


def phrase_value(value: object) -> str:
    """Write a value as a sentence would; empty if it can be said in many ways."""
    # People write 3 for 3.0, and a switch in words of its own, not as True.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""
