"""Calls of a right answer, with the accepted values of their parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.domain.entry import Entry, Expectation


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call of a right answer (BFCL's *possible answer*).

    ``accepted`` maps a parameter to its acceptable values; ``""`` among them means it may be left out.
    A dict value is written ``{key: [acceptable, ...]}``, a list of dicts as a list of such.
    """

    name: str
    accepted: Mapping[str, object]
    judged: tuple[str, ...] = ()
    """Parameters with free text, which a judge compares; only entries of a team's own suites have some."""


def choose_plain_value(option: object) -> object:
    """Return an accepted value in plain form: the first of a dict's alternatives for each key.

    Keys that may be left out are left out. Values deeper inside a dict are plain already: officially they are
    compared as they are.
    """
    if isinstance(option, list):
        return [choose_plain_value(item) for item in option]
    if not isinstance(option, Mapping):
        return option
    return {
        key: alternatives[0]
        for key, alternatives in option.items()
        if isinstance(alternatives, list) and alternatives and "" not in alternatives
    }


def list_alternatives(value: object) -> object:
    """Convert a value to the form of ``ExpectedCall``: members of a dict become lists of accepted values."""
    if isinstance(value, (list, tuple)):
        return list(map(list_alternatives, value))
    if isinstance(value, Mapping):
        return {key: [list_alternatives(member)] for key, member in value.items()}
    return value


@dataclass(frozen=True, slots=True)
class ExpectedCalls(Expectation):
    """The answer must consist of these calls."""

    calls: tuple[ExpectedCall, ...]

    @property
    def has_free_text(self) -> bool:
        """True where a judge compares an argument, if one is named."""
        return any(call.judged for call in self.calls)


def list_expected_calls(entry: Entry) -> Sequence[ExpectedCall]:
    """List the expected calls of an entry; none where its right answer is something else."""
    return entry.expectation.calls if isinstance(entry.expectation, ExpectedCalls) else ()
