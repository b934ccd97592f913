"""Plain sentences for the codes of failures: what each means, and what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from pytest_fcbench.domain.tables import read_table


class FailureCode(NamedTuple):
    """The meaning of a code, and where to look next."""

    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class _CodeTable:
    """The contents of ``failure_codes.toml``, which explains them."""

    shared_advice: Mapping[str, str]
    groups: Mapping[str, Mapping[str, FailureCode]]


@cache
def read_failure_code_groups() -> Mapping[str, Mapping[str, FailureCode]]:
    """Return every code that a verdict of this package can have, by the heading of its group."""
    table = read_table(_CodeTable, __file__, "failure_codes.toml")
    return {
        heading: {
            code: FailureCode(meaning, table.shared_advice.get(advice, advice))
            for code, (meaning, advice) in codes.items()
        }
        for heading, codes in table.groups.items()
    }


@cache
def read_failure_codes() -> Mapping[str, FailureCode]:
    """Return every code that a verdict of this package can have."""
    return {code: row for codes in read_failure_code_groups().values() for code, row in codes.items()}


_OTHER = FailureCode(
    "A matcher of another package, or of another version, gave this code.", "read the reason beside it"
)


def find_failure_code(code: str) -> FailureCode:
    """Return the meaning of a code; verdicts of other packages may have codes of their own."""
    return read_failure_codes().get(code, _OTHER)
