"""The counts of tokens that replies state, read to the same meaning for every API."""

from __future__ import annotations

import pytest

from pytest_fcbench.codecs.token_usage import (
    CHAT,
    COHERE,
    CONVERSE,
    GENERATE_CONTENT,
    MESSAGES,
    RESPONSES,
    UsageForm,
    read_tokens,
)
from tests.cases import each_case


@each_case(
    ("form", "usage", "counts"),
    [
        pytest.param(
            CHAT, {"prompt_tokens": 9, "completion_tokens": 5}, (9, 5, None, None, None), id="plain chat"
        ),
        pytest.param(
            CHAT,
            {
                "prompt_tokens": 9,
                "completion_tokens": 5,
                "total_tokens": 14,
                "prompt_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 3},
                "completion_tokens_details": {"reasoning_tokens": 2},
            },
            (9, 5, 4, 3, 2),
            id="details of chat",
        ),
        pytest.param(
            CHAT,
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": None, "cached_tokens": 4},
            (9, 5, 4, None, None),
            id="cached tokens beside",
        ),
        pytest.param(
            CHAT,
            {"prompt_tokens": 9, "completion_tokens": 5, "prompt_cache_hit_tokens": 4},
            (9, 5, 4, None, None),
            id="cache hits",
        ),
        pytest.param(
            CHAT,
            {
                "prompt_tokens": 32,
                "completion_tokens": 9,
                "total_tokens": 135,
                "completion_tokens_details": {"reasoning_tokens": 94},
            },
            (32, 103, None, None, 94),
            id="reasoning that only the total contains",
        ),
        pytest.param(
            RESPONSES,
            {
                "input_tokens": 9,
                "output_tokens": 5,
                "input_tokens_details": {"cached_tokens": 4},
                "output_tokens_details": {"reasoning_tokens": 2},
                "total_tokens": 14,
            },
            (9, 5, 4, None, 2),
            id="responses",
        ),
        pytest.param(
            MESSAGES,
            {
                "input_tokens": 9,
                "output_tokens": 5,
                "cache_read_input_tokens": 100,
                "cache_creation_input_tokens": 20,
            },
            (129, 5, 100, 20, None),
            id="messages count the cache apart",
        ),
        pytest.param(
            MESSAGES, {"input_tokens": 9, "output_tokens": 5}, (9, 5, None, None, None), id="plain messages"
        ),
        pytest.param(
            CONVERSE,
            {"inputTokens": 9, "outputTokens": 5, "cacheReadInputTokens": 100, "cacheWriteInputTokens": 0},
            (109, 5, 100, 0, None),
            id="converse counts the cache apart",
        ),
        pytest.param(
            GENERATE_CONTENT,
            {
                "promptTokenCount": 9,
                "candidatesTokenCount": 5,
                "thoughtsTokenCount": 7,
                "cachedContentTokenCount": 4,
                "totalTokenCount": 21,
            },
            (9, 12, 4, None, 7),
            id="thoughts beside the answer",
        ),
        pytest.param(
            COHERE,
            {"billed_units": {"input_tokens": 9, "output_tokens": 5}},
            (9, 5, None, None, None),
            id="billed units",
        ),
        pytest.param(CHAT, None, (None,) * 5, id="no usage"),
        pytest.param(CHAT, "many", (None,) * 5, id="no object"),
        pytest.param(
            CHAT,
            {"prompt_tokens": True, "completion_tokens": -1, "prompt_tokens_details": [3]},
            (None,) * 5,
            id="no counts",
        ),
    ],
)
def test_counts_have_the_same_meaning_everywhere(
    form: UsageForm, usage: object, counts: tuple[int | None, ...]
) -> None:
    assert tuple(read_tokens(usage, form).values()) == counts


def test_no_part_is_larger_than_the_whole() -> None:
    usage = {
        "prompt_tokens": 9,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 10**9, "cache_write_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 10**9},
    }
    assert tuple(read_tokens(usage, CHAT).values()) == (9, 5, 9, 0, 5)
