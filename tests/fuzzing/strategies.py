"""What goes into readers and matchers: anything, and what is nearly right."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from tests.codecs.hostile import HOSTILE, any_text, wild_text

words = st.text(st.characters(), max_size=8)

scalars: st.SearchStrategy[object] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(10**400), 10**400),
    st.floats(),
    st.sampled_from(
        [0, 1, -1, 2**53, 2**63, 10**4299, 1e308, -0.0, "", "\0", "\ud800", "\u202e", "1", "true"]
    ),
    any_text,
)


def _nest_values(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=4)


json_values: st.SearchStrategy[object] = st.recursive(scalars, _nest_values, max_leaves=8)
"""What JSON can hold, as Python's reader gives it: also NaN, integers of any length, lone surrogates."""


def _nest_deeply(depth: int, kind: str) -> object:
    value: object = 0
    for _ in range(depth):
        value = [value] if kind == "list" else {"a": value}
    return value


deep_values = st.builds(_nest_deeply, st.integers(50, 3000), st.sampled_from(["list", "dict"]))
"""Values that are nested as deep as a parser lets through, and deeper."""

python_values: st.SearchStrategy[object] = st.recursive(
    scalars | st.binary(max_size=8) | st.complex_numbers(),
    lambda inner: _nest_values(inner) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=8,
)
"""What a literal of Python can write."""

hostile_text = wild_text | st.sampled_from([text[:3000] for text in HOSTILE.values()])

_YAML = "2024-07-18|2024-07-18 12:30:00|12:30:45|.nan|!!binary aGk=|!!set {a}|&a [*a]|<<: *a|!!python/x |- "
_SIGNS = ("", "\0", "\n", "\ud800", "\u202e", *"{}[]\"':,<>&*")
_PIECES = st.sampled_from([*_SIGNS, *_YAML.split("|")]) | any_text


def mutate_texts(seeds: Sequence[str]) -> st.SearchStrategy[str]:
    """Draw texts that are nearly one of these: pieces are gone, doubled, or in the place of others."""
    edit = st.tuples(st.floats(0, 1), st.integers(0, 20), _PIECES, st.booleans())
    return st.builds(_edit_text, st.sampled_from(seeds), st.lists(edit, max_size=5))


def _edit_text(text: str, edits: Sequence[tuple[float, int, str, bool]]) -> str:
    for place, length, piece, doubled in edits:
        at = int(place * len(text))
        gone = text[at : at + length]
        text = f"{text[:at]}{gone + gone if doubled else ''}{piece}{text[at + length :]}"
    return text


def mutate_bytes(seeds: Sequence[bytes]) -> st.SearchStrategy[bytes]:
    """Draw bytes that are nearly one of these, as ``mutate_texts`` does with texts."""
    latin = mutate_texts([seed.decode("latin-1") for seed in seeds])
    return latin.map(lambda text: text.encode("latin-1", "replace")) | latin.map(
        lambda text: text.encode("utf-8", "surrogatepass")
    )


def change_values(
    seeds: Sequence[object], values: st.SearchStrategy[object] = json_values
) -> st.SearchStrategy[object]:
    """Draw values that are nearly one of these: a member is gone, misspelt, doubled or something else."""
    edit = st.tuples(
        st.lists(st.integers(0, 2**16), min_size=1, max_size=8),
        st.sampled_from(["set", "del", "key", "twice"]),
        values,
    )
    return st.builds(_alter_value, st.sampled_from(seeds), st.lists(edit, min_size=1, max_size=3))


def _alter_value(value: object, edits: Sequence[tuple[Sequence[int], str, object]]) -> object:
    value = copy.deepcopy(value)
    for way, kind, new in edits:
        _alter_place(value, way, kind, new)
    return value


def _alter_place(here: Any, way: Sequence[int], kind: str, new: object) -> None:
    """Do one edit at a place below a value; the way ends early where nothing is inside."""
    if not isinstance(here, (dict, list)) or not here:
        return
    key = list(here)[way[0] % len(here)] if isinstance(here, dict) else way[0] % len(here)
    inner = here[key]
    if len(way) > 1 and isinstance(inner, (dict, list)) and inner:
        _alter_place(inner, way[1:], kind, new)
    elif kind == "del":
        del here[key]
    elif kind == "key" and isinstance(here, dict):
        here[str(new)[:20]] = here.pop(key)
    elif kind == "twice" and isinstance(here, list):
        here.append(copy.deepcopy(inner))
    else:
        here[key] = new
