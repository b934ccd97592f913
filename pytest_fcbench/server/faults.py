"""Simulated faults and latencies, drawn for each request by its number."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import TypeAlias

from pytest_fcbench.domain.errors import UsageError, describe_unknown_name

Latency: TypeAlias = Callable[[float], float]
"""Seconds before an answer, from a number in [0, 1)."""

_NUMBER = r"(\d+\.?\d*|\.\d+)"


class FaultKind(StrEnum):
    """A kind of simulated fault."""

    RATE_LIMIT = "429"
    SERVER_ERROR = "500"
    HANG = "hang"
    """No answer until the client gives up."""
    CUT = "cut"
    """The connection ends in the middle of the body, of a stream in the middle of its events."""
    RESET = "reset"
    """The connection is aborted before any answer."""
    GARBAGE = "garbage"
    """Status 200, and a body, of a stream an event, that is not JSON."""
    JSON = "json"
    """The arguments of tool calls, or the text, are cut in half; arguments are then invalid JSON.

    Of a list of vectors the second half is missing.
    """
    ONE_CALL = "one_call"
    """Send only the first of several tool calls, as a server does whose tool parser drops the others."""

    # How the stream of a chat reply is written.
    INDEX_FROM_1 = "index_from_1"
    """The first call has the index 1."""
    INDEX_GAP = "index_gap"
    """Calls have the indices 0, 2, 4."""
    SHARED_INDEX = "shared_index"
    """All calls have the index 0; only their ids differ."""
    TEXT_INDEX = "text_index"
    """Indices are texts, such as ``"0"``."""
    NO_INDEX = "no_index"
    """The pieces of calls have no index."""
    GROWING_INDEX = "growing_index"
    """Each piece has the next index, and the id of its call."""
    REPEATED_NAME = "repeated_name"
    """Each piece has the name of its function."""
    REPEATED_CALL = "repeated_call"
    """After its pieces each call comes once more as a whole."""
    EMPTY_ARGUMENTS_FIRST = "empty_arguments_first"
    """A call begins with the arguments ``{}``; then come those that are meant."""
    INTERLEAVED_CALLS = "interleaved_calls"
    """All calls begin before the first is complete, the last one first; their indices tell the order."""
    OBJECT_ARGUMENTS = "object_arguments"
    """Arguments are a JSON object, not a text."""
    WHOLE_MESSAGE = "whole_message"
    """One chunk has a whole message in place of a delta."""
    SECOND_CHOICE = "second_choice"
    """Pieces of a second choice come between those of the first."""
    NO_FINISH_REASON = "no_finish_reason"
    """``[DONE]`` comes without a finish reason before."""
    NO_DONE = "no_done"
    """The finish reason comes without ``[DONE]`` after."""
    CR_LINES = "cr_lines"
    """Lines end with a carriage return."""
    CRLF_LINES = "crlf_lines"
    """Lines end with a carriage return and a line feed."""
    SPLIT_DATA = "split_data"
    """The JSON of an event stands on several lines."""
    COMMENTS = "comments"
    """A byte order mark, comments, and names and numbers of events."""
    STREAM_ERROR = "stream_error"
    """An error object comes in the middle of a stream, then ``[DONE]``."""
    CUT_STREAM = "cut_stream"
    """A stream ends in the middle, in good order, without finish reason and ``[DONE]``."""


CHANGES_ANSWER = frozenset([FaultKind.JSON, FaultKind.ONE_CALL])
"""The kinds that send an answer with other contents, in place of an error or none."""


@dataclass(frozen=True, slots=True)
class Draw:
    """The fault, if any, and the latency of one request."""

    fault: FaultKind | None
    latency_s: float


def read_shares(texts: Sequence[str]) -> Mapping[FaultKind, float]:
    """Read the share of requests that each fault gets from ``KIND:SHARE`` texts. Raises ``UsageError``."""
    shares: dict[FaultKind, float] = {}
    for text in texts:
        kind, _, share = text.partition(":")
        if kind not in tuple(FaultKind):
            error = describe_unknown_name("fault", kind, FaultKind)
            raise UsageError(f"--fault={text}: {error} Use KIND:SHARE, e.g. 429:0.1.")
        if not re.fullmatch(_NUMBER, share, re.ASCII) or float(share) > 1:
            raise UsageError(f"--fault={text}: the share must be a number from 0 to 1, e.g. {kind}:0.1")
        if kind in shares:
            raise UsageError(f"--fault={text}: {kind} is given twice; give each kind once")
        shares[FaultKind(kind)] = float(share)
    if (total := math.fsum(shares.values())) > 1 + 1e-9:
        all_texts = " ".join(texts)
        raise UsageError(f"--fault={all_texts}: the shares add up to {total:g}; their sum must not exceed 1")
    return shares


def read_latency(text: str) -> Latency:
    """Read a latency: ``1`` second, ``0.5-2`` evenly between, ``exp:0.8`` exponential with that mean.

    Raises ``UsageError``.
    """
    if exponential := re.fullmatch(f"exp:{_NUMBER}", text, re.ASCII):
        mean = float(exponential[1])
        return lambda chance: -mean * math.log1p(-chance)
    if between := re.fullmatch(f"{_NUMBER}(?:-{_NUMBER})?", text, re.ASCII):
        low, high = float(between[1]), float(between[2] or between[1])
        if low <= high:
            return lambda chance: low + (high - low) * chance
    raise UsageError(
        f"--latency={text}: must be a number of seconds (1), a range (0.5-2) or an "
        f"exponential distribution with a mean (exp:0.8)"
    )


def draw_faults(shares: Mapping[FaultKind, float], wait: Latency, seed: int) -> Iterator[Draw]:
    """Draw for each request in order of arrival; its fault depends on nothing but seed and shares."""
    random = Random(seed)  # noqa: S311 - to be repeated, not to be secret
    while True:
        # Both are always drawn, so that another latency does not change which requests fail.
        chance, pace = random.random(), random.random()
        fault = None
        for kind, share in shares.items():
            chance -= share
            if chance < 0:
                fault = kind
                break
        yield Draw(fault, wait(pace))
