"""Calls of Gemini: its interface's own list, or Python in a ``tool_code`` fence (``GEMINI_PYTHON``).

Official: ``GeminiHandler``. In function calling a text is passed on as it is, so it is of a wrong format and
not unreadable.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.families.parts import read_as_they_are
from pytest_fcbench.codecs.decoders.outcome import WrongFormat
from pytest_fcbench.codecs.decoders.python_calls import read_unwrapped
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call


def refuse_text(text: str) -> tuple[Call, ...]:
    """Refuse every text (``WrongFormat``)."""
    raise WrongFormat("the reply is text, not a list of calls")


def drop_fence(text: str) -> str:
    """Drop the marks of a ``tool_code`` fence, wherever they stand."""
    return text.replace("```tool_code\n", "").replace("\n```", "")


GEMINI = read_json_calls(refuse_text, parts=read_as_they_are)
GEMINI_PYTHON = read_unwrapped(drop_fence)
