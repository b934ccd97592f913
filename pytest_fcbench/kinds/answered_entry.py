"""Answers as the official result files and score files show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.json_text import from_json
from pytest_fcbench.codecs.decoders.outcome import Calls, Unreadable
from pytest_fcbench.codecs.decoders.registry import read_official
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.function_doc import Language
from pytest_fcbench.domain.transcript import ToolCall, Transcript

OfficialRow: TypeAlias = dict[str, object]
"""The fields of a line in a score file, in order, without those that name the answer."""


@dataclass(frozen=True, slots=True)
class AnsweredEntry:
    """An entry with its transcript and its fields in the official files."""

    entry: Entry
    transcript: Transcript
    result: object
    """The result in its row of the result file."""
    prompt: Mapping[str, object]
    possible_answer: object

    def read_calls(self) -> Calls | Unreadable:
        """Read the calls of the last answer by the official rules."""
        syntax, language = self.transcript.prompting.syntax, self.entry.category.language
        return read_official(self.transcript.last, syntax, language)

    def format_calls(self, reading: Calls) -> list[object]:
        """Format calls as ``{name: {parameter: value}}``; in a text a nameless argument is ``null``."""
        is_text = self.transcript.prompting.syntax.startswith(("python", "verbose_xml"))
        names = {"**": "null"} if is_text else {}
        return [
            {call.name: {names.get(name, name): value for name, value in call.arguments.items()}}
            for call in reading.calls
        ]

    def show_misdecoded(self) -> object:
        """Show a result that does not decode to calls: arguments that are no object, or a text."""
        calls = [part for part in self.transcript.last.tool_calls or () if isinstance(part, ToolCall)]
        if not calls:
            return {} if self.entry.category.language is Language.JAVA else None
        return [
            {part.name: from_json(part.arguments) if isinstance(part.arguments, str) else part.arguments}
            for part in calls
        ]
