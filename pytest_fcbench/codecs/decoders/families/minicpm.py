"""Calls of MiniCPM 3: Python statements between ``<|tool_call_start|>`` and ``<|tool_call_end|>``, fenced.

Official: ``MiniCPMFCHandler``. An answer without calls that can be read is its own text, so it is of a wrong
format and not unreadable; to carry out it has none.
"""

from __future__ import annotations

from pytest_fcbench.codecs.call_texts import write_spaced
from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.outcome import Undecodable, WrongFormat
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call

_START, _END = "<|tool_call_start|>", "<|tool_call_end|>"
_THOUGHT_START, _THOUGHT_END = "<|thought_start|>", "<|thought_end|>"


def parse_minicpm(text: str) -> tuple[Call, ...]:
    """Read every statement between the tags as a call. Raises ``Undecodable``, ``WrongFormat``."""
    if not (calls := _find_calls(text)):
        raise WrongFormat("the answer has no calls that can be read")
    return calls


def read_call_texts(text: str) -> tuple[str, ...]:
    """Read the calls to carry out. Raises ``Undecodable``."""
    return write_spaced(_find_calls(text))


def _find_calls(text: str) -> tuple[Call, ...]:
    if _THOUGHT_START in text and _THOUGHT_END in text:
        reasoning, _, text = text.rpartition(_THOUGHT_END)
        _select_behind(_THOUGHT_START, reasoning)
    if _START not in text or _END not in text:
        return ()
    inside = _select_behind(_START, text.rpartition(_END)[0]).strip()
    if inside.startswith("```"):
        inside = inside.lstrip("`").strip()
        if inside.startswith("python"):
            # Official: the letters are cut off, not the word.
            inside = inside.lstrip("python").strip()
    if inside.endswith("```"):
        inside = inside.rstrip("`").strip()
    try:
        return python.parse_official_statements(inside)
    except Undecodable:
        return ()


def _select_behind(mark: str, text: str) -> str:
    _, separator, rest = text.partition(mark)
    if not separator:
        raise Undecodable(f"{mark} stands behind the mark that ends it")
    return rest


MINICPM = read_json_calls(
    parse_minicpm,
    lambda text: _START in text or text.startswith(_THOUGHT_START),
    write=write_spaced,
    carried_out=read_call_texts,
)
