"""Checks of texts: not empty, not damaged, and naming the expected values.

A check that texts of a trajectory stand in the question, in a result or in the initial state.

The state after a conversation is compared letter by letter, so a model must write each text as the truth
does. It can where somebody gives the text, and not where the truth shortens, joins or rewords it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from difflib import SequenceMatcher

from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.syntax import Undecodable
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import CERTAIN, HINT, LIKELY, Flaw, Severity
from pytest_fcbench.domain.text import iterate_texts, read_json_text
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.domain.verdict import Profile
from pytest_fcbench.judging.text_normalization import standardize
from pytest_fcbench.kinds.sql.kind import asks_statement
from pytest_fcbench.kinds.state.verdict import match_calls
from pytest_fcbench.tools.audit.findings import (
    SuiteFacts,
    check,
    entry_check,
    format_value,
    join_user_messages,
    standardize_turns,
)
from pytest_fcbench.tools.audit.trajectories import list_performed_turns
from pytest_fcbench.tools.audit.truths import iterate_accepted_values


@check("empty_text")
def find_empty_texts(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find empty messages, and functions without a description."""
    seen_names: set[str] = set()
    for entry in facts.entries:
        messages = [message for turn in entry.turns for message in turn]
        if not join_user_messages(entry).strip():
            yield entry.id, Flaw(CERTAIN, "no message of the user has a text", "write the question")
        elif blank := [
            message.role for message in messages if not (message.content.strip() or message.calls)
        ]:
            yield entry.id, Flaw(LIKELY, f"messages without a text: {format_value(blank)}")
        for doc in entry.all_functions:
            if not doc.description.strip() and doc.name not in seen_names:
                seen_names.add(doc.name)
                evidence = f"{doc.name} has no description"
                yield entry.id, Flaw(LIKELY, evidence, "describe what the function does")


@check("damaged_text")
def find_damaged_texts(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find control characters, lone surrogates, replacement characters, text read in a wrong encoding."""
    seen_texts: set[str] = set()
    for entry in facts.entries:
        texts = [
            (f"turn {number}", message.content)
            for number, turn in enumerate(entry.turns, 1)
            for message in turn
        ]
        for doc in entry.all_functions:
            texts.append((doc.name, doc.description))
            texts += [
                (f"{doc.name}.{name}", str(schema.get("description", "")))
                for name, schema in doc.properties.items()
                if isinstance(schema, dict)
            ]
        for where, text in texts:
            if text not in seen_texts:
                seen_texts.add(text)
                for severity, damage, _ in _find_damage(text):
                    yield entry.id, Flaw(severity, f"{where}: {damage}")


_MANGLED = re.compile(r"[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]+")
"""UTF-8 that was read as Windows-1252: the letter of a lead byte before those of the bytes that follow it."""


def _find_damage(text: str) -> Iterator[Flaw]:
    """Find at most one damage of each kind."""
    for place, sign in enumerate(text):
        kind = unicodedata.category(sign)
        # Decoders write U+FFFD for bytes that they cannot read, and half a surrogate pair (Cs) cannot be
        # encoded as UTF-8.
        if sign == "\ufffd" or kind == "Cs" or (kind == "Cc" and sign not in "\n\r\t"):
            yield Flaw(CERTAIN, f"U+{ord(sign):04X} in {_excerpt(text, place)}")
            break
    for match in _MANGLED.finditer(text):
        try:
            # Only what reads as UTF-8 again was mangled: such letters also stand in sound words.
            original_text = match[0].encode("cp1252").decode("utf-8")
        except (UnicodeEncodeError, UnicodeDecodeError):
            continue
        where = _excerpt(text, match.start())
        yield Flaw(
            LIKELY,
            f"{format_value(match[0])} is {format_value(original_text)} in a wrong encoding, in {where}",
        )
        break
    if sign := next((sign for sign in text if sign in "\u200b\u2060\ufeff"), ""):
        where = _excerpt(text, text.index(sign))
        yield Flaw(HINT, f"U+{ord(sign):04X}, which is invisible, in {where}")


def _excerpt(text: str, place: int) -> str:
    return format_value(text[max(0, place - 20) : place + 20])


@entry_check("unnamed_value")
def find_unnamed_values(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find required texts without an accepted spelling in the question; mostly they follow from it."""
    if asks_statement(entry):
        return
    question = standardize_turns(entry.turns)
    for parameter in iterate_accepted_values(entry):
        # A number or a value of an enum is seldom said as it is written.
        texts = [value for value in parameter.values if isinstance(value, str)]
        is_closed = isinstance(parameter.schema.get("enum"), list)
        if parameter.is_optional or is_closed or not texts or len(texts) < len(parameter.values):
            continue
        if not any(standardize(text) in question for text in texts):
            yield Flaw(HINT, f"{parameter.label}: none of {format_value(texts)} occurs in the question")


_FEWEST_WORDS = 4
"""Shorter texts are names and titles, which users give in other words."""
_NEAR = 0.8
"""The least share of a text that is found, in pieces, in a text near to it."""
_PIECE = 4
"""The fewest characters of such a piece."""
_LONGEST = 3_000
"""The most characters of a text and of a source that are compared in pieces."""


@entry_check("unsaid_text")
def find_unsaid_texts(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find texts that no user message, no result so far and no initial state contains as they are."""
    if not (turns := list_performed_turns(entry)):
        return
    try:
        environments = facts.open_environments(entry)
        sources = {"the initial state": [*iterate_texts(dict(environments.copy_state()))]}
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
                result_texts += iterate_texts(read_json_text(result))
            # The same call can be made again, with another result.
            sources.setdefault(f"the result of {format_value(text, 60)}", []).extend(result_texts)


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
