"""Compare the entries of a suite with the training data of a model.

A file has one conversation in each line, as JSON. Three forms are read, told apart by their keys:

- ``messages``: OpenAI's form for fine-tuning, with ``tool_calls`` in the messages of the assistant;
- ``conversations``: ShareGPT's form, with calls as JSON or between ``<tool_call>`` tags;
- ``query`` and ``answers``: xLAM's form.

Each check reads the file anew, so that its size does not matter.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.codecs.json_objects import as_mapping
from pytest_fcbench.domain.entry import ExpectedCalls, choose_plain_value
from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.tools.audit.duplicates import find_pairs, read_question, split_question
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import HINT, LIKELY, Flaw, check

_TAGGED_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)
_ASKED, _ANSWERED = ("user", "human"), ("assistant", "gpt", "function_call")
_SAME = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class TrainingLine:
    """The questions and calls in one line of training data."""

    number: int
    """The line, from 1."""
    questions: tuple[str, ...]
    """Each message of the user, and all of them together."""
    calls: frozenset[str]
    """The calls of the assistant, as ``serialize_call`` writes them."""


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line that is no conversation."""

    number: int
    reason: str


def read_training_data(path: Path) -> Iterator[TrainingLine | UnreadLine]:
    """Read a file line by line; empty lines are skipped. Raises ``UsageError`` where it cannot be read."""
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                try:
                    value = as_mapping(json.loads(line))
                    if isinstance(messages := value.get("messages", value.get("conversations")), list):
                        questions, calls = _read_messages([as_mapping(message) for message in messages])
                    elif isinstance(query := value.get("query"), str):
                        questions, calls = [query], _read_calls(value.get("answers", []))
                    else:
                        yield UnreadLine(number, "has neither 'messages', 'conversations' nor 'query'")
                        continue
                except (ValueError, RecursionError) as error:
                    yield UnreadLine(number, f"not valid JSON: {getattr(error, 'msg', error)}")
                    continue
                together = ["\n".join(questions)] if len(questions) > 1 else []
                yield TrainingLine(number, (*questions, *together), frozenset(calls))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; give a readable file") from None


def describe_reading(path: Path) -> str:
    """Say how many lines of training data there are, how many of them are compared, and why not all."""
    compared, unread, first = 0, 0, ""
    for line in read_training_data(path):
        if isinstance(line, TrainingLine):
            compared += 1
        else:
            unread += 1
            first = first or f"line {line.number}: {line.reason}"
    left_out = f", {unread} left out; {first}" if unread else ""
    return f"{path.name}: {compared + unread} lines read, {compared} compared{left_out}"


def serialize_call(name: object, arguments: object) -> str:
    """Serialize a call, so that equal calls give equal texts."""
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    return json.dumps([name, arguments], sort_keys=True)


def _read_messages(messages: Sequence[Mapping[str, object]]) -> tuple[list[str], list[str]]:
    """Return the texts of the user and the calls of the assistant."""
    questions: list[str] = []
    calls: list[str] = []
    for message in messages:
        role = message.get("role", message.get("from"))
        content = message.get("content", message.get("value"))
        if isinstance(content, list):
            content = "\n".join(str(as_mapping(part).get("text", "")) for part in content)
        if role in _ASKED and isinstance(content, str):
            questions.append(content)
        elif role in _ANSWERED:
            calls += _read_calls(message.get("tool_calls") or message.get("function_call") or [])
            if role == "function_call":
                calls += _read_calls(content)
            elif isinstance(content, str):
                calls += [call for text in _TAGGED_CALL.findall(content) for call in _read_calls(text)]
    return questions, calls


def _read_calls(given: object) -> list[str]:
    """Return calls that are a list, one call, or the JSON of either. Raises ``ValueError``."""
    value = json.loads(given) if isinstance(given, str) else given
    listed = value if isinstance(value, list) else [value]
    named = [as_mapping(as_mapping(call).get("function", call)) for call in listed]
    return [serialize_call(call["name"], call.get("arguments", {})) for call in named if "name" in call]


@check(
    "trained_question",
    "the training data has this question",
    "leave the entry out, or take it out of the training data",
    needs="training",
)
def find_trained_questions(facts: Facts) -> Iterator[tuple[str, Flaw]]:
    """Find entries whose question or history is in the training data, and name the lines."""
    if facts.training is None:
        return
    alike: dict[str, dict[int, float]] = {}
    questions = [*map(read_question, facts.entries)]
    taught = (
        split_question(line.number, text)
        for line in read_training_data(facts.training)
        if isinstance(line, TrainingLine)
        for text in line.questions
    )
    for pair in find_pairs(taught, questions, facts.threshold):
        scores = alike.setdefault(pair.other.source.id, {})
        scores[pair.question.source] = max(scores.get(pair.question.source, 0.0), pair.rouge_l)
    for question in questions:
        if by_line := alike.get(question.source.id):
            best = max(by_line.values())
            severity, how = (LIKELY, "the same words") if best >= _SAME else (HINT, f"ROUGE-L {best:.2f}")
            found = sorted(by_line, key=lambda number: (-by_line[number], number))
            told = f"is in the training data, {_list_lines(found)} ({how}): {question.excerpt}"
            yield question.source.id, Flaw(severity, told)


@check(
    "trained_calls",
    "the training data has the right calls",
    "leave the entry out, or take it out of the training data",
    needs="training",
)
def find_trained_calls(facts: Facts) -> Iterator[tuple[str, Flaw]]:
    """Find entries whose right calls, each with its first accepted values, are all in one line."""
    if facts.training is None:
        return
    wanted: dict[str, frozenset[str]] = {}
    # A line can only teach entries that have one of its calls.
    having: defaultdict[str, list[str]] = defaultdict(list)
    for entry in facts.entries:
        if not isinstance(entry.expectation, ExpectedCalls):
            continue
        calls = [
            (
                call.name,
                {
                    name: choose_plain_value(options[0])
                    for name, options in call.accepted.items()
                    if isinstance(options, list) and options and "" not in options
                },
            )
            for call in entry.expectation.calls
        ]
        # A call without arguments says nothing about where it comes from.
        if calls and all(arguments for _, arguments in calls):
            wanted[entry.id] = frozenset(serialize_call(*call) for call in calls)
            having[min(wanted[entry.id])].append(entry.id)
    found: defaultdict[str, list[int]] = defaultdict(list)
    for line in read_training_data(facts.training):
        if isinstance(line, TrainingLine):
            for entry_id in sorted({each for call in line.calls for each in having.get(call, ())}):
                if wanted[entry_id] <= line.calls:
                    found[entry_id].append(line.number)
    for entry_id, numbers in found.items():
        yield entry_id, Flaw(HINT, f"its calls are in the training data, {_list_lines(numbers)}")


def _list_lines(numbers: Sequence[int]) -> str:
    """Name lines of a file; of many, the first three."""
    named = ", ".join(map(str, numbers[:3]))
    more = f" and {len(numbers) - 3} more" if len(numbers) > 3 else ""
    return f"line {named}{more}" if len(numbers) == 1 else f"lines {named}{more}"
