"""The tool parsers of vLLM, called as its server for chat completions calls them."""

from __future__ import annotations

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
