"""The 26 prompt formats of BFCL's format sensitivity.

Four return formats, with and without a tag around the calls, three forms of the function docs: 24. The
default among them comes once more as Markdown and once more in other words. Official:
``get_all_format_sensitivity_configs``. The bottom room: imports nothing of ours.
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
