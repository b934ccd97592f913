"""The tool parsers of vLLM and SGLang, called as their servers for chat completions call them."""

from __future__ import annotations

import json
import logging
import os
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

_PROMPT = "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"


@dataclass(frozen=True)
class VllmParser:
    """A parser class of vLLM, which makes an object for each request."""

    parser_class: Any
    request_class: Any
    tokenizer: Any
    prompt_ids: Sequence[int]

    def _make_request(self, tools: Tools) -> Any:
        messages = [{"role": "user", "content": "hello"}]
        return self.request_class(model="model", messages=messages, tools=tools, tool_choice="auto")

    def parse_whole(self, answer: Piece, tools: Tools) -> ParsedAnswer:
        """Parse an answer that is there as a whole."""
        request = self._make_request(tools)
        parser = self.parser_class(self.tokenizer, request.tools)
        _, text, calls = parser.parse(
            answer.text, request, enable_auto_tools=True, model_output_token_ids=answer.token_ids
        )
        return ParsedAnswer([ParsedCall(each.name, each.arguments) for each in calls or ()], text or "")

    def parse_pieces(self, pieces: Sequence[Piece], tools: Tools) -> ParsedAnswer:
        """Parse an answer that comes in pieces, the last of which ends it."""
        request = self._make_request(tools)
        parser = self.parser_class(self.tokenizer, request.tools)
        streamed = StreamedAnswer()
        for number, piece in enumerate(pieces, 1):
            delta = parser.parse_delta(
                piece.text,
                list(piece.token_ids),
                request,
                self.prompt_ids if number == 1 else None,
                finished=number == len(pieces),
            )
            streamed.text += (delta and delta.content) or ""
            for call in (delta and delta.tool_calls) or ():
                function = call.function
                streamed.add_call(call.index, function and function.name, function and function.arguments)
        return streamed.finish()


def open_vllm(tokenizer: object) -> Engine:
    """Import vLLM without its messages. Raises ImportError."""
    os.environ.setdefault("VLLM_CONFIGURE_LOGGING", "0")
    logging.getLogger("vllm").setLevel(logging.CRITICAL)
    manager = import_module("vllm.parser.parser_manager").ParserManager
    request_class = import_module("vllm.entrypoints.openai.chat_completion.protocol").ChatCompletionRequest
    wrapper = import_module("transformers").PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    prompt_ids = wrapper.encode(_PROMPT, add_special_tokens=False)

    def open_parser(name: str) -> VllmParser:
        try:
            parser_class = manager.get_parser(name, None, True, tokenizer=wrapper)
        # As at the start of the server, a tokenizer may lack tokens, or the environment a package.
        except Exception as error:
            raise UnusableParser(str(error)) from error
        return VllmParser(parser_class, request_class, wrapper, prompt_ids)

    parsers = import_module("vllm.tool_parsers").ToolParserManager.list_registered()
    return Engine(version("vllm"), sorted(parsers), open_parser)


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
