"""Replies of the chat interface, read without a server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pytest_fcbench.domain.transcript import Completion
from pytest_fcbench.models.providers.event_stream import read_value
from pytest_fcbench.models.providers.openai_compatible import read_answer


def read_reply(
    body: bytes, latency_s: float | None, secrets: Sequence[str], content_type: str = ""
) -> Completion:
    """Read a reply, whole or as a stream of events. Raises ``CallError``."""
    return replace(read_answer(read_value(body, content_type), secrets), latency_s=latency_s)
