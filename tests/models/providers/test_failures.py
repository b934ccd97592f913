"""What an endpoint says with a call that failed."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from email.utils import formatdate
from pathlib import Path

import pytest

from pytest_fcbench.models.providers import failures
from pytest_fcbench.models.providers.endpoint_model import TOLD
from pytest_fcbench.models.providers.failures import (
    AnswerRoomError,
    FailureCause,
    diagnose_failure,
    load_failure_causes,
    parse_retry_after,
    read_error_message,
)
from tests.cases import each_case

# Numbers and names are ours; the words are those of the endpoints.
SAID: Mapping[str, Sequence[tuple[int, str]]] = {
    "unreadable_call": [
        (500, "Failed to parse input at pos 12: <tool_call>{"),
        # What the model wrote may have any words.
        (500, "Failed to parse input at pos 3: the maximum context length is reached, insufficient balance"),
        (500, "The model produced output that does not match the expected peg-native format"),
        (
            500,
            "error parsing tool call: raw='ls -R', err=invalid character 'l' looking for beginning of value",
        ),
        (500, "XML syntax error on line 7: element <parameter> closed by </function>"),
        (500, "expected element type <function> but have <parameter>"),
        (400, "Failed to call a function. Please adjust your prompt. (tool_use_failed)"),
        (400, "Parsing failed. (output_parse_failed)"),
        (400, "tool call validation failed: parameters for tool f did not match schema"),
        (500, "unexpected tokens remaining in message header: ['to=functions.f']"),
        (400, "Unexpected token 12606 while expecting start token 200006"),
        (424, "Model produced invalid sequence as part of ToolUse. Please refer to the guide."),
        (500, "Failed to parse tool call: Unexpected end of content."),
        (200, f"Error during inference: m: HTTP 500; {TOLD}"),
    ],
    "endless_answer": [
        (500, "litellm.InternalServerError: The model is repeating the same chunk = rate limit reached."),
    ],
    "rate_limit": [
        (400, "slow down (com.amazonaws#ThrottlingException)"),
        (
            413,
            "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000, please",
        ),
        (429, "Request too large for gpt on tokens per min (TPM): Limit 30000, Requested 61337. The input"),
        (429, "Rate limit reached on tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443. Please"),
        (413, "too much (rate_limit_exceeded)"),
        (429, "Too many tokens, please wait before trying again."),
        (429, "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests"),
        (429, "Resource has been exhausted (e.g. check quota). (RESOURCE_EXHAUSTED)"),
        (
            429,
            "You exceeded your current quota. * Quota exceeded for metric: g/requests, limit: 15, model: m",
        ),
        (
            429,
            "You exceeded your current quota. GenerateRequestsPerMinutePerProject (RESOURCE_EXHAUSTED)",
        ),
        (429, "You are using a Trial key, which is limited to 20 API calls / minute."),
        (429, "slow down"),
    ],
    "quota": [
        (402, "anything"),
        (429, "You exceeded your current quota (insufficient_quota)"),
        (
            429,
            "You exceeded your current quota, please check your plan and billing. (RESOURCE_EXHAUSTED)",
        ),
        (429, "You exceeded your current quota. * Quota exceeded for metric: g/requests, limit: 0, model: m"),
        (429, "suspended, please recharge your account (exceeded_current_quota_error)"),
        (400, "Billing hard limit has been reached (billing_hard_limit_reached)"),
        (429, "Your account is not active, please check your billing details on our website."),
        (400, "Your credit balance is too low to access the Anthropic API."),
        (400, "You have reached your specified API usage limits. You will regain access on 2026-01-01"),
        (
            429,
            "[1113][Insufficient balance or no resource package. Please recharge.][2026] (rate_limit_error)",
        ),
        (429, "您的账户已欠费，请充值后重试。"),
        (403, "Sorry, your account balance is insufficient"),
        (403, "Your team has either used all available credits or reached its monthly spending limit."),
        (412, "Account a is suspended, possibly due to reaching the monthly spending limit"),
        (400, "Access denied, please make sure your account is in good standing. (Arrearage)"),
        (403, "Key limit exceeded (monthly limit). Manage it"),
        (400, "Budget has been exceeded! Current cost: 52.9, Max budget: 50.0 (budget_exceeded)"),
        (429, "Your prepayment credits are depleted. Please go to AI Studio"),
        (429, "You are using a Trial key, which is limited to 1000 API calls / month."),
        (403, "Model access is denied: INVALID_PAYMENT_INSTRUMENT"),
    ],
    "context_overflow": [
        (500, "input is too large to process. increase the physical batch size"),
        (400, "Total tokens of image and text exceed max message tokens"),
        (400, "too long (context_length_exceeded)"),
        (500, "no (exceed_context_size_error)"),
        (
            400,
            "This model's maximum context length is 8192 tokens. However, your messages have 9000 tokens.",
        ),
        (
            400,
            "This model's maximum context length is 4096 tokens. However, you requested 5060 tokens (4096 in "
            "the messages, 964 in the completion). Please reduce the length of the messages or completion.",
        ),
        (
            400,
            "You passed 2049 input tokens and requested 0 output tokens. However, the model's context length "
            "is only 2048 tokens, resulting in a maximum input length of 2048 tokens.",
        ),
        (400, "Input length (265330) exceeds model's maximum context length (262144)."),
        (400, "Your input exceeds the context window of this model."),
        (500, "Context size has been exceeded."),
        (400, "prompt too long; exceeded max context length by 24 tokens"),
        (400, "The decoder prompt (length 9) is longer than the maximum model length of 8."),
        (400, "The input (9 tokens) is longer than the model's context length (8 tokens)."),
        (400, "Input is too long for requested model."),
        (400, "prompt is too long: 9 tokens > 8 maximum"),
        (400, "Requested tokens (9) exceed context window of 8"),
        (400, "Trying to keep the first 9 tokens when context the overflows."),
        (400, "max_tokens must be at least 1, got -186."),
        (400, "Input length (9000 tokens) exceeds the maximum allowed length (4096 tokens)."),
        (400, "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."),
        (500, "Prompt length (30) exceeds maximum input length (20)."),
        (400, "the input length exceeds the context length"),
        (400, "The input token count (9) exceeds the maximum number of tokens allowed (8)"),
        (400, "the number of input tokens 4098 cannot exceed the total tokens limit 4096 for this model"),
        (400, "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"),
        (400, "This model's maximum prompt length is 131072 but the request contains 140000 tokens."),
        (400, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"),
        (400, "Prompt 超长"),
        (400, "invalid params, context window exceeds limit"),
        (400, "too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs."),
        (400, "Current length is 9000 while limit is 8192"),
        (422, "Input validation error: `inputs` must have less than 8 tokens. Given: 9"),
        (413, "Please reduce the length of the messages or completion."),
    ],
    "request_too_large": [
        (413, "<html><h1>413 Request Entity Too Large</h1><center>nginx</center></html>"),
        (500, "PayloadTooLargeError: request entity too large"),
        (413, ""),
        (413, "Request body too large for m model. Max size: 8000 tokens. (tokens_limit_reached)"),
    ],
    "authentication": [
        (400, "No connected db. (400) (no_db_connection)"),
        (400, "API key not valid. Please pass a valid API key. (API_KEY_INVALID)"),
        (401, "No auth credentials found, check your plan and billing"),
        (401, ""),
        (403, "no"),
    ],
    "not_found": [(400, "/chat/completions: Invalid model name passed in model=smal"), (404, "")],
    "connection": [(400, "The plain HTTP request was sent to HTTPS port")],
    "bad_request": [
        (400, "unknown field"),
        (422, "context is null"),
        (400, "max_tokens must be at least 1"),
        (
            400,
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens'",
        ),
        (400, "Invalid 'tools[0].function.name': string too long. Expected a string with maximum length 64"),
        (400, "Invalid schema for function 'get_balance': its description is too long"),
    ],
    "web_page": [
        (403, "<!DOCTYPE html><html><head><title>Just a moment...</title>"),
        (500, "litellm.APIError: Unable to get json response, Original Response: <!doctype html><html>"),
        (500, "Empty or invalid response from LLM endpoint. Received: '<html><body>'"),
    ],
    "timeout": [(408, "")],
    "endpoint": [
        # Servers that are busy or broken mean nothing else, whatever they say.
        (503, "insufficient credits check temporarily unavailable"),
        (503, "context length exceeded cache miss"),
        (500, 'Failed to parse tool call arguments as JSON: last read: {"text": "Insufficient balance'),
        (500, "no_db_connection"),
        (500, "Failed to parse tool call arguments as JSON: unexpected end of input"),
        (503, "busy"),
        (200, "the call behind the gateway failed"),
        (409, "again"),
    ],
}
"""The words of endpoints by the cause that they mean, with their status; near misses among them."""

ROOM: Sequence[tuple[str, int]] = [
    ("'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is "
     "65536 tokens and your request has 57879 input tokens (8192 > 65536 - 57879).", 7657),
    ("This model's maximum context length is 4096 tokens. However, you requested 5060 tokens (4036 in the "
     "messages, 1024 in the completion). Please reduce the length of the messages or completion.", 60),
    ("This model's maximum context length is 4097 tokens, however you requested 4116 tokens (3860 in your "
     "prompt; 256 for  the completion). Please reduce your prompt; or completion length.", 237),
    ("Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a "
     "total of 131100 tokens: 100 tokens from the input messages and 131000 tokens for the completion.",
     130972),
    ("This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens "
     "(6000 of text input, 2000 of tool input, 132000 in the output).", 123072),
    ("This endpoint's maximum context length is 131072 tokens. However, you requested about 138500 tokens "
     "(500 of text input, 138000 in the output).", 130572),
    ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 300 `inputs` tokens and 5000 "
     "`max_new_tokens`",
     3796),
    ("`max_new_tokens` must be <= 512. Given: 1000", 512),
    ("input length and `max_tokens` exceed context limit: 190,000 + 20,000 > 200,000, decrease", 10000),
    ("max_tokens: 20480 > 8192, which is the maximum allowed number of output tokens for m", 8192),
    ("max_tokens is too large: 6000. This model supports at most 4096 completion tokens", 4096),
    ("The parameter `max_completion_tokens` specified in the request are not valid: integer above maximum "
     "value, expected a value <= 12288, but got 32000 instead.", 12288),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
    ("<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]", 8192),
    ("max_completion_tokens must be less than or equal to 40960, the maximum value for it", 40960),
    ("max_tokens for `m` must be less than or equal to 8000", 8000),
    ("too many tokens: max tokens must be less than or equal to 4096, the maximum output for it", 4096),
    ("it has a maxOutputTokens value of 655360 but the supported range is from 1 (inclusive) to 8193 "
     "(exclusive). Update the value", 8192),
    ("The maximum tokens you requested exceeds the model limit of 4096. Try again", 4096),
    ("Requests with max_tokens > 4096 must have stream=true", 4096),
]  # fmt: skip
"""How endpoints say that an answer may become too long, and the longest that would do."""

BOUNDS: Sequence[tuple[str, int]] = [
    ("This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and "
     "your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.", 128000),
    ("You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length "
     "is only 131072 tokens, resulting in a maximum input length of 98304 tokens.", 131072),
    ("max_tokens=140000 cannot be greater than max_model_len=max_total_tokens=131072.", 131072),
    ("max_total_tokens (33802) must be less than or equal to max_seq_len (32768)", 32768),
]  # fmt: skip
"""The same where the length of the prompt is not told, and the length of the context."""


def is_found(row: FailureCause, words: str) -> bool:
    """Tell whether a row fits these words."""
    return row.pattern is None or row.pattern.search(words) is not None


def list_said() -> Iterator[tuple[int, str]]:
    """Yield all statuses and words that are tried."""
    for said in SAID.values():
        yield from said
    yield from ((400, words) for words, _ in (*ROOM, *BOUNDS))


@each_case(
    ("cause", "status", "words"),
    [(cause, status, words) for cause, said in SAID.items() for status, words in said],
)
def test_the_cause_is_that_of_the_words_or_of_the_status(cause: str, status: int, words: str) -> None:
    assert diagnose_failure(status, words).cause == cause


@each_case(("words", "most"), ROOM)
def test_an_answer_that_may_become_too_long_is_no_overflow(words: str, most: int) -> None:
    found = diagnose_failure(400, words)
    assert (found.cause, found.transient, found.fault) == ("max_tokens", False, None)
    assert found.advice == f"max_tokens={most} would do"
    assert not isinstance(found.make_error("no"), AnswerRoomError)


@each_case(("words", "context"), BOUNDS)
def test_a_prompt_that_was_not_counted_to_its_end_is_told_apart(words: str, context: int) -> None:
    error = diagnose_failure(400, words).make_error("m: too long")
    assert isinstance(error, AnswerRoomError)
    assert (error.cause, error.context) == ("max_tokens", context)
    counted = error.with_prompt(100)
    assert counted.reason == f"m: too long; max_tokens={context - 100} would do"
    assert error.with_prompt(None).reason == error.reason


@each_case(
    ("status", "words", "transient"),
    [
        (429, "tokens per minute (TPM): Limit 6000, Used 5034, Requested 1443.", True),
        (413, "tokens per minute (TPM): Limit 6000, Requested 7000, please", False),
        (429, "slow down", True),
        (500, "broken", True),
        (503, "busy", True),
        (302, "", True),
        (408, "", True),
        (405, "", False),
        (402, "", False),
        (400, "The plain HTTP request was sent to HTTPS port", False),
    ],
)
def test_what_may_pass_is_told_apart(status: int, words: str, transient: bool) -> None:
    assert diagnose_failure(status, words).transient is transient


def test_each_row_of_the_table_has_a_source_and_is_the_first_that_fits_something() -> None:
    """A row that no words reach would be dead, and no test could tell a mistake in it."""
    rows = load_failure_causes()
    fitting = [
        [row for row in rows if (not row.statuses or status in row.statuses) and is_found(row, words)]
        for status, words in list_said()
    ]
    assert [row for row in rows if not any(found[:1] == [row] for found in fitting)] == []
    table = Path(failures.__file__).with_name("failure_causes.toml").read_text(encoding="utf-8")
    assert all(row["source"] and row["vendors"] for row in tomllib.loads(table)["row"])


def wrap_as_openrouter(raw: object) -> dict[str, object]:
    """Wrap an error as OpenRouter does."""
    return {"error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": raw}}}


INNER = {"error": {"message": "too long", "type": "invalid", "code": "context_length_exceeded"}}


@each_case(
    ("body", "words"),
    [
        ({"error": {"message": "m", "code": "c", "type": "t"}}, "m (c) (t)"),
        ({"error": {"message": "m", "code": 500, "type": "None"}}, "m"),
        ({"error": "m", "code": "c"}, "m (c)"),
        ({"message": "m"}, "m"),
        ({"Message": "m", "__type": "T"}, "m (T)"),
        ({"type": "error", "error": {"type": "t", "message": "m"}}, "m (t)"),
        ([{"error": {"code": 429, "message": "m", "status": "S"}}], "m (S)"),
        ({"detail": [{"type": "t", "loc": ["body", "seed"], "msg": "m"}]}, "body.seed m (t)"),
        ({"error": {"message": "m", "param": "seed"}}, "m"),
        ({"error": {"message": "m", "param": "seed is wrong"}}, "seed is wrong m"),
        (
            wrap_as_openrouter(json.dumps(INNER)),
            "Provider returned error too long (context_length_exceeded) (invalid)",
        ),
        (wrap_as_openrouter(INNER), "Provider returned error too long (context_length_exceeded) (invalid)"),
        (wrap_as_openrouter("busy upstream"), "Provider returned error busy upstream"),
        ({"error": {"message": json.dumps({"detail": "m"})}}, "m"),
        ({"error": {"message": "m", "details": [{"violations": [{"quotaId": "PerMinute"}]}]}}, "m PerMinute"),
        ({"unknown": 1}, '{"unknown": 1}'),
        ({"error": {}}, '{"error": {}}'),
    ],
)
def test_the_words_of_an_error_are_found(body: object, words: str) -> None:
    assert read_error_message(json.dumps(body).encode()) == words


@each_case(
    "body",
    [b"plain", b"[" * 100_000, b'{"error": ' * 5_000 + b"1" + b"}" * 5_000, b"\xff", b"1", b"null"],
)
def test_a_body_without_words_is_returned_as_it_is(body: bytes) -> None:
    assert read_error_message(body) == body[: 2**16].decode("utf-8", "replace")


def test_words_are_bounded() -> None:
    many = json.dumps({"detail": [{"msg": f"{number} {'x' * 200}"} for number in range(200)]})
    assert len(read_error_message(many.encode())) == 4000
    nested: object = "far inside"
    for _ in range(40):
        nested = {"error": nested}
    assert read_error_message(json.dumps(nested).encode()) == json.dumps(nested)


@each_case(("value", "seconds"), [("7", 7.0), (" 0.5 ", 0.5), ("-3", 0.0), ("٣", 3.0)])
def test_a_number_is_seconds(value: str, seconds: float) -> None:
    assert parse_retry_after(value) == seconds


@each_case("years", [-30, -1, 0, 1, 30])
def test_a_date_is_by_the_clock_of_the_endpoint(years: int) -> None:
    """Ours may be years ahead or behind."""
    there = time.time() + years * 365 * 86_400
    assert parse_retry_after(formatdate(there + 90, usegmt=True), formatdate(there, usegmt=True)) == 90
    assert parse_retry_after(formatdate(there - 90, usegmt=True), formatdate(there, usegmt=True)) == 0


@pytest.mark.parametrize("sent", [None, "soon"])
def test_without_its_time_ours_is_taken(sent: str | None) -> None:
    found = parse_retry_after(formatdate(time.time() + 900, usegmt=True), sent)
    assert found is not None
    assert 800 < found <= 900


@each_case(
    "value",
    [
        "",
        "soon",
        "\ud800",
        "1e9",
        "9" * 30,
        "Mon, 01 Jan 99999999999 00:00:00 GMT",
        "Mon, 99 Jan 2024 00:00:00 GMT",
    ],
)
def test_what_says_no_time_is_none(value: str) -> None:
    assert parse_retry_after(value) is None
