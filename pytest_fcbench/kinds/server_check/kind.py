"""The kind of entries that check a server: what it does with a request, whatever model stands behind it.

Each entry sends its requests as they are written, as often as it has seeds, and judges the replies by the
properties that it names (``properties``). The verdict is the same in both profiles:

- passed: the server keeps the property;
- failed: it breaks it;
- not scored, ``undecided``: the replies do not show it, because the model called nothing, was cut, or the
  server lacks the feature; ``noted``: a property that is only good to know is broken.

One seed that shows a breach decides; without one, one seed that keeps the property does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.text import as_mapping
from pytest_fcbench.domain.transcript import (
    NOT_ASKED,
    AuxiliaryCall,
    Completion,
    Conversation,
    Inquiry,
    Step,
    Transcript,
    drive_conversation,
    relay_conversation,
)
from pytest_fcbench.domain.verdict import NOTED, UNDECIDED, Failed, Judgement, NotScored, Passed, Verdict
from pytest_fcbench.kinds.kind import ConversationContext, Kind, Resources, ask_once
from pytest_fcbench.kinds.server_check import exchange, properties
from pytest_fcbench.kinds.server_check.entries import CheckSeverity, ServerCheck
from pytest_fcbench.kinds.server_check.exchange import RawRequest, Replies, ServerExchange, ServerReply
from pytest_fcbench.kinds.server_check.properties import PROPERTIES, BrokenProperty, UndecidedProperty


class UnansweredRequestError(Exception):
    """A request got no reply at all; the text says why."""


Exchanges: TypeAlias = Inquiry[list[Replies]]


class ServerCheckKind(Kind):
    """Requests go to the endpoint as they are; the replies are judged by properties."""

    file_format = "server_check.entries:CheckFile"

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Send the requests of a check to the endpoint of the model."""
        asides: dict[str, AuxiliaryCall] = {}
        try:
            exchanges = exchange_requests(get_check(entry))
            rounds = yield from relay_conversation(exchanges, lambda question: ask_once(question, asides))
            words = "\n".join(f"{name}: {reply}" for replies in rounds for name, reply in replies.items())
        except UnansweredRequestError as error:
            words = str(error)
        manner = context.manner
        turns = ((Step(Completion(text=words)),),)
        return Transcript(entry.key, manner.model, manner.prompting, turns, tuple(asides.values()))

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge the replies, in both profiles alike."""
        answers = {aside.digest: aside.completion for aside in transcript.asides}
        check = get_check(entry)
        try:
            exchanges = exchange_requests(check)
            rounds = drive_conversation(exchanges, lambda each: answers.get(each.digest, NOT_ASKED))
        except UnansweredRequestError as error:
            cause, _, reason = str(error).partition(": ")
            return Judgement.same_in_both(NotScored(cause if reason else UNDECIDED, reason or cause))
        return Judgement.same_in_both(judge_rounds(check, rounds))

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Say what a right server does."""
        return ShownTruth(rule=get_check(entry).sentence)


SERVER_CHECK = ServerCheckKind()


def get_check(entry: Entry) -> ServerCheck:
    """Return the check of an entry. Raises TypeError for an entry of another kind."""
    if not isinstance(entry.expectation, ServerCheck):
        raise TypeError(f"{entry.key} checks no server")
    return entry.expectation


def exchange_requests(check: ServerCheck) -> Exchanges:
    """Send all requests of a check, once for each seed. Raises ``UnansweredRequestError``."""
    sent: Counter[str] = Counter()
    removed: list[str] = []
    rounds: list[Replies] = []
    for seed in range(1, check.seeds + 1):
        replies: dict[str, ServerReply] = {}
        for name, request in check.requests.items():
            seeded = _add_seed(request, seed, check)
            replies[name] = yield from _send_request(seeded, name, check, removed, sent)
        rounds.append(replies)
    return rounds


def _add_seed(request: RawRequest, seed: int, check: ServerCheck) -> RawRequest:
    # Of the three interfaces only this one has a seed; a request can leave out that of ``base``.
    if request.path != exchange.CHAT or isinstance(request.body, str) or "seed" not in check.removable:
        return request
    return replace(request, body={**request.body, "seed": seed}) if "seed" in request.body else request


def _send_request(
    request: RawRequest, name: str, check: ServerCheck, removed: list[str], sent: Counter[str]
) -> Inquiry[ServerReply]:
    """Send a request, again without each parameter of ``base`` that the server turns out to refuse."""
    for parameter in removed:
        request = exchange.drop_parameter(request, parameter)
    while True:
        digest = request.write_question(0).digest
        completion = yield request.write_question(sent[digest])
        sent[digest] += 1
        if completion.fault:
            raise UnansweredRequestError(completion.text or "no reply")
        reply = ServerReply(request, ServerExchange.read_completion(completion), completion.latency_s or 0.0)
        if (refused := _find_refused(reply, name, check)) is None:
            return reply
        removed.append(refused)
        request = exchange.drop_parameter(request, refused)


