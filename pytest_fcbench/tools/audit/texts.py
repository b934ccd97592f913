"""Checks of texts: not empty, not damaged, and naming the expected values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.flaw import CERTAIN, HINT, LIKELY, Flaw
from pytest_fcbench.judging.text_normalization import standardize
from pytest_fcbench.kinds.sql.truth import asks_statement
from pytest_fcbench.tools.audit.facts import SuiteFacts, join_user_messages, standardize_turns
from pytest_fcbench.tools.audit.findings import check, entry_check, format_value
from pytest_fcbench.tools.audit.function_docs import list_offered_docs
from pytest_fcbench.tools.audit.truths import iterate_accepted_values


@check("empty_text", "a text is empty", "fill them in or leave them out")
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
        for doc in list_offered_docs(entry):
            if not doc.description.strip() and doc.name not in seen_names:
                seen_names.add(doc.name)
                evidence = f"{doc.name} has no description"
                yield entry.id, Flaw(LIKELY, evidence, "describe what the function does")


@check("damaged_text", "a text is damaged", "write the text again")
def find_damaged_texts(facts: SuiteFacts) -> Iterator[tuple[str, Flaw]]:
    """Find control characters, lone surrogates, replacement characters, text read in a wrong encoding."""
    seen_texts: set[str] = set()
    for entry in facts.entries:
        texts = [
            (f"turn {number}", message.content)
            for number, turn in enumerate(entry.turns, 1)
            for message in turn
        ]
        for doc in list_offered_docs(entry):
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


@entry_check(
    "unnamed_value",
    "the question does not state a value",
    "check whether the question states it in other words",
    weak=True,
)
def find_unnamed_values(facts: SuiteFacts, entry: Entry) -> Iterator[Flaw]:
    """Find required texts without an accepted spelling in the question; mostly they follow from it."""
    if asks_statement(entry):
        return
    question = standardize_turns(entry.turns)
    for accepted_values in iterate_accepted_values(entry):
        # A number or a value of an enum is seldom said as it is written.
        texts = [value for value in accepted_values.values if isinstance(value, str)]
        is_closed = isinstance(accepted_values.schema.get("enum"), list)
        if accepted_values.is_optional or is_closed or not texts or len(texts) < len(accepted_values.values):
            continue
        if not any(standardize(text) in question for text in texts):
            yield Flaw(HINT, f"{accepted_values.label}: none of {format_value(texts)} occurs in the question")
