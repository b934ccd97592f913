"""The parts that both walks along a golden path share: demands, outcomes, dialogues, lookups."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from pytest_fcbench.codecs.decoders.registry import OfferedFunctions, read_corrected, read_official
from pytest_fcbench.codecs.decoders.syntax import Calls, Prose, Unreadable
from pytest_fcbench.codecs.presenting import sanitise_name, select_tool_calls
from pytest_fcbench.domain.entry import Entry, PastCall
from pytest_fcbench.domain.function_doc import FunctionDoc, Language
from pytest_fcbench.domain.prompting import DEFAULT_SYNTAX, Mode, Names
from pytest_fcbench.domain.text import read_json_text
from pytest_fcbench.domain.transcript import AskModel, Call, Completion, RecordedCall, ToolCall
from pytest_fcbench.domain.verdict import CallVerdict, Failed, PathScore, Profile, Verdict
from pytest_fcbench.kinds.golden_path.script import OWN, PathRunner, find_form_fault, show_name
from pytest_fcbench.kinds.golden_path.truth import GoldenPath

ShownTexts: TypeAlias = tuple[str, ...]
"""Texts that the model is shown before it is asked again: one for each of its calls, none at first.

Where no call could be read, one text tells it so.
"""


@dataclass(frozen=True, slots=True)
class WalkOutcome:
    """The end of a walk. ``score`` is None where officially nothing is counted."""

    verdict: Verdict
    score: PathScore | None


Walk: TypeAlias = Generator[ShownTexts | AskModel, Completion, WalkOutcome]
"""Generators of demands: the model answers texts that are shown, another party answers requests."""


Dialogue: TypeAlias = list[Mapping[str, object]]
"""The conversation so far, for judges, in the form of a record: a request, calls, replies (as JSON text),
calls ..."""


def get_golden_path(entry: Entry) -> GoldenPath:
    """Return the golden path of an entry. Raises TypeError where it has none."""
    if not isinstance(entry.expectation, GoldenPath):
        raise TypeError(f"{entry.key} has no golden path")
    return entry.expectation


def open_dialogue(entry: Entry) -> Dialogue:
    """Return the dialogue before the first answer."""
    return [{"role": message.role, "content": message.content} for message in entry.turns[0]]


class Crash(Exception):  # noqa: N818 - not an error of ours
    """The official worker would die here."""


def note_words(dialogue: Dialogue, completion: Completion, runner: PathRunner) -> None:
    """Add the words beside the calls of an answer to the dialogue, where the runner shows them to judges."""
    if runner.shows_words and completion.text:
        dialogue.append({"role": "assistant", "content": completion.text})


def build_golden_dialogue(entry: Entry) -> Dialogue:
    """Return the dialogue as it was recorded, up to the last reply."""
    dialogue = open_dialogue(entry)
    for step in get_golden_path(entry).steps:
        dialogue += build_turns(step, [call.reply for call in step])
    return dialogue


def build_turns(calls: Iterable[Call | RecordedCall], replies: Iterable[str]) -> Dialogue:
    """Return calls and their replies as two turns of a dialogue."""
    function_calls = [{"name": call.name, "arguments": call.arguments} for call in calls]
    observation = {"role": "observation", "content": list(replies)}
    return [{"role": "assistant", "function_call": function_calls}, observation]


Match: TypeAlias = Callable[[RecordedCall, RecordedCall], bool]
"""Tells whether two expected calls are the same."""


def count_finished_steps(path: GoldenPath, missing_calls: Sequence[RecordedCall], is_same: Match) -> int:
    """Count the steps before the first one with a call that is left. Official: ``get_success_turn``."""
    open_steps = (
        index
        for index, step in enumerate(path.steps)
        if any(is_same(call, other) for call in step for other in missing_calls)
    )
    return next(open_steps, len(path.steps))


def fail_left(
    entry: Entry, missing_calls: Sequence[RecordedCall], verdicts: Sequence[CallVerdict], profile: Profile
) -> Failed:
    """Fail an entry at its final response for expected calls that are left, with what was wrong in attempts.

    Officially the code is always that the model stopped early; the corrected one is that of the first fault.
    """
    docs = {doc.name: doc for doc in entry.functions}
    code, reasons, uncalled_names = "stop_early", [], []
    for name in dict.fromkeys(call.name for call in missing_calls):
        attempts = [verdict for verdict in verdicts if not verdict.right and verdict.made.get("name") == name]
        if not attempts:
            is_made = any(verdict.made.get("name") == name for verdict in verdicts)
            uncalled_names.append(f"{name} (once more)" if is_made else name)
            continue
        # Officially a second call of an answer can find no partner before its form is looked at.
        fault = find_form_fault(attempts[-1].made, docs, profile)
        reason = fault.description if fault else attempts[-1].reason
        if fault and profile is Profile.CORRECTED and code == "stop_early":
            code = fault.code
        times = "once" if len(attempts) == 1 else f"{len(attempts)} times"
        reasons.append(f"{name} was called {times}, but not as expected: {reason}")
    if uncalled_names or not reasons:
        reasons.append(f"not called: {', '.join(uncalled_names) or 'the next step'}")
    return Failed(code, "; ".join(reasons), {"left": [call_to_json(call) for call in missing_calls]})


def call_to_json(call: Call | RecordedCall) -> Mapping[str, object]:
    """Convert a call to the form of reports and of questions to judges."""
    return {"name": call.name, "arguments": dict(call.arguments)}


def is_same_call(one: Call | RecordedCall, other: Call | RecordedCall) -> bool:
    """Tell whether two calls are equal by Python's equality, so 1 is 1.0 (official)."""
    return one.name == other.name and one.arguments == other.arguments