_REMOVABLE = ("temperature", "seed", "max_tokens", "stream_options")


def _find_refused(reply: ServerReply, request_name: str, check: ServerCheck) -> str | None:
    """Return the parameter of ``base`` that a server names as it refuses a request, or None."""
    if reply.exchange.status not in _LACKS or reply.exchange.status in check.statuses[request_name]:
        return None
    words = exchange.describe_error(reply.exchange)
    body = as_mapping(reply.request.body)
    names = (name for name in _REMOVABLE if name in check.removable and name in body)
    return next((name for name in names if re.search(rf"\b{name}\b", words)), None)


_HAS_NO_PATH = (404, 405, 501)
"""Statuses of a server that lacks an interface, or does not know the model."""
_LACKS = (400, 422)
"""Statuses of a server that lacks a feature."""
_LIMIT = re.compile(r"\bmax_(completion_|output_)?tokens\b")
"""A limit that the server, or the model, does not take: OpenAI has models that need more to begin with."""


def judge_rounds(check: ServerCheck, rounds: Sequence[Replies]) -> Verdict:
    """Judge the replies to all seeds: a breach decides, else a kept property, else nothing does."""
    undecided: list[str] = []
    for seed, replies in enumerate(rounds, 1):
        try:
            judge_replies(check, replies)
        except BrokenProperty as finding:
            reason = f"{finding}" if len(rounds) == 1 else f"{finding} (seed {seed})"
            if check.severity is CheckSeverity.INFO:
                return NotScored(NOTED, reason)
            return Failed(f"server:{check.severity}", reason, {"topic": check.topic})
        except UndecidedProperty as finding:
            undecided.append(str(finding))
    return NotScored(UNDECIDED, undecided[0]) if len(undecided) == len(rounds) else Passed()


def judge_replies(check: ServerCheck, replies: Replies) -> None:
    """Judge the replies to one seed. Raises ``BrokenProperty`` and ``UndecidedProperty``."""
    properties.raise_gravest(list(_judge_statuses(check, replies)))
    cut_names = [name for name, reply in replies.items() if reply.ending == exchange.CUT]
    # Reasoning may take all of the tokens, and some servers show nothing of it.
    endless_replies = [replies[name] for name in cut_names if _shows_answer(replies[name])]
    if endless_replies and check.finite:
        words = "the reply does not end before it is cut, though a right one is short"
        raise BrokenProperty(f"{words}: {endless_replies[0]}")
    if check.expected and any(reply.is_withheld for reply in replies.values()):
        raise UndecidedProperty("the model refused to answer, or a filter held its reply back")
    undecided: UndecidedProperty | None = None
    for name, wanted in check.expected.items():
        if cut_names and not PROPERTIES[name].cut_decides:
            undecided = UndecidedProperty("the reply was cut at the limit of its tokens")
            continue
        try:
            PROPERTIES[name].find_breach(replies, wanted)
        except UndecidedProperty as finding:
            undecided = finding
    if undecided:
        raise undecided


def _shows_answer(reply: ServerReply) -> bool:
    is_reasoning = reply.reasoning or reply.reasoning_tokens or reply.text.lstrip().startswith("<think>")
    return not is_reasoning and bool(reply.text.strip() or reply.calls)


def _judge_statuses(check: ServerCheck, replies: Replies) -> Iterator[BrokenProperty | UndecidedProperty]:
    for name, reply in replies.items():
        status, prefix = reply.exchange.status, f"{name}: " if len(replies) > 1 else ""
        wanted = (200,) if reply.request.drop else check.statuses[name]
        if status in wanted and (status != 200 or reply.request.drop or reply.is_good):
            continue
        words = f"{prefix}{f'HTTP {status}: ' if reply.is_good else ''}{reply}"
        is_refusal = (
            reply.request.drop
            or status in _HAS_NO_PATH
            or (check.refusable and status in _LACKS)
            or (status in _LACKS and _LIMIT.search(words) is not None)
            or "endless_answer" in reply.exchange.notes
            # A server that lets a model write what is no call does not demand a call.
            or ("unreadable_call" in reply.exchange.notes and "calls" not in check.expected)
        )
        yield UndecidedProperty(f"the server refuses it: {words}") if is_refusal else BrokenProperty(words)
