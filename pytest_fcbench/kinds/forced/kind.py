"""The kind of entries that put the truth of another entry through the server, without a model.

The other entry's conversation is held with its right answers, as the oracle gives them. At each answer with
calls, the server is given these calls in place of what a model would write (``ways``), whole and in streams,
and has to give back exactly these calls. The verdict is the same in both profiles:

- passed: the server keeps them, at least in one way of sending;
- failed: it breaks them: calls are lost, changed or merged, a mark leaks into the text, or it fails;
- not scored, ``undecided``: the truth cannot be put through, or a token of the model was spelt with others.

One step that breaks decides.
"""

from __future__ import annotations

from dataclasses import replace

from pytest_fcbench.codecs.rendering import render_completion
from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.explanation import ShownTruth
from pytest_fcbench.domain.prompting import Mode, Prompting
from pytest_fcbench.domain.transcript import (
    AskModel,
    AuxiliaryCall,
    Completion,
    Conversation,
    Inquiry,
    Party,
    PathSettings,
    Step,
    ToolCall,
    Transcript,
    relay_conversation,
)
from pytest_fcbench.domain.verdict import UNDECIDED, Failed, Judgement, NotScored, Passed
from pytest_fcbench.kinds import table
from pytest_fcbench.kinds.forced.entries import get_truth
from pytest_fcbench.kinds.forced.exchange import (
    BROKEN,
    KEPT,
    ForcedServer,
    ForcedStep,
    NotTestableError,
    describe_outcome,
)
from pytest_fcbench.kinds.forced.ways import OpenWay, open_way, put_through
from pytest_fcbench.kinds.kind import ConversationContext, Kind, Resources
from pytest_fcbench.kinds.server_check.kind import UnansweredRequestError

MOST_STEPS = 8
"""Answers with calls of a conversation that are put through."""


class ForcedKind(Kind):
    """The truth of another entry is put through the server."""

    def converse(self, entry: Entry, context: ConversationContext) -> Conversation:
        """Put the right calls of an entry through the server, step by step."""
        truth, words = get_truth(entry), list[str]()
        server = ForcedServer(context.shared, truth.server)
        asides: tuple[AuxiliaryCall, ...] = ()
        opened: OpenWay | None = None
        try:
            opened = yield from open_way(server, truth.way, truth.syntax)
            asides = (yield from hold_right_conversation(truth.entry, context, server, opened, words)).asides
        except (NotTestableError, UnansweredRequestError) as lack:
            words.append(f"{UNDECIDED}: {truth.way}\n{lack}")
        if not words:
            words.append(f"{UNDECIDED}: {truth.way}\nno answer of this conversation makes calls")
        ways = () if opened is None else (f"forced={opened}", f"syntax={opened.syntax or opened.written_as}")
        steps = tuple(Step(Completion(text=each, served=ways)) for each in words)
        manner, all_asides = context.manner, (*asides, *server.asides.values())
        return Transcript(entry.key, manner.model, manner.prompting, (steps,), all_asides)

    def judge(self, entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
        """Judge what came back, in both profiles alike."""
        get_truth(entry)
        outcomes: dict[str, list[tuple[str, str]]] = {KEPT: [], BROKEN: [], UNDECIDED: []}
        for completion in transcript.completions:
            first, _, rest = (completion.text or "").partition("\n")
            outcome, _, where = first.partition(": ")
            outcomes[outcome].append((where, rest.partition("\n")[0]))
        if outcomes[BROKEN]:
            where, reason = outcomes[BROKEN][0]
            topic = where.rpartition(", ")[2]
            failure = Failed("server:forced", f"{where}: {reason}", {"topic": topic})
            return Judgement.same_in_both(failure)
        if outcomes[KEPT]:
            return Judgement.same_in_both(Passed())
        return Judgement.same_in_both(NotScored(UNDECIDED, ": ".join(outcomes[UNDECIDED][0])))

    def shorten_answer(self, text: str) -> str:
        """Leave out the command, which is long and of no use when it is cut."""
        return "\n".join(text.split("\n")[:2])

    def describe_truth(self, entry: Entry) -> ShownTruth:
        """Describe the calls that the server has to give back."""
        inner = get_truth(entry).entry
        return table.find_kind(inner).describe_truth(inner)


FORCED_TRUTH = ForcedKind()


def hold_right_conversation(
    entry: Entry, context: ConversationContext, server: ForcedServer, opened: OpenWay, words: list[str]
) -> Inquiry[Transcript]:
    """Hold the conversation about an entry with its right answers, and put their calls through the server.

    What became of them is added to ``words``. Raises ``NotTestableError`` where nothing could be put through.
    """
    kind, prompting = table.find_kind(entry), Prompting.make_default(Mode.FC)
    count = 0

    def respond(request: AskModel) -> Inquiry[Completion]:
        nonlocal count
        if request.party is not Party.MODEL:
            return (yield request)
        answer = kind.answer_rightly(entry, request)
        if not answer.calls:
            return Completion(text=answer.words)
        completion = render_completion(answer.calls, entry, prompting, request.tools)
        calls = tuple(call for call in completion.tool_calls or () if isinstance(call, ToolCall))
        count += 1
        if count <= MOST_STEPS:
            step = ForcedStep(request.messages, request.tools, calls)
            try:
                text, returned = yield from put_through(server, opened, step)
                words.extend(describe_outcome(str(opened), step, text, each) for each in returned)
            except NotTestableError as lack:
                words.append(f"{UNDECIDED}: {opened}\n{' '.join(str(lack).split())}")
        return completion

    inner_context = replace(
        context,
        manner=replace(context.manner.leave_family(), prompting=prompting),
        driven=PathSettings(context.driven.profile),
    )
    return (yield from relay_conversation(table.converse(entry, inner_context), respond))
