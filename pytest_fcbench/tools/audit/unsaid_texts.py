"""A check that texts of a trajectory stand in the question, in a result or in the initial state.

The state after a conversation is compared letter by letter, so a model must write each text as the truth
does. It can where somebody gives the text, and not where the truth shortens, joins or rewords it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from difflib import SequenceMatcher

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.flaw import HINT, LIKELY, Flaw, Severity
from pytest_fcbench.domain.json_text import read_json_text
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.kinds.state.verdict import match_calls
from pytest_fcbench.tools.audit.facts import SuiteFacts
from pytest_fcbench.tools.audit.findings import entry_check, format_value
from pytest_fcbench.tools.audit.trajectories import list_performed_turns

_FEWEST_WORDS = 4
"""Shorter texts are names and titles, which users give in other words."""
_NEAR = 0.8
"""The least share of a text that is found, in pieces, in a text near to it."""
_PIECE = 4
"""The fewest characters of such a piece."""
_LONGEST = 3_000
"""The most characters of a text and of a source that are compared in pieces."""


@entry_check(
    "unsaid_text",
    "a text that must be written is given nowhere",
    "give the text word for word in the question, or correct it in the truth",
)
def find_unsaid_texts(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find texts that no user message, no result so far and no initial state contains as they are."""
    if not (turns := list_performed_turns(entry)):
        return
    try:
        environments = facts.open_environments(entry)
        sources = {"the initial state": [*_iterate_texts(dict(environments.copy_state()))]}
    except Exception:  # noqa: BLE001 - ``erring`` reports a state that cannot be opened
        return
    for turn, texts in enumerate(turns):
        sources[f"turn {turn + 1}"] = [message.content for message in entry.turns[turn]]
        for text in texts:
            for call, name, value in _iterate_written_texts(text):
                problem = _find_source(value, sources)
                if problem and _is_compared(facts, entry, text, call, name):
                    yield Flaw(problem[0], f"turn {turn + 1}: {name} of {call.name} {problem[1]}")
            (result,) = environments.perform_calls([text])
            result_texts = [result]
            with suppress(ValueError, RecursionError):
                result_texts += _iterate_texts(read_json_text(result))
            sources[f"the result of {format_value(text, 60)}"] = result_texts


def _iterate_written_texts(call_text: str) -> Iterator[tuple[Call, str, str]]:
    """Yield call, parameter and text of each argument that is long enough to be somebody's words."""
    # ``unmakeable`` reports a text that is no call.
    with suppress(Undecodable):
        for call in python.parse_corrected(call_text):
            for name, value in call.arguments.items():
                if isinstance(value, str) and len(value.split()) >= _FEWEST_WORDS:
                    yield call, name, value


def _is_compared(facts: SuiteFacts, entry: Entry, call_text: str, call: Call, name: str) -> bool:
    """Tell whether a conversation fails in which one of the truth's calls has other words for a parameter."""
    arguments = {**call.arguments, name: f"{call.arguments[name]} (in other words)"}
    other = f"{call.name}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"
    made_calls = [
        [[other if text == call_text else text for text in texts]] if texts else []
        for texts in list_performed_turns(entry)
    ]
    verdict = match_calls(entry, made_calls, lambda: facts.open_environments(entry), Profile.CORRECTED)
    return not verdict.passed


def _iterate_texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _iterate_texts(member)
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from _iterate_texts(element)


def _find_source(text: str, sources: dict[str, list[str]]) -> tuple[Severity, str] | None:
    """Describe a text that no source contains; None where one does."""
    if any(text in source for texts in sources.values() for source in texts):
        return None
    words, share, name = _list_words(text), 0.0, ""
    for source, place in ((source, place) for place, texts in sources.items() for source in texts):
        # Most sources have few of the words, and the comparison of letters takes long.
        if len(words & _list_words(source)) < _NEAR * len(words):
            continue
        start = text[:_LONGEST]
        pieces = SequenceMatcher(None, start, source[: 3 * _LONGEST], autojunk=False).get_matching_blocks()
        overlap = sum(piece.size for piece in pieces if piece.size >= _PIECE) / len(start)
        share, name = max((share, name), (overlap, place))
    if share >= _NEAR:
        # A form of words that somebody gave, filled in with a value that somebody gave.
        words_by_source = {name: _list_words(" ".join(texts)) for name, texts in sources.items()}
        filled_in = words - words_by_source.pop(name)
        if filled_in and filled_in <= set().union(*words_by_source.values()):
            return None
        return LIKELY, f"is nearly what {name} holds, but not letter by letter: {format_value(text)}"
    return HINT, f"is a text that no question and no result contains: {format_value(text)}"


_WORD = re.compile(r"\w+(?:[.,]\w+)*")


def _list_words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
