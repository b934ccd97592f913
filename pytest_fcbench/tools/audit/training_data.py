"""Compare the entries of a suite with the training data of a model.

A file has conversations in each line, or in a JSON list, in the forms of ``tools.importing.log_forms``. Each
check reads it anew, so that the size of lines does not matter.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fcbench.domain.explanation import HINT, LIKELY, Flaw
from pytest_fcbench.kinds.calls.truth import choose_call, list_expected_calls
from pytest_fcbench.tools.audit.duplicates import find_pairs, read_question, split_question
from pytest_fcbench.tools.audit.findings import SuiteFacts, check
from pytest_fcbench.tools.importing.log_forms import read_conversations, read_rows
from pytest_fcbench.tools.importing.offered_tools import UnreadableLogError

_SAME = 1 - 1e-9


@dataclass(frozen=True, slots=True)
class TrainingLine:
    """The questions and calls in one line of training data, or in one row of a JSON list."""

    number: int
    """The line, or the row of a list, from 1."""
    questions: tuple[str, ...] = ()
    """Each message of the user, and all of them together."""
    calls: frozenset[str] = frozenset()
    """The calls of the assistant, as ``serialize_call`` writes them."""
    fault: str = ""
    """The reason why the line is no conversation."""


def read_training_data(path: Path) -> Iterator[TrainingLine]:
    """Read a file row by row; empty lines are skipped. Raises ``UsageError`` where it cannot be read."""
    for place, row in read_rows([str(path)]):
        number = int(re.split("[: ]", place)[-1])
        try:
            messages = [each for conversation in read_conversations(row) for each in conversation.messages]
            calls = [serialize_call(call.name, call.arguments) for each in messages for call in each.calls]
        except UnreadableLogError as error:
            yield TrainingLine(number, fault=str(error))
            continue
        questions = [each.text for each in messages if each.role == "user"]
        together = ["\n".join(questions)] if len(questions) > 1 else []
        yield TrainingLine(number, (*questions, *together), frozenset(calls))


def describe_reading(path: Path) -> str:
    """Say how many lines of training data there are, how many of them are compared, and why not all."""
    count, fault_count, first = 0, 0, ""
    for line in read_training_data(path):
        count += 1
        fault_count += bool(line.fault)
        first = first or (line.fault and f"line {line.number}: {line.fault}")
    left_out = f", {fault_count} left out; {first}" if fault_count else ""
    return f"{path.name}: {count} lines read, {count - fault_count} compared{left_out}"


def serialize_call(name: object, arguments: object) -> str:
    """Serialize a call, so that equal calls give equal texts."""
    return json.dumps([name, arguments], sort_keys=True)


@check("trained_question")
def find_trained_questions(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries whose question or history is in the training data, and name the lines."""
    if facts.training is None:
        return
    alike: dict[str, dict[int, float]] = {}
    questions = [*map(read_question, facts.entries)]
    training_questions = (
        split_question(line.number, text)
        for line in read_training_data(facts.training)
        for text in line.questions
    )
    for pair in find_pairs(training_questions, questions, facts.threshold):
        scores = alike.setdefault(pair.other.source.id, {})
        scores[pair.question.source] = max(scores.get(pair.question.source, 0.0), pair.rouge_l)
    for question in questions:
        if by_line := alike.get(question.source.id):
            best = max(by_line.values())
            severity, how = (LIKELY, "the same words") if best >= _SAME else (HINT, f"ROUGE-L {best:.2f}")
            line_numbers = sorted(by_line, key=lambda number: (-by_line[number], number))
            evidence = f"is in the training data, {_list_lines(line_numbers)} ({how}): {question.excerpt}"
            yield question.source.id, Flaw(severity, evidence)


@check("trained_calls")
def find_trained_calls(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find entries whose right calls, each with its first accepted values, are all in one line."""
    if facts.training is None:
        return
    calls_by_entry: dict[str, frozenset[str]] = {}
    # A line can only teach entries that have one of its calls.
    having: defaultdict[str, list[str]] = defaultdict(list)
    for entry in facts.entries:
        calls = [choose_call(call, entry.find_function(call.name)) for call in list_expected_calls(entry)]
        # A call without arguments says nothing about where it comes from.
        if calls and all(call.arguments for call in calls):
            calls_by_entry[entry.id] = frozenset(serialize_call(call.name, call.arguments) for call in calls)
            having[min(calls_by_entry[entry.id])].append(entry.id)
    lines_by_entry: defaultdict[str, list[int]] = defaultdict(list)
    for line in read_training_data(facts.training):
        for entry_id in sorted({each for call in line.calls for each in having.get(call, ())}):
            if calls_by_entry[entry_id] <= line.calls:
                lines_by_entry[entry_id].append(line.number)
    for entry_id, numbers in lines_by_entry.items():
        yield entry_id, Flaw(HINT, f"its calls are in the training data, {_list_lines(numbers)}")


def _list_lines(numbers: Sequence[int]) -> str:
    """Name lines of a file; of many, the first three."""
    shown_numbers = ", ".join(map(str, numbers[:3]))
    more = f" and {len(numbers) - 3} more" if len(numbers) > 3 else ""
    return f"line {shown_numbers}{more}" if len(numbers) == 1 else f"lines {shown_numbers}{more}"