def make_verdict(
    step: int, call: Call | None, expected: RecordedCall | None, stage: str, code: str | None, reason: str
) -> CallVerdict:
    """Make the verdict of a stage on a call; it is right where there is no code."""
    made_call = call_to_json(call) if call else {}
    golden = call_to_json(expected) if expected else None
    return CallVerdict(step, made_call, golden, stage, code is None, code, reason)


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """The calls or the response of an answer; an unreadable call is replaced by the reason why."""

    calls: tuple[Call | Unreadable, ...] = ()
    response: str | None = None
    """The final response, where there are no calls; None where there is nothing at all."""
    unread: str | None = None
    """The reason why text that tries to call something cannot be read."""

    @property
    def texts(self) -> tuple[str, ...]:
        """The calls as Python text, for people and for messages without tool calls."""
        return tuple(
            str(PastCall(sanitise_name(call.name, Mode.PROMPT), call.arguments))
            if isinstance(call, Call)
            else "(unreadable)"
            for call in self.calls
        )


@dataclass(frozen=True)
class Reader:
    """A reader of the answers in one conversation.

    Names are those that were shown, without the characters that interfaces refuse; of two functions that are
    shown alike the first is meant (official).
    """

    functions: tuple[FunctionDoc, ...]
    syntax: str
    """The notation of calls, a name of ``codecs.decoders.registry.SYNTAXES``."""
    runner: PathRunner = OWN

    @cached_property
    def _original_names(self) -> Mapping[str, str]:
        # Reversed, so that of two names that become one the first wins.
        return {self._show(doc): doc.name for doc in reversed(self.functions)}

    def _show(self, doc: FunctionDoc) -> str:
        mode = Mode.PROMPT if self.syntax == DEFAULT_SYNTAX[Mode.PROMPT] else Mode.FC
        return show_name(doc.name, mode, self.runner)

    @cached_property
    def _offer(self) -> OfferedFunctions:
        shown_docs = tuple(replace(doc, name=self._show(doc)) for doc in self.functions)
        return OfferedFunctions(shown_docs, Names.DOTTED)

    def read_official(self, completion: Completion) -> PathAnswer:
        """Read a completion as the official runner of the model does; none reads calls from text."""
        if self.syntax != "tool_calls":
            reading = read_official(completion, self.syntax, Language.PYTHON)
            return self._convert_reading(reading, completion)
        if calls := select_tool_calls(completion):
            return PathAnswer(tuple(self._read_tool_call(call, strict=True) for call in calls))
        return PathAnswer(response=completion.text)

    def read_corrected(self, completion: Completion) -> PathAnswer:
        """Read a completion leniently: text that tries to call is no response, arguments may be absent."""
        if calls := select_tool_calls(completion):
            return PathAnswer(tuple(self._read_tool_call(call, strict=False) for call in calls))
        reading = read_corrected(completion, self.syntax, Language.PYTHON, self._offer)
        return self._convert_reading(reading, completion)

    def read(self, completion: Completion, profile: Profile) -> PathAnswer:
        """Read a completion by the rules of a profile."""
        if profile is Profile.OFFICIAL:
            return self.read_official(completion)
        return self.read_corrected(completion)

    def _convert_reading(self, reading: Calls | Prose | Unreadable, completion: Completion) -> PathAnswer:
        match reading:
            case Calls(calls=[_, *_] as calls):
                return PathAnswer(tuple(map(self._restore_name, map(self._offer.normalise_call, calls))))
            case Unreadable(reason=reason):
                return PathAnswer(response=completion.text, unread=reason)
        return PathAnswer(response=completion.text)

    def _restore_name(self, call: Call) -> Call:
        return replace(call, name=self._original_names.get(call.name, call.name))

    def _read_tool_call(self, call: ToolCall, *, strict: bool) -> Call | Unreadable:
        """Read a tool call; officially unknown names end most conversations, wrong arguments the worker."""
        if strict and self.runner.unknown_function and call.name not in self._original_names:
            return Unreadable(f"there is no function {call.name}", self.runner.unknown_function)
        arguments: object = call.arguments
        try:
            if isinstance(arguments, str):
                # Some servers send no text at all for a call without arguments.
                arguments = read_json_text(arguments if strict or arguments.strip() else "null")
        except (ValueError, RecursionError) as error:
            return Unreadable(f"the arguments are not JSON: {error}", self.runner.broken_json)
        # Officially an empty value of any of these kinds means that there are no arguments.
        if (strict and arguments in ([], "")) or (
            arguments is None and (self.runner.reads_null or not strict)
        ):
            arguments = {}
        if not isinstance(arguments, Mapping):
            return Unreadable(f"the arguments are {type(arguments).__name__}, not an object", "crash")
        return self._restore_name(Call(call.name, {str(key): value for key, value in arguments.items()}))
