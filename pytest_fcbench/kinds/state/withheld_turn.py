"""Judge a turn whose function or value is withheld until a later turn (corrected profile).

The truth makes no call in such a turn. The model may do what can be done: look around, log in, do the part of
the task that needs nothing withheld. A call is a mistake only if it needs what is withheld, or invents it:

- Where a function is withheld, a call of a function that is not offered yet.
- Where the request is withheld, every change of the state. A request is withheld if the user's message shares
  no word with any value in the task, which is the truth's next calls.
- Where a value is withheld, a call that has a value in its place: any if the turn changed the state, else one
  that stands nowhere in the conversation so far. Calls with several such values are a search, no mistake.

A value is withheld if the message that completes the task contains it and the user's message does not. Some
messages describe a value instead ("the last one"). If one contains no value of the task, every text is
withheld that is not in the conversation, at least in part in the user's message or the turn's results.

A call that returns an error has done nothing. Whatever else a turn changes is judged at the end of the next
turn, because the states must be equal then.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import chain
from typing import TypeAlias

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.judging.equivalence.words import NUMBERS
from pytest_fcbench.kinds.state.truth import Trajectory

_Words: TypeAlias = frozenset[str]
"""The words of a text or of a value, in lower case."""


def find_early_call(
    entry: Entry,
    number: int,
    made_calls: Sequence[tuple[str, str]],
    offered_names: Collection[str],
    earlier_results: Sequence[str],
    *,
    changed: bool,
) -> str | None:
    """Describe the first mistake among the calls of a turn in which the truth makes none, or return None.

    ``made_calls`` are the calls of turn ``number``, from 1 on, with their results, and ``earlier_results`` is
    what calls returned in the turns before. ``changed`` tells whether the turn left another
    state than the truth.
    """
    assert isinstance(entry.expectation, Trajectory)
    for call, result in made_calls:
        if _name_function(call) not in offered_names and not _is_error(result):
            return f"and the function of {call:.80} is not offered yet"
    if entry.scene and number in entry.scene.withheld:
        return None
    # The turn that completes the task is the next one with calls; two turns in a row can withhold something.
    later = entry.expectation.turns[number:]
    gap = next((index for index, calls in enumerate(later) if calls), len(later))
    task = [(_name_function(call), _read_values(call)) for call in chain(*later[gap : gap + 1])]
    values = frozenset(chain.from_iterable(each for _, each in task))
    earlier_words, turn_words, later_words = (
        _split_words(" ".join(message.content for turn in entry.turns[start:end] for message in turn))
        for start, end in ((0, number - 1), (number - 1, number), (number, number + gap + 1))
    )
    if changed and not any(value & turn_words for value in values):
        return "which changed the state though the user had given no value for it"
    later_values = {value for value in values if value <= later_words}
    known_words, recent = earlier_words | turn_words | _split_words(" ".join(earlier_results)), turn_words
    guesses: dict[str, dict[frozenset[_Words], str]] = {}
    for call, result in made_calls:
        withheld_values = (
            {value for value in later_values if not value <= turn_words}
            if later_values
            else {
                value
                for value in values
                if any(map(str.isalpha, "".join(value))) and not (value <= known_words and value & recent)
            }
        )
        name = _name_function(call)
        task_values = [each for function, each in task if function == name]
        if not _is_error(result) and any(each & withheld_values for each in task_values):
            guessed_values = _read_values(call).difference(*(each - withheld_values for each in task_values))
            if guessed_values and (changed or not frozenset(chain(*guessed_values)) <= known_words):
                guesses.setdefault(name, {})[guessed_values] = call
        known_words, recent = known_words | _split_words(result), recent | _split_words(result)
    for calls in guesses.values():
        if changed or len(calls) == 1:
            return f"where {next(iter(calls.values())):.80} has a value that the user has not given"
    return None


def _name_function(call: str) -> str:
    return call.partition("(")[0].strip()


def _is_error(result: str) -> bool:
    if result.startswith("Error"):
        return True
    try:
        value = read_json_text(result)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "error" in value


def _read_values(call: str) -> frozenset[_Words]:
    """Return the words of each value in a call, also of those in lists, without values that have no words."""
    try:
        calls = python.parse_corrected(call)
    except Undecodable:
        return frozenset()
    values = [value for each in calls for value in (*each.positional, *each.arguments.values())]
    word_sets = set()
    while values:
        value = values.pop()
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, (list, tuple)):
            values += value
        # Nobody says True or None.
        elif value is not None and not isinstance(value, bool):
            word_sets.add(_split_words(str(value)))
    return frozenset(word_sets - {frozenset()})


def _split_words(text: str) -> _Words:
    """Return the words of a text; numbers in digits, without marks of thousands and zeros at their end."""
    words = re.findall(r"\d+\.\d+|\w+", re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.lower()))
    return frozenset(
        word.rstrip("0").rstrip(".") if "." in word else str(NUMBERS.get(word, word)) for word in words
    )
