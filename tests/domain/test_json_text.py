"""JSON text is read in one place, to a limited depth."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from pytest_fcbench.domain.json_text import (
    DEEPEST,
    DEEPEST_OF_REPLY,
    read_json_at,
    read_json_text,
    read_reply_text,
)
from tests.conftest import ROOT

DEPTHS = (DEEPEST + 1, 500, 5_000, 100_000)


def nest(depth: int, kind: str = "list") -> str:
    """Write a value of so many levels, the innermost of which is empty."""
    opening, closing = ("[", "]") if kind == "list" else ('{"a":', "}")
    return opening * (depth - 1) + ("[]" if kind == "list" else "{}") + closing * (depth - 1)


@pytest.mark.parametrize("read", [read_json_text, read_json_at])
@pytest.mark.parametrize("kind", ["list", "object"])
def test_json_is_read_to_a_depth(read: Callable[[str], object], kind: str) -> None:
    assert read(nest(DEEPEST, kind))
    for depth in DEPTHS:
        with pytest.raises(ValueError, match=r"^nested more than 300 deep$"):
            read(nest(depth, kind))


def test_a_value_may_be_wide() -> None:
    wide = f"[{', '.join([nest(DEEPEST - 1)] * 100)}]"
    assert len(read_json_text(wide.encode())) == 100
    assert read_json_at(f"x{wide}y", 1)[1] == len(wide) + 1


@pytest.mark.parametrize("kind", ["list", "object"])
def test_a_reply_is_emptied_below_a_depth(kind: str) -> None:
    kept = read_json_text(nest(DEEPEST_OF_REPLY + 1, kind))
    for depth in (DEEPEST_OF_REPLY + 1, DEEPEST_OF_REPLY + 2, 500):
        assert read_reply_text(nest(depth, kind)) == kept
    assert read_reply_text(nest(DEEPEST_OF_REPLY, kind)) != kept
    with pytest.raises(ValueError, match="nested"):
        read_reply_text(nest(100_000, kind))


@pytest.mark.parametrize("form", [str, str.encode])
def test_a_reply_is_one_value(form: Callable[[str], str | bytes]) -> None:
    assert read_reply_text(form(" {}\r\n\t")) == {}
    for text in ("{} {}", "{}]", "", "{}\xa0"):
        with pytest.raises(ValueError, match=r"follows|Extra data|Expecting value"):
            read_reply_text(form(text))


def test_json_text_is_read_in_one_place() -> None:
    """The decoders of answers look for the depth before they read, because broken JSON is an answer too."""
    package = ROOT / "pytest_fcbench"
    reading = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"\bjson\.loads?\(|\bJSONDecoder\b", path.read_text(encoding="utf-8"))
    }
    assert reading == {
        "domain/json_text.py",
        "codecs/decoders/json_text.py",
        "codecs/decoders/json_calls.py",
        # What it reads was written by this program, on the other side of a link that knows its key.
        "dispatch/worker_link.py",
        # Its values are no JSON, and are made by a process that is confined.
        "execution/sandbox/frames.py",
    }
