"""Calls of Phi: Python behind the beginning of a fence (``PHI_PYTHON``), or tagged JSON (``PHI``).

Official: ``PhiHandler`` and ``PhiFCHandler``.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.codecs.call_texts import write_nested
from pytest_fcbench.codecs.decoders import python
from pytest_fcbench.codecs.decoders.families.parts import read_calls_only
from pytest_fcbench.codecs.decoders.families.tagged_list import decode_lists, read_plain_calls
from pytest_fcbench.codecs.decoders.python_calls import read_unwrapped
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.codecs.decoders.wrapping import find_all_between
from pytest_fcbench.domain.transcript import Call

_OPENING, _CLOSING = "<|tool_call|>", "<|/tool_call|>"


def drop_fence_start(text: str) -> str:
    """Drop the beginning of a fence for JSON or Python."""
    return text.removeprefix("```json").removeprefix("```python")


def drop_spaces_and_fence_start(text: str) -> str:
    """Drop white space around a text, and the beginning of a fence."""
    return drop_fence_start(text.strip())


def read_call_texts(text: str) -> tuple[str, ...]:
    """Read the calls to carry out; officially a fence behind white space stays. Raises ``Undecodable``."""
    return write_nested(python.parse_official(drop_fence_start(text)))


def parse_phi(text: str) -> tuple[Call, ...]:
    """Read lists of calls between ``<|tool_call|>`` and ``<|/tool_call|>``; the last may be left open.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    texts = find_all_between(text, _OPENING, _CLOSING)
    if not texts and _OPENING in text:
        # Official: the pattern for a tag that is left open ends before a line end at the end of the text.
        texts = [text.partition(_OPENING)[2].removesuffix("\n")]
    return read_plain_calls(decode_lists(texts))


PHI = read_json_calls(parse_phi, lambda text: _OPENING in text, parts=read_calls_only)
PHI_PYTHON = replace(read_unwrapped(drop_spaces_and_fence_start), carried_out=read_call_texts)
