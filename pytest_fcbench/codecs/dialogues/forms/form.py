"""The contract of a form: how one API writes a conversation, and how its replies are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.transcript import Completion, ToolCall

Item: TypeAlias = Mapping[str, object]
"""A message, or whatever else an API puts into its list."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """All that a request says, in parts."""

    name: str
    """The name by which the server knows the model."""
    system: str | None
    """The system text, where it does not stand among the items."""
    items: Sequence[Item]
    tools: Sequence[Item] | None
    """The tools; None where none are sent, as in prompting."""
    is_long: bool
    """True for conversations of several turns or steps."""


@dataclass(frozen=True, slots=True)
class Situation:
    """What a form has to know of the conversation to read and repeat an answer."""

    is_fc: bool
    texts: Sequence[str]
    """The official sentences of the family."""
    is_repaired: bool


class Form(Protocol):
    """How one API writes a conversation."""

    @property
    def api(self) -> Api:
        """The API."""

    @property
    def system_role(self) -> str | None:
        """The role of system messages among the others; None where the body has a member for them."""

    def build_body(self, spoken: Spoken) -> dict[str, object]:
        """Build the body of a request, without the parameters of the family."""

    def write_message(self, role: str, text: str) -> Item:
        """Write a message of the question."""

    def judge_answer(self, completion: Completion, situation: Situation) -> Completion:
        """Return the answer as far as it is judged; a fault where the official handler raises."""

    def write_answer(self, completion: Completion, situation: Situation) -> Sequence[Item]:
        """Write the answer for later requests; ``message`` is what the server sent."""

    def write_results(self, calls: Sequence[ToolCall], texts: Sequence[str]) -> Sequence[Item]:
        """Write the results of tool calls."""

    def read_reply(self, reply: Mapping[str, object]) -> Completion:
        """Read the JSON of a reply. Raises ``CallError`` for one that is none of this API."""


def list_members(value: object) -> list[Mapping[str, object]]:
    """Return the objects of a list, or nothing where it is no list."""
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def as_object(value: object) -> Mapping[str, object]:
    """Return an object, or an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def read_text(value: object) -> str | None:
    """Return a text, or None for anything else."""
    return value if isinstance(value, str) else None


def pair_with_ids(calls: Sequence[ToolCall], texts: Sequence[str]) -> list[tuple[ToolCall, str]]:
    """Pair calls with their results; officially a result without a call is dropped."""
    return list(zip(calls, texts, strict=False))
