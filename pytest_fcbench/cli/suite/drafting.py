"""Write the first entries of a suite, from examples or by a model from the docs alone.
Questions that a model writes from function docs alone, each solved again without its calls."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random

from pytest_fcbench.cli.judge_options import JUDGE_OPTIONS, ask_judge, load_judge_settings
from pytest_fcbench.cli.options import declare_run_options, require_at_least
from pytest_fcbench.cli.suite.functions import read_functions
from pytest_fcbench.cli.suite.growing import (
    declare_folder_options,
    find_name,
    make_question,
    phrase_value,
    write_entries,
)
from pytest_fcbench.codecs.decoders.outcome import Calls
from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import FcbenchError, UsageError
from pytest_fcbench.domain.function_doc import FunctionDoc, describe_misfit
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import NotScored, Passed
from pytest_fcbench.judging.questions import JudgeQuestion, Unfit
from pytest_fcbench.kinds.calls.verdict import match_calls
from pytest_fcbench.tools.authoring.entry_writing import (
    DraftedQuestion,
    Example,
    draft_entries,
    draft_questions,
    find_examples,
)

# from commands/draft


def declare_draft(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add = parser.add_argument
    add(
        "sources",
        nargs="+",
        metavar="SOURCE",
        help="where the functions are: module:function, module:Class, module, or a JSON or YAML file",
    )
    add(
        "--examples",
        type=Path,
        action="append",
        metavar="FILE",
        help="text file with questions, each followed by '>>> ' and the call that answers it (repeatable)",
    )
    add(
        "--writer",
        metavar="MODEL",
        help="model that writes questions from the docs and solves each again; --judge-api-base and the "
        "options below say how to call it",
    )
    add("--count", type=int, default=2, metavar="N", help="questions per function (default: 2)")
    add(
        "--pairs",
        type=int,
        metavar="N",
        help="pairs of functions with a question that needs both (default: as many as functions)",
    )
    add("--seed", type=int, default=1, metavar="N", help="seed of the choice of pairs (default: 1)")
    declare_folder_options(parser)
    declare_run_options(parser, ("config", *JUDGE_OPTIONS))


def run_draft(arguments: argparse.Namespace) -> int:
    if bool(arguments.examples) == bool(arguments.writer):
        raise UsageError(
            "give either --examples, with questions and calls, or --writer, a model that writes them"
        )
    docs = tuple(read_functions(arguments.sources).values())
    if arguments.writer:
        require_at_least(1, arguments, "count")
        writer = load_judge_settings(arguments, judge=arguments.writer)
        assert writer, "a writer was named"
        pairs = len(docs) if arguments.pairs is None else max(0, arguments.pairs)
        drafts = write_questions(writer, docs, arguments.count, pairs, arguments.seed, arguments.to.name)
        for note in drafts.notes:
            print(note)
        kept_count, entries = len(drafts.entries), drafts.entries
        print(f"written {drafts.written}, kept {kept_count}, left out {drafts.written - kept_count}")
        missing = "no question was kept; look at the notes above, or name another --writer"
    else:
        all_examples: list[Example] = []
        for path in arguments.examples:
            try:
                all_examples += find_examples(path.read_text(encoding="utf-8"), str(path))
            except (OSError, ValueError) as error:
                raise UsageError(f"{path}: cannot be read: {error}; give a text file in UTF-8") from None
        entries = list(draft_entries(all_examples, docs, arguments.to.name))
        missing = (
            f"{', '.join(map(str, arguments.examples))}: no examples; write a question and, on the "
            f"next line, '>>> ' with the call that answers it, e.g. >>> {docs[0].name}(...)"
        )
    if not entries:
        raise FcbenchError(missing)
    write_entries(arguments, entries)
    used_names = {doc.name for entry in entries for doc in entry.functions}
    for doc in docs:
        if doc.name not in used_names:
            print(f"note: no {'entry' if arguments.writer else 'example'} uses {doc.name}")
    return 0


# from question_writing


_DISTRACTORS = 4
"""Other functions that the second call of the writer is offered, beside those of the question."""


@dataclass(frozen=True, slots=True)
class Drafts:
    """Entries that a writer and its second call agree on, and what became of the other questions."""

    entries: Sequence[Entry]
    written: int
    """Questions that were written."""
    notes: Sequence[str]
    """The questions that were left out, each with the reason, and remarks on the writer."""


def write_questions(
    writer: Settings, docs: Sequence[FunctionDoc], per_function: int, pairs: int, seed: int, suite: str
) -> Drafts:
    """Have a model write questions for each function and for pairs of functions, and solve them again.

    A question is kept where the writer's second call, which knows nothing of the first, makes the same calls.
    """
    chance = Random(seed)  # noqa: S311 - no secret
    couples = list(combinations(docs, 2))
    groups = [*((doc,) for doc in docs), *chance.sample(couples, min(pairs, len(couples)))]
    requests = [
        _ask_for_questions(f"write_{number}", group, per_function if len(group) == 1 else 1)
        for number, group in enumerate(groups)
    ]
    answers, notes = ask_judge(writer, requests, "writer")
    draft_notes = [
        f"{' and '.join(doc.name for doc in group)}: not written: {answer.reason}"
        for group, answer in zip(groups, answers, strict=True)
        if isinstance(answer, NotScored)
    ]
    good_answers = [answer for answer in answers if not isinstance(answer, NotScored)]
    drafted_questions = [question for questions, _ in good_answers for question in questions]
    refusal_reasons = [reason for _, reasons in good_answers for reason in reasons]
    draft_notes += [f"left out, a question that {reason}" for reason in refusal_reasons]
    entries = list(draft_questions(drafted_questions, suite))
    solving: list[JudgeQuestion[Sequence[Call]]] = []
    for entry in entries:
        others = [doc for doc in docs if doc not in entry.functions]
        offered_docs = [*entry.functions, *chance.sample(others, min(_DISTRACTORS, len(others)))]
        chance.shuffle(offered_docs)
        material = {"functions": _show_docs(offered_docs), "message": entry.turns[0][0].content}
        solving.append(make_question(f"solve_{entry.id}", "solving_question.md", material, _read_calls))
    solutions, more_notes = ask_judge(writer, solving, "writer") if solving else ([], ())
    kept_questions: list[DraftedQuestion] = []
    for question, entry, calls in zip(drafted_questions, entries, solutions, strict=True):
        if isinstance(calls, NotScored):
            draft_notes.append(f"left out, not solved: {question.text!r:.100}: {calls.reason}")
            continue
        verdict = match_calls(entry, Calls(tuple(calls))) if calls else "no call"
        if isinstance(verdict, Passed):
            kept_questions.append(question)
        else:
            draft_notes.append(f"left out, solved otherwise: {question.text!r:.100}: {verdict}")
    number = len(drafted_questions) + len(refusal_reasons)
    return Drafts(list(draft_questions(kept_questions, suite)), number, [*draft_notes, *notes, *more_notes])


def _show_docs(docs: Sequence[FunctionDoc]) -> list[dict[str, object]]:
    return [
        {"name": doc.name, "description": doc.description, "parameters": doc.shown_schema} for doc in docs
    ]


def _ask_for_questions(
    name: str, docs: Sequence[FunctionDoc], number: int
) -> JudgeQuestion[tuple[Sequence[DraftedQuestion], Sequence[str]]]:
    """Ask for questions about functions, with valid calls and messages that mention their values.

    A reply is read as the questions that are so, and why each of the others is not; one must be.
    """
    by_name = {doc.name: doc for doc in docs}

    def read_questions(reply: Mapping[str, object]) -> tuple[Sequence[DraftedQuestion], Sequence[str]]:
        questions = reply.get("questions")
        if not isinstance(questions, list) or not questions:
            raise Unfit(f'must have "questions", a list of {number}')
        drafted_questions: list[DraftedQuestion] = []
        refusals: list[Unfit] = []
        for each in questions[:number]:
            try:
                drafted_questions.append(read_question(each, by_name))
            except Unfit as unfit:
                refusals.append(unfit)
        if not drafted_questions:
            raise refusals[0]
        return drafted_questions, [*map(str, refusals)]

    material = {"functions": _show_docs(docs), "number": number}
    return make_question(name, "writing_questions.md", material, read_questions)


def read_question(each: object, by_name: Mapping[str, FunctionDoc]) -> DraftedQuestion:
    """Read a question that needs a call of each function. Raises ``Unfit``."""
    message = each.get("message") if isinstance(each, Mapping) else None
    if not isinstance(each, Mapping) or not isinstance(message, str) or not message.strip():
        raise Unfit('must have "message", a text, in each question')
    calls = _read_calls(each)
    if sorted(call.name for call in calls) != sorted(by_name):
        raise Unfit(f"must call each of {', '.join(by_name)} once in {message!r:.60}")
    for call in calls:
        if why := describe_misfit(call.name, call.arguments, by_name):
            raise Unfit(f"has a call that does not fit the docs: {why}")
        for argument in call.arguments.values():
            if phrase_value(argument).casefold() not in message.casefold():
                raise Unfit(f"does not mention {argument!r} in {message!r:.60}")
    if function_name := find_name(by_name, message):
        raise Unfit(f"names the function {function_name}")
    return DraftedQuestion(message.strip(), tuple((call, by_name[call.name]) for call in calls))


def _read_calls(reply: Mapping[str, object]) -> tuple[Call, ...]:
    raw_calls = reply.get("calls")
    if not isinstance(raw_calls, list):
        raise Unfit('must have "calls", a list')
    calls = []
    for each in raw_calls:
        name, arguments = (
            (each.get("name"), each.get("arguments")) if isinstance(each, Mapping) else (None, None)
        )
        if not isinstance(name, str) or not isinstance(arguments, Mapping):
            raise Unfit('must have "name" and "arguments", an object, in each call')
        calls.append(Call(name, arguments))
    return tuple(calls)
