"""What a server does that would explain a bad score: ten checks of ``wire``, and a call that is missing."""

from __future__ import annotations

import asyncio
import re
from functools import partial

from pytest_fcbench.config.loading import Settings
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.transcript import Completion, drive_conversation_async
from pytest_fcbench.domain.verdict import NotScored, Verdict
from pytest_fcbench.kinds.server_check.kind import exchange_requests, get_check, judge_rounds
from pytest_fcbench.kinds.server_check.properties import MARKUP
from pytest_fcbench.models.providers.endpoint_probe import EndpointProbe
from pytest_fcbench.scorecard.aggregate.answer_statistics import TOOL_SWITCHES
from pytest_fcbench.suites import embedded

EXPLAINING = (
    "prompt_tools",
    "prompt_result",
    "history_result",
    "choice_required",
    "choice_named",
    "choice_none",
    "calls_text_free",
    "endings_calls_auto",
    "strict_enum",
    "same_call_auto",
)
"""The checks that explain most bad scores, the most common causes first."""
_AT_ONCE = 4
"""Requests that are sent at once."""


def run_explaining_checks(settings: Settings, probe: EndpointProbe) -> list[tuple[str, Verdict]]:
    """Send the ten checks to an endpoint; return the sentence and the verdict of each."""
    suite = embedded.open_wire(settings.cache)
    by_id = {entry.id: entry for category in suite.categories for entry in suite.load(category)}
    return asyncio.run(_judge_checks([by_id[name] for name in EXPLAINING], probe))


async def _judge_checks(entries: list[Entry], probe: EndpointProbe) -> list[tuple[str, Verdict]]:
    room = asyncio.Semaphore(_AT_ONCE)

    async def judge_check(entry: Entry) -> tuple[str, Verdict]:
        check = get_check(entry)
        try:
            async with room:
                rounds = await drive_conversation_async(
                    exchange_requests(check), partial(probe.complete, entry)
                )
        except NotScoredError as error:
            return check.sentence, NotScored(error.cause, error.reason)
        return check.sentence, judge_rounds(check, rounds)

    return list(await asyncio.gather(*map(judge_check, entries)))


def explain_missing_call(answer: Completion, entry: Entry, owner: str) -> tuple[str, str]:
    """Explain an answer without a tool call: the server's parser is off or wrong, or the model did not call.

    ``owner`` is the word for who owns the model in the server's list. Returns the explanation and what to do.
    """
    text = answer.text or ""
    names = "|".join(re.escape(function.name).replace(r"\.", "[._]") for function in entry.functions)
    mark = MARKUP.search(text)
    has_call = mark or re.search(rf'"name"\s*:\s*"(?:{names})"|\b(?:{names})\s*\(', text)
    if not has_call:
        return (
            "its text holds no call, so the model called nothing",
            "see below whether tools reach the prompt; if they do, try another question or model",
        )
    written = f"begins with {mark[0]!r}" if mark else "is JSON or Python"
    # vLLM refuses tool_choice auto with 400 where no parser is on.
    if owner == "vllm":
        return (
            "the text holds a call that the server did not read: its tool parser is on, but not for a model "
            f"whose call {written}",
            "name the parser of this model with --tool-call-parser",
        )
    return (
        f"the text holds a call that the server did not read (it {written}): its tool parser is off, or for "
        "another model",
        f"let the server read tool calls ({TOOL_SWITCHES}), or use --mode=prompt",
    )
