"""The presentation of functions to a model, and the notation of its calls.

BFCL's format sensitivity has 26 prompt formats: four return formats, with and without a tag around the calls,
three forms of the function docs make 24. The default among them comes once more as Markdown and once more in
other words. Official: ``get_all_format_sensitivity_configs``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum


class AnswerNotation(StrEnum):
    """The notation of calls in an answer."""

    PYTHON = "python"
    JSON = "json"
    VERBOSE_XML = "verbose_xml"
    """Values are attributes."""
    CONCISE_XML = "concise_xml"
    """Values are texts between tags."""


class Docs(StrEnum):
    """The notation of function docs."""

    PYTHON = "python"
    XML = "xml"
    JSON = "json"


class Layout(StrEnum):
    """The layout of the parts of the prompt."""

    PLAINTEXT = "plaintext"
    MARKDOWN = "markdown"


class Style(StrEnum):
    """The wording of the prompt."""

    CLASSIC = "classic"
    EXPERIMENTAL = "experimental"


@dataclass(frozen=True, slots=True)
class PromptFormat:
    """A way to show functions and ask for calls in a system prompt; the fields are its *dimensions*."""

    returned: AnswerNotation = AnswerNotation.PYTHON
    tagged: bool = False
    """True where the calls are to stand between ``<TOOLCALL>`` and ``</TOOLCALL>``."""
    docs: Docs = Docs.JSON
    layout: Layout = Layout.PLAINTEXT
    style: Style = Style.CLASSIC

    @property
    def name(self) -> str:
        """Official name, a part of entry ids."""
        return (
            f"ret_fmt={self.returned}&tool_call_tag={self.tagged}&func_doc_fmt={self.docs}"
            f"&prompt_fmt={self.layout}&style={self.style}"
        )

    @property
    def syntax(self) -> str:
        """The notation of calls in its answers, a name of ``codecs.decoders.registry.SYNTAXES``."""
        return f"{self.returned}_tagged" if self.tagged else str(self.returned)

    @property
    def short(self) -> str:
        """A name for tables, which leaves out plain text and classic wording."""
        words = [self.returned, f"{self.docs} docs", *(["tag"] if self.tagged else [])]
        words += [word for word in (self.layout, self.style) if word not in (PLAIN.layout, PLAIN.style)]
        return (
            ", ".join(words).replace("_xml", " XML").replace("json", "JSON").replace("xml docs", "XML docs")
        )


PLAIN = PromptFormat()

"""The format of the entries of all other categories."""

FORMATS: tuple[PromptFormat, ...] = (
    *(
        PromptFormat(returned, tagged, docs)
        for returned in AnswerNotation
        for tagged in (True, False)
        for docs in Docs
    ),
    replace(PLAIN, layout=Layout.MARKDOWN),
    replace(PLAIN, style=Style.EXPERIMENTAL),
)

"""All 26, in the official order."""

BY_NAME: Mapping[str, PromptFormat] = {each.name: each for each in FORMATS}

DIMENSIONS = tuple(field.name for field in fields(PromptFormat))

# Official ids are ``format_sensitivity_N:<name of the format>:<id of the original entry>``.
_ID = re.compile(r"(?:^|:)format_sensitivity_\d+:([^:]+):(.+)", re.DOTALL)


def parse_format_id(entry: str) -> tuple[PromptFormat, str] | None:
    """Read the prompt format and the original entry from an id or key; None where it names neither."""
    match = _ID.search(entry)
    prompt_format = BY_NAME.get(match[1]) if match else None
    return (prompt_format, match[2]) if match and prompt_format else None


def shorten_format_id(entry: str) -> str:
    """Replace the format in an entry id or key by an ellipsis; the number in the id names it, too."""
    parts = parse_format_id(entry)
    return entry.replace(parts[0].name, "…") if parts else entry


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


class Mode(StrEnum):
    """The way functions are shown and calls are asked for."""

    FC = "fc"
    """Function calling: tool schemas in the request, tool calls in the reply."""
    PROMPT = "prompt"
    """Prompting: function docs in the system prompt, calls as text in the reply."""
    COMPLETION = "completion"
    """For base models: answered examples and a question in one text, which goes on with calls."""


class Names(StrEnum):
    """The form in which dotted function names are shown to a model.

    Most function-calling interfaces refuse dots, so ``math.factorial`` is shown as ``math_factorial``.
    """

    DOTTED = "dotted"
    UNDERSCORED = "underscored"

    def show_name(self, name: str) -> str:
        """Return a function name as the model sees it."""
        # Official handlers do so for OpenAI, Anthropic, Google and Mistral, not for Fireworks or Gorilla.
        return name.replace(".", "_") if self is Names.UNDERSCORED else name


class Reasoning(StrEnum):
    """The treatment of reasoning in answers that later requests repeat."""

    KEEP = "keep"
    """Send it back as it came, as the general official handler does."""
    STRIP = "strip"
    """Leave it out."""


DEFAULT_SYNTAX: Mapping[Mode, str] = {Mode.FC: "tool_calls", Mode.PROMPT: "python", Mode.COMPLETION: "python"}
"""The notation of calls in each mode where no other is asked for."""


@dataclass(frozen=True, slots=True)
class Prompting:
    """The presentation of functions to a model, and the notation of its calls."""

    mode: Mode
    names: Names
    syntax: str
    """The notation of calls in its answers, a name of ``codecs.decoders.registry.SYNTAXES``."""
    format: PromptFormat = PLAIN
    """The format of the system prompt in prompting mode."""

    @classmethod
    def make_default(cls, mode: Mode, names: Names | None = None) -> Prompting:
        """Return the prompting of a mode where nothing else is asked for."""
        usual_names = Names.UNDERSCORED if mode is Mode.FC else Names.DOTTED
        return cls(mode, names or usual_names, DEFAULT_SYNTAX[mode])

    def use_format(self, prompt_format: PromptFormat) -> Prompting:
        """Return the same prompting in a prompt format, which also decides how calls are written."""
        return replace(self, syntax=prompt_format.syntax, format=prompt_format)


@dataclass(frozen=True, slots=True)
class ModelPresentation:
    """The label of a model and its prompting, the same for all entries of a run."""

    model: str
    """Its label."""
    prompting: Prompting
    reasoning: Reasoning = Reasoning.KEEP
    member: FamilyMember | None = None
    """The official model as which it is asked; None where it is asked as any server is."""
    shots: tuple[str, ...] = ()
    """In completion mode, the answered examples ahead of an entry."""

    def leave_family(self) -> ModelPresentation:
        """Return the presentation that every server takes, in the same mode."""
        if self.member is None:
            return self
        prompting = Prompting.make_default(self.prompting.mode, self.prompting.names)
        return replace(self, prompting=prompting, member=None)
