"""Read the tokens that a reply says it used, in the words of each API.

All are read to the same meaning: the input contains what came from a cache and what was written to one, the
output contains the reasoning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict


class TokenCounts(TypedDict):
    """The counts of tokens of a completion, by the names of its fields."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cache_write_tokens: int | None
    reasoning_tokens: int | None


@dataclass(frozen=True, slots=True)
class UsageForm:
    """The places of counts in the usage of a reply: members, with dots between the levels.

    Of several places the first that has a count is read.
    """

    input: str
    output: str
    cached: tuple[str, ...] = ()
    cache_write: tuple[str, ...] = ()
    reasoning: tuple[str, ...] = ()
    total: str = "total_tokens"
    counts_cache_apart: bool = False
    """True where the input does not contain the tokens read from a cache and written to one."""


CHAT = UsageForm(
    "prompt_tokens",
    "completion_tokens",
    # The second is Moonshot's, the third DeepSeek's.
    ("prompt_tokens_details.cached_tokens", "cached_tokens", "prompt_cache_hit_tokens"),
    ("prompt_tokens_details.cache_write_tokens", "prompt_tokens_details.cache_creation_tokens"),
    ("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
)
RESPONSES = UsageForm(
    "input_tokens",
    "output_tokens",
    ("input_tokens_details.cached_tokens",),
    ("input_tokens_details.cache_write_tokens",),
    ("output_tokens_details.reasoning_tokens",),
)
MESSAGES = UsageForm(
    "input_tokens",
    "output_tokens",
    ("cache_read_input_tokens",),
    ("cache_creation_input_tokens",),
    counts_cache_apart=True,
)
CONVERSE = UsageForm(
    "inputTokens",
    "outputTokens",
    ("cacheReadInputTokens",),
    ("cacheWriteInputTokens",),
    counts_cache_apart=True,
)
COHERE = UsageForm("billed_units.input_tokens", "billed_units.output_tokens")
GENERATE_CONTENT = UsageForm(
    "promptTokenCount",
    "candidatesTokenCount",
    ("cachedContentTokenCount",),
    reasoning=("thoughtsTokenCount",),
    total="totalTokenCount",
)


def read_tokens(usage: object, form: UsageForm) -> TokenCounts:
    """Read the counts that a reply states; None for each that it does not state."""
    input_tokens, output_tokens = _read_count(usage, form.input), _read_count(usage, form.output)
    cached_tokens, cache_write_tokens, reasoning_tokens = (
        _read_count(usage, *places) for places in (form.cached, form.cache_write, form.reasoning)
    )
    if input_tokens is not None and form.counts_cache_apart:
        input_tokens += (cached_tokens or 0) + (cache_write_tokens or 0)
    if input_tokens is not None and output_tokens is not None and reasoning_tokens:
        # Gemini and xAI count reasoning apart from the answer, which only their total tells.
        beside = (_read_count(usage, form.total) or 0) - input_tokens - output_tokens
        output_tokens += min(reasoning_tokens, max(0, beside))
    # A part that is larger than the whole would have a price below zero.
    cached_tokens = None if cached_tokens is None else min(cached_tokens, input_tokens or 0)
    cache_write_tokens = (
        None
        if cache_write_tokens is None
        else min(cache_write_tokens, (input_tokens or 0) - (cached_tokens or 0))
    )
    return {
        "input_tokens": input_tokens,
        "output_tokens": output_tokens,
        "cached_tokens": cached_tokens,
        "cache_write_tokens": cache_write_tokens,
        "reasoning_tokens": None if reasoning_tokens is None else min(reasoning_tokens, output_tokens or 0),
    }


def _read_count(usage: object, *places: str) -> int | None:
    """Return the count in the first of these places that has one."""
    for place in places:
        count = usage
        for name in place.split("."):
            count = count.get(name) if isinstance(count, Mapping) else None
        # To Python ``true`` is the number 1.
        if isinstance(count, int) and not isinstance(count, bool) and count >= 0:
            return count
    return None
