"""What a check says of an entry."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pytest_fcbench.domain.text import printable, shorten


class Severity(StrEnum):
    """How sure a finding is."""

    CERTAIN = "certain"
    """It was tried, or follows from the entry alone."""
    LIKELY = "likely"
    """It is mostly a mistake; a person should look."""
    HINT = "hint"
    """It is often fine."""


CERTAIN, LIKELY, HINT = Severity


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a check found."""

    check: str
    """A name of ``checks.CHECKS``."""
    entry: str
    """The id within the suite; the name of a category that cannot be read."""
    severity: Severity
    evidence: str
    """A sentence with the values themselves."""
    advice: str
    """What to do."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "evidence", on_one_line(self.evidence))


def on_one_line(text: str) -> str:
    """A text as any terminal and page can show it, whatever somebody wrote into a suite."""
    return printable(text).replace("\n", "\\n")


_LONGEST = 160


def shown(value: object, longest: int = _LONGEST) -> str:
    """A value for a sentence."""
    text = repr(value[: longest + 1] if isinstance(value, str) else value)
    return shorten(text, longest)
