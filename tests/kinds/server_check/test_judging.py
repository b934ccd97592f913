"""What is not the doing of a server leaves its checks undecided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_fcbench.domain.verdict import NOTED, UNDECIDED, Failed, NotScored, Passed, Verdict
from pytest_fcbench.kinds.server_check.exchange import (
    CHAT,
    NO_REPLY,
    RawRequest,
    ServerExchange,
    ServerReply,
    drop_parameter,
)
from pytest_fcbench.kinds.server_check.kind import get_check, judge_rounds
from tests.cases import each_case
from tests.server.test_conforming import list_checks


def reply(body: Mapping[str, object], status: int = 200) -> ServerReply:
    request = RawRequest(CHAT, {"max_tokens": 5})
    return ServerReply(request, ServerExchange(status, "application/json", body))


def chat(message: Mapping[str, object], ending: str, **members: object) -> ServerReply:
    return reply({"choices": [{"message": message, "finish_reason": ending}], **members})


def judge(name: str, given: ServerReply) -> str:
    """How a check judges equal replies to all of its requests."""
    check = get_check(next(entry for entry in list_checks() if entry.id == name))
    verdict: Verdict = judge_rounds(check, [dict.fromkeys(check.requests, given)])
    match verdict:
        case Failed():
            return "broken"
        case NotScored(cause=cause):
            return str(cause)
    return "kept"


THINKS = {"usage": {"completion_tokens_details": {"reasoning_tokens": 400}}}
LIMIT = "Could not finish the message because max_tokens or model output limit was reached."
REPEATED = {"type": "x", "loc": ["body", "tools"], "msg": "no", "input": {"max_tokens": 5}}


@each_case(
    "name, given, found",
    [
        ("choice_required", chat({"content": None}, "content_filter"), UNDECIDED),
        ("choice_required", chat({"content": None, "refusal": "I cannot."}, "stop"), UNDECIDED),
        ("choice_required", chat({"content": ""}, "stop"), "broken"),
        ("text_schema", chat({"content": None, "refusal": "I cannot."}, "stop"), UNDECIDED),
        ("choice_required_strict", chat({"content": "So it"}, "length"), "broken"),
        ("choice_required_strict", chat({"content": ""}, "length"), UNDECIDED),
        ("choice_required_strict", chat({"content": "<think> So it"}, "length"), UNDECIDED),
        ("choice_required_strict", chat({"content": "", "reasoning": "So it"}, "length"), UNDECIDED),
        ("choice_required_strict", chat({"content": "So it"}, "length", **THINKS), UNDECIDED),
        ("endings_cut", reply({"error": {"message": LIMIT}}, 400), UNDECIDED),
        ("history_result", reply({"detail": [REPEATED]}, 422), "broken"),
        ("error_tools", reply({"detail": [REPEATED]}, 422), "kept"),
        ("error_role", chat({"content": "Hello."}, "stop"), NOTED),
        ("responses_call", reply({"error": {"message": "There are no tools here."}}, 400), UNDECIDED),
        ("messages_result", reply({"error": {"message": "There are no results here."}}, 400), NOTED),
        ("stream_indices", chat({"content": "So it"}, "stop"), UNDECIDED),
        ("stream_deltas", chat({"content": "So it"}, "stop"), "kept"),
        ("choice_auto", chat({"tool_calls": [{"function": {"name": "get_news"}}]}, "tool_calls"), "kept"),
    ],
)
def test_only_the_doing_of_the_server_decides(name: str, given: ServerReply, found: str) -> None:
    assert judge(name, given) == found


@each_case(
    "name, cause, found",
    [
        ("choice_auto", "unreadable_call", UNDECIDED),
        ("choice_required", "unreadable_call", "broken"),
        ("choice_required_streamed", "endless_answer", UNDECIDED),
        ("choice_auto", "context_overflow", "broken"),
    ],
)
def test_what_a_weak_model_writes_breaks_nothing(name: str, cause: str, found: str) -> None:
    given = reply({"error": {"message": "no"}}, 500)
    assert judge(name, replace(given, exchange=replace(given.exchange, notes=(cause,)))) == found


def test_a_broken_connection_is_told_in_words() -> None:
    exchange = ServerExchange(NO_REPLY, "", None, "Server disconnected")
    verdict = judge_rounds(
        get_check(next(entry for entry in list_checks() if entry.id == "error_no_json")),
        [{"reply": ServerReply(RawRequest(CHAT, "{"), exchange)}],
    )
    assert verdict.reason == "no reply: Server disconnected"


def test_a_reply_in_place_of_a_refusal_is_told_in_words() -> None:
    check = get_check(next(entry for entry in list_checks() if entry.id == "error_messages"))
    verdict = judge_rounds(check, [{"reply": chat({"content": "Hello."}, "stop")}])
    assert verdict.reason == "HTTP 200: 'Hello.'; finish_reason stop"


@each_case("status, found", [(200, Passed), (400, Failed), (500, Failed)])
def test_the_request_after_a_refused_one_has_to_be_answered(status: int, found: type[Verdict]) -> None:
    check = get_check(next(entry for entry in list_checks() if entry.id == "error_after"))
    good = chat({"content": "Hello."}, "stop")
    after = good if status == 200 else reply({"error": {"message": "no"}}, status)
    # A server that fails at a bad request breaks the checks for that.
    for bad in (reply({"error": {"message": "no"}}, 400), reply({}, 500)):
        assert isinstance(judge_rounds(check, [{"bad": bad, "good": after}]), found)


def test_a_request_that_is_refused_excuses_no_other() -> None:
    check = get_check(next(entry for entry in list_checks() if entry.id == "error_after"))
    refused, failed = reply({"error": {"message": "no"}}, 404), reply({"error": {"message": "no"}}, 500)
    assert isinstance(judge_rounds(check, [{"bad": refused, "good": refused}]), NotScored)
    verdict = judge_rounds(check, [{"bad": refused, "good": failed}])
    assert verdict.reason == "good: HTTP 500: no"


def test_a_stream_that_was_refused_shows_nothing_about_those_who_go_away() -> None:
    check = get_check(next(entry for entry in list_checks() if entry.id == "stream_dropped"))
    good = chat({"content": "Hello."}, "stop")
    replies = {
        name: ServerReply(request, ServerExchange(400 if request.drop else 200, "", good.exchange.reply))
        for name, request in check.requests.items()
    }
    assert isinstance(judge_rounds(check, [replies]), NotScored)


@each_case("body", [["text"], [{"messages": []}]])
def test_a_request_without_a_parameter_stays_as_it_is(body: Sequence[object]) -> None:
    request = RawRequest(CHAT, body[0])  # type: ignore[arg-type]
    assert drop_parameter(request, "max_tokens") == request
