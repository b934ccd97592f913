"""Calls of Nemotron Ultra: Python between ``<TOOLCALL>`` and ``</TOOLCALL>``. Official: ``NemotronHandler``.

A text without these tags is officially an answer that calls nothing.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.python_calls import read_unwrapped
from pytest_fcbench.codecs.decoders.wrapping import CLOSING, OPENING, find_between


def find_calls(text: str) -> str | None:
    """Return the text between the first tags, or None."""
    place = find_between(text, OPENING, CLOSING)
    return None if place is None else text[slice(*place)]


NEMOTRON = read_unwrapped(find_calls, looks_so=lambda text: OPENING in text)
