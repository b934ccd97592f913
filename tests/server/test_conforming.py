"""Every check of ``wire`` finds nothing at a right server, and is broken by a fault that it is for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from functools import cache, partial
from pathlib import Path

import pytest
from aiohttp.test_utils import TestServer

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.prompting import Api
from pytest_fcbench.domain.text import list_objects
from pytest_fcbench.domain.transcript import drive_conversation_async
from pytest_fcbench.domain.verdict import NOTED, Failed, NotScored, Passed, Verdict
from pytest_fcbench.kinds.server_check import properties
from pytest_fcbench.kinds.server_check.kind import exchange_requests, get_check, judge_rounds
from pytest_fcbench.models.baselines.oracle import OracleModel
from pytest_fcbench.models.providers.endpoint_probe import EndpointProbe
from pytest_fcbench.models.providers.openai_compatible import OpenAICompatibleModel
from pytest_fcbench.server import app
from pytest_fcbench.server.app import ChatServer
from pytest_fcbench.server.body import RefusedRequestError
from pytest_fcbench.server.conforming import (
    ConformingModel,
    WireFault,
    make_instance,
    read_message_request,
    read_response,
)
from pytest_fcbench.server.faults import STREAM_FAULTS, Fault, FaultKind, draw_faults, read_latency
from pytest_fcbench.server.lookup import EntryIndex
from pytest_fcbench.server.replies import Judge, build_response, stream_response, write_reply
from pytest_fcbench.suites import embedded
from tests.cases import each_case


@cache
def list_checks() -> tuple[Entry, ...]:
    suite = embedded.open_wire(Path())
    return tuple(entry for category in suite.categories for entry in suite.load(category))


def check_server(fault: Fault | None, *ids: str) -> Mapping[str, Verdict]:
    """The verdicts of checks, by id, on a server each of whose replies has a fault."""

    async def check_all() -> Mapping[str, Verdict]:
        draws = draw_faults({fault: 1.0} if fault else {}, read_latency("0"), 0)
        model = ConformingModel("conforming")
        judge = Judge(None, None)
        server = ChatServer("conforming", EntryIndex([], OracleModel), draws, 1, judge, conforming=model)
        async with TestServer(server.build_application()) as served:
            base = f"http://{served.host}:{served.port}/v1"
            probe = EndpointProbe(OpenAICompatibleModel("m", {}, base, name="conforming"))
            verdicts: dict[str, Verdict] = {}
            for entry in list_checks():
                if not ids or entry.id in ids:
                    check = get_check(entry)
                    ask = partial(probe.complete, entry)
                    rounds = await drive_conversation_async(exchange_requests(check), ask)
                    verdicts[entry.id] = judge_rounds(check, rounds)
            return verdicts

    return asyncio.run(check_all())


def is_broken(verdict: Verdict) -> bool:
    return isinstance(verdict, Failed) or (isinstance(verdict, NotScored) and verdict.cause == NOTED)


def test_a_right_server_raises_no_alarm() -> None:
    verdicts = check_server(None)
    assert len(verdicts) >= 70
    assert {name: verdict for name, verdict in verdicts.items() if not isinstance(verdict, Passed)} == {}


# Of each fault the checks that are there for it, of each check the faults that it must find.
CAUGHT: Mapping[Fault, Sequence[str]] = {
    WireFault.IGNORE_NONE: ["choice_none", "choice_none_streamed"],
    WireFault.IGNORE_REQUIRED: [
        "choice_required",
        "choice_required_streamed",
        "choice_required_strict",
        "names_dashes",
        "calls_without_schema",
    ],
    WireFault.IGNORE_NAMED: [
        "choice_named",
        "choice_named_streamed",
        "choice_named_strict",
        "choice_allowed_tools",
    ],
    WireFault.IGNORE_PARALLEL: ["parallel_off", "parallel_off_streamed"],
    WireFault.IGNORE_STRICT: [
        *(
            f"strict_{name}"
            for name in ("enum", "enum_streamed", "range", "any_of", "one_of", "const", "reference")
        ),
        *(f"strict_{name}" for name in ("array", "number", "boolean", "pattern", "required")),
    ],
    WireFault.IGNORE_FORMAT: ["text_schema", "text_schema_streamed", "text_json_object"],
    WireFault.IGNORE_N: ["choices_two"],
    WireFault.IGNORE_LIMIT: ["endings_cut", "endings_cut_call", "endings_cut_call_streamed"],
    WireFault.ACCEPT_ALL: [
        *(
            "choice_unknown_function",
            "choice_unknown_word",
            "choice_required_without_tools",
            "schema_unknown_type",
        ),
        *(
            "error_messages",
            "error_no_messages",
            "error_tools",
            "error_tool_without_function",
            "error_temperature",
        ),
        *("error_role", "error_model"),
    ],
    WireFault.LOSE_TOOLS: ["prompt_tools"],
    WireFault.LOSE_DESCRIPTIONS: ["prompt_descriptions"],
    WireFault.LOSE_RESULTS: ["prompt_result"],
    WireFault.LOSE_CALLS: ["prompt_call"],
    WireFault.LOSE_WORDS: ["prompt_words_beside_call"],
    WireFault.REFUSE_CHOICE: ["choice_auto"],
    WireFault.REFUSE_NULL: ["history_result", "history_content_left_out"],
    WireFault.REFUSE_CALLS: [
        *("history_result", "history_two_results", "history_results_turned", "history_goes_on"),
        *("history_content_words", "responses_result", "messages_result"),
    ],
    WireFault.REFUSE_EMPTY: ["history_result_empty", "history_content_empty"],
    WireFault.REFUSE_PARTS: ["history_result_parts"],
    WireFault.REFUSE_NAMES: ["names_dashes", "names_long", "history_result_named"],
    WireFault.REFUSE_BARE_TOOLS: ["calls_without_parameters", "calls_without_schema"],
    WireFault.REFUSE_UNICODE: ["unicode_question"],
    WireFault.REFUSE_DEVELOPER: ["history_system_developer"],
    WireFault.FAIL_ON_HISTORY: [
        *(
            "history_broken_arguments",
            "history_unknown_id",
            "history_no_result",
            "history_no_tools",
            "tools_empty",
        ),
    ],
    WireFault.FAIL_ON_LARGE: ["large_arguments", "large_result"],
    WireFault.SAME_IDS: ["calls_ids_differ"],
    WireFault.NO_IDS: ["calls_ids", "calls_ids_streamed", "responses_call", "messages_call"],
    WireFault.NO_TYPE: ["calls_type"],
    WireFault.LIST_ARGUMENTS: ["choice_required_object", "choice_named_object", "responses_call_streamed"],
    WireFault.OBJECT_ARGUMENTS: ["calls_arguments_text", "responses_call", "messages_call"],
    WireFault.NULL_ARGUMENTS: ["calls_without_parameters", "calls_without_parameters_streamed"],
    WireFault.OTHER_NAMES: ["names_dashes", "names_long", "names_dots"],
    WireFault.MARKUP: ["calls_text_free", "calls_text_free_streamed", "choice_required_text"],
    WireFault.LOSE_SIGNS: ["strict_signs", "strict_signs_streamed", "strict_lines"],
    WireFault.ROUND_NUMBERS: ["strict_decimal", "strict_decimal_streamed"],
    WireFault.NAME_IS_CALL: ["strict_argument_name", "strict_argument_name_streamed"],
    WireFault.CUT_ARGUMENTS: ["strict_long"],
    WireFault.STOP_WITH_CALLS: ["endings_calls", "endings_calls_auto", "endings_calls_streamed"],
    WireFault.ODD_ENDING: ["endings_text"],
    WireFault.NO_USAGE: ["usage_adds_up", "usage_adds_up_calls", "responses_usage", "stream_usage"],
    WireFault.WRONG_USAGE: ["usage_adds_up"],
    WireFault.STREAM_UNASKED: ["responses_not_streamed"],
    WireFault.STREAM_IGNORED: ["stream_not_whole"],
    WireFault.STREAM_DIFFERS: ["same_call", "same_call_auto", "same_text", "strict_enum_streamed"],
    WireFault.STREAM_AS_JSON: ["stream_type"],
    WireFault.PLAIN_ERRORS: ["error_no_json", "error_messages", "history_image"],
    WireFault.SERVER_ERRORS: ["error_messages", "error_tools"],
    WireFault.FAIL_AFTER: ["error_after"],
    WireFault.HOLD_PLACE: ["stream_dropped"],
    FaultKind.NO_DONE: ["stream_done"],
    FaultKind.NO_FINISH_REASON: ["stream_finish"],
    FaultKind.INDEX_FROM_1: ["stream_indices"],
    FaultKind.INDEX_GAP: ["stream_indices"],
    FaultKind.SHARED_INDEX: ["stream_indices"],
    FaultKind.NO_INDEX: ["stream_indices"],
    FaultKind.TEXT_INDEX: ["stream_indices"],
    FaultKind.GROWING_INDEX: ["stream_indices"],
    FaultKind.CHANGED_ID: ["stream_ids"],
    FaultKind.SINGLE_LINES: ["stream_events"],
    FaultKind.REPEATED_NAME: ["stream_names"],
    FaultKind.REPEATED_CALL: ["stream_arguments_once"],
    FaultKind.EMPTY_ARGUMENTS_FIRST: ["stream_arguments_once"],
    FaultKind.OBJECT_ARGUMENTS: ["stream_arguments_text"],
    FaultKind.WHOLE_MESSAGE: ["stream_deltas"],
    FaultKind.CUT_STREAM: ["stream_done"],
}


@each_case("fault", CAUGHT)
def test_each_fault_is_caught_by_the_checks_for_it(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(properties, "_SHORT_S", 0.5)
    monkeypatch.setattr(app, "LONG_REPLY_S", 1.0)
    verdicts = check_server(fault, *CAUGHT[fault])
    assert [name for name in CAUGHT[fault] if not is_broken(verdicts[name])] == []


def test_every_check_and_every_fault_of_an_interface_is_shown() -> None:
    assert set(CAUGHT).issuperset(WireFault)
    shown = {name for names in CAUGHT.values() for name in names}
    assert {entry.id for entry in list_checks()} - shown == set()


def test_ways_of_writing_a_stream_that_the_interface_allows_raise_no_alarm() -> None:
    streamed = [
        entry.id for entry in list_checks() if entry.id.startswith("stream_") and entry.id != "stream_dropped"
    ]
    for fault in (FaultKind.COMMENTS, FaultKind.CRLF_LINES, FaultKind.CR_LINES, FaultKind.SPLIT_DATA):
        assert fault in STREAM_FAULTS
        verdicts = check_server(fault, *streamed)
        assert {name: each for name, each in verdicts.items() if is_broken(each)} == {}, fault


@each_case(
    "schema, value",
    [
        ({"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}}, {"a": 3}),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"const": 5}}}, 5),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, None),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [True, True]),
        ({"enum": ["b", "a"]}, "b"),
        ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": "Oslo"}),
        (
            {
                "properties": {
                    "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
                    "all": {"type": "array", "items": {"$ref": "#"}},
                    "other": {"$ref": "#"},
                },
                "required": ["next", "all"],
            },
            {"next": None, "all": []},
        ),
    ],
)
def test_the_smallest_value_of_a_schema_is_made(schema: Mapping[str, object], value: object) -> None:
    assert make_instance(schema, schema) == value


SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
SAID = {"role": "user", "content": "Weather?"}


@each_case(
    "choice",
    [
        {"type": "function", "name": "b"},
        {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "b"}]},
    ],
)
def test_a_response_calls_the_function_that_is_named(choice: Mapping[str, object]) -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in "ab"]
    request = read_response({"tool_choice": choice, "model": "m"}, [SAID], tools)
    calls = ConformingModel("m").answer_request(request, None, None).reply.calls
    assert [call.name for call in calls or ()] == ["b"]


def test_a_message_calls_the_function_that_is_named_and_ends_at_its_limit() -> None:
    tools = [{"name": name, "input_schema": SCHEMA} for name in "ab"]
    request = {"model": "m", "messages": [SAID], "tools": tools, "tool_choice": {"type": "tool", "name": "b"}}
    endings = []
    for limit in (100, 2):
        read = read_message_request({**request, "max_tokens": limit})
        value = write_reply(Api.MESSAGES, ConformingModel("m").answer_request(read, None, None).reply)
        (call,) = list_objects(value["content"])
        endings.append((call["name"], call["input"], value["stop_reason"]))
    assert endings == [("b", {"unexpected": "value"}, "tool_use"), ("b", {}, "max_tokens")]


def test_only_types_of_schemas_are_checked() -> None:
    shape = {"type": "object", "default": {"type": "circle"}, "properties": {"type": {"type": "string"}}}
    for kind, is_refused in (("object", False), ("circle", True)):
        tool = {"type": "function", "function": {"name": "a", "parameters": {**shape, "type": kind}}}
        with pytest.raises(RefusedRequestError) if is_refused else nullcontext():
            ConformingModel("m").answer_request({"messages": [SAID], "tools": [tool]}, None, None)


def test_a_response_that_is_cut_says_so() -> None:
    request = read_response({"model": "m", "max_output_tokens": 1}, [SAID], [])
    response = build_response(ConformingModel("m").answer_request(request, None, None).reply, 1, 0)
    assert (response["status"], response["incomplete_details"]) == (
        "incomplete",
        {"reason": "max_output_tokens"},
    )
    assert list(stream_response(response))[-1].startswith(b"event: response.incomplete")
