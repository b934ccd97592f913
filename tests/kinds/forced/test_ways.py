"""Right calls that are put through a served model, right and with each fault of a parser."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest
from aiohttp.test_utils import TestServer

from pytest_fcbench.domain.entry import CATEGORIES, Entry
from pytest_fcbench.domain.prompting import Mode, ModelPresentation, Prompting
from pytest_fcbench.domain.transcript import (
    AskModel,
    Completion,
    Party,
    PathSettings,
    ToolCall,
    Transcript,
    drive_conversation_async,
)
from pytest_fcbench.domain.verdict import Failed, NotScored, Passed, Profile, Verdict
from pytest_fcbench.kinds.forced.entries import NamedServer, force_truth, get_truth
from pytest_fcbench.kinds.forced.exchange import ForcedStep, join_deltas
from pytest_fcbench.kinds.forced.kind import FORCED_TRUTH, MOST_STEPS
from pytest_fcbench.kinds.forced.ways import write_grammar
from pytest_fcbench.kinds.kind import ConversationContext, Resources
from pytest_fcbench.kinds.server_check.exchange import ServerExchange
from pytest_fcbench.kinds.table import find_kind
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.providers.endpoint_probe import EndpointProbe
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel
from pytest_fcbench.server.app import ChatServer
from pytest_fcbench.server.conforming import ConformingModel
from pytest_fcbench.server.faults import Fault, draw_faults, read_latency
from pytest_fcbench.server.lookup import EntryIndex
from pytest_fcbench.server.parsing import ParserFault
from pytest_fcbench.server.replies import Judge
from pytest_fcbench.suites.registry import open_suite
from pytest_fcbench.suites.suite import Suite
from tests.cases import each_case

WAYS = ("round-trip", "derender", "parse", "choice", "grammar")
MANNER = ModelPresentation("openai/conforming", Prompting.make_default(Mode.FC))


def _refuse(*_: object, **named: object) -> NoReturn:
    raise AssertionError("what came back is judged without carrying anything out")


@cache
def core() -> Suite:
    return open_suite("core", Path(), {})


def find_entry(category: str, number: int = 0) -> Entry:
    return core().load(CATEGORIES[category])[number]


def put(
    entry: Entry,
    way: str,
    fault: Fault | None = None,
    *,
    syntax: str | None = None,
    server_syntax: str = "hermes",
    server: NamedServer | None = None,
    lacking: Sequence[str] = (),
    streams: bool = True,
) -> tuple[Verdict, Transcript]:
    """The verdict on an entry whose truth is put through a server that lacks some paths, or streams."""
    forced_entry = force_truth(entry, way, syntax, server)
    assert forced_entry
    context = ConversationContext(MANNER, core(), PathSettings(Profile.OFFICIAL))

    async def ask() -> Transcript:
        draws = draw_faults({fault: 1.0} if fault else {}, read_latency("0"), 0)
        model, judge = ConformingModel("conforming", server_syntax), Judge(None, None)
        server = ChatServer("conforming", EntryIndex([], OracleModel), draws, 1, judge, conforming=model)
        async with TestServer(server.build_application()) as served:
            base = f"http://{served.host}:{served.port}/v1"
            probe = EndpointProbe(OpenAICompatibleModel("m", {}, base, name="conforming"))

            async def answer(request: AskModel) -> Completion:
                assert request.party is Party.ENDPOINT
                members = json.loads(str(request.messages[0]["content"]))
                if members["body"].get("stream") and not streams:
                    error = {"error": {"message": "no streams here"}}
                    return ServerExchange(400, "application/json", error).write_completion(0)
                if members["path"] in lacking:
                    request = AskModel(
                        ({"role": "user", "content": json.dumps({"path": "/none", "body": {}})},),
                        party=Party.ENDPOINT,
                    )
                return await probe.complete(forced_entry, request)

            return await drive_conversation_async(FORCED_TRUTH.converse(forced_entry, context), answer)

    transcript = asyncio.run(ask())
    return FORCED_TRUTH.judge(
        forced_entry, transcript, Resources(_refuse, _refuse, _refuse)
    ).official, transcript


def describe(verdict: Verdict) -> str:
    match verdict:
        case Passed():
            return "kept"
        case Failed(reason=reason):
            return f"broken: {reason}"
        case NotScored(cause=cause, reason=reason):
            return f"{cause}: {reason}"


@pytest.mark.few(3)
@pytest.mark.parametrize("way", ["auto", *WAYS])
def test_a_right_server_keeps_the_truth_in_every_way(way: str) -> None:
    for category in ("simple_python", "parallel_multiple", "multi_turn_base", "simple_java"):
        verdict, transcript = put(find_entry(category), way)
        assert describe(verdict) == "kept", category
        chosen = "round-trip" if way == "auto" else way
        assert all(
            str(each.text).startswith(f"kept: {chosen} by the server's template")
            for each in transcript.completions
        )


def find_decimal() -> Entry:
    """An entry of which a right call holds a number with decimals."""
    entries = core().load(CATEGORIES["simple_python"])
    return next(
        entry
        for entry in entries
        for steps in find_kind(entry).list_right_calls(entry)
        for calls in steps
        if any(isinstance(each, float) and each % 1 for call in calls for each in call.arguments.values())
    )


PARALLEL = find_entry("parallel")


@each_case(
    "way, fault, entry, found",
    [
        (
            "round-trip",
            ParserFault.LOSE_BRACE,
            PARALLEL,
            "broken: round-trip by the server's template, streamed token",
        ),
        (
            "derender",
            ParserFault.LOSE_BRACE,
            PARALLEL,
            "broken: derender by the server's template, streamed token",
        ),
        ("choice", ParserFault.LOSE_BRACE, PARALLEL, "broken: choice by the server's template, streamed: "),
        ("grammar", ParserFault.MERGE_CALLS, PARALLEL, "streamed: 1 of 2 calls came back: "),
        ("round-trip", ParserFault.MERGE_CALLS, PARALLEL, "token by token: 1 of 2 calls came back: "),
        ("parse", ParserFault.LEAK_TAG, PARALLEL, "'</tool_call' leaks into the text: '</tool_call>'"),
        ("choice", ParserFault.LEAK_TAG, PARALLEL, "'</tool_call' leaks into the text: '</tool_call>'"),
        (
            "round-trip",
            ParserFault.OTHER_SYNTAX,
            PARALLEL,
            "0 of 2 calls came back, and the text '<tool_call>",
        ),
        ("choice", ParserFault.OTHER_SYNTAX, PARALLEL, "0 of 2 calls came back, and the text '<tool_call>"),
        ("derender", ParserFault.SPELL_MARKS, PARALLEL, "0 of 2 calls came back, and the text '<tool_call>"),
        ("auto", ParserFault.FAIL, PARALLEL, "whole: the server fails at it: HTTP 500: the parser failed"),
    ],
)
def test_a_fault_of_the_parser_is_found(way: str, fault: ParserFault, entry: Entry, found: str) -> None:
    verdict, _ = put(entry, way, fault)
    assert describe(verdict).startswith("broken: ")
    assert found in describe(verdict)


@each_case("way", WAYS)
def test_decimals_that_are_lost_are_shown_beside_those_that_were_right(way: str) -> None:
    verdict, _ = put(find_decimal(), way, ParserFault.ROUND_NUMBERS)
    assert re.search(
        r"whole: (\w+)\(.*\d\.[1-9].*\) came back as \1\(.*\d\.0.*\); put through", describe(verdict)
    )


def test_marks_that_a_tokenizer_lacks_say_nothing_about_a_named_syntax() -> None:
    verdict, _ = put(PARALLEL, "derender", ParserFault.SPELL_MARKS, syntax="hermes")
    assert "undecided: derender in the syntax hermes, whole: the tokenizer of this model spells" in describe(
        verdict
    )


def test_a_template_that_writes_no_calls_cannot_tell_the_syntax() -> None:
    verdict, _ = put(PARALLEL, "round-trip", ParserFault.LOSE_HISTORY)
    assert describe(verdict) == (
        "undecided: round-trip: its chat template writes no calls into the history: ''"
    )
    verdict, transcript = put(PARALLEL, "auto", ParserFault.LOSE_HISTORY)
    assert describe(verdict) == "kept"
    assert {str(each.text).splitlines()[0].split(", ")[0] for each in transcript.completions} == {
        "kept: derender in the syntax hermes"
    }


@each_case(
    "lacking, chosen",
    [
        (["chat/completions/derender"], "kept: parse by the server's template"),
        (["chat/completions/derender", "/parse_function_call"], "kept: choice by the server's template"),
        (["/tokenize", "/detokenize"], "kept: parse in the syntax hermes"),
        (["/tokenize", "/get_server_info"], "kept: choice in the syntax hermes"),
    ],
)
def test_the_best_way_that_a_server_offers_is_taken(lacking: Sequence[str], chosen: str) -> None:
    verdict, transcript = put(PARALLEL, "auto", lacking=lacking)
    assert describe(verdict) == "kept"
    assert str(transcript.last.text).startswith(chosen)


@each_case("way", ["round-trip", "choice"])
def test_a_server_that_refuses_to_stream_is_tested_whole(way: str) -> None:
    verdict, transcript = put(PARALLEL, way, streams=False)
    assert describe(verdict) == "kept"
    assert len(transcript.completions) == 1
    verdict, _ = put(PARALLEL, way, ParserFault.OTHER_SYNTAX, streams=False)
    assert describe(verdict).startswith(f"broken: {way} by the server's template, whole: ")


def test_a_server_that_offers_nothing_leaves_all_undecided() -> None:
    lacking = ["/tokenize", "/get_server_info", "chat/completions/derender"]
    verdict, _ = put(PARALLEL, "derender", lacking=lacking)
    assert describe(verdict) == "undecided: derender: the server does not offer /tokenize"
    verdict, _ = put(PARALLEL, "parse", lacking=lacking)
    assert describe(verdict) == "undecided: parse: the server does not offer /get_server_info"


def test_a_named_syntax_is_written_whatever_the_template_writes() -> None:
    """The parser is for another model than the one whose syntax the user named."""
    verdict, _ = put(PARALLEL, "auto", syntax="granite")
    assert "derender in the syntax granite" in describe(verdict)
    verdict, transcript = put(PARALLEL, "auto", syntax="granite", server_syntax="granite")
    assert describe(verdict) == "kept"
    assert str(transcript.last.text).startswith("kept: derender in the syntax granite, streamed in pieces")


def test_a_command_of_two_lines_shows_what_is_broken() -> None:
    server = NamedServer("https://models.example/v1?tenant=***", "my-ft")
    _, transcript = put(PARALLEL, "round-trip", ParserFault.LOSE_BRACE, server=server)
    whole, single, uneven = (str(each.text).splitlines() for each in transcript.completions)
    assert (len(whole), len(single), len(uneven)) == (2, 4, 4)
    setting, loop = single[2:]
    assert setting == "SERVER=https://models.example/v1; STATE=null"
    words = shlex.split(loop)
    assert words[:3] == ["for", "PIECE", "in"]
    assert "$SERVER/chat/completions/derender?tenant=***" in loop
    assert "Authorization: Bearer $API_KEY" in loop
    _, transcript = put(PARALLEL, "parse", ParserFault.DROP_BRACE, server=server)
    setting, command = str(transcript.completions[0].text).splitlines()[2:]
    assert setting == "SERVER=https://models.example"
    words = shlex.split(command)
    assert words[:3] == ["curl", "-s", "$SERVER/parse_function_call?tenant=***"]
    assert json.loads(words[-1])["model"] == "my-ft"


def test_a_secret_that_comes_in_pieces_is_masked() -> None:
    deltas = [
        {"content": part, "tool_calls": [{"function": {"arguments": part}}]} for part in ("sk-", "secret")
    ]
    chunks = [{"choices": [{"delta": delta}]} for delta in deltas]
    returned = join_deltas(chunks, "streamed", ["sk-secret"])
    assert (returned.content, [call.arguments for call in returned.calls]) == ("***", ["***"])


def test_no_more_than_some_steps_of_a_conversation_are_put_through() -> None:
    entries = core().load(CATEGORIES["multi_turn_base"])
    longest = max(entries, key=lambda entry: len(find_kind(entry).list_right_calls(entry)))
    _, transcript = put(longest, "choice")
    steps = sum(bool(calls) for turn in find_kind(longest).list_right_calls(longest) for calls in turn)
    assert len(transcript.completions) == 2 * min(steps, MOST_STEPS)


def test_entries_without_calls_are_left_out() -> None:
    assert force_truth(find_entry("irrelevance"), "auto") is None
    forced_entry = force_truth(PARALLEL, "auto")
    assert forced_entry
    assert (forced_entry.key, forced_entry.category.name) == (PARALLEL.key, "server_forced")


def test_a_grammar_allows_its_text_alone() -> None:
    assert write_grammar('a"b\n\u20ac') == 'root ::= "a\\"b\\n\u20ac"'


def test_an_official_syntax_stands_for_the_native_one_that_it_reads() -> None:
    for named, written in (("qwen", "hermes"), ("glm47", "glm47"), ("gemini", None), (None, None)):
        forced_entry = force_truth(PARALLEL, "auto", named)
        assert forced_entry is not None
        assert get_truth(forced_entry).syntax == written


def test_any_index_of_a_call_is_joined() -> None:
    part = {"index": [0], "function": {"name": "f", "arguments": "{}"}}
    joined = join_deltas([{"choices": [{"delta": {"tool_calls": [part]}}]}], "streamed")
    assert [(call.name, call.arguments) for call in joined.calls] == [("f", "{}")]


def test_calls_of_other_types_than_declared_do_not_keep_the_schemas() -> None:
    tool = {"function": {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}}
    for value, keeps in (("900", True), (900, False)):
        step = ForcedStep((), (tool,), (ToolCall("f", json.dumps({"a": value})),))
        assert step.keeps_schemas is keeps


def test_a_truth_that_breaks_its_schema_is_not_held_against_the_server() -> None:
    """A parser may convert such arguments; the same fault breaks the truth where the types agree."""
    assert describe(put(PARALLEL, "round-trip", ParserFault.LOSE_BRACE)[0]).startswith("broken")
    nothing = {"type": "dict", "properties": {}, "required": []}
    untyped = replace(
        PARALLEL, functions=tuple(replace(doc, parameters=nothing) for doc in PARALLEL.functions)
    )
    verdict, _ = put(untyped, "round-trip", ParserFault.LOSE_BRACE)
    assert "other types than their tools declare" in describe(verdict)
