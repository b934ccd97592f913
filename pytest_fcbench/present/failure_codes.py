"""Plain sentences for the codes of failures: what each means, and what to look at."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.domain.verdict import Failed, Profile, Verdicts
from pytest_fcbench.scorecard.record import Record


class FailureCode(NamedTuple):
    """The meaning of a code, and where to look next."""

    meaning: str
    advice: str


@dataclass(frozen=True, slots=True)
class _CodeTable:
    """The contents of ``failure_codes.toml``, which explains them."""

    shared_advice: Mapping[str, str]
    groups: Mapping[str, Mapping[str, FailureCode]]
    causes: Mapping[str, tuple[str, ...]]


@cache
def read_failure_code_groups() -> Mapping[str, Mapping[str, FailureCode]]:
    """Return the failure codes of this package by the heading of their group."""
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
    """Return every failure code of this package with its meaning and advice."""
    return {code: row for codes in read_failure_code_groups().values() for code, row in codes.items()}


_UNKNOWN_CODE = FailureCode(
    "A matcher of another package, or of another version, gave this code.", "read the reason beside it"
)


def find_failure_code(code: str) -> FailureCode:
    """Return the meaning of a code; verdicts of other packages may have codes of their own."""
    return read_failure_codes().get(code, _UNKNOWN_CODE)


@cache
def _read_causes() -> Mapping[str, str]:
    """Return the cause of each code that has one."""
    table = read_table(_CodeTable, __file__, "failure_codes.toml")
    return {code: cause for cause, codes in table.causes.items() for code in codes}


_COUNTS = re.compile(r"(\d+) calls? came, (\d+) expected")
"""The reason of a wrong number of calls; a run keeps no details of verdicts at its end."""


def name_cause(verdicts: Verdicts, profile: Profile) -> str:
    """Name in a few words why an entry failed, as finely as its verdicts tell."""
    verdict, corrected = verdicts.select_profile(profile), verdicts.corrected
    assert isinstance(verdict, Failed)
    # The official code does not tell words from a call that cannot be read.
    if verdict.code.endswith("decoder_failed") and isinstance(corrected, Failed):
        verdict = corrected
    if counts := _COUNTS.match(verdict.reason):
        found, expected = map(int, counts.groups())
        if found > expected:
            return "too many calls came"
        return "one call of several came" if found == 1 else "too few calls came"
    return _read_causes().get(verdict.code) or find_failure_code(verdict.code).meaning.rstrip(".")


def group_by_cause(records: Iterable[Record], profile: Profile) -> Mapping[str, Sequence[Record]]:
    """Group the failed entries by their cause, the most frequent first.

    In a group, the first entries are of different categories, because they teach more than neighbours.
    """
    groups: dict[str, list[Record]] = {}
    for record in records:
        if isinstance(record.verdict(profile), Failed):
            groups.setdefault(name_cause(record.verdicts, profile), []).append(record)
    for group in groups.values():
        firsts = {record.category: record for record in reversed(group)}
        group.sort(key=lambda record: (record is not firsts[record.category], record.trial or 0))
    return dict(sorted(groups.items(), key=lambda pair: -len(pair[1])))
