"""An engine of ours, with a good parser of hermes and some that break its answers in known ways."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pytest_fcbench.codecs.decoders.native_syntaxes import NATIVE_SYNTAXES
from pytest_fcbench.domain.transcript import Call, ToolCall
from pytest_fcbench.tools.parsers.engine import (
    Engine,
    EngineRow,
    ParsedAnswer,
    Piece,
    StreamedAnswer,
    Tools,
)
from pytest_fcbench.tools.parsers.matrix import Examiner
from pytest_fcbench.tools.parsers.truths import Truth

FAULTS = ("none", "last_brace", "merges", "leaks", "loses", "crashes", "hangs", "whole_numbers", "cut_tags")
_CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)


@dataclass(frozen=True)
class FakeParser:
    """A parser of hermes with one fault."""

    fault: str = "none"

    def parse_whole(self, answer: Piece, tools: Tools) -> ParsedAnswer:
        calls = [self._read(each) for each in _CALL.findall(answer.text)]
        return ParsedAnswer(calls, _CALL.sub("", answer.text))

    def parse_pieces(self, pieces: Sequence[Piece], tools: Tools) -> ParsedAnswer:
        streamed, rest, count = StreamedAnswer(), "", 0
        for piece in pieces:
            if self.fault == "crashes":
                raise LookupError("no such state")
            while self.fault == "hangs":
                pass
            rest += piece.text
            while "</tool_call>" in rest and (match := _CALL.search(rest)):
                call, rest = self._read(match[1]), rest[match.end() :]
                arguments = str(call.arguments)
                arguments = arguments[:-1] if self.fault == "last_brace" else arguments
                if self.fault != "loses" or not count:
                    streamed.add_call(0 if self.fault == "merges" else count, call.name, arguments)
                if self.fault == "leaks":
                    streamed.text += "</tool_call>"
                count += 1
                # A delta that ends a call is searched for no other, as some parsers of engines do.
                if self.fault == "cut_tags":
                    rest = ""
        return streamed.finish()

    def _read(self, text: str) -> ToolCall:
        members = json.loads(text)
        arguments = members["arguments"]
        if self.fault == "whole_numbers":
            arguments = {
                key: int(each) if isinstance(each, float) else each for key, each in arguments.items()
            }
        return ToolCall(members["name"], json.dumps(arguments, ensure_ascii=False))


def open_fake(tokenizer: object) -> Engine:
    """Open an engine with a parser of each fault, one that cannot be made, and one without a syntax."""

    def open_parser(name: str) -> FakeParser:
        if name == "broken":
            raise ValueError("it lacks the token <broken>")
        return FakeParser(name)

    return Engine("1.2", [*FAULTS, "broken", "novel"], open_parser)


FAKE = EngineRow("pytest", f"{__name__}:open_fake", dict.fromkeys((*FAULTS, "broken"), ("hermes",)))


def make_truth(*calls: Call, key: str = "core:parallel_0") -> Truth:
    """Make a truth whose tools take the arguments that its calls give, of any type."""
    tools = []
    for name, arguments in {each.name: each.arguments for each in calls}.items():
        properties: Mapping[str, object] = {each: {} for each in arguments}
        tools.append(
            {"type": "function", "function": {"name": name, "parameters": {"properties": properties}}}
        )
    return Truth(key, calls, tools)


def split_words(text: str) -> Sequence[Piece]:
    """Split a text into pieces of a word or a sign, and the end."""
    return [*map(Piece, re.findall(r"</?\w+>|\w+|\s|[^\w\s]", text)), Piece("")]


def make_examiner(fault: str = "none", most_cpu_s: float = 3.0) -> Examiner:
    """Make an examiner of a fake parser."""
    return Examiner(FakeParser(fault), NATIVE_SYNTAXES["hermes"], split_words, most_cpu_s)
