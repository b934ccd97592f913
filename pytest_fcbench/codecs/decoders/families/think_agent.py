"""Calls of ThinkAgent: a JSON list behind ``</think>``, single quotes read as double ones.

Official: ``ThinkAgentHandler``. Its reader of calls to carry out fails for every call.
"""

from __future__ import annotations

from pytest_fcbench.codecs.decoders.json_text import from_json, read_members
from pytest_fcbench.codecs.decoders.outcome import Undecodable
from pytest_fcbench.codecs.decoders.syntax import read_json_calls
from pytest_fcbench.domain.transcript import Call


def parse_think_agent(text: str) -> tuple[Call, ...]:
    """Read the list behind the reasoning; without reasoning there is none.

    Raises ``Undecodable``, ``WrongFormat``.
    """
    _, mark, rest = text.strip().replace("'", '"').partition("</think>")
    return read_members(from_json(rest.strip()) if mark else [])


def read_call_texts(text: str) -> tuple[str, ...]:
    """Refuse every call (``Undecodable``)."""
    if parse_think_agent(text):
        raise Undecodable("the official reader of calls to carry out fails for every call")
    return ()


THINK_AGENT = read_json_calls(parse_think_agent, carried_out=read_call_texts)
