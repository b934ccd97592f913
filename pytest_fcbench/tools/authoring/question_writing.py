"""Have a model write questions from function docs alone, and keep those that it solves again the same way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

from pytest_fcbench.codecs.decoders.syntax import Calls
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import FunctionDoc, describe_misfit
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import NotScored, Passed
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit
from pytest_fcbench.kinds.calls.verdict import match_calls
from pytest_fcbench.tools.authoring.entry_writing import DraftedQuestion, draft_questions
from pytest_fcbench.tools.authoring.question_wording import AskWriter, check_message, make_question

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
    message = value.get("message") if isinstance(value, Mapping) else None
    if not isinstance(value, Mapping) or not isinstance(message, str) or not message.strip():
        raise Unfit('must have "message", a text, in each question')
    calls = _read_calls(value)
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
