"""Find the smallest calls that fail, with hypothesis: fewer calls, fewer arguments, simpler values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from time import process_time

from hypothesis import HealthCheck, Phase, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.transcript import Call
from pytest_fcbench.tools.parsers.truths import Truth

_KEEP = st.integers(0, 4).map(bool)
"""Shrinks towards leaving a part out; at random most parts stay."""
_SETTINGS = settings(
    max_examples=200,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def shrink_calls(truth: Truth, fails: Callable[[Truth], bool], seconds: float = 5.0) -> Truth:
    """Return the smallest calls like these that fail; nothing new is tried after so much processor time."""
    end = process_time() + seconds
    # hypothesis tries the same again, and must find what it found before.
    verdicts: dict[str, bool] = {}

    def check_calls(smaller: Truth) -> bool:
        key = repr(smaller.calls)
        if key not in verdicts and process_time() < end:
            verdicts[key] = fails(smaller)
        return verdicts.get(key, False)

    try:
        # The same calls shrink to the same, whenever they are tried.
        return find(draw_smaller_truth(truth), check_calls, settings=_SETTINGS, random=Random(0))  # noqa: S311
    except NoSuchExample:
        return truth


@st.composite
def draw_smaller_truth(draw: st.DrawFn, truth: Truth) -> Truth:
    kept_calls = [each for each in truth.calls if draw(_KEEP)] or truth.calls[:1]
    values = [as_mapping(draw(_draw_smaller_value(each.arguments))) for each in kept_calls]
    calls = (Call(each.name, value) for each, value in zip(kept_calls, values, strict=True))
    return replace(truth, calls=tuple(calls))


@st.composite
def _draw_smaller_value(draw: st.DrawFn, value: object) -> object:
    match value:
        case Mapping():
            return {key: draw(_draw_smaller_value(each)) for key, each in value.items() if draw(_KEEP)}
        case list() | tuple():
            return [draw(_draw_smaller_value(each)) for each in value if draw(_KEEP)]
        case str():
            start = draw(st.integers(0, len(value)))
            length = draw(st.sampled_from([*range(4), len(value)]))
            return value[start : start + length] if draw(_KEEP) else value[:length]
        case bool() | None:
            return value
        case _:
            return draw(st.sampled_from([1, 0.5, value, value, value]))
