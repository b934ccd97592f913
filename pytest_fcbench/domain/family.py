"""Who a model is on the leaderboard, and the requests that are made for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Api(StrEnum):
    """An interface of a server that answers for a model."""

    CHAT = "chat"
    """``POST /v1/chat/completions`` of OpenAI and of most servers."""
    COMPLETIONS = "completions"
    """``POST /v1/completions``: a prompt as text, with nothing added by the server."""
    RESPONSES = "responses"
    """``POST /v1/responses`` of OpenAI."""
    MESSAGES = "messages"
    """``POST /v1/messages`` of Anthropic."""
    GENERATE_CONTENT = "generate_content"
    """``POST /v1beta/models/ID:generateContent`` of Google."""
    COHERE = "cohere"
    """``POST /v2/chat`` of Cohere."""
    CONVERSE = "converse"
    """``POST /model/ID/converse`` of Amazon Bedrock."""


@dataclass(frozen=True, slots=True)
class FamilyMember:
    """A model that is asked as the official harness asks it."""

    model: str
    """Its id in the official registry."""
    handler: str
    """The official class that asks it."""
    name: str
    """The name by which its server knows it."""
    repaired: bool = False
    """True where the known faults of the official way of asking are left out."""

    def __str__(self) -> str:
        return f"{self.model}, without its known faults" if self.repaired else self.model


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request in the form of one interface."""

    api: Api
    body: Mapping[str, object]
    """The members of the body, without those that an address or a header holds."""
