"""Whether texts are what somebody wrote: not empty, not damaged, and whether they say what is asked for."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from pytest_fcbench.domain.entry import Entry, Rule
from pytest_fcbench.matchers.text_normalization import standardized
from pytest_fcbench.tools.audit.facts import Facts
from pytest_fcbench.tools.audit.findings import CERTAIN, HINT, LIKELY, Severity, shown
from pytest_fcbench.tools.audit.function_docs import offered
from pytest_fcbench.tools.audit.registry import Problem, check
from pytest_fcbench.tools.audit.truths import accepted


@check("empty_text", "a text is empty")
def empty(facts: Facts) -> Iterator[Problem]:
    """Messages without a word, and functions that nobody described."""
    described: set[str] = set()
    for entry in facts.entries:
        if not any(
            message.content.strip() for turn in entry.turns for message in turn if message.role == "user"
        ):
            evidence = "the user says nothing at all"
            yield Problem(entry.id, CERTAIN, evidence, "write the question")
        elif blank := [
            message.role for turn in entry.turns for message in turn if not message.content.strip()
        ]:
            evidence = f"messages without a text: {shown(blank)}"
            yield Problem(entry.id, LIKELY, evidence, "write them or leave them out")
        for doc in offered(entry):
            if not doc.description.strip() and doc.name not in described:
                described.add(doc.name)
                evidence = f"{doc.name} has no description"
                yield Problem(entry.id, LIKELY, evidence, "say what the function does")


@check("damaged_text", "a text is damaged")
def damaged(facts: Facts) -> Iterator[Problem]:
    """Control characters, lone surrogates, replacement characters, text read in a wrong encoding."""
    seen: set[str] = set()
    for entry in facts.entries:
        for where, text in _texts(entry):
            if text in seen:
                continue
            seen.add(text)
            for severity, what in _damage(text):
                evidence = f"{where}: {what}"
                yield Problem(entry.id, severity, evidence, "write the text anew")


def _texts(entry: Entry) -> Iterator[tuple[str, str]]:
    for number, turn in enumerate(entry.turns, 1):
        yield from ((f"turn {number}", message.content) for message in turn)
    for doc in offered(entry):
        yield doc.name, doc.description
        for name, schema in doc.properties.items():
            if isinstance(schema, dict):
                yield f"{doc.name}.{name}", str(schema.get("description", ""))


_MANGLED = re.compile(r"[\u00c2-\u00f4][\u0080-\u00bf\u0152-\u0192\u02c6\u02dc\u2013-\u203a\u20ac\u2122]+")
"""How UTF-8 looks that was read as Windows-1252: a lead byte's letter before what bytes of a tail become."""


def _damage(text: str) -> Iterator[tuple[Severity, str]]:
    for place, sign in enumerate(text):
        kind = unicodedata.category(sign)
        if sign == "\ufffd" or kind == "Cs" or (kind == "Cc" and sign not in "\n\r\t"):
            yield CERTAIN, f"U+{ord(sign):04X} in {_around(text, place)}"
            break
    for found in _MANGLED.finditer(text):
        meant = _reread(found[0])
        if meant:
            yield (
                LIKELY,
                f"{shown(found[0])} is {shown(meant)} in a wrong encoding, in {_around(text, found.start())}",
            )
            break
    invisible = [sign for sign in text if sign in "\u200b\u2060\ufeff"]
    if invisible:
        yield (
            HINT,
            f"U+{ord(invisible[0]):04X}, which cannot be seen, in {_around(text, text.index(invisible[0]))}",
        )


def _reread(mangled: str) -> str | None:
    """What a text was before it was read as Windows-1252, if that is what happened."""
    try:
        return mangled.encode("cp1252").decode("utf-8")
    except (UnicodeEncodeError, UnicodeDecodeError):
        return None


def _around(text: str, place: int) -> str:
    return shown(text[max(0, place - 20) : place + 20])


@check("unnamed_value", "the question does not name a value", weak=True)
def unnamed_values(facts: Facts) -> Iterator[Problem]:
    """Required texts that no accepted spelling of occurs in the question. Mostly they follow from it."""
    for entry in facts.entries:
        if entry.category.rule is Rule.SQL:
            continue
        asked = standardized(" ".join(message.content for turn in entry.turns for message in turn))
        for item in accepted(entry):
            texts = [option for option in item.given if isinstance(option, str)]
            closed = isinstance(item.schema.get("enum"), list)
            if item.omissible or closed or not texts or len(texts) < len(item.given):
                continue
            if not any(standardized(text) in asked for text in texts):
                evidence = f"{item.at}: none of {shown(texts)} stands in the question"
                advice = "look whether the question says it in other words"
                yield Problem(entry.id, HINT, evidence, advice)
