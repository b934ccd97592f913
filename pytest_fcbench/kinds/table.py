"""The table of kinds: put an entry to a model and judge its transcript by the kind of the entry.

Other distributions add kinds by entry points of the group ``fcbench.kinds``. The name of one is the
``other_kind`` of its entries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint

from pytest_fcbench.domain.entry import Entry
from pytest_fcbench.domain.errors import NotScoredError
from pytest_fcbench.domain.prompting import Mode
from pytest_fcbench.domain.registry import Registry
from pytest_fcbench.domain.transcript import Conversation, Ending, Transcript, describe_ending
from pytest_fcbench.domain.verdict import SET_ASIDE, Failed, Judgement, Passed
from pytest_fcbench.kinds.kind import ConversationContext, Kind, Resources
from pytest_fcbench.kinds.own_check import add_own_checks

_ROWS: Mapping[str, str] = {
    "simple": "calls.kind:SIMPLE",
    "multiple": "calls.kind:MULTIPLE",
    "parallel": "calls.kind:PARALLEL",
    "next_call": "calls.kind:NEXT_CALL",
    "irrelevance": "relevance:IRRELEVANCE",
    "relevance": "relevance:RELEVANCE",
    "next_reply": "relevance:NEXT_REPLY",
    "chat": "chat:CHAT",
    "own_check": "own_check:OWN_CHECK",
    "sql": "sql.kind:SQL",
    "state": "state.kind:STATE",
    "memory": "answers.kind:MEMORY",
    "web_search": "answers.kind:WEB_SEARCH",
    "golden_path": "golden_path.kind:GOLDEN_PATH",
    "execution": "execution.kind:EXECUTION",
    "rest": "execution.kind:REST",
    "server_turns": "server_turns.kind:SERVER_TURNS",
    "server_check": "server_check.kind:SERVER_CHECK",
    "forced": "forced.kind:FORCED_TRUTH",
    "variation": "kind:VARIATION",
}
"""Each kind as ``module:NAME`` below this room, imported when it is first needed."""


KINDS: Registry[Kind] = Registry(
    "kind",
    "fcbench.kinds",
    {name: EntryPoint(name, f"{__package__}.{place}", "fcbench.kinds") for name, place in _ROWS.items()},
)
"""Every kind by name."""


def find_kind(entry: Entry) -> Kind:
    """Return the kind of an entry. Raises ``UsageError`` for a name that no kind has."""
    return KINDS.find(entry.kind)


def takes_shots(entry: Entry) -> bool:
    """Tell whether a base model can be asked an entry: one question whose answer is calls.

    Where no call is right, examples of that would give the answer away.
    """
    return entry.kind in ("simple", "multiple", "parallel") and entry.category.single_turn


def converse(entry: Entry, context: ConversationContext) -> Conversation:
    """Return the conversation about an entry, in environments of its own.

    Raises ``NotScoredError`` where the manner of the run cannot put this entry to a model.
    """
    if context.manner.prompting.mode is Mode.COMPLETION and not takes_shots(entry):
        raise NotScoredError(SET_ASIDE, "not supported in completion mode, which asks one question for calls")
    # A prompt format is a form of the system prompt, which function calling does not have.
    if entry.variation:
        if context.manner.prompting.mode is not Mode.PROMPT:
            reason = "prompt formats apply to prompt mode only; use --fcbench-mode=prompt"
            raise NotScoredError("prompting_only", reason)
        context = context.use_format(entry.variation.format)
    has_begun = any(message.calls for messages in entry.turns[:1] for message in messages)
    if has_begun or not entry.judged_category.on_leaderboard:
        # No family has a form for golden paths, for conversations that have begun or for tools of servers.
        context = replace(context, manner=context.manner.leave_family())
    return find_kind(entry).converse(entry, context)


def judge(entry: Entry, transcript: Transcript, resources: Resources) -> Judgement:
    """Judge a transcript in both profiles by the kind of its entry. Raises ``UsageError`` without one."""
    judgement = judge_ending(entry, transcript, find_kind(entry).judge(entry, transcript, resources))
    return add_own_checks(entry, transcript, judgement) if entry.check or entry.forbidden else judgement


def judge_ending(entry: Entry, transcript: Transcript, judgement: Judgement) -> Judgement:
    """Revise the corrected verdict where an answer was cut or withheld.

    The official code ignores why an answer ended, so that a withheld one passes irrelevance. In the corrected
    profile it does not, and a failure names the ending, which is a matter of settings.
    """
    verdict = judgement.corrected
    failed_in = verdict.details.get("turn") if isinstance(verdict, Failed) else None
    # An answer after the turn that failed is not the cause.
    last = failed_in if isinstance(failed_in, int) else len(transcript.answers)
    ended_answers = [
        (number, completion)
        for number, turn in enumerate(transcript.answers[:last], 1)
        for completion in turn
        # What calls the server could not read are judged as unreadable calls.
        if completion.ending not in (None, Ending.MALFORMED)
    ]
    if not ended_answers:
        return judgement
    number, completion = ended_answers[0]
    turn = f"turn {number}: " if len(transcript.turns) > 1 else ""
    code, description = f"answer:{completion.ending}", f"{turn}{describe_ending(completion)}"
    match verdict:
        case Failed():
            failure = replace(verdict, code=code, reason=f"{description}; {verdict.reason}")
            return replace(judgement, corrected=failure)
        # A refusal is right not to call; the rest of any other answer might have had a call.
        case Passed() if entry.expectation.forbids_calls and completion.ending is not Ending.REFUSED:
            failure = Failed(code, f"{description}, so that it calls nothing says nothing")
            return replace(judgement, corrected=failure)
    return judgement
