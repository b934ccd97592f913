"""Pressure on entries: the same entry at levels that should make no difference to who can answer it.

An entry under pressure has its level in its id: ``simple_python_3+distractors=32``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class PressureKind(StrEnum):
    """A kind of load on an entry."""

    DISTRACTORS = "distractors"
    """So many other functions are offered beside its own."""
    CONTEXT = "context"
    """So many percent of the context hold an earlier conversation about other things."""
    RESULTS = "results"
    """Each result of a call is so many tokens long."""
    ERRORS = "errors"
    """So many answers with calls get an error that passes when they call again."""


CHARACTERS_PER_TOKEN = 3
"""Characters that are counted as a token: results of calls are full of digits and marks."""
MOST_DISTRACTORS = 1024
"""Functions that an entry can be offered beside its own."""
_MOST_LEVELS = 8
_MOST = {PressureKind.DISTRACTORS: MOST_DISTRACTORS, PressureKind.CONTEXT: 95, PressureKind.ERRORS: 10}


@dataclass(frozen=True, slots=True)
class PressureLevel:
    """A kind of pressure and its level."""

    kind: PressureKind
    amount: int
    filler: tuple[str, ...] = ()
    """Texts with which results are made long."""

    @property
    def suffix(self) -> str:
        """The end of the id of an entry at this level."""
        return f"+{self.kind}={self.amount}"

    def write_error(self, errors: int) -> str | None:
        """Write the error in place of results when there were so many before; None once they are over."""
        is_over = self.kind is not PressureKind.ERRORS or errors >= self.amount
        return None if is_over else _ERROR

    def lengthen_result(self, text: str, place: int) -> str:
        """Return the result of a call with results of other calls around it, as long as the level says.

        ``place`` counts the results of a conversation, so that each has others around it.
        """
        missing = self.amount * CHARACTERS_PER_TOKEN - len(text)
        if not self.filler or missing <= 0:
            return text
        others: list[str] = []
        number = 7 * place
        while missing > 0:
            others.append(self.filler[number % len(self.filler)][:missing])
            missing -= len(others[-1]) + 1
            number += 1
        middle = (place * 5 + len(text)) % (len(others) + 1)
        # Plain text, because a result need not be JSON; a line says which part is the call's own.
        before, after = others[:middle], others[middle:]
        return "\n".join((*before, _OWN_RESULT, text, *after))


_ERROR = '{"error": "Temporarily unavailable. The call was not carried out; make the same call again."}'
_OWN_RESULT = "Result of this call; the lines around it are a log of other calls."
_SUFFIX = re.compile(rf"\+({'|'.join(PressureKind)})=(\d+)$")


def split_level(entry: str) -> tuple[str, PressureLevel | None]:
    """Split the id or key of an entry into that of the entry without pressure, and its level."""
    if match := _SUFFIX.search(entry):
        return entry[: match.start()], PressureLevel(PressureKind(match[1]), int(match[2]))
    return entry, None


def parse_levels(text: str) -> tuple[PressureLevel, ...]:
    """Read levels such as ``distractors:0,8,32`` or ``results:1k,8k``. Raises ``ValueError``."""
    name, _, amounts = text.partition(":")
    if name not in tuple(PressureKind):
        raise ValueError(f"must begin with {', '.join(PressureKind)}, such as distractors:0,8,32,128")
    kind = PressureKind(name)
    if not re.fullmatch(r"\d{1,6}k?(,\d{1,6}k?)*", amounts, re.ASCII):
        raise ValueError(f"must be {kind}: and whole numbers with commas between, such as {kind}:0,1,2")
    levels = sorted(
        {int(each.removesuffix("k")) * (1000 if each.endswith("k") else 1) for each in amounts.split(",")}
    )
    most = _MOST.get(kind, 1_000_000)
    if levels[-1] > most:
        raise ValueError(f"has the level {levels[-1]:,}; {kind} can be {most:,} at most")
    if len(levels) > _MOST_LEVELS:
        raise ValueError(f"has {len(levels)} levels; give at most {_MOST_LEVELS}")
    return tuple(PressureLevel(kind, level) for level in levels)
