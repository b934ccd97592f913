"""The sentences put around function docs. They come from the suite: its own, or its pack's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcbench.entries import Language


@dataclass(frozen=True, slots=True)
class Notes:
    """What is added to descriptions for one language.

    ``hint`` goes to every function. Where ``any_type`` is set, every parameter is asked for as source
    text: its description gets ``any_type`` or ``typed`` (``{}`` is the declared type), then
    ``elements`` (``{}`` is the element type) or ``members`` (``{}`` is the JSON of its properties).
    """

    hint: str
    any_type: str | None = None
    typed: str = ""
    elements: str = ""
    members: str | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """All sentences of a suite. ``{functions}`` in the system prompt stands for the docs as JSON."""

    system_prompt: str
    notes: Mapping[Language, Notes]
    float_note: str
    """Added to the description of a float parameter in a tool schema, whose type can only say number."""
    more_functions: str = ""
    """What the user says when functions are offered that were not there before."""
    answer_format: str = ""
    """How the final answer is to be given, where it is compared with right ones."""
    memory: Mapping[str, str] = field(default_factory=dict)
    """By domain, what is said of a memory ahead of a conversation. ``{memory}`` is what it holds,
    ``{persona}`` who the model is."""
    empty_memory: Mapping[str, str] = field(default_factory=dict)
    """By domain, what stands for the content of one that holds nothing."""
