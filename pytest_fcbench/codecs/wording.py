"""The sentences that a suite puts around function docs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.prompting import PLAIN, AnswerNotation, Docs, Layout, PromptFormat, Style


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes that are added to descriptions for one language.

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
class Sentences:
    """The parts of a system prompt in one style. ``{format}`` is replaced by the form of the docs."""

    persona: str
    task: str
    tool_call_no_tag: str
    """The syntax of calls: ``{output_format}`` is an example, ``{param_types}`` a note on types."""
    tool_call_with_tag: str
    multiturn_behavior: str
    available_tools: str
    """``{functions}`` is replaced by the docs."""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The parts that system prompts of every format consist of; the names are BFCL's."""

    layouts: Mapping[Layout, str]
    """Templates with ``{persona}``, ``{task}``, ``{tool_call_format}`` and so on in place of the parts."""
    styles: Mapping[Style, Sentences]
    output_formats: Mapping[AnswerNotation, str]
    param_types: Mapping[AnswerNotation, str]
    docs: Mapping[Docs, str]
    """The names of the forms of the docs."""

    def build_system_prompt(self, chosen: PromptFormat) -> str:
        """Build the prompt of a format, with ``{functions}`` still in it."""
        style = self.styles[chosen.style]
        call_format = style.tool_call_with_tag if chosen.tagged else style.tool_call_no_tag
        parts = {
            "persona": style.persona,
            "task": style.task,
            "tool_call_format": call_format.replace(
                "{param_types}", self.param_types[chosen.returned]
            ).replace("{output_format}", self.output_formats[chosen.returned]),
            "multiturn_behavior": style.multiturn_behavior,
            "available_tools": style.available_tools,
        }
        prompt = self.layouts[chosen.layout]
        for name, part in parts.items():
            prompt = prompt.replace(f"{{{name}}}", part)
        return prompt.replace("{format}", self.docs[chosen.docs])


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of a suite around function docs and memories."""

    prompts: Prompts
    notes: Mapping[Language, Notes]
    float_note: str
    """A note in the description of a float parameter in a tool schema, whose type can only be number."""
    more_functions: str = ""
    """The user message that comes with functions offered in a later turn."""
    answer_format: str = ""
    """Instructions for the format of a final answer, where it is compared with right ones."""
    memory: Mapping[str, str] = field(default_factory=dict)
    """By domain, the text about a memory ahead of a conversation. ``{memory}`` is replaced by its content,
    ``{persona}`` by the role of the model."""
    empty_memory: Mapping[str, str] = field(default_factory=dict)
    """By domain, the text in place of the content of an empty memory."""
    family_texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By official class, the sentences of its requests in the order of its source."""

    @property
    def system_prompt(self) -> str:
        """The prompt of the usual format; ``{functions}`` is replaced by the docs as JSON."""
        return self.prompts.build_system_prompt(PLAIN)
