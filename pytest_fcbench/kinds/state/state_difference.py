"""Differences between two states, in few words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_fcbench.domain.text import shorten_text
from pytest_fcbench.judging.text_normalization import mark_lookalikes

_LONGEST = 60
"""Characters of a value that are shown."""


@dataclass(frozen=True, slots=True)
class PlaceDifference:
    """A difference: its place, and both values as short text; None where there is none."""

    at: str
    expected: str | None
    found: str | None

    def __str__(self) -> str:
        if self.expected is None:
            return f"{self.at} is {self.found}, which should not be there"
        if self.found is None:
            return f"{self.at} is missing, expected {self.expected}"
        return f"{self.at} is {self.found}, expected {self.expected}"


def find_differences(expected: object, found: object, at: str = "") -> Iterator[PlaceDifference]:
    """Yield every place where two values differ, as deep as possible."""
    if expected == found:
        return
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for key in (*expected, *(key for key in found if key not in expected)):
            place = f"{at}.{key}" if at else str(key)
            if key not in found:
                yield PlaceDifference(place, _shorten(expected[key]), None)
            elif key not in expected:
                yield PlaceDifference(place, None, _shorten(found[key]))
            else:
                yield from find_differences(expected[key], found[key], place)
    elif isinstance(expected, list) and isinstance(found, list):
        for index in range(max(len(expected), len(found))):
            place = f"{at}[{index}]"
            if index >= len(found):
                yield PlaceDifference(place, _shorten(expected[index]), None)
            elif index >= len(expected):
                yield PlaceDifference(place, None, _shorten(found[index]))
            else:
                yield from find_differences(expected[index], found[index], place)
    else:
        shown = _cut_around_difference(_write_value(expected), _write_value(found))
        yield PlaceDifference(at, *mark_lookalikes(*shown))


def _shorten(value: object) -> str:
    return shorten_text(_write_value(value), _LONGEST)


def _write_value(value: object) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def _cut_around_difference(expected: str, found: str) -> tuple[str, str]:
    """Cut two different texts so that their first difference shows."""
    if max(len(expected), len(found)) <= _LONGEST:
        return expected, found
    same = next((i for i, (a, b) in enumerate(zip(expected, found, strict=False)) if a != b), None)
    start = max(0, (min(len(expected), len(found)) if same is None else same) - _LONGEST // 3)

    def cut(text: str) -> str:
        end = start + _LONGEST
        return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"

    return cut(expected), cut(found)
