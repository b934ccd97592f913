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


def find_differences(expected_value: object, actual_value: object, at: str = "") -> Iterator[PlaceDifference]:
    """Yield every place where two values differ, as deep as possible."""
    if expected_value == actual_value:
        return
    if isinstance(expected_value, Mapping) and isinstance(actual_value, Mapping):
        for key in (*expected_value, *(key for key in actual_value if key not in expected_value)):
            place = f"{at}.{key}" if at else str(key)
            if key not in actual_value:
                yield PlaceDifference(place, _shorten(expected_value[key]), None)
            elif key not in expected_value:
                yield PlaceDifference(place, None, _shorten(actual_value[key]))
            else:
                yield from find_differences(expected_value[key], actual_value[key], place)
    elif isinstance(expected_value, list) and isinstance(actual_value, list):
        for index in range(max(len(expected_value), len(actual_value))):
            place = f"{at}[{index}]"
            if index >= len(actual_value):
                yield PlaceDifference(place, _shorten(expected_value[index]), None)
            elif index >= len(expected_value):
                yield PlaceDifference(place, None, _shorten(actual_value[index]))
            else:
                yield from find_differences(expected_value[index], actual_value[index], place)
    else:
        value_texts = _cut_around_difference(_write_value(expected_value), _write_value(actual_value))
        yield PlaceDifference(at, *mark_lookalikes(*value_texts))


def _shorten(value: object) -> str:
    return shorten_text(_write_value(value), _LONGEST)


def _write_value(value: object) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):
        return f"<{type(value).__name__}>"


def _cut_around_difference(expected_text: str, actual_text: str) -> tuple[str, str]:
    """Cut two different texts so that their first difference shows."""
    if max(len(expected_text), len(actual_text)) <= _LONGEST:
        return expected_text, actual_text
    same = next((i for i, (a, b) in enumerate(zip(expected_text, actual_text, strict=False)) if a != b), None)
    start = max(0, (min(len(expected_text), len(actual_text)) if same is None else same) - _LONGEST // 3)

    def cut(text: str) -> str:
        end = start + _LONGEST
        return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"

    return cut(expected_text), cut(actual_text)
