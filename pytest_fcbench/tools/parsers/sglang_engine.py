"""The tool parsers of SGLang, called as its server for chat completions calls them."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any

from pytest_fcbench.tools.parsers.engine import (
    Engine,
    ParsedAnswer,
    ParsedCall,
    Piece,
    StreamedAnswer,
    Tools,
    UnusableParser,
)


@dataclass(frozen=True)
class SglangParser:
    """A parser of SGLang by name; it reads text, whatever tokens it came from."""

    name: str
    parser_class: Any
    tool_class: Any
    tokenizer: Any

    def make_parser(self, tools: Tools) -> Any:
        """Make the parser of a request with these tools."""
        return self.parser_class(
            [self.tool_class(**each) for each in tools], self.name, tokenizer=self.tokenizer
        )

    def parse_whole(self, answer: Piece, tools: Tools) -> ParsedAnswer:
        """Parse an answer that is there as a whole."""
        text, calls = self.make_parser(tools).parse_non_stream(answer.text)
        return ParsedAnswer([ParsedCall(each.name or "", each.parameters) for each in calls], text)

    def parse_pieces(self, pieces: Sequence[Piece], tools: Tools) -> ParsedAnswer:
        """Parse an answer that comes in pieces, the last of which ends it."""
        parser = self.make_parser(tools)
        streamed = StreamedAnswer()
        for text, calls in (
            *(parser.parse_stream_chunk(piece.text) for piece in pieces),
            parser.parse_stream_end(),
        ):
            streamed.text += text or ""
            for call in calls:
                streamed.add_call(call.tool_index, call.name, call.parameters)
        if rest := find_unsent_arguments(parser.detector):
            streamed.add_call(*rest)
        return streamed.finish()


def find_unsent_arguments(detector: Any) -> tuple[int, None, str] | None:
    """Return the end of the last call's arguments, which the server itself sends when the stream ends.

    As ``_check_for_unstreamed_tool_args`` of ``serving_chat.py``.
    """
    calls = getattr(detector, "prev_tool_call_arr", None) or ()
    sent_texts = getattr(detector, "streamed_args_for_tool", None) or ()
    last = len(calls) - 1
    if not 0 <= last < len(sent_texts):
        return None
    arguments = calls[last].get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    rest = text.removeprefix(sent_texts[last]) if text.startswith(sent_texts[last]) else ""
    return (last, None, rest) if rest else None


def open_sglang(tokenizer: object) -> Engine:
    """Import SGLang without its messages. Raises ImportError."""
    logging.getLogger("sglang").setLevel(logging.CRITICAL)
    module = import_module("sglang.srt.function_call.function_call_parser")
    wrapper = import_module("transformers").PreTrainedTokenizerFast(tokenizer_object=tokenizer)

    def open_parser(name: str) -> SglangParser:
        parser = SglangParser(name, module.FunctionCallParser, module.Tool, wrapper)
        try:
            parser.make_parser(())
        except Exception as error:
            raise UnusableParser(str(error)) from error
        return parser

    return Engine(version("sglang"), sorted(module.FunctionCallParser.ToolCallParserEnum), open_parser)
